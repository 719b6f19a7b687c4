/* One captured stream in constant memory: everything is counted and hashed, the head and the tail are kept.
 *
 * With `keep` bytes to keep, the first 35 % are the head and the rest the tail, a ring; while the total fits
 * in `keep` everything is kept and nothing is cut. All memory is taken at creation. */
#ifndef FH_RUN_CAPTURE_H
#define FH_RUN_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fumehood/result.h"

#define FH_CAPTURE_HEAD_PERCENT 35

struct fh_capture;

int fh_capture_create(uint64_t keep_bytes, struct fh_capture **ret, struct fh_err *err);
/* No SHA-256 of the whole stream: it costs more than everything else that is done with it. Before the first byte. */
void fh_capture_leave_sum(struct fh_capture *c);
void fh_capture_destroy(struct fh_capture *c);

/* Also writes everything to `fd` (not owned), up to `cap_bytes`; a failed write stops the spill and is
 * reported by fh_capture_spill_error, never by losing the count. */
void fh_capture_spill_to(struct fh_capture *c, int fd, uint64_t cap_bytes);
int fh_capture_spill_error(const struct fh_capture *c);

/* Takes the next n bytes of the stream. Never fails, never allocates. */
void fh_capture_add(struct fh_capture *c, const void *bytes, size_t n);
uint64_t fh_capture_total(const struct fh_capture *c);

/* Fills `ret` (its strings are heap and become the result's): cut on UTF-8 borders, text made valid. */
int fh_capture_finish_stream(struct fh_capture *c, struct fh_stream *ret, struct fh_err *err);

#endif
