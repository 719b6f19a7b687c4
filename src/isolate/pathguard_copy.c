/* Bytes of a workspace's files in and out, and its listing; see pathguard.h. Every fd comes from the guard's
 * resolution; nothing here opens by a path of its own making but the temporary file beside a target. */
#include "isolate/pathguard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "isolate/pathguard_steps.h"

#define COPY_BYTES    (128 * 1024)
#define MKDIR_RETRIES 8
#define TEMP_RETRIES  8

static ssize_t read_some(int fd, void *into, size_t n)
{
	ssize_t got;

	do
		got = read(fd, into, n);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Copies until end of file, at most cap_bytes; -EFBIG when one byte more could be read. `*copied` counts
 * always.
 * `*reading` tells which side failed. */
static int copy_bytes(int in_fd, int out_fd, uint64_t cap_bytes, uint64_t *copied, bool *reading)
{
	fh_autofree char *chunk = malloc(COPY_BYTES);

	*copied = 0;
	*reading = true;
	if (!chunk)
		return -ENOMEM;
	for (;;) {
		uint64_t left = cap_bytes - *copied;
		size_t want = left < COPY_BYTES ? (size_t)left + 1 : COPY_BYTES;
		ssize_t got = read_some(in_fd, chunk, want);
		bool more = got > 0 && (uint64_t)got > left;
		int rc;

		if (got <= 0)
			return (int)got;
		*reading = false;
		rc = fh_write_all(out_fd, chunk, more ? (size_t)left : (size_t)got);
		if (rc < 0)
			return rc;
		*reading = true;
		*copied += more ? left : (uint64_t)got;
		if (more)
			return -EFBIG;
	}
}

int fh_guard_get(int root, const char *path, int out_fd, uint64_t cap_bytes, uint64_t *ret_bytes,
		 struct fh_err *err)
{
	char name[FH_GUARD_NAME];
	fh_autofd int fd = fh_guard_open_file(root, path, NULL, err);
	uint64_t copied;
	bool reading;
	int rc;

	if (fd < 0)
		return fd;
	rc = copy_bytes(fd, out_fd, cap_bytes, &copied, &reading);
	if (rc == -EFBIG)
		return fh_guard_refuse(err, rc, "'%s' holds more than the %llu bytes allowed",
				       fh_guard_name(path, name), (unsigned long long)cap_bytes);
	if (rc < 0)
		return fh_fail(err, rc, reading ? "read '%s'" : "write what was read of '%s'",
			       fh_guard_name(path, name));
	if (ret_bytes)
		*ret_bytes = copied;
	return 0;
}

/* Who should own what is made in this workspace: its owner, when we are root and could choose. */
struct owner {
	uid_t uid;
	gid_t gid;
	bool give;
};

static int owner_of(int root, struct owner *ret)
{
	struct stat st;

	if (fstat(root, &st) < 0)
		return -errno;
	*ret = (struct owner){st.st_uid, st.st_gid,
			      geteuid() == 0 && (st.st_uid != 0 || st.st_gid != getegid())};
	return 0;
}

/* A directory we just made, unless somebody put another in its place: only one of ours and still empty is
 * touched. */
static int settle_dir(int dir, const struct owner *owner)
{
	fh_autofd int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || fh_guard_is_empty(fd) != 1)
		return 0;
	if (owner->give && fchown(fd, owner->uid, owner->gid) < 0)
		return -errno;
	return fchmod(fd, 0755) < 0 ? -errno : 0;
}

static int enter_or_make(int dir, const char *name, const struct owner *owner)
{
	for (int i = 0; i < MKDIR_RETRIES; i++) {
		int fd = fh_guard_resolve(dir, name, O_PATH | O_DIRECTORY);
		int rc;

		if (fd != -ENOENT)
			return fd;
		if (mkdirat(dir, name, 0755) < 0) {
			if (errno != EEXIST)
				return -errno;
			continue;
		}
		fd = fh_guard_resolve(dir, name, O_PATH | O_DIRECTORY);
		if (fd == -ENOENT)
			continue;
		if (fd < 0)
			return fd;
		rc = settle_dir(fd, owner);
		if (rc < 0) {
			close(fd);
			return rc;
		}
		return fd;
	}
	return -EAGAIN;
}

/* The directory that `path` names with its last `len` bytes cut off, made where missing. */
static int make_parents(int root, const char *path, size_t len, const struct owner *owner)
{
	fh_autofd int at = fh_guard_resolve(root, ".", O_PATH | O_DIRECTORY);
	char name[NAME_MAX + 1];

	for (size_t i = 0; at >= 0 && i < len;) {
		size_t n = strcspn(path + i, "/");
		int next;

		memcpy(name, path + i, n); /* fh_guard_check bounded it */
		name[n] = '\0';
		next = enter_or_make(at, name, owner);
		fh_close(&at);
		at = next;
		i += n + strspn(path + i + n, "/");
	}
	return fh_take_fd(&at);
}

/* Opens the directory that the first `len` bytes of `path` name. */
static int open_parent(int root, const char *path, size_t len, unsigned flags, const struct owner *owner)
{
	char dir[PATH_MAX + 1];

	if (flags & FH_GUARD_PARENTS)
		return make_parents(root, path, len, owner);
	memcpy(dir, path, len); /* fh_guard_check bounded it */
	memcpy(dir + len, len ? "" : ".", len ? 1 : 2);
	return fh_guard_resolve(root, dir, O_PATH | O_DIRECTORY);
}

