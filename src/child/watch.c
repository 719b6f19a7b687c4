/* Beside the program: reap every orphan, notice the supervisor's death, report the program's end. Raw calls only. */
#include "child/watch.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "child/child.h"
#include "sys/proc.h"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

static pid_t fork_program(const struct fh_plan *plan, int *ret_pidfd)
{
	int pidfd = -1;
	long pid = FH_SYS(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, &pidfd, NULL, NULL);

	FH_MUST(plan, FORK, pid);
	*ret_pidfd = pidfd;
	return (pid_t)pid;
}

/* A host program may ignore SIGCHLD; inherited, that would have the kernel reap the program behind us. */
static void want_children(const struct fh_plan *plan)
{
	static const uint64_t standard[4]; /* SIG_DFL, no flags, no mask */

	FH_MUST(plan, SIGNALS, FH_SYS(SYS_rt_sigaction, SIGCHLD, standard, NULL, sizeof(uint64_t)));
}

void fh_watch_fork(struct fh_watch *w, const struct fh_plan *plan, const struct fh_pair *pair)
{
	uint64_t chld = 1ull << (SIGCHLD - 1);
	long fd = FH_SYS(SYS_signalfd4, -1, &chld, sizeof(chld), O_CLOEXEC);

	FH_MUST(plan, FORK, fd);
	want_children(plan);
	*w = (struct fh_watch){
	    .plan = plan, .main_pidfd = -1, .signal_fd = (int)fd, .acknowledged = !plan->want_ack};
	w->main_pid = fork_program(plan, &w->main_pidfd);
	if (w->main_pid == 0)
		fh_child_program(plan, pair);
}

void fh_watch_announce(struct fh_watch *w, int stage_fd)
{
	const struct fh_plan *plan = w->plan;
	struct fh_report report = {.kind = FH_REPORT_PROGRAM, .pid = w->main_pid};
	int fds[2] = {w->main_pidfd, stage_fd};

	long rc = fh_child_send_report(plan->report_fd, &report, fds, stage_fd >= 0 ? 2 : 1);

	if (rc < 0 && plan->namespaces) /* our end is that of the program, too */
		fh_child_die(plan, FH_STEP_REPORT, rc, -1);
	if (rc < 0) {
		fh_child_tell(plan, FH_STEP_REPORT, rc, -1);
		w->orphaned = true;
	}
	/* The pipes of the streams must not be held open by us. */
	for (int i = 0; i < 3; i++)
		fh_sys_close(plan->stdio_fds[i]);
	if (plan->source_fd >= 0)
		fh_sys_close(plan->source_fd);
	if (stage_fd >= 0)
		fh_sys_close(stage_fd);
	fh_sys_close(w->main_pidfd);
	w->main_pidfd = -1;
	fh_sys_close(plan->barrier_fd);
}

/* Reaps whatever ended, but not the program itself. True when the program ended, or when that cannot be known. */
static bool reap_orphans(const struct fh_watch *w)
{
	for (;;) {
		siginfo_t info = {0};
		long rc = FH_SYS(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL, NULL);

		if (rc == -EINTR)
			continue;
		/* Who cannot look must not wait for ever: the report of the end waits for the program itself. */
		if (rc < 0)
			return true;
		if (info.si_pid == 0)
			return false;
		if (info.si_pid == w->main_pid)
			return true;
		syscall(SYS_waitid, P_PID, info.si_pid, &info, WEXITED | WNOHANG | __WALL, NULL);
	}
}

enum fh_watch_event fh_watch_wait(struct fh_watch *w)
{
	char sink[128];
	bool ended = reap_orphans(w);

	if (w->orphaned)
		return FH_WATCH_ORPHANED;
	while (!(ended && w->acknowledged)) {
		struct pollfd fds[3] = {
			{.fd = w->plan->lifeline_fd, .events = POLLIN},
			{.fd = w->plan->report_fd, .events = POLLIN},
			/* Once the program is a zombie only the supervisor's word counts. */
			{.fd = ended ? -1 : w->signal_fd, .events = POLLIN},
		};

		if (syscall(SYS_ppoll, fds, 3, NULL, NULL, 0) < 0)
			continue;
		if (fds[0].revents)
			return FH_WATCH_ORPHANED;
		if (fds[1].revents) {
			long got = syscall(SYS_read, w->plan->report_fd, sink, sizeof(sink));
			if (got <= 0)
				return FH_WATCH_ORPHANED;
			if (sink[0] == 'K')
				return FH_WATCH_ASKED;
			w->acknowledged = true;
		}
		if (fds[2].revents) {
			syscall(SYS_read, w->signal_fd, sink, sizeof(sink));
			ended = reap_orphans(w);
		}
	}
	return FH_WATCH_MAIN_ENDED;
}

void fh_watch_report_end(struct fh_watch *w)
{
	struct fh_report report = {.kind = FH_REPORT_ENDED};
	struct rusage use = {0};
	int status = 0;
	long pid;

	do
		pid = syscall(SYS_wait4, w->main_pid, &status, __WALL, &use);
	while (pid < 0 && errno == EINTR);
	report.pid = (int32_t)pid;
	report.status = status;
	report.user_us = (int64_t)use.ru_utime.tv_sec * 1000000 + use.ru_utime.tv_usec;
	report.system_us = (int64_t)use.ru_stime.tv_sec * 1000000 + use.ru_stime.tv_usec;
	report.maxrss_kb = use.ru_maxrss;
	fh_child_send_report(w->plan->report_fd, &report, NULL, 0);
}
