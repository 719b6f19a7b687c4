/* UTF-8 is told apart, cut and mended as Unicode says and as Python does. */
#include "formats/utf8.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/own.h"

/* bytes.decode('utf-8', 'replace').encode(), as CPython 3.11 answers. */
static const struct {
	const char *in;
	size_t n;
	const char *out;
} python[] = {
    {"", 0, ""},
    {"\141", 1, "\141"},
    {"\141\142\143", 3, "\141\142\143"},
    {"\303\251", 2, "\303\251"},
    {"\377", 1, "\357\277\275"},
    {"\376\377", 2, "\357\277\275\357\277\275"},
    {"\200", 1, "\357\277\275"},
    {"\200\200\200\200\200", 5, "\357\277\275\357\277\275\357\277\275\357\277\275\357\277\275"},
    {"\300\200", 2, "\357\277\275\357\277\275"},
    {"\301\277", 2, "\357\277\275\357\277\275"},
    {"\302", 1, "\357\277\275"},
    {"\302\101", 2, "\357\277\275\101"},
    {"\342\202", 2, "\357\277\275"},
    {"\342\202\101", 3, "\357\277\275\101"},
    {"\342\101\202", 3, "\357\277\275\101\357\277\275"},
    {"\342\202\254", 3, "\342\202\254"},
    {"\340\200\200", 3, "\357\277\275\357\277\275\357\277\275"},
    {"\340\237\277", 3, "\357\277\275\357\277\275\357\277\275"},
    {"\340\240", 2, "\357\277\275"},
    {"\355\240\200", 3, "\357\277\275\357\277\275\357\277\275"},
    {"\355\277\277", 3, "\357\277\275\357\277\275\357\277\275"},
    {"\355\237\277", 3, "\355\237\277"},
    {"\360\200\200\200", 4, "\357\277\275\357\277\275\357\277\275\357\277\275"},
    {"\360\217\277\277", 4, "\357\277\275\357\277\275\357\277\275\357\277\275"},
    {"\360\220", 2, "\357\277\275"},
    {"\360\220\200", 3, "\357\277\275"},
    {"\360\220\200\200", 4, "\360\220\200\200"},
    {"\360\237\230\200", 4, "\360\237\230\200"},
    {"\360\237\230", 3, "\357\277\275"},
    {"\360\237\230\101", 4, "\357\277\275\101"},
    {"\360\237\342\202\254", 5, "\357\277\275\342\202\254"},
    {"\364\217\277\277", 4, "\364\217\277\277"},
    {"\364\220\200\200", 4, "\357\277\275\357\277\275\357\277\275\357\277\275"},
    {"\365\200\200\200", 4, "\357\277\275\357\277\275\357\277\275\357\277\275"},
    {"\370\210\200\200\200", 5, "\357\277\275\357\277\275\357\277\275\357\277\275\357\277\275"},
    {"\141\142\143\144\145\146\147\150\377\141\142\143\144\145\146\147\150", 17,
     "\141\142\143\144\145\146\147\150\357\277\275\141\142\143\144\145\146\147\150"},
    {"\141\142\143\144\145\146\147\150\151\152\153\154\155\156\157\303", 16,
     "\141\142\143\144\145\146\147\150\151\152\153\154\155\156\157\357\277\275"},
    {"\357\277\275", 3, "\357\277\275"},
    {"\357\273\277\170", 4, "\357\273\277\170"},
    {"\342\202\342\202\254\360\237", 7, "\357\277\275\342\202\254\357\277\275"},
    {"\141\303\142\342\202\143\360\237\230\144", 10, "\141\357\277\275\142\357\277\275\143\357\277\275\144"},
};

static void replaces_as_python_does(void **state)
{
	for (size_t i = 0; i < FH_ARRAY_LEN(python); i++) {
		fh_autobuf b;
		fh_buf_init(&b, 200);
		assert_int_equal(fh_utf8_sanitize(python[i].in, python[i].n, &b), 0);
		if (strcmp(fh_buf_str(&b), python[i].out) != 0)
			fail_msg("case %zu", i);
		assert_true(fh_utf8_is_valid(fh_buf_str(&b), b.len));
		assert_int_equal(fh_utf8_is_valid(python[i].in, python[i].n),
				 b.len == python[i].n &&
				     memcmp(b.data ? b.data : "", python[i].in, b.len) == 0);
	}
}

