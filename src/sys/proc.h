/* Processes by descriptor: clone3, pidfd, close_range, keyrings, and constants that Debian 12 headers lack. */
#ifndef FH_SYS_PROC_H
#define FH_SYS_PROC_H

#include <linux/sched.h>
#include <sys/wait.h>

#include "sys/call.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2u
#endif
#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif

/* The kernel's struct clone_args, third version; older kernels take it as long as the tail is zero. */
struct fh_clone_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
} __attribute__((aligned(8)));

static inline long fh_sys_clone3(struct fh_clone_args *args)
{
	return FH_SYS(SYS_clone3, args, sizeof(*args));
}
static inline long fh_sys_pidfd_open(pid_t pid)
{
	return FH_SYS(SYS_pidfd_open, pid, 0);
}
static inline long fh_sys_pidfd_kill(int pidfd, int sig)
{
	return FH_SYS(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
}
static inline long fh_sys_close_range(unsigned first, unsigned last, unsigned flags)
{
	return first > last ? 0 : FH_SYS(SYS_close_range, first, last, flags);
}
/* A session keyring of its own, so that the host user's keys are not reachable. */
static inline long fh_sys_new_keyring(void)
{
	return FH_SYS(SYS_keyctl, 1 /* KEYCTL_JOIN_SESSION_KEYRING */, NULL);
}

/* PIDFD_GET_INFO (Linux 6.13; exit status since 6.15). */
struct fh_pidfd_info {
	uint64_t mask, cgroupid;
	uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
	uint64_t spare[4];
};
#define FH_PIDFD_INFO_EXIT (1ull << 3)
#define FH_PIDFD_GET_INFO  _IOC(_IOC_READ | _IOC_WRITE, 0xFF, 11, 64)

#endif
