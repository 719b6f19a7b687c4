/* The system call table: data only, grouped by theme. Read it as the statement of what a program can ask of
 * the kernel.
 *
 * How a refusal is answered is part of its meaning:
 *   ENOSYS  the call is new or optional: libraries take their older way, as on a kernel without it;
 *   EPERM   an act that needs privilege anywhere: tools report it in words;
 *   kill    only foreign ABIs, which no honest program enters; see seccomp.c. Nothing is ever logged by call:
 * a program could flood the host's log. A call with no row here gets ENOSYS, so tomorrow's calls are closed
 * until somebody has judged them.
 *
 * Level namespace is the measure. Level process has no namespaces: what reaches beyond the program's own
 * processes through a namespace is closed there in its own column. */
#include "isolate/seccomp_table.h"

#include <sys/syscall.h>

/* Numbers that headers of Debian 12 do not know; from 424 on all architectures count alike. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_map_shadow_stack
#define SYS_map_shadow_stack 453
#endif
#ifndef SYS_futex_wake
#define SYS_futex_wake    454
#define SYS_futex_wait    455
#define SYS_futex_requeue 456
#endif
#ifndef SYS_statmount
#define SYS_statmount 457
#define SYS_listmount 458
#endif
#ifndef SYS_lsm_get_self_attr
#define SYS_lsm_get_self_attr 459
#define SYS_lsm_set_self_attr 460
#define SYS_lsm_list_modules  461
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat    463
#define SYS_getxattrat    464
#define SYS_listxattrat   465
#define SYS_removexattrat 466
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef SYS_file_getattr
#define SYS_file_getattr 468
#define SYS_file_setattr 469
#endif
#ifndef SYS_listns
#define SYS_listns 470
#endif
#if defined(__x86_64__) && !defined(SYS_uretprobe)
#define SYS_uretprobe 335
#endif
#if defined(__x86_64__) && !defined(SYS_uprobe)
#define SYS_uprobe 336
#endif

#define ROW(call, at2, at1)                                                                                  \
	{                                                                                                    \
		SYS_##call, at2, at1, #call                                                                  \
	}
#define ALLOW(call)      ROW(call, FH_ACT_ALLOW, FH_ACT_ALLOW)
#define EPERM_(call)     ROW(call, FH_ACT_EPERM, FH_ACT_EPERM)
#define ENOSYS_(call)    ROW(call, FH_ACT_ENOSYS, FH_ACT_ENOSYS)
#define RULE(call, rule) ROW(call, FH_ACT_##rule, FH_ACT_##rule)
/* Safe inside its own namespace, absent without one. */
#define NAMESPACED(call) ROW(call, FH_ACT_ALLOW, FH_ACT_ENOSYS)
/* Free inside a pid namespace; without one only on the caller itself. */
#define SELF(call, rule) ROW(call, FH_ACT_ALLOW, FH_ACT_##rule)

/* clang-format off */
const struct fh_call fh_calls[] = {
	/* --- Files: what they may reach is decided by the mount view and Landlock, not here. */
	ALLOW(read), ALLOW(write), ALLOW(readv), ALLOW(writev), ALLOW(pread64), ALLOW(pwrite64), ALLOW(preadv),
	ALLOW(pwritev), ALLOW(preadv2), ALLOW(pwritev2), ALLOW(lseek), ALLOW(close), ALLOW(close_range),
	ALLOW(dup), ALLOW(dup3), ALLOW(pipe2), ALLOW(sendfile), ALLOW(splice), ALLOW(tee), ALLOW(copy_file_range),
	ALLOW(fallocate), ALLOW(truncate), ALLOW(ftruncate), ALLOW(fadvise64), ALLOW(readahead), ALLOW(flock),
	ALLOW(fsync), ALLOW(fdatasync), ALLOW(syncfs), ALLOW(sync_file_range),
	ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx), ALLOW(statfs), ALLOW(fstatfs), ALLOW(faccessat),
	ALLOW(faccessat2), ALLOW(getdents64), ALLOW(getcwd), ALLOW(chdir), ALLOW(fchdir), ALLOW(readlinkat),
	ALLOW(mkdirat), ALLOW(unlinkat), ALLOW(linkat), ALLOW(symlinkat), ALLOW(renameat), ALLOW(umask),
	ALLOW(fchown), ALLOW(fchownat), ALLOW(utimensat),
	ALLOW(setxattr), ALLOW(lsetxattr), ALLOW(fsetxattr), ALLOW(getxattr), ALLOW(lgetxattr), ALLOW(fgetxattr),
	ALLOW(listxattr), ALLOW(llistxattr), ALLOW(flistxattr), ALLOW(removexattr), ALLOW(lremovexattr),
	ALLOW(fremovexattr),