static void nul_is_text_to_nobody(void **state)
{
	fh_autobuf b;

	fh_buf_init(&b, 100);
	assert_true(fh_utf8_is_valid("a\0b", 3));
	assert_true(fh_utf8_is_binary("a\0b", 3));
	assert_true(fh_utf8_is_binary("12345678\0", 9));
	assert_true(fh_utf8_is_binary("\xff", 1));
	assert_false(fh_utf8_is_binary("caf\xc3\xa9", 5));
	assert_false(fh_utf8_is_binary("", 0));
	assert_int_equal(fh_utf8_sanitize("a\0b\0", 4, &b), 0);
	assert_string_equal(fh_buf_str(&b), "a\xef\xbf\xbd"
					    "b\xef\xbf\xbd");
}

static void sanitizing_is_bounded(void **state)
{
	fh_autobuf b;

	fh_buf_init(&b, 8);
	assert_int_equal(fh_utf8_sanitize("\xff\xff", 2, &b), 0);
	assert_int_equal(fh_utf8_sanitize("\xff", 1, &b), -E2BIG);
	assert_int_equal(b.len, 6);
}

static void cuts_heads(void **state)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
	static const size_t cut[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};

	for (size_t n = 0; n <= 10; n++)
		assert_int_equal(fh_utf8_cut_back(text, n), cut[n]);
	/* What is no text is not cut shorter. */
	assert_int_equal(fh_utf8_cut_back("a\xff", 2), 2);
	assert_int_equal(fh_utf8_cut_back("\x80\x80\x80\x80", 4), 4);
	assert_int_equal(fh_utf8_cut_back("a\x80", 2), 2);
	assert_int_equal(fh_utf8_cut_back("\xe0\x80", 2), 2); /* overlong: leads nowhere */
	assert_int_equal(fh_utf8_cut_back("\xc3", 1), 0);
}

static void cuts_tails(void **state)
{
	static const char text[] = "\xf0\x9f\x98\x80\xc3\xa9z";

	assert_int_equal(fh_utf8_cut_forward(text, 7), 0);
	assert_int_equal(fh_utf8_cut_forward(text + 1, 6), 3);
	assert_int_equal(fh_utf8_cut_forward(text + 2, 5), 2);
	assert_int_equal(fh_utf8_cut_forward(text + 3, 4), 1);
	assert_int_equal(fh_utf8_cut_forward(text + 5, 2), 1);
	assert_int_equal(fh_utf8_cut_forward("\x80\x80\x80\x80", 4), 0);
	assert_int_equal(fh_utf8_cut_forward("\x80\x80\x80", 3), 3);
	assert_int_equal(fh_utf8_cut_forward("", 0), 0);
}

/* Every code point: put, read back; surrogates and beyond are refused. */
static void every_code_point(void **state)
{
	size_t length;
	uint32_t back;

	for (uint32_t code = 0; code <= 0x110000; code++) {
		fh_autobuf b;
		fh_buf_init(&b, 4);
		assert_int_equal(fh_utf8_put(&b, code), 0);
		bool scalar = code < 0x110000 && (code < 0xd800 || code > 0xdfff);
		enum fh_utf8_kind kind = fh_utf8_next(b.data, b.len, &length, &back);
		if ((kind == FH_UTF8_GOOD) != scalar || (scalar && (back != code || length != b.len)))
			fail_msg("U+%04X", code);
		for (size_t n = 1; scalar && n < b.len; n++) {
			assert_int_equal(fh_utf8_next(b.data, n, &length, NULL), FH_UTF8_SHORT);
			assert_int_equal(length, n);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(replaces_as_python_does),
	    cmocka_unit_test(nul_is_text_to_nobody),
	    cmocka_unit_test(sanitizing_is_bounded),
	    cmocka_unit_test(cuts_heads),
	    cmocka_unit_test(cuts_tails),
	    cmocka_unit_test(every_code_point),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
