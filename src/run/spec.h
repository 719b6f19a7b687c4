/* What to run: the parts of a request that are not policy. Plain data, borrowed: everything it points to must live until
 * the run is destroyed. */
#ifndef FH_RUN_SPEC_H
#define FH_RUN_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isolate/mounts.h"

enum fh_stdin {
	FH_STDIN_EMPTY, /* at end of file */
	FH_STDIN_BYTES, /* stdin_bytes, of any size */
	FH_STDIN_FD,    /* read from stdin_fd until its end (borrowed; any kind of file) */
};

struct fh_spec {
	const char *const *argv; /* NULL-terminated; [0] is looked up on the sandbox's PATH unless it has a '/' */
	const char *cwd;         /* inside; NULL: the workspace */
	const void *source;      /* a program text of any size, readable by the program as descriptor 3; NULL: none */
	size_t source_bytes;

	enum fh_stdin stdin_kind;
	const void *stdin_bytes;
	size_t stdin_n;
	int stdin_fd;

	enum fh_workspace_mode workspace_mode;
	const char *workspace; /* absolute host path without links */

	const char *interpreter;   /* for the receipt; NULL: none of ours */
	const char *const *trees;  /* host folders it needs, see isolate/mounts.h */
	const char *const *files;
	const struct fh_root_link *links;
	size_t n_trees, n_files, n_links;
	const char *const *env; /* "K=V", NULL-terminated, before the policy's own; NULL: none */

	int live_out_fd, live_err_fd;   /* everything printed is also written there at once; -1: not */
	int spill_out_fd, spill_err_fd; /* everything printed is also kept there, up to spill_bytes; -1: not */
	uint64_t spill_bytes;
	bool interleave;   /* keep the order of arrival of the two streams */
	bool want_receipt; /* read back what was in force, list what changed */

	/* Called when a run that was started no longer needs the spec; NULL: its owner knows by himself. */
	void (*release)(const struct fh_spec *spec);
};

/* All fds -1, everything else empty. */
void fh_spec_init(struct fh_spec *spec);

#endif