#ifdef __x86_64__
	ALLOW(stat), ALLOW(lstat), ALLOW(access), ALLOW(dup2), ALLOW(pipe), ALLOW(getdents), ALLOW(readlink),
	ALLOW(mkdir), ALLOW(rmdir), ALLOW(unlink), ALLOW(link), ALLOW(symlink), ALLOW(rename), ALLOW(chown),
	ALLOW(lchown), ALLOW(utime), ALLOW(utimes), ALLOW(futimesat),
#endif
	/* A workspace can be a directory of the host. No file in it may gain a set-id bit or be a device, since outside
	 * that would mean something; mkdir ignores set-id bits by itself. */
	RULE(openat, OPEN_ARG2), RULE(fchmod, MODE_ARG1), RULE(fchmodat, MODE_ARG2), RULE(fchmodat2, MODE_ARG2),
	RULE(mknodat, MKNOD_ARG2), RULE(renameat2, RENAMEAT2),
#ifdef __x86_64__
	RULE(open, OPEN_ARG1), RULE(creat, MODE_ARG1), RULE(chmod, MODE_ARG1), RULE(mknod, MKNOD_ARG1),
#endif
	/* The same bits are behind a pointer here, where no filter can look; callers fall back to openat. */
	ENOSYS_(openat2),
	/* Flags and project ids behind a pointer, as the refused FS_IOC_FSSETXATTR; the *at forms of calls above. */
	ENOSYS_(file_getattr), ENOSYS_(file_setattr), ENOSYS_(setxattrat), ENOSYS_(getxattrat), ENOSYS_(listxattrat),
	ENOSYS_(removexattrat),
	/* Tells which pages of shared files others have touched. */
	ENOSYS_(cachestat),
	/* Would flush every file system of the host, over and over. It cannot fail, so it says it is done; fsync and
	 * syncfs do what they say. */
	RULE(sync, SKIP),
	/* Handles name files past every path check. */
	EPERM_(name_to_handle_at), EPERM_(open_by_handle_at),
	/* Watches are on files: trees under level namespace belong to one run, those under level process to the host. */
	NAMESPACED(inotify_init1), NAMESPACED(inotify_add_watch), NAMESPACED(inotify_rm_watch),
#ifdef __x86_64__
	NAMESPACED(inotify_init),
#endif
	/* Kernel surface of fanotify, and waits that hold up other users of a file. */
	EPERM_(fanotify_init), EPERM_(fanotify_mark),
	/* Pages lent to a pipe while they can still change: a bug farm, and no library needs it. */
	ENOSYS_(vmsplice),
	/* Asynchronous I/O takes from one counter for the whole host (fs.aio-max-nr): one run could starve the rest. */
	ENOSYS_(io_setup), ENOSYS_(io_destroy), ENOSYS_(io_submit), ENOSYS_(io_cancel), ENOSYS_(io_getevents),
	ENOSYS_(io_pgetevents),
	/* Runs calls where no filter sees them, sockets included. */
	ENOSYS_(io_uring_setup), ENOSYS_(io_uring_enter), ENOSYS_(io_uring_register),

	/* --- File descriptors and devices. */
	RULE(ioctl, IOCTL), RULE(fcntl, FCNTL),

	/* --- Waiting and events. */
	ALLOW(ppoll), ALLOW(pselect6), ALLOW(epoll_create1), ALLOW(epoll_ctl), ALLOW(epoll_pwait),
	ALLOW(epoll_pwait2), ALLOW(eventfd2), ALLOW(signalfd4), ALLOW(timerfd_create), ALLOW(timerfd_settime),
	ALLOW(timerfd_gettime),
#ifdef __x86_64__
	ALLOW(poll), ALLOW(select), ALLOW(epoll_create), ALLOW(epoll_wait), ALLOW(eventfd), ALLOW(signalfd),
	ALLOW(pause),
