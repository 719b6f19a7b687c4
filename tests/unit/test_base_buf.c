/* Bounded buffers keep their bound. */
#include "base/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void holds_up_to_its_maximum(void **state)
{
	fh_autobuf b;

	fh_buf_init(&b, 5);
	assert_int_equal(fh_buf_adds(&b, "abc"), 0);
	assert_int_equal(fh_buf_adds(&b, "de"), 0);
	assert_string_equal(fh_buf_str(&b), "abcde");
	assert_int_equal(fh_buf_addc(&b, 'f'), -E2BIG);
	assert_true(b.overflow);
	assert_string_equal(fh_buf_str(&b), "abcde");
	assert_int_equal(fh_buf_addc(&b, 'f'), -E2BIG);
}

static void formats_within_its_maximum(void **state)
{
	fh_autobuf b;

	fh_buf_init(&b, 8);
	assert_int_equal(fh_buf_addf(&b, "%d-%s", 12, "abcde"), 0);
	assert_string_equal(fh_buf_str(&b), "12-abcde");
	assert_int_equal(fh_buf_addf(&b, "%d", 1), -E2BIG);
}

static void empty_is_a_string(void **state)
{
	fh_autobuf b;

	fh_buf_init(&b, 0);
	assert_string_equal(fh_buf_str(&b), "");
	assert_int_equal(fh_buf_add(&b, "", 0), 0);
	assert_int_equal(fh_buf_addc(&b, 'x'), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_up_to_its_maximum),
		cmocka_unit_test(formats_within_its_maximum),
		cmocka_unit_test(empty_is_a_string),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
