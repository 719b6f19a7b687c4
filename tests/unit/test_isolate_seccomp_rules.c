/* The argument rules of the system call filter: what passes, what each argument turns into a refusal. */
#include "filter_eval.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/own.h"

/* Each row is tried clean and with garbage in the upper half of every argument. */

struct attempt {
	int nr;
	uint64_t args[6];
	uint32_t at2, at1;
};

#define YES           ALLOWED
#define NO            FAILS(EPERM)
#define NO_AF         FAILS(EAFNOSUPPORT)
#define BOTH(verdict) verdict, verdict

static void try_all(const struct attempt *t, size_t n)
{
	static const uint64_t garbage[] = {0, 0xffffffff00000000, 0x0000000100000000, 0x8000000000000000};

	for (size_t i = 0; i < n; i++) {
		for (size_t g = 0; g < FH_ARRAY_LEN(garbage); g++) {
			uint64_t args[6];
			uint32_t got2, got1;

			for (int k = 0; k < 6; k++)
				args[k] = (t[i].args[k] & 0xffffffff) | garbage[g];
			got2 = outcome(LEVEL2, ARCH, (uint32_t)t[i].nr, args);
			got1 = outcome(LEVEL1, ARCH, (uint32_t)t[i].nr, args);
			if (got2 != t[i].at2 || got1 != t[i].at1)
				fail_msg("row %zu, %s(%#llx, %#llx, %#llx, %#llx, %#llx): level namespace "
					 "%s, level process %s",
					 i, call_name((uint32_t)t[i].nr), (unsigned long long)args[0],
					 (unsigned long long)args[1], (unsigned long long)args[2],
					 (unsigned long long)args[3], (unsigned long long)args[4],
					 outcome_name(got2), outcome_name(got1));
		}
	}
}

#define TRY_ALL(table) try_all(table, FH_ARRAY_LEN(table))

#define THREAD_FLAGS                                                                                         \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |   \
	 CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

static void clone_makes_no_namespaces(void **state)
{
	static const struct attempt t[] = {
	    {SYS_clone, {17}, BOTH(YES)},
	    {SYS_clone, {THREAD_FLAGS}, BOTH(YES)},
	    {SYS_clone, {CLONE_VM | CLONE_VFORK | 17}, BOTH(YES)},
	    {SYS_clone, {CLONE_PIDFD | CLONE_IO | 17}, BOTH(YES)},
	    {SYS_clone, {CLONE_NEWNS | 17}, BOTH(NO)},
	    {SYS_clone, {CLONE_NEWCGROUP | 17}, BOTH(NO)},
	    {SYS_clone, {CLONE_NEWUTS | 17}, BOTH(NO)},
	    {SYS_clone, {CLONE_NEWIPC | 17}, BOTH(NO)},
	    {SYS_clone, {CLONE_NEWUSER | 17}, BOTH(NO)},
	    {SYS_clone, {CLONE_NEWPID | 17}, BOTH(NO)},
	    {SYS_clone, {CLONE_NEWNET | 17}, BOTH(NO)},
	    {SYS_clone, {CLONE_PARENT | 17}, BOTH(NO)},
	    {SYS_clone, {THREAD_FLAGS | CLONE_NEWUSER}, BOTH(NO)},
	};

	TRY_ALL(t);
}

