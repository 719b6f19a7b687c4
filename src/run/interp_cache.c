/* Keeps what interpreters said, so that only the first run with one pays for asking.
 *
 * One small file per key in $XDG_CACHE_HOME/fumehood or ~/.cache/fumehood, named by the key's SHA-256,
 * holding the key and the answer. A file that is not wholly ours and private, or not wholly as written, is as
 * good as none. Must never fail a run, and never write into a home directory that is not the caller's own
 * (sudo keeps HOME). */
#include "run/interp_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/sha256.h"

enum make { LOOK, MAKE };

/* Opens a folder beneath another, or at a path; only one that is ours and that nobody else can write to. */
static int open_own(int at, const char *name, enum make make)
{
	fh_autofd int fd = -1;
	struct stat st;

	if (make == MAKE && mkdirat(at, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (at == AT_FDCWD ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	return fh_take_fd(&fd);
}

static int open_folder(enum make make)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	fh_autofd int above = -1;

	if (xdg && xdg[0] == '/') {
		above = open_own(AT_FDCWD, xdg, LOOK);
	} else if (home && home[0] == '/') {
		fh_autofd int home_fd = open_own(AT_FDCWD, home, LOOK);
		if (home_fd >= 0)
			above = open_own(home_fd, ".cache", make);
	}
	if (above < 0)
		return -ENOENT;
	return open_own(above, "fumehood", make);
}

static void name_of(const char *key, char name[FH_SHA256_HEX + 8])
{
	struct fh_sha256 sum;
	char hex[FH_SHA256_HEX];

	fh_sha256_init(&sum);
	fh_sha256_add(&sum, key, strlen(key));
	fh_sha256_hex(&sum, hex);
	snprintf(name, FH_SHA256_HEX + 8, "python-%s", hex);
}

int fh_interp_cache_load(const char *key, struct fh_probe *ret)
{
	fh_autofd int folder = open_folder(LOOK), fd = -1;
	char name[FH_SHA256_HEX + 8];
	fh_autobuf text;
	struct stat st;
	size_t n = strlen(key);

	fh_buf_init(&text, 2 * FH_PROBE_BYTES_MAX);
	if (folder < 0)
		return folder;
	name_of(key, name);
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		return -EPERM;
	if (fh_read_all(fd, &text) < 0)
		return -EIO;
	if (text.len <= n || strlen(text.data) != text.len || strncmp(text.data, key, n) != 0)
		return -EBADMSG;
	return fh_probe_parse(strdup(text.data + n), ret);
}

static int write_answer(int folder, const char *name, const struct fh_buf *text)
{
	char temporary[FH_SHA256_HEX + 32];
	fh_autofd int fd = -1;
	int rc;

	snprintf(temporary, sizeof(temporary), "%s.%d", name, (int)getpid());
	fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	rc = fh_write_all(fd, text->data, text->len);
	if (rc == 0 && renameat(folder, temporary, folder, name) < 0)
		rc = -errno;
	if (rc < 0)
		unlinkat(folder, temporary, 0);
	return rc;
}

void fh_interp_cache_store(const char *key, const struct fh_probe *p)
{
	static const char *const kinds[] = {"prefix", "need", "packages", "library"};
	fh_autofd int folder = open_folder(MAKE);
	char name[FH_SHA256_HEX + 8];
	fh_autobuf text;

	fh_buf_init(&text, 2 * FH_PROBE_BYTES_MAX);
	if (folder < 0)
		return;
	fh_buf_addf(&text, "%s\nfumehood-probe 1\nexecutable\t%s\nversion\t%s\n", key, p->executable,
		    p->version);
	for (size_t k = 0; k < p->n_paths; k++)
		fh_buf_addf(&text, "%s\t%s\n", kinds[p->paths[k].kind], p->paths[k].path);
	fh_buf_adds(&text, "fumehood-probe end\n");
	if (text.overflow)
		return;
	name_of(key, name);
	write_answer(folder, name, &text);
}
