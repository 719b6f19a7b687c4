/* Paths of a workspace, resolved beneath its root; see pathguard.h. Opens, and never reads or writes: that is
 * pathguard_copy.c, and pathguard_empty.c for removal. */
#include "isolate/pathguard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "isolate/pathguard_steps.h"
#include "isolate/pathname.h"
#include "sys/call.h"

#define PATH_BYTES_MAX 4096
#define RETRIES        16

static enum fh_guard_way chosen_way = FH_GUARD_AUTO;

void fh_guard_resolve_by(enum fh_guard_way way)
{
	chosen_way = way;
}

const char *fh_guard_name(const char *path, char into[FH_GUARD_NAME])
{
	fh_autobuf text;

	fh_buf_init(&text, FH_GUARD_NAME - sizeof("..."));
	fh_pathname_escape(path, strlen(path), &text);
	snprintf(into, FH_GUARD_NAME, "%s%s", fh_buf_str(&text), text.overflow ? "..." : "");
	return into;
}

int fh_guard_check(const char *path, struct fh_err *err)
{
	char name[FH_GUARD_NAME];
	size_t len = strlen(path);

	if (len == 0)
		return fh_usage(err,
				"the path is empty; name a file inside the workspace, or '.' for its root");
	if (len > PATH_BYTES_MAX)
		return fh_usage(err, "the path has %zu bytes, and %d are the most", len, PATH_BYTES_MAX);
	if (path[0] == '/')
		return fh_usage(err, "'%s' is absolute; give it relative to the workspace",
				fh_guard_name(path, name));
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 2 && p[0] == '.' && p[1] == '.')
			return fh_usage(err, "'%s' holds '..', which could lead out of the workspace",
					fh_guard_name(path, name));
		if (n > NAME_MAX)
			return fh_usage(err, "'%s' holds a name of %zu bytes, and %d are the most",
					fh_guard_name(path, name), n, NAME_MAX);
		p += n;
		p += strspn(p, "/");
	}
	return 0;
}

int fh_guard_open_root(const char *host_path, struct fh_err *err)
{
	char name[FH_GUARD_NAME], trimmed[PATH_MAX];
	size_t len = strlen(host_path);
	int fd;

	/* "link/" would follow the link in spite of O_NOFOLLOW. */
	while (len > 1 && host_path[len - 1] == '/')
		len--;
	if (len == 0)
		return fh_usage(err, "the path of the workspace is empty");
	if (len >= sizeof(trimmed))
		return fh_usage(err, "the path of the workspace is too long");
	memcpy(trimmed, host_path, len);
	trimmed[len] = '\0';
	fd = open(trimmed, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOTDIR) {
		struct stat st;

		if (lstat(trimmed, &st) == 0 && S_ISLNK(st.st_mode))
			return fh_guard_refuse(
			    err, -ELOOP, "workspace '%s' is a symbolic link; name the directory it leads to",
			    fh_guard_name(trimmed, name));
		return fh_fail(err, -ENOTDIR, "workspace '%s'", fh_guard_name(trimmed, name));
	}
	if (fd < 0)
		return fh_fail(err, -errno, "open workspace '%s'", fh_guard_name(trimmed, name));
	return fd;
}

/* Which mount a file is on; device numbers alone would miss a bind mount within one file system. */
struct mount_mark {
	uint64_t mount;
	dev_t dev;
};

static int mark_of(int fd, struct mount_mark *ret)
{
	struct statx stx;
	struct stat st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_MNT_ID, &stx) == 0 &&
	    (stx.stx_mask & STATX_MNT_ID)) {
		*ret = (struct mount_mark){.mount = stx.stx_mnt_id};
		return 0;
	}
	if (fstat(fd, &st) < 0)
		return -errno;
	/* Files of an overlay may show another device than its directories: only those are compared. */
	*ret = (struct mount_mark){.dev = S_ISDIR(st.st_mode) ? st.st_dev : 0};
	return 0;
}

static int same_mount(const struct mount_mark *root, int fd)
{
	struct mount_mark here;
	int rc = mark_of(fd, &here);

	if (rc < 0)
		return rc;
	if (here.mount != root->mount || (here.dev && here.dev != root->dev))
		return -EXDEV;
	return 0;
}

/* openat(2) reports a link that should have been a directory as ENOTDIR; openat2(2) says ELOOP. So do we. */
static int open_step(int dir, const char *name, int flags)
{
	struct stat st;
	int fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC), saved = errno;

	if (fd >= 0)
		return fd;
	if (saved == ENOTDIR && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
	    S_ISLNK(st.st_mode))
		return -ELOOP;
	return -saved;
}

