/* Between the files of the interpreter resolver; nobody else includes this. */
#ifndef FH_RUN_INTERP_IMPL_H
#define FH_RUN_INTERP_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "run/interp.h"

/* What an interpreter said of itself (interp_probe.c), unchecked but for its form: absolute paths without
 * control characters. The same text, line by line "key<TAB>value", is what the cache keeps. */
#define FH_PROBE_BYTES_MAX (64 * 1024)
#define FH_PROBE_PATHS_MAX 256

enum fh_probe_kind {
	FH_PROBE_PREFIX,   /* sys.prefix and its kin: shown whole where that is safe */
	FH_PROBE_NEED,     /* must be visible: the standard library */
	FH_PROBE_PACKAGES, /* site-packages: shown where that is safe */
	FH_PROBE_LIBRARY,  /* a shared library's file */
};

extern const char fh_python_probe[]; /* interp_probe.py */

struct fh_probe {
	char *text; /* heap; all strings below point into it */
	const char *executable, *version;
	struct {
		enum fh_probe_kind kind;
		const char *path;
	} paths[FH_PROBE_PATHS_MAX];
	size_t n_paths;
};

/* Runs `path` and parses what it says; 10 s at most. 0 or a negative errno, kind NOT_EXEC when it is no
 * working Python. */
int fh_probe_run(const char *path, struct fh_probe *ret, struct fh_err *err);
/* Parses the lines; takes `text` over, on failure, too. 0 or -EBADMSG. */
int fh_probe_parse(char *text, struct fh_probe *ret);
void fh_probe_finish(struct fh_probe *p);

/* The probe's answers kept in the user's cache folder. A key is any string: what the answer depends on. load:
 * 0 or a negative errno for whatever reason there is no answer. store: best effort; without a folder nothing
 * is kept. */
int fh_interp_cache_load(const char *key, struct fh_probe *ret);
void fh_interp_cache_store(const char *key, const struct fh_probe *p);

/* Is the path always visible inside? */
bool fh_trees_visible(const char *path);
/* Would showing the whole directory show what is not the interpreter's? `home` is $HOME or NULL. */
bool fh_trees_refused(const char *path, const char *home);
/* Adds a path: its real folder or file, and a link where the name goes through one. Visible ones and ones
 * inside another are left out. 0, -ENOENT, -EPERM for a refused one, -E2BIG, -ENOMEM. */
int fh_trees_add(struct fh_interp *i, const char *path, const char *home);
/* Adds a prefix of an installation: whole where the directory holds nothing else, otherwise only what a
 * virtual environment needs of it. A refused one is passed over. 0, -E2BIG, -ENOMEM. */
int fh_trees_add_prefix(struct fh_interp *i, const char *prefix, const char *home);
/* Is the path visible inside, with the trees? */
bool fh_trees_cover(const struct fh_interp *i, const char *path);

#endif