static void sockets_of_known_families_only(void **state)
{
	static const struct attempt t[] = {
	    {SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, BOTH(YES)},
	    {SYS_socket, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0}, BOTH(YES)},
	    {SYS_socket, {AF_INET, SOCK_STREAM, 0}, YES, NO_AF},
	    {SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP}, YES, NO_AF},
	    {SYS_socket, {AF_INET6, SOCK_DGRAM, IPPROTO_UDP}, YES, NO_AF},
	    {SYS_socket, {AF_INET, SOCK_STREAM | 0x10, 0}, YES, NO_AF}, /* the kernel's to refuse */
	    {SYS_socket, {AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0}, YES, NO_AF},
	    {SYS_socket, {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0}, YES, NO_AF},
	    {SYS_socket, {AF_INET, SOCK_STREAM, IPPROTO_UDP}, BOTH(NO_AF)},
	    {SYS_socket, {AF_INET, SOCK_DGRAM, IPPROTO_TCP}, BOTH(NO_AF)},
	    {SYS_socket, {AF_INET, SOCK_DGRAM, IPPROTO_ICMP}, BOTH(NO_AF)},
	    {SYS_socket, {AF_INET, SOCK_STREAM, IPPROTO_SCTP}, BOTH(NO_AF)},
	    {SYS_socket, {AF_INET, SOCK_STREAM, 262 /* MPTCP */}, BOTH(NO_AF)},
	    {SYS_socket, {AF_INET, SOCK_RAW, IPPROTO_TCP}, BOTH(NO_AF)},
	    {SYS_socket, {AF_INET, SOCK_SEQPACKET, 0}, BOTH(NO_AF)},
	    {SYS_socket, {AF_INET, 10 /* SOCK_PACKET */, 0}, BOTH(NO_AF)},
	    {SYS_socket, {AF_INET, 0, 0}, BOTH(NO_AF)},
	    {SYS_socket, {AF_INET6, SOCK_RAW, IPPROTO_ICMPV6}, BOTH(NO_AF)},
	    {SYS_socket, {AF_NETLINK, SOCK_RAW, 4 /* SOCK_DIAG */}, BOTH(NO_AF)},
	    {SYS_socket, {AF_NETLINK, SOCK_RAW, 12 /* NETFILTER */}, BOTH(NO_AF)},
	    {SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0}, BOTH(YES)},
	    {SYS_socketpair, {AF_INET, SOCK_STREAM, 0}, BOTH(NO_AF)},
	    {SYS_socketpair, {30 /* AF_TIPC */, SOCK_STREAM, 0}, BOTH(NO_AF)},
	};

	TRY_ALL(t);
}

/* All families, types and protocols: what is allowed is exactly what is listed here. */
static void socket_sweep_finds_nothing_else(void **state)
{
	unsigned allowed2 = 0, allowed1 = 0;

	for (uint64_t family = 0; family <= 64; family++) {
		for (uint64_t type = 0; type < 16; type++) {
			for (uint64_t protocol = 0; protocol < 300; protocol++) {
				const uint64_t args[6] = {family, type, protocol};

				if (family == AF_UNIX)
					continue;
				allowed2 += outcome(LEVEL2, ARCH, SYS_socket, args) == ALLOWED;
				allowed1 += outcome(LEVEL1, ARCH, SYS_socket, args) == ALLOWED;
			}
		}
	}
	assert_int_equal(allowed1, 0);
	assert_int_equal(allowed2,
			 2 * 2 * 2 + 16); /* two families, two types, two protocols; netlink of any type */
}

static void socket_options_that_reach_farther(void **state)
{
	static const struct attempt t[] = {
	    {SYS_setsockopt, {3, SOL_SOCKET, SO_REUSEADDR}, BOTH(YES)},
	    {SYS_setsockopt, {3, SOL_SOCKET, SO_KEEPALIVE}, BOTH(YES)},
	    {SYS_setsockopt, {3, SOL_SOCKET, SO_DETACH_FILTER}, BOTH(YES)},
	    {SYS_setsockopt, {3, IPPROTO_TCP, TCP_NODELAY}, BOTH(YES)},
	    {SYS_setsockopt, {3, IPPROTO_TCP, SO_ATTACH_FILTER}, BOTH(YES)}, /* means TCP_CC_INFO there */
	    {SYS_setsockopt, {3, IPPROTO_IPV6, IPV6_V6ONLY}, BOTH(YES)},
	    {SYS_setsockopt, {3, SOL_SOCKET, SO_ATTACH_FILTER}, BOTH(NO)},
	    {SYS_setsockopt, {3, SOL_SOCKET, SO_ATTACH_BPF}, BOTH(NO)},
	    {SYS_setsockopt, {3, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF}, BOTH(NO)},
	    {SYS_setsockopt, {3, SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF}, BOTH(NO)},
	    {SYS_setsockopt, {3, SOL_SOCKET, 76 /* SO_PASSPIDFD */}, BOTH(NO)},
	    {SYS_setsockopt, {3, IPPROTO_TCP, TCP_ULP}, BOTH(NO)},
	    {SYS_setsockopt, {3, IPPROTO_TCP, TCP_REPAIR}, BOTH(NO)},
	    {SYS_setsockopt, {3, IPPROTO_TCP, TCP_MD5SIG}, BOTH(NO)},
	    {SYS_setsockopt, {3, IPPROTO_TCP, 32 /* TCP_MD5SIG_EXT */}, BOTH(NO)},
	    {SYS_setsockopt, {3, IPPROTO_TCP, 38 /* TCP_AO_ADD_KEY */}, BOTH(NO)},
	    {SYS_setsockopt, {3, IPPROTO_TCP, TCP_CONGESTION}, BOTH(YES)},
	    {SYS_setsockopt, {3, IPPROTO_TCP, TCP_FASTOPEN_CONNECT}, BOTH(YES)},
	    {SYS_getsockopt, {3, SOL_SOCKET, SO_ERROR}, BOTH(YES)},
	    {SYS_getsockopt, {3, SOL_SOCKET, SO_PEERCRED}, BOTH(YES)},
	    {SYS_getsockopt, {3, IPPROTO_TCP, TCP_INFO}, BOTH(YES)},
	    {SYS_getsockopt, {3, SOL_SOCKET, 77 /* SO_PEERPIDFD */}, BOTH(NO)},
	};

	TRY_ALL(t);
}

