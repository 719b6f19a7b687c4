/* Bounded buffers; see buf.h. */
#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fh_buf_init(struct fh_buf *b, size_t max_bytes)
{
	*b = (struct fh_buf){.max = max_bytes};
}

void fh_buf_finish(struct fh_buf *b)
{
	free(b->data);
	*b = (struct fh_buf){.max = b->max};
}

static int reserve(struct fh_buf *b, size_t extra)
{
	size_t want, cap;
	char *grown;

	if (b->overflow)
		return -E2BIG;
	if (extra > b->max - b->len) {
		b->overflow = true;
		return -E2BIG;
	}
	want = b->len + extra + 1;
	if (want <= b->cap)
		return 0;
	cap = b->cap ? b->cap : 128;
	while (cap < want)
		cap *= 2;
	if (cap > b->max + 1)
		cap = b->max + 1;
	grown = realloc(b->data, cap);
	if (!grown) {
		b->overflow = true;
		return -ENOMEM;
	}
	b->data = grown;
	b->cap = cap;
	return 0;
}

int fh_buf_add(struct fh_buf *b, const void *bytes, size_t n)
{
	int rc = reserve(b, n);

	if (rc < 0)
		return rc;
	if (n)
		memcpy(b->data + b->len, bytes, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int fh_buf_adds(struct fh_buf *b, const char *s)
{
	return fh_buf_add(b, s, strlen(s));
}

int fh_buf_addc(struct fh_buf *b, char c)
{
	return fh_buf_add(b, &c, 1);
}

int fh_buf_addf(struct fh_buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n, rc;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	rc = n < 0 ? -EINVAL : reserve(b, (size_t)n);
	if (rc == 0) {
		vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
	return rc;
}

const char *fh_buf_str(const struct fh_buf *b)
{
	return b->data ? b->data : "";
}

char *fh_buf_take(struct fh_buf *b)
{
	char *taken = b->data ? b->data : calloc(1, 1);

	*b = (struct fh_buf){.max = b->max};
	return taken;
}
