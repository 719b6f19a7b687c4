/* Emptying a workspace: deep, wide, locked, busy and mounted trees. */
#include "isolate/pathguard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/own.h"
#include "isolate/pathguard_steps.h"

#define SECOND 1000000000ull

static char base_path[128];
static int base = -1, ws = -1;

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(base_path, sizeof(base_path), "%s/fh-empty-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(base_path));
	base = open(base_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(base >= 0);
	assert_int_equal(mkdirat(base, "ws", 0755), 0);
	assert_int_equal(mkdirat(base, "out", 0755), 0);
	assert_int_equal(mkdirat(base, "out/keep", 0755), 0);
	ws = openat(base, "ws", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(ws >= 0);
	return 0;
}

static int setup_steps(void **state)
{
	fh_guard_resolve_by(FH_GUARD_STEPS);
	return setup(state);
}

static int teardown(void **state)
{
	fh_guard_resolve_by(FH_GUARD_AUTO);
	/* What is outside is still there: each of these fails otherwise. */
	assert_int_equal(unlinkat(base, "out/keep", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(base, "out", AT_REMOVEDIR), 0);
	/* Empty, but not removed. */
	assert_int_equal(unlinkat(base, "ws", AT_REMOVEDIR), 0);
	fh_close(&ws);
	fh_close(&base);
	assert_int_equal(rmdir(base_path), 0);
	return 0;
}

static void empty_ws(void)
{
	struct fh_err err = {0};

	if (fh_guard_empty(ws, fh_now_ns() + 60 * SECOND, &err) < 0)
		fail_msg("%s", err.message);
}

static void touch(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	close(fd);
}

static void nothing_and_little(void **state)
{
	empty_ws();
	touch(ws, "f");
	touch(ws, ".hidden");
	assert_int_equal(symlinkat("../out", ws, "link"), 0);
	assert_int_equal(symlinkat("nowhere", ws, "dangling"), 0);
	assert_int_equal(mkfifoat(ws, "fifo", 0600), 0);
	assert_int_equal(mkdirat(ws, "d", 0755), 0);
	touch(ws, "d/f");
	assert_int_equal(symlinkat("../../out", ws, "d/link"), 0);
	empty_ws();
}

/* Far beyond what a path may name and what fds could be held for. */
static void deep(void **state)
{
	enum { DEPTH = 3000 };
	int at = dup(ws);
	struct rlimit few = {64, 64}, before;

	touch(ws, "f");
	for (int i = 0; i < DEPTH; i++) {
		int next;

		assert_int_equal(mkdirat(at, "d", i % 3 ? 0755 : 0700), 0);
		assert_int_equal(linkat(ws, "f", at, "l", 0), 0);
		next = openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(at);
		at = next;
	}
	close(at);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	empty_ws();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Names by the ten thousand; hard links, since some file systems take a millisecond for each new inode. */
static void wide(void **state)
{
	char name[64];

	touch(ws, "f");
	for (int i = 0; i < 50000; i++) {
		snprintf(name, sizeof(name), "entry-%d", i);
		if (i % 100) {
			assert_int_equal(linkat(ws, "f", ws, name, 0), 0);
			continue;
		}
		assert_int_equal(mkdirat(ws, name, 0755), 0);
		if (i % 1000)
			continue;
		snprintf(name, sizeof(name), "entry-%d/inner", i);
		assert_int_equal(mkdirat(ws, name, 0755), 0);
		snprintf(name, sizeof(name), "entry-%d/inner/f", i);
		assert_int_equal(linkat(ws, "f", ws, name, 0), 0);
	}
	empty_ws();
}

/* Runs `body` in a child without capabilities: they would make modes mean nothing. */
static void as_nobody(int (*body)(void))
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(syscall(SYS_capset, &head, none) < 0 ? 99 : body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int locked_body(void)
{
	struct fh_err err = {0};

	/* mode 000 at the top, inside, with a directory inside that must be moved, and read-only ones. */
	if (mkdirat(ws, "a", 0700) || mkdirat(ws, "a/b", 0700) || mkdirat(ws, "a/b/c", 0700) ||
	    mkdirat(ws, "a/b/c/d", 0700) || mkdirat(ws, "r", 0700) || mkdirat(ws, "r/s", 0700) ||
	    mkdirat(ws, "r/s/t", 0700) || mkdirat(ws, "z", 0))
		return 1;
	if (fchmodat(ws, "a/b/c/d", 0, 0) || fchmodat(ws, "a/b/c", 0, 0) || fchmodat(ws, "a/b", 0, 0) ||
	    fchmodat(ws, "a", 0, 0) || fchmodat(ws, "r/s", 0500, 0) || fchmodat(ws, "r", 0500, 0) ||
	    fchmodat(base, "ws", 0, 0))
		return 2;
	if (fh_guard_empty(ws, fh_now_ns() + 20 * SECOND, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 3;
	}
	return 0;
}

static void locked(void **state)
{
	as_nobody(locked_body);
}

static atomic_bool stop;
static atomic_uint filled;

static void *fill(void *arg)
{
	char name[64];

	for (unsigned i = 0; !atomic_load(&stop) && i < 10000000; i++) {
		int fd;

		snprintf(name, sizeof(name), "%s/n%u", i % 2 ? "d" : ".", i % 5000);
		fd = openat(ws, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
		(void)!mkdirat(ws, "d", 0700);
		(void)!mkdirat(ws, "d/e", 0700);
		(void)!symlinkat("../../out", ws, "d/e/out");
		/* A directory that becomes a way out, and back. */
		(void)!mkdirat(ws, "s", 0700);
		(void)!mkdirat(ws, "s/keep", 0700);
		(void)!unlinkat(ws, "s/keep", AT_REMOVEDIR);
		(void)!unlinkat(ws, "s", AT_REMOVEDIR);
		(void)!symlinkat("../out", ws, "s");
		(void)!unlinkat(ws, "s", 0);
		atomic_fetch_add(&filled, 1);
	}
	return NULL;
}

static void filled_meanwhile(void **state)
{
	struct fh_err err = {0};
	int ran_out = 0;
	pthread_t t;

	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&t, NULL, fill, NULL), 0);
	for (int i = 0; i < 4; i++) {
		uint64_t start;
		int rc;

		atomic_store(&filled, 0);
		for (int ms = 0; ms < 5000 && atomic_load(&filled) < 200; ms++)
			usleep(1000);
		start = fh_now_ns();
		rc = fh_guard_empty(ws, start + SECOND / 2, &err);
		/* Either it was quick enough to see an empty directory once, or time ran out. */
		assert_true(rc == 0 || rc == -ETIMEDOUT);
		assert_true(fh_now_ns() - start < 5 * SECOND);
		ran_out += rc == -ETIMEDOUT;
	}
	print_message("ran out of time in %d of 4 rounds\n", ran_out);
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	empty_ws();
}

static void deadline_is_kept(void **state)
{
	struct fh_err err = {0};

	touch(ws, "f");
	assert_int_equal(fh_guard_empty(ws, fh_now_ns() - 1, &err), -ETIMEDOUT);
	assert_int_equal(faccessat(ws, "f", F_OK, 0), 0);
	empty_ws();
}

static int mounted_body(void)
{
	struct fh_err err = {0};
	char path[200], out[200];
	int rc;

	/* A bind mount of the same file system: device numbers would not tell. */
	snprintf(path, sizeof(path), "%s/ws/a/b/m", base_path);
	snprintf(out, sizeof(out), "%s/out", base_path);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(out, path, NULL, MS_BIND, NULL) < 0)
		return 10;
	snprintf(path, sizeof(path), "%s/ws", base_path);
	fh_autofd int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	rc = fh_guard_empty(root, fh_now_ns() + 10 * SECOND, &err);
	if (rc != -EBUSY || faccessat(base, "out/keep", F_OK, 0) < 0)
		return 11;
	if (fh_guard_open_dir(root, "a/b/m", &err) != -EXDEV &&
	    fh_guard_open_dir(root, "a/b/m", &err) != -ENOENT)
		return 12;
	snprintf(path, sizeof(path), "%s/ws/top", base_path);
	if (mkdirat(root, "top", 0755) < 0 || mount(out, path, NULL, MS_BIND, NULL) < 0)
		return 13;
	if (fh_guard_open_dir(root, "top", &err) != -EXDEV ||
	    fh_guard_open_file(root, "top/x", NULL, &err) != -EXDEV)
		return 14;
	return fh_guard_empty(root, fh_now_ns() + 10 * SECOND, &err) == -EBUSY ? 0 : 15;
}

static void mounts_are_not_crossed(void **state)
{
	int status;
	pid_t pid;

	assert_int_equal(mkdirat(ws, "a", 0755), 0);
	assert_int_equal(mkdirat(ws, "a/b", 0755), 0);
	assert_int_equal(mkdirat(ws, "a/b/m", 0755), 0);
	touch(ws, "a/f");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0)
			_exit(77);
		_exit(mounted_body());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	empty_ws();
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("mounts not tried: a mount namespace of our own needs root\n");
		skip();
	}
	assert_int_equal(status, 0);
}

#define BOTH(f)                                                                                              \
	cmocka_unit_test_setup_teardown(f, setup, teardown),                                                 \
	{                                                                                                    \
#f " step by step", f, setup_steps, teardown, NULL                                           \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    BOTH(nothing_and_little),
	    BOTH(deep),
	    cmocka_unit_test_setup_teardown(wide, setup, teardown),
	    BOTH(locked),
	    BOTH(filled_meanwhile),
	    BOTH(deadline_is_kept),
	    BOTH(mounts_are_not_crossed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