static void no_huge_pages_and_no_merged_ones(void **state)
{
	static const struct attempt t[] = {
	    {SYS_mmap, {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS}, BOTH(YES)},
	    {SYS_mmap, {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK}, BOTH(YES)},
	    {SYS_mmap, {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB}, BOTH(FAILS(ENOMEM))},
	    {SYS_memfd_create, {0, 1 /* CLOEXEC */}, BOTH(YES)},
	    {SYS_memfd_create, {0, 1 | 4 /* HUGETLB */}, BOTH(FAILS(ENOMEM))},
	    {SYS_madvise, {0, 4096, MADV_DONTNEED}, BOTH(YES)},
	    {SYS_madvise, {0, 4096, MADV_HUGEPAGE}, BOTH(YES)},
	    {SYS_madvise, {0, 4096, MADV_MERGEABLE}, BOTH(FAILS(EINVAL))},
	};

	TRY_ALL(t);
}

/* Pointers: both halves count, so no garbage here. */
static void the_core_limit_stays(void **state)
{
	static const uint64_t here = 0x7fff00001000, high = 0x100000000;
	const struct attempt t[] = {
	    {SYS_prlimit64, {0, RLIMIT_CORE, 0, here}, BOTH(YES)},
	    {SYS_prlimit64, {0, RLIMIT_CORE, here, 0}, BOTH(FAILS(0))},
	    {SYS_prlimit64, {0, RLIMIT_CORE, high, 0}, BOTH(FAILS(0))},
	    {SYS_prlimit64, {0, high | RLIMIT_CORE, here, 0}, BOTH(FAILS(0))},
	    {SYS_prlimit64, {0, RLIMIT_CORE, here, here}, BOTH(NO)},
	    {SYS_prlimit64, {0, RLIMIT_CORE, here, high}, BOTH(NO)},
	    {SYS_prlimit64, {0, RLIMIT_NOFILE, here, here}, BOTH(YES)},
	    {SYS_prlimit64, {7, RLIMIT_NOFILE, here, here}, YES, NO},
	    {SYS_prlimit64, {7, RLIMIT_CORE, here, 0}, FAILS(0), NO},
	    {SYS_setrlimit, {RLIMIT_CORE, here}, BOTH(FAILS(0))},
	    {SYS_setrlimit, {RLIMIT_NOFILE, here}, BOTH(YES)},
	};

	for (size_t i = 0; i < FH_ARRAY_LEN(t); i++) {
		assert_int_equal(outcome(LEVEL2, ARCH, (uint32_t)t[i].nr, t[i].args), t[i].at2);
		assert_int_equal(outcome(LEVEL1, ARCH, (uint32_t)t[i].nr, t[i].args), t[i].at1);
	}
}

