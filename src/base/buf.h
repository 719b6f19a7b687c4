/* A growing byte buffer with a maximum that is fixed when it is made: nothing sized by input grows without a bound.
 *
 * Invariants: data is NULL or a heap block of `cap` bytes; len < cap when data is set, and data[len] is always NUL, so
 * the content can be read as a C string where it holds no NUL itself. Once an append did not fit, `overflow` stays set
 * and further appends do nothing: check once at the end. */
#ifndef FH_BASE_BUF_H
#define FH_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct fh_buf {
	char *data;
	size_t len;
	size_t cap;
	size_t max; /* most bytes of content, without the final NUL */
	bool overflow;
};

void fh_buf_init(struct fh_buf *b, size_t max_bytes);
void fh_buf_finish(struct fh_buf *b); /* frees; accepts a zeroed struct */

/* Each returns 0, or -E2BIG past the maximum, or -ENOMEM; both set `overflow`. */
int fh_buf_add(struct fh_buf *b, const void *bytes, size_t n);
int fh_buf_adds(struct fh_buf *b, const char *s);
int fh_buf_addc(struct fh_buf *b, char c);
int fh_buf_addf(struct fh_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The content as a string, "" when nothing was added; belongs to the buffer. */
const char *fh_buf_str(const struct fh_buf *b);

/* Hands the heap block over (never NULL unless memory is out); the buffer is empty afterwards. */
char *fh_buf_take(struct fh_buf *b);

static inline void fh_cleanup_buf(struct fh_buf *b)
{
	fh_buf_finish(b);
}
#define fh_autobuf __attribute__((cleanup(fh_cleanup_buf))) struct fh_buf

#endif
