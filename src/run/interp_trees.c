/* Which paths of the host an interpreter may make visible; see interp_impl.h.
 *
 * An interpreter installed with a prefix of /home/someone would otherwise show that whole home directory.
 * Must not trust a path it is given: it comes from a program the person named, or from the cache. */
#include "run/interp_impl.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

/* Is `path` equal to `dir` or below it, by its text? */
static bool within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)
		return path[0] == '/';
	return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static bool is_normal(const char *path)
{
	if (path[0] != '/' || strlen(path) >= PATH_MAX)
		return false;
	for (const char *p = path; *p; p++) {
		if (*p != '/')
			continue;
		const char *name = p + 1;
		size_t n = strcspn(name, "/");
		if (n == 0 && (*name || p != path))
			return false;
		if ((n == 1 && name[0] == '.') || (n == 2 && name[0] == '.' && name[1] == '.'))
			return false;
	}
	return true;
}

bool fh_trees_visible(const char *path)
{
	/* Where /lib and the like are links into /usr or directories beside it, a sandbox has them. */
	static const char *const always[] = {"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin"};

	for (size_t k = 0; k < FH_ARRAY_LEN(always); k++) {
		if (within(path, always[k]))
			return true;
	}
	return false;
}

bool fh_trees_refused(const char *path, const char *home)
{
	static const char *const wholes[] = {"/boot", "/home", "/media",   "/mnt",    "/opt",
					     "/root", "/run",  "/snap",    "/srv",    "/tmp",
					     "/usr",  "/var",  "/var/lib", "/var/tmp"};
	static const char *const below[] = {"/dev", "/etc", "/proc", "/sys"};

	if (!is_normal(path) || strcmp(path, "/") == 0)
		return true;
	for (size_t k = 0; k < FH_ARRAY_LEN(wholes); k++) {
		if (strcmp(path, wholes[k]) == 0)
			return true;
	}
	for (size_t k = 0; k < FH_ARRAY_LEN(below); k++) {
		if (within(path, below[k]))
			return true;
	}
	if (home && is_normal(home) && within(home, path))
		return true;
	/* Anybody's home directory. */
	return within(path, "/home") && !strchr(path + strlen("/home/"), '/');
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One path by its text: it covers what lies in it, and is left out where it lies in another. */
static int add_one(struct fh_interp *i, const char *path, const char *home)
{
	size_t kept = 0;
	char *copy;

	if (fh_trees_visible(path))
		return 0;
	if (fh_trees_refused(path, home))
		return -EPERM;
	for (size_t k = 0; k < i->n_trees; k++) {
		if (within(path, i->trees[k]))
			return 0;
	}
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	for (size_t k = 0; k < i->n_trees; k++) {
		if (within(i->trees[k], path))
			free(i->trees[k]);
		else
			i->trees[kept++] = i->trees[k];
	}
	i->n_trees = kept;
	if (i->n_trees == FH_INTERP_TREES_MAX) {
		free(copy);
		return -E2BIG;
	}
	i->trees[i->n_trees++] = copy;
	qsort(i->trees, i->n_trees, sizeof(i->trees[0]), compare);
	return 0;
}

int fh_trees_add(struct fh_interp *i, const char *path, const char *home)
{
	fh_autofree char *real = realpath(path, NULL), *real_home = NULL;
	struct stat st;
	int rc;

	if (!real || stat(real, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return -EPERM;
	real_home = home ? realpath(home, NULL) : NULL;
	/* The real path is judged first: a link must not dress up a home directory. */
	if (fh_trees_refused(real, real_home) && !fh_trees_visible(real))
		return -EPERM;
	rc = add_one(i, path, home);
	if (rc == 0 && strcmp(real, path) != 0)
		rc = add_one(i, real, real_home);
	return rc;
}

/* Does the directory hold an interpreter and nothing else? ~/.local, or a project that is its own
 * environment, do not. */
static bool is_dedicated(const char *prefix)
{
	static const char *const usual[] = {"bin",        "lib",          "lib64",      "libexec", "include",
					    "share",      "etc",          "man",        "doc",     "ssl",
					    "openssl",    "pyvenv.cfg",   "conda-meta", "BUILD",   "build",
					    ".gitignore", "CACHEDIR.TAG", ".lock"};
	const char *name = strrchr(prefix, '/');
	fh_autodir DIR *dir = opendir(prefix);
	struct dirent *e;

	if (!dir || (name && strcmp(name, "/.local") == 0))
		return false;
	if (faccessat(dirfd(dir), "conda-meta/history", F_OK, 0) == 0)
		return true;
	while ((e = readdir(dir))) {
		size_t k = 0;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		while (k < FH_ARRAY_LEN(usual) && strcmp(e->d_name, usual[k]) != 0)
			k++;
		if (k == FH_ARRAY_LEN(usual))
			return false; /* so the loop is short in a large directory */
	}
	return true;
}

int fh_trees_add_prefix(struct fh_interp *i, const char *prefix, const char *home)
{
	static const char *const parts[] = {"pyvenv.cfg", "bin", "lib", "lib64"};
	char path[PATH_MAX];
	int rc = -EPERM;

	if (is_dedicated(prefix))
		rc = fh_trees_add(i, prefix, home);
	if (rc != -EPERM)
		return rc == -ENOENT ? 0 : rc;
	if (snprintf(path, sizeof(path), "%s/pyvenv.cfg", prefix) >= (int)sizeof(path) ||
	    access(path, F_OK) < 0)
		return 0;
	for (size_t k = 0; k < FH_ARRAY_LEN(parts); k++) {
		if (snprintf(path, sizeof(path), "%s/%s", prefix, parts[k]) >= (int)sizeof(path))
			continue;
		rc = fh_trees_add(i, path, home);
		if (rc < 0 && rc != -ENOENT && rc != -EPERM)
			return rc;
	}
	return 0;
}

bool fh_trees_cover(const struct fh_interp *i, const char *path)
{
	if (fh_trees_visible(path))
		return true;
	for (size_t k = 0; k < i->n_trees; k++) {
		if (within(path, i->trees[k]))
			return true;
	}
	return false;
}
