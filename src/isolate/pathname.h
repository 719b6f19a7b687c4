/* Names of files as they may be shown: the program chose their bytes, and a terminal or a log would obey some
 * of them. */
#ifndef FH_ISOLATE_PATHNAME_H
#define FH_ISOLATE_PATHNAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends the name with every byte as \xHH that is not UTF-8, or belongs to a character which is not to be
 * seen (controls, line separators, marks that turn the writing direction) or is a backslash, so that the
 * bytes can be got back. Never cuts inside a character or an escape. The error is the buffer's. */
int fh_pathname_escape(const char *bytes, size_t n, struct fh_buf *into);

/* Whether a text that came from elsewhere is as safe: plain characters and escapes, nothing else. */
bool fh_pathname_is_escaped(const char *text, size_t n);

#endif
