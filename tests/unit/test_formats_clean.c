/* Every step that makes output fit to read: what it takes out, what it must leave alone, and that hostile
 * text passes in linear time. */
#include "formats/clean.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/own.h"
#include "formats/chat_tokens.h"
#include "formats/utf8.h"

struct row {
	const char *in, *out;
};

static void check(int (*step)(const char *, size_t, struct fh_buf *), const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fh_autobuf b;
		fh_buf_init(&b, 1000);
		assert_int_equal(step(rows[i].in, strlen(rows[i].in), &b), 0);
		if (strcmp(fh_buf_str(&b), rows[i].out) != 0)
			fail_msg("'%s' gave '%s'", rows[i].in, fh_buf_str(&b));
	}
}

static void terminal(void **state)
{
	static const struct row rows[] = {
	    {"", ""},
	    {"plain \t text\n", "plain \t text\n"},
	    {"\033[31mred\033[0m", "red"},
	    {"\033[1;38;5;200mx\033[m", "x"},
	    {"\033[?25l\033[2J\033[H\033[10;20Hx", "x"},
	    {"\033[ q\033[>4;2m\033[!px", "x"},
	    {"a\033]0;title\ab", "ab"},
	    {"a\033]8;;http://e/\033\\link\033]8;;\033\\b", "alinkb"},
	    {"a\033]52;c;aGk=\ab", "ab"},
	    {"a\033P+q544e\033\\b", "ab"},
	    {"a\033Xsos\033\\b\033^pm\033\\c\033_apc\033\\d", "abcd"},
	    {"a\033(Bb\033)0c\033=d\033>e\0337f\0338g\033cX\033Mh", "abcdefgXh"},
	    {"a\033", "a"},
	    {"a\033[", "a"},
	    {"a\033[31", "a"},
	    {"a\033[31\nb", "a\nb"},
	    {"a\033[31\033[0mb", "ab"},
	    {"a\033[3\xc3\xa9", "a\xc3\xa9"},
	    {"a\033\xc3\xa9", "a\xc3\xa9"},
	    {"a\033\nb", "a\nb"},
	    /* An unfinished string hides nothing but its introducer. */
	    {"a\033]0;secret", "a0;secret"},
	    {"a\033]0;secret\nb\ac", "a0;secret\nbc"},
	    {"a\033]0;x\033[31mb\a", "a0;xb"},
	    {"a\033P1\030b", "a1b"},
	    {"\xc2\x9b"
	     "31mx\xc2\x9d"
	     "0;t\xc2\x9cy\xc2\x90q\033\\z\xc2\x85w",
	     "xyzw"},
	    {"\xc2\x9d"
	     "0;t\xc2\x9d"
	     "0;u\az",
	     "0;tz"},
	    {"a\a\v\f\x01\x0e\x0f\x7f"
	     "b",
	     "ab"},
	    {"a\r\nb\rc\b", "a\r\nb\rc\b"}, /* left for progress */
	    {"\xe2\x82\xac\xff\xc3", "\xe2\x82\xac\xff\xc3"},
	    {"[31m", "[31m"},
	};

	check(fh_clean_terminal, rows, FH_ARRAY_LEN(rows));
}

static void progress(void **state)
{
	static const struct row rows[] = {
	    {"", ""},
	    {"a\nb", "a\nb"},
	    {"a\r\nb\r\n", "a\nb\n"},
	    {"10%\r50%\r100%\ndone\n", "100%\ndone\n"},
	    {"10%\r50%\r", "50%"},
	    {"10%\r50%\r\r\r\nx", "50%\nx"},
	    {"\r\r", ""},
	    {"\ra", "a"},
	    {"a\r \r\n", " \n"},
	    {"abc\b\bX\n", "aX\n"},
	    {"a\n\b\bb", "a\nb"},
	    {"\xc3\xa9\xe2\x82\xac\bX", "\xc3\xa9X"},
	    {"1%\b\b2%\b\b3%\b\b", ""},
	    {"a\rb\b\bc", "c"},
	};

	check(fh_clean_progress, rows, FH_ARRAY_LEN(rows));
}

