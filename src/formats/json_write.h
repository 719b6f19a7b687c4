/* Appends JSON to a buffer: one line (or indented, for people), members in the order they are given, always
 * valid UTF-8 whatever the strings hold (bad bytes and NUL become U+FFFD). Commas are put by the writer. It
 * cannot fail midway: a full buffer is told at the end; wrong nesting is a bug and asserted. */
#ifndef FH_FORMATS_JSON_WRITE_H
#define FH_FORMATS_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define FH_JSON_DEPTH_MAX 32

struct fh_json {
	struct fh_buf *into;
	unsigned depth;
	uint64_t filled; /* bit d: the container at depth d has a member already */
	bool after_key;
	bool indented; /* may be set after fh_json_init: a member a line, two spaces a level */
};

void fh_json_init(struct fh_json *j, struct fh_buf *into);
/* 0, or -E2BIG when the buffer was too small; everything that was opened must be closed. */
int fh_json_finish(struct fh_json *j);

void fh_json_open_object(struct fh_json *j);
void fh_json_close_object(struct fh_json *j);
void fh_json_open_array(struct fh_json *j);
void fh_json_close_array(struct fh_json *j);

/* The name of the next value; only inside an object. */
void fh_json_key(struct fh_json *j, const char *name);

void fh_json_null(struct fh_json *j);
void fh_json_bool(struct fh_json *j, bool value);
void fh_json_u64(struct fh_json *j, uint64_t value);
void fh_json_i64(struct fh_json *j, int64_t value);
/* thousandths / 1000 with exactly three decimals: microseconds as milliseconds, say. */
void fh_json_thousandths(struct fh_json *j, uint64_t thousandths);
void fh_json_string(struct fh_json *j, const char *s); /* NULL is written as null */
void fh_json_bytes(struct fh_json *j, const char *bytes, size_t n);
/* The bytes as a base64 string. */
void fh_json_base64(struct fh_json *j, const void *bytes, size_t n);

#endif
