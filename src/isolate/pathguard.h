/* Files of a workspace, reached so that nothing in it can lead outside or hang us.
 *
 * A workspace may have been written by hostile code: names may be links, FIFOs, devices, giants, and may
 * change while we look. Every path is resolved beneath a directory fd in one openat2 (RESOLVE_BENEATH,
 * NO_SYMLINKS, NO_MAGICLINKS, NO_XDEV), opened O_NONBLOCK|O_NOCTTY|O_NOFOLLOW, and must be a regular file or
 * directory by fstat; sizes meet a cap by bytes read, never by st_size. Where the kernel has no openat2 each
 * component is opened by itself with O_NOFOLLOW. */
#ifndef FH_ISOLATE_PATHGUARD_H
#define FH_ISOLATE_PATHGUARD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"

/* Opens the root of a workspace by host path: must be a directory and not a symlink itself. Returns an
 * O_PATH|O_DIRECTORY fd or a negative errno. */
int fh_guard_open_root(const char *host_path, struct fh_err *err);

/* Says why a relative path is not acceptable by its text alone: empty, absolute, "..", NUL, over 4096 bytes,
 * over 255 bytes a component. 0 or -EINVAL. "." and a trailing "/" are accepted for directories. */
int fh_guard_check(const char *path, struct fh_err *err);

/* Opens for reading; regular files only. fd or negative errno (-ELOOP for a link, -EXDEV for a way out,
 * -EINVAL for a FIFO, socket, device or directory). */
int fh_guard_open_file(int root, const char *path, struct stat *ret_st, struct fh_err *err);

/* Opens a directory for listing. */
int fh_guard_open_dir(int root, const char *path, struct fh_err *err);

/* Copies a file's bytes to `out_fd`, at most cap_bytes; -EFBIG when there was more (nothing more is written).
 */
int fh_guard_get(int root, const char *path, int out_fd, uint64_t cap_bytes, uint64_t *ret_bytes,
		 struct fh_err *err);

enum fh_guard_put {
	FH_GUARD_PARENTS = 1,    /* make missing parent directories, mode 0755 */
	FH_GUARD_EXECUTABLE = 2, /* mode 0755 instead of 0644 */
};

/* Writes a file from `in_fd`, at most cap_bytes, atomically: into a temporary file beside it, then renamed
 * over it. `flags` of enum fh_guard_put. Never follows or writes through an existing link, FIFO or device: it
 * is replaced (a directory is refused with -EISDIR). With more than cap_bytes nothing is replaced (-EFBIG).
 * As root, what is made belongs to the owner of the workspace's root. */
int fh_guard_put(int root, const char *path, int in_fd, uint64_t cap_bytes, unsigned flags,
		 struct fh_err *err);

/* Calls `each` for at most `max_entries` entries of a directory, sorted by name; -E2BIG after that many were
 * given (which ones is then the file system's choice). Stops at the first non-zero answer of `each` and
 * returns it. */
struct fh_guard_entry {
	const char *name;
	struct stat st; /* of the entry itself, not of what a link points to */
};
int fh_guard_list(int root, const char *path, size_t max_entries,
		  int (*each)(const struct fh_guard_entry *, void *), void *arg, struct fh_err *err);

/* Removes everything beneath the directory, and not the directory itself: hostile trees included (deep, wide,
 * mode 000, being changed). Bounded by `deadline_ns` of CLOCK_MONOTONIC (-ETIMEDOUT). Never crosses a mount:
 * a mount found inside stays as it is and the answer is -EBUSY. `dirfd` may be O_PATH. */
int fh_guard_empty(int dirfd, uint64_t deadline_ns, struct fh_err *err);

#endif