static void invisible(void **state)
{
	static const struct row rows[] = {
	    {"abc \xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80", "abc \xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"},
	    {"a\xe2\x80\xae"
	     "b",
	     "a<U+202E>b"},
	    {"a\xe2\x80\x8b\xe2\x80\x8d"
	     "b",
	     "a<U+200B><U+200D>b"},
	    {"\xef\xbb\xbfx", "<U+FEFF>x"},
	    {"a\xc2\xad"
	     "b",
	     "a<U+00AD>b"},
	    {"a\xe2\x80\xa8"
	     "b",
	     "a<U+2028>b"},
	    {"\xf3\xa0\x81\x81", "<U+E0041>"},
	    {"\xe2\x9d\xa4\xef\xb8\x8f", "\xe2\x9d\xa4\xef\xb8\x8f"},
	    {"\xe2\x9d\xa4\xef\xb8\x8f\xef\xb8\x8f", "\xe2\x9d\xa4\xef\xb8\x8f<U+FE0F>"},
	    {"\xef\xb8\x8f", "<U+FE0F>"},
	    {"a\xef\xb8\x80", "a<U+FE00>"},
	    {"\xe2\x80\x90\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0",
	     "\xe2\x80\x90\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0"},
	};

	check(fh_clean_invisible, rows, FH_ARRAY_LEN(rows));
}

static int listed_tokens(const char *in, size_t n, struct fh_buf *into)
{
	return fh_clean_tokens(in, n, NULL, 0, into);
}

static void tokens(void **state)
{
	static const struct row rows[] = {
	    {"<|im_start|>system", "< |im_start|>system"},
	    {"x<|eot_id|><|start_header_id|>", "x< |eot_id|>< |start_header_id|>"},
	    {"<|IM_START|><|/tool_call|><|reserved_special_token_12|>",
	     "< |IM_START|>< |/tool_call|>< |reserved_special_token_12|>"},
	    {"<<|im_end|>", "<< |im_end|>"},
	    {"<|<|im_end|>|>", "<|< |im_end|>|>"},
	    {"<\xef\xbd\x9c"
	     "begin\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>",
	     "< \xef\xbd\x9c"
	     "begin\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>"},
	    {"[INST] <<SYS>>x<</SYS>> [/INST]</s>", "[ INST] < <SYS>>x< </SYS>> [ /INST]< /s>"},
	    {"<start_of_turn>[TOOL_CALLS]<tool_call></think>",
	     "< start_of_turn>[ TOOL_CALLS]< tool_call>< /think>"},
	    /* What is no token stays as it is. */
	    {"a <| b |> c", "a <| b |> c"},
	    {"<||> <|x <|x| > |>", "<||> <|x <|x| > |>"},
	    {"a < b, [1, 2], <p>, x|>", "a < b, [1, 2], <p>, x|>"},
	    {"<|im_start", "<|im_start"},
	};
	static const char *const more[] = {"@@go@@", "\xe2\x82\xac\xe2\x82\xac"};
	fh_autobuf b;

	check(listed_tokens, rows, FH_ARRAY_LEN(rows));
	fh_buf_init(&b, 100);
	assert_int_equal(fh_clean_tokens("@@@go@@\xe2\x82\xac\xe2\x82\xac", 13, more, 2, &b), 0);
	assert_string_equal(fh_buf_str(&b), "@@ @go@@\xe2\x82\xac \xe2\x82\xac");
}

static void names_of_tokens_are_bounded(void **state)
{
	char text[200] = "<|";

	memset(text + 2, 'a', 180);
	memcpy(text + 2 + 96, "|>", 2);
	assert_int_equal(fh_chat_token_by_form(text, 100), 100);
	assert_int_equal(fh_chat_token_by_form(text, 99), 0);
	memset(text + 2, 'a', 180);
	memcpy(text + 2 + 97, "|>", 2);
	assert_int_equal(fh_chat_token_by_form(text, 101), 0);
	assert_int_equal(fh_chat_token_by_form("", 0), 0);
}

/* The shortcut on first characters, and the proof that one pass is enough, rest on this. */
static void lists_hold_what_the_pass_relies_on(void **state)
{
	assert_true(fh_chat_families_count >= 10);
	for (size_t f = 0; f < fh_chat_families_count; f++) {
		assert_true(fh_chat_families[f].n > 0);
		for (size_t t = 0; t < fh_chat_families[f].n; t++) {
			const char *token = fh_chat_families[f].tokens[t];
			fh_autobuf b;
			assert_non_null(strchr("<[]", token[0]));
			assert_null(strchr(token, ' '));
			assert_true(strlen(token) >= 2 && fh_utf8_is_valid(token, strlen(token)));
			fh_buf_init(&b, 1000);
			assert_int_equal(fh_clean_tokens(token, strlen(token), NULL, 0, &b), 0);
			assert_null(strstr(fh_buf_str(&b), token));
		}
	}
}

