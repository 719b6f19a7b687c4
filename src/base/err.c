/* Errors as values; see err.h. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void record(struct fh_err *err, enum fh_err_kind kind, int code, const char *fmt, va_list ap)
{
	if (!err)
		return;
	err->kind = kind;
	err->code = code;
	err->fix[0] = '\0';
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
}

int fh_fail(struct fh_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	record(err, FH_ERR_SANDBOX, code, fmt, ap);
	va_end(ap);
	if (err) {
		size_t used = strlen(err->message);
		snprintf(err->message + used, sizeof(err->message) - used, ": %s", strerror(-code));
	}
	return code;
}

int fh_usage(struct fh_err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	record(err, FH_ERR_USAGE, -EINVAL, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int fh_unsupported(struct fh_err *err, const char *fix, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	record(err, FH_ERR_UNSUPPORTED, -ENOTSUP, fmt, ap);
	va_end(ap);
	if (err && fix)
		snprintf(err->fix, sizeof(err->fix), "%s", fix);
	return -ENOTSUP;
}

int fh_err_within(struct fh_err *err, const char *fmt, ...)
{
	char inner[sizeof(err->message)];
	va_list ap;
	size_t used;

	if (!err)
		return -EIO;
	memcpy(inner, err->message, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	used = strlen(err->message);
	snprintf(err->message + used, sizeof(err->message) - used, ": %s", inner);
	return err->code;
}
