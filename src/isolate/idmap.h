/* A user namespace that only carries an id map, for an id-mapped mount. */
#ifndef FH_ISOLATE_IDMAP_H
#define FH_ISOLATE_IDMAP_H

#include <stdint.h>

#include "base/err.h"

/* Makes a namespace in which the owner on disk (uid_on_disk, gid_on_disk) appears on this host as (uid_here, gid_here).
 * Needs CAP_SETUID and CAP_SETGID. The fd is the caller's. */
int fh_idmap_create(uint32_t uid_on_disk, uint32_t uid_here, uint32_t gid_on_disk, uint32_t gid_here, int *ret_fd,
		    struct fh_err *err);

#endif
