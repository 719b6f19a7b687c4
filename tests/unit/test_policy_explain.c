/* What is said in words: explanations, names of verdicts, quoted and guessed words; and the end of a result.
 */
#include "policy/policy.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/own.h"
#include "fumehood/result.h"
#include "policy/words.h"

static void assert_has(const struct fh_buf *b, const char *part)
{
	if (!strstr(fh_buf_str(b), part))
		fail_msg("expected '%s' in:\n%s", part, fh_buf_str(b));
}

static void every_field_is_explained(void **state)
{
	struct fh_policy p;
	fh_autobuf b;

	fh_policy_init(&p);
	for (uint64_t level = FH_LEVEL_PROCESS; level <= FH_LEVEL_NAMESPACE; level++) {
		fh_buf_init(&b, 1 << 16);
		p.level = level;
		assert_int_equal(fh_policy_explain(&p, &b), 0);
		for (size_t i = 0; i < fh_fields_count; i++) {
			char line[40] = "\n";
			strncat(line, fh_fields[i].name, 30);
			strcat(line, " ");
			assert_has(&b, line);
		}
		assert_has(&b, "30s");
		assert_has(&b, "512M");
		assert_null(strstr(fh_buf_str(&b), "ALLOW WEAKER"));
		if (level == FH_LEVEL_PROCESS)
			fh_buf_finish(&b);
	}
	fh_policy_finish(&p);
}

static void explains_caveats_and_lists(void **state)
{
	struct fh_policy p;
	struct fh_err err;
	fh_autobuf b;

	fh_buf_init(&b, 1 << 16);
	fh_policy_init(&p);
	p.level = FH_LEVEL_PROCESS;
	p.allow_weaker = 1;
	p.enforce = FH_ENFORCE_KERNEL;
	p.keep_bytes = 0;
	fh_policy_add_env(&p, "TOKEN=verysecret", &err);
	fh_policy_add_env(&p, "B\x1b=1", &err);
	fh_policy_add_bind(&p, "/srv/data:/srv/data:rw", &err);
	assert_int_equal(fh_policy_explain(&p, &b), 0);
	assert_has(&b, "list the system's processes");
	assert_has(&b, "by sampling");
	assert_has(&b, "nothing runs");
	assert_has(&b, "ALLOW WEAKER");
	assert_has(&b, "'TOKEN', 'B\\x1b' (values not shown)");
	assert_has(&b, "can read AND CHANGE '/srv/data' of this system");
	assert_has(&b, "nothing of stdout and stderr is kept");
	assert_null(strstr(fh_buf_str(&b), "verysecret"));
	fh_policy_finish(&p);
}

static void a_full_buffer_is_an_error(void **state)
{
	struct fh_policy p;
	fh_autobuf b;

	fh_buf_init(&b, 100);
	fh_policy_init(&p);
	assert_int_equal(fh_policy_explain(&p, &b), -E2BIG);
	fh_policy_finish(&p);
}

static void words_are_shown_safely(void **state)
{
	char shown[FH_SHOWN_CAP];
	char longest[200];

	assert_string_equal(fh_show("", shown), "''");
	assert_string_equal(fh_show("abc", shown), "'abc'");
	assert_string_equal(fh_show("\xc3\xa9\t\x7f", shown), "'\\xc3\\xa9\\x09\\x7f'");
	memset(longest, 'a', sizeof(longest));
	for (size_t n = 0; n < sizeof(longest); n++) {
		longest[n] = '\0';
		fh_show(longest, shown);
		size_t got = strlen(shown);
		assert_true(got < FH_SHOWN_CAP);
		assert_int_equal(shown[got - 1], '\'');
		if (n == 40)
			assert_string_equal(
			    shown, "'a\\xffa\\xffa\\xffa\\xffa\\xffa\\xffa\\xffa\\xffa\\xffa\\xff...'");
		if (n >= FH_SHOWN_CAP)
			assert_string_equal(shown + got - 4, "...'");
		longest[n] = (n % 2) ? '\xff' : 'a';
	}
}

static void words_are_guessed(void **state)
{
	static const char *const words[] = {"memory", "wall", "cpu", "cpus", "file_size", "output_stop"};

	assert_string_equal(fh_nearest("memory_bytes", words, 6), "memory");
	assert_string_equal(fh_nearest("mem", words, 6), "memory");
	assert_string_equal(fh_nearest("Memory", words, 6), "memory");
	assert_string_equal(fh_nearest("mmeory", words, 6), "memory");
	assert_string_equal(fh_nearest("wal", words, 6), "wall");
	assert_string_equal(fh_nearest("filesize", words, 6), "file_size");
	assert_string_equal(fh_nearest("file-size", words, 6), "file_size");
	assert_null(fh_nearest("x", words, 6));
	assert_null(fh_nearest("", words, 6));
	assert_null(fh_nearest("unrelated", words, 6));
	assert_null(fh_nearest("memoryyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy", words, 6));
	assert_null(fh_nearest("memory", words, 0));
}

static void every_enum_has_its_name(void **state)
{
	static const char *const verdicts[] = {"ok",     "exit",      "signal", "wall",   "cpu",
					       "memory", "pids",      "disk",   "inodes", "output",
					       "policy", "cancelled", "sandbox"};

	for (size_t i = 0; i < FH_ARRAY_LEN(verdicts); i++)
		assert_string_equal(fh_verdict_name((enum fh_verdict)i), verdicts[i]);
	assert_string_equal(fh_verdict_name((enum fh_verdict)FH_ARRAY_LEN(verdicts)), "unknown");
	for (int a = 0; a < FH_AXIS_COUNT_; a++)
		assert_string_not_equal(fh_axis_name((enum fh_axis)a), "unknown");
	assert_string_equal(fh_axis_name(FH_AXIS_FILE_SIZE), "file_size");
	assert_string_equal(fh_axis_name(FH_AXIS_COUNT_), "unknown");
	for (int m = FH_MEANS_NONE; m <= FH_MEANS_PIPE; m++)
		assert_string_not_equal(fh_means_name((enum fh_means)m), "unknown");
	assert_string_equal(fh_means_name((enum fh_means)99), "unknown");
}

/* Under the address sanitizer and valgrind this is what shows a leak or a double free. */
static void results_end(void **state)
{
	struct fh_result *r = calloc(1, sizeof(*r));

	fh_result_destroy(NULL);
	r->out.raw = strdup("a");
	r->err.text = strdup("b");
	r->message = strdup("m");
	r->chunks = calloc(2, sizeof(*r->chunks));
	r->receipt.uid_map = strdup("0 0 1");
	r->receipt.n_mechanisms = 1;
	r->receipt.mechanisms = calloc(1, sizeof(char *));
	r->receipt.mechanisms[0] = strdup("userns");
	r->receipt.n_changes = 1;
	r->receipt.changes = calloc(1, sizeof(struct fh_change));
	r->receipt.changes[0].path = strdup("a/b");
	fh_result_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_field_is_explained),
	    cmocka_unit_test(explains_caveats_and_lists),
	    cmocka_unit_test(a_full_buffer_is_an_error),
	    cmocka_unit_test(words_are_shown_safely),
	    cmocka_unit_test(words_are_guessed),
	    cmocka_unit_test(every_enum_has_its_name),
	    cmocka_unit_test(results_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
