/* Which user and group ids a sandbox gets.
 *
 * Inside, two ids are mapped: 0 for init, which has capabilities over its own namespaces only, and 1000 for the program,
 * which has none. Outside they are:
 *   block    started as root (CAP_SETUID and CAP_SETGID over enough ids): a block of our own range that no other
 *            sandbox holds (ledger below). Range 1879048192-1879572479 (0x70000000, 65536 blocks of 8), which systemd
 *            leaves free; where our own user namespace maps fewer ids, the top half of what it maps, cut the same way;
 *   subid    an ordinary user with sub-ids (/etc/subuid, /etc/subgid) and newuidmap/newgidmap: two of them, that no
 *            other sandbox of this user holds (a ledger in $XDG_RUNTIME_DIR; drawn by lot where there is none);
 *   caller   otherwise: the program is the caller's own id, mapped to 1000, and there is no second id. Said in the
 *            receipt, since per-user counters of the kernel are then shared with the caller.
 *
 * The ledger is one file of byte-range locks (open file description locks), one byte a block, so that a block is held
 * exactly as long as any process has the description open: the supervisor and the sandbox's init. The kernel frees it
 * when both are gone, however they end. Blocks are handed out in turn, so a freed one is not reused soon (quarantine). */
#ifndef FH_ISOLATE_IDS_H
#define FH_ISOLATE_IDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum fh_ids_kind { FH_IDS_BLOCK, FH_IDS_SUBID, FH_IDS_CALLER };

#define FH_INNER_INIT_ID    0u
#define FH_INNER_PROGRAM_ID 1000u

struct fh_ids {
	enum fh_ids_kind kind;
	uint32_t init_uid, init_gid;       /* outside ids (as our namespace counts) of inner 0; for CALLER unused */
	uint32_t program_uid, program_gid; /* outside ids of inner 1000 */
	int lease_fd; /* holds the ids; must be kept open by supervisor and init; -1 where nothing is held. Owned */
};

/* Picks ids. `want_caller` asks for kind CALLER for the program even where sub-ids exist (a workspace of the caller is
 * to be worked on by an ordinary user): then init still gets a sub-id where there are any (kind SUBID with
 * program_uid = caller). As root it is ignored. Root without the right to set ids is refused (UNSUPPORTED): the program
 * would hold root's own id. */
int fh_ids_acquire(bool want_caller, struct fh_ids *ret, struct fh_err *err);
void fh_ids_release(struct fh_ids *ids);

/* Writes uid_map and gid_map of the stopped child `pid`, which must be dumpable: by ourselves, or through newuidmap and
 * newgidmap for SUBID. For CALLER only "1000 <caller> 1" is mapped, inner 0 is not mapped at all, and setgroups is
 * denied for good, as the kernel demands. */
int fh_ids_map(const struct fh_ids *ids, pid_t pid, struct fh_err *err);

/* True when this process may map a block (used by doctor, too). `why` tells a person what is missing; may be NULL. */
bool fh_ids_can_block(char *why, size_t cap);
/* True when the caller has at least two sub-uids and sub-gids and the helpers exist. */
bool fh_ids_can_subid(char *why, size_t cap);

#endif
