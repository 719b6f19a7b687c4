/* Files of a hostile workspace: nothing leads outside, nothing hangs, nothing is unbounded. Each test runs
 * twice, with openat2 and with the step-by-step fallback. */
#include "isolate/pathguard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "formats/utf8.h"
#include "isolate/pathguard_steps.h"

#define SECOND 1000000000ull
#define CANARY "the canary, which nobody may read or write\n"

/* base/ws is the workspace, base/out holds the canary, base/ws-evil is a sibling with the workspace's name in
 * front. */
static char base_path[128];
static int base = -1, ws = -1;

static void write_at(int dir, const char *path, const char *text)
{
	fh_autofd int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(fh_write_all(fd, text, strlen(text)), 0);
}

static void assert_content(int dir, const char *path, const char *text)
{
	fh_autobuf got;

	fh_buf_init(&got, 1 << 20);
	assert_int_equal(fh_read_file_at(dir, path, &got), 0);
	assert_string_equal(fh_buf_str(&got), text);
}

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(base_path, sizeof(base_path), "%s/fh-guard-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(base_path));
	base = open(base_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(base >= 0);
	assert_int_equal(mkdirat(base, "ws", 0755), 0);
	assert_int_equal(mkdirat(base, "out", 0755), 0);
	assert_int_equal(mkdirat(base, "ws-evil", 0755), 0);
	write_at(base, "out/canary", CANARY);
	write_at(base, "ws-evil/canary", CANARY);
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
	struct fh_err err = {0};

	fh_guard_resolve_by(FH_GUARD_AUTO);
	assert_content(base, "out/canary", CANARY);
	assert_content(base, "ws-evil/canary", CANARY);
	if (fh_guard_empty(base, fh_now_ns() + 30 * SECOND, &err) < 0)
		fail_msg("%s", err.message);
	fh_close(&ws);
	fh_close(&base);
	assert_int_equal(rmdir(base_path), 0);
	return 0;
}

static int get(const char *path, uint64_t cap, char *into, size_t room, struct fh_err *err)
{
	fh_autofd int fd = memfd_create("got", MFD_CLOEXEC);
	uint64_t bytes = UINT64_MAX;
	int rc;

	assert_true(fd >= 0);
	rc = fh_guard_get(ws, path, fd, cap, &bytes, err);
	if (rc < 0) {
		assert_true(bytes == UINT64_MAX);
		assert_int_equal(err->code, rc);
	}
	if (into) {
		ssize_t n = pread(fd, into, room - 1, 0);

		assert_true(n >= 0);
		into[n] = '\0';
		if (rc == 0)
			assert_int_equal(bytes, n);
	}
	return rc;
}

static int put(const char *path, const char *text, uint64_t cap, unsigned flags, struct fh_err *err)
{
	int fds[2];
	int rc;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(fh_write_all(fds[1], text, strlen(text)), 0);
	close(fds[1]);
	rc = fh_guard_put(ws, path, fds[0], cap, flags, err);
	close(fds[0]);
	return rc;
}

static int count_entry(const struct fh_guard_entry *e, void *arg)
{
	++*(int *)arg;
	return 0;
}

static int list_count(const char *path, size_t max, int *ret)
{
	struct fh_err err = {0};

	*ret = 0;
	return fh_guard_list(ws, path, max, count_entry, ret, &err);
}

static void text_alone_refuses(void **state)
{
	static const char *const bad[] = {
	    "",       "/",       "/etc/passwd",       "..",  "../out/canary", "a/..",
	    "a/../b", "a//../b", "../ws-evil/canary", "./.."};
	static const char *const good[] = {".",   "a",   "a/",   "a//b",     "./a", "...",
					   "..a", "a..", "a/.b", "\x1b[31m", "\xff"};
	char long_name[400], *long_path = malloc(5000);
	struct fh_err err;

	for (size_t i = 0; i < FH_ARRAY_LEN(bad); i++) {
		err.code = 0;
		assert_int_equal(fh_guard_check(bad[i], &err), -EINVAL);
		assert_int_equal(err.kind, FH_ERR_USAGE);
		assert_int_equal(get(bad[i], 100, NULL, 0, &err), -EINVAL);
		assert_int_equal(put(bad[i], "x", 100, FH_GUARD_PARENTS, &err), -EINVAL);
	}
	for (size_t i = 0; i < FH_ARRAY_LEN(good); i++)
		assert_int_equal(fh_guard_check(good[i], &err), 0);
	memset(long_name, 'n', sizeof(long_name));
	long_name[256] = '\0';
	assert_int_equal(fh_guard_check(long_name, &err), -EINVAL);
	long_name[255] = '\0';
	assert_int_equal(fh_guard_check(long_name, &err), 0);
	assert_non_null(long_path);
	for (int i = 0; i < 5000; i++)
		long_path[i] = i % 2 ? '/' : 'p';
	long_path[4097] = '\0';
	assert_int_equal(fh_guard_check(long_path, &err), -EINVAL);
	long_path[4096] = '\0';
	assert_int_equal(fh_guard_check(long_path, &err), 0);
	free(long_path);
}

static void root_is_a_directory_and_no_link(void **state)
{
	char path[200];
	struct fh_err err = {0};
	int fd;

	snprintf(path, sizeof(path), "%s/ws//", base_path);
	fd = fh_guard_open_root(path, &err);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(symlinkat("ws", base, "ws-link"), 0);
	snprintf(path, sizeof(path), "%s/ws-link", base_path);
	assert_int_equal(fh_guard_open_root(path, &err), -ELOOP);
	snprintf(path, sizeof(path), "%s/ws-link/", base_path);
	assert_int_equal(fh_guard_open_root(path, &err), -ELOOP);
	snprintf(path, sizeof(path), "%s/out/canary", base_path);
	assert_int_equal(fh_guard_open_root(path, &err), -ENOTDIR);
	snprintf(path, sizeof(path), "%s/none", base_path);
	assert_int_equal(fh_guard_open_root(path, &err), -ENOENT);
	assert_int_equal(fh_guard_open_root("", &err), -EINVAL);
}

static void put_get_and_list_agree(void **state)
{
	struct fh_err err = {0};
	struct stat st;
	char got[100];
	int n;

	assert_int_equal(put("a", "hello", 5, 0, &err), 0);
	assert_int_equal(get("a", 5, got, sizeof(got), &err), 0);
	assert_string_equal(got, "hello");
	assert_int_equal(get("./a", 100, got, sizeof(got), &err), 0);
	assert_int_equal(put("empty", "", 0, 0, &err), 0);
	assert_int_equal(get("empty", 0, got, sizeof(got), &err), 0);
	assert_string_equal(got, "");
	assert_int_equal(put("x/y//z", "deep", 100, 0, &err), -ENOENT);
	assert_int_equal(put("x/y//z", "deep", 100, FH_GUARD_PARENTS | FH_GUARD_EXECUTABLE, &err), 0);
	assert_int_equal(get("x/y/z", 100, got, sizeof(got), &err), 0);
	assert_string_equal(got, "deep");
	assert_int_equal(fstatat(ws, "x/y/z", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(fstatat(ws, "a", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(list_count(".", 100, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(list_count("x/", 100, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(get("none", 10, NULL, 0, &err), -ENOENT);
	assert_int_equal(get("x", 10, NULL, 0, &err), -EINVAL);
	assert_int_equal(get("a/", 10, NULL, 0, &err), -ENOTDIR);
	assert_int_equal(list_count("a", 100, &n), -ENOTDIR);
	assert_int_equal(put("x", "t", 10, 0, &err), -EISDIR);
	assert_int_equal(put("new/", "t", 10, FH_GUARD_PARENTS, &err), -EISDIR);
	assert_int_equal(fstatat(ws, "new", &st, 0), -1);
	assert_int_equal(put("a/b", "t", 10, FH_GUARD_PARENTS, &err), -ENOTDIR);
}

static void caps_count_bytes_read(void **state)
{
	struct fh_err err = {0};
	char got[100];
	uint64_t start = fh_now_ns();
	int n;

	write_at(ws, "five", "12345");
	assert_int_equal(get("five", 4, got, sizeof(got), &err), -EFBIG);
	assert_string_equal(got, "1234");
	assert_int_equal(get("five", 5, got, sizeof(got), &err), 0);
	assert_int_equal(get("five", 0, got, sizeof(got), &err), -EFBIG);
	assert_int_equal(get("five", UINT64_MAX, got, sizeof(got), &err), 0);
	/* A refused put leaves what was there, and nothing beside it. */
	assert_int_equal(put("five", "123456", 5, 0, &err), -EFBIG);
	assert_content(ws, "five", "12345");
	assert_int_equal(list_count(".", 100, &n), 0);
	assert_int_equal(n, 1);

	fh_autofd int big = openat(ws, "sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(big >= 0);
	assert_int_equal(ftruncate(big, 1ll << 40), 0);
	assert_int_equal(get("sparse", 1 << 20, NULL, 0, &err), -EFBIG);
	assert_true(fh_now_ns() - start < 5 * SECOND);
}

static void links_are_not_followed(void **state)
{
	static const char *const targets[] = {NULL,   "../out/canary", "nowhere",
					      "loop", "inside",        "/etc/hostname"};
	char absolute[200], got[100], link[300];
	struct fh_err err = {0};
	int n;

	snprintf(absolute, sizeof(absolute), "%s/out/canary", base_path);
	write_at(ws, "inside", "inside");
	for (size_t i = 0; i < FH_ARRAY_LEN(targets); i++) {
		const char *to = targets[i] ? targets[i] : absolute;

		assert_int_equal(symlinkat(to, ws, "loop"), 0);
		assert_int_equal(get("loop", 100, got, sizeof(got), &err), -ELOOP);
		assert_string_equal(got, "");
		/* Put replaces the link itself. */
		assert_int_equal(put("loop", "mine", 100, 0, &err), 0);
		assert_int_equal(get("loop", 100, got, sizeof(got), &err), 0);
		assert_string_equal(got, "mine");
		assert_content(ws, "inside", "inside");
		assert_int_equal(unlinkat(ws, "loop", 0), 0);
	}
	snprintf(link, sizeof(link), "%s/out", base_path);
	assert_int_equal(symlinkat(link, ws, "dir"), 0);
	assert_int_equal(symlinkat("../out", ws, "up"), 0);
	assert_int_equal(symlinkat("/proc/self/cwd", ws, "magic"), 0);
	assert_int_equal(get("dir/canary", 100, got, sizeof(got), &err), -ELOOP);
	assert_int_equal(get("up/canary", 100, got, sizeof(got), &err), -ELOOP);
	assert_int_equal(get("magic/x", 100, got, sizeof(got), &err), -ELOOP);
	assert_int_equal(put("dir/new", "x", 100, FH_GUARD_PARENTS, &err), -ELOOP);
	assert_int_equal(put("up/a/b", "x", 100, FH_GUARD_PARENTS, &err), -ELOOP);
	assert_int_equal(put("up/canary", "x", 100, 0, &err), -ELOOP);
	assert_int_equal(list_count("dir", 100, &n), -ELOOP);
	assert_int_equal(list_count("dir/", 100, &n), -ELOOP);
	assert_int_equal(list_count("up/.", 100, &n), -ELOOP);
	assert_int_equal(faccessat(base, "out/new", F_OK, 0), -1);
	assert_int_equal(faccessat(base, "out/a", F_OK, 0), -1);
}

static void odd_files_never_hang(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "fh-guard-sock"};
	fh_autofd int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
		      cwd = open(".", O_PATH | O_CLOEXEC);
	uint64_t start = fh_now_ns();
	struct fh_err err = {0};
	struct stat st;
	int n;

	assert_int_equal(mkfifoat(ws, "fifo", 0666), 0);
	assert_int_equal(fchdir(ws), 0);
	assert_int_equal(bind(sock, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(fchdir(cwd), 0);
	assert_int_equal(get("fifo", 100, NULL, 0, &err), -EINVAL);
	assert_non_null(strstr(err.message, "FIFO"));
	assert_int_equal(get("fh-guard-sock", 100, NULL, 0, &err), -EINVAL);
	assert_non_null(strstr(err.message, "socket"));
	if (mknodat(ws, "zero", S_IFCHR | 0666, makedev(1, 5)) == 0) {
		assert_int_equal(get("zero", 100, NULL, 0, &err), -EINVAL);
		assert_non_null(strstr(err.message, "device"));
		assert_int_equal(put("zero", "z", 100, 0, &err), 0);
	} else {
		print_message("device nodes not tried: mknod is refused here (%s)\n", strerror(errno));
	}
	assert_int_equal(list_count(".", 100, &n), 0);
	assert_int_equal(list_count("fifo", 100, &n), -ENOTDIR);
	assert_int_equal(put("fifo/x", "z", 100, FH_GUARD_PARENTS, &err), -ENOTDIR);
	assert_int_equal(put("fifo", "was a fifo", 100, 0, &err), 0);
	assert_int_equal(fstatat(ws, "fifo", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_true(fh_now_ns() - start < 5 * SECOND);
}

static void hard_link_is_replaced_not_written(void **state)
{
	struct fh_err err = {0};
	struct stat before, after;

	assert_int_equal(linkat(base, "out/canary", ws, "hard", 0), 0);
	assert_int_equal(fstatat(base, "out/canary", &before, 0), 0);
	assert_int_equal(put("hard", "new content", 100, FH_GUARD_EXECUTABLE, &err), 0);
	assert_content(ws, "hard", "new content");
	assert_content(base, "out/canary", CANARY);
	assert_int_equal(fstatat(base, "out/canary", &after, 0), 0);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_int_equal(after.st_uid, before.st_uid);
	assert_int_equal(after.st_nlink, 1);
}

struct seen {
	int n;
	char last[300];
	bool sorted;
};

static int note(const struct fh_guard_entry *e, void *arg)
{
	struct seen *s = arg;

	s->sorted = s->sorted && strcmp(s->last, e->name) < 0;
	snprintf(s->last, sizeof(s->last), "%s", e->name);
	s->n++;
	return e->st.st_size == 77 ? 42 : 0;
}

static void lists_are_bounded_and_sorted(void **state)
{
	struct seen s = {.sorted = true};
	struct fh_err err = {0};
	char name[64];
	int n;

	assert_int_equal(list_count(".", 0, &n), 0);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "f%d", i * 7919 % 300);
		write_at(ws, name, "");
	}
	assert_int_equal(list_count(".", 299, &n), -E2BIG);
	assert_int_equal(n, 299);
	assert_int_equal(list_count(".", 0, &n), -E2BIG);
	assert_int_equal(n, 0);
	assert_int_equal(fh_guard_list(ws, ".", 300, note, &s, &err), 0);
	assert_int_equal(s.n, 300);
	assert_true(s.sorted);
	/* An answer of the callback ends the listing. */
	assert_int_equal(
	    symlinkat("0123456789012345678901234567890123456789012345678901234567890123456789abcdefg", ws,
		      "a"),
	    0);
	s = (struct seen){.sorted = true};
	assert_int_equal(fh_guard_list(ws, ".", 400, note, &s, &err), 42);
	assert_int_equal(s.n, 1);
}

static void odd_names_work_and_print_safely(void **state)
{
	static const char *const names[] = {"new\nline",   "\x1b[2J", "\xff\xfe", "a b",
					    "caf\xc3\xa9", "-rf",     "tab\t"};
	struct fh_err err = {0};
	char got[100];
	int n;

	for (size_t i = 0; i < FH_ARRAY_LEN(names); i++) {
		assert_int_equal(put(names[i], names[i], 100, 0, &err), 0);
		assert_int_equal(get(names[i], 100, got, sizeof(got), &err), 0);
		assert_string_equal(got, names[i]);
		assert_int_equal(get(names[i], 1, got, sizeof(got), &err), -EFBIG);
		for (const char *p = err.message; *p; p++)
			assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
		assert_true(fh_utf8_is_valid(err.message, strlen(err.message)));
	}
	assert_int_equal(list_count(".", 100, &n), 0);
	assert_int_equal(n, FH_ARRAY_LEN(names));
}

static void put_gives_to_the_owner(void **state)
{
	struct fh_err err = {0};
	struct stat st;

	if (geteuid() != 0 || fchownat(base, "ws", 4242, 4242, 0) < 0) {
		print_message("ownership not tried: it needs root\n");
		skip();
	}
	assert_int_equal(put("d/e/f", "x", 10, FH_GUARD_PARENTS, &err), 0);
	for (const char *const *p = (const char *const[]){"d", "d/e", "d/e/f", NULL}; *p; p++) {
		assert_int_equal(fstatat(ws, *p, &st, 0), 0);
		assert_int_equal(st.st_uid, 4242);
		assert_int_equal(st.st_gid, 4242);
	}
	assert_int_equal(fchownat(base, "ws", 0, 0, 0), 0);
}

static atomic_bool stop;

static void *grow(void *arg)
{
	static char block[65536];
	fh_autofd int fd = openat(ws, "growing", O_WRONLY | O_APPEND | O_CLOEXEC);

	memset(block, 'g', sizeof(block));
	for (int i = 0; i < 2000 && !atomic_load(&stop); i++)
		if (write(fd, block, sizeof(block)) < 0)
			break;
	return NULL;
}

static void growing_file_meets_the_cap(void **state)
{
	uint64_t until = fh_now_ns() + 20 * SECOND;
	struct fh_err err = {0};
	pthread_t t;
	int rc;

	write_at(ws, "growing", "g");
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&t, NULL, grow, NULL), 0);
	/* Until it has outgrown the cap; the writer is bounded, and so is this. */
	do {
		rc = get("growing", 1 << 20, NULL, 0, &err);
		assert_true(rc == 0 || rc == -EFBIG);
	} while (rc == 0 && fh_now_ns() < until);
	assert_int_equal(rc, -EFBIG);
	atomic_store(&stop, true);
	pthread_join(t, NULL);
}

#define SWAPS        20000
#define SWAP_SECONDS 3

/* Turns ws/t into a file, a link to the canary, a directory, a FIFO and a directory link, and ws/d likewise.
 */
static void *swap(void *arg)
{
	uint64_t until = fh_now_ns() + SWAP_SECONDS * SECOND;
	char canary[200], out[200];

	snprintf(canary, sizeof(canary), "%s/out/canary", base_path);
	snprintf(out, sizeof(out), "%s/out", base_path);
	for (int i = 0; i < SWAPS && fh_now_ns() < until; i++) {
		int fd = openat(ws, "s", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

		if (fd >= 0)
			close(fd);
		(void)!renameat(ws, "s", ws, "t");
		(void)!symlinkat(i % 2 ? canary : "../out/canary", ws, "s");
		(void)!renameat(ws, "s", ws, "t");
		(void)!unlinkat(ws, "t", 0);
		(void)!mkdirat(ws, "t", 0755);
		(void)!unlinkat(ws, "t", AT_REMOVEDIR);
		(void)!mkfifoat(ws, "t", 0600);
		(void)!mkdirat(ws, "d", 0755);
		(void)!unlinkat(ws, "d/canary", 0);
		(void)!unlinkat(ws, "d", AT_REMOVEDIR);
		(void)!symlinkat(i % 2 ? out : "../out", ws, "d");
		(void)!unlinkat(ws, "d", 0);
		(void)!unlinkat(ws, "t", 0);
	}
	atomic_store(&stop, true);
	return NULL;
}

static void swaps_never_reach_the_canary(void **state)
{
	int rounds = 0, n, gets = 0;
	struct fh_err err = {0};
	char got[100];
	pthread_t t;

	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&t, NULL, swap, NULL), 0);
	while (!atomic_load(&stop)) {
		static const char *const paths[] = {"t", "d/canary"};

		for (size_t i = 0; i < FH_ARRAY_LEN(paths); i++) {
			if (get(paths[i], 100, got, sizeof(got), &err) == 0)
				gets++;
			assert_null(strstr(got, "canary"));
			put(paths[i], "put", 100, i && rounds % 2 ? FH_GUARD_PARENTS : 0, &err);
		}
		if (list_count("d", 100, &n) == 0)
			assert_true(n <= 2); /* our own file and a temporary of it */
		rounds++;
	}
	pthread_join(t, NULL);
	assert_content(base, "out/canary", CANARY);
	assert_true(rounds > 10);
	print_message("%d rounds, %d of them read something\n", rounds, gets);
}

#define BOTH(f)                                                                                              \
	cmocka_unit_test_setup_teardown(f, setup, teardown),                                                 \
	{                                                                                                    \
#f " step by step", f, setup_steps, teardown, NULL                                           \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    BOTH(text_alone_refuses),
	    BOTH(root_is_a_directory_and_no_link),
	    BOTH(put_get_and_list_agree),
	    BOTH(caps_count_bytes_read),
	    BOTH(links_are_not_followed),
	    BOTH(odd_files_never_hang),
	    BOTH(hard_link_is_replaced_not_written),
	    BOTH(lists_are_bounded_and_sorted),
	    BOTH(odd_names_work_and_print_safely),
	    BOTH(put_gives_to_the_owner),
	    BOTH(growing_file_meets_the_cap),
	    BOTH(swaps_never_reach_the_canary),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
