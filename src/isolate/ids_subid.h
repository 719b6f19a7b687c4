/* Subordinate ids of an ordinary user: /etc/subuid, /etc/subgid and the setuid helpers that map them. */
#ifndef FH_ISOLATE_IDS_SUBID_H
#define FH_ISOLATE_IDS_SUBID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct fh_subid_range {
	uint32_t first, count;
};

struct fh_subids {
	struct fh_subid_range uids, gids;
	const char *newuidmap, *newgidmap; /* paths; never freed */
};

/* One line of a map: `count` ids from `inside` on are `outside` and following. */
struct fh_id_line {
	uint32_t inside, outside, count;
};

/* The first range of at least `least` ids that the text of /etc/subuid gives to the uid, by number or by a
 * name that the text of /etc/passwd has for it. Lines that make no sense are passed over. Pure. */
bool fh_subid_find(const char *subid, const char *passwd, uint32_t uid, uint32_t least,
		   struct fh_subid_range *ret);

/* What this user has: 1; or 0 and the reason in `why` when that is not enough to map two ids; or a negative errno when
 * it could not be found out. */
int fh_subid_look(struct fh_subids *ret, char *why, size_t cap);

/* Has the helpers write both maps of the child, two lines each. Bounded in time; what they say is in the
 * error. */
int fh_subid_map(const struct fh_subids *ids, pid_t pid, const struct fh_id_line uids[2],
		 const struct fh_id_line gids[2], struct fh_err *err);

#endif
