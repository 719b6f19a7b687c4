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

/* Is the path in a tree, or a file, or in what a link shows? */
static bool covered(const struct fh_interp *i, const char *path)
{
	for (size_t k = 0; k < i->n_trees; k++) {
		if (within(path, i->trees[k]))
			return true;
	}
	for (size_t k = 0; k < i->n_files; k++) {
		if (strcmp(path, i->files[k]) == 0)
			return true;
	}
	for (size_t k = 0; k < i->n_links; k++) {
		if (within(path, i->links[k].path))
			return true;
	}
	return fh_trees_visible(path);
}

/* Takes out of a list what lies in a new tree or link. */
static void drop_within(char **list, size_t *n, const char *path)
{
	size_t kept = 0;

	for (size_t k = 0; k < *n; k++) {
		if (within(list[k], path))
			free(list[k]);
		else
			list[kept++] = list[k];
	}
	*n = kept;
}

static void drop_links_within(struct fh_interp *i, const char *path)
{
	size_t kept = 0;

	for (size_t k = 0; k < i->n_links; k++) {
		if (within(i->links[k].path, path)) {
			free(i->links[k].path);
			free(i->links[k].target);
		} else {
			i->links[kept++] = i->links[k];
		}
	}
	i->n_links = kept;
}

static int append(char **list, size_t *n, size_t max, const char *path)
{
	if (*n == max)
		return -E2BIG;
	list[*n] = strdup(path);
	if (!list[*n])
		return -ENOMEM;
	(*n)++;
	return 0;
}

static int add_link(struct fh_interp *i, const char *path, const char *target)
{
	struct fh_root_link link = {strdup(path), strdup(target)};

	drop_links_within(i, path);
	if (!link.path || !link.target || i->n_links == FH_INTERP_LINKS_MAX) {
		int rc = !link.path || !link.target ? -ENOMEM : -E2BIG;
		free(link.path);
		free(link.target);
		return rc;
	}
	i->links[i->n_links++] = link;
	return 0;
}

int fh_trees_add(struct fh_interp *i, const char *path, const char *home)
{
	fh_autofree char *real = realpath(path, NULL), *real_home = NULL;
	struct stat st;
	int rc = 0;

	if (!real || stat(real, &st) < 0)
		return -errno;
	if (!is_normal(path) || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return -EPERM;
	real_home = home ? realpath(home, NULL) : NULL;
	/* The real path is judged: a link must not dress up a home directory. */
	if (!covered(i, real)) {
		if (fh_trees_refused(real, real_home))
			return -EPERM;
		if (S_ISDIR(st.st_mode)) {
			drop_within(i->trees, &i->n_trees, real);
			drop_within(i->files, &i->n_files, real);
			drop_links_within(i, real);
			rc = append(i->trees, &i->n_trees, FH_INTERP_TREES_MAX, real);
		} else {
			rc = append(i->files, &i->n_files, FH_INTERP_FILES_MAX, real);
		}
	}
	if (rc < 0 || strcmp(real, path) == 0 || covered(i, path))
		return rc;
	return fh_trees_refused(path, home) ? -EPERM : add_link(i, path, real);
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
	return covered(i, path);
}
