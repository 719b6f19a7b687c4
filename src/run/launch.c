/* Starts the child of a finished plan: channels, clone, id maps, groups, go. */
#include "run/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "sys/proc.h"

_Static_assert((int)FH_CGROUP_JOIN_MAX <= (int)FH_PLAN_JOIN_MAX, "a plan holds every group to join");

/* The child's ends of the channels; ours until the clone, then closed here. */
struct ends {
	int barrier, status, report, lifeline, stdio[3], source;
};

static void ends_close(struct ends *e)
{
	fh_close(&e->barrier);
	fh_close(&e->status);
	fh_close(&e->report);
	fh_close(&e->lifeline);
	fh_close(&e->source);
	for (int i = 0; i < 3; i++)
		fh_close(&e->stdio[i]);
}

/* Descriptors of the plan live above 9, so that moving the standard streams into place never tramples one. */
static int lift(int *fd)
{
	int high;

	if (*fd > 9)
		return 0;
	high = (int)FH_SYS(SYS_fcntl, *fd, F_DUPFD_CLOEXEC, 10);
	if (high < 0)
		return high;
	close(*fd);
	*fd = high;
	return 0;
}

/* A pipe or pair: the child's end lifted. */
static int open_channel(int *ours, int *theirs, bool they_write, struct fh_err *err)
{
	int fds[2];
	long rc = FH_SYS(SYS_pipe2, fds, O_CLOEXEC);

	if (rc < 0)
		return fh_fail(err, (int)rc, "create a pipe");
	*ours = fds[they_write ? 0 : 1];
	*theirs = fds[they_write ? 1 : 0];
	rc = lift(theirs);
	return rc < 0 ? fh_fail(err, (int)rc, "create a pipe") : 0;
}

