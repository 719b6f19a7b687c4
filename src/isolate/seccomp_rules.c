/* The argument rules: what of a call's arguments makes it allowed or not. Emits BPF, makes no system call.
 *
 * Every argument looked at here is of type int or unsigned int in the kernel, which ignores the upper half of
 * the register (of clone's flags, too): so only the low half is loaded. A filter that compared all 64 bits
 * would be passed by setting one of the upper ones. Nothing behind a pointer is looked at: it can change
 * between our look and the kernel's. (Whether one is NULL is asked of both halves.)
 *
 * Rules read from the inside out: an fh_asm call names what comes after it. */
#include "isolate/seccomp_rules.h"

#include <asm/ioctls.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/ioprio.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <linux/memfd.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif

#include "base/own.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half of an argument comes first");

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#define SO_PEERPIDFD 77
#endif
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_GET_MDWE 66
#endif
#ifndef PR_GET_AUXV
#define PR_GET_AUXV 0x41555856
#endif

/* Values from `first` to `last`. */
struct span {
	uint32_t first, last;
};
#define SPANS_MAX 24

static unsigned allow(struct fh_asm *a)
{
	return fh_asm_return(a, SECCOMP_RET_ALLOW);
}

static unsigned refuse(struct fh_asm *a, int error)
{
	return fh_asm_return(a, SECCOMP_RET_ERRNO | (uint32_t)error);
}

/* Loads an argument's low half and goes on with `next`. */
static unsigned with_arg(struct fh_asm *a, unsigned arg, unsigned next)
{
	return fh_asm_load(a, offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t), next);
}

/* Is the accumulator in one of the spans, which are sorted? */
static unsigned if_within(struct fh_asm *a, const struct span *s, size_t n, unsigned yes, unsigned no)
{
	struct fh_asm_range r[2 * SPANS_MAX + 1];
	size_t used = 0;

	assert(n <= SPANS_MAX);
	r[used++] = (struct fh_asm_range){0, no};
	for (size_t i = 0; i < n; i++) {
		assert(s[i].first >= r[used - 1].first && s[i].first <= s[i].last);
		if (r[used - 1].first == s[i].first)
			used--;
		r[used++] = (struct fh_asm_range){s[i].first, yes};
		if (s[i].last != UINT32_MAX)
			r[used++] = (struct fh_asm_range){s[i].last + 1, no};
	}
	return fh_asm_search(a, r, used);
}

#define IF_WITHIN(a, spans, yes, no) if_within(a, spans, FH_ARRAY_LEN(spans), yes, no)

/* Refused if any of the bits is set. */
static unsigned without_bits(struct fh_asm *a, unsigned arg, uint32_t bits)
{
	return with_arg(a, arg, fh_asm_if(a, FH_ASM_ANY_BIT, bits, refuse(a, EPERM), allow(a)));
}

/* Namespaces are made by us alone. CLONE_PARENT plants a child under our own parent, with an exit code of the
 * program's choice. (A time namespace cannot be asked for here: its bit is part of the exit signal.) */
static unsigned clone_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	return without_bits(a, arg,
			    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
				CLONE_NEWPID | CLONE_NEWNET | CLONE_PARENT);
}

/* Families without a namespace, raw sockets and protocols whose first use loads a kernel module are refused.
 * Type and protocol are matched as pairs, since asking for a pair that is not there makes the kernel look for
 * a module. */
