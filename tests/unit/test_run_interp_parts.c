/* What an interpreter says has a form, and what it may show has bounds. */
#include "run/interp_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/own.h"

/* Everything happens below `base`, a folder without links in its name. */
static char base[256];

static const char *at(const char *name)
{
	static char paths[8][512];
	static unsigned turn;
	char *path = paths[turn++ % FH_ARRAY_LEN(paths)];

	assert_true(snprintf(path, sizeof(paths[0]), "%s/%s", base, name) < (int)sizeof(paths[0]));
	return path;
}

static void make(const char *name)
{
	assert_int_equal(mkdir(at(name), 0755), 0);
}

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char made[200];

	snprintf(made, sizeof(made), "%s/fh-interp-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(made));
	fh_autofree char *real = realpath(made, NULL);
	assert_non_null(real);
	snprintf(base, sizeof(base), "%s", real);
	make("home");
	return 0;
}

static int teardown(void **state)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/rm", "rm", "-rf", "--", base, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

static void an_answer_has_a_form(void **state)
{
	static const char *const bad[] = {
	    "",
	    "fumehood-probe 1\n",
	    "fumehood-probe 1\nfumehood-probe end\n",
	    "fumehood-probe 1\nexecutable\t/x\nfumehood-probe end\n",
	    "fumehood-probe 1\nversion\t3.1\nfumehood-probe end\n",
	    "fumehood-probe 1\nexecutable\t/x\nversion\t3.1\n",
	    "fumehood-probe 1\nexecutable\t/x\nversion\t3.1\nfumehood-probe end",
	    "fumehood-probe 1\nexecutable\tx\nversion\t3.1\nfumehood-probe end\n",
	    "fumehood-probe 1\nexecutable /x\nversion\t3.1\nfumehood-probe end\n",
	    "fumehood-probe 1\nexecutable\t/x\nversion\t3.1; rm\nfumehood-probe end\n",
	    "fumehood-probe 1\nexecutable\t/x\nversion\t3.1\nother\t/x\nfumehood-probe end\n",
	    "fumehood-probe 1\nexecutable\t/x\ty\nversion\t3.1\nfumehood-probe end\n",
	    "fumehood-probe 1\nexecutable\t/x\033\nversion\t3.1\nfumehood-probe end\n",
	    "xfumehood-probe 1\nexecutable\t/x\nversion\t3.1\nfumehood-probe end\n",
	    "fumehood-probe 2\nexecutable\t/x\nversion\t3.1\nfumehood-probe end\n",
	};
	struct fh_probe p = {0};

	for (size_t k = 0; k < FH_ARRAY_LEN(bad); k++)
		assert_int_equal(fh_probe_parse(strdup(bad[k]), &p), -EBADMSG);
	assert_int_equal(fh_probe_parse(NULL, &p), -EBADMSG);
	assert_null(p.text);
	assert_int_equal(
	    fh_probe_parse(strdup("noise\nfumehood-probe 1\nexecutable\t/a b\nversion\t3.1\nneed\t/c\n"
				  "library\t/d\nfumehood-probe end\nmore noise"),
			   &p),
	    0);
	assert_string_equal(p.executable, "/a b");
	assert_int_equal(p.n_paths, 2);
	assert_int_equal(p.paths[0].kind, FH_PROBE_NEED);
	assert_string_equal(p.paths[1].path, "/d");
	fh_probe_finish(&p);
	/* More paths than there is room for. */
	fh_autobuf many;
	fh_buf_init(&many, 1 << 20);
	fh_buf_adds(&many, "fumehood-probe 1\nexecutable\t/x\nversion\t3.1\n");
	for (int k = 0; k <= FH_PROBE_PATHS_MAX; k++)
		fh_buf_addf(&many, "need\t/p%d\n", k);
	fh_buf_adds(&many, "fumehood-probe end\n");
	assert_int_equal(fh_probe_parse(fh_buf_take(&many), &p), -EBADMSG);
}

