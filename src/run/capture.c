/* One captured stream in constant memory; see capture.h.
 *
 * The one block of `keep` bytes is the head followed by the ring of the tail. While the stream still fits,
 * its bytes simply lie there in order; what comes later overwrites the oldest of the ring. */
#include "run/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"
#include "base/sha256.h"
#include "formats/utf8.h"

/* The text of a stream may be three times its bytes: this keeps every size below SIZE_MAX. */
#define KEEP_BYTES_MAX (SIZE_MAX / 8)

struct fh_capture {
	uint64_t total;
	struct fh_sha256 sum;
	bool without_sum;
	int spill_fd; /* -1: no spill, or it ended */
	int spill_error;
	uint64_t spill_left;
	size_t head_cap, tail_cap;
	char kept[]; /* head_cap + tail_cap bytes */
};

int fh_capture_create(uint64_t keep_bytes, struct fh_capture **ret, struct fh_err *err)
{
	struct fh_capture *c;

	if (keep_bytes > KEEP_BYTES_MAX)
		return fh_usage(err, "%llu bytes of a stream cannot be kept", (unsigned long long)keep_bytes);
	c = malloc(sizeof(*c) + (size_t)keep_bytes);
	if (!c)
		return fh_fail(err, -ENOMEM, "take %llu bytes for a captured stream",
			       (unsigned long long)keep_bytes);
	*c = (struct fh_capture){.spill_fd = -1};
	/* keep / 100 first: keep * 35 could overflow. */
	c->head_cap = (size_t)(keep_bytes / 100 * FH_CAPTURE_HEAD_PERCENT +
			       keep_bytes % 100 * FH_CAPTURE_HEAD_PERCENT / 100);
	c->tail_cap = (size_t)keep_bytes - c->head_cap;
	fh_sha256_init(&c->sum);
	*ret = c;
	return 0;
}

void fh_capture_destroy(struct fh_capture *c)
{
	free(c);
}

void fh_capture_spill_to(struct fh_capture *c, int fd, uint64_t cap_bytes)
{
	c->spill_fd = fd;
	c->spill_left = cap_bytes;
	c->spill_error = 0;
}

int fh_capture_spill_error(const struct fh_capture *c)
{
	return c->spill_error;
}

void fh_capture_leave_sum(struct fh_capture *c)
{
	c->without_sum = true;
}

uint64_t fh_capture_total(const struct fh_capture *c)
{
	return c->total;
}

static void spill(struct fh_capture *c, const char *bytes, size_t n)
{
	if (c->spill_fd < 0 || c->spill_left == 0)
		return;
	if (n > c->spill_left)
		n = (size_t)c->spill_left;
	c->spill_left -= n;
	c->spill_error = fh_write_all(c->spill_fd, bytes, n);
	if (c->spill_error < 0)
		c->spill_fd = -1;
}

/* Puts bytes into the ring; `at` is the offset of the first in the stream, counted from the end of the head.
 */
static void keep_tail(struct fh_capture *c, uint64_t at, const char *bytes, size_t n)
{
	char *ring = c->kept + c->head_cap;
	size_t pos, first;

	if (n == 0 || c->tail_cap == 0)
		return;
	if (n > c->tail_cap) { /* its beginning would be overwritten at once */
		size_t skip = n - c->tail_cap;

		bytes += skip;
		at += skip;
		n = c->tail_cap;
	}
	pos = (size_t)(at % c->tail_cap);
	first = n < c->tail_cap - pos ? n : c->tail_cap - pos;
	memcpy(ring + pos, bytes, first);
	memcpy(ring, bytes + first, n - first);
}

void fh_capture_add(struct fh_capture *c, const void *bytes, size_t n)
{
	const char *p = bytes;

	if (n == 0)
		return;
	if (!c->without_sum)
		fh_sha256_add(&c->sum, bytes, n);
	spill(c, bytes, n);
	if (c->total < c->head_cap) {
		size_t room = c->head_cap - (size_t)c->total;
		size_t take = n < room ? n : room;

		memcpy(c->kept + c->total, p, take);
		c->total += take;
		p += take;
		n -= take;
	}
	keep_tail(c, c->total - c->head_cap, p, n);
	c->total += n;
}

/* Copies what is kept in the order it came: the head, then the ring from its oldest byte. */
static void lay_out(const struct fh_capture *c, char *into)
{
	const char *ring = c->kept + c->head_cap;
	size_t oldest = c->tail_cap ? (size_t)((c->total - c->head_cap) % c->tail_cap) : 0;

	memcpy(into, c->kept, c->head_cap);
	memcpy(into + c->head_cap, ring + oldest, c->tail_cap - oldest);
	memcpy(into + c->head_cap + c->tail_cap - oldest, ring, oldest);
}

/* The text of head and tail, each by itself: bytes that the cut brought together are no character. */
static int make_text(struct fh_stream *s)
{
	const char *tail = s->raw + s->head_bytes;
	size_t head_n = (size_t)s->head_bytes, tail_n = (size_t)(s->bytes_kept - s->head_bytes);
	fh_autobuf text;

	fh_buf_init(&text, 3 * (size_t)s->bytes_kept);
	if (fh_utf8_sanitize(s->raw, head_n, &text) < 0)
		return -ENOMEM;
	s->text_head_bytes = text.len;
	if (fh_utf8_sanitize(tail, tail_n, &text) < 0)
		return -ENOMEM;
	s->text_bytes = text.len;
	s->text = fh_buf_take(&text);
	s->binary = fh_utf8_is_binary(s->raw, head_n) || fh_utf8_is_binary(tail, tail_n);
	return s->text ? 0 : -ENOMEM;
}

int fh_capture_finish_stream(struct fh_capture *c, struct fh_stream *ret, struct fh_err *err)
{
	size_t keep = c->head_cap + c->tail_cap;
	struct fh_stream s = {.bytes_total = c->total, .truncated = c->total > keep};
	fh_autofree char *raw = malloc(keep + 1);

	if (!raw)
		return fh_fail(err, -ENOMEM, "copy a captured stream of %zu bytes", keep);
	if (s.truncated) {
		size_t head = fh_utf8_cut_back(c->kept, c->head_cap), skip;

		lay_out(c, raw);
		skip = fh_utf8_cut_forward(raw + c->head_cap, c->tail_cap);
		memmove(raw + head, raw + c->head_cap + skip, c->tail_cap - skip);
		s.head_bytes = head;
		s.bytes_kept = head + c->tail_cap - skip;
	} else {
		memcpy(raw, c->kept, (size_t)c->total);
		s.head_bytes = s.bytes_kept = c->total;
	}
	raw[s.bytes_kept] = '\0';
	s.raw = raw;
	if (make_text(&s) < 0)
		return fh_fail(err, -ENOMEM, "make text of a captured stream");
	if (!c->without_sum)
		fh_sha256_hex(&c->sum, s.sha256);
	fh_take_ptr(&raw);
	*ret = s;
	return 0;
}