/* Each component by itself: what openat2 does in the kernel, with O_NOFOLLOW at every step. */
static int resolve_steps(int root, const char *path, int flags)
{
	struct mount_mark mark;
	fh_autofd int at = -1;
	const char *p = path;
	int rc = mark_of(root, &mark);

	if (rc < 0)
		return rc;
	for (;;) {
		char name[NAME_MAX + 1];
		size_t n = strcspn(p, "/");
		const char *next = p + n + strspn(p + n, "/");
		int how = *next ? O_PATH | O_DIRECTORY : flags | (p[n] == '/' ? O_DIRECTORY : 0);
		int fd;

		if (n == 0 || n > NAME_MAX || (n == 2 && !memcmp(p, "..", 2)))
			return -EINVAL;
		memcpy(name, p, n);
		name[n] = '\0';
		fd = open_step(at >= 0 ? at : root, name, how);
		if (fd < 0)
			return fd;
		fh_close(&at);
		at = fd;
		rc = same_mount(&mark, at);
		if (rc < 0)
			return rc;
		if (!*next)
			return fh_take_fd(&at);
		p = next;
	}
}

static int openat2_beneath(int root, const char *path, int flags)
{
	struct open_how how = {
	    .flags = (uint64_t)(flags | O_NOFOLLOW | O_CLOEXEC),
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};

	/* EAGAIN: something was renamed meanwhile and the kernel could not tell; a hostile renamer may go on
	 * for ever. */
	for (int i = 0; i < RETRIES; i++) {
		long fd = FH_SYS(SYS_openat2, root, path, &how, sizeof(how));

		if (fd != -EAGAIN && fd != -EINTR)
			return (int)fd;
	}
	return -EAGAIN;
}

int fh_guard_resolve(int root, const char *path, int flags)
{
	int fd = -ENOSYS;

	if (chosen_way == FH_GUARD_AUTO)
		fd = openat2_beneath(root, path, flags);
	/* A filter around us may answer EPERM for a call it does not know; the steps then tell what it really
	 * is. */
	if (fd == -ENOSYS || fd == -EPERM)
		return resolve_steps(root, path, flags);
	/* For a last component that is a link the kernel only says that it is no directory. */
	if (fd == -ENOTDIR && (flags & O_DIRECTORY)) {
		fh_autofd int seen = openat2_beneath(root, path, O_PATH);
		struct stat st;

		if (seen >= 0 && fstat(seen, &st) == 0 && S_ISLNK(st.st_mode))
			return -ELOOP;
	}
	return fd;
}

int fh_guard_is_empty(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int rc;

	if (!d) {
		rc = -errno;
		fh_close(&fd);
		return rc;
	}
	do {
		errno = 0;
		e = readdir(d);
	} while (e && fh_guard_is_dot(e->d_name));
	rc = e ? 0 : errno ? -errno : 1;
	closedir(d);
	return rc;
}

static const char *kind_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return "a directory";
	if (S_ISFIFO(mode))
		return "a FIFO";
	if (S_ISSOCK(mode))
		return "a socket";
	return "a device";
}

static int fail_open(int rc, const char *path, struct fh_err *err)
{
	char name[FH_GUARD_NAME];

	fh_guard_name(path, name);
	if (rc == -ELOOP)
		return fh_guard_refuse(
		    err, rc, "'%s' is, or leads through, a symbolic link, and none is followed", name);
	if (rc == -EXDEV)
		return fh_guard_refuse(err, rc, "'%s' leads out of the workspace", name);
	return fh_fail(err, rc, "open '%s'", name);
}

int fh_guard_open_file(int root, const char *path, struct stat *ret_st, struct fh_err *err)
{
	char name[FH_GUARD_NAME];
	fh_autofd int seen = -1, fd = -1;
	struct stat st;
	int rc = fh_guard_check(path, err);

	if (rc < 0)
		return rc;
	/* Looked at before it is opened, since opening alone moves a tape or wakes the writer of a FIFO. */
	seen = fh_guard_resolve(root, path, O_PATH);
	if (seen < 0)
		return fail_open(seen, path, err);
	if (fstat(seen, &st) < 0)
		return fail_open(-errno, path, err);
	if (S_ISLNK(st.st_mode))
		return fail_open(-ELOOP, path, err);
	if (!S_ISREG(st.st_mode))
		return fh_usage(err, "'%s' is %s and not a regular file", fh_guard_name(path, name),
				kind_of(st.st_mode));
	/* It may be another by now: hence the same caution, and a second look. */
	fd = fh_guard_resolve(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fail_open(fd, path, err);
	if (fstat(fd, &st) < 0)
		return fail_open(-errno, path, err);
	if (!S_ISREG(st.st_mode))
		return fh_usage(err, "'%s' is %s and not a regular file", fh_guard_name(path, name),
				kind_of(st.st_mode));
	if (ret_st)
		*ret_st = st;
	return fh_take_fd(&fd);
}

int fh_guard_open_dir(int root, const char *path, struct fh_err *err)
{
	int rc = fh_guard_check(path, err);

	if (rc < 0)
		return rc;
	rc = fh_guard_resolve(root, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY);
	return rc < 0 ? fail_open(rc, path, err) : rc;
}
