/* The sides of a comparison: how each starts a program and how we wait for it. Everything is started from
 * this one process, so that the sides share its load, its priority and its groups. */
#include "cli/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "fumehood/result.h"

#define WIDTH_MAX 8
#define ARGS_MAX  64

const char *const fh_side_names[FH_SIDE_COUNT_] = {
    "bare spawn",
    "bubblewrap",
    "fumehood run",
    "fumehood engine",
    "fumehood run, level 1",
    "fumehood engine, level 1",
};

extern char **environ;

/* The namespaces, mounts and folders that level 2 makes, as far as bubblewrap has them. */
static const char *const bwrap_words[] = {"bwrap",
					  "--unshare-all",
					  "--die-with-parent",
					  "--ro-bind",
					  "/usr",
					  "/usr",
					  "--symlink",
					  "usr/bin",
					  "/bin",
					  "--symlink",
					  "usr/lib",
					  "/lib",
					  "--symlink",
					  "usr/lib64",
					  "/lib64",
					  "--proc",
					  "/proc",
					  "--dev",
					  "/dev",
					  "--tmpfs",
					  "/tmp",
					  "--chdir",
					  "/",
					  "--",
					  NULL};

static bool is_engine(enum fh_side side)
{
	return side == FH_SIDE_ENGINE || side == FH_SIDE_ENGINE1;
}

static size_t add_words(const char **into, size_t at, const char *const *words)
{
	for (; *words && at + 1 < ARGS_MAX; words++)
		into[at++] = *words;
	into[at] = NULL;
	return at;
}

static const char *full_argv(const struct fh_bench *b, enum fh_side side, const char *const *argv,
			     const char **into)
{
	const char *const run2[] = {b->self, "run", "--", NULL};
	const char *const run1[] = {b->self, "run", "--level", "process", "--", NULL};
	size_t n = 0;

	if (side == FH_SIDE_BWRAP)
		n = add_words(into, 0, bwrap_words);
	else if (side == FH_SIDE_COMMAND)
		n = add_words(into, 0, run2);
	else if (side == FH_SIDE_COMMAND1)
		n = add_words(into, 0, run1);
	add_words(into, n, argv);
	return into[0];
}

int fh_bench_spawn(const struct fh_bench *b, enum fh_side side, const char *const *argv, int in_fd,
		   int out_fd)
{
	posix_spawn_file_actions_t actions;
	const char *words[ARGS_MAX];
	const char *program = full_argv(b, side, argv, words);
	pid_t pid = -1;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return -rc;
	rc = posix_spawn_file_actions_adddup2(&actions, in_fd, 0);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, b->null_fd, 2);
	rc = rc ? rc : posix_spawnp(&pid, program, &actions, NULL, (char *const *)(uintptr_t)words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return rc ? -rc : (int)pid;
}

int fh_bench_wait(int pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

uint64_t fh_bench_memory_kib(int pid)
{
	char path[40], text[4096];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "\nVmHWM:");
	return line ? strtoull(line + 7, NULL, 10) : 0;
}

static int fail_side(enum fh_side side, const struct fh_bench_task *task, int rc, struct fh_err *err)
{
	return fh_fail(err, rc, "run '%s' under %s", task->label, fh_side_names[side]);
}

static int batch_spawned(struct fh_bench *b, enum fh_side side, const struct fh_bench_task *task,
			 unsigned width, unsigned count, struct fh_err *err)
{
	int pids[WIDTH_MAX];
	unsigned started = 0, ended = 0;
	int rc = 0;

	/* The oldest is waited for first: with programs that are all alike a better choice changes nothing.
	 */
	while (ended < started || (rc == 0 && started < count)) {
		if (rc == 0 && started < count && started - ended < width) {
			int pid = fh_bench_spawn(b, side, task->argv, b->null_fd, b->null_fd);
			if (pid < 0)
				rc = fail_side(side, task, pid, err);
			else
				pids[started++ % WIDTH_MAX] = pid;
			continue;
		}
		int ended_rc = fh_bench_wait(pids[ended++ % WIDTH_MAX]);
		if (ended_rc < 0 && rc == 0)
			rc = fail_side(side, task, ended_rc, err);
	}
	return rc;
}

/* Takes the result of a run that is over. */
static int end_run(struct fh_run *run, enum fh_side side, const struct fh_bench_task *task, uint64_t *marks,
		   struct fh_err *err)
{
	struct fh_result *result = fh_run_take_result(run);
	int rc = 0;

