/* The C API where nothing has to run: what is copied, who owns what, what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fumehood/fumehood.h"
#include "lib/program.h"

static struct fh_program *new_program(void)
{
	struct fh_program *p = NULL;

	assert_int_equal(fh_program_create(&p, NULL), 0);
	return p;
}

static int open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void a_command_is_copied(void **state)
{
	struct fh_program *p = new_program();
	char word[] = "echo", second[] = "hi";
	const char *argv[] = {word, second, NULL};

	assert_int_equal(fh_program_set_command(p, argv, NULL), 0);
	memset(word, 'x', 4);
	second[0] = 'x';
	assert_string_equal(p->spec.argv[0], "echo");
	assert_string_equal(p->spec.argv[1], "hi");
	assert_null(p->spec.argv[2]);
	fh_program_destroy(p);
}

static void the_last_way_to_say_what_to_run_counts(void **state)
{
	struct fh_program *p = new_program();
	const char *argv[] = {"true", NULL}, *args[] = {"a", "b", NULL};

	assert_int_equal(fh_program_set_shell(p, "exit 1", 6, args, NULL), 0);
	assert_int_equal(p->spec.source_bytes, 6);
	assert_string_equal(p->spec.argv[0], "bash");
	assert_string_equal(p->spec.argv[3], "b");
	assert_int_equal(fh_program_set_command(p, argv, NULL), 0);
	assert_null(p->spec.source);
	assert_int_equal(p->spec.source_bytes, 0);
	assert_int_equal(fh_program_set_python(p, NULL, NULL, "print(1)", 8, args, NULL), 0);
	assert_non_null(p->spec.interpreter);
	assert_memory_equal(p->spec.source, "print(1)", 8);
	assert_int_equal(fh_program_set_command(p, argv, NULL), 0);
	assert_null(p->spec.interpreter);
	assert_int_equal(p->spec.n_trees + p->spec.n_files + p->spec.n_links, 0);
	fh_program_destroy(p);
}

static void a_refused_change_changes_nothing(void **state)
{
	struct fh_program *p = new_program();
	const char *good[] = {"true", NULL}, *none[] = {NULL}, *empty[] = {"", NULL};
	struct fh_err err = {0};

	assert_int_equal(fh_program_set_command(p, good, NULL), 0);
	assert_int_equal(fh_program_set_command(p, none, &err), -EINVAL);
	assert_int_equal(err.kind, FH_ERR_USAGE);
	assert_int_equal(fh_program_set_command(p, empty, NULL), -EINVAL);
	assert_int_equal(fh_program_set_command(p, NULL, NULL), -EINVAL);
	assert_true(fh_program_set_python(p, NULL, "/nowhere/python3", "1", 1, NULL, &err) < 0);
	assert_int_equal(err.kind, FH_ERR_NOT_FOUND);
	assert_string_equal(p->spec.argv[0], "true");
	assert_null(p->spec.source);
	fh_program_destroy(p);
}

static void an_equal_name_is_replaced_in_the_environment(void **state)
{
	struct fh_program *p = new_program();
	char text[32];
	struct fh_err err = {0};

	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "V%d=%d", i % 40, i);
		assert_int_equal(fh_program_add_env(p, text, NULL), 0);
	}
	assert_int_equal(p->n_env, 40);
	assert_null(p->spec.env[40]);
	assert_string_equal(p->spec.env[0], "V0=80");
	assert_string_equal(p->spec.env[39], "V39=79");
	assert_int_equal(fh_program_add_env(p, "=x", &err), -EINVAL);
	assert_int_equal(fh_program_add_env(p, "x", &err), -EINVAL);
	assert_int_equal(p->n_env, 40);
	fh_program_destroy(p);
}

static void the_input_is_copied_and_descriptors_duplicated(void **state)
{
	struct fh_program *p = new_program();
	char bytes[] = "a\0b";
	int before = open_fds(), fd = open("/dev/null", O_RDWR | O_CLOEXEC),
	    folder = open("/", O_RDONLY | O_CLOEXEC);
	struct fh_err err = {0};

	assert_int_equal(fh_program_set_stdin(p, bytes, 3, NULL), 0);
	bytes[0] = 'x';
	assert_memory_equal(p->spec.stdin_bytes, "a\0b", 3);
	assert_int_equal(fh_program_set_stdin_fd(p, fd, NULL), 0);
	assert_int_equal(fh_program_set_stdin_fd(p, fd, NULL), 0);
	assert_int_equal(fh_program_pass_output(p, fd, -1, NULL), 0);
	assert_int_not_equal(p->spec.stdin_fd, fd);
	assert_int_equal(fcntl(p->spec.stdin_fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(p->spec.live_err_fd, -1);
	assert_int_equal(fh_program_set_stdin_fd(p, folder, &err), -EINVAL);
	assert_int_equal(fh_program_set_stdin_fd(p, 9999, &err), -EINVAL);
	assert_int_equal(fh_program_save_output(p, fd, -1, 10, &err), -EINVAL); /* no regular file */
	assert_int_equal(fh_program_pass_output(p, fd, 9999, &err), -EBADF);
	assert_true(p->spec.live_out_fd >= 0);
	close(fd);
	close(folder);
	fh_program_destroy(p);
	assert_int_equal(open_fds(), before);
}

