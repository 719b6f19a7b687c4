/* Small complete reads and writes of files, by fd or beneath a directory fd. */
#ifndef FH_BASE_IO_H
#define FH_BASE_IO_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"

/* Writes all n bytes, retrying short writes and EINTR. 0 or a negative errno. */
int fh_write_all(int fd, const void *bytes, size_t n);

/* Between hold and release a write of this thread to a pipe that nobody reads gives EPIPE and nothing else: a
 * library must not have its host program killed by SIGPIPE, nor change what the program does with that
 * signal. */
struct fh_sigpipe {
	sigset_t before;
	bool was_pending;
	bool ignored; /* the host program ignores it anyway: nothing to hold */
};
void fh_sigpipe_hold(struct fh_sigpipe *s);
void fh_sigpipe_release(const struct fh_sigpipe *s);

/* Reads up to the buffer's maximum until end of file. 0, -E2BIG when there was more, or a negative errno. */
int fh_read_all(int fd, struct fh_buf *into);

/* Opens dirfd/path read-only, reads it whole into `into`. */
int fh_read_file_at(int dirfd, const char *path, struct fh_buf *into);

/* Reads a small file (a /proc or cgroup file) into a caller's array, NUL-terminated, without heap.
 * Returns the bytes read (at most cap-1) or a negative errno. */
ssize_t fh_read_small_at(int dirfd, const char *path, char *into, size_t cap);

/* Writes a short string in one write(2), as /proc and cgroup files want. 0 or a negative errno. */
int fh_write_small_at(int dirfd, const char *path, const char *text);

#endif
