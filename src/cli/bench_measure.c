/* Rounds, medians and ratios. The sides take turns (A B C A B C ...), so that what else the machine does
 * falls on all of them alike; a ratio is the median of each round's own ratio. */
#include "cli/bench.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "sys/proc.h"

#define WARM_UPS      3
#define BATCH_REPEATS 5
#define IDLE_MS       150

const unsigned fh_bench_widths[FH_BENCH_WIDTHS] = {1, 2, 8};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts; the nearest rank. */
static double percentile(double *values, size_t n, double part)
{
	size_t rank = (size_t)(part * (double)n + 0.999999);

	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), compare);
	return values[rank < 1 ? 0 : rank > n ? n - 1 : rank - 1];
}

static double median(double *values, size_t n)
{
	return percentile(values, n, 0.5);
}

static double median_ratio(const double *over, const double *under, size_t n, double *scratch)
{
	for (size_t i = 0; i < n; i++)
		scratch[i] = under[i] > 0 ? over[i] / under[i] : 0;
	return median(scratch, n);
}

/* Processor time of this process and everything it waited for. */
static double cpu_ms(void)
{
	struct rusage use[2];
	double sum = 0;

	getrusage(RUSAGE_SELF, &use[0]);
	getrusage(RUSAGE_CHILDREN, &use[1]);
	for (int i = 0; i < 2; i++)
		sum += (double)(use[i].ru_utime.tv_sec + use[i].ru_stime.tv_sec) * 1e3 +
		       (double)(use[i].ru_utime.tv_usec + use[i].ru_stime.tv_usec) / 1e3;
	return sum;
}

/* All samples of one task: [side][round]. */
struct samples {
	size_t rounds;
	double *wall[FH_SIDE_COUNT_], *cpu[FH_SIDE_COUNT_], *phase[FH_MARK_COUNT_], *scratch;
};

static void samples_finish(struct samples *s)
{
	for (int i = 0; i < FH_SIDE_COUNT_; i++) {
		free(s->wall[i]);
		free(s->cpu[i]);
	}
	for (int i = 0; i < FH_MARK_COUNT_; i++)
		free(s->phase[i]);
	free(s->scratch);
}

static bool samples_init(struct samples *s, size_t rounds)
{
	bool ok = true;

	*s = (struct samples){.rounds = rounds, .scratch = calloc(rounds, sizeof(double))};
	for (int i = 0; i < FH_SIDE_COUNT_; i++) {
		s->wall[i] = calloc(rounds, sizeof(double));
		s->cpu[i] = calloc(rounds, sizeof(double));
		ok = ok && s->wall[i] && s->cpu[i];
	}
	for (int i = 0; i < FH_MARK_COUNT_; i++) {
		s->phase[i] = calloc(rounds, sizeof(double));
		ok = ok && s->phase[i];
	}
	return ok && s->scratch;
}

static int one(struct fh_bench *b, enum fh_side side, const struct fh_bench_task *task, struct samples *s,
	       size_t round, struct fh_err *err)
{
	uint64_t marks[FH_MARK_COUNT_] = {0}, ns = 0;
	double cpu = cpu_ms();
	int rc = fh_bench_batch(b, side, task, 1, 1, &ns, side == FH_SIDE_ENGINE ? marks : NULL, err);

	if (rc < 0)
		return rc;
	s->wall[side][round] = (double)ns / 1e6;
	s->cpu[side][round] = cpu_ms() - cpu;
	for (int i = 1; i < FH_MARK_COUNT_ && side == FH_SIDE_ENGINE; i++)
		s->phase[i][round] = marks[i] > marks[i - 1] ? (double)(marks[i] - marks[i - 1]) / 1e6 : 0;
	return 0;
}

