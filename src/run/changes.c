/* Changes read off a tree the program wrote into: plain, or the upper directory of an overlay; see changes.h.
 */
#include "run/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/own.h"
#include "isolate/pathguard_steps.h"
#include "run/changes_list.h"

struct finder {
	struct fh_changes_list list;
	enum fh_changes_tree tree;
};

/* One name, in the tree as it is now and beneath it. */
struct entry {
	int dir, lower_dir; /* -1: nothing beneath */
	const char *name;
	struct stat st, lower;
	bool had; /* `lower` is set */
};

static bool look(int dir, const char *name, struct stat *ret)
{
	return fstatat(dir, name, ret, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0;
}

/* Empty files carry the mark of a whiteout as an attribute where devices cannot be made. */
static bool is_marked_whiteout(int dir, const char *name)
{
	fh_autofd int fd = fh_guard_resolve(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);

	return fd >= 0 && (fgetxattr(fd, "user.overlay.whiteout", NULL, 0) >= 0 ||
			   fgetxattr(fd, "trusted.overlay.whiteout", NULL, 0) >= 0);
}

static bool is_whiteout(const struct finder *f, const struct entry *e)
{
	if (f->tree != FH_CHANGES_UPPER)
		return false;
	if (S_ISCHR(e->st.st_mode))
		return e->st.st_rdev == 0;
	return S_ISREG(e->st.st_mode) && e->st.st_size == 0 && is_marked_whiteout(e->dir, e->name);
}

/* The overlay's own attributes, which a program inside it can neither set nor see. 'x' would mark a directory
 * that merely may hold whiteouts as attributes. */
static bool is_opaque(const struct finder *f, int fd)
{
	static const char *const names[] = {"user.overlay.opaque", "trusted.overlay.opaque"};
	char value;

	for (size_t i = 0; f->tree == FH_CHANGES_UPPER && i < FH_ARRAY_LEN(names); i++)
		if (fgetxattr(fd, names[i], &value, 1) == 1 && value == 'y')
			return true;
	return false;
}

static void note_deleted(struct finder *f, int lower_dir, const char *name, const struct stat *st,
			 unsigned depth);

/* Everything in a directory that is gone. */
static void note_deleted_in(struct finder *f, int lower_dir, const char *name, unsigned depth)
{
	fh_autodir DIR *d = fh_changes_open_dir(&f->list, lower_dir, name, depth);
	const char *inner;
	struct stat st;

	while (d && (inner = fh_changes_next(&f->list, d))) {
		size_t before;

		if (!look(dirfd(d), inner, &st) || !fh_changes_enter(&f->list, inner, &before))
			continue;
		note_deleted(f, dirfd(d), inner, &st, depth + 1);
		fh_changes_leave(&f->list, before);
	}
}

/* The entry the walk is at is gone: it, and all that it held. */
static void note_deleted(struct finder *f, int lower_dir, const char *name, const struct stat *st,
			 unsigned depth)
{
	fh_changes_note(&f->list, FH_CHANGE_DELETED, st, NULL);
	if (S_ISDIR(st->st_mode))
		note_deleted_in(f, lower_dir, name, depth);
}

static bool same_link(const struct entry *e)
{
	char now[PATH_MAX], then[PATH_MAX];
	ssize_t a = readlinkat(e->dir, e->name, now, sizeof(now));
	ssize_t b = readlinkat(e->lower_dir, e->name, then, sizeof(then));

	return a >= 0 && a == b && memcmp(now, then, (size_t)a) == 0;
}

/* Whether an entry that the overlay copied up is still what it was. `hex` gets the sum of a regular file. */
static bool is_as_it_was(struct finder *f, struct entry *e, char hex[FH_SHA256_HEX])
{
	char lower_hex[FH_SHA256_HEX];

	if (S_ISREG(e->st.st_mode))
		fh_changes_sum(&f->list, e->dir, e->name, &e->st, hex);
	if (!e->had || e->st.st_mode != e->lower.st_mode)
		return false;
	if (S_ISDIR(e->st.st_mode))
		return true;
	if (S_ISLNK(e->st.st_mode))
		return same_link(e);
	if (!S_ISREG(e->st.st_mode))
		return e->st.st_rdev == e->lower.st_rdev;
	if (!hex[0] || e->st.st_size != e->lower.st_size)
		return false;
	fh_changes_sum(&f->list, e->lower_dir, e->name, &e->lower, lower_hex);
	return strcmp(hex, lower_hex) == 0;
}

static void find_in(struct finder *f, DIR *d, int lower_fd, bool opaque, unsigned depth);

static void find_in_child(struct finder *f, const struct entry *e, bool opaque, unsigned depth)
{
	fh_autodir DIR *d = fh_changes_open_dir(&f->list, e->dir, e->name, depth);
	fh_autofd int lower_fd = -1;

	if (!d)
		return;
	if (e->had && S_ISDIR(e->lower.st_mode)) {
		lower_fd = fh_guard_resolve(e->lower_dir, e->name, O_PATH | O_DIRECTORY);
		if (lower_fd < 0)
			f->list.out.truncated = true;
	}
	find_in(f, d, lower_fd, opaque || is_opaque(f, dirfd(d)), depth);
}

static void find_entry(struct finder *f, struct entry *e, bool opaque, unsigned depth)
{
	char hex[FH_SHA256_HEX] = "";

	if (!look(e->dir, e->name, &e->st))
		return;
	e->had = e->lower_dir >= 0 && look(e->lower_dir, e->name, &e->lower);
	if (is_whiteout(f, e)) {
		if (e->had)
			note_deleted(f, e->lower_dir, e->name, &e->lower, depth);
		return;
	}
	if (!is_as_it_was(f, e, hex))
		fh_changes_note(&f->list, e->had ? FH_CHANGE_MODIFIED : FH_CHANGE_ADDED, &e->st, hex);
	if (S_ISDIR(e->st.st_mode))
		find_in_child(f, e, opaque, depth);
	else if (e->had && S_ISDIR(e->lower.st_mode))
		note_deleted_in(f, e->lower_dir, e->name, depth);
}

/* What an opaque directory hides, and has no entry of its own for. */
static void find_hidden(struct finder *f, int fd, int lower_fd, unsigned depth)
{
	fh_autodir DIR *d = fh_changes_open_dir(&f->list, lower_fd, ".", depth);
	const char *name;
	struct stat st;

	while (d && (name = fh_changes_next(&f->list, d))) {
		size_t before;

		if (look(fd, name, &st) || !look(dirfd(d), name, &st) ||
		    !fh_changes_enter(&f->list, name, &before))
			continue;
		note_deleted(f, dirfd(d), name, &st, depth + 1);
		fh_changes_leave(&f->list, before);
	}
}

/* `opaque`: nothing of lower_fd shows through here or further down. */
static void find_in(struct finder *f, DIR *d, int lower_fd, bool opaque, unsigned depth)
{
	const char *name;

	while ((name = fh_changes_next(&f->list, d))) {
		struct entry e = {.dir = dirfd(d), .lower_dir = lower_fd, .name = name};
		size_t before;

		if (!fh_changes_enter(&f->list, name, &before))
			continue;
		find_entry(f, &e, opaque, depth + 1);
		fh_changes_leave(&f->list, before);
	}
	if (opaque && lower_fd >= 0)
		find_hidden(f, dirfd(d), lower_fd, depth);
}

int fh_changes_find(enum fh_changes_tree tree, int after_fd, int lower_fd, const struct fh_changes_caps *caps,
		    struct fh_changes *ret, struct fh_err *err)
{
	struct finder f = {.tree = tree};
	fh_autodir DIR *d = NULL;

	fh_changes_list_init(&f.list, caps);
	d = fh_changes_open_dir(&f.list, after_fd, ".", 0);
	if (!d)
		return fh_fail(err, -errno, "read the workspace");
	find_in(&f, d, tree == FH_CHANGES_UPPER ? lower_fd : -1, is_opaque(&f, dirfd(d)), 0);
	return fh_changes_list_finish(&f.list, ret, err);
}
