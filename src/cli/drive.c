/* One run from the command line; see drive.h. */
#include "cli/drive.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/cli.h"

struct streams {
	int stdin_fd, spill_out, spill_err;
	char *workspace;
};

static void close_streams(struct streams *s)
{
	fh_close(&s->stdin_fd);
	fh_close(&s->spill_out);
	fh_close(&s->spill_err);
	free(s->workspace);
}

static int open_stdin(const char *path, struct streams *s, struct fh_spec *spec, struct fh_err *err)
{
	struct stat st;

	if (!path)
		return 0;
	spec->stdin_kind = FH_STDIN_FD;
	if (strcmp(path, "-") == 0) {
		spec->stdin_fd = 0;
		return 0;
	}
	s->stdin_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (s->stdin_fd < 0 || fstat(s->stdin_fd, &st) < 0)
		return fh_usage(err, "the input '%s' cannot be read: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fh_usage(err, "the input '%s' is a folder", path);
	spec->stdin_fd = s->stdin_fd;
	return 0;
}

/* Where our own output goes may lie in a folder that a program could write to, now or in an earlier run: a link it left
 * there would have us write where it likes. */
static int refuse_link(const char *path, const char *what, struct fh_err *err)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return fh_usage(err, "the %s '%s' is a symbolic link; name what it points to", what, path);
	return 0;
}

/* Opened before the program is there. The kernel's own links to open files are what `/dev/stdout` is. */
static int open_receipt(struct fh_run_options *o, struct fh_err *err)
{
	bool device = o->receipt && (strncmp(o->receipt, "/dev/", 5) == 0 || strncmp(o->receipt, "/proc/", 6) == 0);
	int rc;

	if (!o->receipt || strcmp(o->receipt, "-") == 0)
		return 0;
	rc = device ? 0 : refuse_link(o->receipt, "receipt", err);
	if (rc < 0)
		return rc;
	o->receipt_fd = open(o->receipt, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (device ? 0 : O_NOFOLLOW), 0600);
	if (o->receipt_fd < 0)
		return fh_usage(err, "the receipt '%s' cannot be written: %s", o->receipt, strerror(errno));
	return 0;
}

#define SPILL_FLAGS (O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static int open_spill(const struct fh_run_options *o, struct streams *s, struct fh_spec *spec, struct fh_err *err)
{
	fh_autofd int dir = -1;
	int rc;

	if (!o->spill_dir)
		return 0;
	rc = refuse_link(o->spill_dir, "spill folder", err);
	if (rc < 0)
		return rc;
	dir = open(o->spill_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return fh_usage(err, "the spill folder '%s' cannot be used: %s", o->spill_dir, strerror(errno));
	s->spill_out = openat(dir, "stdout", SPILL_FLAGS, 0600);
	s->spill_err = s->spill_out < 0 ? -1 : openat(dir, "stderr", SPILL_FLAGS, 0600);
	if (s->spill_err < 0)
		return fh_fail(err, -errno, "create the spill files in '%s'", o->spill_dir);
	spec->spill_out_fd = s->spill_out;
	spec->spill_err_fd = s->spill_err;
	spec->spill_bytes = o->spill_bytes;
	return 0;
}

static int open_workspace(const struct fh_run_options *o, struct streams *s, struct fh_spec *spec, struct fh_err *err)
{
	struct stat st;

	if (!o->workspace)
		return 0;
	if (lstat(o->workspace, &st) < 0)
		return fh_usage(err, "the workspace '%s' cannot be used: %s", o->workspace, strerror(errno));
	if (S_ISLNK(st.st_mode))
		return fh_usage(err, "the workspace '%s' is a symbolic link; name the folder it points to", o->workspace);
	s->workspace = realpath(o->workspace, NULL);
	if (!s->workspace)
		return fh_usage(err, "the workspace '%s' cannot be used: %s", o->workspace, strerror(errno));
	spec->workspace = s->workspace;
	spec->workspace_mode = o->workspace_rw ? FH_WORKSPACE_DIRECT : FH_WORKSPACE_COPY;
	return 0;
}

/* Steps the run while listening to those who may ask for its end. Returns the signal that did, 0 for none. */
static int wait_for(struct fh_run *run, int signal_fd)
{
	struct pollfd fds[2] = {{.fd = fh_run_fd(run), .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
	struct signalfd_siginfo info;
	int asked = 0;

	while (!fh_run_step(run)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if ((fds[1].revents & POLLIN) && read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info) && !asked) {
			char reason[64];
			asked = (int)info.ssi_signo;
			snprintf(reason, sizeof(reason), "%s", strsignal(asked));
			fh_run_cancel(run, reason);
		}
	}
	return asked;
}

static int run_once(struct fh_run_options *o, struct fh_spec *spec, struct fh_err *err)
{
	struct fh_host *host = NULL;
	struct fh_run *run = NULL;
	struct fh_result *result;
	fh_autofd int signal_fd = -1;
	sigset_t asked_to_end;
	int sig, status, rc;

	sigemptyset(&asked_to_end);
	sigaddset(&asked_to_end, SIGINT);
	sigaddset(&asked_to_end, SIGTERM);
	sigaddset(&asked_to_end, SIGHUP);
	sigprocmask(SIG_BLOCK, &asked_to_end, NULL);
	signal_fd = signalfd(-1, &asked_to_end, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0)
		return fh_fail(err, -errno, "listen to signals");
	rc = fh_host_open(&host, err);
	if (rc < 0)
		return rc;
	rc = fh_run_start(host, &o->policy, spec, &run, err);
	if (rc < 0) {
		fh_host_close(host);
		return rc;
	}
	sig = wait_for(run, signal_fd);
	result = fh_run_take_result(run);
	fh_run_destroy(run);
	fh_host_close(host);
	if (!result)
		return fh_fail(err, -EIO, "get the result of the run");
	status = result->status;
	if (result->verdict == FH_VERDICT_CANCELLED && sig)
		status = 128 + sig;
	rc = fh_cli_show(o, result);
	fh_result_destroy(result);
	if (rc < 0)
		return fh_fail(err, rc, "print the result");
	return status;
}

int fh_cli_drive(struct fh_run_options *o, struct fh_spec *spec)
{
	struct streams s = {-1, -1, -1, NULL};
	struct fh_err err = {0};
	int rc;

	spec->cwd = o->cwd;
	spec->interleave = o->interleave;
	spec->want_receipt = o->format == FH_FORMAT_JSON || o->receipt || o->account;
	if (o->format == FH_FORMAT_LIVE) {
		spec->live_out_fd = 1;
		spec->live_err_fd = 2;
	}
	rc = open_stdin(o->stdin_path, &s, spec, &err);
	rc = rc ? rc : open_spill(o, &s, spec, &err);
	rc = rc ? rc : open_receipt(o, &err);
	rc = rc ? rc : open_workspace(o, &s, spec, &err);
	rc = rc ? rc : run_once(o, spec, &err);
	close_streams(&s);
	fh_close(&o->receipt_fd);
	return rc < 0 ? fh_cli_error(&err) : rc;
}