static void summarize(const struct fh_bench *b, struct samples *s, struct fh_bench_result *r)
{
	/* Ratios first: a percentile sorts its samples, and then rounds no longer match. */
	for (int side = 0; side < FH_SIDE_COUNT_; side++) {
		struct fh_bench_times *t = &r->side[side];
		if (!b->has[side])
			continue;
		t->to_bare = median_ratio(s->wall[side], s->wall[FH_SIDE_BARE], s->rounds, s->scratch);
		if (b->has[FH_SIDE_BWRAP])
			t->to_bwrap =
			    median_ratio(s->wall[side], s->wall[FH_SIDE_BWRAP], s->rounds, s->scratch);
	}
	for (int side = 0; side < FH_SIDE_COUNT_; side++) {
		struct fh_bench_times *t = &r->side[side];
		t->median_ms = median(s->wall[side], s->rounds);
		t->p99_ms = percentile(s->wall[side], s->rounds, 0.99);
		t->cpu_ms = median(s->cpu[side], s->rounds);
	}
	for (int i = 0; i < FH_MARK_COUNT_; i++)
		r->phase_ms[i] = median(s->phase[i], s->rounds);
}

static int measure_rates(struct fh_bench *b, const struct fh_bench_task *task, struct fh_bench_result *r,
			 struct fh_err *err)
{
	unsigned repeats = b->quick ? 3 : BATCH_REPEATS, count = b->quick ? 8 : 24;
	double rates[FH_SIDE_COUNT_][BATCH_REPEATS];
	int rc = 0;

	for (int w = 0; w < FH_BENCH_WIDTHS; w++) {
		for (unsigned i = 0; i < repeats; i++)
			for (int side = 0; rc == 0 && side < FH_SIDE_COUNT_; side++) {
				uint64_t ns = 0;
				if (!b->has[side])
					continue;
				rc = fh_bench_batch(b, (enum fh_side)side, task, fh_bench_widths[w], count,
						    &ns, NULL, err);
				rates[side][i] = ns ? count / ((double)ns / 1e9) : 0;
			}
		for (int side = 0; rc == 0 && side < FH_SIDE_COUNT_; side++)
			if (b->has[side])
				r->side[side].per_second[w] = median(rates[side], repeats);
	}
	return rc;
}

int fh_bench_measure(struct fh_bench *b, const struct fh_bench_task *task, struct fh_bench_result *r,
		     struct fh_err *err)
{
	struct samples s;
	int rc = samples_init(&s, b->rounds) ? 0 : fh_fail(err, -ENOMEM, "keep %u measurements", b->rounds);

	r->task = task;
	/* Warm-ups write over the first round, and are so forgotten. */
	for (size_t i = 0; rc == 0 && i < WARM_UPS + s.rounds; i++)
		for (int side = 0; rc == 0 && side < FH_SIDE_COUNT_; side++)
			if (b->has[side])
				rc = one(b, (enum fh_side)side, task, &s, i < WARM_UPS ? 0 : i - WARM_UPS,
					 err);
	if (rc == 0)
		summarize(b, &s, r);
	samples_finish(&s);
	rc = rc ? rc : measure_rates(b, task, r, err);
	r->measured = rc == 0;
	return rc;
}

/* The memory of the process that stays beside an idle program. */
int fh_bench_idle(struct fh_bench *b, struct fh_bench_report *report, struct fh_err *err)
{
	static const char *const idle[] = {"sleep", "1", NULL};
	static const enum fh_side sides[] = {FH_SIDE_BWRAP, FH_SIDE_COMMAND, FH_SIDE_COMMAND1};

	for (size_t i = 0; i < FH_ARRAY_LEN(sides); i++) {
		int pid;
		if (!b->has[sides[i]])
			continue;
		pid = fh_bench_spawn(b, sides[i], idle, b->null_fd, b->null_fd);
		if (pid < 0)
			return fh_fail(err, pid, "start an idle program under %s", fh_side_names[sides[i]]);
		(void)poll(NULL, 0, IDLE_MS);
		report->idle_kib[sides[i]] = fh_bench_memory_kib(pid);
		(void)fh_bench_wait(pid);
	}
	return 0;
}