static unsigned socket_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	const unsigned no = refuse(a, EAFNOSUPPORT), yes = allow(a);
	unsigned tcp, udp, inet, netlink, next;

	if (policy->level == FH_LEVEL_PROCESS) /* no network namespace: no network */
		return with_arg(a, arg, fh_asm_if(a, FH_ASM_EQUAL, AF_UNIX, yes, no));
	/* Address lookup of libc asks NETLINK_ROUTE for the interfaces there are. */
	netlink = with_arg(a, arg + 2, fh_asm_if(a, FH_ASM_EQUAL, NETLINK_ROUTE, yes, no));
	udp = fh_asm_if(a, FH_ASM_EQUAL, IPPROTO_UDP, yes, no);
	udp = with_arg(a, arg + 2, fh_asm_if(a, FH_ASM_EQUAL, 0, yes, udp));
	tcp = fh_asm_if(a, FH_ASM_EQUAL, IPPROTO_TCP, yes, no);
	tcp = with_arg(a, arg + 2, fh_asm_if(a, FH_ASM_EQUAL, 0, yes, tcp));
	inet = fh_asm_if(a, FH_ASM_EQUAL, SOCK_DGRAM, udp, no);
	inet = fh_asm_if(a, FH_ASM_EQUAL, SOCK_STREAM, tcp, inet);
	inet = with_arg(a, arg + 1, fh_asm_mask(a, 0xf, inet));
	next = fh_asm_if(a, FH_ASM_EQUAL, AF_NETLINK, netlink, no);
	next = fh_asm_if(a, FH_ASM_EQUAL, AF_INET6, inet, next);
	next = fh_asm_if(a, FH_ASM_EQUAL, AF_INET, inet, next);
	return with_arg(a, arg, fh_asm_if(a, FH_ASM_EQUAL, AF_UNIX, yes, next));
}

static unsigned socketpair_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	return with_arg(a, arg, fh_asm_if(a, FH_ASM_EQUAL, AF_UNIX, allow(a), refuse(a, EAFNOSUPPORT)));
}

/* Programs run by the kernel on packets; pidfds of whoever is on the other side; other protocols put on top
 * of TCP, its state set by hand, and its packets signed by the kernel's cryptography. */
static unsigned setsockopt_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	static const struct span of_socket[] = {
	    {SO_ATTACH_FILTER, SO_ATTACH_FILTER},
	    {SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_EBPF}, /* with SO_ATTACH_REUSEPORT_CBPF between them */
	    {SO_PASSPIDFD, SO_PASSPIDFD},
	};
	static const struct span of_tcp[] = {
	    {TCP_MD5SIG, TCP_MD5SIG},
	    {TCP_REPAIR, TCP_REPAIR},
	    {TCP_ULP, 32}, /* with TCP_MD5SIG_EXT */
	    {38, 42},      /* TCP_AO_*: signs by any algorithm of the kernel that one names, which loads its module */
	};
	const unsigned no = refuse(a, EPERM), yes = allow(a);
	unsigned tcp = with_arg(a, arg + 1, IF_WITHIN(a, of_tcp, no, yes));
	unsigned sock = with_arg(a, arg + 1, IF_WITHIN(a, of_socket, no, yes));
	unsigned level = fh_asm_if(a, FH_ASM_EQUAL, IPPROTO_TCP, tcp, yes);

	return with_arg(a, arg, fh_asm_if(a, FH_ASM_EQUAL, SOL_SOCKET, sock, level));
}

/* A pidfd of the peer may be one of the supervisor's side. */
static unsigned getsockopt_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	const unsigned no = refuse(a, EPERM), yes = allow(a);
	unsigned sock = with_arg(a, arg + 1, fh_asm_if(a, FH_ASM_EQUAL, SO_PEERPIDFD, no, yes));

	return with_arg(a, arg, fh_asm_if(a, FH_ASM_EQUAL, SOL_SOCKET, sock, yes));
}

/* Out-of-band data of Unix sockets has been one kernel bug after another; a fast-open send connects where
 * Landlock does not see it. */
static unsigned msg_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	return without_bits(a, arg, MSG_OOB | MSG_FASTOPEN);
}

/* A request is size, direction, type and number; type and number are its low 16 bits. A few are allowed by
 * their whole value, then single ones and whole types are refused, whatever size and direction they claim.
 * Terminal modes and sizes, FIONREAD and the like, and questions about interfaces pass. */
