/* Complete reads and writes; see io.h. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"

int fh_write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t done = write(fd, p, n);
		if (done < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

int fh_read_all(int fd, struct fh_buf *into)
{
	char chunk[16384];

	for (;;) {
		ssize_t got = read(fd, chunk, sizeof(chunk));
		if (got < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (got == 0)
			return 0;
		int rc = fh_buf_add(into, chunk, (size_t)got);
		if (rc < 0)
			return rc;
	}
}

int fh_read_file_at(int dirfd, const char *path, struct fh_buf *into)
{
	fh_autofd int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return fh_read_all(fd, into);
}

ssize_t fh_read_small_at(int dirfd, const char *path, char *into, size_t cap)
{
	fh_autofd int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;

	if (fd < 0)
		return -errno;
	while (used < cap - 1) {
		ssize_t got = read(fd, into + used, cap - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		used += (size_t)got;
	}
	into[used] = '\0';
	return (ssize_t)used;
}

int fh_write_small_at(int dirfd, const char *path, const char *text)
{
	fh_autofd int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);
	ssize_t done;

	if (fd < 0)
		return -errno;
	do
		done = write(fd, text, n);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		return -errno;
	return (size_t)done == n ? 0 : -EIO;
}

void fh_sigpipe_hold(struct fh_sigpipe *s)
{
	struct sigaction action;
	sigset_t only, pending;

	s->ignored = sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
	if (s->ignored)
		return;
	sigemptyset(&only);
	sigaddset(&only, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &only, &s->before);
	sigpending(&pending);
	s->was_pending = sigismember(&pending, SIGPIPE);
}

void fh_sigpipe_release(const struct fh_sigpipe *s)
{
	struct timespec now = {0};
	sigset_t only, pending;
	int error = errno;

	if (s->ignored)
		return;
	sigpending(&pending);
	if (!s->was_pending && sigismember(&pending, SIGPIPE)) {
		sigemptyset(&only);
		sigaddset(&only, SIGPIPE);
		while (sigtimedwait(&only, NULL, &now) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &s->before, NULL);
	errno = error;
}
