/* Emptying a directory that hostile code may have filled; see pathguard.h.
 *
 * Depth costs nothing: a directory that is not empty is never walked down into. Its subdirectories are
 * renamed up into the top directory, where a later pass meets them, so that one fd and a few bytes serve a
 * tree of any depth. Each pass removes every entry that the top held when it began. Only where the file
 * system refuses the rename (an overlay, a quota border) do we go down, and then not far. */
#include "isolate/pathguard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "isolate/pathguard_steps.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

#define DESCENT_MAX     64
#define NAME_TRIES_MAX  1000
#define IDLE_PASSES_MAX 100

struct sweep {
	int top;
	uint64_t deadline_ns;
	uint64_t removed; /* names taken away, by removal or by moving up: progress */
	uint64_t moved;   /* numbers the names in the top directory */
	int trouble;      /* first error that stopped an entry, 0 if none in this pass */
};

static bool out_of_time(const struct sweep *s)
{
	return fh_now_ns() >= s->deadline_ns;
}

/* Makes a directory of ours usable whatever mode it was given. By O_PATH fd, since mode 000 opens no other
 * way. */
static int unlock_fd(int fd)
{
	char link[64];

	if (syscall(SYS_fchmodat2, fd, "", 0700, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOSYS && errno != EPERM)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return chmod(link, 0700) < 0 ? -errno : 0;
}

static int unlock_dir(int dir, const char *name)
{
	fh_autofd int fd = fh_guard_resolve(dir, name, O_PATH | O_DIRECTORY);

	return fd < 0 ? fd : unlock_fd(fd);
}

static int open_dir(int dir, const char *name)
{
	struct stat st;
	int fd = fh_guard_resolve(dir, name, O_RDONLY | O_DIRECTORY);

	/* A directory of mode 000 cannot even be asked for its own ".". */
	if (fd == -EACCES && (strcmp(name, ".") ? unlock_dir(dir, name) : unlock_fd(dir)) == 0)
		fd = fh_guard_resolve(dir, name, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	/* Best effort: what is not ours to change shows up as an error on its entries. */
	if (fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
		(void)fchmod(fd, 0700);
	return fd;
}

/* Removes a name that is no directory, or an empty one. -ENOTEMPTY for a directory with content. */
static int remove_name(int dir, const char *name, unsigned char type)
{
	if (type != DT_DIR) {
		if (unlinkat(dir, name, 0) == 0)
			return 0;
		if (errno != EISDIR && errno != EPERM)
			return -errno;
	}
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return 0;
	if (errno == ENOTDIR) /* swapped for a file meanwhile */
		return unlinkat(dir, name, 0) == 0 ? 0 : -errno;
	return errno == EEXIST ? -ENOTEMPTY : -errno;
}

/* Renames dir/name up into the top, under a name that is free. */
static int move_up(struct sweep *s, int dir, const char *name)
{
	bool unlocked = false;

	for (int i = 0; i < NAME_TRIES_MAX; i++) {
		char up[32];

		snprintf(up, sizeof(up), ".fumehood-gone-%llu", (unsigned long long)s->moved);
		if (renameat(dir, name, s->top, up) == 0) {
			s->moved++;
			return 0;
		}
		if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR || errno == EISDIR) {
			s->moved++; /* taken */
			continue;
		}
		/* Moving a directory rewrites its "..": it must be writable itself. */
		if (errno != EACCES || unlocked || unlock_dir(dir, name) < 0)
			return -errno;
		unlocked = true;
	}
	return -EEXIST;
}

static int remove_entry(struct sweep *s, int dir, const char *name, unsigned char type, int depth);

/* Removes what one open directory holds, in a single pass. */
static void sweep_dir(struct sweep *s, int fd, int depth)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	struct dirent *e;

	if (!d) {
		if (!s->trouble)
			s->trouble = -errno;
		fh_close(&again);
		return;
	}
	while (!out_of_time(s) && (e = readdir(d))) {
		int rc;

		if (fh_guard_is_dot(e->d_name))
			continue;
		rc = remove_entry(s, fd, e->d_name, e->d_type, depth);
		if (rc == 0)
			s->removed++;
		else if (rc != -ENOENT && rc != -ENOTEMPTY && !s->trouble)
			s->trouble = rc;
	}
	closedir(d);
}

static int remove_entry(struct sweep *s, int dir, const char *name, unsigned char type, int depth)
{
	int rc = remove_name(dir, name, type);

	if (rc != -ENOTEMPTY)
		return rc;
	if (depth > 0) {
		rc = move_up(s, dir, name);
		if (rc != -EXDEV)
			return rc;
		if (depth >= DESCENT_MAX)
			return -ELOOP;
	}
	fh_autofd int fd = open_dir(dir, name);
	if (fd < 0)
		return fd;
	sweep_dir(s, fd, depth + 1);
	return remove_name(dir, name, DT_DIR);
}

int fh_guard_empty(int dirfd, uint64_t deadline_ns, struct fh_err *err)
{
	fh_autofd int top = open_dir(dirfd, ".");
	struct sweep s = {.top = top, .deadline_ns = deadline_ns};
	int idle = 0;

	if (top < 0)
		return fh_fail(err, top, "open the directory to empty");
	for (;;) {
		uint64_t before = s.removed;
		int rc = fh_guard_is_empty(top);

		if (rc < 0)
			return fh_fail(err, rc, "read the directory to empty");
		if (rc == 1)
			return 0;
		if (out_of_time(&s))
			return fh_fail(err, -ETIMEDOUT, "empty a directory of the workspace");
		s.trouble = 0;
		sweep_dir(&s, top, 0);
		/* While names go away we go on: somebody may be filling it, until the deadline. */
		idle = s.removed == before ? idle + 1 : 0;
		if (idle && s.trouble)
			return fh_fail(err, s.trouble, "remove what is left in a directory of the workspace");
		if (idle >= IDLE_PASSES_MAX)
			return fh_fail(err, -ENOTEMPTY,
				       "remove what is left in a directory of the workspace");
	}
}
