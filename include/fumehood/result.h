/* fumehood: the result of a run. Part of the public C API; plain data.
 *
 * Everything here comes from the kernel and from our own clock, never from what the program says about itself; only
 * the bytes of the captured streams are the program's. All strings are UTF-8 without NUL unless said otherwise and
 * belong to the result: they live until fh_result_destroy(). */
#ifndef FUMEHOOD_RESULT_H
#define FUMEHOOD_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why a run ended. */
enum fh_verdict {
	FH_VERDICT_OK,        /* the program exited with status 0 */
	FH_VERDICT_EXIT,      /* it exited by itself with another status */
	FH_VERDICT_SIGNAL,    /* a signal ended it that no limit of ours sent */
	FH_VERDICT_WALL,      /* real time ran out */
	FH_VERDICT_CPU,       /* processor time ran out */
	FH_VERDICT_MEMORY,    /* the kernel or we ended it for memory */
	FH_VERDICT_PIDS,      /* it was refused processes and then failed */
	FH_VERDICT_DISK,      /* it filled its disk and then failed, or was ended by SIGXFSZ for too large a file */
	FH_VERDICT_INODES,    /* it ran out of files and then failed */
	FH_VERDICT_OUTPUT,    /* it printed more than it may */
	FH_VERDICT_POLICY,    /* it did what the policy answers with an end: a system call of a foreign ABI */
	FH_VERDICT_CANCELLED, /* the caller asked for its end */
	FH_VERDICT_SANDBOX,   /* it did not run, or not as asked: our failure or the host's, never the program's */
};

/* The axis of a limit. */
enum fh_axis {
	FH_AXIS_NONE,
	FH_AXIS_WALL,
	FH_AXIS_CPU,
	FH_AXIS_MEMORY,
	FH_AXIS_PIDS,
	FH_AXIS_DISK,
	FH_AXIS_INODES,
	FH_AXIS_FILE_SIZE,
	FH_AXIS_FILES,
	FH_AXIS_OUTPUT,
	FH_AXIS_COUNT_
};

/* What holds a limit on this host. */
enum fh_means {
	FH_MEANS_NONE,   /* not enforced (only ever with allow_weaker) */
	FH_MEANS_CGROUP, /* the kernel, for the whole sandbox together */
	FH_MEANS_RLIMIT, /* the kernel, per process or per user */
	FH_MEANS_WATCH,  /* the supervisor, by sampling; may be overshot between samples */
	FH_MEANS_TMPFS,  /* the kernel, by the size of the file system */
	FH_MEANS_CLOCK,  /* the supervisor's timer */
	FH_MEANS_PIPE,   /* the supervisor counts what it reads */
};

/* One captured stream. */
struct fh_stream {
	uint64_t bytes_total; /* printed, exact at every size */
	uint64_t bytes_kept;  /* of them, in `raw` */
	bool truncated;       /* bytes_kept < bytes_total: the middle is missing */
	bool binary;          /* not valid UTF-8, or holds NUL */
	char *raw;            /* bytes_kept bytes as printed: the head, then the tail. A final NUL follows */
	uint64_t head_bytes;  /* of raw, how many are the head; the cut lies on a UTF-8 border where the text has one */
	char *text;           /* raw as valid UTF-8 without NUL: bad bytes became U+FFFD; no marker is put in */
	uint64_t text_bytes;
	uint64_t text_head_bytes; /* where in `text` the cut lies */
	char sha256[65];          /* of everything printed, not only of what was kept; "" unless a receipt was wanted */
};

/* A stretch of output in order of arrival; only after fh_program_keep_order(). */
struct fh_chunk {
	int stream; /* 1 stdout, 2 stderr */
	uint64_t offset; /* in that stream, counted from its first byte */
	uint64_t bytes;
};

enum fh_change_kind { FH_CHANGE_ADDED, FH_CHANGE_MODIFIED, FH_CHANGE_DELETED };
enum fh_file_kind { FH_FILE_REGULAR, FH_FILE_DIRECTORY, FH_FILE_SYMLINK, FH_FILE_OTHER };

/* One change of the workspace. */
struct fh_change {
	enum fh_change_kind kind;
	enum fh_file_kind file;
	char *path; /* relative to the workspace; bytes as the program chose them, escaped as \xHH where not UTF-8, not
		     * to be seen (controls), or a backslash */
	uint64_t size_bytes;
	char sha256[65]; /* "" for what is not a regular file, or was too large to hash */
};

/* One limit as it was in force. */
struct fh_limit_state {
	uint64_t value;
	enum fh_means means;
	bool fired; /* the program ran into it at least once */
};

/* The evidence: what was in force, as read back from outside the sandbox. */
struct fh_receipt {
	char version[32];
	char policy_name[64];
	char policy_sha256[65];
	int level;
	struct fh_limit_state limits[FH_AXIS_COUNT_];
	char *uid_map;       /* as /proc shows it, one line; "" at level 1 */
	char *gid_map;
	uint32_t uid, gid;   /* the program's, as this host counts */
	uint64_t caps[5];    /* inheritable, permitted, effective, bounding, ambient */
	int no_new_privs;    /* 0 or 1 */
	int seccomp;         /* 2 = a filter is on */
	int seccomp_filters;
	int landlock_abi;    /* 0 = none in force */
	char *namespaces;    /* "user:4026532345 mnt:..." */
	char *cgroups;       /* the groups it ran in, one line each */
	char *mounts;        /* its mount table: target, type, options; one line each */
	char **not_enforced; /* one line each; empty unless allow_weaker */
	size_t n_not_enforced;
	char **mechanisms;   /* what was in force, in words: "user namespace", "seccomp allowlist", ... */
	size_t n_mechanisms;
	struct fh_change *changes;
	size_t n_changes;
	bool changes_truncated; /* there were more than are listed */
	char interpreter[512];  /* "" when the command was no interpreter of ours */
	uint64_t started_ms, ended_ms; /* since the epoch */
};

struct fh_result {
	char id[33];
	enum fh_verdict verdict;
	int exit_code; /* the program's own; -1 where there is none */
	int signal;    /* the signal that ended it; 0 where there is none */
	struct fh_stream out, err;
	struct fh_chunk *chunks; /* merged order; NULL unless asked for */
	size_t n_chunks;
	bool chunks_truncated;
	uint64_t queued_us, setup_us, wall_us, user_us, system_us;
	uint64_t peak_memory_bytes, peak_pids, peak_disk_bytes, peak_inodes;
	enum fh_axis limit; /* the limit that fired, FH_AXIS_NONE where none did */
	uint64_t limit_value;
	char *message;      /* one line a person can act on; "" where there is nothing to say */
	int status;         /* the exit status `fumehood` itself would give */
	bool has_receipt;
	struct fh_receipt receipt;
};

const char *fh_verdict_name(enum fh_verdict v);
const char *fh_axis_name(enum fh_axis a);
const char *fh_means_name(enum fh_means m);

/* Frees a result; accepts NULL. */
void fh_result_destroy(struct fh_result *r);

#ifdef __cplusplus
}
#endif
#endif
