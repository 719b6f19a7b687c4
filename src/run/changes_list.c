/* The list of changes while it grows: bounds, sums and the path of the walk; see changes_list.h. */
#include "run/changes_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "isolate/pathguard_steps.h"
#include "isolate/pathname.h"

#define SUM_BYTES (128 * 1024)

void fh_changes_finish(struct fh_changes *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].path);
	free(c->v);
	*c = (struct fh_changes){0};
}

void fh_changes_list_init(struct fh_changes_list *l, const struct fh_changes_caps *caps)
{
	*l = (struct fh_changes_list){.caps = *caps, .hash_left = caps->hash_bytes_max};
	if (l->caps.entries_max > FH_CHANGES_ENTRIES_MAX)
		l->caps.entries_max = FH_CHANGES_ENTRIES_MAX;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct fh_change *)a)->path, ((const struct fh_change *)b)->path);
}

int fh_changes_list_finish(struct fh_changes_list *l, struct fh_changes *ret, struct fh_err *err)
{
	if (l->error < 0) {
		fh_changes_finish(&l->out);
		return fh_fail(err, l->error, "list the changes of the workspace");
	}
	if (l->out.n > 1)
		qsort(l->out.v, l->out.n, sizeof(*l->out.v), by_path);
	*ret = l->out;
	return 0;
}

static void stop(struct fh_changes_list *l)
{
	l->stopped = true;
	l->out.truncated = true;
}

bool fh_changes_enter(struct fh_changes_list *l, const char *name, size_t *ret_before)
{
	size_t n = strlen(name), slash = l->path_len ? 1 : 0;

	*ret_before = l->path_len;
	if (l->path_len + slash + n >= sizeof(l->path)) {
		l->out.truncated = true;
		return false;
	}
	if (slash)
		l->path[l->path_len++] = '/';
	memcpy(l->path + l->path_len, name, n + 1);
	l->path_len += n;
	return true;
}

void fh_changes_leave(struct fh_changes_list *l, size_t before)
{
	l->path_len = before;
	l->path[before] = '\0';
}

const char *fh_changes_next(struct fh_changes_list *l, DIR *d)
{
	struct dirent *e;

	do {
		if (l->stopped)
			return NULL;
		if (fh_now_ns() >= l->caps.deadline_ns) {
			stop(l);
			return NULL;
		}
		errno = 0;
		e = readdir(d);
		if (!e) {
			if (errno)
				l->out.truncated = true;
			return NULL;
		}
	} while (fh_guard_is_dot(e->d_name));
	return e->d_name;
}

DIR *fh_changes_open_dir(struct fh_changes_list *l, int dir, const char *name, unsigned depth)
{
	int fd = depth > FH_CHANGES_DEPTH_MAX ? -ELOOP : fh_guard_resolve(dir, name, O_RDONLY | O_DIRECTORY);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		int saved = fd < 0 ? -fd : errno;

		if (fd >= 0)
			close(fd);
		l->out.truncated = true;
		errno = saved;
	}
	return d;
}

static int open_regular(int dir, const char *name)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
	int fd = fh_guard_resolve(dir, name, flags | O_NOATIME);
	struct stat st;

	if (fd == -EPERM) /* only the owner may leave the access time alone */
		fd = fh_guard_resolve(dir, name, flags);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

/* False when the budget or the time ended first. */
static bool sum_bytes(struct fh_changes_list *l, int fd, struct fh_sha256 *sum, uint64_t *bytes)
{
	fh_autofree char *chunk = malloc(SUM_BYTES);

	if (!chunk)
		return false;
	for (;;) {
		size_t want = l->hash_left < SUM_BYTES ? (size_t)l->hash_left + 1 : SUM_BYTES;
		ssize_t got = read(fd, chunk, want);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		if ((uint64_t)got > l->hash_left || fh_now_ns() >= l->caps.deadline_ns)
			return false;
		l->hash_left -= (uint64_t)got;
		*bytes += (uint64_t)got;
		fh_sha256_add(sum, chunk, (size_t)got);
	}
}

void fh_changes_sum(struct fh_changes_list *l, int dir, const char *name, struct stat *st,
		    char hex[FH_SHA256_HEX])
{
	struct fh_sha256 sum;
	uint64_t bytes = 0;

	hex[0] = '\0';
	/* What does not fit by its own word is not begun, so that one giant does not eat the budget of all
	 * others. */
	if (st->st_size < 0 || (uint64_t)st->st_size > l->hash_left)
		return;
	fh_autofd int fd = open_regular(dir, name);
	if (fd < 0)
		return;
	fh_sha256_init(&sum);
	if (!sum_bytes(l, fd, &sum, &bytes))
		return;
	fh_sha256_hex(&sum, hex);
	st->st_size = (off_t)bytes;
}

static enum fh_file_kind file_kind(mode_t mode)
{
	if (S_ISREG(mode))
		return FH_FILE_REGULAR;
	if (S_ISDIR(mode))
		return FH_FILE_DIRECTORY;
	return S_ISLNK(mode) ? FH_FILE_SYMLINK : FH_FILE_OTHER;
}

static bool make_room(struct fh_changes_list *l)
{
	size_t room = l->room ? 2 * l->room : 16;
	struct fh_change *grown;

	if (l->out.n < l->room)
		return true;
	grown = realloc(l->out.v, room * sizeof(*grown));
	if (!grown)
		return false;
	l->out.v = grown;
	l->room = room;
	return true;
}

void fh_changes_note(struct fh_changes_list *l, enum fh_change_kind kind, const struct stat *st,
		     const char *hex)
{
	struct fh_change change = {.kind = kind, .file = file_kind(st->st_mode)};
	fh_autobuf path = {.max = FH_CHANGES_PATH_BYTES_MAX - l->path_bytes};

	if (l->stopped)
		return;
	if (l->out.n >= l->caps.entries_max) {
		stop(l);
		return;
	}
	if (fh_pathname_escape(l->path, l->path_len, &path) == -E2BIG) {
		stop(l);
		return;
	}
	if (change.file == FH_FILE_REGULAR || change.file == FH_FILE_SYMLINK)
		change.size_bytes = (uint64_t)st->st_size;
	if (hex)
		memcpy(change.sha256, hex, strlen(hex) + 1);
	l->path_bytes += path.len;
	change.path = path.overflow ? NULL : fh_buf_take(&path);
	if (!change.path || !make_room(l)) {
		free(change.path);
		l->error = -ENOMEM;
		l->stopped = true;
		return;
	}
	l->out.v[l->out.n++] = change;
}

void fh_changes_note_summed(struct fh_changes_list *l, enum fh_change_kind kind, int dir, const char *name,
			    struct stat *st)
{
	char hex[FH_SHA256_HEX] = "";

	/* No sum for what will not be listed. */
	if (S_ISREG(st->st_mode) && !l->stopped && l->out.n < l->caps.entries_max)
		fh_changes_sum(l, dir, name, st, hex);
	fh_changes_note(l, kind, st, hex);
}