/* A new file beside the target, under a name nobody can guess. */
static int make_temp(int dir, char temp[32])
{
	for (int i = 0; i < TEMP_RETRIES; i++) {
		uint64_t random;
		int fd;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -errno;
		snprintf(temp, 32, ".fumehood-%016llx", (unsigned long long)random);
		fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int seal_and_rename(int fd, int dir, const char *temp, const char *leaf, unsigned flags,
			   const struct owner *owner)
{
	struct stat st;

	if (owner->give && fchown(fd, owner->uid, owner->gid) < 0)
		return -errno;
	if (fchmod(fd, flags & FH_GUARD_EXECUTABLE ? 0755 : 0644) < 0)
		return -errno;
	if (fstatat(dir, leaf, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (renameat(dir, temp, dir, leaf) < 0)
		return -errno;
	return 0;
}

/* Everything that happens in the target's directory: a temporary file, filled, then renamed over the target.
 */
static int put_in(int dir, const char *leaf, int in_fd, uint64_t cap_bytes, unsigned flags,
		  const struct owner *owner, bool *reading)
{
	char temp[32];
	uint64_t copied;
	fh_autofd int fd = make_temp(dir, temp);
	int rc;

	*reading = false;
	if (fd < 0)
		return fd;
	rc = copy_bytes(in_fd, fd, cap_bytes, &copied, reading);
	if (rc == 0) {
		*reading = false;
		rc = seal_and_rename(fd, dir, temp, leaf, flags, owner);
	}
	if (rc < 0)
		unlinkat(dir, temp, 0);
	return rc;
}

int fh_guard_put(int root, const char *path, int in_fd, uint64_t cap_bytes, unsigned flags,
		 struct fh_err *err)
{
	char name[FH_GUARD_NAME];
	fh_autofd int dir = -1;
	struct owner owner;
	const char *leaf;
	bool reading;
	int rc = fh_guard_check(path, err);

	if (rc < 0)
		return rc;
	fh_guard_name(path, name);
	leaf = strrchr(path, '/');
	leaf = leaf ? leaf + 1 : path;
	if (!*leaf || !strcmp(leaf, "."))
		return fh_guard_refuse(err, -EISDIR, "'%s' names a directory; a file name is needed", name);
	rc = owner_of(root, &owner);
	if (rc < 0)
		return fh_fail(err, rc, "look at the workspace");
	dir = open_parent(root, path, (size_t)(leaf - path), flags, &owner);
	if (dir == -ELOOP || dir == -ENOTDIR)
		return fh_guard_refuse(
		    err, dir, "'%s' leads through what is not a directory (links are not followed)", name);
	if (dir < 0)
		return fh_fail(err, dir, "open the directory of '%s'", name);
	rc = put_in(dir, leaf, in_fd, cap_bytes, flags, &owner, &reading);
	if (rc == -EFBIG)
		return fh_guard_refuse(err, rc,
				       "what should become '%s' holds more than the %llu bytes allowed", name,
				       (unsigned long long)cap_bytes);
	if (rc < 0)
		return fh_fail(err, rc, reading ? "read what should become '%s'" : "write '%s'", name);
	return 0;
}

/* Names of one directory, as many as were asked for. */
struct names {
	char **v;
	size_t n;
};

static void names_finish(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
}

static int names_add(struct names *names, const char *name)
{
	if ((names->n & (names->n - 1)) == 0) { /* a power of two: the block is full */
		char **grown = realloc(names->v, (names->n ? names->n * 2 : 1) * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		names->v = grown;
	}
	names->v[names->n] = strdup(name);
	if (!names->v[names->n])
		return -ENOMEM;
	names->n++;
	return 0;
}

/* -E2BIG when there were more than max. */
static int names_read(DIR *d, size_t max, struct names *names)
{
	struct dirent *e;
	int rc;

	for (;;) {
		errno = 0;
		e = readdir(d);
		if (!e)
			return -errno;
		if (fh_guard_is_dot(e->d_name))
			continue;
		if (names->n == max)
			return -E2BIG;
		rc = names_add(names, e->d_name);
		if (rc < 0)
			return rc;
	}
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int give_entries(int dir, const struct names *names,
			int (*each)(const struct fh_guard_entry *, void *), void *arg)
{
	for (size_t i = 0; i < names->n; i++) {
		struct fh_guard_entry entry = {.name = names->v[i]};
		int rc;

		/* Gone since it was read, or not ours to look at: nothing to show. */
		if (fstatat(dir, entry.name, &entry.st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
			continue;
		rc = each(&entry, arg);
		if (rc)
			return rc;
	}
	return 0;
}

int fh_guard_list(int root, const char *path, size_t max_entries,
		  int (*each)(const struct fh_guard_entry *, void *), void *arg, struct fh_err *err)
{
	char name[FH_GUARD_NAME];
	int fd = fh_guard_open_dir(root, path, err);
	struct names names = {0};
	fh_autodir DIR *d = NULL;
	int rc, given;

	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (!d) {
		rc = -errno;
		close(fd);
		return fh_fail(err, rc, "list '%s'", fh_guard_name(path, name));
	}
	rc = names_read(d, max_entries, &names);
	if (rc == 0 || rc == -E2BIG) {
		if (names.n)
			qsort(names.v, names.n, sizeof(*names.v), by_bytes);
		given = give_entries(fd, &names, each, arg);
		if (given) {
			names_finish(&names);
			return given;
		}
	}
	names_finish(&names);
	if (rc == -E2BIG)
		return fh_guard_refuse(err, rc, "'%s' holds more than the %zu entries listed",
				       fh_guard_name(path, name), max_entries);
	return rc < 0 ? fh_fail(err, rc, "list '%s'", fh_guard_name(path, name)) : 0;
}
