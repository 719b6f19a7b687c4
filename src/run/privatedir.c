/* Private folders of level 1; see privatedir.h. */
#include "run/privatedir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "isolate/pathguard.h"

#define SWEEP_MS_MAX 2000
#define TRIES        3

/* Containers may share a TMPDIR: a pid says something only in the namespace it was counted in. 0 when it cannot be told. */
static unsigned long long pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? (unsigned long long)st.st_ino : 0;
}

/* Field 22 of /proc/<pid>/stat: ticks since boot; 0 when that cannot be read. */
static unsigned long long start_time(pid_t pid)
{
	char path[64], text[1024];
	unsigned long long ticks = 0;
	char *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return 0;
	p = strrchr(text, ')'); /* the name before it may hold anything */
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		ticks = strtoull(p + 1, NULL, 10);
	return ticks;
}

/* Whether somebody who owns nothing can get into the folder. */
static bool is_open_to_all(const char *path)
{
	char part[512];
	size_t n = strlen(path);
	struct stat st;

	if (n >= sizeof(part))
		return false;
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (stat(part, &st) < 0 || !(st.st_mode & S_IXOTH))
			return false;
	}
	return true;
}

/* Opens $TMPDIR/fumehood-<uid>, which must be ours alone: in a shared folder somebody else may have made it first. A
 * TMPDIR that only we may enter is of no use to a program with another id. */
static int open_base(uid_t uid, char *path, size_t cap, struct fh_err *err)
{
	const char *tmp = getenv("TMPDIR");
	struct stat st;
	int fd;

	if (!tmp || tmp[0] != '/' || (uid != geteuid() && !is_open_to_all(tmp)))
		tmp = "/tmp";
	if ((size_t)snprintf(path, cap, "%s/fumehood-%u", tmp, (unsigned)geteuid()) >= cap)
		return fh_fail(err, -ENAMETOOLONG, "name a private folder in '%.80s'", tmp);
	/* Searchable by all: the program, whose id is not ours, has its own folder below; the names are no secret. */
	if (mkdir(path, 0711) < 0 && errno != EEXIST)
		return fh_fail(err, -errno, "create the folder '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fh_fail(err, -errno, "open the folder '%s'", path);
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
		close(fd);
		return fh_fail(err, -EPERM, "use '%s', which is not ours alone", path);
	}
	return fd;
}

static int remove_tree(int base, const char *name, unsigned ms_max, struct fh_err *err)
{
	fh_autofd int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	uint64_t deadline_ns = fh_now_ns() + ms_max * 1000000ull;
	int rc = fd < 0 ? 0 : fh_guard_empty(fd, deadline_ns, err);

	if (rc == 0 && unlinkat(base, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		rc = fh_fail(err, -errno, "remove the folder '%s'", name);
	return rc;
}

/* Only true when it is certain: the process is gone, or another one has its pid. */
static bool is_dead(pid_t pid, unsigned long long ticks)
{
	unsigned long long now;

	if (kill(pid, 0) < 0 && errno == ESRCH)
		return true;
	now = start_time(pid);
	return now != 0 && now != ticks;
}

/* Removes what runs left behind whose supervisor is dead, and of our pid namespace. A start must not wait longer for old
 * rubbish than SWEEP_MS_MAX. */
static void sweep(int base, unsigned long long pidns)
{
	fh_autodir DIR *dir = fdopendir(openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	uint64_t end_ns = fh_now_ns() + SWEEP_MS_MAX * 1000000ull, now_ns;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) && (now_ns = fh_now_ns()) < end_ns) {
		unsigned long long ticks, ns;
		int pid, end = 0;

		if (sscanf(entry->d_name, "%d-%llu-%llu-%*u%n", &pid, &ticks, &ns, &end) < 3 || entry->d_name[end])
			continue;
		if (ns != pidns || !is_dead(pid, ticks))
			continue;
		(void)remove_tree(base, entry->d_name, (unsigned)((end_ns - now_ns) / 1000000), NULL);
	}
}

/* The last one takes the base with it. */
static int destroy(const char *base_path, const char *name, unsigned ms_max, struct fh_err *err)
{
	fh_autofd int base = open(base_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc;

	if (base < 0 && errno == ENOENT)
		return 0;
	rc = base < 0 ? fh_fail(err, -errno, "open the folder '%s'", base_path) : remove_tree(base, name, ms_max, err);
	if (rc == 0 && rmdir(base_path) < 0 && errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT)
		rc = fh_fail(err, -errno, "remove the folder '%s'", base_path);
	return rc;
}

int fh_privatedir_create(uid_t uid, gid_t gid, char **ret, struct fh_err *err)
{
	static unsigned counter;
	unsigned long long pidns = pid_namespace(), ticks = start_time(getpid());
	char base_path[512], name[96], *path = NULL;
	fh_autofd int base = -1;
	int made = -1, rc = 0;

	if (!pidns || !ticks)
		return fh_fail(err, -EIO, "read in /proc which process this is");
	snprintf(name, sizeof(name), "%d-%llu-%llu-%u", (int)getpid(), ticks, pidns,
		 __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED));
	/* Another run may remove the empty base between our opening it and making our own: then once more. */
	for (int attempt = 0; attempt < 8 && made < 0; attempt++) {
		fh_close(&base);
		base = open_base(uid, base_path, sizeof(base_path), err);
		if (base == -ENOENT)
			continue;
		if (base < 0)
			return base;
		sweep(base, pidns);
		made = mkdirat(base, name, 0700);
		if (made < 0 && errno != ENOENT)
			break;
	}
	if (made < 0)
		rc = fh_fail(err, -errno, "create a private folder in '%s'", base_path);
	else if (uid != geteuid() && fchownat(base, name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
		rc = fh_fail(err, -errno, "give the private folder to the program's user");
	else if (asprintf(&path, "%s/%s", base_path, name) < 0)
		rc = fh_fail(err, -ENOMEM, "name a private folder");
	if (rc < 0) {
		(void)destroy(base_path, name, SWEEP_MS_MAX, NULL);
		return rc;
	}
	*ret = path;
	return 0;
}

int fh_privatedir_destroy(char *path, unsigned ms_max, struct fh_err *err)
{
	char *slash = strrchr(path, '/');
	int rc = -EAGAIN;

	*slash = '\0';
	/* Short of memory or descriptors for a moment: nothing is to be left for that. */
	for (int i = 0; i < TRIES && rc < 0 && rc != -ETIMEDOUT; i++)
		rc = destroy(path, slash + 1, ms_max, err);
	free(path);
	return rc;
}