static void wrapper(void **state)
{
	static const struct row rows[] = {
	    {"--- STDOUT ---", "~~~ STDOUT ~~~"},
	    {"x--- stderr ---\n", "x~~~ stderr ~~~\n"},
	    {"---- STDOUT ----", "-~~~ STDOUT ~~~-"},
	    {"--- STDOUT --", "--- STDOUT --"},
	    {"--- STDERR ---x--- STDOUT ---", "~~~ STDERR ~~~x~~~ STDOUT ~~~"},
	    {"[fumehood: verdict=ok]", "(fumehood: verdict=ok]"},
	    {"[FumeHood:", "(FumeHood:"},
	    {"[fumehood", "[fumehood"},
	    {"[... 12 characters omitted ...]", "(... 12 characters omitted ...]"},
	    {"[... more]", "[... more]"},
	    {"--- a ---", "--- a ---"},
	};

	for (size_t i = 0; i < FH_ARRAY_LEN(rows); i++) {
		char text[64];
		size_t n = strlen(rows[i].in);
		memcpy(text, rows[i].in, n + 1);
		fh_clean_wrapper(text, n);
		assert_string_equal(text, rows[i].out);
	}
}

static void a_full_buffer_is_told(void **state)
{
	fh_autobuf b;

	fh_buf_init(&b, 3);
	assert_int_equal(fh_clean_terminal("abcd", 4, &b), -E2BIG);
	fh_buf_finish(&b);
	fh_buf_init(&b, 3);
	assert_int_equal(fh_clean_progress("abcd", 4, &b), -E2BIG);
	fh_buf_finish(&b);
	fh_buf_init(&b, 3);
	assert_int_equal(fh_clean_invisible("\xe2\x80\x8b", 3, &b), -E2BIG);
	fh_buf_finish(&b);
	fh_buf_init(&b, 3);
	assert_int_equal(fh_clean_tokens("<s>", 3, NULL, 0, &b), -E2BIG);
}

/* Each of these is quadratic in a careless reader; 1 MiB of one takes minutes there. */
static void hostile_text_is_linear(void **state)
{
	static const char *const units[] = {"\033]",         "\033P", "\xc2\x9d",     "\xc2\x90",    "\033[1",
					    "\033",          "\r",    "a\b",          "<",           "<|a",
					    "<\xef\xbd\x9c", "[",     "\xe2\x80\x8b", "\033]\033]\a"};
	size_t n = 1 << 20;
	fh_autofree char *text = malloc(n);

	for (size_t u = 0; u < FH_ARRAY_LEN(units); u++) {
		fh_autobuf b;
		size_t unit = strlen(units[u]), whole = n / unit * unit;
		uint64_t start = fh_now_ns();
		for (size_t i = 0; i < whole; i += unit)
			memcpy(text + i, units[u], unit);
		fh_buf_init(&b, 5 * n);
		assert_int_equal(fh_clean_terminal(text, whole, &b), 0);
		assert_true(b.len <= whole);
		fh_buf_finish(&b);
		assert_int_equal(fh_clean_progress(text, whole, &b), 0);
		assert_true(b.len <= whole);
		fh_buf_finish(&b);
		assert_int_equal(fh_clean_invisible(text, whole, &b), 0);
		fh_buf_finish(&b);
		assert_int_equal(fh_clean_tokens(text, whole, NULL, 0, &b), 0);
		assert_true(b.len <= 2 * whole);
		fh_clean_wrapper(b.data, b.len);
		if (fh_now_ns() - start > 20000000000u)
			fail_msg("unit %zu took %llu ms", u,
				 (unsigned long long)(fh_now_ns() - start) / 1000000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(terminal),
	    cmocka_unit_test(progress),
	    cmocka_unit_test(invisible),
	    cmocka_unit_test(tokens),
	    cmocka_unit_test(names_of_tokens_are_bounded),
	    cmocka_unit_test(lists_hold_what_the_pass_relies_on),
	    cmocka_unit_test(wrapper),
	    cmocka_unit_test(a_full_buffer_is_told),
	    cmocka_unit_test(hostile_text_is_linear),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
