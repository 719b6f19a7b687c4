/* The path guard from within, for its own files and for walkers of a workspace (run/changes): one resolution
 * for all of them, and names made fit to print. */
#ifndef FH_ISOLATE_PATHGUARD_STEPS_H
#define FH_ISOLATE_PATHGUARD_STEPS_H

#include <stdbool.h>

#include "base/err.h"

/* How a path is resolved. AUTO asks openat2 and falls back where the kernel (or a filter) has none; STEPS is
 * that fallback, chosen by the tests. */
enum fh_guard_way { FH_GUARD_AUTO, FH_GUARD_STEPS };
void fh_guard_resolve_by(enum fh_guard_way way);

/* Opens `path` beneath `root`, crossing no link and no mount. `flags` are open flags; O_CLOEXEC and
 * O_NOFOLLOW are added. With O_PATH the last component may be a link, which is then the fd itself. fd or
 * negative errno. */
int fh_guard_resolve(int root, const char *path, int flags);

#define FH_GUARD_NAME 200
/* A path as messages show it: escaped, cut with "..." where long. */
const char *fh_guard_name(const char *path, char into[FH_GUARD_NAME]);

static inline int fh_guard_coded(struct fh_err *err, int code)
{
	if (err)
		err->code = code;
	return code;
}
/* A refusal of what the caller named, in our own words alone, with a code that says more than -EINVAL. */
#define fh_guard_refuse(err, code, ...) (fh_usage(err, __VA_ARGS__), fh_guard_coded(err, code))

static inline bool fh_guard_is_dot(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* 1 when the directory holds nothing, 0 when it does, or a negative errno. The fd may be O_PATH; its offset
 * is kept. */
int fh_guard_is_empty(int dirfd);

#endif
