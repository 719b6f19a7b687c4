/* Landlock: which rights the kernel's ABI knows and which paths get which. At level 2 it stands behind the mounts; at
 * level 1 it is the file wall itself. What it does not govern (stat, chmod, chown, times, attributes, locks) is held by
 * read-only mounts and ids at level 2, and is not promised at level 1. */
#ifndef FH_ISOLATE_LANDLOCK_H
#define FH_ISOLATE_LANDLOCK_H

#include "isolate/planner.h"
#include "policy/policy.h"

struct fh_landlock {
	int abi; /* 0: not on this kernel */
	uint64_t fs, net, scoped; /* what is handled */
};

/* What the running kernel can do at this level. */
void fh_landlock_probe(enum fh_level level, struct fh_landlock *ret);

/* Rules for the root that isolate/mounts builds. `trees` are what it shows besides /usr. */
int fh_landlock_plan_root(const struct fh_policy *policy, const char *const *trees, size_t n_trees,
			  const char *const *files, size_t n_files, struct fh_planner *planner, struct fh_err *err);

/* Rules on the host's own tree, level 1: `home` is the private folder of the run, `workspace` may be NULL. */
int fh_landlock_plan_host(const struct fh_policy *policy, const char *home, const char *workspace,
			  const char *const *trees, size_t n_trees, const char *const *files, size_t n_files,
			  struct fh_planner *planner, struct fh_err *err);

#endif
