/* One run of one program: started, watched, ended, told.
 *
 * A run is driven by whoever holds it: wait until fh_run_fd() is readable, call fh_run_step(), until it says done. Many
 * runs can be driven by one thread, or each by its own; one run belongs to one thread at a time. Nothing is shared
 * between runs but the read-only host. */
#ifndef FH_RUN_RUN_H
#define FH_RUN_RUN_H

#include "base/err.h"
#include "fumehood/result.h"
#include "isolate/cgroup.h"
#include "isolate/landlock.h"
#include "policy/policy.h"
#include "run/spec.h"

/* What this process may use of the host, found once. */
struct fh_host {
	struct fh_cgroup_host *cgroups;
	struct fh_cgroup_axes axes;
};

int fh_host_open(struct fh_host **ret, struct fh_err *err);
void fh_host_close(struct fh_host *host);

struct fh_run;

/* Starts a program. The policy is copied, the spec borrowed. On failure nothing is left behind. */
int fh_run_start(struct fh_host *host, const struct fh_policy *policy, const struct fh_spec *spec, struct fh_run **ret,
		 struct fh_err *err);

/* Readable when fh_run_step has something to do. The same from start to destroy; owned by the run. */
int fh_run_fd(const struct fh_run *run);

/* Does what is due, without blocking. 1: the run is over, its result can be taken; 0: not yet. */
int fh_run_step(struct fh_run *run);

/* Asks for its end (from the thread that holds it). Verdict `cancelled` unless it ended before. */
void fh_run_cancel(struct fh_run *run, const char *reason);

/* Steps until done. */
void fh_run_wait(struct fh_run *run);

/* When each part of a run was over, in nanoseconds of CLOCK_MONOTONIC; 0 for what did not happen. For benches. */
enum fh_mark {
	FH_MARK_CREATED,  /* fh_run_start was called */
	FH_MARK_GROUPED,  /* ids leased, control groups made */
	FH_MARK_PLANNED,
	FH_MARK_CLONED,   /* init exists */
	FH_MARK_RELEASED, /* ids mapped, groups entered: init may go on */
	FH_MARK_FORKED,   /* namespaces and root are made, the program is forked */
	FH_MARK_STARTED,  /* exec happened */
	FH_MARK_ENDED,
	FH_MARK_GONE,     /* init was reaped: nobody is left */
	FH_MARK_DONE,     /* everything of it is removed */
	FH_MARK_COUNT_,
};
void fh_run_marks(const struct fh_run *run, uint64_t ret_marks[FH_MARK_COUNT_]);

/* The result, once done; the caller owns it (fh_result_destroy). NULL before, and on a second call. */
struct fh_result *fh_run_take_result(struct fh_run *run);

/* Ends a run that is not done (blocking until its processes are gone) and frees it; accepts NULL. */
void fh_run_destroy(struct fh_run *run);

#endif
