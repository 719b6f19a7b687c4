/* Shared by the files of src/run that make up one run; nobody else may include it. */
#ifndef FH_RUN_INTERNAL_H
#define FH_RUN_INTERNAL_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "child/plan.h"
#include "child/steps.h"
#include "isolate/ids.h"
#include "isolate/limits.h"
#include "isolate/planner.h"
#include "isolate/seccomp.h"
#include "run/capture.h"
#include "run/run.h"

#define FH_SETUP_MS_MAX   10000 /* longer means that something of the host hangs */
#define FH_END_MS_MAX     5000  /* a kill that takes longer is reported as our failure */
#define FH_READ_BYTES     (64u << 10) /* small enough to come from the heap: no mapping to make and to undo */
#define FH_CHUNKS_MAX     4096
#define FH_PIPE_BIG_BYTES (1u << 20)

enum fh_phase {
	FH_PHASE_SETUP,   /* cloned, not yet executing the program */
	FH_PHASE_RUNNING, /* exec happened */
	FH_PHASE_ENDING,  /* told to end; its processes are not all gone */
	FH_PHASE_DONE,
};

/* Why we ended it. The first cause stays. */
enum fh_cause {
	FH_CAUSE_NONE, /* it ended by itself */
	FH_CAUSE_WALL,
	FH_CAUSE_CPU,
	FH_CAUSE_MEMORY,
	FH_CAUSE_OUTPUT,
	FH_CAUSE_DISK, /* these two only where a watch holds the axis */
	FH_CAUSE_INODES,
	FH_CAUSE_CANCEL,
	FH_CAUSE_SANDBOX,
};

/* One output stream of the program. */
struct fh_outlet {
	int pipe_fd;  /* -1 once at its end */
	int live_fd;  /* -1: not passed on */
	bool live_ready_always; /* a regular file: cannot be polled, never blocks for long */
	bool live_terminal;     /* it obeys control characters, so it gets none */
	bool after_c2;          /* what went there last was the first byte of a C1 control, or of another character */
	bool reading; /* its pipe is in the epoll set */
	bool pipe_grown;
	size_t pending, pending_done; /* bytes of `buffer` still to be passed on */
	char *buffer; /* FH_READ_BYTES */
	struct fh_capture *capture;
};

/* What weakenings this attempt runs with; each is in the receipt. */
struct fh_weaker {
	bool level_process, plain_trees, no_proc, no_landlock, no_cgroupns;
};

struct fh_run {
	struct fh_host *host;
	struct fh_policy policy;
	const struct fh_spec *spec;
	void (*release)(const struct fh_spec *spec);
	struct fh_weaker weaker;
	char id[33];

	/* The plan and what it holds. */
	struct fh_planner planner;
	struct fh_plan plan;
	struct fh_filter filter;
	struct fh_ids ids;
	struct fh_cgroup *cgroup;
	struct fh_limit_means means;
	struct fh_landlock landlock;
	unsigned n_cpus;
	bool all_cpus;
	char *private_dir; /* level 1: HOME, TMPDIR and workspace; removed at the end */
	int userns_fd;     /* level 2, ordinary user with sub-ids: to look at the disk as its owner */

	/* Channels, our ends. */
	int epoll_fd, timer_fd;
	int barrier_fd, status_fd, report_fd;
	int child_pidfd, program_pidfd, stage_fd;
	pid_t child_pid, program_pid;
	int stdin_fd;
	bool stdin_source_polled;
	size_t stdin_done;
	char *stdin_buffer;
	size_t stdin_pending, stdin_pending_done;
	struct fh_outlet out[2];

	/* Where it stands. */
	enum fh_phase phase;
	enum fh_cause cause;
	char cancel_reason[128];
	bool namespaces_refused; /* the clone itself failed, as it does where namespaces are not allowed */
	bool joined_v2; /* cloned into its v2 group */
	bool child_reaped, program_ended, all_gone, exec_seen;
	int program_status;
	int64_t user_us, system_us, maxrss_kb;
	struct fh_err failure; /* why the sandbox failed, when it did */
	bool again;            /* the caller allows to do without what failed: start once more */
	uint64_t created_ns, started_ns, ended_ns, deadline_ns, kill_deadline_ns;
	uint64_t started_clock_ms;
	uint64_t marks[FH_MARK_COUNT_];