static void no_out_of_band_data(void **state)
{
	static const struct attempt t[] = {
	    {SYS_sendto, {3, 0, 1, MSG_NOSIGNAL | MSG_DONTWAIT}, BOTH(YES)},
	    {SYS_sendto, {3, 0, 1, MSG_OOB | MSG_NOSIGNAL}, BOTH(NO)},
	    {SYS_sendto, {3, 0, 1, MSG_FASTOPEN}, BOTH(NO)},
	    {SYS_recvfrom, {3, 0, 1, MSG_PEEK}, BOTH(YES)},
	    {SYS_recvfrom, {3, 0, 1, MSG_PEEK | MSG_OOB}, BOTH(NO)},
	    {SYS_sendmsg, {3, 0, MSG_NOSIGNAL, MSG_OOB}, BOTH(YES)},
	    {SYS_sendmsg, {3, 0, MSG_OOB}, BOTH(NO)},
	    {SYS_sendmsg, {3, 0, MSG_FASTOPEN}, BOTH(NO)},
	    {SYS_recvmsg, {3, 0, MSG_CMSG_CLOEXEC}, BOTH(YES)},
	    {SYS_recvmsg, {3, 0, MSG_OOB}, BOTH(NO)},
	    {SYS_sendmmsg, {3, 0, 1, MSG_NOSIGNAL}, BOTH(YES)},
	    {SYS_sendmmsg, {3, 0, 1, MSG_OOB}, BOTH(NO)},
	    {SYS_recvmmsg, {3, 0, 1, MSG_WAITFORONE}, BOTH(YES)},
	    {SYS_recvmmsg, {3, 0, 1, MSG_OOB}, BOTH(NO)},
	};

	TRY_ALL(t);
}

