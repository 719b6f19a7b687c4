/* Shared by the files of this room only: how a step fails, and the order of the parts. Nothing here may allocate,
 * lock, log or format. */
#ifndef FH_CHILD_CHILD_H
#define FH_CHILD_CHILD_H

#include "child/pair.h"
#include "child/plan.h"
#include "child/steps.h"
#include "sys/call.h"

/* Reports the failure on the status pipe and ends this process. */
void fh_child_tell(const struct fh_plan *plan, enum fh_step step, long rc, int detail); /* and goes on */
_Noreturn void fh_child_die(const struct fh_plan *plan, enum fh_step step, long rc, int detail);

/* Runs a step that must succeed: `rc` is a negative errno or not. */
#define FH_MUST(plan, step, call)                                                                                      \
	do {                                                                                                           \
		long fh_must_rc_ = (call);                                                                             \
		if (fh_must_rc_ < 0)                                                                                   \
			fh_child_die(plan, FH_STEP_##step, fh_must_rc_, -1);                                           \
	} while (0)

/* parts.c: pieces that init and warden share. */
void fh_child_close_inherited(const struct fh_plan *plan);
void fh_child_join_groups(const struct fh_plan *plan);
void fh_child_wait_for_go(const struct fh_plan *plan);
void fh_child_raise_oom_score(const struct fh_plan *plan);
long fh_child_send_report(int fd, const struct fh_report *report, const int *fds, unsigned n_fds);
void fh_child_block_signals(void);

/* root.c: builds the root and stands in it, then takes away the old one. */
void fh_child_build_root(const struct fh_plan *plan, int *ret_stage_fd);
void fh_child_leave_old_root(const struct fh_plan *plan);

/* landlock.c */
int fh_child_landlock_ruleset(const struct fh_plan *plan); /* fd, or -1 where there is none */

/* program.c: the last steps; never returns. */
_Noreturn void fh_child_program(const struct fh_plan *plan, const struct fh_pair *pair);

#endif
