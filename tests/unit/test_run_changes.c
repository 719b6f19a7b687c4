/* What a run changed: plain trees, a real overlay, a baseline, and a receiver that believes nothing. */
#include "run/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "isolate/pathguard.h"

#define SECOND    1000000000ull
#define SHA_EMPTY "e3b0c4"
#define SHA_ABC   "ba7816"

static char base_path[128];
static int base = -1;

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(base_path, sizeof(base_path), "%s/fh-changes-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(base_path));
	base = open(base_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(base >= 0);
	return 0;
}

static int teardown(void **state)
{
	struct fh_err err = {0};

	if (fh_guard_empty(base, fh_now_ns() + 60 * SECOND, &err) < 0)
		fail_msg("%s", err.message);
	fh_close(&base);
	assert_int_equal(rmdir(base_path), 0);
	return 0;
}

/* Returns nonzero on failure: also used in children, where an assertion would be lost. */
static int put_at(int dir, const char *path, const char *text)
{
	fh_autofd int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	return fd < 0 || fh_write_all(fd, text, strlen(text)) < 0;
}

static struct fh_changes_caps caps_of(size_t entries, uint64_t hash_bytes)
{
	return (struct fh_changes_caps){entries, hash_bytes, fh_now_ns() + 20 * SECOND};
}

/* One line a change: kind, file, path, size, beginning of the sum. */
static void assert_list(const struct fh_changes *c, const char *expected)
{
	fh_autobuf text;

	fh_buf_init(&text, 1 << 20);
	for (size_t i = 0; i < c->n; i++)
		fh_buf_addf(&text, "%c%c %s %llu %.6s\n", "AMD"[c->v[i].kind], "fdlo"[c->v[i].file],
			    c -> v[i].path, (unsigned long long)c->v[i].size_bytes, c->v[i].sha256);
	assert_string_equal(fh_buf_str(&text), expected);
}

static void find(enum fh_changes_tree tree, int after, int lower, size_t entries, uint64_t hash_bytes,
		 struct fh_changes *ret)
{
	struct fh_changes_caps caps = caps_of(entries, hash_bytes);
	struct fh_err err = {0};

	if (fh_changes_find(tree, after, lower, &caps, ret, &err) < 0)
		fail_msg("%s", err.message);
}

static void plain_tree(void **state)
{
	struct fh_changes c;

	find(FH_CHANGES_PLAIN, base, -1, 100, 1 << 20, &c);
	assert_list(&c, "");
	fh_changes_finish(&c);
	assert_int_equal(mkdirat(base, "d", 0755), 0);
	assert_int_equal(put_at(base, "d/abc", "abc"), 0);
	assert_int_equal(put_at(base, "empty", ""), 0);
	assert_int_equal(put_at(base,
				"new\nline\\\xff\xe2\x80\xae"
				"caf\xc3\xa9",
				"abc"),
			 0);
	assert_int_equal(symlinkat("/etc/passwd", base, "link"), 0);
	assert_int_equal(mkfifoat(base, "fifo", 0600), 0);
	find(FH_CHANGES_PLAIN, base, -1, 100, 1 << 20, &c);
	assert_list(&c, "Ad d 0 \n"
			"Af d/abc 3 " SHA_ABC "\n"
			"Af empty 0 " SHA_EMPTY "\n"
			"Ao fifo 0 \n"
			"Al link 11 \n"
			"Af new\\x0aline\\x5c\\xff\\xe2\\x80\\xae"
			"caf\xc3\xa9 3 " SHA_ABC "\n");
	assert_false(c.truncated);
	fh_changes_finish(&c);
}

static void bounds_hold(void **state)
{
	struct fh_changes_caps caps;
	struct fh_err err = {0};
	struct fh_changes c;
	char name[32];

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "f%02d", i);
		assert_int_equal(put_at(base, name, "abc"), 0);
	}
	find(FH_CHANGES_PLAIN, base, -1, 20, 60, &c);
	assert_int_equal(c.n, 20);
	assert_false(c.truncated);
	for (size_t i = 0; i < c.n; i++)
		assert_int_equal(strlen(c.v[i].sha256), 64);
	fh_changes_finish(&c);
	find(FH_CHANGES_PLAIN, base, -1, 19, 59, &c);
	assert_int_equal(c.n, 19);
	assert_true(c.truncated);
	fh_changes_finish(&c);
	find(FH_CHANGES_PLAIN, base, -1, 0, 59, &c);
	assert_int_equal(c.n, 0);
	assert_true(c.truncated);
	fh_changes_finish(&c);
	/* A giant has no sum, and takes nothing from the others. */
	fh_autofd int giant = openat(base, "giant", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(ftruncate(giant, 1ll << 40), 0);
	find(FH_CHANGES_PLAIN, base, -1, 100, 60, &c);
	assert_int_equal(c.n, 21);
	for (size_t i = 0; i < c.n; i++)
		assert_int_equal(c.v[i].sha256[0] == '\0', !strcmp(c.v[i].path, "giant"));
	assert_true(c.v[20].size_bytes == 1ull << 40);
	fh_changes_finish(&c);
	caps = caps_of(100, 100);
	caps.deadline_ns = fh_now_ns() - 1;
	assert_int_equal(fh_changes_find(FH_CHANGES_PLAIN, base, -1, &caps, &c, &err), 0);
	assert_true(c.truncated);
	fh_changes_finish(&c);
}

