/* Base64 of RFC 4648, the standard alphabet with padding. */
#ifndef FH_FORMATS_BASE64_H
#define FH_FORMATS_BASE64_H

#include <stddef.h>

#include "base/buf.h"

/* Appends the text of the bytes; the error is the buffer's. */
int fh_base64_encode(const void *bytes, size_t n, struct fh_buf *into);

/* Appends the bytes of the text. Strict, so that one content has one text: no spaces or line ends, whole
 * groups of four, padding only at the end, unused bits zero. -EINVAL otherwise; `into` may then hold a part.
 */
int fh_base64_decode(const char *text, size_t n, struct fh_buf *into);

#endif
