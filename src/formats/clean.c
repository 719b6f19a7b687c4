/* Steps that make output fit to be read; see clean.h. */
#include "formats/clean.h"

#include <string.h>
#include <strings.h>

#include "base/own.h"
#include "formats/chat_tokens.h"
#include "formats/utf8.h"

/* The character at `in`, and its length; a bad byte is a character of no meaning. */
static uint32_t character(const char *in, size_t n, size_t *ret_length)
{
	uint32_t code = 0;

	return fh_utf8_next(in, n, ret_length, &code) == FH_UTF8_GOOD ? code : 0xfffd;
}

/*** Terminal ***/

#define ESC 0x1b

/* What follows an introducer is looked at by its 7-bit form: U+009B is ESC [. */
static char introducer(const char *in, size_t n, size_t *ret_length)
{
	size_t length;
	uint32_t code = character(in, n, &length);

	if (code == ESC) {
		*ret_length = n > 1 ? 2 : 1;
		return n > 1 ? in[1] : 0;
	}
	*ret_length = length;
	return code >= 0x80 && code < 0xa0 ? (char)(code - 0x40) : 0;
}

/* The length of ESC [ and its parameters, intermediates and final byte; a broken one ends before what breaks
 * it. */
static size_t csi_length(const char *in, size_t n, size_t i)
{
	while (i < n && in[i] >= 0x30 && in[i] <= 0x3f)
		i++;
	while (i < n && in[i] >= 0x20 && in[i] <= 0x2f)
		i++;
	return i < n && in[i] >= 0x40 && in[i] <= 0x7e ? i + 1 : i;
}

/* The length of a string sequence up to its BEL or ST; 0 when none comes on this line or another ESC cancels
 * it. */
static size_t string_length(const char *in, size_t n, size_t i)
{
	for (; i < n; i++) {
		if (in[i] == '\a')
			return i + 1;
		if (in[i] == ESC)
			return i + 1 < n && in[i + 1] == '\\' ? i + 2 : 0;
		if (in[i] == '\xc2' && i + 1 < n &&
		    (unsigned char)in[i + 1] < 0xa0) /* C1: ST, or it cancels */
			return in[i + 1] == '\x9c' ? i + 2 : 0;
		if (in[i] == '\n' || in[i] == 0x18 || in[i] == 0x1a)
			return 0;
	}
	return 0;
}

/* How many bytes at `in`, which holds a control character there, a terminal would obey. */
static size_t sequence_length(const char *in, size_t n)
{
	size_t start, whole, i;
	char kind = introducer(in, n, &start);

	switch (kind) {
	case '[':
		return csi_length(in, n, start);
	case ']': /* OSC */
	case 'P': /* DCS */
	case 'X': /* SOS */
	case '^': /* PM */
	case '_': /* APC */
		whole = string_length(in, n, start);
		return whole ? whole : start;
	default:
		break;
	}
	if (in[0] != ESC)
		return start;
	for (i = 1; i < n && in[i] >= 0x20 && in[i] <= 0x2f; i++)
		;
	return i < n && in[i] >= 0x30 && in[i] <= 0x7e ? i + 1 : i;
}

static bool is_obeyed(uint32_t code)
{
	if (code < 0x20)
		return code != '\t' && code != '\n' && code != '\r' && code != '\b';
	return code >= 0x7f && code < 0xa0;
}

int fh_clean_terminal(const char *in, size_t n, struct fh_buf *into)
{
	size_t i = 0, length;
	int rc = 0;

	while (i < n && rc == 0) {
		uint32_t code = character(in + i, n - i, &length);
		if (is_obeyed(code))
			i += code == ESC || code >= 0x80 ? sequence_length(in + i, n - i) : length;
		else {
			rc = fh_buf_add(into, in + i, length);
			i += length;
		}
	}
	return rc;
}

/*** Progress ***/

/* Takes the last character, but none before `floor`. */
static void drop_last(struct fh_buf *b, size_t floor)
{
	while (b->len > floor) {
		unsigned char c = (unsigned char)b->data[--b->len];
		b->data[b->len] = '\0';
		if ((c & 0xc0) != 0x80)
			return;
	}
}

