/* Id maps for mounts; see idmap.h. A namespace needs a process to be made: one that only waits to be looked at. */
#include "isolate/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
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

int fh_idmap_create(uint32_t uid_on_disk, uint32_t uid_here, uint32_t gid_on_disk, uint32_t gid_here, int *ret_fd,
		    struct fh_err *err)
{
	int pidfd_raw = -1;
	struct fh_clone_args args = {
		.flags = CLONE_NEWUSER | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&pidfd_raw,
		.exit_signal = 0,
	};
	long pid = fh_sys_clone3(&args);
	char path[64];
	siginfo_t info;
	int rc, fd = -1;

	if (pid == 0)
		for (;;)
			pause();
	if (pid < 0)
		return fh_fail(err, (int)pid, "create a user namespace for the workspace's owner");
	rc = write_map((pid_t)pid, "uid_map", uid_on_disk, uid_here);
	if (rc == 0)
		rc = write_map((pid_t)pid, "gid_map", gid_on_disk, gid_here);
	if (rc == 0) {
		snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		rc = fd < 0 ? -errno : 0;
	}
	fh_sys_pidfd_kill(pidfd_raw, SIGKILL);
	while (waitid((idtype_t)P_PIDFD, (id_t)pidfd_raw, &info, WEXITED | __WALL) < 0 && errno == EINTR)
		;
	close(pidfd_raw);
	if (rc < 0)
		return fh_fail(err, rc, "map the workspace's owner");
	*ret_fd = fd;
	return 0;
}
