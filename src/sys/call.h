/* Raw system calls that return a negative errno: the only way down for setup code, and for everything between clone and
 * exec. They touch no lock, no heap, no errno of the caller that matters, and can be made to fail by tests. */
#ifndef FH_SYS_CALL_H
#define FH_SYS_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "sys/fault.h"

#define FH_SYS(nr, ...)                                                                                                \
	({                                                                                                             \
		long fh_rc_ = fh_fault_next(nr);                                                                       \
		if (fh_rc_ == 0)                                                                                       \
			fh_rc_ = syscall(nr, ##__VA_ARGS__);                                                           \
		else                                                                                                   \
			errno = (int)-fh_rc_, fh_rc_ = -1;                                                             \
		fh_rc_ < 0 ? -(long)errno : fh_rc_;                                                                    \
	})

static inline long fh_sys_openat(int dir, const char *path, int flags, unsigned mode)
{
	return FH_SYS(SYS_openat, dir, path, flags | O_CLOEXEC, mode);
}
static inline long fh_sys_read(int fd, void *into, size_t n)
{
	return FH_SYS(SYS_read, fd, into, n);
}
static inline long fh_sys_write(int fd, const void *from, size_t n)
{
	return FH_SYS(SYS_write, fd, from, n);
}
static inline long fh_sys_close(int fd)
{
	return syscall(SYS_close, fd) < 0 ? -(long)errno : 0;
}
static inline long fh_sys_mkdirat(int dir, const char *path, unsigned mode)
{
	return FH_SYS(SYS_mkdirat, dir, path, mode);
}
static inline long fh_sys_symlinkat(const char *to, int dir, const char *path)
{
	return FH_SYS(SYS_symlinkat, to, dir, path);
}
static inline long fh_sys_fchownat(int dir, const char *path, uid_t uid, gid_t gid)
{
	return FH_SYS(SYS_fchownat, dir, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}
static inline long fh_sys_fchmodat(int dir, const char *path, unsigned mode)
{
	return FH_SYS(SYS_fchmodat, dir, path, mode);
}
static inline long fh_sys_chdir(const char *path)
{
	return FH_SYS(SYS_chdir, path);
}
static inline long fh_sys_dup3(int from, int to, int flags)
{
	return FH_SYS(SYS_dup3, from, to, flags);
}
static inline long fh_sys_fcntl(int fd, int what, long arg)
{
	return FH_SYS(SYS_fcntl, fd, what, arg);
}
static inline long fh_sys_setsid(void)
{
	return FH_SYS(SYS_setsid);
}
static inline long fh_sys_prctl(int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	return FH_SYS(SYS_prctl, what, a, b, c, d);
}
static inline long fh_sys_unshare(unsigned long flags)
{
	return FH_SYS(SYS_unshare, flags);
}
static inline long fh_sys_setresuid(uid_t id)
{
	return FH_SYS(SYS_setresuid, id, id, id);
}
static inline long fh_sys_setresgid(gid_t id)
{
	return FH_SYS(SYS_setresgid, id, id, id);
}
static inline long fh_sys_setgroups(size_t n, const gid_t *groups)
{
	return FH_SYS(SYS_setgroups, n, groups);
}
_Noreturn static inline void fh_sys_exit(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

#endif
