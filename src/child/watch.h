/* The loop of the process that stays beside the program: init at level 2, the warden at level 1. */
#ifndef FH_CHILD_WATCH_H
#define FH_CHILD_WATCH_H

#include "child/pair.h"
#include "child/plan.h"

enum fh_watch_event {
	FH_WATCH_MAIN_ENDED, /* the program is a zombie and may be reaped */
	FH_WATCH_ASKED,      /* the supervisor asks for the end */
	FH_WATCH_ORPHANED,   /* the supervisor is gone */
};

struct fh_watch {
	const struct fh_plan *plan;
	pid_t main_pid;
	int main_pidfd; /* -1 once announced */
	int signal_fd;
	bool acknowledged;
	bool orphaned; /* the supervisor could not be told of the program */
};

/* Forks the program, which never returns. */
void fh_watch_fork(struct fh_watch *w, const struct fh_plan *plan, const struct fh_pair *pair);
/* Tells the supervisor of it, and closes what only the program needs but the status pipe. `stage_fd` may be -1.
 * Where that fails at level 1 the first wait says that there is a program to be ended. */
void fh_watch_announce(struct fh_watch *w, int stage_fd);
/* Reaps orphans until something happens that its caller must decide on. */
enum fh_watch_event fh_watch_wait(struct fh_watch *w);
/* Reaps the program (it must be a zombie or be about to die) and reports its end. */
void fh_watch_report_end(struct fh_watch *w);

#endif