static unsigned ioctl_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	static const struct span allowed[] = {
	    {FICLONE, FICLONE},
	    {FICLONERANGE, FICLONERANGE},       /* cp */
	    {FS_IOC_GETFLAGS, FS_IOC_GETFLAGS}, /* lsattr */
	    {FS_IOC_FSGETXATTR, FS_IOC_FSGETXATTR},
	};
	static const struct span refused[] = {
	    {0x4b00, 0x4bff}, /* keyboards and fonts of a console */
	    {0x4c00, 0x4cff}, /* LOOP_* */
	    /* TIOCSCTTY (0x540e) is decided below */
	    {TIOCSTI, TIOCSTI}, /* types into a terminal */
	    {TIOCLINUX, TIOCCONS},
	    {TIOCSETD, TIOCSETD}, /* line disciplines: the kernel loads modules for them */
	    {TIOCVHANGUP, TIOCVHANGUP},
	    {0x54c8, 0x54ff}, /* TUN* */
	    {0x5600, 0x56ff}, /* virtual terminals */
	    {0x5800, 0x58ff}, /* 'X': FIFREEZE, FITHAW, FITRIM, FS_IOC_FSSETXATTR (project quota), shutdown */
	    {0x6600, 0x66ff}, /* 'f': FS_IOC_SETFLAGS, encryption, verity, and those of single file systems */
	    {0x7602, 0x7602}, /* FS_IOC_SETVERSION */
	    {SIOCGIFBR, SIOCSIFBR},
	    {SIOCGSKNS, SIOCGSKNS}, /* bridges: loads a module; a fd of the namespace */
	    {SIOCGIFVLAN, SIOCSIFVLAN},
	    {0x8990, 0x89ff}, /* VLAN, bonding, private to drivers */
	    {0x9400, 0x94ff}, /* btrfs: subvolumes and snapshots; FIDEDUPERANGE compares with others' files */
	};
	const unsigned no = refuse(a, EPERM), yes = allow(a);
	unsigned next = IF_WITHIN(a, refused, no, yes);

	/* Has a signal sent, later and by whoever writes: like fcntl's F_SETOWN. */
	if (policy->level == FH_LEVEL_PROCESS) {
		next = fh_asm_if(a, FH_ASM_EQUAL, SIOCSPGRP, no, next);
		next = fh_asm_if(a, FH_ASM_EQUAL, FIOSETOWN, no, next);
	}
	/* How a program takes a terminal of its own; where it was given none there are only those of others.
	 */
	if (!policy->pty)
		next = fh_asm_if(a, FH_ASM_EQUAL, TIOCSCTTY, no, next);
	next = fh_asm_mask(a, 0xffff, next);
	return with_arg(a, arg, IF_WITHIN(a, allowed, yes, next));
}

/* Leases stop other openers of a file, F_NOTIFY watches directories. F_SETOWN and F_SETSIG have any signal
 * sent to any process, later and with the rights of now: inside a pid namespace that is no more than kill. */
static unsigned fcntl_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	static const struct span in_namespace[] = {{0, F_OFD_SETLKW}, {F_GETLEASE, F_GETLEASE}, {1027, 1038}};
	static const struct span on_host[] = {
	    {0, F_SETLKW},
	    {F_GETOWN, F_GETOWN},
	    {F_GETSIG, F_SETOWN_EX - 1},
	    {F_GETOWN_EX, F_OFD_SETLKW},
	    {F_GETLEASE, F_GETLEASE},
	    {1027, 1038}, /* F_DUPFD_QUERY to F_SET_FILE_RW_HINT */
	};
	const unsigned no = refuse(a, EPERM), yes = allow(a);

	return with_arg(a, arg,
			policy->level == FH_LEVEL_PROCESS ? IF_WITHIN(a, on_host, yes, no)
							  : IF_WITHIN(a, in_namespace, yes, no));
}

/* Not here, and why: PR_SET_MM (rewrites what /proc shows of us), PR_SET_PTRACER, PR_SET_SECUREBITS,
 * PR_SET_KEEPCAPS and PR_CAP_AMBIENT (capabilities go one way: down), speculation control and core scheduling
 * (mitigations are the host's), PR_SET_MEMORY_MERGE (merged pages tell their content by timing),
 * PR_SET_IO_FLUSHER. */
