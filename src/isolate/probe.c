/* Probes in forked children; see probe.h. The children use raw calls only: this may run in a program with
 * threads. */
#include "isolate/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "sys/mounts.h"
#include "sys/proc.h"

enum { ANSWER_MS_MAX = 1000 };

static const char *const step_names[FH_PROBE_STEPS_] = {
    "user namespace", "id map",        "mount namespace",  "pid namespace", "network namespace",
    "ipc namespace",  "uts namespace", "cgroup namespace", "tmpfs",         "overlay",
    "private /proc",
};

static const char *const call_names[FH_PROBE_CALLS_] = {
    "clone3",    "pidfd_open",    "close_range",  "openat2",
    "open_tree", "mount_setattr", "memfd_create", "epoll_create1",
};

const char *fh_probe_step_name(enum fh_probe_step step)
{
	return step_names[step];
}

const char *fh_probe_call_name(enum fh_probe_call call)
{
	return call_names[call];
}

/* What a child writes back: its answer, of fixed size. */
struct answer {
	int n[FH_PROBE_STEPS_];
};

/* Runs `body` in a child and takes its answer. The child has no exit signal, so that a host program does not
 * notice it. */
static int in_child(void (*body)(struct answer *), struct answer *ret)
{
	struct answer answer = {{0}};
	fh_autofd int in = -1;
	int fds[2], rc = 0, status;
	struct pollfd watch = {.events = POLLIN};
	long pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	in = fds[0];
	pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		body(&answer);
		(void)!syscall(SYS_write, fds[1], &answer, sizeof(answer));
		fh_sys_exit(0);
	}
	if (pid < 0)
		rc = -errno;
	close(fds[1]);
	if (rc < 0)
		return rc;
	watch.fd = in;
	do
		rc = poll(&watch, 1, ANSWER_MS_MAX);
	while (rc < 0 && errno == EINTR);
	if (rc > 0)
		rc = read(in, &answer, sizeof(answer)) == (ssize_t)sizeof(answer) ? 0 : -ECHILD;
	else
		rc = -ETIMEDOUT;
	if (rc < 0)
		kill((pid_t)pid, SIGKILL);
	while (waitpid((pid_t)pid, &status, __WALL) < 0 && errno == EINTR)
		;
	if (rc == 0)
		*ret = answer;
	return rc;
}

static int error_of(long rc)
{
	return rc < 0 ? (int)-rc : 0;
}

static int write_text(const char *path, const char *text)
{
	long fd = fh_sys_openat(AT_FDCWD, path, O_WRONLY, 0), rc;

	if (fd < 0)
		return (int)-fd;
	rc = fh_sys_write((int)fd, text, strlen(text));
	fh_sys_close((int)fd);
	return error_of(rc);
}

/* Numbers as text without stdio. */
static char *put(char *at, const char *text)
{
	size_t n = strlen(text);

	memcpy(at, text, n);
	return at + n;
}

static char *put_number(char *at, unsigned n)
{
	char digits[10];
	int i = 0;

	do
		digits[i++] = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	while (i > 0)
		*at++ = digits[--i];
	return at;
}

static int map_own_id(const char *path, unsigned id)
{
	char text[32], *at = put(text, "0 ");

	at = put(put_number(at, id), " 1");
	*at = '\0';
	return write_text(path, text);
}

static int map_ids(unsigned uid, unsigned gid)
{
	int rc = write_text("/proc/self/setgroups", "deny");

	rc = rc ? rc : map_own_id("/proc/self/gid_map", gid);
	return rc ? rc : map_own_id("/proc/self/uid_map", uid);
}

/* A proc of a new pid namespace, whose first process mounts it where only this child looks. */
static int try_proc(const char *at)
{
	siginfo_t info = {0};
	long pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);

	if (pid < 0)
		return errno;
	if (pid == 0)
		fh_sys_exit(
		    error_of(fh_sys_mount("proc", at, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)));
	while (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | __WALL, NULL) < 0 && errno == EINTR)
		;
	return info.si_status;
}

