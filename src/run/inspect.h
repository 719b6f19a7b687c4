/* What a run changed in its workspace: chooses how to look, and looks. */
#ifndef FH_RUN_INSPECT_H
#define FH_RUN_INSPECT_H

#include "run/internal.h"

/* Before the program runs: remembers a folder of the host that it will work on directly. */
int fh_inspect_before(struct fh_run *run, struct fh_err *err);

/* After everything is gone: fills changes, n_changes and changes_truncated of the receipt. What cannot be looked at is
 * told as truncated, never as unchanged. */
void fh_inspect_after(struct fh_run *run, struct fh_receipt *ret);

void fh_inspect_finish(struct fh_run *run);

#endif