static unsigned prctl_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	static const struct span allowed[] = {
	    {PR_SET_PDEATHSIG, PR_SET_DUMPABLE},
	    {PR_GET_KEEPCAPS, PR_GET_KEEPCAPS},
	    {PR_SET_NAME, PR_GET_NAME},
	    {PR_GET_SECCOMP, PR_CAPBSET_DROP}, /* with PR_SET_SECCOMP, PR_CAPBSET_READ */
	    {PR_GET_SECUREBITS, PR_GET_SECUREBITS},
	    {PR_SET_TIMERSLACK, PR_GET_TIMERSLACK},
	    {PR_SET_CHILD_SUBREAPER, PR_GET_THP_DISABLE}, /* with no_new_privs, PR_GET_TID_ADDRESS */
#ifdef __aarch64__
	    {PR_SVE_SET_VL, PR_SVE_GET_VL},
	    {PR_PAC_RESET_KEYS, PR_GET_TAGGED_ADDR_CTRL},
	    {PR_PAC_SET_ENABLED_KEYS, PR_PAC_GET_ENABLED_KEYS},
#endif
	    {PR_SET_MDWE, PR_GET_MDWE},
	    {PR_GET_AUXV, PR_GET_AUXV},
	    {PR_SET_VMA, PR_SET_VMA},
	};

	return with_arg(a, arg, IF_WITHIN(a, allowed, allow(a), refuse(a, EPERM)));
}

#ifdef __x86_64__
/* Thread pointers, and leave for the large registers of AMX, which numeric libraries ask for. */
static unsigned arch_prctl_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	static const struct span allowed[] = {{ARCH_SET_GS, ARCH_GET_GS}, {0x1021, ARCH_REQ_XCOMP_PERM}};

	return with_arg(a, arg, IF_WITHIN(a, allowed, allow(a), refuse(a, EPERM)));
}
#endif

/* The plain one, and asking which it is. Others switch off address randomisation or map page zero. */
static unsigned personality_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	const unsigned yes = allow(a);
	unsigned asks = fh_asm_if(a, FH_ASM_EQUAL, 0xffffffff, yes, refuse(a, EPERM));

	return with_arg(a, arg, fh_asm_if(a, FH_ASM_EQUAL, 0, yes, asks));
}

/* More filters can only tighten; a listener would let the program answer calls of its set-id or traced
 * children. */
static unsigned seccomp_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	const unsigned no = refuse(a, EPERM), yes = allow(a);
	unsigned filter = without_bits(a, arg + 1, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	unsigned known = fh_asm_if(a, FH_ASM_AT_LEAST, SECCOMP_GET_NOTIF_SIZES + 1, no, yes);

	return with_arg(a, arg, fh_asm_if(a, FH_ASM_EQUAL, SECCOMP_SET_MODE_FILTER, filter, known));
}

static unsigned mode_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	return without_bits(a, arg, S_ISUID | S_ISGID);
}

/* The mode counts only where a file may be made; otherwise the register holds anything. */
static unsigned open_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	const unsigned mode = without_bits(a, arg + 1, S_ISUID | S_ISGID);
	const uint32_t makes = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

	return with_arg(a, arg, fh_asm_if(a, FH_ASM_ANY_BIT, makes, mode, allow(a)));
}

/* Files, FIFOs and sockets. The kernel lets anyone make the character device 0:0, which to an overlay means
 * that the file below is deleted. */
static unsigned mknod_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	const unsigned no = refuse(a, EPERM);
	unsigned type = fh_asm_if(a, FH_ASM_EQUAL, S_IFBLK, no, allow(a));

	type = fh_asm_mask(a, S_IFMT, fh_asm_if(a, FH_ASM_EQUAL, S_IFCHR, no, type));
	return with_arg(a, arg, fh_asm_if(a, FH_ASM_ANY_BIT, S_ISUID | S_ISGID, no, type));
}

