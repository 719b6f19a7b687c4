/* UTF-8: is it, where may it be cut, and how bad bytes are replaced. Pure functions of bytes.
 *
 * Well-formed is what Unicode says (table 3-7): no overlong forms, no surrogates, nothing past U+10FFFF. Each
 * maximal part of an ill-formed sequence becomes one U+FFFD, as WHATWG decoders and Python's errors='replace'
 * do. */
#ifndef FH_FORMATS_UTF8_H
#define FH_FORMATS_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define FH_UTF8_REPLACEMENT "\xef\xbf\xbd"

enum fh_utf8_kind {
	FH_UTF8_GOOD,  /* a whole character */
	FH_UTF8_BAD,   /* a maximal ill-formed part */
	FH_UTF8_SHORT, /* the text ends inside a character that is well-formed so far */
};

/* What stands at the start of the n (at least 1) bytes, and how many bytes it takes (1 to 4, at most n).
 * `ret_code` is set for good characters only; it may be NULL. */
enum fh_utf8_kind fh_utf8_next(const char *bytes, size_t n, size_t *ret_length, uint32_t *ret_code);

bool fh_utf8_is_valid(const char *bytes, size_t n);
/* Not text: ill-formed somewhere, or holds NUL. */
bool fh_utf8_is_binary(const char *bytes, size_t n);

/* For a head that was cut after n bytes: the largest m <= n (at most 3 less) that does not end inside a
 * character. */
size_t fh_utf8_cut_back(const char *bytes, size_t n);
/* For a tail that was cut before these n bytes: the smallest m (0 to 3) at which a character starts; 0 where
 * the bytes are no text anyway, so that nothing is lost for nothing. */
size_t fh_utf8_cut_forward(const char *bytes, size_t n);

/* Appends the bytes with every ill-formed part and every NUL replaced by U+FFFD: at most three times as long.
 * The error is the buffer's. */
int fh_utf8_sanitize(const char *bytes, size_t n, struct fh_buf *into);

/* Appends one character; `code` is a Unicode scalar value. */
int fh_utf8_put(struct fh_buf *into, uint32_t code);

#endif
