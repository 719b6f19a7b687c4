/* Level 1's private folder on the host: HOME, TMPDIR and workspace of one run, mode 0700, under
 * $TMPDIR/fumehood-<uid>/. Its name carries the supervisor's pid and start time, so that a later start can remove what
 * a killed one left. */
#ifndef FH_RUN_PRIVATEDIR_H
#define FH_RUN_PRIVATEDIR_H

#include <sys/types.h>

#include "base/err.h"

/* Makes it, owned by uid:gid, after removing folders of dead supervisors. *ret is a heap string. */
int fh_privatedir_create(uid_t uid, gid_t gid, char **ret, struct fh_err *err);

/* Removes it with everything beneath, within `ms_max`; frees the string. */
int fh_privatedir_destroy(char *path, unsigned ms_max, struct fh_err *err);

#endif