static void what_is_more_than_an_interpreter_is_refused(void **state)
{
	static const char *const refused[] = {"/",        "/home",        "/home/u",      "/root",
					      "/etc",     "/etc/python3", "/proc/1/root", "/sys",
					      "/dev/shm", "/usr",         "/var",         "/tmp",
					      "/opt",     "relative",     "/a/../b",      "/a//b",
					      "/a/./b",   "/data",        "/data/people", "/data/people/me",
					      "/a/"};
	static const char *const accepted[] = {"/home/u/env", "/root/env",           "/opt/python",
					       "/usr/local",  "/data/people/me/env", "/data/people/you",
					       "/homely",     "/var/lib/python",     "/data/..people"};

	for (size_t k = 0; k < FH_ARRAY_LEN(refused); k++) {
		if (!fh_trees_refused(refused[k], "/data/people/me"))
			fail_msg("%s is not refused", refused[k]);
	}
	for (size_t k = 0; k < FH_ARRAY_LEN(accepted); k++) {
		if (fh_trees_refused(accepted[k], "/data/people/me"))
			fail_msg("%s is refused", accepted[k]);
	}
}

static void trees_are_few_and_true(void **state)
{
	static const char *const dirs[] = {"a", "a/b", "a/b/c", "ab", "z"};
	struct fh_interp i = {0};
	char name[64];

	for (size_t k = 0; k < FH_ARRAY_LEN(dirs); k++)
		make(dirs[k]);
	assert_int_equal(symlink(at("z"), at("a/link")), 0);
	assert_int_equal(symlink(at("home"), at("dressed")), 0);
	assert_int_equal(mkfifo(at("fifo"), 0600), 0);
	assert_int_equal(mknod(at("file"), S_IFREG | 0644, 0), 0);
	assert_int_equal(symlink("file", at("file-link")), 0);
	assert_int_equal(fh_trees_add(&i, at("a/b/c"), at("home")), 0);
	assert_int_equal(fh_trees_add(&i, at("ab"), at("home")), 0);
	assert_int_equal(fh_trees_add(&i, at("a/b"), at("home")), 0); /* takes a/b/c in */
	assert_int_equal(fh_trees_add(&i, at("a/b/c"), at("home")), 0);
	assert_int_equal(i.n_trees, 2);
	assert_int_equal(fh_trees_add(&i, at("a/link"), at("home")), 0);
	assert_int_equal(i.n_trees, 3);
	assert_string_equal(i.trees[2], at("z"));
	assert_string_equal(i.links[0].path, at("a/link"));
	assert_string_equal(i.links[0].target, at("z"));
	assert_int_equal(fh_trees_add(&i, at("file-link"), at("home")), 0);
	assert_int_equal(fh_trees_add(&i, at("file"), at("home")), 0);
	assert_int_equal(i.n_files, 1);
	assert_string_equal(i.files[0], at("file"));
	assert_int_equal(i.n_links, 2);
	/* A folder takes in the links and files in it. */
	assert_int_equal(fh_trees_add(&i, at("a"), at("home")), 0);
	assert_int_equal(i.n_trees, 3);
	assert_int_equal(i.n_links, 1);
	assert_int_equal(fh_trees_add(&i, at("dressed"), at("home")), -EPERM);
	assert_int_equal(fh_trees_add(&i, base, at("home")), -EPERM);
	assert_int_equal(fh_trees_add(&i, at("fifo"), at("home")), -EPERM);
	assert_int_equal(fh_trees_add(&i, at("none"), at("home")), -ENOENT);
	assert_int_equal(fh_trees_add(&i, "/usr/lib", at("home")), 0);
	assert_int_equal(i.n_trees, 3);
	for (int k = 0; k < FH_INTERP_TREES_MAX - 3; k++) {
		snprintf(name, sizeof(name), "d%d", k);
		make(name);
		assert_int_equal(fh_trees_add(&i, at(name), at("home")), 0);
	}
	make("last");
	assert_int_equal(fh_trees_add(&i, at("last"), at("home")), -E2BIG);
	assert_int_equal(i.n_trees, FH_INTERP_TREES_MAX);
	fh_interp_finish(&i);
}

#define EACH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_answer_has_a_form),
	    cmocka_unit_test(what_is_more_than_an_interpreter_is_refused),
	    EACH(trees_are_few_and_true),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
