/* The program's output: read as it comes, counted, kept, passed on, in constant memory.
 *
 * When a far end (a terminal, a pipe) takes nothing, we stop reading that stream: the program then waits in its write,
 * as it would without us, while deadlines go on. */
#include "run/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/own.h"

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

static const enum fh_tag pipe_tags[2] = {FH_TAG_OUT, FH_TAG_ERR};
static const enum fh_tag live_tags[2] = {FH_TAG_LIVE_OUT, FH_TAG_LIVE_ERR};

int fh_outlets_open(struct fh_run *run, struct fh_err *err)
{
	const struct fh_spec *spec = run->spec;

	for (int i = 0; i < 2; i++) {
		struct fh_outlet *o = &run->out[i];
		int spill = i ? spec->spill_err_fd : spec->spill_out_fd;
		struct stat st;
		int rc;

		if (!o->buffer)
			o->buffer = malloc(FH_READ_BYTES);
		if (!o->buffer)
			return fh_fail(err, -ENOMEM, "take memory for the output");
		fh_capture_destroy(o->capture);
		o->capture = NULL;
		rc = fh_capture_create(run->policy.keep_bytes, &o->capture, err);
		if (rc < 0)
			return rc;
		if (!spec->want_receipt)
			fh_capture_leave_sum(o->capture);
		if (spill >= 0)
			fh_capture_spill_to(o->capture, spill, spec->spill_bytes);
		o->live_fd = i ? spec->live_err_fd : spec->live_out_fd;
		if (o->live_fd >= 0)
			o->live_ready_always = fstat(o->live_fd, &st) == 0 && S_ISREG(st.st_mode);
		o->live_terminal = o->live_fd >= 0 && isatty(o->live_fd);
	}
	return 0;
}

static void note_chunk(struct fh_run *run, int which, uint64_t offset, size_t n)
{
	struct fh_chunk *last = run->n_chunks ? &run->chunks[run->n_chunks - 1] : NULL;

	if (!run->spec->interleave)
		return;
	if (!run->chunks)
		run->chunks = calloc(FH_CHUNKS_MAX, sizeof(*run->chunks));
	if (last && last->stream == which + 1) {
		last->bytes += n;
	} else if (run->chunks && run->n_chunks < FH_CHUNKS_MAX) {
		run->chunks[run->n_chunks++] = (struct fh_chunk){which + 1, offset, n};
	} else {
		run->chunks_truncated = true;
	}
}

static void fail(struct fh_run *run, int error, int which, const char *verb)
{
	struct fh_err why = {0};

	fh_fail(&why, error, "%s the %s of the program", verb, which ? "error output" : "output");
	fh_run_fail(run, &why);
}

static void lost_far_end(struct fh_run *run, int which, int error)
{
	struct fh_outlet *o = &run->out[which];

	o->pending = o->pending_done = 0;
	o->live_fd = -1;
	if (error == EPIPE || error == ECONNRESET) {
		fh_run_cancel(run, which ? "nobody reads the error output any more" : "nobody reads the output any more");
		return;
	}
	fail(run, -error, which, "write");
}

/* Writes what is pending as far as the far end takes it without blocking. */
static void pass_on(struct fh_run *run, int which)
{
	struct fh_outlet *o = &run->out[which];

	while (o->pending_done < o->pending) {
		struct iovec iov = {o->buffer + o->pending_done, o->pending - o->pending_done};
		ssize_t done;

		if (o->live_ready_always) {
			done = write(o->live_fd, iov.iov_base, iov.iov_len);
		} else {
			done = pwritev2(o->live_fd, &iov, 1, -1, RWF_NOWAIT);
			if (done < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == ESPIPE)) {
				/* epoll said it takes some; that much never blocks. */
				if (iov.iov_len > 512)
					iov.iov_len = 512;
				done = write(o->live_fd, iov.iov_base, iov.iov_len);
				if (done > 0)
					o->pending_done += (size_t)done;
				if (done > 0 || errno == EAGAIN || errno == EINTR)
					return;
			}
		}
		if (done > 0) {
			o->pending_done += (size_t)done;
			continue;
		}
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN)
			return;
		lost_far_end(run, which, errno);
		return;
	}
	o->pending = o->pending_done = 0;
}

static void set_reading(struct fh_run *run, int which, bool reading)
{
	struct fh_outlet *o = &run->out[which];
	int rc;

	if (o->pipe_fd < 0 || o->reading == reading)
		return;
	rc = fh_run_watch_fd(run, o->pipe_fd, reading ? EPOLLIN : 0, pipe_tags[which]);
	o->reading = reading;
	if (rc < 0 && reading) /* unread, the program would wait in its write until its time is over */
		fail(run, rc, which, "watch");
}

static void close_pipe(struct fh_run *run, int which)
{
	struct fh_outlet *o = &run->out[which];

	set_reading(run, which, false);
	fh_close(&o->pipe_fd);
}

