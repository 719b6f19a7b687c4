/* What failed, told to a person.
 *
 * A function that can fail takes a `struct fh_err *err` as its last argument, returns a negative errno and fills
 * `err`; on success it leaves `err` alone. The struct is the caller's, of fixed size, without heap. Libraries
 * return errors, they never print them: only the `cli` room speaks to a person. */
#ifndef FH_BASE_ERR_H
#define FH_BASE_ERR_H

#include <stdarg.h>

#include "fumehood/error.h" /* the struct itself is public */

/* Records a sandbox error and returns `code` (a negative errno). The text of the errno is appended to the message.
 * `err` may be NULL. */
int fh_fail(struct fh_err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same for a mistake of the caller: kind USAGE, code -EINVAL, no errno text appended. */
int fh_usage(struct fh_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same for something this host cannot do: kind UNSUPPORTED, code -ENOTSUP. `fix` is the command or setting that
 * mends it, or NULL. */
int fh_unsupported(struct fh_err *err, const char *fix, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "context: " in front of a message that a lower function recorded; returns err->code. */
int fh_err_within(struct fh_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
