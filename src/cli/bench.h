/* Shared by the files of `fumehood bench`: what is measured against what. */
#ifndef FH_CLI_BENCH_H
#define FH_CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "run/run.h"

/* The ways to run one program, measured in turn in every round. */
enum fh_side {
	FH_SIDE_BARE,     /* spawned and waited for: no wall at all */
	FH_SIDE_BWRAP,    /* bubblewrap with the same namespaces and mounts */
	FH_SIDE_COMMAND,  /* `fumehood run -- ...` */
	FH_SIDE_ENGINE,   /* the engine inside this process */
	FH_SIDE_COMMAND1, /* level process, both ways */
	FH_SIDE_ENGINE1,
	FH_SIDE_COUNT_,
};

#define FH_BENCH_ROUNDS_MAX 100000
#define FH_BENCH_WIDTHS     3
#define FH_BENCH_TASKS      3

struct fh_bench {
	struct fh_host *host;
	struct fh_policy policy[2]; /* of the engine: level namespace, level process */
	unsigned rounds;
	uint64_t output_bytes;
	bool quick, json, phases;
	int null_fd;
	const char *self; /* this program */
	bool has[FH_SIDE_COUNT_];
	char why[FH_SIDE_COUNT_][160]; /* why a side is not there */
};

struct fh_bench_task {
	const char *label;
	const char *const *argv;
};

/* What one side took for one task. */
struct fh_bench_times {
	double median_ms, p99_ms, cpu_ms;
	double to_bare, to_bwrap; /* the median of each round's ratio; 0: nothing to compare with */
	double per_second[FH_BENCH_WIDTHS];
};

struct fh_bench_result {
	const struct fh_bench_task *task;
	bool measured;
	struct fh_bench_times side[FH_SIDE_COUNT_];
	double phase_ms[FH_MARK_COUNT_];
};

struct fh_bench_output {
	bool measured;
	uint64_t bytes;
	double pipe_ms, sandbox_ms, ratio; /* ratio: the sandbox's speed in parts of the pipe's */
	uint64_t memory_early_kib,
	    memory_kib; /* of the supervisor, highest; early: after a tenth of the way */
};

struct fh_bench_report {
	struct fh_bench_result tasks[FH_BENCH_TASKS];
	struct fh_bench_output output;
	uint64_t idle_kib[FH_SIDE_COUNT_]; /* memory of the process that supervises one idle program; 0: not
					      measured */
};

extern const unsigned fh_bench_widths[FH_BENCH_WIDTHS];
extern const char *const fh_side_names[FH_SIDE_COUNT_];

/* bench_sides.c: finds out which sides this host has. */
int fh_bench_open(struct fh_bench *b, struct fh_err *err);
void fh_bench_close(struct fh_bench *b);
/* Runs the task `count` times, `width` at a time, and says how long all took. A program that fails is an
 * error. `marks` (may be NULL) gets the engine's marks of the last run. */
int fh_bench_batch(struct fh_bench *b, enum fh_side side, const struct fh_bench_task *task, unsigned width,
		   unsigned count, uint64_t *ret_ns, uint64_t *marks, struct fh_err *err);
/* Starts a program on one of the spawned sides with standard output at `out_fd`; returns its pid or a
 * negative errno. */
int fh_bench_spawn(const struct fh_bench *b, enum fh_side side, const char *const *argv, int in_fd,
		   int out_fd);
/* Waits for a pid; 0, or -EIO when it did not end with status 0. */
int fh_bench_wait(int pid);
/* The highest resident memory of a live process so far, in KiB; 0 when it cannot be read. */
uint64_t fh_bench_memory_kib(int pid);

/* bench_measure.c */
int fh_bench_measure(struct fh_bench *b, const struct fh_bench_task *task, struct fh_bench_result *ret,
		     struct fh_err *err);
int fh_bench_idle(struct fh_bench *b, struct fh_bench_report *report, struct fh_err *err);
int fh_bench_output(struct fh_bench *b, struct fh_bench_output *ret, struct fh_err *err);

/* bench_print.c */
int fh_bench_print(const struct fh_bench *b, const struct fh_bench_report *report, struct fh_buf *into);
int fh_bench_print_json(const struct fh_bench *b, const struct fh_bench_report *report, struct fh_buf *into);

#endif