/* A terminal obeys what it is sent: titles, the clipboard, answers typed for the person. What could begin such an order
 * is shown as '?' (a C1 control as an inverted one); what only moves along a line stays. */
static void make_inert(struct fh_outlet *o, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)o->buffer[i];

		if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\b') || c == 0x7f)
			o->buffer[i] = '?';
		else if (o->after_c2 && c >= 0x80 && c < 0xa0)
			o->buffer[i] = '\xbf';
		o->after_c2 = c == 0xc2;
	}
}

/* Also where the program had ended by itself before we read it: what is told must not depend on who was faster. */
static void over_stop(struct fh_run *run)
{
	if (run->cause == FH_CAUSE_NONE)
		run->cause = FH_CAUSE_OUTPUT;
	fh_run_end(run, FH_CAUSE_OUTPUT);
}

/* Reads once. Returns the bytes, 0 at the end, -EAGAIN when there is nothing now. */
static ssize_t take(struct fh_run *run, int which)
{
	struct fh_outlet *o = &run->out[which];
	uint64_t before = fh_capture_total(o->capture);
	ssize_t got;

	do
		got = read(o->pipe_fd, o->buffer, FH_READ_BYTES);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return -EAGAIN;
	if (got < 0) /* never told as the end of what it printed */
		fail(run, -errno, which, "read");
	if (got <= 0)
		return 0;
	fh_capture_add(o->capture, o->buffer, (size_t)got);
	note_chunk(run, which, before, (size_t)got);
	if (!o->pipe_grown && before > 2 * FH_READ_BYTES) {
		/* A stream that is worth it gets a larger pipe: fewer switches between writer and reader. */
		(void)fcntl(o->pipe_fd, F_SETPIPE_SZ, FH_PIPE_BIG_BYTES);
		o->pipe_grown = true;
	}
	if (o->live_fd >= 0) {
		if (o->live_terminal)
			make_inert(o, (size_t)got);
		o->pending = (size_t)got;
		o->pending_done = 0;
	}
	if (fh_capture_total(run->out[0].capture) + fh_capture_total(run->out[1].capture) > run->policy.output_stop_bytes)
		over_stop(run);
	return got;
}

/* True when the far end is being polled; false when it is of a kind that never makes us wait (a file, /dev/null). */
static bool wait_for_far_end(struct fh_run *run, int which)
{
	struct fh_outlet *o = &run->out[which];
	int rc = o->live_ready_always ? 0 : fh_run_watch_fd(run, o->live_fd, EPOLLOUT, live_tags[which]);

	if (rc == -EPERM)
		o->live_ready_always = true;
	else if (rc < 0)
		lost_far_end(run, which, -rc);
	return rc == 0 && !o->live_ready_always;
}

void fh_outlet_ready(struct fh_run *run, int which)
{
	struct fh_outlet *o = &run->out[which];
	ssize_t got;

	if (o->pipe_fd < 0 || o->pending > 0)
		return;
	got = take(run, which);
	if (got == 0) {
		close_pipe(run, which);
		return;
	}
	if (o->pending > 0 && wait_for_far_end(run, which))
		set_reading(run, which, false);
	else if (o->pending > 0)
		pass_on(run, which);
}

void fh_outlet_live_ready(struct fh_run *run, int which)
{
	struct fh_outlet *o = &run->out[which];
	int fd = o->live_fd;

	if (o->pending > 0)
		pass_on(run, which);
	if (o->pending > 0)
		return;
	fh_run_watch_fd(run, fd, 0, live_tags[which]);
	set_reading(run, which, true);
}

/* Nobody is left to write: what is in the pipes is all there will ever be. Bounded by their size. */
void fh_outlets_drain(struct fh_run *run)
{
	for (int i = 0; i < 2; i++) {
		struct fh_outlet *o = &run->out[i];
		ssize_t got = 1;

		if (o->pipe_fd >= 0)
			(void)fcntl(o->pipe_fd, F_SETFL, O_NONBLOCK);
		for (size_t left = 4 * FH_PIPE_BIG_BYTES; o->pipe_fd >= 0 && left > 0 && got > 0; left -= (size_t)got) {
			if (o->pending > 0)
				return; /* the far end has to take it first */
			got = take(run, i);
			if (got <= 0)
				break;
			if (o->pending > 0) {
				if (wait_for_far_end(run, i))
					return;
				pass_on(run, i);
			}
			if ((size_t)got > left)
				break;
		}
		if (o->pipe_fd >= 0 && o->pending == 0)
			close_pipe(run, i);
	}
}

void fh_outlets_close(struct fh_run *run)
{
	for (int i = 0; i < 2; i++) {
		close_pipe(run, i);
		fh_capture_destroy(run->out[i].capture);
		free(run->out[i].buffer);
		run->out[i] = (struct fh_outlet){.pipe_fd = -1, .live_fd = -1};
	}
}
