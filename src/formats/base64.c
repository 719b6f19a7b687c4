/* Base64; see base64.h. */
#include "formats/base64.h"

#include <errno.h>
#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int fh_base64_encode(const void *bytes, size_t n, struct fh_buf *into)
{
	const unsigned char *p = bytes;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i += 3) {
		size_t have = n - i < 3 ? n - i : 3;
		uint32_t group = (uint32_t)p[i] << 16 | (have > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
				 (have > 2 ? p[i + 2] : 0);
		const char text[4] = {
		    alphabet[group >> 18],
		    alphabet[group >> 12 & 63],
		    have > 1 ? alphabet[group >> 6 & 63] : '=',
		    have > 2 ? alphabet[group & 63] : '=',
		};
		rc = fh_buf_add(into, text, 4);
	}
	return rc;
}

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One group of four; `pad` of them are '='. */
static int decode_group(const char *text, size_t pad, struct fh_buf *into)
{
	uint32_t group = 0;
	char out[3];

	for (size_t i = 0; i < 4; i++) {
		int value = i < 4 - pad ? value_of(text[i]) : 0;
		if (value < 0)
			return -EINVAL;
		group = group << 6 | (uint32_t)value;
	}
	if (pad && (group & ((1u << (8 * pad)) - 1)))
		return -EINVAL;
	out[0] = (char)(group >> 16);
	out[1] = (char)(group >> 8);
	out[2] = (char)group;
	return fh_buf_add(into, out, 3 - pad);
}

int fh_base64_decode(const char *text, size_t n, struct fh_buf *into)
{
	int rc = 0;

	if (n % 4)
		return -EINVAL;
	for (size_t i = 0; i < n && rc == 0; i += 4) {
		size_t pad = 0;
		if (i + 4 == n && text[i + 3] == '=')
			pad = text[i + 2] == '=' ? 2 : 1;
		rc = decode_group(text + i, pad, into);
	}
	return rc;
}
