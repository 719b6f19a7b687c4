/* Id maps for mounts; see idmap.h. A namespace needs a process to be made: one that only waits to be looked
 * at. */
#include "isolate/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "sys/proc.h"

static int write_map(pid_t pid, const char *name, uint32_t on_disk, uint32_t here)
{
	char path[64], line[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	snprintf(line, sizeof(line), "%u %u 1", on_disk, here);
	return fh_write_small_at(AT_FDCWD, path, line);
}

/* The process whose namespace is looked at: ends when the other end of the pipe is closed, and whatever
 * happens to us. */
_Noreturn static void be_looked_at(const int pipe_fds[2])
{
	char byte;

	fh_sys_close(pipe_fds[1]);
	if (fh_sys_prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0)
		while (fh_sys_read(pipe_fds[0], &byte, 1) == -EINTR)
			;
	fh_sys_exit(0);
}

static int map_and_open(pid_t pid, uint32_t uids[2], uint32_t gids[2])
{
	char path[64];
	int rc = write_map(pid, "uid_map", uids[0], uids[1]);

	rc = rc ? rc : write_map(pid, "gid_map", gids[0], gids[1]);
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return rc ? rc : (int)fh_sys_openat(AT_FDCWD, path, O_RDONLY, 0);
}

int fh_idmap_create(uint32_t uid_on_disk, uint32_t uid_here, uint32_t gid_on_disk, uint32_t gid_here,
		    int *ret_fd, struct fh_err *err)
{
	int pidfd_raw = -1, pipe_fds[2];
	struct fh_clone_args args = {
	    .flags = CLONE_NEWUSER | CLONE_PIDFD,
	    .pidfd = (uint64_t)(uintptr_t)&pidfd_raw,
	    .exit_signal = 0,
	};
	siginfo_t info;
	long pid = FH_SYS(SYS_pipe2, pipe_fds, O_CLOEXEC);
	int fd;

	if (pid < 0)
		return fh_fail(err, (int)pid, "create a pipe");
	pid = fh_sys_clone3(&args);
	if (pid == 0)
		be_looked_at(pipe_fds);
	fh_sys_close(pipe_fds[0]);
	fd = pid < 0 ? (int)pid
		     : map_and_open((pid_t)pid, (uint32_t[]){uid_on_disk, uid_here},
				    (uint32_t[]){gid_on_disk, gid_here});
	fh_sys_close(pipe_fds[1]);
	if (pid > 0) /* a fork of the host program may hold the pipe open still */
		fh_sys_pidfd_kill(pidfd_raw, SIGKILL);
	if (pid < 0)
		return fh_fail(err, fd, "create a user namespace for the workspace's owner");
	while (waitid((idtype_t)P_PIDFD, (id_t)pidfd_raw, &info, WEXITED | __WALL) < 0 && errno == EINTR)
		;
	close(pidfd_raw);
	if (fd < 0)
		return fh_fail(err, fd, "map the workspace's owner");
	*ret_fd = fd;
	return 0;
}
