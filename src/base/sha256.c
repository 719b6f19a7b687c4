/* SHA-256; see sha256.h.
 *
 * The low-level calls are deprecated in favour of EVP, but they are the ones that need no heap, no provider loading and
 * a few kilobytes of a static program instead of four megabytes. */
#define OPENSSL_SUPPRESS_DEPRECATED 1
#include "base/sha256.h"

#include <openssl/sha.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct fh_sha256), "fh_sha256 must hold SHA256_CTX");
_Static_assert(_Alignof(SHA256_CTX) <= _Alignof(struct fh_sha256), "and be aligned for it");

void fh_sha256_init(struct fh_sha256 *s)
{
	SHA256_Init((SHA256_CTX *)s->opaque);
}

void fh_sha256_add(struct fh_sha256 *s, const void *bytes, size_t n)
{
	SHA256_Update((SHA256_CTX *)s->opaque, bytes, n);
}

void fh_sha256_hex(const struct fh_sha256 *s, char hex[FH_SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";
	struct fh_sha256 copy = *s;
	unsigned char sum[FH_SHA256_BYTES];

	SHA256_Final(sum, (SHA256_CTX *)copy.opaque);
	for (int i = 0; i < FH_SHA256_BYTES; i++) {
		hex[2 * i] = digits[sum[i] >> 4];
		hex[2 * i + 1] = digits[sum[i] & 15];
	}
	hex[2 * FH_SHA256_BYTES] = '\0';
}