/* RENAME_WHITEOUT makes the device that mknod may not make. */
static unsigned renameat2_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	return without_bits(a, arg, RENAME_WHITEOUT);
}

/* Only the caller itself, where other processes of the uid could be reached. */
static unsigned on_self(struct fh_asm *a, unsigned pid_arg, unsigned next)
{
	return with_arg(a, pid_arg, fh_asm_if(a, FH_ASM_EQUAL, 0, next, refuse(a, EPERM)));
}

/* The same for calls that take (which, who); `whole_user` is the `which` that means all of a uid's processes.
 */
static unsigned on_self_which(struct fh_asm *a, unsigned which_arg, uint32_t whole_user, unsigned next)
{
	next = on_self(a, which_arg + 1, next);
	return with_arg(a, which_arg, fh_asm_if(a, FH_ASM_EQUAL, whole_user, refuse(a, EPERM), next));
}

static unsigned pid_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	return on_self(a, arg, allow(a));
}

static unsigned priority_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	return on_self_which(a, arg, PRIO_USER, allow(a));
}

/* No real-time policies: the kernel would refuse them by rlimit, unless that was set wrong. */
static unsigned scheduler_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	static const struct span fair[] = {
	    {SCHED_OTHER, SCHED_OTHER}, {SCHED_BATCH, SCHED_BATCH}, {SCHED_IDLE, SCHED_IDLE}};
	unsigned next = IF_WITHIN(a, fair, allow(a), refuse(a, EPERM));

	next = with_arg(a, arg, fh_asm_mask(a, ~(uint32_t)SCHED_RESET_ON_FORK, next));
	return policy->level == FH_LEVEL_PROCESS ? on_self(a, 0, next) : next;
}

static unsigned ioprio_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	const uint32_t class_bits = (uint32_t)IOPRIO_CLASS_MASK << IOPRIO_CLASS_SHIFT;
	const uint32_t real_time = (uint32_t)IOPRIO_CLASS_RT << IOPRIO_CLASS_SHIFT;
	unsigned class = fh_asm_if(a, FH_ASM_EQUAL, real_time, refuse(a, EPERM), allow(a));

	class = with_arg(a, arg, fh_asm_mask(a, class_bits, class));
	return policy->level == FH_LEVEL_PROCESS ? on_self_which(a, 0, IOPRIO_WHO_USER, class) : class;
}

/* Huge pages come from a pool of the host's and are counted as nobody's memory. Refused as where there are none. */
static unsigned mmap_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	return with_arg(a, arg, fh_asm_if(a, FH_ASM_ANY_BIT, MAP_HUGETLB, refuse(a, ENOMEM), allow(a)));
}

static unsigned memfd_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	return with_arg(a, arg, fh_asm_if(a, FH_ASM_ANY_BIT, MFD_HUGETLB, refuse(a, ENOMEM), allow(a)));
}

/* The other way to PR_SET_MEMORY_MERGE. Refused as by a kernel that cannot merge. */
static unsigned madvise_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	return with_arg(a, arg, fh_asm_if(a, FH_ASM_EQUAL, MADV_MERGEABLE, refuse(a, EINVAL), allow(a)));
}

/* A core limit of 1 byte stops a core file and a piped handler. A limit of 0, which many programs set for themselves,
 * stops only the file: the handler, which the host runs as root, would be given the program's memory. So who lowers it
 * is told that it is done: it is, and better. */
static unsigned setrlimit_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	return with_arg(a, arg, fh_asm_if(a, FH_ASM_EQUAL, RLIMIT_CORE, refuse(a, 0), allow(a)));
}

/* Is the pointer NULL? That much cannot change behind it. */
static unsigned if_null(struct fh_asm *a, unsigned arg, unsigned yes, unsigned no)
{
	const size_t low = offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t);
	unsigned high = fh_asm_load(a, low + sizeof(uint32_t), fh_asm_if(a, FH_ASM_EQUAL, 0, yes, no));

	return fh_asm_load(a, low, fh_asm_if(a, FH_ASM_EQUAL, 0, high, no));
}

