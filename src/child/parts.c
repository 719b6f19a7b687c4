/* Steps that init and the warden share. Runs between clone and exec: raw system calls only. */
#include "child/child.h"

#include <string.h>
#include <sys/socket.h>

#include "sys/proc.h"

void fh_child_tell(const struct fh_plan *plan, enum fh_step step, long rc, int detail)
{
	struct fh_step_failure failure = {.step = (int32_t)step, .error = (int32_t)-rc, .detail = detail};

	/* One record, shorter than PIPE_BUF, so it arrives whole or not at all. */
	(void)!syscall(SYS_write, plan->status_fd, &failure, sizeof(failure));
}

void fh_child_die(const struct fh_plan *plan, enum fh_step step, long rc, int detail)
{
	fh_child_tell(plan, step, rc, detail);
	fh_sys_exit(125);
}

void fh_child_close_inherited(const struct fh_plan *plan)
{
	unsigned next = 0;

	for (size_t i = 0; i < plan->n_keep; i++) {
		unsigned keep = (unsigned)plan->keep_fds[i];
		if (keep > next)
			FH_MUST(plan, CLOSE_FDS, fh_sys_close_range(next, keep - 1, 0));
		next = keep + 1;
	}
	FH_MUST(plan, CLOSE_FDS, fh_sys_close_range(next, ~0u, 0));
}

/* By itself: a process with one thread moves itself at once, while to move it from outside the kernel first waits for
 * all others to take notice. */
void fh_child_join_groups(const struct fh_plan *plan)
{
	for (size_t i = 0; i < plan->n_join; i++) {
		FH_MUST(plan, JOIN_GROUPS, fh_sys_write(plan->join_fds[i], "0", 1));
		fh_sys_close(plan->join_fds[i]);
	}
}

void fh_child_wait_for_go(const struct fh_plan *plan)
{
	char go;
	long got;

	do
		got = fh_sys_read(plan->barrier_fd, &go, 1);
	while (got == -EINTR);
	if (got == 0) /* the supervisor ended before it let us go */
		fh_sys_exit(125);
	FH_MUST(plan, BARRIER, got);
}

void fh_child_raise_oom_score(const struct fh_plan *plan)
{
	long fd;

	if (!plan->oom_score_adj)
		return;
	fd = fh_sys_openat(AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY, 0);
	FH_MUST(plan, OOM_SCORE, fd);
	long rc = fh_sys_write((int)fd, plan->oom_score_adj, strlen(plan->oom_score_adj));
	if (rc != -EACCES) /* it is higher already, and lowering it takes a privilege */
		FH_MUST(plan, OOM_SCORE, rc);
	fh_sys_close((int)fd);
}

long fh_child_send_report(int fd, const struct fh_report *report, const int *fds, unsigned n_fds)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = (void *)(uintptr_t)report, .iov_len = sizeof(*report)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (n_fds > 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, n_fds * sizeof(int));
	}
	return FH_SYS(SYS_sendmsg, fd, &msg, MSG_NOSIGNAL);
}

void fh_child_block_signals(void)
{
	uint64_t all = ~0ull;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
}