#endif

	/* --- Memory: what it costs is bounded by the control group and rlimits. */
	RULE(mmap, MMAP), ALLOW(munmap), ALLOW(mremap), ALLOW(mprotect), RULE(madvise, MADVISE), ALLOW(msync), ALLOW(mincore),
	ALLOW(brk), ALLOW(mlock), ALLOW(mlock2), ALLOW(munlock), ALLOW(mlockall), ALLOW(munlockall),
	RULE(memfd_create, MEMFD), ALLOW(membarrier), ALLOW(pkey_mprotect), ALLOW(pkey_alloc), ALLOW(pkey_free),
	/* Memory that neither we nor the kernel's own reclaim can look at; stalls a page fault for as long as one
	 * likes; old and rarely tested ways to lay out memory. */
	ENOSYS_(memfd_secret), ENOSYS_(userfaultfd), ENOSYS_(remap_file_pages),
	/* Hardening that only libraries newer than our headers use, each with a fallback. */
	ENOSYS_(mseal), ENOSYS_(map_shadow_stack),
	/* Memory of other nodes and other processes. With get_mempolicy absent, too, libnuma says that there is no NUMA
	 * instead of complaining about each refusal. */
	ENOSYS_(mbind), ENOSYS_(set_mempolicy), ENOSYS_(get_mempolicy), ENOSYS_(migrate_pages), ENOSYS_(move_pages),
	ENOSYS_(set_mempolicy_home_node), ENOSYS_(process_madvise), ENOSYS_(process_mrelease),

	/* --- Processes and threads. */
	RULE(clone, CLONE), ALLOW(execve), ALLOW(execveat), ALLOW(exit), ALLOW(exit_group), ALLOW(wait4),
	ALLOW(waitid), ALLOW(getpid), ALLOW(getppid), ALLOW(gettid), ALLOW(getpgid), ALLOW(setpgid), ALLOW(getsid),
	ALLOW(setsid), ALLOW(set_tid_address), ALLOW(set_robust_list), ALLOW(get_robust_list), ALLOW(rseq),
	ALLOW(futex), ALLOW(pidfd_open), ALLOW(getrusage), ALLOW(times), ALLOW(getcpu),
	RULE(prctl, PRCTL), RULE(personality, PERSONALITY),
#ifdef __x86_64__
	ALLOW(fork), ALLOW(vfork), ALLOW(getpgrp), RULE(arch_prctl, ARCH_PRCTL),
#endif
	/* The flags of clone, behind a pointer. libc falls back to clone. */
	ENOSYS_(clone3),
	/* Newer forms of futex, not yet used without a fallback. */
	ENOSYS_(futex_waitv), ENOSYS_(futex_wake), ENOSYS_(futex_wait), ENOSYS_(futex_requeue),
	/* Other processes' memory, descriptors and registers; one's own can be asked of procfs. */
	EPERM_(ptrace), EPERM_(process_vm_readv), EPERM_(process_vm_writev), EPERM_(kcmp), EPERM_(pidfd_getfd),

	/* --- Signals. The pid namespace confines them; at level process Landlock's scope or a uid of its own does. */
	ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(rt_sigpending),
	ALLOW(rt_sigtimedwait), ALLOW(rt_sigsuspend), ALLOW(sigaltstack), ALLOW(restart_syscall), ALLOW(kill),
	ALLOW(tkill), ALLOW(tgkill), ALLOW(rt_sigqueueinfo), ALLOW(rt_tgsigqueueinfo), ALLOW(pidfd_send_signal),

	/* --- Scheduling and limits. Without a pid namespace they reach every process of the same uid, the supervisor and
	 * the caller's shell included: there only oneself. */
	ALLOW(sched_yield), ALLOW(sched_getaffinity), ALLOW(sched_getparam), ALLOW(sched_getscheduler),
	ALLOW(sched_getattr), ALLOW(sched_get_priority_max), ALLOW(sched_get_priority_min),
	ALLOW(sched_rr_get_interval), ALLOW(getpriority), ALLOW(ioprio_get), ALLOW(getrlimit), RULE(setrlimit, SETRLIMIT),
	SELF(sched_setaffinity, PID_SELF), SELF(sched_setparam, PID_SELF), RULE(prlimit64, PRLIMIT),
	SELF(setpriority, PRIORITY_SELF), RULE(sched_setscheduler, SCHEDULER), RULE(ioprio_set, IOPRIO),
	/* The policy, real-time or not, is behind a pointer; tools fall back to sched_setscheduler. */
	ENOSYS_(sched_setattr),

	/* --- Time. */
	ALLOW(clock_gettime), ALLOW(clock_getres), ALLOW(clock_nanosleep), ALLOW(nanosleep), ALLOW(gettimeofday),
	ALLOW(getitimer), ALLOW(setitimer), ALLOW(timer_create), ALLOW(timer_settime), ALLOW(timer_gettime),
	ALLOW(timer_getoverrun), ALLOW(timer_delete),
#ifdef __x86_64__
	ALLOW(time), ALLOW(alarm),
