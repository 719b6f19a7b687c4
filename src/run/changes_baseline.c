/* Changes of a directory that the program wrote into directly: what it held before against what it holds
 * after; see changes.h. */
#include "run/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/own.h"
#include "isolate/pathguard_steps.h"
#include "run/changes_list.h"

#define PATHS_BYTES_MAX (4u << 20)

struct known {
	size_t path; /* in `paths` */
	uint64_t size, inode;
	int64_t mtime_ns, ctime_ns;
	uint32_t mode;
	dev_t device;
};

struct fh_changes_baseline {
	struct known *v;
	size_t n, room;
	size_t max;
	struct fh_buf paths;
	int64_t taken_ns; /* of the file system's clock, before the first look */
	bool cut;         /* the directory held more than `max` */
};

static int64_t to_ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static int know(struct fh_changes_baseline *b, const char *path, const struct stat *st)
{
	struct known k = {
	    .path = b->paths.len,
	    .size = (uint64_t)st->st_size,
	    .inode = st->st_ino,
	    .mtime_ns = to_ns(&st->st_mtim),
	    .ctime_ns = to_ns(&st->st_ctim),
	    .mode = st->st_mode,
	    .device = st->st_dev,
	};

	if (b->n == b->max)
		return -E2BIG;
	if (b->n == b->room) {
		size_t room = b->room ? 2 * b->room : 64;
		struct known *grown = realloc(b->v, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		b->v = grown;
		b->room = room;
	}
	int rc = fh_buf_add(&b->paths, path, strlen(path) + 1);
	if (rc < 0)
		return rc;
	b->v[b->n++] = k;
	return 0;
}

/* `walk` only holds the path, the time and the truth about completeness here. */
static void take_in(struct fh_changes_baseline *b, struct fh_changes_list *walk, DIR *d, unsigned depth)
{
	const char *name;
	struct stat st;

	while ((name = fh_changes_next(walk, d))) {
		size_t before;
		int rc;

		if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0 ||
		    !fh_changes_enter(walk, name, &before))
			continue;
		rc = know(b, walk->path, &st);
		if (rc < 0) {
			walk->stopped = walk->out.truncated = true;
			walk->error = rc == -ENOMEM ? rc : 0;
			return;
		}
		if (S_ISDIR(st.st_mode)) {
			fh_autodir DIR *inner = fh_changes_open_dir(walk, dirfd(d), name, depth + 1);

			if (inner)
				take_in(b, walk, inner, depth + 1);
		}
		fh_changes_leave(walk, before);
	}
}

static int by_path(const void *a, const void *b, void *paths)
{
	return strcmp((char *)paths + ((const struct known *)a)->path,
		      (char *)paths + ((const struct known *)b)->path);
}

int fh_changes_baseline_take(int root_fd, size_t entries_max, uint64_t deadline_ns,
			     struct fh_changes_baseline **ret, struct fh_err *err)
{
	struct fh_changes_caps caps = {.deadline_ns = deadline_ns};
	struct fh_changes_baseline *b = calloc(1, sizeof(*b));
	fh_autodir DIR *d = NULL;
	struct fh_changes_list walk;
	struct timespec now;

	if (!b)
		return fh_fail(err, -ENOMEM, "remember the workspace");
	fh_buf_init(&b->paths, PATHS_BYTES_MAX);
	b->max = entries_max < FH_CHANGES_BASELINE_MAX ? entries_max : FH_CHANGES_BASELINE_MAX;
	/* Inodes are stamped with the coarse clock, so a finer one would run ahead of them. */
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	b->taken_ns = to_ns(&now);
	fh_changes_list_init(&walk, &caps);
	d = fh_changes_open_dir(&walk, root_fd, ".", 0);
	if (!d) {
		int rc = -errno;

		fh_changes_baseline_destroy(b);
		return fh_fail(err, rc, "read the workspace");
	}
	take_in(b, &walk, d, 0);
	if (walk.error < 0) {
		fh_changes_baseline_destroy(b);
		return fh_fail(err, walk.error, "remember the workspace");
	}
	b->cut = walk.out.truncated;
	if (b->n > 1)
		qsort_r(b->v, b->n, sizeof(*b->v), by_path, b->paths.data);
	*ret = b;
	return 0;
}

void fh_changes_baseline_destroy(struct fh_changes_baseline *b)
{
	if (!b)
		return;
	free(b->v);
	fh_buf_finish(&b->paths);
	free(b);
}