static void ioctls_of_ones_own_files_only(void **state)
{
	static const struct attempt t[] = {
	    {SYS_ioctl, {0, TCGETS}, BOTH(YES)},
	    {SYS_ioctl, {0, TCSETSW}, BOTH(YES)},
	    {SYS_ioctl, {0, TIOCGWINSZ}, BOTH(YES)},
	    {SYS_ioctl, {0, TIOCSWINSZ}, BOTH(YES)},
	    {SYS_ioctl, {0, TIOCSPGRP}, BOTH(YES)},
	    {SYS_ioctl, {0, TIOCGPTN}, BOTH(YES)},
	    {SYS_ioctl, {0, TIOCSPTLCK}, BOTH(YES)},
	    {SYS_ioctl, {0, FIONREAD}, BOTH(YES)},
	    {SYS_ioctl, {0, FIONBIO}, BOTH(YES)},
	    {SYS_ioctl, {0, FIOCLEX}, BOTH(YES)},
	    {SYS_ioctl, {0, FICLONE}, BOTH(YES)},
	    {SYS_ioctl, {0, FICLONERANGE}, BOTH(YES)},
	    {SYS_ioctl, {0, FS_IOC_GETFLAGS}, BOTH(YES)},
	    {SYS_ioctl, {0, FS_IOC_FSGETXATTR}, BOTH(YES)},
	    {SYS_ioctl, {3, 0x8912 /* SIOCGIFCONF */}, BOTH(YES)},
	    {SYS_ioctl, {3, 0x8927 /* SIOCGIFHWADDR */}, BOTH(YES)},
	    {SYS_ioctl, {3, 0x8901 /* FIOSETOWN */}, YES, NO},
	    {SYS_ioctl, {3, 0x8902 /* SIOCSPGRP */}, YES, NO},
	    {SYS_ioctl, {0, TIOCSTI}, BOTH(NO)},
	    {SYS_ioctl, {0, TIOCLINUX}, BOTH(NO)},
	    {SYS_ioctl, {0, TIOCCONS}, BOTH(NO)},
	    {SYS_ioctl, {0, TIOCSETD}, BOTH(NO)},
	    {SYS_ioctl, {0, TIOCSCTTY}, BOTH(NO)},
	    {SYS_ioctl, {0, TIOCVHANGUP}, BOTH(NO)},
	    {SYS_ioctl, {0, FIFREEZE}, BOTH(NO)},
	    {SYS_ioctl, {0, FITHAW}, BOTH(NO)},
	    {SYS_ioctl, {0, FITRIM}, BOTH(NO)},
	    {SYS_ioctl, {0, FS_IOC_SETFLAGS}, BOTH(NO)},
	    {SYS_ioctl, {0, FS_IOC32_SETFLAGS}, BOTH(NO)},
	    {SYS_ioctl, {0, FS_IOC_FSSETXATTR}, BOTH(NO)},
	    {SYS_ioctl, {0, FS_IOC_SETVERSION}, BOTH(NO)},
	    {SYS_ioctl, {0, 0x400454ca /* TUNSETIFF */}, BOTH(NO)},
	    {SYS_ioctl, {0, 0x400454cb /* TUNSETPERSIST */}, BOTH(NO)},
	    {SYS_ioctl, {0, 0x54e3 /* TUNGETDEVNETNS */}, BOTH(NO)},
	    {SYS_ioctl, {0, 0x4c00 /* LOOP_SET_FD */}, BOTH(NO)},
	    {SYS_ioctl, {0, 0x4c82 /* LOOP_CTL_GET_FREE */}, BOTH(NO)},
	    {SYS_ioctl, {0, 0x4b4e /* KDSKBENT's like */}, BOTH(NO)},
	    {SYS_ioctl, {0, 0x5606 /* VT_ACTIVATE */}, BOTH(NO)},
	    {SYS_ioctl, {3, 0x8940 /* SIOCGIFBR */}, BOTH(NO)},
	    {SYS_ioctl, {3, 0x89a0 /* SIOCBRADDBR */}, BOTH(NO)},
	    {SYS_ioctl, {3, 0x8983 /* SIOCSIFVLAN */}, BOTH(NO)},
	    {SYS_ioctl, {3, 0x894c /* SIOCGSKNS */}, BOTH(NO)},
	    {SYS_ioctl, {3, 0x89f0 /* SIOCDEVPRIVATE */}, BOTH(NO)},
	    {SYS_ioctl, {0, FIDEDUPERANGE}, BOTH(NO)},
	    {SYS_ioctl, {0, 0x5000940e /* BTRFS_IOC_SUBVOL_CREATE */}, BOTH(NO)},
	};
	static const uint64_t take_terminal[6] = {0, TIOCSCTTY}, type_into[6] = {0, TIOCSTI};

	TRY_ALL(t);
	assert_int_equal(outcome(LEVEL2_PTY, ARCH, SYS_ioctl, take_terminal), ALLOWED);
	assert_int_equal(outcome(LEVEL2_PTY, ARCH, SYS_ioctl, type_into), NO);
}

static void fcntl_takes_no_leases(void **state)
{
	static const struct attempt t[] = {
	    {SYS_fcntl, {3, F_DUPFD}, BOTH(YES)},
	    {SYS_fcntl, {3, F_SETFL}, BOTH(YES)},
	    {SYS_fcntl, {3, F_SETLKW}, BOTH(YES)},
	    {SYS_fcntl, {3, F_OFD_SETLK}, BOTH(YES)},
	    {SYS_fcntl, {3, F_OFD_SETLKW}, BOTH(YES)},
	    {SYS_fcntl, {3, F_GETOWN}, BOTH(YES)},
	    {SYS_fcntl, {3, F_GETSIG}, BOTH(YES)},
	    {SYS_fcntl, {3, F_GETOWN_EX}, BOTH(YES)},
	    {SYS_fcntl, {3, F_DUPFD_CLOEXEC}, BOTH(YES)},
	    {SYS_fcntl, {3, F_ADD_SEALS}, BOTH(YES)},
	    {SYS_fcntl, {3, F_SETPIPE_SZ}, BOTH(YES)},
	    {SYS_fcntl, {3, F_SETOWN}, YES, NO},
	    {SYS_fcntl, {3, F_SETSIG}, YES, NO},
	    {SYS_fcntl, {3, F_SETOWN_EX}, YES, NO},
	    {SYS_fcntl, {3, F_SETLEASE}, BOTH(NO)},
	    {SYS_fcntl, {3, F_NOTIFY}, BOTH(NO)},
	    {SYS_fcntl, {3, 39}, BOTH(NO)},
	    {SYS_fcntl, {3, 1039}, BOTH(NO)},
	    {SYS_fcntl, {3, 0xffffffff}, BOTH(NO)},
	};

	TRY_ALL(t);
}