static void a_program_in_use_cannot_be_changed_and_outlives_its_owner(void **state)
{
	struct fh_program *p = new_program();
	const char *argv[] = {"true", NULL};
	struct fh_err err = {0};
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_int_equal(fh_program_set_stdin_fd(p, fd, NULL), 0);
	close(fd);
	fd = p->spec.stdin_fd;
	fh_program_hold(p);
	assert_int_equal(fh_program_set_command(p, argv, &err), -EBUSY);
	assert_int_equal(fh_program_want_receipt(p, &err), -EBUSY);
	fh_program_destroy(p);
	assert_true(fcntl(fd, F_GETFD) >= 0); /* still there for the run */
	p->spec.release(&p->spec);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	fh_program_destroy(NULL);
}

static void an_empty_program_is_not_started(void **state)
{
	struct fh_engine *engine = NULL;
	struct fh_policy *policy = NULL;
	struct fh_program *p = new_program();
	struct fh_run *run = NULL;
	struct fh_err err = {0};

	assert_int_equal(fh_engine_open(&engine, NULL), 0);
	assert_int_equal(fh_policy_create(&policy, NULL), 0);
	assert_int_equal(fh_engine_start(engine, policy, p, &run, &err), -EINVAL);
	assert_null(run);
	assert_int_equal(err.kind, FH_ERR_USAGE);
	assert_int_equal(p->uses, 1);
	fh_policy_destroy(policy);
	fh_program_destroy(p);
	fh_engine_close(engine);
}

static void a_refused_start_gives_the_program_back(void **state)
{
	struct fh_engine *engine = NULL;
	struct fh_policy *policy = NULL;
	struct fh_program *p = new_program();
	struct fh_run *run = NULL;
	const char *argv[] = {"true", NULL};
	struct fh_err err = {0};

	assert_int_equal(fh_engine_open(&engine, NULL), 0);
	assert_int_equal(fh_policy_create(&policy, NULL), 0);
	assert_int_equal(fh_program_set_command(p, argv, NULL), 0);
	assert_int_equal(fh_program_use_workspace(p, "/nowhere/at/all", NULL), 0);
	assert_true(fh_engine_start(engine, policy, p, &run, &err) < 0);
	assert_null(run);
	assert_non_null(strstr(err.message, "/nowhere/at/all"));
	assert_int_equal(p->uses, 1);
	assert_int_equal(fh_program_want_receipt(p, NULL), 0);
	fh_policy_destroy(policy);
	fh_program_destroy(p);
	fh_engine_close(engine);
}

static void policies_are_set_hashed_and_told(void **state)
{
	struct fh_policy *one = NULL, *two = NULL;
	char a[65], b[65], *words = NULL, *json = NULL;
	struct fh_err err = {0};

	assert_int_equal(fh_policy_create(&one, NULL), 0);
	assert_int_equal(fh_policy_create(&two, NULL), 0);
	assert_int_equal(fh_policy_hash(one, a), 0);
	assert_int_equal(fh_policy_hash(two, b), 0);
	assert_string_equal(a, b);
	assert_int_equal(fh_policy_set(one, "memory", "64M", NULL), 0);
	assert_int_equal(fh_policy_set(one, "memory", "much", &err), -EINVAL);
	assert_non_null(strstr(err.message, "much"));
	assert_int_equal(fh_policy_hash(one, a), 0);
	assert_string_not_equal(a, b);
	assert_int_equal(fh_policy_add_env(one, "A=1", NULL), 0);
	assert_int_equal(fh_policy_words(one, &words, NULL), 0);
	assert_int_equal(fh_policy_json(one, &json, NULL), 0);
	assert_non_null(strstr(json, "\"64M\""));
	assert_true(strlen(words) > 100);
	assert_true(fh_policy_load(one, "/nowhere/policy.yaml", &err) < 0);
	free(words);
	free(json);
	fh_policy_destroy(one);
	fh_policy_destroy(two);
	fh_policy_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_command_is_copied),
	    cmocka_unit_test(the_last_way_to_say_what_to_run_counts),
	    cmocka_unit_test(a_refused_change_changes_nothing),
	    cmocka_unit_test(an_equal_name_is_replaced_in_the_environment),
	    cmocka_unit_test(the_input_is_copied_and_descriptors_duplicated),
	    cmocka_unit_test(a_program_in_use_cannot_be_changed_and_outlives_its_owner),
	    cmocka_unit_test(an_empty_program_is_not_started),
	    cmocka_unit_test(a_refused_start_gives_the_program_back),
	    cmocka_unit_test(policies_are_set_hashed_and_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
