/* UTF-8; see utf8.h. */
#include "formats/utf8.h"

/* How the byte that leads a character fixes the next one; table 3-7 of the Unicode standard. */
struct lead {
	unsigned char length;          /* of the whole character; 0 = leads nothing */
	unsigned char lowest, highest; /* of the second byte */
};

static struct lead lead_of(unsigned char c)
{
	if (c < 0x80)
		return (struct lead){1, 0, 0};
	if (c < 0xc2)
		return (struct lead){0, 0, 0};
	if (c < 0xe0)
		return (struct lead){2, 0x80, 0xbf};
	if (c < 0xf0)
		return (struct lead){3, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf};
	if (c < 0xf5)
		return (struct lead){4, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf};
	return (struct lead){0, 0, 0};
}

enum fh_utf8_kind fh_utf8_next(const char *bytes, size_t n, size_t *ret_length, uint32_t *ret_code)
{
	const unsigned char *p = (const unsigned char *)bytes;
	struct lead lead = lead_of(p[0]);
	uint32_t code = lead.length < 2 ? p[0] : p[0] & (0x7fu >> lead.length);
	size_t i;

	*ret_length = 1;
	if (lead.length == 0)
		return FH_UTF8_BAD;
	for (i = 1; i < lead.length; i++) {
		if (i >= n) {
			*ret_length = i;
			return FH_UTF8_SHORT;
		}
		if (p[i] < (i == 1 ? lead.lowest : 0x80) || p[i] > (i == 1 ? lead.highest : 0xbf)) {
			*ret_length = i;
			return FH_UTF8_BAD;
		}
		code = code << 6 | (p[i] & 0x3fu);
	}
	*ret_length = lead.length;
	if (ret_code)
		*ret_code = code;
	return FH_UTF8_GOOD;
}

/* Whether every byte is plain ASCII without NUL; 8 at a time, for this is what most output is. */
static size_t plain_prefix(const char *bytes, size_t n)
{
	const uint64_t high = 0x8080808080808080ull, ones = 0x0101010101010101ull;
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t word;
		__builtin_memcpy(&word, bytes + i, 8);
		if ((word & high) || ((word - ones) & ~word & high))
			break;
	}
	return i;
}

/* Where the first ill-formed part (or NUL, if those count) begins; n when there is none. */
static size_t first_bad(const char *bytes, size_t n, bool nul_is_bad)
{
	size_t i = 0, length;

	while (i < n) {
		i += plain_prefix(bytes + i, n - i);
		if (i == n || (nul_is_bad && bytes[i] == '\0'))
			break;
		if (fh_utf8_next(bytes + i, n - i, &length, NULL) != FH_UTF8_GOOD)
			break;
		i += length;
	}
	return i;
}

bool fh_utf8_is_valid(const char *bytes, size_t n)
{
	return first_bad(bytes, n, false) == n;
}

bool fh_utf8_is_binary(const char *bytes, size_t n)
{
	return first_bad(bytes, n, true) != n;
}

size_t fh_utf8_cut_back(const char *bytes, size_t n)
{
	size_t length;

	for (size_t back = 1; back <= 3 && back <= n; back++) {
		unsigned char c = (unsigned char)bytes[n - back];
		if ((c & 0xc0) == 0x80)
			continue;
		return fh_utf8_next(bytes + n - back, back, &length, NULL) == FH_UTF8_SHORT && length == back
			   ? n - back
			   : n;
	}
	return n;
}

size_t fh_utf8_cut_forward(const char *bytes, size_t n)
{
	size_t m = 0;

	while (m < n && m < 4 && ((unsigned char)bytes[m] & 0xc0) == 0x80)
		m++;
	return m < 4 ? m : 0;
}

int fh_utf8_sanitize(const char *bytes, size_t n, struct fh_buf *into)
{
	size_t i = 0, length;
	int rc = 0;

	while (i < n && rc == 0) {
		size_t good = first_bad(bytes + i, n - i, true);
		rc = fh_buf_add(into, bytes + i, good);
		i += good;
		if (i == n || rc < 0)
			break;
		fh_utf8_next(bytes + i, n - i, &length, NULL);
		rc = fh_buf_adds(into, FH_UTF8_REPLACEMENT);
		i += length;
	}
	return rc;
}

int fh_utf8_put(struct fh_buf *into, uint32_t code)
{
	char out[4];
	size_t n = 0;

	if (code < 0x80) {
		out[n++] = (char)code;
	} else if (code < 0x800) {
		out[n++] = (char)(0xc0 | code >> 6);
	} else if (code < 0x10000) {
		out[n++] = (char)(0xe0 | code >> 12);
		out[n++] = (char)(0x80 | (code >> 6 & 0x3f));
	} else {
		out[n++] = (char)(0xf0 | code >> 18);
		out[n++] = (char)(0x80 | (code >> 12 & 0x3f));
		out[n++] = (char)(0x80 | (code >> 6 & 0x3f));
	}
	if (code >= 0x80)
		out[n++] = (char)(0x80 | (code & 0x3f));
	return fh_buf_add(into, out, n);
}