/* The same in the form that can ask for the old limit, too: asking alone is fine, both at once cannot be pretended. */
static unsigned prlimit_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned arg)
{
	unsigned sets = if_null(a, arg + 2, refuse(a, 0), refuse(a, EPERM));
	unsigned core = if_null(a, arg + 1, allow(a), sets);
	unsigned next = with_arg(a, arg, fh_asm_if(a, FH_ASM_EQUAL, RLIMIT_CORE, core, allow(a)));

	return policy->level == FH_LEVEL_PROCESS ? on_self(a, 0, next) : next;
}

static unsigned verdict_rule(struct fh_asm *a, const struct fh_policy *policy, unsigned verdict)
{
	return fh_asm_return(a, verdict);
}

/* Each act, how it is emitted, and the argument it looks at (for a plain act, its verdict). */
static const struct {
	unsigned (*emit)(struct fh_asm *a, const struct fh_policy *policy, unsigned arg);
	unsigned arg;
} rules[FH_ACT_COUNT] = {
    [FH_ACT_ENOSYS] = {verdict_rule, SECCOMP_RET_ERRNO | ENOSYS},
    [FH_ACT_ALLOW] = {verdict_rule, SECCOMP_RET_ALLOW},
    [FH_ACT_EPERM] = {verdict_rule, SECCOMP_RET_ERRNO | EPERM},
    [FH_ACT_SKIP] = {verdict_rule, SECCOMP_RET_ERRNO | 0},
    [FH_ACT_CLONE] = {clone_rule, 0},
    [FH_ACT_SOCKET] = {socket_rule, 0},
    [FH_ACT_SOCKETPAIR] = {socketpair_rule, 0},
    [FH_ACT_SETSOCKOPT] = {setsockopt_rule, 1},
    [FH_ACT_GETSOCKOPT] = {getsockopt_rule, 1},
    [FH_ACT_MSG_ARG2] = {msg_rule, 2},
    [FH_ACT_MSG_ARG3] = {msg_rule, 3},
    [FH_ACT_IOCTL] = {ioctl_rule, 1},
    [FH_ACT_FCNTL] = {fcntl_rule, 1},
    [FH_ACT_PRCTL] = {prctl_rule, 0},
#ifdef __x86_64__
    [FH_ACT_ARCH_PRCTL] = {arch_prctl_rule, 0},
#endif
    [FH_ACT_PERSONALITY] = {personality_rule, 0},
    [FH_ACT_SECCOMP] = {seccomp_rule, 0},
    [FH_ACT_OPEN_ARG1] = {open_rule, 1},
    [FH_ACT_OPEN_ARG2] = {open_rule, 2},
    [FH_ACT_MODE_ARG1] = {mode_rule, 1},
    [FH_ACT_MODE_ARG2] = {mode_rule, 2},
    [FH_ACT_MKNOD_ARG1] = {mknod_rule, 1},
    [FH_ACT_MKNOD_ARG2] = {mknod_rule, 2},
    [FH_ACT_RENAMEAT2] = {renameat2_rule, 4},
    [FH_ACT_SCHEDULER] = {scheduler_rule, 1},
    [FH_ACT_IOPRIO] = {ioprio_rule, 2},
    [FH_ACT_PRIORITY_SELF] = {priority_rule, 0},
    [FH_ACT_PID_SELF] = {pid_rule, 0},
    [FH_ACT_MMAP] = {mmap_rule, 3},
    [FH_ACT_MEMFD] = {memfd_rule, 1},
    [FH_ACT_MADVISE] = {madvise_rule, 2},
    [FH_ACT_SETRLIMIT] = {setrlimit_rule, 0},
    [FH_ACT_PRLIMIT] = {prlimit_rule, 1},
};

unsigned fh_rule_emit(struct fh_asm *a, enum fh_act act, const struct fh_policy *policy)
{
	assert(act < FH_ACT_COUNT && rules[act].emit);
	return rules[act].emit(a, policy, rules[act].arg);
}
