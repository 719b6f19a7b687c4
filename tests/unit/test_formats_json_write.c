/* The JSON writer and base64: what comes out is what jansson reads back, whatever went in. */
#include "formats/json_write.h"

#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/own.h"
#include "formats/base64.h"

static void one_of_each(void **state)
{
	fh_autobuf b;
	struct fh_json j;

	fh_buf_init(&b, 1000);
	fh_json_init(&j, &b);
	fh_json_open_object(&j);
	fh_json_key(&j, "a");
	fh_json_open_array(&j);
	fh_json_null(&j);
	fh_json_bool(&j, true);
	fh_json_bool(&j, false);
	fh_json_u64(&j, UINT64_MAX);
	fh_json_i64(&j, INT64_MIN);
	fh_json_thousandths(&j, 12007);
	fh_json_thousandths(&j, 0);
	fh_json_open_object(&j);
	fh_json_close_object(&j);
	fh_json_open_array(&j);
	fh_json_close_array(&j);
	fh_json_close_array(&j);
	fh_json_key(&j, "b\"");
	fh_json_string(&j, "x");
	fh_json_key(&j, "c");
	fh_json_string(&j, NULL);
	fh_json_key(&j, "d");
	fh_json_base64(&j, "hello", 5);
	fh_json_close_object(&j);
	assert_int_equal(fh_json_finish(&j), 0);
	assert_string_equal(
	    fh_buf_str(&b),
	    "{\"a\":[null,true,false,18446744073709551615,-9223372036854775808,12.007,0.000,{},[]],"
	    "\"b\\\"\":\"x\",\"c\":null,\"d\":\"aGVsbG8=\"}");
}

static void strings_are_escaped(void **state)
{
	static const struct {
		const char *in;
		size_t n;
		const char *out;
	} rows[] = {
	    {"", 0, "\"\""},
	    {"a\"\\/", 4, "\"a\\\"\\\\/\""},
	    {"\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""},
	    {"\x01\x1b\x1f\x7f", 4, "\"\\u0001\\u001b\\u001f\\u007f\""},
	    {"\xc2\x85\xc2\x9b\xc2\xa0", 6, "\"\\u0085\\u009b\xc2\xa0\""},
	    {"\xe2\x80\xa8\xe2\x80\xa9", 6, "\"\\u2028\\u2029\""},
	    {"\xf0\x9f\x98\x80", 4, "\"\xf0\x9f\x98\x80\""},
	    {"a\0b", 3,
	     "\"a\xef\xbf\xbd"
	     "b\""},
	    {"\xff\xe2\x82", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
	};

	for (size_t i = 0; i < FH_ARRAY_LEN(rows); i++) {
		fh_autobuf b;
		struct fh_json j;
		fh_buf_init(&b, 100);
		fh_json_init(&j, &b);
		fh_json_bytes(&j, rows[i].in, rows[i].n);
		assert_int_equal(fh_json_finish(&j), 0);
		assert_string_equal(fh_buf_str(&b), rows[i].out);
	}
}

/* Random bytes: always one line, always JSON to another reader. */
static void any_bytes_give_json(void **state)
{
	uint32_t seed = 1;
	char bytes[64];

	for (int i = 0; i < 20000; i++) {
		fh_autobuf b;
		struct fh_json j;
		json_t *back;
		for (size_t k = 0; k < sizeof(bytes); k++) {
			seed = seed * 1664525u + 1013904223u;
			bytes[k] = (char)(seed >> 24);
		}
		fh_buf_init(&b, 1000);
		fh_json_init(&j, &b);
		fh_json_bytes(&j, bytes, sizeof(bytes) - (size_t)(i % 64));
		assert_int_equal(fh_json_finish(&j), 0);
		assert_null(strchr(b.data, '\n'));
		back = json_loadb(b.data, b.len, JSON_DECODE_ANY, NULL);
		assert_non_null(back);
		json_decref(back);
	}
}

static void a_full_buffer_is_told_at_the_end(void **state)
{
	for (size_t max = 0; max < 30; max++) {
		fh_autobuf b;
		struct fh_json j;
		fh_buf_init(&b, max);
		fh_json_init(&j, &b);
		fh_json_open_object(&j);
		fh_json_key(&j, "key");
		fh_json_string(&j, "twelve chars");
		fh_json_close_object(&j);
		/* {"key":"twelve chars"} is 22 bytes. */
		assert_int_equal(fh_json_finish(&j), max >= 22 ? 0 : -E2BIG);
	}
}

static void base64_of_the_rfc(void **state)
{
	static const char *const rows[][2] = {
	    {"", ""},
	    {"f", "Zg=="},
	    {"fo", "Zm8="},
	    {"foo", "Zm9v"},
	    {"foob", "Zm9vYg=="},
	    {"fooba", "Zm9vYmE="},
	    {"foobar", "Zm9vYmFy"},
	    {"\xfb\xff\xfe", "+//+"},
	};

	for (size_t i = 0; i < FH_ARRAY_LEN(rows); i++) {
		fh_autobuf text, back;
		fh_buf_init(&text, 100);
		fh_buf_init(&back, 100);
		assert_int_equal(fh_base64_encode(rows[i][0], strlen(rows[i][0]), &text), 0);
		assert_string_equal(fh_buf_str(&text), rows[i][1]);
		assert_int_equal(fh_base64_decode(rows[i][1], strlen(rows[i][1]), &back), 0);
		assert_string_equal(fh_buf_str(&back), rows[i][0]);
	}
}

static void base64_is_strict(void **state)
{
	static const char *const refused[] = {
	    "Z",      "Zg",     "Zg=",  "Zm9",  "====", "Z===", "=Zg=",     "Zg==Zg==",
	    "Zg=a",   "Zm9v\n", "Zm9 ", "Zm-_", "Zh==", "Zm9=", "Zm8=Zm8=", "\xff\xff\xff\xff",
	    "Zm9vZg", " Zg=",
	};

	for (size_t i = 0; i < FH_ARRAY_LEN(refused); i++) {
		fh_autobuf b;
		fh_buf_init(&b, 100);
		if (fh_base64_decode(refused[i], strlen(refused[i]), &b) != -EINVAL)
			fail_msg("'%s' was taken", refused[i]);
	}
	fh_autobuf small;
	fh_buf_init(&small, 5);
	assert_int_equal(fh_base64_decode("Zm9vYmFy", 8, &small), -E2BIG);
	fh_buf_finish(&small);
	assert_int_equal(fh_base64_decode("Zm9vYmE=", 8, &small), 0);
}

static void base64_round_trips(void **state)
{
	unsigned char bytes[256];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		fh_autobuf text, back;
		fh_buf_init(&text, 400);
		fh_buf_init(&back, 300);
		assert_int_equal(fh_base64_encode(bytes, n, &text), 0);
		assert_int_equal(text.len, (n + 2) / 3 * 4);
		assert_int_equal(fh_base64_decode(fh_buf_str(&text), text.len, &back), 0);
		assert_int_equal(back.len, n);
		if (n)
			assert_memory_equal(back.data, bytes, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_of_each),         cmocka_unit_test(strings_are_escaped),
	    cmocka_unit_test(any_bytes_give_json), cmocka_unit_test(a_full_buffer_is_told_at_the_end),
	    cmocka_unit_test(base64_of_the_rfc),   cmocka_unit_test(base64_is_strict),
	    cmocka_unit_test(base64_round_trips),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
