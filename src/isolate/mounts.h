/* The sandbox's own root, level 2: from a policy and a few paths to the list of operations that build it from nothing.
 *
 * The stage is one tmpfs, limited to the policy's disk and inodes; of it only "w/..." is ever visible inside:
 *   l0, l1, ...  host trees attached as lower layers          e   an empty folder, the second lower layer of each
 *   w/...        what the program may write: work tmp home shm
 *   u/...        upper layer of a copy-on-write workspace      r   the new root, a small tmpfs of its own
 * In the root, /run/masks holds what is shown over entries of /proc; the program cannot enter it.
 */
#ifndef FH_ISOLATE_MOUNTS_H
#define FH_ISOLATE_MOUNTS_H

#include "isolate/ids.h"
#include "isolate/planner.h"
#include "policy/policy.h"

enum fh_workspace_mode {
	FH_WORKSPACE_EMPTY,  /* a fresh folder on the sandbox's disk */
	FH_WORKSPACE_COPY,   /* a host folder, copy on write: changes go to the sandbox's disk */
	FH_WORKSPACE_DIRECT, /* a host folder itself */
};

/* A symbolic link to make inside; both paths absolute. */
struct fh_root_link {
	char *path, *target;
};

struct fh_root_spec {
	const struct fh_policy *policy;
	enum fh_workspace_mode workspace_mode;
	const char *workspace;     /* real host path; for COPY and DIRECT */
	const char *const *trees;  /* further host folders shown read-only at their own path */
	const char *const *files;  /* further host files, likewise */
	const struct fh_root_link *links;
	size_t n_trees, n_files, n_links;
	uint32_t program_id;       /* inner id that owns what is writable */
	const struct fh_ids *ids;  /* with ids of its own, host folders are mapped from their owner to the program */
	unsigned n_cpus;           /* processors the program sees */
	bool all_cpus;             /* they are all the host has: no need to rewrite /proc/cpuinfo */
	bool plain_trees;          /* no overlay on this host (allowed by the caller): bind the trees */
	bool no_proc;              /* no private /proc on this host (allowed by the caller): leave it empty */
};

#define FH_INNER_WORK "/work"
#define FH_INNER_HOME "/home/user"

/* Appends the operations and sources. *ret_options is the mount options of the stage's tmpfs, in the planner's arena: the
 * policy's disk, and its inodes and those that the operations themselves take, so that what is left is the program's. */
int fh_mounts_plan(const struct fh_root_spec *spec, struct fh_planner *planner, const char **ret_options,
		   struct fh_err *err);

#endif
