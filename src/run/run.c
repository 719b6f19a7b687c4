/* The life of a run: start, step, result, end; and its attempts, where the caller allowed weaker ones. */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "run/internal.h"
#include "run/inspect.h"
#include "run/privatedir.h"
#include "run/receipt.h"
#include "sys/fault.h"
#include "sys/proc.h"

#define REMOVE_MS_MAX 2000

void fh_spec_init(struct fh_spec *spec)
{
	*spec = (struct fh_spec){
		.stdin_fd = -1, .live_out_fd = -1, .live_err_fd = -1, .spill_out_fd = -1, .spill_err_fd = -1};
}

int fh_host_open(struct fh_host **ret, struct fh_err *err)
{
	struct fh_host *host = calloc(1, sizeof(*host));
	int rc;

	if (!host)
		return fh_fail(err, -ENOMEM, "look at this host");
	rc = fh_cgroup_host_open(&host->cgroups, err);
	if (rc < 0) {
		free(host);
		return rc;
	}
	fh_cgroup_host_axes(host->cgroups, &host->axes);
	*ret = host;
	return 0;
}

void fh_host_close(struct fh_host *host)
{
	if (!host)
		return;
	fh_cgroup_host_close(host->cgroups);
	free(host);
}

/* Everything an attempt opened and nothing the run itself needs. Processes must be gone. */
static void finish_attempt(struct fh_run *run)
{
	fh_feed_close(run);
	fh_close(&run->barrier_fd);
	fh_close(&run->status_fd);
	fh_close(&run->report_fd);
	fh_close(&run->program_pidfd);
	fh_close(&run->child_pidfd);
	fh_close(&run->stage_fd);
	fh_close(&run->userns_fd);
	fh_close(&run->timer_fd);
	if (run->cgroup)
		(void)fh_cgroup_destroy(run->cgroup, FH_END_MS_MAX / 10, NULL);
	run->cgroup = NULL;
	fh_ids_release(&run->ids);
	fh_filter_finish(&run->filter);
	fh_planner_finish(&run->planner);
	fh_inspect_finish(run);
	if (run->private_dir)
		(void)fh_privatedir_destroy(run->private_dir, REMOVE_MS_MAX, NULL);
	run->private_dir = NULL;
	free(run->stdin_buffer);
	run->stdin_buffer = NULL;
	run->stdin_pending = run->stdin_pending_done = run->stdin_done = 0;
	run->stdin_source_polled = false;
}

#define FDS_MIN 64

/* Told before it shows in the middle of the setup. */
static int check_descriptors(struct fh_err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FDS_MIN)
		return fh_unsupported(err, "raise it: `ulimit -n 1024`",
				      "this process may open only %llu files, and a run needs up to %d",
				      (unsigned long long)limit.rlim_cur, FDS_MIN);
	return 0;
}

