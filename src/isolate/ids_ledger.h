/* Who holds which block of ids: a file with one lock byte a block. The lock belongs to the open file
 * description, so a block is held until the last process that has the lease's fd (or a copy of it) is gone,
 * however it ends. */
#ifndef FH_ISOLATE_IDS_LEDGER_H
#define FH_ISOLATE_IDS_LEDGER_H

#include <stdint.h>

#include "base/err.h"

#define FH_LEDGER_DIR "/run/fumehood"

/* Takes the next free one of `blocks` blocks, in turn, so that a freed one is not handed out again soon.
 * `dir` is made (mode 0700) where it is missing; it and the file `ids` in it must be ours alone, else
 * -ENOTSUP with the fix. -EUSERS when every block is held. The caller owns *ret_fd (close-on-exec). */
int fh_ledger_take(const char *dir, uint32_t blocks, uint32_t *ret_block, int *ret_fd, struct fh_err *err);

/* Whether fh_ledger_take could work: opens the ledger and takes nothing. */
int fh_ledger_check(const char *dir, struct fh_err *err);

#endif
