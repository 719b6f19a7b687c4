/* What a run changed in its workspace, for the receipt.
 *
 * Two ways to know. Where the program wrote into a tree of its own (the upper directory of an overlay, or a
 * tmpfs that began empty), that tree is the change: fh_changes_find. Where it wrote into a directory of the
 * host itself, a baseline is taken before and compared after: fh_changes_baseline_take, fh_changes_since.
 *
 * The trees are hostile: reached by the path guard only, bounded in entries, depth, path bytes, bytes hashed
 * and time. What did not fit is not listed and `truncated` says so. Finding may run in a helper process
 * inside the sandbox's namespaces; fh_changes_send and fh_changes_receive carry its answer, which the
 * receiver believes no more than the program's output. */
#ifndef FH_RUN_CHANGES_H
#define FH_RUN_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fumehood/result.h"

#define FH_CHANGES_ENTRIES        1000
#define FH_CHANGES_ENTRIES_MAX    10000 /* of any list; also what a receiver takes */
#define FH_CHANGES_HASH_BYTES     (256ull << 20)
#define FH_CHANGES_DEPTH_MAX      100 /* directories within each other; each holds two fds while it is read */
#define FH_CHANGES_PATH_BYTES_MAX (1u << 20) /* all paths of a list together */
#define FH_CHANGES_BASELINE_MAX   20000

struct fh_changes_caps {
	size_t entries_max;      /* at most FH_CHANGES_ENTRIES_MAX */
	uint64_t hash_bytes_max; /* all files together; a file past it has no sha256 */
	uint64_t deadline_ns;    /* of CLOCK_MONOTONIC: what was found until then is the answer */
};

/* Sorted by path. */
struct fh_changes {
	struct fh_change *v; /* heap, and each path; may be handed to a receipt */
	size_t n;
	bool truncated;
};
void fh_changes_finish(struct fh_changes *c);

enum fh_changes_tree {
	FH_CHANGES_PLAIN, /* everything in it is new */
	FH_CHANGES_UPPER, /* the upper directory of an overlay (without redirects and metacopy): whiteouts and
			   * opaque directories delete */
};

/* Lists what `after_fd` (a directory, as the program left it) holds. `lower_fd` is the original beneath an
 * UPPER tree, -1 for PLAIN. A file or directory that the overlay copied up, but that is as it was (content,
 * kind and mode), is not listed. A deleted or replaced directory is listed with all that it held. */
int fh_changes_find(enum fh_changes_tree tree, int after_fd, int lower_fd, const struct fh_changes_caps *caps,
		    struct fh_changes *ret, struct fh_err *err);

/* What a directory holds now: size, times, inode and mode of at most entries_max entries, in bounded memory.
 */
struct fh_changes_baseline;
int fh_changes_baseline_take(int root_fd, size_t entries_max, uint64_t deadline_ns,
			     struct fh_changes_baseline **ret, struct fh_err *err);
void fh_changes_baseline_destroy(struct fh_changes_baseline *b);

/* Lists what differs since. A file counts as modified when its size, a time, its inode or its mode is
 * another: also when it was written with what it held. Where the baseline was cut, entries it does not know
 * are judged by the times that only the kernel sets (change and birth), deletions among them stay unknown,
 * and the list is truncated. */
int fh_changes_since(int root_fd, const struct fh_changes_baseline *b, const struct fh_changes_caps *caps,
		     struct fh_changes *ret, struct fh_err *err);

/* Writes the list, or only that finding it failed (`failed` is then a negative errno, else 0). */
int fh_changes_send(int fd, const struct fh_changes *c, int failed, struct fh_err *err);

/* Reads one list until end of file or `deadline_ns`. Nonsense of any kind is -EBADMSG; the sender's own
 * failure is returned as it is. */
int fh_changes_receive(int fd, uint64_t deadline_ns, struct fh_changes *ret, struct fh_err *err);

#endif