struct comparer {
	struct fh_changes_list list;
	const struct fh_changes_baseline *before;
	bool *seen; /* one for each known entry */
};

static const char *path_of(const struct fh_changes_baseline *b, size_t i)
{
	return b->paths.data + b->v[i].path;
}

static const struct known *recall(struct comparer *c, const char *path)
{
	size_t low = 0, high = c->before->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(path_of(c->before, mid), path);

		if (order == 0) {
			c->seen[mid] = true;
			return &c->before->v[mid];
		}
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static bool differs(const struct known *k, const struct stat *st)
{
	if (k->mode != st->st_mode)
		return true;
	/* A directory's times and inode say what happened to its entries, which are listed themselves. */
	if (S_ISDIR(st->st_mode))
		return false;
	return k->size != (uint64_t)st->st_size || k->inode != st->st_ino || k->device != st->st_dev ||
	       k->mtime_ns != to_ns(&st->st_mtim) || k->ctime_ns != to_ns(&st->st_ctim);
}

/* An entry beyond a cut baseline: only times that no program can set tell whether it is new. */
static bool is_newer(const struct fh_changes_baseline *b, int dir, const char *name, const struct stat *st,
		     enum fh_change_kind *ret_kind)
{
	struct statx stx;

	*ret_kind = FH_CHANGE_MODIFIED;
	if (to_ns(&st->st_ctim) < b->taken_ns)
		return false;
	if (statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BTIME, &stx) == 0 &&
	    (stx.stx_mask & STATX_BTIME)) {
		if (stx.stx_btime.tv_sec * 1000000000 + stx.stx_btime.tv_nsec >= b->taken_ns)
			*ret_kind = FH_CHANGE_ADDED;
		else if (S_ISDIR(st->st_mode)) /* an entry of it came or went */
			return false;
	}
	return true;
}

static void compare_in(struct comparer *c, DIR *d, unsigned depth)
{
	const char *name;
	struct stat st;

	while ((name = fh_changes_next(&c->list, d))) {
		enum fh_change_kind kind = FH_CHANGE_ADDED;
		const struct known *k;
		size_t before;

		if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0 ||
		    !fh_changes_enter(&c->list, name, &before))
			continue;
		k = recall(c, c->list.path);
		if (k && differs(k, &st))
			fh_changes_note_summed(&c->list, FH_CHANGE_MODIFIED, dirfd(d), name, &st);
		else if (!k && (!c->before->cut || is_newer(c->before, dirfd(d), name, &st, &kind)))
			fh_changes_note_summed(&c->list, kind, dirfd(d), name, &st);
		if (S_ISDIR(st.st_mode)) {
			fh_autodir DIR *inner = fh_changes_open_dir(&c->list, dirfd(d), name, depth + 1);

			if (inner)
				compare_in(c, inner, depth + 1);
		}
		fh_changes_leave(&c->list, before);
	}
}

/* What was not met is gone, unless the walk could not come there: it is asked for by its path. */
static void note_gone(struct comparer *c, int root_fd)
{
	for (size_t i = 0; i < c->before->n && !c->list.stopped; i++) {
		const struct known *k = &c->before->v[i];
		struct stat st = {.st_mode = k->mode, .st_size = (off_t)k->size};
		size_t before;
		int fd;

		if (c->seen[i])
			continue;
		fd = fh_guard_resolve(root_fd, path_of(c->before, i), O_PATH);
		if (fd >= 0)
			close(fd);
		if (fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP)
			continue;
		if (!fh_changes_enter(&c->list, path_of(c->before, i), &before))
			continue;
		fh_changes_note(&c->list, FH_CHANGE_DELETED, &st, NULL);
		fh_changes_leave(&c->list, before);
	}
}

int fh_changes_since(int root_fd, const struct fh_changes_baseline *b, const struct fh_changes_caps *caps,
		     struct fh_changes *ret, struct fh_err *err)
{
	fh_autofree bool *seen = calloc(b->n ? b->n : 1, sizeof(*seen));
	struct comparer c = {.before = b, .seen = seen};
	fh_autodir DIR *d = NULL;

	if (!seen)
		return fh_fail(err, -ENOMEM, "compare the workspace");
	fh_changes_list_init(&c.list, caps);
	d = fh_changes_open_dir(&c.list, root_fd, ".", 0);
	if (!d)
		return fh_fail(err, -errno, "read the workspace");
	compare_in(&c, d, 0);
	note_gone(&c, root_fd);
	c.list.out.truncated |= b->cut;
	return fh_changes_list_finish(&c.list, ret, err);
}
