/* Names fit to be shown; see pathname.h. */
#include "isolate/pathname.h"

#include <stdint.h>

#include "base/own.h"
#include "formats/utf8.h"

static const char digits[] = "0123456789abcdef";

static bool is_hidden(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
	    {0, 0x1f},        {'\\', '\\'},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
	    {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f},
	};

	for (size_t i = 0; i < FH_ARRAY_LEN(ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* Whether the character at the start may be shown as it is; how many bytes it takes. */
static bool is_plain(const char *bytes, size_t n, size_t *ret_length)
{
	uint32_t code;

	return fh_utf8_next(bytes, n, ret_length, &code) == FH_UTF8_GOOD && !is_hidden(code);
}

int fh_pathname_escape(const char *bytes, size_t n, struct fh_buf *into)
{
	int rc = 0;

	for (size_t i = 0, length; i < n && rc == 0; i += length) {
		char text[4 * 4];

		if (is_plain(bytes + i, n - i, &length)) {
			rc = fh_buf_add(into, bytes + i, length);
			continue;
		}
		for (size_t k = 0; k < length; k++) {
			unsigned char c = (unsigned char)bytes[i + k];

			text[4 * k] = '\\';
			text[4 * k + 1] = 'x';
			text[4 * k + 2] = digits[c >> 4];
			text[4 * k + 3] = digits[c & 15];
		}
		rc = fh_buf_add(into, text, 4 * length);
	}
	return rc;
}

static bool is_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool fh_pathname_is_escaped(const char *text, size_t n)
{
	for (size_t i = 0, length; i < n; i += length) {
		if (is_plain(text + i, n - i, &length))
			continue;
		if (n - i < 4 || text[i] != '\\' || text[i + 1] != 'x' || !is_digit(text[i + 2]) ||
		    !is_digit(text[i + 3]))
			return false;
		length = 4;
	}
	return true;
}
