/* The control groups of one run: made before it starts, read while it runs, killed and removed when it ends.
 *
 * Where they may be made: only below the group the supervisor itself is in, in each hierarchy, as /proc/self/cgroup and
 * /proc/self/mountinfo name it. Four shapes of host are served by one interface:
 *   v2      one group under our own with memory, pids and cpu controllers (we first move ourselves into a leaf
 *           "fumehood-self" if our own group must hand controllers down and holds only us);
 *   v1      one group in each of memory, pids, cpu, cpuacct, freezer, as far as mounted and writable;
 *   hybrid  v1 groups for the controllers and one on the v2 mount for kill, freeze, cpu.stat and emptiness;
 *   none    nothing writable: every call succeeds and says so in `axes`.
 * A facility that is not there is a no-op behind the same call. */
#ifndef FH_ISOLATE_CGROUP_H
#define FH_ISOLATE_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "policy/policy.h"

/* What of this host's groups we may use; found once per process by fh_cgroup_host_open and reused for every run. */
struct fh_cgroup_host;

/* How the groups hold each axis. */
struct fh_cgroup_axes {
	bool memory;   /* memory and swap together are capped */
	bool pids;
	bool cpu_rate; /* cpus can be held by a quota */
	bool cpu_time; /* usage of the whole group can be read */
	bool kill;     /* cgroup.kill, or a freezer to kill under */
};

/* Looks at the mounts and at our own groups. May move this process into the leaf "fumehood-self" of its v2 group. Never
 * fails for a missing facility. */
int fh_cgroup_host_open(struct fh_cgroup_host **ret, struct fh_err *err);
void fh_cgroup_host_close(struct fh_cgroup_host *h);
/* Removes what dead supervisors left behind (groups named "fumehood-<pid>-<start time>-<pid namespace>-<n>" of our own pid
 * namespace whose supervisor is gone: killed if populated, then removed). Once per host, bounded in time; for a moment
 * in which there is nothing better to do. */
void fh_cgroup_host_sweep(struct fh_cgroup_host *h);
void fh_cgroup_host_axes(const struct fh_cgroup_host *h, struct fh_cgroup_axes *ret);
/* "v2", "v1", "hybrid" or "none", and for a person why an axis is missing and the command that mends it. */
const char *fh_cgroup_host_shape(const struct fh_cgroup_host *h);
/* Appends one line per missing axis to `why`: "memory: <reason>; fix: <command>". */
void fh_cgroup_host_explain(const struct fh_cgroup_host *h, struct fh_buf *why);

struct fh_cgroup;

/* Makes the groups of one run and sets its limits (memory with swap, pids, cpu quota where policy->cpus_milli is below
 * the online processors, oom group kill). `extra_pids` is added to the pids limit for processes of our own (init). */
int fh_cgroup_create(struct fh_cgroup_host *h, const struct fh_policy *policy, unsigned extra_pids,
		     struct fh_cgroup **ret, struct fh_err *err);

/* Fd of the v2 group for CLONE_INTO_CGROUP, or -1 where there is no v2 group. Owned by the cgroup. */
int fh_cgroup_into_fd(const struct fh_cgroup *c);

/* The cheap way into the v1 groups: fds to which a new process, while it has one thread, writes "0" as the first thing
 * it does (25 us each). Returns how many; they are close-on-exec and belong to the cgroup. */
#define FH_CGROUP_JOIN_MAX 5
size_t fh_cgroup_join_fds(const struct fh_cgroup *c, int ret_fds[FH_CGROUP_JOIN_MAX]);

/* The dear way, from outside: moves a process that has not run anything yet, and was cloned into fh_cgroup_into_fd, into
 * every other group. The kernel waits for its readers first: 5 to 20 ms when nobody moved a process just before. */
int fh_cgroup_add(struct fh_cgroup *c, pid_t pid, struct fh_err *err);
/* The same for a process that was forked elsewhere: into the v2 group, too. */
int fh_cgroup_add_all(struct fh_cgroup *c, pid_t pid, struct fh_err *err);

/* Fd that wakes when the memory of the group ran out, or -1. Owned by the cgroup. Poll it for fh_cgroup_oom_events();
 * on v2 it wakes for lesser events as well, so ask fh_cgroup_oom_take after each wake. */
int fh_cgroup_oom_fd(const struct fh_cgroup *c);
short fh_cgroup_oom_events(const struct fh_cgroup *c);
/* Takes the event, so that the fd can wake again; true when memory did run out (a kill may still be under way). */
bool fh_cgroup_oom_take(struct fh_cgroup *c);

struct fh_cgroup_usage {
	uint64_t cpu_us, user_us, system_us; /* of all processes, ended ones too; 0 where not known */
	uint64_t memory_bytes, memory_peak_bytes;
	uint64_t pids, pids_peak;
	uint64_t oom_kills;   /* processes the kernel killed here for memory */
	uint64_t pids_denied; /* forks refused */
};
/* Reads what is there; fields without a source stay 0. A negative errno says that kills for memory or refused forks,
 * which a verdict hangs on, could not be read. */
int fh_cgroup_read(struct fh_cgroup *c, struct fh_cgroup_usage *ret);
/* Only cpu_us, for the frequent cpu watch; 0 where not known. A negative errno where it could not be read. */
int fh_cgroup_cpu_us(struct fh_cgroup *c, uint64_t *ret);

/* Kills everything in the group: cgroup.kill, else freeze, kill each, thaw. Does not wait. */
int fh_cgroup_kill(struct fh_cgroup *c);

/* Removes the groups; they must be empty or become so within `grace_ms`. Frees `c` always; a negative errno says that
 * something stayed (the next start removes it). */
int fh_cgroup_destroy(struct fh_cgroup *c, unsigned grace_ms, struct fh_err *err);

/* The directories of the groups, one line each, for the receipt. */
void fh_cgroup_describe(const struct fh_cgroup *c, struct fh_buf *into);

#endif
