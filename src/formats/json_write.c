/* The JSON appender; see json_write.h. */
#include "formats/json_write.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "formats/base64.h"
#include "formats/utf8.h"

void fh_json_init(struct fh_json *j, struct fh_buf *into)
{
	*j = (struct fh_json){.into = into};
}

int fh_json_finish(struct fh_json *j)
{
	assert(j->depth == 0 && !j->after_key);
	return j->into->overflow ? -E2BIG : 0;
}

static void break_line(struct fh_json *j)
{
	if (j->indented)
		fh_buf_addf(j->into, "\n%*s", (int)(2 * j->depth), "");
}

/* Puts the comma that is due before a value or a key. */
static void begin(struct fh_json *j)
{
	uint64_t bit = 1ull << j->depth;

	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (j->depth && (j->filled & bit))
		fh_buf_addc(j->into, ',');
	j->filled |= bit;
	if (j->depth)
		break_line(j);
}

static void open_container(struct fh_json *j, char bracket)
{
	begin(j);
	assert(j->depth < FH_JSON_DEPTH_MAX);
	j->depth++;
	j->filled &= ~(1ull << j->depth);
	fh_buf_addc(j->into, bracket);
}

static void close_container(struct fh_json *j, char bracket)
{
	assert(j->depth > 0 && !j->after_key);
	j->depth--;
	if (j->filled & (1ull << (j->depth + 1)))
		break_line(j);
	fh_buf_addc(j->into, bracket);
}

void fh_json_open_object(struct fh_json *j)
{
	open_container(j, '{');
}

void fh_json_close_object(struct fh_json *j)
{
	close_container(j, '}');
}

void fh_json_open_array(struct fh_json *j)
{
	open_container(j, '[');
}

void fh_json_close_array(struct fh_json *j)
{
	close_container(j, ']');
}

/* Beside what JSON wants escaped: what a terminal obeys (DEL, C1 controls) and what some readers take for the
 * end of a line (NEL, U+2028, U+2029), so that one value stays on one line everywhere. */
static bool needs_escape(uint32_t code)
{
	return code < 0x20 || code == '"' || code == '\\' || (code >= 0x7f && code < 0xa0) ||
	       code == 0x2028 || code == 0x2029;
}

static void put_escape(struct fh_buf *b, uint32_t code)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *at = code && code < 0x7f ? strchr(plain, (int)code) : NULL;

	if (at)
		fh_buf_addf(b, "\\%c", letters[at - plain]);
	else
		fh_buf_addf(b, "\\u%04x", code);
}

static void put_string(struct fh_buf *b, const char *bytes, size_t n)
{
	size_t from = 0, i = 0, length;
	uint32_t code = 0;

	fh_buf_addc(b, '"');
	while (i < n && !b->overflow) {
		enum fh_utf8_kind kind = fh_utf8_next(bytes + i, n - i, &length, &code);
		bool good = kind == FH_UTF8_GOOD && code != 0;
		if (good && !needs_escape(code)) {
			i += length;
			continue;
		}
		fh_buf_add(b, bytes + from, i - from);
		if (good)
			put_escape(b, code);
		else
			fh_buf_adds(b, FH_UTF8_REPLACEMENT);
		i += length;
		from = i;
	}
	if (!b->overflow)
		fh_buf_add(b, bytes + from, n - from);
	fh_buf_addc(b, '"');
}

void fh_json_key(struct fh_json *j, const char *name)
{
	assert(j->depth > 0 && !j->after_key);
	begin(j);
	put_string(j->into, name, strlen(name));
	fh_buf_adds(j->into, j->indented ? ": " : ":");
	j->after_key = true;
}

void fh_json_null(struct fh_json *j)
{
	begin(j);
	fh_buf_adds(j->into, "null");
}

void fh_json_bool(struct fh_json *j, bool value)
{
	begin(j);
	fh_buf_adds(j->into, value ? "true" : "false");
}

void fh_json_u64(struct fh_json *j, uint64_t value)
{
	begin(j);
	fh_buf_addf(j->into, "%" PRIu64, value);
}

void fh_json_i64(struct fh_json *j, int64_t value)
{
	begin(j);
	fh_buf_addf(j->into, "%" PRId64, value);
}

void fh_json_thousandths(struct fh_json *j, uint64_t thousandths)
{
	begin(j);
	fh_buf_addf(j->into, "%" PRIu64 ".%03" PRIu64, thousandths / 1000, thousandths % 1000);
}

void fh_json_bytes(struct fh_json *j, const char *bytes, size_t n)
{
	begin(j);
	put_string(j->into, bytes, n);
}

void fh_json_string(struct fh_json *j, const char *s)
{
	if (s)
		fh_json_bytes(j, s, strlen(s));
	else
		fh_json_null(j);
}

void fh_json_base64(struct fh_json *j, const void *bytes, size_t n)
{
	begin(j);
	fh_buf_addc(j->into, '"');
	fh_base64_encode(bytes, n, j->into);
	fh_buf_addc(j->into, '"');
}