static void try_mounts(struct answer *a)
{
	static const char *const places[] = {"/tmp", "/mnt", "/var", "/usr"};
	long rc = fh_sys_mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);

	for (size_t i = 0; rc == 0 && i < FH_ARRAY_LEN(places); i++) {
		rc = fh_sys_mount("tmpfs", places[i], "tmpfs", MS_NOSUID | MS_NODEV, NULL);
		if (rc == 0)
			rc = fh_sys_chdir(places[i]);
		if (rc != -ENOENT)
			break;
		rc = 0;
	}
	a->n[FH_PROBE_TMPFS] = error_of(rc);
	if (rc < 0)
		return;
	fh_sys_mkdirat(AT_FDCWD, "e", 0755);
	fh_sys_mkdirat(AT_FDCWD, "o", 0755);
	fh_sys_mkdirat(AT_FDCWD, "p", 0755);
	a->n[FH_PROBE_OVERLAY] = error_of(
	    fh_sys_mount("overlay", "o", "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, "lowerdir=/usr:e"));
	if (a->n[FH_PROBE_PIDNS] == 0)
		a->n[FH_PROBE_PROC] = try_proc("p");
}

static void climb(struct answer *a)
{
	static const struct {
		enum fh_probe_step step;
		unsigned long flag;
	} others[] = {
	    {FH_PROBE_PIDNS, CLONE_NEWPID},       {FH_PROBE_NETNS, CLONE_NEWNET},
	    {FH_PROBE_IPCNS, CLONE_NEWIPC},       {FH_PROBE_UTSNS, CLONE_NEWUTS},
	    {FH_PROBE_CGROUPNS, CLONE_NEWCGROUP},
	};
	unsigned uid = (unsigned)syscall(SYS_geteuid), gid = (unsigned)syscall(SYS_getegid);

	for (int i = 0; i < FH_PROBE_STEPS_; i++)
		a->n[i] = FH_PROBE_NOT_TRIED;
	a->n[FH_PROBE_USERNS] = error_of(fh_sys_unshare(CLONE_NEWUSER));
	if (a->n[FH_PROBE_USERNS])
		return;
	a->n[FH_PROBE_ID_MAP] = map_ids(uid, gid);
	for (size_t i = 0; i < FH_ARRAY_LEN(others); i++)
		a->n[others[i].step] = error_of(fh_sys_unshare(others[i].flag));
	a->n[FH_PROBE_MNTNS] = error_of(fh_sys_unshare(CLONE_NEWNS));
	if (a->n[FH_PROBE_MNTNS] == 0)
		try_mounts(a);
}

int fh_probe_namespaces(struct fh_probe_ladder *ret)
{
	struct answer a;
	int rc = in_child(climb, &a);

	if (rc == 0)
		memcpy(ret->step, a.n, sizeof(ret->step));
	return rc;
}

int fh_probe_call(enum fh_probe_call call)
{
	long fd = -1, rc = 0;

	/* Sizes, flags and descriptors that no kernel takes: an answer that complains about them is an
	 * answer. */
	switch (call) {
	case FH_PROBE_CLONE3:
		rc = syscall(SYS_clone3, NULL, 0);
		break;
	case FH_PROBE_PIDFD_OPEN:
		rc = fd = syscall(SYS_pidfd_open, getpid(), 0);
		break;
	case FH_PROBE_CLOSE_RANGE:
		rc = syscall(SYS_close_range, 1, 0, 0);
		break;
	case FH_PROBE_OPENAT2:
		rc = syscall(SYS_openat2, -1, NULL, NULL, 0);
		break;
	case FH_PROBE_OPEN_TREE:
		rc = fd = syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLOEXEC);
		break;
	case FH_PROBE_MOUNT_SETATTR:
		rc = syscall(SYS_mount_setattr, -1, "", ~0u, NULL, 0);
		break;
	case FH_PROBE_MEMFD:
		rc = fd = syscall(SYS_memfd_create, "probe", 1u /* MFD_CLOEXEC */);
		break;
	case FH_PROBE_EPOLL:
		rc = fd = syscall(SYS_epoll_create1, O_CLOEXEC);
		break;
	case FH_PROBE_CALLS_:
		break;
	}
	if (fd >= 0)
		close((int)fd);
	if (rc >= 0)
		return 0;
	return errno == ENOSYS || errno == EPERM || errno == EACCES || errno == EMFILE || errno == ENFILE
		   ? errno
		   : 0;
}

static void install_filter(struct answer *a)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = 1, .filter = &allow};
	long rc = fh_sys_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

	if (rc == 0)
		rc = fh_sys_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (unsigned long)&program, 0, 0);
	a->n[0] = error_of(rc);
}

int fh_probe_seccomp(void)
{
	struct answer a = {{0}};
	int rc = in_child(install_filter, &a);

	return rc < 0 ? rc : a.n[0];
}