	/* Watched maxima. */
	uint64_t stage_blocks_start, stage_inodes_start; /* taken by ourselves */
	uint64_t disk_now_bytes; /* of the disk in memory, at the last look */
	uint64_t peak_disk_bytes, peak_inodes, peak_memory_bytes, peak_pids, watched_cpu_us;
	uint64_t folder_bytes_start, folder_inodes_start; /* of a folder of the host that is worked on directly */
	uint64_t folder_next_ns;                          /* when to walk it again */
	bool disk_full_seen, inodes_full_seen, pids_full_seen;
	struct fh_chunk *chunks;
	size_t n_chunks;
	bool chunks_truncated;

	struct fh_changes_baseline *changes_before; /* for a folder that is worked on directly */
	struct fh_result *result;
};

static inline void fh_run_mark(struct fh_run *run, enum fh_mark mark)
{
	run->marks[mark] = fh_now_ns();
}

/* prepare.c */
int fh_run_prepare(struct fh_run *run, struct fh_err *err);
/* launch.c */
int fh_run_launch(struct fh_run *run, struct fh_err *err);
/* outlets.c */
int fh_outlets_open(struct fh_run *run, struct fh_err *err);
void fh_outlet_ready(struct fh_run *run, int which);      /* its pipe has bytes or ended */
void fh_outlet_live_ready(struct fh_run *run, int which); /* the far end takes bytes again */
void fh_outlets_drain(struct fh_run *run);                /* everybody who could write is gone */
void fh_outlets_close(struct fh_run *run);
/* feed.c */
int fh_feed_open(struct fh_run *run, int *ret_child_fd, struct fh_err *err);
void fh_feed_ready(struct fh_run *run);
void fh_feed_close(struct fh_run *run);
/* sample.c */
void fh_sample_start(struct fh_run *run);          /* what is used before the program is executed */
void fh_sample(struct fh_run *run);                /* looks at what the kernel does not cap for us */
uint64_t fh_sample_next_ns(const struct fh_run *run); /* when to look next */
/* supervise.c */
void fh_run_end(struct fh_run *run, enum fh_cause cause);
void fh_run_fail(struct fh_run *run, const struct fh_err *why);
/* Waits up to timeout_ms (-1: as long as it takes) for events and handles them. True when everything is over. */
int fh_run_step_events(struct fh_run *run, int timeout_ms);
/* failure.c: a step record in words; *ret gets kind and text. */
void fh_failure_explain(const struct fh_run *run, const struct fh_step_failure *record, struct fh_err *ret);
/* Tries to make do without what failed, where the caller allowed it: true to start again. */
bool fh_failure_weaken(struct fh_run *run, const struct fh_step_failure *record);
/* posture.c */
int fh_posture_read(struct fh_run *run, struct fh_receipt *ret, struct fh_err *err);
/* verdict.c */
int fh_verdict_make(struct fh_run *run);

#define FH_EPOLL_TAGS                                                                                                  \
	FH_TAG(STATUS) FH_TAG(REPORT) FH_TAG(OUT) FH_TAG(ERR) FH_TAG(STDIN) FH_TAG(STDIN_SOURCE) FH_TAG(LIVE_OUT)      \
	FH_TAG(LIVE_ERR) FH_TAG(TIMER) FH_TAG(OOM) FH_TAG(CHILD)
enum fh_tag {
#define FH_TAG(t) FH_TAG_##t,
	FH_EPOLL_TAGS
#undef FH_TAG
};

/* supervise.c: the epoll set. `events` 0 removes. */
int fh_run_watch_fd(struct fh_run *run, int fd, uint32_t events, enum fh_tag tag);

#endif