#endif
	/* The clock is the host's. Whether an adjustment only reads is behind a pointer. */
	EPERM_(settimeofday), EPERM_(clock_settime), EPERM_(adjtimex), EPERM_(clock_adjtime),

	/* --- Identity. The set*id calls can only confirm what one is: there are no capabilities, and programs that give
	 * up privileges call them. */
	ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid), ALLOW(getresuid), ALLOW(getresgid),
	ALLOW(getgroups), ALLOW(setuid), ALLOW(setgid), ALLOW(setreuid), ALLOW(setregid), ALLOW(setresuid),
	ALLOW(setresgid), ALLOW(setfsuid), ALLOW(setfsgid), ALLOW(setgroups), ALLOW(capget), ALLOW(capset),

	/* --- Confining oneself further. */
	RULE(seccomp, SECCOMP), ALLOW(landlock_create_ruleset), ALLOW(landlock_add_rule),
	ALLOW(landlock_restrict_self),
	ENOSYS_(lsm_get_self_attr), ENOSYS_(lsm_set_self_attr), ENOSYS_(lsm_list_modules),

	/* --- Network: where packets go is decided by the network namespace. */
	RULE(socket, SOCKET), RULE(socketpair, SOCKETPAIR), ALLOW(bind), ALLOW(listen), ALLOW(accept),
	ALLOW(accept4), ALLOW(connect), ALLOW(getsockname), ALLOW(getpeername), ALLOW(shutdown),
	RULE(setsockopt, SETSOCKOPT), RULE(getsockopt, GETSOCKOPT), RULE(sendto, MSG_ARG3),
	RULE(recvfrom, MSG_ARG3), RULE(sendmsg, MSG_ARG2), RULE(recvmsg, MSG_ARG2), RULE(sendmmsg, MSG_ARG3),
	RULE(recvmmsg, MSG_ARG3),

	/* --- System V and POSIX message IPC: objects of the ipc namespace. Without one they are the host's, and outlive
	 * the run. */
	NAMESPACED(shmget), NAMESPACED(shmat), NAMESPACED(shmdt), NAMESPACED(shmctl), NAMESPACED(semget),
	NAMESPACED(semop), NAMESPACED(semctl), NAMESPACED(semtimedop), NAMESPACED(msgget), NAMESPACED(msgsnd),
	NAMESPACED(msgrcv), NAMESPACED(msgctl), NAMESPACED(mq_open), NAMESPACED(mq_unlink),
	NAMESPACED(mq_timedsend), NAMESPACED(mq_timedreceive), NAMESPACED(mq_notify), NAMESPACED(mq_getsetattr),

	/* --- Facts. sysinfo tells the host's uptime, load and memory; runtimes size their heaps by it. */
	ALLOW(uname), ALLOW(sysinfo), ALLOW(getrandom),

	/* === Knowingly excluded. */

	/* The view of the world: mounts and namespaces are made once, by us. */
	EPERM_(mount), EPERM_(umount2), EPERM_(pivot_root), EPERM_(chroot), EPERM_(fsopen), EPERM_(fsconfig),
	EPERM_(fsmount), EPERM_(fspick), EPERM_(open_tree), EPERM_(open_tree_attr), EPERM_(move_mount),
	EPERM_(mount_setattr), EPERM_(unshare), EPERM_(setns),
	/* They would only describe the wall. */
	ENOSYS_(statmount), ENOSYS_(listmount), ENOSYS_(listns),
	/* Programs inside the kernel, and counters that see other processes. */
	EPERM_(bpf), EPERM_(perf_event_open),
	/* Keys belong to a uid of the host, not to a namespace. */
	ENOSYS_(add_key), ENOSYS_(request_key), ENOSYS_(keyctl),
	/* The machine itself. */
	EPERM_(init_module), EPERM_(finit_module), EPERM_(delete_module), EPERM_(kexec_load), EPERM_(kexec_file_load),
	EPERM_(reboot), EPERM_(swapon), EPERM_(swapoff), EPERM_(acct), EPERM_(quotactl), EPERM_(quotactl_fd),
	EPERM_(syslog), EPERM_(sethostname), EPERM_(setdomainname), EPERM_(vhangup),
	/* Remains of older kernels. */
	ENOSYS_(lookup_dcookie), ENOSYS_(nfsservctl),
#ifdef __x86_64__
	EPERM_(iopl), EPERM_(ioperm),
	/* 16-bit segments: a wide door in the kernel's entry code. */
	ENOSYS_(modify_ldt), ENOSYS_(set_thread_area), ENOSYS_(get_thread_area),
	ENOSYS_(uselib), ENOSYS_(ustat), ENOSYS_(sysfs), ENOSYS_(_sysctl), ENOSYS_(create_module),
	ENOSYS_(get_kernel_syms), ENOSYS_(query_module), ENOSYS_(getpmsg), ENOSYS_(putpmsg), ENOSYS_(afs_syscall),
	ENOSYS_(tuxcall), ENOSYS_(security), ENOSYS_(vserver), ENOSYS_(epoll_ctl_old), ENOSYS_(epoll_wait_old),
	/* Landing places of the host's own tracing, not calls of a program. */
	ENOSYS_(uretprobe), ENOSYS_(uprobe),
#endif
};
/* clang-format on */

const size_t fh_calls_count = sizeof(fh_calls) / sizeof(fh_calls[0]);
