/* Interpreters are found, asked once, and show nothing of a home directory but themselves. */
#include "run/interp.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "run/interp_impl.h"

#define SYSTEM_PYTHON "/usr/bin/python3"

/* Everything happens below `base`, a folder without links in its name; HOME is base/home, PATH the system's.
 */
static char base[256];

static const char *at(const char *name)
{
	static char paths[8][512];
	static unsigned turn;
	char *path = paths[turn++ % FH_ARRAY_LEN(paths)];

	assert_true(snprintf(path, sizeof(paths[0]), "%s/%s", base, name) < (int)sizeof(paths[0]));
	return path;
}

static void write_file(const char *name, mode_t mode, const char *text)
{
	fh_autofd int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fh_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(fchmod(fd, mode), 0);
}

static void make_dirs(const char *const *names, size_t n)
{
	for (size_t k = 0; k < n; k++)
		assert_int_equal(mkdir(at(names[k]), 0755), 0);
}

static void remove_below(const char *path)
{
	char command[600];
	pid_t pid = fork();

	if (pid == 0) {
		snprintf(command, sizeof(command), "%s", path);
		execl("/bin/rm", "rm", "-rf", "--", command, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

/* A virtual environment as `python -m venv --without-pip` makes it. */
static void make_environment(const char *name)
{
	char path[512];
	const char *const dirs[] = {"", "/bin", "/lib"};

	for (size_t k = 0; k < FH_ARRAY_LEN(dirs); k++) {
		snprintf(path, sizeof(path), "%s%s", name, dirs[k]);
		assert_int_equal(mkdir(at(path), 0755), 0);
	}
	snprintf(path, sizeof(path), "%s/bin/python3", name);
	assert_int_equal(symlink(SYSTEM_PYTHON, at(path)), 0);
	snprintf(path, sizeof(path), "%s/pyvenv.cfg", name);
	write_file(path, 0644, "home = /usr/bin\ninclude-system-site-packages = false\n");
}

static int setup(void **state)
{
	static const char *const dirs[] = {"home", "empty"};
	const char *tmp = getenv("TMPDIR");
	char made[200];

	snprintf(made, sizeof(made), "%s/fh-interp-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(made));
	fh_autofree char *real = realpath(made, NULL);
	assert_non_null(real);
	snprintf(base, sizeof(base), "%s", real);
	make_dirs(dirs, FH_ARRAY_LEN(dirs));
	setenv("HOME", at("home"), 1);
	setenv("PATH", "/usr/bin:/bin", 1);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("PYENV_VERSION");
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(chdir("/"), 0);
	remove_below(base);
	return 0;
}

#define need_python() need_python_for(__func__)

static void need_python_for(const char *test)
{
	if (access(SYSTEM_PYTHON, X_OK) < 0) {
		printf("SKIP %s: no %s on this machine\n", test, SYSTEM_PYTHON);
		skip();
	}
}

static struct fh_interp find(const char *wanted, enum fh_interp_user user)
{
	struct fh_interp i = {0};
	struct fh_err err = {0};

	if (fh_interp_find(wanted, &(struct fh_interp_use){.user = user}, &i, &err) != 0)
		fail_msg("%s: %s", wanted ? wanted : "(first)", err.message);
	return i;
}

static struct fh_err refusal(const char *wanted, enum fh_interp_user user)
{
	struct fh_interp i = {.executable = (char *)1};
	struct fh_err err = {0};
	int rc = fh_interp_find(wanted, &(struct fh_interp_use){.user = user}, &i, &err);

	assert_true(rc < 0);
	assert_int_equal(rc, err.code);
	assert_ptr_equal(i.executable, (char *)1);
	assert_true(err.message[0] && !strchr(err.message, '\n'));
	return err;
}

static void the_systems_own_needs_nothing(void **state)
{
	need_python();
	struct fh_interp i = find(SYSTEM_PYTHON, FH_INTERP_OTHER_USER);

	assert_string_equal(i.executable, SYSTEM_PYTHON);
	assert_int_equal(i.n_trees, 0);
	assert_int_not_equal(access(at("home/.cache"), F_OK), 0); /* it was not asked */
	fh_interp_finish(&i);
	i = find(NULL, FH_INTERP_OTHER_USER);
	assert_string_equal(i.executable, SYSTEM_PYTHON);
	fh_interp_finish(&i);
	assert_int_equal(symlink(SYSTEM_PYTHON, at("home/py")), 0);
	i = find(at("home/py"), FH_INTERP_SAME_USER);
	assert_true(fh_trees_visible(i.executable)); /* and not the link in a home directory */
	assert_int_equal(i.n_trees, 0);
	fh_interp_finish(&i);
}

static void an_environment_stays_one(void **state)
{
	need_python();
	make_environment("home/env");
	assert_int_equal(symlink(at("home/env"), at("link")), 0);
	assert_int_equal(chdir(base), 0);
	const char *const names[] = {at("home/env/bin/python3"), at("link/bin/python3"),
				     "home/env/bin/python3", "./home/../home/env/bin/python3"};

	for (size_t k = 0; k < FH_ARRAY_LEN(names); k++) {
		struct fh_interp i = find(names[k], FH_INTERP_OTHER_USER);
		assert_string_equal(i.executable, at("home/env/bin/python3"));
		assert_int_equal(i.n_trees, 1);
		assert_string_equal(i.trees[0], at("home/env"));
		assert_int_equal(strspn(i.version, "0123456789."), strlen(i.version));
		assert_non_null(strchr(strchr(i.version, '.') + 1, '.'));
		fh_interp_finish(&i);
	}
}

static void an_environment_in_a_project_shows_only_itself(void **state)
{
	need_python();
	make_environment("project");
	write_file("project/secret.txt", 0644, "secret");
	/* The same as a home directory that is an environment. */
	for (int as_home = 0; as_home < 2; as_home++) {
		if (as_home)
			setenv("HOME", at("project"), 1);
		struct fh_interp i = find(at("project/bin/python3"), FH_INTERP_OTHER_USER);
		assert_true(fh_trees_cover(&i, at("project/bin/python3")));
		assert_true(fh_trees_cover(&i, at("project/pyvenv.cfg")));
		assert_true(fh_trees_cover(&i, at("project/lib")));
		assert_false(fh_trees_cover(&i, at("project/secret.txt")));
		assert_false(fh_trees_cover(&i, at("project")));
		fh_interp_finish(&i);
	}
}

static void links_on_the_way_are_shown(void **state)
{
	static const char *const dirs[] = {"real", "home/hop"};
	char config[600];

	need_python();
	make_dirs(dirs, FH_ARRAY_LEN(dirs));
	make_environment("env");
	assert_int_equal(unlink(at("env/bin/python3")), 0);
	assert_int_equal(symlink(SYSTEM_PYTHON, at("real/python3")), 0);
	assert_int_equal(symlink("../../real/python3", at("home/hop/python")), 0);
	assert_int_equal(symlink(at("home/hop/python"), at("env/bin/python3")), 0);
	snprintf(config, sizeof(config), "home = /usr/bin\n");
	write_file("env/pyvenv.cfg", 0644, config);
	struct fh_interp i = find(at("env/bin/python3"), FH_INTERP_SAME_USER);

	assert_int_equal(i.n_links, 2);
	assert_string_equal(i.links[0].path, at("home/hop/python"));
	assert_true(fh_trees_visible(i.links[0].target));
	assert_string_equal(i.links[1].path, at("real/python3"));
	assert_int_equal(i.n_files, 0);
	assert_false(fh_trees_cover(&i, at("home/hop")));
	assert_false(fh_trees_cover(&i, at("real")));
	fh_interp_finish(&i);
}

static void a_script_is_asked_for_what_it_starts(void **state)
{
	need_python();
	write_file("wrapper", 0755, "#!/bin/sh\necho noise\nexec " SYSTEM_PYTHON " \"$@\"\n");
	struct fh_interp i = find(at("wrapper"), FH_INTERP_OTHER_USER);

	assert_string_equal(i.executable, SYSTEM_PYTHON);
	assert_int_equal(i.n_trees, 0);
	fh_interp_finish(&i);
}

static void what_is_no_interpreter_is_said_so(void **state)
{
	static const struct {
		const char *name;
		enum fh_err_kind kind;
		int code;
		const char *says;
	} cases[] = {
	    {"missing", FH_ERR_NOT_FOUND, -ENOENT, "there is no"},
	    {"no/such/folder/python3", FH_ERR_NOT_FOUND, -ENOENT, "there is no"},
	    {"dangling", FH_ERR_NOT_FOUND, -ENOENT, "does not exist"},
	    {"empty", FH_ERR_NOT_EXEC, -EISDIR, "is a directory"},
	    {"text", FH_ERR_NOT_EXEC, -EACCES, "not executable"},
	    {"junk", FH_ERR_NOT_EXEC, -ENOEXEC, "neither"},
	    {"short", FH_ERR_NOT_EXEC, -ENOEXEC, "not a program"},
	    {"shebang", FH_ERR_NOT_EXEC, -ENOENT, "/no/such/shell"},
	    {"failing", FH_ERR_NOT_EXEC, -ENOEXEC, "the reason?[0m, at last"},
	    {"silent", FH_ERR_NOT_EXEC, -ENOEXEC, "no reason"},
	    {"cat", FH_ERR_NOT_EXEC, -ENOEXEC, "does not work as a Python interpreter"},
	    {"flood", FH_ERR_NOT_EXEC, -E2BIG, "does not work as a Python interpreter"},
	};

	assert_int_equal(symlink(at("gone"), at("dangling")), 0);
	assert_int_equal(symlink("/bin/cat", at("cat")), 0);
	write_file("text", 0644, "#!/bin/sh\n");
	write_file("junk", 0755, "print('hello')\n");
	write_file("short", 0755, "x");
	write_file("shebang", 0755, "#! /no/such/shell -e\n");
	write_file("failing", 0755,
		   "#!/bin/sh\necho first >&2\nprintf 'the reason\\033[0m, at last\\n' >&2\nexit 3\n");
	write_file("silent", 0755, "#!/bin/sh\nexit 0\n");
	write_file("flood", 0755, "#!/bin/sh\nexec cat /dev/zero\n");
	for (size_t k = 0; k < FH_ARRAY_LEN(cases); k++) {
		struct fh_err err = refusal(at(cases[k].name), FH_INTERP_SAME_USER);
		print_message("  %s\n", err.message);
		assert_int_equal(err.kind, cases[k].kind);
		assert_int_equal(err.code, cases[k].code);
		assert_non_null(strstr(err.message, cases[k].says));
	}
	assert_int_equal(refusal("", FH_INTERP_SAME_USER).kind, FH_ERR_USAGE);
	assert_int_equal(refusal("no-such-python", FH_INTERP_SAME_USER).kind, FH_ERR_NOT_FOUND);
}

static void nothing_that_was_asked_stays(void **state)
{
	char text[600], number[32] = "";
	uint64_t began = fh_now_ns();

	need_python();
	snprintf(text, sizeof(text), "#!/bin/sh\nsleep 1000 &\necho $! >%s\nexec " SYSTEM_PYTHON " \"$@\"\n",
		 at("sleeper"));
	write_file("wrapper", 0755, text);
	struct fh_interp i = find(at("wrapper"), FH_INTERP_SAME_USER);
	fh_interp_finish(&i);
	assert_true(fh_now_ns() - began < UINT64_C(8000000000)); /* it did not wait for the sleeper */
	assert_true(fh_read_small_at(AT_FDCWD, at("sleeper"), number, sizeof(number)) > 0);
	pid_t pid = (pid_t)strtol(number, NULL, 10);
	/* Killed; init (or whoever is its reaper) may need a moment to reap it. */
	for (int k = 0; k < 200; k++) {
		char stat_path[64], stat_text[256] = "";
		snprintf(stat_path, sizeof(stat_path), "/proc/%d/stat", (int)pid);
		if (fh_read_small_at(AT_FDCWD, stat_path, stat_text, sizeof(stat_text)) <= 0 ||
		    strstr(stat_text, ") Z"))
			return;
		usleep(10000);
	}
	fail_msg("process %d lives on", (int)pid);
}

static void others_must_be_able_to_read(void **state)
{
	char path[600];

	need_python();
	make_environment("env");
	/* The environment's parents are nobody's business: the tree is mounted. */
	assert_int_equal(chmod(base, 0700), 0);
	struct fh_interp i = find(at("env/bin/python3"), FH_INTERP_OTHER_USER);
	fh_interp_finish(&i);
	assert_int_equal(chmod(at("env/bin"), 0750), 0);
	i = find(at("env/bin/python3"), FH_INTERP_SAME_USER);
	fh_interp_finish(&i);
	assert_non_null(strstr(refusal(at("env/bin/python3"), FH_INTERP_OTHER_USER).message, "mode 0750"));
	assert_int_equal(chmod(at("env/bin"), 0755), 0);
	assert_int_equal(chmod(at("env"), 0700), 0);
	snprintf(path, sizeof(path), "%s:/usr/bin", at("env/bin"));
	setenv("PATH", path, 1);
	i = find(NULL, FH_INTERP_SAME_USER);
	assert_string_equal(i.executable, at("env/bin/python3"));
	fh_interp_finish(&i);
	i = find(NULL, FH_INTERP_OTHER_USER);
	assert_string_equal(i.executable, SYSTEM_PYTHON);
	fh_interp_finish(&i);
	struct fh_err err = refusal("python3", FH_INTERP_OTHER_USER);
	assert_int_equal(err.kind, FH_ERR_NOT_EXEC);
	assert_int_equal(err.code, -EACCES);
	assert_non_null(strstr(err.message, "mode 0700"));
}

static void path_is_searched_as_a_shell_does(void **state)
{
	char path[1200];

	need_python();
	write_file("text", 0644, "#!/bin/sh\n");
	assert_int_equal(mkdir(at("empty/python3"), 0755), 0);
	snprintf(path, sizeof(path), "%s:/no/such:%s:/usr/bin", at("empty"), at("home"));
	setenv("PATH", path, 1);
	write_file("home/python3", 0755, "#!/no/such\n");
	struct fh_interp i = find(NULL, FH_INTERP_SAME_USER);
	assert_string_equal(i.executable, SYSTEM_PYTHON);
	fh_interp_finish(&i);
	assert_non_null(strstr(refusal("python3", FH_INTERP_SAME_USER).message, "/no/such"));
	setenv("PATH", at("empty"), 1);
	struct fh_err err = refusal(NULL, FH_INTERP_SAME_USER);
	assert_int_equal(err.kind, FH_ERR_NOT_FOUND);
	assert_non_null(strstr(err.message, "PATH"));
	setenv("PATH", at("home"), 1);
	assert_int_equal(refusal(NULL, FH_INTERP_SAME_USER).kind, FH_ERR_NOT_EXEC);
}

/* The one file in the cache folder. */
static void cached_file(char path[512])
{
	fh_autodir DIR *dir = opendir(at("home/.cache/fumehood"));
	struct dirent *e;
	int n = 0;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, 512, "%s/%s", at("home/.cache/fumehood"), e->d_name);
		n++;
	}
	assert_int_equal(n, 1);
}

static void replace_in_file(const char *path, const char *what, const char *by)
{
	fh_autobuf text, changed;
	const char *found;

	fh_buf_init(&text, 1 << 20);
	fh_buf_init(&changed, 1 << 20);
	assert_int_equal(fh_read_file_at(AT_FDCWD, path, &text), 0);
	found = strstr(fh_buf_str(&text), what);
	assert_non_null(found);
	fh_buf_add(&changed, text.data, (size_t)(found - text.data));
	fh_buf_adds(&changed, by);
	fh_buf_adds(&changed, found + strlen(what));
	fh_autofd int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(fh_write_all(fd, changed.data, changed.len), 0);
}

static void assert_version(const char *name, const char *want)
{
	struct fh_interp i = find(at(name), FH_INTERP_SAME_USER);

	assert_string_equal(i.version, want);
	fh_interp_finish(&i);
}

static void an_answer_is_kept(void **state)
{
	char path[512], true_version[32], line[64];
	struct stat st;

	need_python();
	make_environment("env");
	struct fh_interp i = find(at("env/bin/python3"), FH_INTERP_SAME_USER);
	snprintf(true_version, sizeof(true_version), "%s", i.version);
	snprintf(line, sizeof(line), "version\t%s", i.version);
	fh_interp_finish(&i);
	cached_file(path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* What is kept is used, ... */
	replace_in_file(path, line, "version\t9.9.9");
	assert_version("env/bin/python3", "9.9.9");
	/* ... but not by others' leave, ... */
	assert_int_equal(chmod(path, 0644), 0);
	assert_version("env/bin/python3", true_version);
	/* ... (asked again, it was written anew, private) ... */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* ... nor damaged, ... */
	replace_in_file(path, "fumehood-probe end", "fumehood-probe en");
	assert_version("env/bin/python3", true_version);
	replace_in_file(path, "interp 1", "interp 2");
	assert_version("env/bin/python3", true_version);
	assert_int_equal(truncate(path, 0), 0);
	assert_version("env/bin/python3", true_version);
	/* ... nor once the environment has changed. */
	replace_in_file(path, line, "version\t9.9.9");
	assert_version("env/bin/python3", "9.9.9");
	write_file("env/pyvenv.cfg", 0644, "home = /usr/bin\n");
	assert_version("env/bin/python3", true_version);
}

static void try_environment(void)
{
	struct fh_interp i = find(at("env/bin/python3"), FH_INTERP_SAME_USER);

	fh_interp_finish(&i);
}

static void no_cache_is_no_trouble(void **state)
{
	need_python();
	make_environment("env");
	write_file("home/.cache", 0644, "a file");
	try_environment();
	setenv("XDG_CACHE_HOME", at("no/such"), 1);
	try_environment();
	/* A folder where anybody can write is not used. */
	assert_int_equal(chmod(at("empty"), 0777), 0);
	setenv("XDG_CACHE_HOME", at("empty"), 1);
	try_environment();
	assert_int_not_equal(access(at("empty/fumehood"), F_OK), 0);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	try_environment();
}

/* The whole of it: a program from a descriptor, of more than an argument can hold. */
static void a_program_runs(void **state)
{
	const char *const args[] = {"one", "two words"};
	fh_autofree char **argv = NULL;
	char said[256] = "";
	struct fh_err err;
	int out[2], status, source;

	need_python();
	struct fh_interp i = find(SYSTEM_PYTHON, FH_INTERP_SAME_USER);
	assert_int_equal(fh_interp_python_argv(&i, args, FH_ARRAY_LEN(args), &argv, &err), 0);
	source = memfd_create("source", MFD_CLOEXEC);
	assert_true(source >= 0);
	for (int k = 0; k < 20000; k++)
		assert_int_equal(fh_write_all(source, "# a comment\n", 12), 0);
	const char *text =
	    "import sys, os\nprint(__name__, sys.argv, os.path.exists('/proc/self/fd/3'))\nsys.exit(7)\n";
	assert_int_equal(fh_write_all(source, text, strlen(text)), 0);
	assert_int_equal(lseek(source, 0, SEEK_SET), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int high = fcntl(source, F_DUPFD, 10);
		dup2(out[1], 1);
		dup2(high, FH_INTERP_SOURCE_FD);
		close(high);
		execv(argv[0], argv);
		_exit(126);
	}
	close(out[1]);
	close(source);
	for (size_t n = 0; n < sizeof(said) - 1;) {
		ssize_t got = read(out[0], said + n, sizeof(said) - 1 - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_string_equal(said, "__main__ ['<sandbox>', 'one', 'two words'] False\n");
	assert_int_equal(WEXITSTATUS(status), 7);
	fh_interp_finish(&i);
}

#define EACH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(the_systems_own_needs_nothing),
	    EACH(an_environment_stays_one),
	    EACH(an_environment_in_a_project_shows_only_itself),
	    EACH(links_on_the_way_are_shown),
	    EACH(a_script_is_asked_for_what_it_starts),
	    EACH(what_is_no_interpreter_is_said_so),
	    EACH(nothing_that_was_asked_stays),
	    EACH(others_must_be_able_to_read),
	    EACH(path_is_searched_as_a_shell_does),
	    EACH(an_answer_is_kept),
	    EACH(no_cache_is_no_trouble),
	    EACH(a_program_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
