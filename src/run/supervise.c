/* The loop of one run: what may happen, and what we do about it. Truth comes from here: our clock, the kernel's reports,
 * our own init or warden; never from the program. */
#include "run/internal.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "sys/proc.h"

#define MS 1000000ull
#define DRAIN_MS_MAX 500
#define ROUNDS_MAX   16

int fh_run_watch_fd(struct fh_run *run, int fd, uint32_t events, enum fh_tag tag)
{
	struct epoll_event event = {.events = events, .data.u32 = (uint32_t)tag};

	if (events == 0)
		return epoll_ctl(run->epoll_fd, EPOLL_CTL_DEL, fd, NULL) < 0 ? -errno : 0;
	if (epoll_ctl(run->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	if (errno == EEXIST && epoll_ctl(run->epoll_fd, EPOLL_CTL_MOD, fd, &event) == 0)
		return 0;
	return -errno;
}

/* What only the kernel could refuse us: the run ends, and says so. */
static void fail(struct fh_run *run, int error, const char *what)
{
	struct fh_err why = {0};

	fh_fail(&why, error, "%s", what);
	fh_run_fail(run, &why);
}

/* A run whose clock cannot be set is ended: it would have no limit of time. */
static void set_timer(struct fh_run *run)
{
	uint64_t next = run->deadline_ns, sample = fh_sample_next_ns(run);
	struct itimerspec spec = {{0}};

	if (run->phase == FH_PHASE_ENDING)
		next = run->kill_deadline_ns;
	else if (run->phase == FH_PHASE_RUNNING && sample < next)
		next = sample;
	spec.it_value.tv_sec = (time_t)(next / 1000000000u);
	spec.it_value.tv_nsec = (long)(next % 1000000000u);
	if (timerfd_settime(run->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) < 0)
		fail(run, -errno, "set the clock of the run");
}

/* Asks for the end of everything in the sandbox; the loop sees it happen. */
static void kill_all(struct fh_run *run)
{
	if (run->plan.namespaces) {
		/* Init's death is the death of its pid namespace; the group catches what a clone may still be in. */
		fh_sys_pidfd_kill(run->child_pidfd, SIGKILL);
		fh_cgroup_kill(run->cgroup);
		return;
	}
	/* The warden knows its own, and reaps them, when it is told to or when nobody is there to tell; if it does not
	 * answer in time it dies with its group. */
	if (send(run->report_fd, "K", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		shutdown(run->report_fd, SHUT_WR);
	fh_close(&run->barrier_fd);
}

void fh_run_end(struct fh_run *run, enum fh_cause cause)
{
	if (run->phase >= FH_PHASE_ENDING)
		return;
	if (run->cause == FH_CAUSE_NONE && !run->program_ended)
		run->cause = cause;
	if (!run->program_ended)
		run->ended_ns = fh_now_ns();
	run->phase = FH_PHASE_ENDING;
	run->kill_deadline_ns = fh_now_ns() + FH_END_MS_MAX * MS;
	kill_all(run);
	set_timer(run);
}

void fh_run_fail(struct fh_run *run, const struct fh_err *why)
{
	if (run->failure.code == 0)
		run->failure = *why;
	fh_run_end(run, FH_CAUSE_SANDBOX);
}

void fh_run_cancel(struct fh_run *run, const char *reason)
{
	if (run->phase < FH_PHASE_ENDING && run->cause == FH_CAUSE_NONE)
		snprintf(run->cancel_reason, sizeof(run->cancel_reason), "%s", reason);
	fh_run_end(run, FH_CAUSE_CANCEL);
}

/* While its first process holds the program back from being reaped. */
static void look_at_program(struct fh_run *run)
{
	struct fh_err why = {0};

	if (fh_posture_read(run, &run->result->receipt, &why) < 0) {
		fh_run_fail(run, &why);
		return;
	}
	/* Not heard, it would never reap the program. One that is gone already needs no answer. */
	if (send(run->report_fd, "A", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EPIPE && errno != ECONNRESET)
		fail(run, -errno, "answer the sandbox's first process");
}

/* The status pipe: a record says which step failed; its end says that the program was executed. */
static void on_status(struct fh_run *run)
{
	struct fh_step_failure record;
	ssize_t got = read(run->status_fd, &record, sizeof(record));
	struct fh_err why = {0};
	bool heard;

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	heard = got == 0 || got == (ssize_t)sizeof(record);
	if (!heard)
		fail(run, got < 0 ? -errno : -EPROTO, "hear whether the program was started");
	fh_run_watch_fd(run, run->status_fd, 0, FH_TAG_STATUS);
	fh_close(&run->status_fd);
	if (!heard)
		return;
	if (run->phase >= FH_PHASE_ENDING && (got > 0 || run->program_pidfd < 0))
		return; /* we ended it before it had come to the program: what then fails in it fails because of that */
	if (got == (ssize_t)sizeof(record) && record.step > 0 && record.step < FH_STEP_COUNT_) {
		fh_failure_explain(run, &record, &why);
		run->again = fh_failure_weaken(run, &record);
		fh_run_fail(run, &why);
		return;
	}
	if (run->program_pidfd < 0) {
		/* The child died before it had forked the program, and without a word. */
		fh_fail(&why, -ECHILD, "the sandbox's first process was killed while it was being set up");
		fh_run_fail(run, &why);
		return;
	}
	run->exec_seen = true;
	run->started_ns = fh_now_ns();
	run->marks[FH_MARK_STARTED] = run->started_ns;
	if (run->phase != FH_PHASE_SETUP)
		return;
	run->phase = FH_PHASE_RUNNING;
	run->deadline_ns = run->started_ns + run->policy.wall_ms * MS;
	if (run->spec->want_receipt)
		look_at_program(run);
	if (run->phase == FH_PHASE_RUNNING)
		set_timer(run);
}

static void take_descriptors(struct fh_run *run, struct msghdr *msg)
{
	int *slots[2] = {&run->program_pidfd, &run->stage_fd};

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int fds[2];

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || n > 2)
			continue;
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
		for (size_t i = 0; i < n; i++) {
			fh_close(slots[i]);
			*slots[i] = fds[i];
		}
	}
}

/* The wait status as the kernel itself keeps it for a pidfd (Linux 6.15); what init says only where it does not. */
static int exit_status(const struct fh_run *run, int reported)
{
	struct fh_pidfd_info info = {.mask = FH_PIDFD_INFO_EXIT};

	if (run->program_pidfd < 0 || FH_SYS(SYS_ioctl, run->program_pidfd, FH_PIDFD_GET_INFO, &info) < 0 ||
	    !(info.mask & FH_PIDFD_INFO_EXIT))
		return reported;
	return info.exit_code;
}

/* Our own init or warden speaks; nothing of the program ever holds this socket. */
static void on_report(struct fh_run *run)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct fh_report report;
	struct iovec iov = {&report, sizeof(report)};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(run->report_fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got < 0 && errno != ECONNRESET) /* that one: it was killed before it had heard us */
		fail(run, -errno, "hear from the sandbox's first process");
	if (got != (ssize_t)sizeof(report)) {
		fh_run_watch_fd(run, run->report_fd, 0, FH_TAG_REPORT);
		return; /* closed: the child's own end says the rest */
	}
	switch (report.kind) {
	case FH_REPORT_PROGRAM:
		take_descriptors(run, &msg);
		run->program_pid = report.pid;
		fh_run_mark(run, FH_MARK_FORKED);
		fh_sample_start(run); /* nothing of the program is on the disk yet */
		break;
	case FH_REPORT_ENDED:
		if (run->program_ended)
			break;
		run->program_ended = true;
		fh_run_mark(run, FH_MARK_ENDED);
		run->program_status = exit_status(run, report.status);
		run->user_us = report.user_us;
		run->system_us = report.system_us;
		run->maxrss_kb = report.maxrss_kb;
		if (run->phase < FH_PHASE_ENDING)
			run->ended_ns = fh_now_ns();
		break;
	case FH_REPORT_GONE:
		run->all_gone = report.left == 0;
		break;
	}
}

/* The child is the parent of all: once it is reaped (and, at level 1, has said that it reaped the rest) nobody is
 * left. */
static void on_child(struct fh_run *run)
{
	siginfo_t info = {0};

	if (waitid((idtype_t)P_PIDFD, (id_t)run->child_pidfd, &info, WEXITED | WNOHANG | __WALL) < 0) {
		if (errno != ECHILD) /* somebody else reaped it: it is gone all the same */
			return;
	} else if (info.si_pid == 0) {
		return;
	}
	for (int i = 0; i < 4; i++) /* its last words may still be in the socket */
		on_report(run);
	fh_run_watch_fd(run, run->child_pidfd, 0, FH_TAG_CHILD);
	run->child_reaped = true;
	fh_run_mark(run, FH_MARK_GONE);
	if (run->plan.namespaces)
		run->all_gone = true;
	if (!run->all_gone)
		fh_cgroup_kill(run->cgroup);
	if (run->status_fd >= 0)
		on_status(run);
	if (run->phase < FH_PHASE_ENDING) {
		if (!run->program_ended)
			run->ended_ns = fh_now_ns();
		run->phase = FH_PHASE_ENDING;
	}
	run->kill_deadline_ns = fh_now_ns() + DRAIN_MS_MAX * MS;
	if (run->deadline_ns > run->kill_deadline_ns)
		run->kill_deadline_ns = run->deadline_ns + DRAIN_MS_MAX * MS;
	set_timer(run);
	fh_outlets_drain(run);
}

static void on_timer(struct fh_run *run)
{
	uint64_t ticks, now = fh_now_ns();
	struct fh_err why = {0};

	(void)!read(run->timer_fd, &ticks, sizeof(ticks));
	if (run->phase == FH_PHASE_ENDING && now >= run->kill_deadline_ns) {
		if (run->child_reaped) {
			/* Only the far end of our own output still keeps us: it had its time. */
			run->out[0].pending = run->out[1].pending = 0;
			run->out[0].live_fd = run->out[1].live_fd = -1;
			fh_outlets_drain(run);
			return;
		}
		fh_sys_pidfd_kill(run->child_pidfd, SIGKILL);
		fh_cgroup_kill(run->cgroup);
		if (run->failure.code == 0)
			fh_fail(&run->failure, -ETIMEDOUT, "end the sandbox's processes within %d ms", FH_END_MS_MAX);
		run->kill_deadline_ns = now + FH_END_MS_MAX * MS;
	} else if (run->phase == FH_PHASE_SETUP && now >= run->deadline_ns) {
		fh_fail(&why, -ETIMEDOUT, "set up the sandbox within %d ms", FH_SETUP_MS_MAX);
		fh_run_fail(run, &why);
	} else if (run->phase == FH_PHASE_RUNNING && now >= run->deadline_ns) {
		fh_run_end(run, FH_CAUSE_WALL);
	} else if (run->phase == FH_PHASE_RUNNING) {
		fh_sample(run);
	}
	set_timer(run);
}

static void on_oom(struct fh_run *run)
{
	if (fh_cgroup_oom_take(run->cgroup))
		fh_run_end(run, FH_CAUSE_MEMORY);
}

static void dispatch(struct fh_run *run, enum fh_tag tag)
{
	switch (tag) {
	case FH_TAG_STATUS:
		if (run->status_fd >= 0)
			on_status(run);
		break;
	case FH_TAG_REPORT:
		on_report(run);
		break;
	case FH_TAG_OUT:
	case FH_TAG_ERR:
		fh_outlet_ready(run, tag == FH_TAG_ERR);
		break;
	case FH_TAG_STDIN:
	case FH_TAG_STDIN_SOURCE:
		fh_feed_ready(run);
		break;
	case FH_TAG_LIVE_OUT:
	case FH_TAG_LIVE_ERR:
		fh_outlet_live_ready(run, tag == FH_TAG_LIVE_ERR);
		if (run->child_reaped)
			fh_outlets_drain(run);
		break;
	case FH_TAG_TIMER:
		on_timer(run);
		break;
	case FH_TAG_OOM:
		on_oom(run);
		break;
	case FH_TAG_CHILD:
		on_child(run);
		break;
	}
}

static bool over(const struct fh_run *run)
{
	return run->child_reaped && run->out[0].pipe_fd < 0 && run->out[1].pipe_fd < 0 && run->out[0].pending == 0 &&
	       run->out[1].pending == 0;
}

int fh_run_step_events(struct fh_run *run, int timeout_ms)
{
	struct epoll_event events[8];
	int n = epoll_wait(run->epoll_fd, events, 8, timeout_ms);

	if (n < 0 && errno != EINTR)
		fail(run, -errno, "wait for what happens in the sandbox");
	/* A program that prints much is followed for some rounds, so that what a step costs is shared by many reads. */
	for (int round = 0; n > 0 && round < ROUNDS_MAX; round++) {
		/* Reports first: what they carry is needed to read the others right. */
		for (int i = 0; i < n; i++)
			if (events[i].data.u32 == FH_TAG_REPORT)
				dispatch(run, FH_TAG_REPORT);
		for (int i = 0; i < n; i++)
			if (events[i].data.u32 != FH_TAG_REPORT)
				dispatch(run, (enum fh_tag)events[i].data.u32);
		if (over(run))
			return 1;
		n = epoll_wait(run->epoll_fd, events, 8, 0);
	}
	return over(run);
}