static int open_loop(struct fh_run *run, struct fh_err *err)
{
	long rc;

	/* One queue for all attempts: its caller may have put it into a queue of its own. */
	if (run->epoll_fd < 0) {
		rc = FH_SYS(SYS_epoll_create1, EPOLL_CLOEXEC);
		if (rc < 0)
			return fh_fail(err, (int)rc, "create an event queue");
		run->epoll_fd = (int)rc;
	}
	rc = FH_SYS(SYS_timerfd_create, CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (rc < 0)
		return fh_fail(err, (int)rc, "create a timer");
	run->timer_fd = (int)rc;
	return 0;
}

static int watch_all(struct fh_run *run, struct fh_err *err)
{
	struct itimerspec setup = {.it_value = {FH_SETUP_MS_MAX / 1000, 0}};
	int oom = fh_cgroup_oom_fd(run->cgroup);
	int rc = fh_run_watch_fd(run, run->status_fd, EPOLLIN, FH_TAG_STATUS);

	rc = rc ? rc : fh_run_watch_fd(run, run->report_fd, EPOLLIN, FH_TAG_REPORT);
	rc = rc ? rc : fh_run_watch_fd(run, run->child_pidfd, EPOLLIN, FH_TAG_CHILD);
	rc = rc ? rc : fh_run_watch_fd(run, run->out[0].pipe_fd, EPOLLIN, FH_TAG_OUT);
	rc = rc ? rc : fh_run_watch_fd(run, run->out[1].pipe_fd, EPOLLIN, FH_TAG_ERR);
	rc = rc ? rc : fh_run_watch_fd(run, run->timer_fd, EPOLLIN, FH_TAG_TIMER);
	if (rc == 0 && run->stdin_fd >= 0)
		rc = fh_run_watch_fd(run, run->stdin_fd, EPOLLOUT, FH_TAG_STDIN);
	if (rc == 0 && oom >= 0)
		rc = fh_run_watch_fd(run, oom, (uint32_t)fh_cgroup_oom_events(run->cgroup), FH_TAG_OOM);
	run->out[0].reading = run->out[1].reading = true;
	run->deadline_ns = fh_now_ns() + FH_SETUP_MS_MAX * 1000000ull;
	if (rc == 0 && timerfd_settime(run->timer_fd, 0, &setup, NULL) < 0)
		rc = -errno;
	return rc < 0 ? fh_fail(err, rc, "watch the sandbox") : 0;
}

/* One attempt to start. On failure every process of it is gone and everything is closed. */
static int start_attempt(struct fh_run *run, struct fh_err *err)
{
	int rc;

	run->phase = FH_PHASE_SETUP;
	run->cause = FH_CAUSE_NONE;
	run->failure.code = 0;
	run->child_reaped = run->program_ended = run->all_gone = run->exec_seen = false;
	run->ids.lease_fd = -1;
	rc = open_loop(run, err);
	rc = rc ? rc : fh_run_prepare(run, err);
	rc = rc ? rc : fh_outlets_open(run, err);
	rc = rc ? rc : fh_run_launch(run, err);
	if (rc == 0) {
		(void)fcntl(run->status_fd, F_SETFL, O_NONBLOCK);
		rc = watch_all(run, err);
	}
	if (rc == 0)
		return 0;
	if (run->child_pidfd >= 0) {
		siginfo_t info;
		fh_close(&run->barrier_fd);
		fh_sys_pidfd_kill(run->child_pidfd, SIGKILL);
		while (waitid((idtype_t)P_PIDFD, (id_t)run->child_pidfd, &info, WEXITED | __WALL) < 0 && errno == EINTR)
			;
	}
	for (int i = 0; i < 2; i++)
		fh_close(&run->out[i].pipe_fd);
	finish_attempt(run);
	return rc;
}

/* A host without namespaces is found out by the clone itself. */
static bool weaken_clone(struct fh_run *run)
{
	if (!run->policy.allow_weaker || !run->namespaces_refused || run->weaker.level_process)
		return false;
	run->weaker.level_process = true;
	return true;
}

static void new_id(char id[33])
{
	unsigned char r[16] = {0};

	(void)!getrandom(r, sizeof(r), 0);
	for (int i = 0; i < 16; i++)
		snprintf(id + 2 * i, 3, "%02x", r[i]);
}

/* "limit-pids" among the switches of the test build: that limit is eight times what was asked, so that its test can show
 * that it notices. */
static void loosen_limits(struct fh_policy *policy)
{
#ifdef FH_TEST_HOOKS
	for (size_t i = 0; i < fh_fields_count; i++) {
		char name[64];
		snprintf(name, sizeof(name), "limit-%s", fh_fields[i].name);
		if (fh_switched_off(name))
			*fh_field_of(policy, &fh_fields[i]) *= 8;
	}
#endif
}

int fh_run_start(struct fh_host *host, const struct fh_policy *policy, const struct fh_spec *spec, struct fh_run **ret,
		 struct fh_err *err)
{
	struct fh_run *run;
	struct fh_err why = {0};
	struct fh_sigpipe sigpipe;
	int rc = fh_policy_check(policy, err);

	rc = rc ? rc : check_descriptors(err);
	if (rc < 0)
		return rc;
	run = calloc(1, sizeof(*run));
	if (!run)
		return fh_fail(err, -ENOMEM, "take memory for a run");
	run->host = host;
	run->spec = spec;
	run->created_ns = fh_now_ns();
	run->marks[FH_MARK_CREATED] = run->created_ns;
	run->started_clock_ms = fh_wall_clock_ms();
	run->epoll_fd = run->timer_fd = run->barrier_fd = run->status_fd = run->report_fd = -1;
	run->child_pidfd = run->program_pidfd = run->stage_fd = run->stdin_fd = run->userns_fd = -1;
	run->ids.lease_fd = -1;
	for (int i = 0; i < 2; i++)
		run->out[i] = (struct fh_outlet){.pipe_fd = -1, .live_fd = -1};
	new_id(run->id);
	run->result = calloc(1, sizeof(*run->result));
	rc = run->result ? fh_policy_copy(&run->policy, policy) : -ENOMEM;
	if (rc == 0)
		loosen_limits(&run->policy);
	if (rc < 0)
		rc = fh_fail(&why, rc, "take memory for a run");
	fh_sigpipe_hold(&sigpipe);
	while (rc == 0) {
		rc = start_attempt(run, &why);
		if (rc == 0 || !weaken_clone(run))
			break;
		rc = 0;
	}
	fh_sigpipe_release(&sigpipe);
	if (rc == 0) {
		run->release = spec->release;
		*ret = run;
		return 0;
	}
	if (err)
		*err = why;
	fh_run_destroy(run);
	return rc;
}

int fh_run_fd(const struct fh_run *run)
{
	return run->epoll_fd;
}

/* Everything is over: look at what is left, tell, and leave nothing behind. */
static void finish(struct fh_run *run)
{
	if (!run->all_gone && run->failure.code == 0 && run->exec_seen)
		fh_fail(&run->failure, -EBUSY, "see every process of the sandbox end");
	fh_sample(run);
	if (run->spec->want_receipt) {
		fh_receipt_fill(run, &run->result->receipt);
		fh_inspect_after(run, &run->result->receipt);
	}
	if (fh_verdict_make(run) < 0) {
		run->result->verdict = FH_VERDICT_SANDBOX;
		run->result->status = 125;
	}
	run->result->receipt.ended_ms = fh_wall_clock_ms();
	fh_outlets_close(run);
	finish_attempt(run);
	run->phase = FH_PHASE_DONE;
	fh_run_mark(run, FH_MARK_DONE);
}

/* A step failed that the caller lets us do without (failure.c chose): once more, with less. */
static bool start_again(struct fh_run *run)
{
	struct fh_err why = {0};

	if (run->failure.code == 0 || !run->again || run->exec_seen)
		return false;
	run->again = false;
	fh_outlets_close(run);
	finish_attempt(run);
	if (start_attempt(run, &why) == 0)
		return true;
	run->failure = why;
	run->phase = FH_PHASE_ENDING;
	return false;
}

static int step(struct fh_run *run, int timeout_ms)
{
	struct fh_sigpipe sigpipe;
	bool done;

	if (run->phase == FH_PHASE_DONE)
		return 1;
	fh_sigpipe_hold(&sigpipe);
	done = fh_run_step_events(run, timeout_ms) && !start_again(run);
	if (done)
		finish(run);
	fh_sigpipe_release(&sigpipe);
	return done;
}

int fh_run_step(struct fh_run *run)
{
	return step(run, 0);
}

void fh_run_wait(struct fh_run *run)
{
	while (!step(run, -1))
		;
}

void fh_run_marks(const struct fh_run *run, uint64_t ret_marks[FH_MARK_COUNT_])
{
	memcpy(ret_marks, run->marks, sizeof(run->marks));
}

struct fh_result *fh_run_take_result(struct fh_run *run)
{
	return run->phase == FH_PHASE_DONE ? fh_take_ptr(&run->result) : NULL;
}

void fh_run_destroy(struct fh_run *run)
{
	if (!run)
		return;
	if (run->child_pidfd >= 0 && run->phase != FH_PHASE_DONE) {
		run->again = false;
		fh_run_cancel(run, "the run was destroyed");
		fh_run_wait(run);
	}
	fh_outlets_close(run);
	free(run->chunks);
	fh_result_destroy(run->result);
	fh_policy_finish(&run->policy);
	fh_close(&run->epoll_fd);
	if (run->release)
		run->release(run->spec);
	free(run);
}