static void prctl_by_list(void **state)
{
	static const unsigned allowed[] = {PR_SET_PDEATHSIG,
					   PR_GET_PDEATHSIG,
					   PR_GET_DUMPABLE,
					   PR_SET_DUMPABLE,
					   PR_GET_KEEPCAPS,
					   PR_SET_NAME,
					   PR_GET_NAME,
					   PR_GET_SECCOMP,
					   PR_SET_SECCOMP,
					   PR_CAPBSET_READ,
					   PR_CAPBSET_DROP,
					   PR_GET_SECUREBITS,
					   PR_SET_TIMERSLACK,
					   PR_GET_TIMERSLACK,
					   PR_SET_CHILD_SUBREAPER,
					   PR_GET_CHILD_SUBREAPER,
					   PR_SET_NO_NEW_PRIVS,
					   PR_GET_NO_NEW_PRIVS,
					   PR_GET_TID_ADDRESS,
					   PR_SET_THP_DISABLE,
					   PR_GET_THP_DISABLE,
					   65,
					   66,
					   0x41555856,
					   0x53564d41};
	size_t next = 0;

	/* every small option, and the neighbours of the large ones */
	for (uint64_t option = 0; option <= 0x53564d42; option = option == 512          ? 0x41555855
								 : option == 0x41555857 ? 0x53564d40
								 : option == 0x53564d42 ? 0x59616d61
											: option + 1) {
		int listed = next < FH_ARRAY_LEN(allowed) && allowed[next] == option;
		const struct attempt t = {SYS_prctl, {option}, BOTH(listed ? (uint32_t)YES : NO)};

#ifdef __aarch64__
		if (option >= 50 && option <= 64)
			continue;
#endif
		next += listed;
		try_all(&t, 1);
	}
	assert_int_equal(next, FH_ARRAY_LEN(allowed));
	{
		static const struct attempt t[] = {
		    {SYS_prctl, {0x59616d61 /* PR_SET_PTRACER */}, BOTH(NO)},
		    {SYS_prctl, {PR_SET_MM}, BOTH(NO)},
		    {SYS_prctl, {PR_SET_SECUREBITS}, BOTH(NO)},
		    {SYS_prctl, {PR_CAP_AMBIENT}, BOTH(NO)},
		    {SYS_prctl, {0xffffffff}, BOTH(NO)},
		};
		TRY_ALL(t);
	}
}

static void oneself_can_only_be_confined_further(void **state)
{
	static const struct attempt t[] = {
	    {SYS_personality, {0}, BOTH(YES)},
	    {SYS_personality, {0xffffffff}, BOTH(YES)},
	    {SYS_personality, {0x0040000 /* ADDR_NO_RANDOMIZE */}, BOTH(NO)},
	    {SYS_personality, {8 /* PER_LINUX32 */}, BOTH(NO)},
	    {SYS_personality, {0x7fffffff}, BOTH(NO)},
	    {SYS_seccomp, {SECCOMP_SET_MODE_STRICT, 0}, BOTH(YES)},
	    {SYS_seccomp, {SECCOMP_SET_MODE_FILTER, 0}, BOTH(YES)},
	    {SYS_seccomp, {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC}, BOTH(YES)},
	    {SYS_seccomp, {SECCOMP_GET_ACTION_AVAIL, 0}, BOTH(YES)},
	    {SYS_seccomp, {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER}, BOTH(NO)},
	    {SYS_seccomp,
	     {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC},
	     BOTH(NO)},
	    {SYS_seccomp, {4, 0}, BOTH(NO)},
	    {SYS_seccomp, {0xffffffff, 0}, BOTH(NO)},
#ifdef __x86_64__
	    {SYS_arch_prctl, {0x1002 /* ARCH_SET_FS */}, BOTH(YES)},
	    {SYS_arch_prctl, {0x1004 /* ARCH_GET_GS */}, BOTH(YES)},
	    {SYS_arch_prctl, {0x1023 /* ARCH_REQ_XCOMP_PERM */}, BOTH(YES)},
	    {SYS_arch_prctl, {0x1012 /* ARCH_SET_CPUID */}, BOTH(NO)},
	    {SYS_arch_prctl, {0x2003 /* ARCH_MAP_VDSO_64 */}, BOTH(NO)},
	    {SYS_arch_prctl, {0x4002 /* ARCH_ENABLE_TAGGED_ADDR */}, BOTH(NO)},
#endif
	};

	TRY_ALL(t);
}

