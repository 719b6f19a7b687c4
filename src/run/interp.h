/* Which Python a person means, what of the host it needs to run, and how a program is started with it.
 *
 * Runs in the supervisor, before anything is confined. An interpreter that is not plainly the system's own is
 * asked once, by running it (interp_probe.c): so it is the person who names an interpreter that trusts it,
 * and finding one on PATH is no worse than typing its name. The answer is kept (interp_cache.c). What an
 * interpreter says can add directories to what a sandbox shows read-only, and nothing that interp_trees.c
 * refuses: no home directory, no system directory. */
#ifndef FH_RUN_INTERP_H
#define FH_RUN_INTERP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "isolate/mounts.h"
#include "policy/policy.h"

/* What one interpreter may need; trees and files are descriptors and mounts of a run. */
#define FH_INTERP_TREES_MAX 12
#define FH_INTERP_FILES_MAX 16
#define FH_INTERP_LINKS_MAX 32

/* Where the boot text expects the program's source, from its first byte to end of file: any size, a memfd,
 * file or pipe. It is closed before the program runs. */
#define FH_INTERP_SOURCE_FD 3

/* Whom the program will run as. */
enum fh_interp_user {
	FH_INTERP_SAME_USER,  /* as the caller */
	FH_INTERP_OTHER_USER, /* as an id that owns nothing here: files must be readable for others */
};

/* Whom a program will run as: the caller only where there is no other id, or where it works on the caller's folder. */
enum fh_interp_user fh_interp_confined_user(uint64_t level, enum fh_workspace_mode workspace);

/* For what an interpreter is wanted. An interpreter in a folder that the program may write is never asked: what one
 * run wrote there the next would execute unconfined. */
struct fh_interp_use {
	enum fh_interp_user user;
	const char *workspace;          /* worked on directly; NULL: none is */
	const struct fh_policy *policy; /* for its writable binds; NULL: none */
};

/* Plain data, owned by whoever has it; finish frees. What is always visible (/usr and the links into it) is
 * in none of the lists. */
struct fh_interp {
	char *executable;                 /* absolute; the same path inside and outside */
	char *version;                    /* "3.11.2", or "3.11" where nobody asked; "" when not known */
	char *trees[FH_INTERP_TREES_MAX]; /* host folders to show read-only at the same path: real, none in
					     another */
	char *files[FH_INTERP_FILES_MAX]; /* single host files, likewise */
	struct fh_root_link links[FH_INTERP_LINKS_MAX]; /* names it uses for what is shown under its real
							   name; none in a tree */
	size_t n_trees, n_files, n_links;
};

/* Finds an interpreter. `wanted`: a path, a name to be looked for on PATH, or NULL for the first python3 on
 * PATH that the confined user can really run. A virtual environment stays one; a script in front of an
 * interpreter (pyenv) is asked for the interpreter behind it.
 *
 * 0 or a negative errno; kind NOT_FOUND when there is no such file, NOT_EXEC when it is no interpreter the
 * confined user can run, or one that must not be asked. `ret` is untouched on failure. Takes microseconds for the system's own, else up to
 * 10 s the first time. */
int fh_interp_find(const char *wanted, const struct fh_interp_use *use, struct fh_interp *ret, struct fh_err *err);
void fh_interp_finish(struct fh_interp *i); /* accepts zeroes */

/* The boot text, argument of `python3 -c`: reads the program from FH_INTERP_SOURCE_FD and runs it as
 * `<sandbox>`, with a sys.argv of "<sandbox>" and the arguments (python_boot.py). */
extern const char fh_python_boot[];

/* Makes the argument vector that runs a program with `i`: -u, UTF-8 mode, the boot text, then `args`. *ret is
 * one heap block, NULL-terminated; its strings belong to `i` and `args`. 0 or -ENOMEM. */
int fh_interp_python_argv(const struct fh_interp *i, const char *const *args, size_t n_args, char ***ret,
			  struct fh_err *err);

#endif
