/* A plan: everything between clone and exec, decided beforehand.
 *
 * The supervisor decides, opens and builds; the child only carries out, by raw system calls, without heap, locks or
 * formatting. A plan is flat and const for the child, which sees it through its copy of the supervisor's memory. All
 * pointers belong to the supervisor's arena and live until the run is destroyed. */
#ifndef FH_CHILD_PLAN_H
#define FH_CHILD_PLAN_H

#include <linux/filter.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* A host path that is shown inside. Either a detached mount that the supervisor made (`tree_fd`), or a path the child
 * opens itself in its own mount namespace and verifies to be the inode the supervisor checked. */
struct fh_plan_source {
	int tree_fd; /* -1: open `path` */
	const char *path;
	uint64_t dev, ino;
	uint64_t rdev;  /* nonzero: must be this character device */
	bool recursive; /* with the mounts below it */
};

enum fh_op_kind {
	FH_OP_MKDIR,   /* target, mode */
	FH_OP_FILE,    /* target, mode, bytes, n_bytes */
	FH_OP_SYMLINK, /* target, text: what it points to */
	FH_OP_CHOWN,   /* target, uid */
	FH_OP_TMPFS,   /* target, mount flags, text: options */
	FH_OP_PROC,    /* the same */
	FH_OP_DEVPTS,  /* the same */
	FH_OP_OVERLAY, /* the same; text names layers relative to the stage */
	FH_OP_ATTACH,  /* target, source, attr: a source mounted there */
	FH_OP_CLONE,   /* target, text: a path of the stage, mounted there with attr */
	FH_OP_BIND,    /* target, text: a path of the stage whose mount already has every restriction */
	FH_OP_SYSCTL,  /* target, text: value */
	FH_OP_SEAL,    /* target, attr: attributes set on the mount there, recursive when `recursive` */
};

/* One step of building the root; targets are relative to the stage (see child/root.c). */
struct fh_plan_op {
	enum fh_op_kind kind;
	const char *target;
	const char *text;
	const void *bytes;
	size_t n_bytes;
	uint64_t flags; /* MS_* of a mount */
	uint64_t attr;  /* MOUNT_ATTR_* */
	uint32_t mode;
	uint32_t uid;
	int source; /* index into sources */
	bool recursive;
	bool optional; /* a target that does not exist is passed over; for MKDIR and FILE: that exists already */
	bool strict;   /* no component of the target may be a link: it may lie in a folder others filled */
};

struct fh_plan_rlimit {
	int resource;
	uint64_t soft, hard;
};

struct fh_plan_rule {
	const char *path;
	uint64_t access;
	bool optional; /* none is needed for a path that does not exist */
	bool strict;   /* no component may be a link: a program of an earlier run may have made it */
};

#define FH_PLAN_KEEP_MAX 48
#define FH_PLAN_JOIN_MAX 8

struct fh_plan {
	bool namespaces; /* level 2: the child is init; level 1: the child is the warden */

	/* Channels. */
	int barrier_fd; /* one byte: go; end of file: the supervisor is gone */
	int status_fd;  /* struct fh_step_failure; end of file: exec happened */
	int report_fd;  /* SOCK_SEQPACKET: struct fh_report out; one byte in: the program may be reaped, or 'K': end it */
	int lifeline_fd; /* a pidfd of the supervisor: readable when it is gone */
	int stdio_fds[3];
	int source_fd;  /* becomes descriptor 3 of the program; -1: none */
	int keep_fds[FH_PLAN_KEEP_MAX]; /* ascending: all that is used above and by sources, and leases */
	size_t n_keep;
	int join_fds[FH_PLAN_JOIN_MAX]; /* of control groups: the child writes itself into each */
	size_t n_join;
	bool want_ack; /* do not reap the program before the supervisor has looked at it */

	/* Namespaces and identity. */
	bool new_netns, new_cgroupns, new_keyring;
	bool init_is_mapped;  /* inner 0 exists: init takes it */
	bool drop_groups;     /* setgroups([]) is allowed and done */
	bool change_ids;      /* the program takes program_uid/gid; false: it keeps what it has (level 1, no root) */
	uint32_t program_uid, program_gid;
	const char *hostname;
	const char *oom_score_adj; /* NULL: leave */

	/* The root. */
	const char *stage; /* a host folder the disk is mounted over, in the child's own mount namespace only */
	const char *stage_options;
	struct fh_plan_source *sources; /* the child keeps the trees it opens itself in its own copy */
	size_t n_sources;
	const struct fh_plan_op *ops;
	size_t n_ops;
	const char *root; /* of the ops' targets, which one becomes "/" */

	/* The program's confinement. */
	const struct fh_plan_rlimit *rlimits;
	size_t n_rlimits;
	bool set_affinity;
	cpu_set_t affinity;
	int nice;
	bool reset_scheduler; /* the supervisor has a real-time policy, which must not be inherited */
	int landlock_abi; /* 0: none */
	uint64_t landlock_fs, landlock_net, landlock_scoped;
	const struct fh_plan_rule *rules;
	size_t n_rules;
	bool warden_scope; /* level 1: the warden enters a signal scope, so that it can kill exactly its own */
	struct sock_fprog seccomp; /* len 0: none (test switches only) */
	bool skip_caps, skip_no_new_privs; /* test switches only */

	/* The program. */
	const char *cwd;
	const char *const *exec_paths; /* tried in turn, NULL-terminated */
	char *const *argv;
	char **shell_argv;       /* tried when a path is an executable text without "#!"; argv[1] is set to the path */
	char *const *envp;
};

/* What failed before the program ran: written whole to status_fd. */
struct fh_step_failure {
	int32_t step; /* enum fh_step */
	int32_t error; /* positive errno */
	int32_t detail; /* index of the op, rule, rlimit or path it was at; -1 */
	int32_t reserved;
};

enum fh_report_kind {
	FH_REPORT_PROGRAM = 1, /* the program is forked; carries two descriptors: its pidfd and the stage's root (or one) */
	FH_REPORT_ENDED = 2,   /* the program ended and was reaped */
	FH_REPORT_GONE = 3,    /* level 1: every process was reaped */
};

struct fh_report {
	int32_t kind;
	int32_t status; /* as wait4 gives it */
	int32_t pid;    /* as the child counts */
	int32_t left;   /* level 1, GONE: processes that would not die */
	int64_t user_us, system_us; /* of the program and the children it waited for */
	int64_t maxrss_kb;
};

/* The child's side of clone: never returns. */
_Noreturn void fh_child_init(const struct fh_plan *plan);   /* level 2 */
_Noreturn void fh_child_warden(const struct fh_plan *plan); /* level 1 */

#endif
