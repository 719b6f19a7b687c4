/* The program's standard input, always a pipe made for this run or an empty file: a descriptor of the caller's own
 * would let the program reopen the caller's file for writing through /proc. */
#include "run/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "sys/call.h"

#define FEED_BYTES 65536

int fh_feed_open(struct fh_run *run, int *ret_child_fd, struct fh_err *err)
{
	int fds[2];
	long rc;

	if (run->spec->stdin_kind == FH_STDIN_EMPTY) {
		rc = fh_sys_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0);
		if (rc < 0)
			return fh_fail(err, (int)rc, "open /dev/null");
		*ret_child_fd = (int)rc;
		return 0;
	}
	rc = FH_SYS(SYS_pipe2, fds, O_CLOEXEC);
	if (rc < 0)
		return fh_fail(err, (int)rc, "create a pipe");
	*ret_child_fd = fds[0];
	run->stdin_fd = fds[1];
	rc = FH_SYS(SYS_fcntl, run->stdin_fd, F_SETFL, O_NONBLOCK);
	if (rc < 0)
		return fh_fail(err, (int)rc, "create a pipe");
	if (run->spec->stdin_kind == FH_STDIN_FD) {
		run->stdin_buffer = malloc(FEED_BYTES);
		if (!run->stdin_buffer)
			return fh_fail(err, -ENOMEM, "take memory for the input");
	}
	return 0;
}

void fh_feed_close(struct fh_run *run)
{
	if (run->stdin_fd >= 0) {
		fh_run_watch_fd(run, run->stdin_fd, 0, FH_TAG_STDIN);
		close(run->stdin_fd);
		run->stdin_fd = -1;
	}
	if (run->stdin_source_polled) {
		fh_run_watch_fd(run, run->spec->stdin_fd, 0, FH_TAG_STDIN_SOURCE);
		run->stdin_source_polled = false;
	}
}

static void fail(struct fh_run *run, int error)
{
	struct fh_err why = {0};

	fh_fail(&why, error, "feed the program's input");
	fh_run_fail(run, &why);
}

/* Gets the next bytes to feed. 1: there are some; 0: the end; -1: not now. */
static int refill(struct fh_run *run)
{
	const struct fh_spec *spec = run->spec;
	ssize_t got;

	if (spec->stdin_kind == FH_STDIN_BYTES)
		return run->stdin_done < spec->stdin_n;
	if (run->stdin_pending_done < run->stdin_pending)
		return 1;
	do
		got = read(spec->stdin_fd, run->stdin_buffer, FEED_BYTES);
	while (got < 0 && errno == EINTR);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return -1;
	if (got < 0)
		fail(run, -errno);
	if (got <= 0)
		return 0;
	run->stdin_pending = (size_t)got;
	run->stdin_pending_done = 0;
	return 1;
}

/* An input that nobody would feed any more must not look like one that is still to come. */
static void watch(struct fh_run *run, int fd, uint32_t events, enum fh_tag tag)
{
	int rc = fh_run_watch_fd(run, fd, events, tag);

	if (rc < 0)
		fail(run, rc);
}

/* Called when the pipe takes bytes, or when the source has some. One piece a call, so that nothing else starves. */
void fh_feed_ready(struct fh_run *run)
{
	const struct fh_spec *spec = run->spec;
	bool bytes = spec->stdin_kind == FH_STDIN_BYTES;
	int more;
	ssize_t done;

	if (run->stdin_fd < 0)
		return;
	if (run->stdin_source_polled && run->stdin_pending_done == run->stdin_pending) {
		/* The source became readable: read it, then wait for the pipe again. */
		fh_run_watch_fd(run, spec->stdin_fd, 0, FH_TAG_STDIN_SOURCE);
		run->stdin_source_polled = false;
		watch(run, run->stdin_fd, EPOLLOUT, FH_TAG_STDIN);
	} else if (!bytes && run->stdin_pending_done == run->stdin_pending &&
		   fh_run_watch_fd(run, spec->stdin_fd, EPOLLIN, FH_TAG_STDIN_SOURCE) == 0) {
		/* A source that can be polled must be: a blocking read would stop the clock of this run. */
		fh_run_watch_fd(run, run->stdin_fd, 0, FH_TAG_STDIN);
		run->stdin_source_polled = true;
		return;
	}
	more = refill(run);
	if (more < 0)
		return;
	if (more == 0) {
		fh_feed_close(run);
		return;
	}
	if (bytes)
		done = write(run->stdin_fd, (const char *)spec->stdin_bytes + run->stdin_done,
			     spec->stdin_n - run->stdin_done);
	else
		done = write(run->stdin_fd, run->stdin_buffer + run->stdin_pending_done,
			     run->stdin_pending - run->stdin_pending_done);
	if (done < 0 && errno != EAGAIN && errno != EINTR) {
		if (errno != EPIPE) /* that one: it closed its input, which is its business */
			fail(run, -errno);
		fh_feed_close(run);
		return;
	}
	if (done > 0 && bytes)
		run->stdin_done += (size_t)done;
	else if (done > 0)
		run->stdin_pending_done += (size_t)done;
	if (bytes && run->stdin_done == spec->stdin_n)
		fh_feed_close(run);
}