static void no_set_id_files_and_no_devices(void **state)
{
	static const struct attempt t[] = {
	    {SYS_openat, {3, 0, O_RDWR | O_CREAT | O_EXCL, 0600}, BOTH(YES)},
	    {SYS_openat, {3, 0, O_RDONLY, 06777}, BOTH(YES)}, /* no mode is passed then: anything is there */
	    {SYS_openat, {3, 0, O_DIRECTORY, 06777}, BOTH(YES)},
	    {SYS_openat, {3, 0, O_RDWR | O_TMPFILE, 0600}, BOTH(YES)},
	    {SYS_openat, {3, 0, O_RDWR | O_CREAT, 04755}, BOTH(NO)},
	    {SYS_openat, {3, 0, O_RDWR | O_CREAT, 02755}, BOTH(NO)},
	    {SYS_openat, {3, 0, O_RDWR | O_TMPFILE, 04755}, BOTH(NO)},
	    {SYS_openat, {3, 0, O_RDWR | (O_TMPFILE & ~O_DIRECTORY), 04755}, BOTH(NO)},
	    {SYS_fchmod, {3, 01777}, BOTH(YES)},
	    {SYS_fchmod, {3, 04755}, BOTH(NO)},
	    {SYS_fchmod, {3, 02755}, BOTH(NO)},
	    {SYS_fchmodat, {3, 0, 0755}, BOTH(YES)},
	    {SYS_fchmodat, {3, 0, 02755}, BOTH(NO)},
	    {452 /* fchmodat2 */, {3, 0, 0755, 0}, BOTH(YES)},
	    {452 /* fchmodat2 */, {3, 0, 04755, 0}, BOTH(NO)},
	    {SYS_mknodat, {3, 0, S_IFIFO | 0600}, BOTH(YES)},
	    {SYS_mknodat, {3, 0, S_IFSOCK | 0600}, BOTH(YES)},
	    {SYS_mknodat, {3, 0, S_IFREG | 0600}, BOTH(YES)},
	    {SYS_mknodat, {3, 0, 0600}, BOTH(YES)},
	    {SYS_mknodat, {3, 0, S_IFCHR | 0600}, BOTH(NO)},
	    {SYS_mknodat, {3, 0, S_IFBLK | 0600}, BOTH(NO)},
	    {SYS_mknodat, {3, 0, S_IFREG | 04755}, BOTH(NO)},
	    {SYS_mknodat, {3, 0, 02755}, BOTH(NO)},
	    {SYS_renameat2, {3, 0, 3, 0, RENAME_NOREPLACE}, BOTH(YES)},
	    {SYS_renameat2, {3, 0, 3, 0, RENAME_EXCHANGE}, BOTH(YES)},
	    {SYS_renameat2, {3, 0, 3, 0, RENAME_WHITEOUT}, BOTH(NO)},
	    {SYS_renameat2, {3, 0, 3, 0, RENAME_WHITEOUT | RENAME_NOREPLACE}, BOTH(NO)},
#ifdef __x86_64__
	    {SYS_open, {0, O_WRONLY | O_CREAT | O_TRUNC, 0666}, BOTH(YES)},
	    {SYS_open, {0, O_RDONLY, 06777}, BOTH(YES)},
	    {SYS_open, {0, O_WRONLY | O_CREAT, 04755}, BOTH(NO)},
	    {SYS_open, {0, O_WRONLY | O_TMPFILE, 02755}, BOTH(NO)},
	    {SYS_creat, {0, 0666}, BOTH(YES)},
	    {SYS_creat, {0, 04755}, BOTH(NO)},
	    {SYS_chmod, {0, 01755}, BOTH(YES)},
	    {SYS_chmod, {0, 04755}, BOTH(NO)},
	    {SYS_chmod, {0, 02755}, BOTH(NO)},
	    {SYS_mknod, {0, S_IFIFO | 0600}, BOTH(YES)},
	    {SYS_mknod, {0, S_IFCHR | 0600}, BOTH(NO)},
	    {SYS_mknod, {0, S_IFBLK | 0600}, BOTH(NO)},
	    {SYS_mknod, {0, S_IFREG | 04755}, BOTH(NO)},
#endif
	};

	TRY_ALL(t);
}

