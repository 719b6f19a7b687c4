/* What failed, told to a person.
 *
 * A function that can fail takes a `struct fh_err *err` as its last argument, returns a negative errno and fills
 * `err`; on success it leaves `err` alone. The struct is the caller's, of fixed size, without heap. Libraries
 * return errors, they never print them: only the `cli` room speaks to a person. */
#ifndef FH_BASE_ERR_H
#define FH_BASE_ERR_H

#include <stdarg.h>

/* Whose fault it is, and so what a caller should do about it. */
enum fh_err_kind {
	FH_ERR_SANDBOX,     /* ours or the host's: may be retried, never scored as the program's failure */
	FH_ERR_USAGE,       /* the caller asked for something that makes no sense */
	FH_ERR_UNSUPPORTED, /* this host cannot enforce what was asked; `fix` says how it could */
	FH_ERR_NOT_FOUND,   /* the command to run does not exist inside the sandbox (exit status 127) */
	FH_ERR_NOT_EXEC,    /* the command exists but cannot be executed (exit status 126) */
};

struct fh_err {
	int code; /* negative errno; 0 when no error was recorded */
	enum fh_err_kind kind;
	char message[512]; /* one line: what failed, on what, why */
	char fix[256];     /* one line: what to do about it; may be empty */
};

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
