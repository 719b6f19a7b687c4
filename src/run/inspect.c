/* Looking at a workspace after a run; see inspect.h. By then no process of the sandbox is left, so nothing moves. Where
 * the files belong to sub-ids, which an ordinary user may not read, a helper enters the sandbox's user namespace and
 * sends what it finds; its answer is believed no more than any other bytes. */
#include "run/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "run/changes.h"

#define LOOK_MS_MAX 2000

/* Where to look. */
struct view {
	enum fh_changes_tree tree;
	int after, lower;
};

static uint64_t deadline(void)
{
	return fh_now_ns() + LOOK_MS_MAX * 1000000ull;
}

static bool worked_on_directly(const struct fh_run *run)
{
	return run->spec->workspace_mode == FH_WORKSPACE_DIRECT;
}

static int open_folder(int dir, const char *path)
{
	return openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int fh_inspect_before(struct fh_run *run, struct fh_err *err)
{
	fh_autofd int root = -1;

	if (!run->spec->want_receipt || !worked_on_directly(run))
		return 0;
	root = open_folder(AT_FDCWD, run->spec->workspace);
	if (root < 0)
		return fh_fail(err, -errno, "look at the workspace '%s'", run->spec->workspace);
	return fh_changes_baseline_take(root, FH_CHANGES_BASELINE_MAX, deadline(), &run->changes_before, err);
}

/* An empty disk that has not taken an inode has nothing to look at. */
static bool untouched(const struct fh_run *run)
{
	struct statfs fs;

	return run->plan.namespaces && run->spec->workspace_mode == FH_WORKSPACE_EMPTY && run->stage_fd >= 0 &&
	       fstatfs(run->stage_fd, &fs) == 0 && (uint64_t)(fs.f_files - fs.f_ffree) == run->stage_inodes_start;
}

static int find(const struct fh_run *run, const struct view *view, struct fh_changes *ret, struct fh_err *err)
{
	struct fh_changes_caps caps = {FH_CHANGES_ENTRIES, FH_CHANGES_HASH_BYTES, deadline()};

	if (run->changes_before)
		return fh_changes_since(view->after, run->changes_before, &caps, ret, err);
	return fh_changes_find(view->tree, view->after, view->lower, &caps, ret, err);
}

/* The same in a process that has power over the sandbox's ids. */
static int find_as_owner(const struct fh_run *run, const struct view *view, struct fh_changes *ret, struct fh_err *err)
{
	int pipe_fds[2], status, rc;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return fh_fail(err, -errno, "create a pipe");
	pid = fork();
	if (pid == 0) {
		struct fh_changes found = {0};
		int failed = setns(run->userns_fd, CLONE_NEWUSER) < 0 ? -errno : find(run, view, &found, NULL);

		fh_changes_send(pipe_fds[1], &found, failed, NULL);
		_exit(0);
	}
	close(pipe_fds[1]);
	rc = pid < 0 ? fh_fail(err, -errno, "fork a helper") : fh_changes_receive(pipe_fds[0], deadline(), ret, err);
	close(pipe_fds[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	return rc;
}

static void open_view(const struct fh_run *run, struct view *view)
{
	*view = (struct view){FH_CHANGES_PLAIN, -1, -1};
	if (worked_on_directly(run)) {
		view->after = open_folder(AT_FDCWD, run->spec->workspace);
	} else if (!run->plan.namespaces) {
		view->after = run->private_dir ? open_folder(AT_FDCWD, run->private_dir) : -1;
	} else if (run->stage_fd >= 0 && run->spec->workspace_mode == FH_WORKSPACE_COPY) {
		view->tree = FH_CHANGES_UPPER;
		view->after = open_folder(run->stage_fd, "u/work");
		view->lower = open_folder(AT_FDCWD, run->spec->workspace);
	} else if (run->stage_fd >= 0) {
		view->after = open_folder(run->stage_fd, "w/work");
	}
}

void fh_inspect_after(struct fh_run *run, struct fh_receipt *ret)
{
	struct fh_changes found = {0};
	struct view view;
	int rc = -EIO;

	if (!run->exec_seen || untouched(run))
		return;
	open_view(run, &view);
	if (view.after >= 0)
		rc = run->userns_fd >= 0 ? find_as_owner(run, &view, &found, NULL) : find(run, &view, &found, NULL);
	fh_close(&view.after);
	fh_close(&view.lower);
	if (rc < 0) {
		ret->changes_truncated = true;
		return;
	}
	ret->changes = found.v;
	ret->n_changes = found.n;
	ret->changes_truncated = found.truncated;
}

void fh_inspect_finish(struct fh_run *run)
{
	fh_changes_baseline_destroy(run->changes_before);
	run->changes_before = NULL;
}