	if (!result || result->verdict != FH_VERDICT_OK)
		rc = fh_fail(err, -EIO, "run '%s' under %s (%s)", task->label, fh_side_names[side],
			     result && result->message ? result->message : "no result");
	if (marks)
		fh_run_marks(run, marks);
	fh_result_destroy(result);
	fh_run_destroy(run);
	return rc;
}

static int batch_engine(struct fh_bench *b, enum fh_side side, const struct fh_bench_task *task,
			unsigned width, unsigned count, uint64_t *marks, struct fh_err *err)
{
	struct fh_run *runs[WIDTH_MAX] = {NULL};
	struct pollfd fds[WIDTH_MAX];
	unsigned started = 0, live = 0;
	struct fh_spec spec;
	int rc = 0;

	fh_spec_init(&spec);
	spec.argv = task->argv;
	while (live > 0 || (rc == 0 && started < count)) {
		for (unsigned i = 0; i < width && rc == 0 && started < count; i++) {
			if (runs[i])
				continue;
			rc = fh_run_start(b->host, &b->policy[side == FH_SIDE_ENGINE1], &spec, &runs[i], err);
			started += rc == 0;
			live += rc == 0;
		}
		for (unsigned i = 0; i < width; i++)
			fds[i] = (struct pollfd){runs[i] ? fh_run_fd(runs[i]) : -1, POLLIN, 0};
		if (width == 1 && live)
			fh_run_wait(runs[0]);
		else if (live)
			(void)poll(fds, width, -1);
		for (unsigned i = 0; i < width; i++) {
			struct fh_err ignored;
			if (!runs[i] || !fh_run_step(runs[i]))
				continue;
			int ended_rc = end_run(runs[i], side, task, marks, rc ? &ignored : err);
			rc = rc ? rc : ended_rc;
			runs[i] = NULL;
			live--;
		}
	}
	return rc;
}

int fh_bench_batch(struct fh_bench *b, enum fh_side side, const struct fh_bench_task *task, unsigned width,
		   unsigned count, uint64_t *ret_ns, uint64_t *marks, struct fh_err *err)
{
	uint64_t start = fh_now_ns();
	int rc;

	if (is_engine(side))
		rc = batch_engine(b, side, task, width, count, marks, err);
	else
		rc = batch_spawned(b, side, task, width, count, err);
	if (rc == 0)
		*ret_ns = fh_now_ns() - start;
	/* What a side left running (bubblewrap does not wait for its own init) is ours now. Not timed, but
	 * its processor time counts, and it must not disturb whoever comes next. */
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		;
	return rc;
}

/* A side is there when it runs `true`. */
static void probe(struct fh_bench *b, enum fh_side side)
{
	static const char *const words[] = {"true", NULL};
	const struct fh_bench_task task = {"true", words};
	struct fh_err why = {0};
	uint64_t ns;

	b->has[side] = fh_bench_batch(b, side, &task, 1, 1, &ns, NULL, &why) == 0;
	if (b->has[side])
		return;
	if (side == FH_SIDE_BWRAP && why.code == -ENOENT)
		snprintf(b->why[side], sizeof(b->why[side]),
			 "not installed (Debian: apt-get install bubblewrap)");
	else
		snprintf(b->why[side], sizeof(b->why[side]), "%.150s", why.message);
}

int fh_bench_open(struct fh_bench *b, struct fh_err *err)
{
	int rc;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return fh_fail(err, -errno, "become the reaper of what the sides leave behind");
	b->self = "/proc/self/exe"; /* this very program, also when its file is replaced meanwhile */
	b->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (b->null_fd < 0)
		return fh_fail(err, -errno, "open /dev/null");
	rc = fh_host_open(&b->host, err);
	if (rc < 0)
		return rc;
	for (int i = 0; i < 2; i++)
		fh_policy_init(&b->policy[i]);
	b->policy[1].level = FH_LEVEL_PROCESS;
	for (int side = 0; side < FH_SIDE_COUNT_; side++)
		probe(b, (enum fh_side)side);
	return 0;
}

void fh_bench_close(struct fh_bench *b)
{
	for (int i = 0; i < 2; i++)
		fh_policy_finish(&b->policy[i]);
	fh_host_close(b->host);
	fh_close(&b->null_fd);
}