static int add_line(const char *line, size_t n, struct fh_buf *into)
{
	size_t floor = into->len;
	const char *last;
	int rc = 0;

	while (n && line[n - 1] == '\r')
		n--;
	last = n ? memrchr(line, '\r', n) : NULL;
	if (last) {
		n -= (size_t)(last + 1 - line);
		line = last + 1;
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		const char *back = memchr(line + i, '\b', n - i);
		size_t plain = back ? (size_t)(back - line) - i : n - i;
		rc = fh_buf_add(into, line + i, plain);
		if (rc == 0 && back)
			drop_last(into, floor);
		i += plain;
	}
	return rc;
}

int fh_clean_progress(const char *in, size_t n, struct fh_buf *into)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0;) {
		const char *end = memchr(in + i, '\n', n - i);
		size_t length = end ? (size_t)(end - in) - i : n - i;
		rc = add_line(in + i, length, into);
		if (rc == 0 && end)
			rc = fh_buf_addc(into, '\n');
		i += length + (end != NULL);
	}
	return rc;
}

/*** Invisible ***/

struct range {
	uint32_t first, last;
};

/* Sorted. What Unicode calls default-ignorable, the line separators, and characters that only look blank. */
static const struct range invisible[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c}, {0x115f, 0x1160}, {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool is_invisible(uint32_t code)
{
	if (code < invisible[0].first)
		return false;
	for (size_t i = 0; i < FH_ARRAY_LEN(invisible) && code >= invisible[i].first; i++)
		if (code <= invisible[i].last)
			return true;
	return false;
}

int fh_clean_invisible(const char *in, size_t n, struct fh_buf *into)
{
	uint32_t before = 0;
	int rc = 0;

	for (size_t i = 0, length; i < n && rc == 0; i += length) {
		uint32_t code = character(in + i, n - i, &length);
		bool selector = (code == 0xfe0e || code == 0xfe0f) && before > 0x20 && !is_invisible(before);
		if (is_invisible(code) && !selector)
			rc = fh_buf_addf(into, "<U+%04X>", (unsigned)code);
		else
			rc = fh_buf_add(into, in + i, length);
		before = code;
	}
	return rc;
}

/*** Tokens ***/

static bool begins(const char *in, size_t n, const char *token)
{
	size_t length;

	/* Nearly every comparison ends at the second character; tokens have at least two. */
	if (n < 2 || in[0] != token[0] || in[1] != token[1])
		return false;
	length = strlen(token);
	return length <= n && memcmp(in, token, length) == 0;
}

static bool begins_listed(const char *in, size_t n)
{
	/* Every listed token begins with one of these; a test holds the lists to it. */
	if (in[0] != '<' && in[0] != '[' && in[0] != ']')
		return false;
	for (size_t f = 0; f < fh_chat_families_count; f++)
		for (size_t t = 0; t < fh_chat_families[f].n; t++)
			if (begins(in, n, fh_chat_families[f].tokens[t]))
				return true;
	return fh_chat_token_by_form(in, n) != 0;
}

static bool begins_more(const char *in, size_t n, const char *const *more, size_t n_more)
{
	for (size_t t = 0; t < n_more; t++)
		if (begins(in, n, more[t]))
			return true;
	return false;
}

int fh_clean_tokens(const char *in, size_t n, const char *const *more, size_t n_more, struct fh_buf *into)
{
	int rc = 0;

	/* Every place where a token begins gets a space behind its first character. A token left in the
	 * output would have to hold that space, or else have stood in the input just so. */
	for (size_t i = 0, length; i < n && rc == 0; i += length) {
		character(in + i, n - i, &length);
		rc = fh_buf_add(into, in + i, length);
		if (rc == 0 && (begins_listed(in + i, n - i) || begins_more(in + i, n - i, more, n_more)))
			rc = fh_buf_addc(into, ' ');
	}
	return rc;
}

/*** Wrapper ***/

void fh_clean_wrapper(char *text, size_t n)
{
	static const char *const sections[] = {"--- STDOUT ---", "--- STDERR ---"};
	const size_t length = 14;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '[' && n - i >= 10 && strncasecmp(text + i, "[fumehood:", 10) == 0)
			text[i] = '(';
		if (text[i] == '[' && n - i >= 6 && memcmp(text + i, "[... ", 5) == 0 && text[i + 5] >= '0' &&
		    text[i + 5] <= '9')
			text[i] = '(';
		if (text[i] != '-' || n - i < length)
			continue;
		if (strncasecmp(text + i, sections[0], length) == 0 ||
		    strncasecmp(text + i, sections[1], length) == 0) {
			memset(text + i, '~', 3);
			memset(text + i + length - 3, '~', 3);
		}
	}
}
