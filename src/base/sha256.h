/* SHA-256 as a running sum; the arithmetic is libcrypto's. */
#ifndef FH_BASE_SHA256_H
#define FH_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define FH_SHA256_BYTES 32
#define FH_SHA256_HEX   65 /* characters with the final NUL */

struct fh_sha256 {
	uint64_t opaque[16]; /* holds libcrypto's SHA256_CTX by value: no heap, copyable */
};

void fh_sha256_init(struct fh_sha256 *s);
void fh_sha256_add(struct fh_sha256 *s, const void *bytes, size_t n);
/* Writes the digest in lower-case hex. The sum is unchanged and may go on. */
void fh_sha256_hex(const struct fh_sha256 *s, char hex[FH_SHA256_HEX]);

#endif
