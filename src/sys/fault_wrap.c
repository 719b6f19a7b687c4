/* Fault injection for calls that go through the C library: in the test build the linker sends each of them here first
 * (--wrap, see src/cli/meson.build), so that they are counted and can be made to fail like those through call.h.
 * The numbers only name the calls. Linked into the fumehood program of that build and nowhere else. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/fault.h"

static int fails(long nr)
{
	long rc = fh_fault_next(nr);

	if (rc == 0)
		return 0;
	errno = (int)-rc;
	return 1;
}

#define WRAP_OR(error, type, name, nr, parameters, arguments)                                                          \
	type __real_##name parameters;                                                                                 \
	type __wrap_##name parameters;                                                                                 \
	type __wrap_##name parameters                                                                                  \
	{                                                                                                              \
		return fails(nr) ? (error) : __real_##name arguments;                                                  \
	}
#define WRAP(type, name, nr, parameters, arguments)         WRAP_OR(-1, type, name, nr, parameters, arguments)
#define WRAP_POINTER(type, name, nr, parameters, arguments) WRAP_OR(NULL, type, name, nr, parameters, arguments)

/* The variadic ones always take their last argument here; what the caller did not pass is not looked at. */
WRAP(int, open, SYS_openat, (const char *path, int flags, unsigned mode), (path, flags, mode))
WRAP(int, openat, SYS_openat, (int dir, const char *path, int flags, unsigned mode), (dir, path, flags, mode))
WRAP(int, fcntl, SYS_fcntl, (int fd, int what, long argument), (fd, what, argument))

WRAP(ssize_t, read, SYS_read, (int fd, void *into, size_t n), (fd, into, n))
WRAP(ssize_t, write, SYS_write, (int fd, const void *from, size_t n), (fd, from, n))
WRAP(ssize_t, pread, SYS_pread64, (int fd, void *into, size_t n, off_t at), (fd, into, n, at))
WRAP(ssize_t, pwritev2, SYS_pwritev2, (int fd, const struct iovec *v, int n, off_t at, int how), (fd, v, n, at, how))
WRAP(ssize_t, recvmsg, SYS_recvmsg, (int fd, struct msghdr *message, int how), (fd, message, how))
WRAP(ssize_t, send, SYS_sendto, (int fd, const void *from, size_t n, int how), (fd, from, n, how))
WRAP(int, stat, SYS_newfstatat, (const char *path, struct stat *st), (path, st))
WRAP(int, lstat, SYS_newfstatat, (const char *path, struct stat *st), (path, st))
WRAP(int, fstat, SYS_fstat, (int fd, struct stat *st), (fd, st))
WRAP(int, fstatat, SYS_newfstatat, (int dir, const char *path, struct stat *st, int how), (dir, path, st, how))
WRAP(int, fstatfs, SYS_fstatfs, (int fd, struct statfs *fs), (fd, fs))
WRAP(int, access, SYS_faccessat, (const char *path, int what), (path, what))
WRAP(int, faccessat, SYS_faccessat, (int dir, const char *path, int what, int how), (dir, path, what, how))
WRAP(int, mkdir, SYS_mkdirat, (const char *path, mode_t mode), (path, mode))
WRAP(int, mkdirat, SYS_mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode))
WRAP(int, unlinkat, SYS_unlinkat, (int dir, const char *path, int how), (dir, path, how))
WRAP(int, rmdir, SYS_unlinkat, (const char *path), (path))
WRAP(int, ftruncate, SYS_ftruncate, (int fd, off_t n), (fd, n))
WRAP(int, fchownat, SYS_fchownat, (int dir, const char *path, uid_t uid, gid_t gid, int how),
     (dir, path, uid, gid, how))
WRAP(ssize_t, readlink, SYS_readlinkat, (const char *path, char *into, size_t n), (path, into, n))
WRAP(ssize_t, readlinkat, SYS_readlinkat, (int dir, const char *path, char *into, size_t n), (dir, path, into, n))
WRAP(ssize_t, getrandom, SYS_getrandom, (void *into, size_t n, unsigned how), (into, n, how))
WRAP(int, epoll_ctl, SYS_epoll_ctl, (int set, int what, int fd, struct epoll_event *event), (set, what, fd, event))
WRAP(int, epoll_wait, SYS_epoll_pwait, (int set, struct epoll_event *events, int n, int ms), (set, events, n, ms))
WRAP(int, timerfd_settime, SYS_timerfd_settime,
     (int fd, int how, const struct itimerspec *when, struct itimerspec *before), (fd, how, when, before))
WRAP(int, eventfd, SYS_eventfd2, (unsigned count, int how), (count, how))
WRAP(int, signalfd, SYS_signalfd4, (int fd, const sigset_t *set, int how), (fd, set, how))
WRAP(int, waitid, SYS_waitid, (idtype_t kind, id_t id, siginfo_t *info, int how), (kind, id, info, how))
WRAP(int, sched_getaffinity, SYS_sched_getaffinity, (pid_t pid, size_t n, void *set), (pid, n, set))

WRAP_OR(MAP_FAILED, void *, mmap, SYS_mmap, (void *at, size_t n, int what, int how, int fd, off_t from),
	(at, n, what, how, fd, from))
WRAP_POINTER(FILE *, fopen, SYS_openat, (const char *path, const char *mode), (path, mode))
WRAP_POINTER(DIR *, opendir, SYS_openat, (const char *path), (path))
WRAP_POINTER(DIR *, fdopendir, SYS_getdents64, (int fd), (fd))
WRAP_POINTER(struct dirent *, readdir, SYS_getdents64, (DIR *dir), (dir))
