/* Captured streams against a naive model: counts exact at every size, head and tail right however the bytes
 * arrive. */
#include "run/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/sha256.h"

/* xorshift: the same numbers on every machine. */
static uint64_t seed;

static uint64_t next_random(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static void finish(struct fh_capture *c, struct fh_stream *ret)
{
	struct fh_err err = {0};

	if (fh_capture_finish_stream(c, ret, &err) < 0)
		fail_msg("%s", err.message);
}

static void stream_finish(struct fh_stream *s)
{
	free(s->raw);
	free(s->text);
}

static struct fh_capture *create(uint64_t keep)
{
	struct fh_capture *c = NULL;
	struct fh_err err = {0};

	if (fh_capture_create(keep, &c, &err) < 0)
		fail_msg("%s", err.message);
	return c;
}

/* All bytes are ASCII: nothing moves for a border, so the model is two slices. */
static void assert_model(const struct fh_stream *s, const char *all, size_t total, size_t keep)
{
	size_t head = total <= keep ? total : keep * FH_CAPTURE_HEAD_PERCENT / 100;
	size_t tail = total <= keep ? 0 : keep - head;
	struct fh_sha256 sum;
	char hex[FH_SHA256_HEX];

	assert_int_equal(s->bytes_total, total);
	assert_int_equal(s->bytes_kept, head + tail);
	assert_int_equal(s->head_bytes, head);
	assert_int_equal(s->truncated, total > keep);
	assert_memory_equal(s->raw, all, head);
	assert_memory_equal(s->raw + head, all + total - tail, tail);
	assert_int_equal(s->raw[head + tail], 0);
	assert_false(s->binary);
	assert_int_equal(s->text_bytes, head + tail);
	assert_int_equal(s->text_head_bytes, head);
	assert_memory_equal(s->text, s->raw, head + tail + 1);
	fh_sha256_init(&sum);
	fh_sha256_add(&sum, all, total);
	fh_sha256_hex(&sum, hex);
	assert_string_equal(s->sha256, hex);
}

static char *random_ascii(size_t n)
{
	char *all = malloc(n + 1);

	assert_non_null(all);
	for (size_t i = 0; i < n; i++)
		all[i] = (char)('!' + next_random(90));
	return all;
}

static void run_model(size_t total, size_t keep, size_t chunk_max)
{
	struct fh_capture *c = create(keep);
	fh_autofree char *all = random_ascii(total);
	struct fh_stream s;

	for (size_t at = 0; at < total;) {
		size_t n = chunk_max == 1 ? 1 : 1 + next_random(chunk_max);

		n = n < total - at ? n : total - at;
		fh_capture_add(c, all + at, n);
		at += n;
		assert_int_equal(fh_capture_total(c), at);
	}
	finish(c, &s);
	assert_model(&s, all, total, keep);
	stream_finish(&s);
	fh_capture_destroy(c);
}

static void exact_at_the_borders(void **state)
{
	static const size_t keeps[] = {0, 1, 2, 3, 8, 100, 8192};

	seed = 1;
	for (size_t k = 0; k < FH_ARRAY_LEN(keeps); k++) {
		size_t keep = keeps[k];
		size_t totals[] = {0,        1,        keep ? keep - 1 : 0, keep,
				   keep + 1, 2 * keep, 2 * keep + 1,        5 * keep + 3};

		for (size_t t = 0; t < FH_ARRAY_LEN(totals); t++) {
			run_model(totals[t], keep, 1);
			run_model(totals[t], keep, 7);
			run_model(totals[t], keep, totals[t] + 1);
		}
	}
}

static void any_chunking_gives_the_same(void **state)
{
	for (unsigned round = 0; round < 2000; round++) {
		seed = 0x9e3779b97f4a7c15ull * (round + 1);
		run_model(next_random(3000), next_random(600), 1 + next_random(900));
	}
}

static void one_huge_write(void **state)
{
	seed = 7;
	run_model(20 << 20, 8192, 32 << 20);
}

/* The offset passes 4 GiB: no counter is of 32 bits. Blocks of zeros keep it quick. */
static void beyond_four_gigabytes(void **state)
{
	enum { BLOCK = 64 << 20 };
	char *block = calloc(1, BLOCK);
	struct fh_capture *c = create(1000);
	struct fh_stream s;

	assert_non_null(block);
	memset(block, 'z', BLOCK);
	for (int i = 0; i < 65; i++)
		fh_capture_add(c, block, BLOCK);
	fh_capture_add(c, "the end", 7);
	finish(c, &s);
	assert_true(s.bytes_total == 65ull * BLOCK + 7);
	assert_int_equal(s.bytes_kept, 1000);
	assert_string_equal(s.raw + 993, "the end");
	assert_int_equal(s.raw[992], 'z');
	stream_finish(&s);
	fh_capture_destroy(c);
	free(block);
}

static void add_string(struct fh_capture *c, const char *s)
{
	fh_capture_add(c, s, strlen(s));
}

/* keep 20: a head of 7 and a tail of 13. */
static void cuts_on_character_borders(void **state)
{
	struct fh_capture *c = create(20);
	struct fh_stream s;

	/* Bytes 6-8 are one character, which the head would cut; so are bytes 29-31, cut by the tail at 30.
	 */
	add_string(c, "123456\xe2\x82\xac"
		      "9abcdefghijklmnopqrs\xe2\x82\xac"
		      "BCDEFGHIJKL");
	finish(c, &s);
	assert_int_equal(s.bytes_total, 43);
	assert_int_equal(s.head_bytes, 6);
	assert_int_equal(s.bytes_kept, 6 + 11);
	assert_string_equal(s.raw, "123456BCDEFGHIJKL");
	assert_string_equal(s.text, s.raw);
	assert_int_equal(s.text_head_bytes, 6);
	assert_false(s.binary);
	assert_true(s.truncated);
	stream_finish(&s);
	fh_capture_destroy(c);
}

/* Random characters of every length: the text of a cut stream never holds a replacement. */
static void no_cut_makes_a_bad_character(void **state)
{
	static const char *const chars[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};

	for (unsigned round = 0; round < 1000; round++) {
		struct fh_capture *c;
		struct fh_stream s;

		seed = 0x2545f4914f6cdd1dull * (round + 1);
		c = create(next_random(80));
		for (unsigned n = (unsigned)next_random(60); n > 0; n--)
			add_string(c, chars[next_random(4)]);
		finish(c, &s);
		assert_false(s.binary);
		assert_true(s.text_bytes == s.bytes_kept);
		assert_memory_equal(s.text, s.raw, s.bytes_kept);
		stream_finish(&s);
		fh_capture_destroy(c);
	}
}

static void bad_bytes_become_text(void **state)
{
	struct fh_capture *c = create(100);
	struct fh_stream s;

	fh_capture_add(c,
		       "a\xff"
		       "b\0c\xe2\x82",
		       7);
	finish(c, &s);
	assert_int_equal(s.bytes_kept, 7);
	assert_memory_equal(s.raw,
			    "a\xff"
			    "b\0c\xe2\x82",
			    7);
	assert_string_equal(s.text, "a\xef\xbf\xbd"
				    "b\xef\xbf\xbd"
				    "c\xef\xbf\xbd");
	assert_int_equal(s.text_bytes, 12);
	assert_true(s.binary);
	assert_false(s.truncated);
	stream_finish(&s);
	/* Finishing looks, and takes nothing away. */
	add_string(c, "more");
	finish(c, &s);
	assert_int_equal(s.bytes_total, 11);
	stream_finish(&s);
	fh_capture_destroy(c);
}

/* All bytes bad: nothing to cut for, the worst growth of the text, and bytes on both sides of the cut never
 * join. */
static void binary_is_kept_whole(void **state)
{
	struct fh_capture *c = create(1000);
	char block[3000];
	struct fh_stream s;

	memset(block, 0xff, sizeof(block));
	fh_capture_add(c, block, sizeof(block));
	finish(c, &s);
	assert_int_equal(s.bytes_kept, 1000);
	assert_int_equal(s.text_bytes, 3000);
	assert_int_equal(s.text_head_bytes, 1050);
	assert_true(s.binary);
	stream_finish(&s);
	fh_capture_destroy(c);
}

static void spills_up_to_its_cap(void **state)
{
	struct fh_capture *c = create(10);
	fh_autofd int fd = memfd_create("spill", MFD_CLOEXEC);
	char got[64] = "";

	assert_true(fd >= 0);
	fh_capture_spill_to(c, fd, 12);
	for (int i = 0; i < 5; i++)
		add_string(c, "12345");
	assert_int_equal(pread(fd, got, sizeof(got), 0), 12);
	assert_string_equal(got, "123451234512");
	assert_int_equal(fh_capture_spill_error(c), 0);
	assert_int_equal(fh_capture_total(c), 25);
	fh_capture_destroy(c);
}

static void failed_spill_loses_no_count(void **state)
{
	struct fh_capture *c = create(4);
	fh_autofd int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct fh_stream s;

	assert_true(fd >= 0);
	fh_capture_spill_to(c, fd, UINT64_MAX);
	add_string(c, "abc");
	add_string(c, "defgh");
	assert_int_equal(fh_capture_spill_error(c), -ENOSPC);
	finish(c, &s);
	assert_int_equal(s.bytes_total, 8);
	assert_string_equal(s.raw, "afgh");
	stream_finish(&s);
	fh_capture_destroy(c);
}

static void absurd_keep_is_refused(void **state)
{
	struct fh_capture *c = NULL;
	struct fh_err err = {0};

	assert_int_equal(fh_capture_create(UINT64_MAX, &c, &err), -EINVAL);
	assert_null(c);
}

/* Not a bar, which the machine's load would break: the figure is printed, beside that of the sum alone. */
static void throughput(void **state)
{
	enum { BLOCK = 128 << 10, BLOCKS = 4096 };
	fh_autofree char *block = random_ascii(BLOCK);
	struct fh_capture *c = create(8192);
	struct fh_sha256 sum;
	uint64_t start = fh_now_ns(), add_ns, sum_ns;

	for (int i = 0; i < BLOCKS; i++)
		fh_capture_add(c, block, BLOCK);
	add_ns = fh_now_ns() - start;
	fh_sha256_init(&sum);
	start = fh_now_ns();
	for (int i = 0; i < BLOCKS; i++)
		fh_sha256_add(&sum, block, BLOCK);
	sum_ns = fh_now_ns() - start;
	print_message("capture %.0f MiB/s, SHA-256 alone %.0f MiB/s\n", BLOCKS / 8 * 1e9 / (double)add_ns,
		      BLOCKS / 8 * 1e9 / (double)sum_ns);
	assert_int_equal(fh_capture_total(c), (uint64_t)BLOCK * BLOCKS);
	fh_capture_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exact_at_the_borders),
	    cmocka_unit_test(any_chunking_gives_the_same),
	    cmocka_unit_test(one_huge_write),
	    cmocka_unit_test(beyond_four_gigabytes),
	    cmocka_unit_test(cuts_on_character_borders),
	    cmocka_unit_test(no_cut_makes_a_bad_character),
	    cmocka_unit_test(bad_bytes_become_text),
	    cmocka_unit_test(binary_is_kept_whole),
	    cmocka_unit_test(spills_up_to_its_cap),
	    cmocka_unit_test(failed_spill_loses_no_count),
	    cmocka_unit_test(absurd_keep_is_refused),
	    cmocka_unit_test(throughput),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