static void deep_trees_are_cut(void **state)
{
	int at = dup(base);
	struct fh_changes c;

	for (int i = 0; i < 300; i++) {
		int next;

		assert_int_equal(mkdirat(at, "d", 0755), 0);
		next = openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	close(at);
	find(FH_CHANGES_PLAIN, base, -1, 1000, 0, &c);
	assert_true(c.truncated);
	assert_int_equal(c.n, FH_CHANGES_DEPTH_MAX + 1);
	fh_changes_finish(&c);
}

/* Markers in a tree that is no overlay's are files like others. */
static void markers_count_only_in_an_upper(void **state)
{
	struct fh_changes c;

	assert_int_equal(mkdirat(base, "up", 0755), 0);
	assert_int_equal(mkdirat(base, "low", 0755), 0);
	assert_int_equal(put_at(base, "up/gone", ""), 0);
	assert_int_equal(put_at(base, "low/gone", "was here"), 0);
	fh_autofd int up = openat(base, "up", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fh_autofd int low = openat(base, "low", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fh_autofd int gone = openat(up, "gone", O_RDONLY | O_CLOEXEC);
	if (fsetxattr(gone, "user.overlay.whiteout", "", 0, 0) < 0) {
		print_message("marks not tried: attributes are refused here (%s)\n", strerror(errno));
		skip();
	}
	find(FH_CHANGES_PLAIN, up, -1, 10, 100, &c);
	assert_list(&c, "Af gone 0 " SHA_EMPTY "\n");
	fh_changes_finish(&c);
	find(FH_CHANGES_UPPER, up, low, 10, 100, &c);
	assert_list(&c, "Df gone 8 \n");
	fh_changes_finish(&c);
	/* Nothing was there: nothing is gone. */
	find(FH_CHANGES_UPPER, up, -1, 10, 100, &c);
	assert_list(&c, "");
	fh_changes_finish(&c);
}

static int make_lower(int low)
{
	return mkdirat(low, "dir", 0755) || mkdirat(low, "dir/sub", 0755) || put_at(low, "dir/sub/x", "x") ||
	       put_at(low, "dir/a", "abc") || put_at(low, "dir/b", "b") || put_at(low, "kept", "kept") ||
	       put_at(low, "edited", "before") || put_at(low, "touched", "same") ||
	       put_at(low, "moded", "m") || put_at(low, "gone", "123") || symlinkat("kept", low, "link") ||
	       mkdirat(low, "again", 0755) || put_at(low, "again/old", "old") ||
	       put_at(low, "again/both", "1") || mkdirat(low, "again/in", 0755) ||
	       put_at(low, "again/in/y", "y") || mkdirat(low, "tree", 0755) || put_at(low, "tree/t", "t") ||
	       mkdirat(low, "turns", 0755) || put_at(low, "turns/u", "u") || put_at(low, "filed", "f") ||
	       mkdirat(low, "chmod", 0755) || mkdirat(low, "walked", 0755) || put_at(low, "walked/w", "w");
}

/* What a program may do; `m` is the mounted overlay. */
static int work(int m)
{
	return put_at(m, "new", "abc") || put_at(m, "edited", "after!") || put_at(m, "touched", "same") ||
	       fchmodat(m, "moded", 0600, 0) || unlinkat(m, "gone", 0) || unlinkat(m, "link", 0) ||
	       symlinkat("new", m, "link") ||
	       /* a directory removed and made again: opaque */
	       unlinkat(m, "again/old", 0) || unlinkat(m, "again/both", 0) || unlinkat(m, "again/in/y", 0) ||
	       unlinkat(m, "again/in", AT_REMOVEDIR) || unlinkat(m, "again", AT_REMOVEDIR) ||
	       mkdirat(m, "again", 0755) || put_at(m, "again/both", "2") || mkdirat(m, "again/in", 0755) ||
	       put_at(m, "again/in/z", "abc") ||
	       /* a whole tree gone, a directory that became a file, a file that became a directory */
	       unlinkat(m, "tree/t", 0) || unlinkat(m, "tree", AT_REMOVEDIR) || unlinkat(m, "turns/u", 0) ||
	       unlinkat(m, "turns", AT_REMOVEDIR) || put_at(m, "turns", "abc") || unlinkat(m, "filed", 0) ||
	       mkdirat(m, "filed", 0755) || put_at(m, "filed/in", "abc") || fchmodat(m, "chmod", 0700, 0) ||
	       put_at(m, "walked/w", "w") || put_at(m, "dir/sub/new", "abc") || unlinkat(m, "dir/b", 0);
}

static const char overlay_list[] = "Mf again/both 1 d4735e\n"
				   "Df again/in/y 1 \n"
				   "Af again/in/z 3 " SHA_ABC "\n"
				   "Df again/old 3 \n"
				   "Md chmod 0 \n"
				   "Df dir/b 1 \n"
				   "Af dir/sub/new 3 " SHA_ABC "\n"
				   "Mf edited 6 f778da\n"
				   "Md filed 0 \n"
				   "Af filed/in 3 " SHA_ABC "\n"
				   "Df gone 3 \n"
				   "Ml link 3 \n"
				   "Mf moded 1 62c66a\n"
				   "Af new 3 " SHA_ABC "\n"
				   "Dd tree 0 \n"
				   "Df tree/t 1 \n"
				   "Mf turns 3 " SHA_ABC "\n"
				   "Df turns/u 1 \n";

enum { NO_NAMESPACE = 70, NO_OVERLAY, CHILD_FAILED };

static int map_self(void)
{
	char line[64];
	uid_t uid = getuid();
	gid_t gid = getgid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -1;
	if (fh_write_small_at(AT_FDCWD, "/proc/self/setgroups", "deny") < 0)
		return -1;
	snprintf(line, sizeof(line), "0 %u 1", uid);
	if (fh_write_small_at(AT_FDCWD, "/proc/self/uid_map", line) < 0)
		return -1;
	snprintf(line, sizeof(line), "0 %u 1", gid);
	return fh_write_small_at(AT_FDCWD, "/proc/self/gid_map", line);
}

/* In a child with namespaces of its own: mounts, works, finds, sends. */
static int overlay_child(const char *options, int out)
{
	struct fh_changes_caps caps = caps_of(1000, 1 << 20);
	struct fh_changes c = {0};
	struct fh_err err = {0};
	int rc;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", base_path, "tmpfs", 0, NULL) < 0 || chdir(base_path) < 0)
		return NO_NAMESPACE;
	if (mkdir("low", 0755) || mkdir("up", 0755) || mkdir("work", 0755) || mkdir("m", 0755))
		return CHILD_FAILED;
	fh_autofd int low = open("low", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fh_autofd int up = open("up", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (low < 0 || up < 0 || make_lower(low))
		return CHILD_FAILED;
	if (mount("none", "m", "overlay", 0, options) < 0)
		return NO_OVERLAY;
	fh_autofd int m = open("m", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (m < 0 || work(m))
		return CHILD_FAILED;
	rc = fh_changes_find(FH_CHANGES_UPPER, up, low, &caps, &c, &err);
	rc = fh_changes_send(out, &c, rc, &err);
	fh_changes_finish(&c);
	return rc < 0 ? CHILD_FAILED : 0;
}

static void over_overlay(int (*enter)(void), const char *options)
{
	struct fh_changes c = {0};
	struct fh_err err = {0};
	int fds[2], status, rc;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(enter() < 0 ? NO_NAMESPACE : overlay_child(options, fds[1]));
	close(fds[1]);
	rc = fh_changes_receive(fds[0], fh_now_ns() + 20 * SECOND, &c, &err);
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_NAMESPACE || WEXITSTATUS(status) == NO_OVERLAY) {
		print_message("overlay not tried: %s refused here\n",
			      WEXITSTATUS(status) == NO_OVERLAY ? "its mount is" : "namespaces are");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	if (rc < 0)
		fail_msg("%s", err.message);
	assert_list(&c, overlay_list);
	assert_false(c.truncated);
	fh_changes_finish(&c);
}

static void overlay_in_a_user_namespace(void **state)
{
	over_overlay(map_self, "lowerdir=low,upperdir=up,workdir=work,userxattr");
}

static int own_mounts(void)
{
	return unshare(CLONE_NEWNS);
}

static void overlay_as_root(void **state)
{
	if (geteuid() != 0) {
		print_message("overlay with trusted attributes not tried: it needs root\n");
		skip();
	}
	over_overlay(own_mounts, "lowerdir=low,upperdir=up,workdir=work,redirect_dir=off,metacopy=off");
}

static struct fh_changes_baseline *baseline(size_t max)
{
	struct fh_changes_baseline *b = NULL;
	struct fh_err err = {0};

	if (fh_changes_baseline_take(base, max, fh_now_ns() + 20 * SECOND, &b, &err) < 0)
		fail_msg("%s", err.message);
	return b;
}

static void since(const struct fh_changes_baseline *b, struct fh_changes *ret)
{
	struct fh_changes_caps caps = caps_of(1000, 1 << 20);
	struct fh_err err = {0};

	if (fh_changes_since(base, b, &caps, ret, &err) < 0)
		fail_msg("%s", err.message);
}

static void baseline_tells_what_differs(void **state)
{
	struct fh_changes_baseline *b;
	struct fh_changes c;

	assert_int_equal(make_lower(base), 0);
	b = baseline(1000);
	since(b, &c);
	assert_list(&c, "");
	assert_false(c.truncated);
	fh_changes_finish(&c);
	assert_int_equal(put_at(base, "edited", "after!"), 0);
	assert_int_equal(put_at(base, "dir/new", "abc"), 0);
	assert_int_equal(fchmodat(base, "chmod", 0700, 0), 0);
	assert_int_equal(unlinkat(base, "tree/t", 0), 0);
	assert_int_equal(unlinkat(base, "tree", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(base, "turns/u", 0), 0);
	assert_int_equal(unlinkat(base, "turns", AT_REMOVEDIR), 0);
	assert_int_equal(symlinkat("dir", base, "turns"), 0);
	since(b, &c);
	assert_list(&c, "Md chmod 0 \n"
			"Af dir/new 3 " SHA_ABC "\n"
			"Mf edited 6 f778da\n"
			"Dd tree 0 \n"
			"Df tree/t 1 \n"
			"Ml turns 3 \n"
			"Df turns/u 1 \n");
	assert_false(c.truncated);
	fh_changes_finish(&c);
	fh_changes_baseline_destroy(b);
}

static const struct fh_change *named(const struct fh_changes *c, const char *path)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].path, path))
			return &c->v[i];
	return NULL;
}

static void cut_baseline_claims_no_more_than_it_knows(void **state)
{
	struct fh_changes_baseline *b;
	struct fh_changes c;

	assert_int_equal(make_lower(base), 0);
	usleep(50000); /* the coarse clock of inodes must have moved on */
	b = baseline(3);
	since(b, &c);
	assert_list(&c, "");
	assert_true(c.truncated);
	fh_changes_finish(&c);
	assert_int_equal(put_at(base, "edited", "after!"), 0);
	assert_int_equal(put_at(base, "dir/new", "abc"), 0);
	since(b, &c);
	assert_int_equal(c.n, 2);
	assert_true(c.truncated);
	assert_non_null(named(&c, "edited"));
	assert_int_equal(named(&c, "edited")->kind, FH_CHANGE_MODIFIED);
	assert_int_equal(named(&c, "dir/new")->kind, FH_CHANGE_ADDED);
	fh_changes_finish(&c);
	fh_changes_baseline_destroy(b);
}

/* What a hostile helper could send: `bytes` is delivered, then the end. */
static int receive(const char *bytes, size_t n, struct fh_changes *ret)
{
	struct fh_err err = {0};
	int fds[2], rc;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_true(n <= 60000);
	assert_int_equal(fh_write_all(fds[1], bytes, n), 0);
	close(fds[1]);
	rc = fh_changes_receive(fds[0], fh_now_ns() + 5 * SECOND, ret, &err);
	close(fds[0]);
	return rc;
}

static size_t good_message(char *into, size_t cap)
{
	struct fh_change v[] = {
	    {.kind = FH_CHANGE_ADDED, .file = FH_FILE_REGULAR, .path = (char *)"a/b", .size_bytes = 3},
	    {.kind = FH_CHANGE_DELETED, .file = FH_FILE_SYMLINK, .path = (char *)"z\\x0a"},
	};
	struct fh_changes c = {.v = v, .n = 2};
	struct fh_err err = {0};
	ssize_t n;
	int fds[2];

	memset(v[0].sha256, 'a', 64);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(fh_changes_send(fds[1], &c, 0, &err), 0);
	close(fds[1]);
	n = read(fds[0], into, cap);
	close(fds[0]);
	assert_true(n > 0 && (size_t)n < cap);
	return (size_t)n;
}

/* Record 1 begins after the header of 16 bytes: size 8, path length 4, kind, file, has_sum, zero, sum 64,
 * path 3. */
static void receiver_believes_nothing(void **state)
{
	static const struct {
		size_t at;
		const char *what;
		size_t n;
	} lies[] = {
	    {0, "X", 1},                 /* magic */
	    {4, "\1\0\0\0", 4},          /* a positive error */
	    {8, "\3\0\0\0", 4},          /* more records than come */
	    {8, "\1\0\0\0", 4},          /* fewer */
	    {8, "\xff\xff\xff\xff", 4},  /* far too many */
	    {12, "\2\0\0\0", 4},         /* no truth value */
	    {24, "\0\0\0\0", 4},         /* an empty path */
	    {24, "\xff\xff\xff\x7f", 4}, /* a path of two gigabytes */
	    {28, "\3", 1},               /* no kind */
	    {29, "\4", 1},               /* no file kind */
	    {29, "\1", 1},               /* a directory with a sum */
	    {30, "\2", 1},               /* no truth value */
	    {30, "\0", 1},               /* a sum that is not there */
	    {31, "\1", 1},               /* what must be zero */
	    {32, "A", 1},                /* no sum */
	    {96, "/", 1},                /* absolute */
	    {97, "\0", 1},               /* NUL inside */
	    {98, "/", 1},                /* a directory's slash */
	    {96, "a/.", 3},              /* dots */
	    {96, "./a", 3},
	    {96,
	     "a\x1b"
	     "b",
	     3},
	    {96,
	     "a\xff"
	     "b",
	     3},
	    {96, "a\\b", 3},
	    {96, "zzz", 3}, /* order */
	};
	char good[1024], bad[1024];
	size_t n = good_message(good, sizeof(good));
	struct fh_changes c = {0};

	assert_int_equal(receive(good, n, &c), 0);
	assert_list(&c, "Af a/b 3 aaaaaa\nDl z\\x0a 0 \n");
	fh_changes_finish(&c);
	for (size_t i = 0; i < FH_ARRAY_LEN(lies); i++) {
		memcpy(bad, good, n);
		memcpy(bad + lies[i].at, lies[i].what, lies[i].n);
		if (receive(bad, n, &c) != -EBADMSG)
			fail_msg("lie %zu was believed", i);
		assert_null(c.v);
	}
	/* Cut anywhere, or with something behind it. */
	for (size_t cut = 0; cut < n; cut++)
		assert_int_equal(receive(good, cut, &c), -EBADMSG);
	good[n] = 'x';
	assert_int_equal(receive(good, n + 1, &c), -EBADMSG);
}

/* Every single byte changed in several ways: never a crash, and what is accepted is well-formed. */
static void receiver_survives_noise(void **state)
{
	char good[1024], bad[1024];
	size_t n = good_message(good, sizeof(good));

	for (size_t at = 0; at < n; at++) {
		for (int bit = 0; bit < 8; bit++) {
			struct fh_changes c = {0};

			memcpy(bad, good, n);
			bad[at] = (char)(bad[at] ^ 1 << bit);
			if (receive(bad, n, &c) < 0) {
				assert_null(c.v);
				continue;
			}
			for (size_t i = 0; i < c.n; i++)
				for (const char *p = c.v[i].path; *p; p++)
					assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
			fh_changes_finish(&c);
		}
	}
}

static void failure_and_silence(void **state)
{
	struct fh_changes c = {0};
	struct fh_err err = {0};
	uint64_t start = fh_now_ns();
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(fh_changes_send(fds[1], &c, -EACCES, &err), 0);
	/* The writer stays open and says nothing more: time ends it. */
	assert_int_equal(fh_changes_receive(fds[0], start + SECOND / 5, &c, &err), -ETIMEDOUT);
	assert_true(fh_now_ns() - start < 10 * SECOND);
	assert_int_equal(fh_changes_send(fds[1], &c, -EACCES, &err), 0);
	close(fds[1]);
	assert_int_equal(fh_changes_receive(fds[0], fh_now_ns() + SECOND, &c, &err), -EACCES);
	close(fds[0]);
}

#define WITH_DIR(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_DIR(plain_tree),
	    WITH_DIR(bounds_hold),
	    WITH_DIR(deep_trees_are_cut),
	    WITH_DIR(markers_count_only_in_an_upper),
	    WITH_DIR(overlay_in_a_user_namespace),
	    WITH_DIR(overlay_as_root),
	    WITH_DIR(baseline_tells_what_differs),
	    WITH_DIR(cut_baseline_claims_no_more_than_it_knows),
	    cmocka_unit_test(receiver_believes_nothing),
	    cmocka_unit_test(receiver_survives_noise),
	    cmocka_unit_test(failure_and_silence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