static void no_real_time_and_no_one_elses_schedule(void **state)
{
	static const struct attempt t[] = {
	    {SYS_sched_setscheduler, {0, SCHED_OTHER}, BOTH(YES)},
	    {SYS_sched_setscheduler, {0, SCHED_BATCH | SCHED_RESET_ON_FORK}, BOTH(YES)},
	    {SYS_sched_setscheduler, {0, SCHED_IDLE}, BOTH(YES)},
	    {SYS_sched_setscheduler, {0, SCHED_FIFO}, BOTH(NO)},
	    {SYS_sched_setscheduler, {0, SCHED_RR | SCHED_RESET_ON_FORK}, BOTH(NO)},
	    {SYS_sched_setscheduler, {0, 6 /* SCHED_DEADLINE */}, BOTH(NO)},
	    {SYS_sched_setscheduler, {0, 7 /* SCHED_EXT */}, BOTH(NO)},
	    {SYS_sched_setscheduler, {42, SCHED_IDLE}, YES, NO},
	    {SYS_sched_setaffinity, {0, 8}, BOTH(YES)},
	    {SYS_sched_setaffinity, {42, 8}, YES, NO},
	    {SYS_sched_setparam, {0}, BOTH(YES)},
	    {SYS_sched_setparam, {42}, YES, NO},
	    {SYS_prlimit64, {0, RLIMIT_NOFILE}, BOTH(YES)},
	    {SYS_prlimit64, {42, RLIMIT_NOFILE}, YES, NO},
	    {SYS_setpriority, {PRIO_PROCESS, 0, 10}, BOTH(YES)},
	    {SYS_setpriority, {PRIO_PROCESS, 42, 10}, YES, NO},
	    {SYS_setpriority, {PRIO_PGRP, 0, 10}, BOTH(YES)},
	    {SYS_setpriority, {PRIO_USER, 0, 10}, YES, NO},
	    {SYS_ioprio_set, {1, 0, 2 << 13 | 4}, BOTH(YES)},
	    {SYS_ioprio_set, {1, 0, 3 << 13}, BOTH(YES)},
	    {SYS_ioprio_set, {1, 0, 1 << 13}, BOTH(NO)},
	    {SYS_ioprio_set, {1, 0, 1 << 13 | 7}, BOTH(NO)},
	    {SYS_ioprio_set, {1, 42, 2 << 13}, YES, NO},
	    {SYS_ioprio_set, {3, 0, 2 << 13}, YES, NO},
	};

	TRY_ALL(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(clone_makes_no_namespaces),
	    cmocka_unit_test(sockets_of_known_families_only),
	    cmocka_unit_test(socket_sweep_finds_nothing_else),
	    cmocka_unit_test(socket_options_that_reach_farther),
	    cmocka_unit_test(no_huge_pages_and_no_merged_ones),
	    cmocka_unit_test(the_core_limit_stays),
	    cmocka_unit_test(no_out_of_band_data),
	    cmocka_unit_test(ioctls_of_ones_own_files_only),
	    cmocka_unit_test(fcntl_takes_no_leases),
	    cmocka_unit_test(prctl_by_list),
	    cmocka_unit_test(oneself_can_only_be_confined_further),
	    cmocka_unit_test(no_set_id_files_and_no_devices),
	    cmocka_unit_test(no_real_time_and_no_one_elses_schedule),
	};
	return cmocka_run_group_tests(tests, build_filters, free_filters);
}
