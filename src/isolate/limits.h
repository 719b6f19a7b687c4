/* Per-process limits: rlimits, scheduling, processors, and the environment every program starts with. */
#ifndef FH_ISOLATE_LIMITS_H
#define FH_ISOLATE_LIMITS_H

#include <sched.h>

#include "isolate/planner.h"
#include "policy/policy.h"

/* How the axes are held on this host, as the caller found out; decides which rlimits stand in. */
struct fh_limit_means {
	bool memory_by_group;
	bool pids_by_group;
	bool own_user_count; /* RLIMIT_NPROC counts only this sandbox: own ids, or a user namespace of its own */
	unsigned own_tasks;  /* of ours that it counts along: init or warden, where they have the program's id */
};

int fh_limits_plan(const struct fh_policy *policy, const struct fh_limit_means *means, struct fh_planner *planner,
		   struct fh_err *err);

/* Picks ceil(cpus) processors of those this process may use, another set each time. Returns how many were picked;
 * *ret_all says that these are all there are (nothing to restrict). */
unsigned fh_limits_affinity(const struct fh_policy *policy, cpu_set_t *ret_set, bool *ret_all);

/* The environment in the planner's arena, NULL-terminated: our defaults (HOME and TMPDIR as given,
 * OMP_NUM_THREADS as many as it has processors), `extra` strings
 * "K=V", then the policy's. */
int fh_limits_environment(const struct fh_policy *policy, const char *home, const char *tmpdir,
			  unsigned n_cpus, const char *const *extra, struct fh_planner *planner, char *const **ret_envp,
			  struct fh_err *err);

#endif