/* The producer, piped into cat: what the same bytes cost with no sandbox in between. */
static int through_pipe(struct fh_bench *b, const char *const *producer, double *ret_ms, struct fh_err *err)
{
	static const char *const cat[] = {"cat", NULL};
	uint64_t start = fh_now_ns();
	int fds[2], writer, reader, rc;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return fh_fail(err, -errno, "create a pipe");
	writer = fh_bench_spawn(b, FH_SIDE_BARE, producer, b->null_fd, fds[1]);
	reader = fh_bench_spawn(b, FH_SIDE_BARE, cat, fds[0], b->null_fd);
	close(fds[0]);
	close(fds[1]);
	rc = writer < 0 ? writer : fh_bench_wait(writer);
	if (reader >= 0)
		rc = fh_bench_wait(reader) < 0 || rc < 0 ? -EIO : 0;
	if (rc < 0 || reader < 0)
		return fh_fail(err, rc < 0 ? rc : reader, "pipe `head` into `cat`");
	*ret_ms = (double)(fh_now_ns() - start) / 1e6;
	return 0;
}

/* The same producer inside, what it prints passed on to /dev/null; the supervisor's memory is looked at
 * meanwhile. */
static int through_sandbox(struct fh_bench *b, const char *const *producer, double usual_ms, double *ret_ms,
			   struct fh_bench_output *o, struct fh_err *err)
{
	const char *words[16] = {b->self, "run", "--wall", "1h", "--cpu", "1h", "--output-stop", "1T", "--"};
	uint64_t start = fh_now_ns(), kib;
	int pid, rc;

	for (size_t i = 0; producer[i] && i < 6; i++)
		words[9 + i] = producer[i];
	pid = fh_bench_spawn(b, FH_SIDE_BARE, words, b->null_fd, b->null_fd);
	if (pid < 0)
		return fh_fail(err, pid, "start %s", b->self);
	for (;;) {
		siginfo_t info = {0};
		double elapsed;
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
			break;
		kib = fh_bench_memory_kib(pid);
		elapsed = (double)(fh_now_ns() - start) / 1e6;
		if (kib > o->memory_kib)
			o->memory_kib = kib;
		if (elapsed < usual_ms / 10 || o->memory_early_kib == 0)
			o->memory_early_kib = kib > o->memory_early_kib ? kib : o->memory_early_kib;
		(void)poll(NULL, 0, 5);
	}
	rc = fh_bench_wait(pid);
	if (rc < 0)
		return fh_fail(err, rc, "print %llu bytes under `fumehood run`",
			       (unsigned long long)b->output_bytes);
	*ret_ms = (double)(fh_now_ns() - start) / 1e6;
	return 0;
}

int fh_bench_output(struct fh_bench *b, struct fh_bench_output *o, struct fh_err *err)
{
	enum { ROUNDS = 3 };
	char count[32];
	const char *const producer[] = {"head", "-c", count, "/dev/zero", NULL};
	double pipe_ms[ROUNDS], sandbox_ms[ROUNDS], scratch[ROUNDS];
	int rc = 0;

	if (!b->has[FH_SIDE_COMMAND])
		return 0;
	snprintf(count, sizeof(count), "%llu", (unsigned long long)b->output_bytes);
	o->bytes = b->output_bytes;
	for (int i = 0; rc == 0 && i < ROUNDS; i++) {
		rc = through_pipe(b, producer, &pipe_ms[i], err);
		rc = rc ? rc : through_sandbox(b, producer, pipe_ms[i], &sandbox_ms[i], o, err);
	}
	if (rc < 0)
		return rc;
	o->ratio = median_ratio(pipe_ms, sandbox_ms, ROUNDS, scratch);
	o->pipe_ms = median(pipe_ms, ROUNDS);
	o->sandbox_ms = median(sandbox_ms, ROUNDS);
	o->measured = true;
	return 0;
}
