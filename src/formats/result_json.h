/* A result as the one JSON object that every door of fumehood gives out: one line, valid UTF-8, whatever the
 * program printed or called its files. The same result gives the same bytes. */
#ifndef FH_FORMATS_RESULT_JSON_H
#define FH_FORMATS_RESULT_JSON_H

#include "base/buf.h"
#include "fumehood/result.h"

enum fh_result_bytes {
	FH_RESULT_TEXT,  /* the streams as text only */
	FH_RESULT_BASE64 /* and `data_base64`, the kept bytes exactly as printed */
};

/* Appends the object without a final line end. Members that have no value are null, none is left out, but for
 * `data_base64` (on request), `chunks` (only of an interleaved run) and `receipt` (null when there is none).
 * In a stream, `text_cut` and `data_cut` say before which character of `text`, byte of the data, the middle
 * is missing; null where nothing is. 0, or -E2BIG when `into` is too small. */
int fh_result_to_json(const struct fh_result *r, enum fh_result_bytes bytes, struct fh_buf *into);

/* "SIGKILL", "SIGRTMIN+3"; "" for 0. `into` of at least 24 bytes. */
void fh_signal_name(int signal, char *into, size_t cap);

#endif