/* The program text in sealed memory: no path, no size limit, nobody can change it afterwards. */
static int open_source(struct fh_run *run, int *ret_fd, struct fh_err *err)
{
	const unsigned seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	fh_autofd int fd = -1;
	long rc;

	*ret_fd = -1;
	if (!run->spec->source)
		return 0;
	rc = FH_SYS(SYS_memfd_create, "program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (rc < 0)
		return fh_fail(err, (int)rc, "create memory for the program text");
	fd = (int)rc;
	rc = fh_write_all(fd, run->spec->source, run->spec->source_bytes);
	if (rc == 0)
		rc = FH_SYS(SYS_lseek, fd, 0, SEEK_SET);
	if (rc == 0)
		rc = FH_SYS(SYS_fcntl, fd, F_ADD_SEALS, seals);
	if (rc == 0)
		rc = lift(&fd);
	if (rc < 0)
		return fh_fail(err, (int)rc, "write the program text");
	*ret_fd = fh_take_fd(&fd);
	return 0;
}

static int open_channels(struct fh_run *run, struct ends *ends, struct fh_err *err)
{
	int pair[2];
	long fd;
	int rc = open_channel(&run->barrier_fd, &ends->barrier, false, err);

	rc = rc ? rc : open_channel(&run->status_fd, &ends->status, true, err);
	rc = rc ? rc : open_channel(&run->out[0].pipe_fd, &ends->stdio[1], true, err);
	rc = rc ? rc : open_channel(&run->out[1].pipe_fd, &ends->stdio[2], true, err);
	rc = rc ? rc : fh_feed_open(run, &ends->stdio[0], err);
	rc = rc ? rc : open_source(run, &ends->source, err);
	if (rc < 0)
		return rc;
	rc = lift(&ends->stdio[0]);
	if (rc < 0)
		return fh_fail(err, rc, "open its input");
	rc = (int)FH_SYS(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
	if (rc < 0)
		return fh_fail(err, rc, "create a socket pair");
	run->report_fd = pair[0];
	ends->report = pair[1];
	rc = lift(&ends->report);
	fd = rc < 0 ? rc : fh_sys_pidfd_open(getpid());
	if (fd < 0)
		return fh_fail(err, (int)fd, "open a descriptor of this process");
	ends->lifeline = (int)fd;
	rc = lift(&ends->lifeline);
	return rc < 0 ? fh_fail(err, rc, "open a descriptor of this process") : 0;
}

static void keep(struct fh_plan *plan, int fd)
{
	size_t i = plan->n_keep;

	if (fd < 0 || plan->n_keep == FH_PLAN_KEEP_MAX)
		return;
	for (; i > 0 && plan->keep_fds[i - 1] > fd; i--)
		plan->keep_fds[i] = plan->keep_fds[i - 1];
	plan->keep_fds[i] = fd;
	plan->n_keep++;
}

static int name_ends(struct fh_run *run, const struct ends *ends, struct fh_err *err)
{
	struct fh_plan *plan = &run->plan;

	plan->barrier_fd = ends->barrier;
	plan->status_fd = ends->status;
	plan->report_fd = ends->report;
	plan->lifeline_fd = ends->lifeline;
	plan->source_fd = ends->source;
	memcpy(plan->stdio_fds, ends->stdio, sizeof(plan->stdio_fds));
	plan->n_keep = 0;
	keep(plan, ends->barrier);
	keep(plan, ends->status);
	keep(plan, ends->report);
	keep(plan, ends->lifeline);
	keep(plan, ends->source);
	for (int i = 0; i < 3; i++)
		keep(plan, ends->stdio[i]);
	if (run->ids.lease_fd >= 0 && lift(&run->ids.lease_fd) < 0)
		return fh_fail(err, -EMFILE, "keep the lease of the ids");
	keep(plan, run->ids.lease_fd);
	plan->n_join = fh_cgroup_join_fds(run->cgroup, plan->join_fds);
	for (size_t i = 0; i < plan->n_join; i++)
		keep(plan, plan->join_fds[i]);
	for (size_t i = 0; i < plan->n_sources; i++)
		keep(plan, plan->sources[i].tree_fd);
	if (plan->n_keep == FH_PLAN_KEEP_MAX)
		return fh_fail(err, -E2BIG, "plan more than %d mounts", FH_PLAN_KEEP_MAX - 10);
	return 0;
}

static int explain_clone(struct fh_run *run, int rc, struct fh_err *err)
{
	if (rc == -EAGAIN || rc == -ENOMEM || !run->plan.namespaces)
		return fh_fail(err, rc, "clone the sandbox's process");
	if (rc == -EPERM || rc == -ENOSYS || rc == -ENOSPC || rc == -EUSERS || rc == -EACCES || rc == -EINVAL) {
		run->namespaces_refused = true;
		fh_unsupported(err, "run `fumehood doctor`, or choose --level process",
			       "this host does not let us create namespaces (clone3: %s), which level namespace needs",
			       strerror(-rc));
		return rc;
	}
	return fh_fail(err, rc, "clone the sandbox's process into its namespaces");
}

static int clone_child(struct fh_run *run, struct fh_err *err)
{
	const uint64_t namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
	int into = fh_cgroup_into_fd(run->cgroup);
	/* No exit signal: the end of our child must neither wake a SIGCHLD handler of the host program nor be
	 * taken by its wait for any child, nor be lost because it ignores SIGCHLD. Only __WALL sees it. */
	struct fh_clone_args args = {
		.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND | (run->plan.namespaces ? namespaces : 0) |
			 (into >= 0 ? CLONE_INTO_CGROUP : 0),
		.pidfd = (uint64_t)(uintptr_t)&run->child_pidfd,
		.cgroup = into >= 0 ? (uint64_t)into : 0,
	};
	uint64_t all = ~0ull, before;
	long pid;

	/* No handler of the host program may run in the child before it has reset them. */
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	run->joined_v2 = true;
	pid = fh_sys_clone3(&args);
	if (pid == -ENOSYS) {
		/* Containers answer so to clone3, whose flags their filters cannot read. Its signals stay
		 * blocked, and it is moved into its v2 group before it is let go. */
		run->joined_v2 = false;
		pid = FH_SYS(SYS_clone, CLONE_PIDFD | (run->plan.namespaces ? namespaces : 0), NULL,
			     &run->child_pidfd, NULL, NULL);
	}
	if (pid == 0) {
		if (run->plan.namespaces)
			fh_child_init(&run->plan);
		fh_child_warden(&run->plan);
	}
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	if (pid < 0)
		return explain_clone(run, (int)pid, err);
	run->child_pid = (pid_t)pid;
	fh_run_mark(run, FH_MARK_CLONED);
	return 0;
}

/* Everything the child waits for. */
static int let_go(struct fh_run *run, struct fh_err *err)
{
	char path[64];
	int rc = 0;

	/* The v1 groups the child joins by itself. */
	if (!run->joined_v2)
		rc = fh_cgroup_add_all(run->cgroup, run->child_pid, err);
	if (rc == 0 && run->plan.namespaces)
		rc = fh_ids_map(&run->ids, run->child_pid, err);
	if (rc < 0)
		return rc;
	if (run->plan.namespaces && run->ids.kind == FH_IDS_SUBID && run->spec->want_receipt) {
		snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)run->child_pid);
		run->userns_fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	rc = (int)fh_sys_write(run->barrier_fd, "g", 1);
	if (rc < 0)
		return fh_fail(err, rc, "let the sandbox go");
	fh_run_mark(run, FH_MARK_RELEASED);
	fh_close(&run->barrier_fd);
	return 0;
}

int fh_run_launch(struct fh_run *run, struct fh_err *err)
{
	struct ends ends = {-1, -1, -1, -1, {-1, -1, -1}, -1};
	int rc = open_channels(run, &ends, err);

	rc = rc ? rc : name_ends(run, &ends, err);
	rc = rc ? rc : clone_child(run, err);
	ends_close(&ends);
	rc = rc ? rc : let_go(run, err);
	if (rc == 0)
		fh_cgroup_host_sweep(run->host->cgroups); /* the child is busy for a while */
	return rc;
}
