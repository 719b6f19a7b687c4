/* Which system calls a program may make, as data: one row a call, what happens at level namespace and at
 * level process. The rows, with the reason of every refusal, are in seccomp_table.c; what an argument rule
 * looks at is in seccomp_rules.c. */
#ifndef FH_ISOLATE_SECCOMP_TABLE_H
#define FH_ISOLATE_SECCOMP_TABLE_H

#include <stddef.h>

enum fh_act {
	FH_ACT_ENOSYS, /* "this kernel has no such call": what a call without a row gets, too */
	FH_ACT_ALLOW,
	FH_ACT_EPERM,
	FH_ACT_SKIP, /* returns 0, does nothing */
	/* The outcome depends on arguments. */
	FH_ACT_RULES,
	FH_ACT_CLONE = FH_ACT_RULES,
	FH_ACT_SOCKET,
	FH_ACT_SOCKETPAIR,
	FH_ACT_SETSOCKOPT,
	FH_ACT_GETSOCKOPT,
	FH_ACT_MSG_ARG2, /* MSG_* flags in args[2] */
	FH_ACT_MSG_ARG3,
	FH_ACT_IOCTL,
	FH_ACT_FCNTL,
	FH_ACT_PRCTL,
	FH_ACT_ARCH_PRCTL,
	FH_ACT_PERSONALITY,
	FH_ACT_SECCOMP,
	FH_ACT_OPEN_ARG1, /* open flags in args[1], mode after them */
	FH_ACT_OPEN_ARG2,
	FH_ACT_MODE_ARG1, /* permission bits in args[1] */
	FH_ACT_MODE_ARG2,
	FH_ACT_MKNOD_ARG1, /* file type and permission bits in args[1] */
	FH_ACT_MKNOD_ARG2,
	FH_ACT_RENAMEAT2,
	FH_ACT_SCHEDULER,
	FH_ACT_IOPRIO,
	FH_ACT_PRIORITY_SELF, /* args[0] not "a whole user", args[1] the caller */
	FH_ACT_PID_SELF,      /* args[0] is 0: the caller */
	FH_ACT_MMAP,          /* MAP_* flags in args[3] */
	FH_ACT_MEMFD,         /* MFD_* flags in args[1] */
	FH_ACT_MADVISE,       /* advice in args[2] */
	FH_ACT_SETRLIMIT,     /* resource in args[0] */
	FH_ACT_PRLIMIT,       /* pid, resource, new limit, old limit */
	FH_ACT_COUNT
};

struct fh_call {
	short nr;
	unsigned char at_namespace, at_process; /* enum fh_act */
	const char *name;
};

extern const struct fh_call fh_calls[];
extern const size_t fh_calls_count;

/* Numbers are below this; the search need not look farther. */
#define FH_CALL_NR_END 512

#endif
