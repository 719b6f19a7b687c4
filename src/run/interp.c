/* Finds an interpreter and decides what it may make visible; see interp.h. Must not run a program that is
 * confined, and must not show a path that interp_trees.c refuses. */
#include "run/interp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "isolate/ids.h"
#include "policy/policy.h"
#include "run/interp_impl.h"

#define CANDIDATES_MAX 16
#define LINKS_MAX      40

enum file_kind { FILE_ELF, FILE_SCRIPT };

static int refuse(struct fh_err *err, enum fh_err_kind kind, int code, const char *fix, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static int refuse(struct fh_err *err, enum fh_err_kind kind, int code, const char *fix, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->kind = kind;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	snprintf(err->fix, sizeof(err->fix), "%s", fix);
	return code;
}

/* The absolute path, its folder without links; the last part may stay one (of a virtual environment). */
static char *placed(const char *path)
{
	const char *slash = strrchr(path, '/');
	fh_autofree char *folder = NULL, *above = NULL;
	char *whole = NULL;

	above = slash == path ? strdup("/") : strndup(path, slash ? (size_t)(slash - path) : 0);
	if (!above)
		return NULL;
	folder = realpath(above[0] ? above : ".", NULL);
	if (!folder)
		return NULL;
	if (asprintf(&whole, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, slash ? slash + 1 : path) < 0)
		return NULL;
	return whole;
}

/* A script whose "#!" names nothing would fail with a puzzling "no such file". */
static int check_script(const char *path, char *head, struct fh_err *err)
{
	char *name = head + 2 + strspn(head + 2, " \t");

	name[strcspn(name, " \t\r\n")] = '\0';
	if (name[0] != '/' || access(name, X_OK) == 0)
		return FILE_SCRIPT;
	return refuse(
	    err, FH_ERR_NOT_EXEC, -ENOENT, "reinstall it, or name another interpreter with --python",
	    "'%s' cannot be run: its first line names '%s', which does not exist or is not executable", path,
	    name);
}

/* What kind of file it is (enum file_kind), or an error about it. */
static int look_at(const char *path, struct fh_err *err)
{
	const char *choose = "name a Python interpreter with --python";
	char head[256];
	struct stat st;
	ssize_t n;

	if (stat(path, &st) < 0) {
		if (errno == ENOENT && lstat(path, &st) == 0)
			return refuse(err, FH_ERR_NOT_FOUND, -ENOENT, choose,
				      "'%s' is a link to a file that does not exist", path);
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP && errno != ENAMETOOLONG)
			return fh_fail(err, -errno, "look at the interpreter '%s'", path);
		return refuse(err, FH_ERR_NOT_FOUND, -errno, choose, "there is no interpreter '%s': %s", path,
			      strerror(errno));
	}
	if (S_ISDIR(st.st_mode))
		return refuse(err, FH_ERR_NOT_EXEC, -EISDIR,
			      "name the interpreter in it, such as bin/python3",
			      "'%s' is a directory, not a Python interpreter", path);
	if (!S_ISREG(st.st_mode))
		return refuse(err, FH_ERR_NOT_EXEC, -EACCES, choose, "'%s' is not a file", path);
	if (!(st.st_mode & 0111) || access(path, X_OK) < 0)
		return refuse(err, FH_ERR_NOT_EXEC, -EACCES, "chmod +x it, or name another with --python",
			      "'%s' is not executable", path);
	n = fh_read_small_at(AT_FDCWD, path, head, sizeof(head));
	if (n < 0 && n != -EACCES) /* executable, but not for us to read */
		return fh_fail(err, (int)n, "read the interpreter '%s'", path);
	if (n < 4)
		return refuse(err, FH_ERR_NOT_EXEC, -ENOEXEC, choose, "'%s' is not a program", path);
	if (memcmp(head, "\177ELF", 4) == 0)
		return FILE_ELF;
	if (memcmp(head, "#!", 2) == 0)
		return check_script(path, head, err);
	return refuse(err, FH_ERR_NOT_EXEC, -ENOEXEC, choose, "'%s' is neither a program nor a script", path);
}

static bool exists_beside(const char *path, const char *relative)
{
	char name[PATH_MAX];
	const char *slash = strrchr(path, '/');

	return snprintf(name, sizeof(name), "%.*s/%s", (int)(slash - path), path, relative) <
		   (int)sizeof(name) &&
	       access(name, F_OK) == 0;
}

static bool in_environment(const char *path)
{
	return exists_beside(path, "pyvenv.cfg") || exists_beside(path, "../pyvenv.cfg");
}

static bool runnable_by_others(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (st.st_mode & S_IXOTH);
}

/* An interpreter of the system needs nothing that is not visible anyway, and is not asked. 1 when it is one.
 */
static int find_system(const char *path, enum fh_interp_user user, struct fh_interp *ret)
{
	fh_autofree char *real = realpath(path, NULL);
	struct fh_interp found = {0};
	const char *name, *chosen;

	if (!real || !fh_trees_visible(real) || in_environment(path) || in_environment(real))
		return 0;
	name = strrchr(real, '/') + 1;
	if (strncmp(name, "python", 6) != 0 || (user == FH_INTERP_OTHER_USER && !runnable_by_others(real)))
		return 0;
	/* A link from /usr through /etc/alternatives leads nowhere inside. */
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target));
	chosen =
	    fh_trees_visible(path) && (n < 0 || target[0] != '/' || fh_trees_visible(target)) ? path : real;
	found.executable = strdup(chosen);
	found.version = strdup(strspn(name + 6, "0123456789.") == strlen(name + 6) ? name + 6 : "");
	if (!found.executable || !found.version) {
		fh_interp_finish(&found);
		return -ENOMEM;
	}
	*ret = found;
	return 1;
}

static void add_stat(struct fh_buf *key, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0)
		fh_buf_addf(key, "%s %llu %llu %lld.%09ld %lld\n", path, (unsigned long long)st.st_dev,
			    (unsigned long long)st.st_ino, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
			    (long long)st.st_size);
}

/* pyenv chooses by the working directory and its parents; any other script may look at anything. */
static int add_shim_choice(struct fh_buf *key, const char *path)
{
	const char *root = getenv("PYENV_ROOT"), *version = getenv("PYENV_VERSION");
	fh_autofree char *cwd = realpath(".", NULL);
	char name[PATH_MAX + 32];

	if (!strstr(path, "/shims/") || !cwd)
		return -ENOENT;
	fh_buf_addf(key, "pyenv %s\n", version ? version : "");
	for (char *end = cwd + strlen(cwd); end; end = strrchr(cwd, '/')) {
		*end = '\0';
		snprintf(name, sizeof(name), "%s/.python-version", cwd);
		add_stat(key, name);
	}
	if (root) {
		snprintf(name, sizeof(name), "%s/version", root);
	} else {
		snprintf(name, sizeof(name), "%.*s/version", (int)(strstr(path, "/shims/") - path), path);
	}
	add_stat(key, name);
	return 0;
}

/* What an answer depends on; NULL when that cannot be told. */
static char *cache_key(const char *path, enum file_kind kind)
{
	static const char *const configs[] = {"pyvenv.cfg", "../pyvenv.cfg"};
	fh_autobuf key;
	char name[PATH_MAX];

	fh_buf_init(&key, 32 * 1024);
	fh_buf_addf(&key, "interp 1 as %u\n", (unsigned)geteuid());
	add_stat(&key, path);
	for (size_t k = 0; k < FH_ARRAY_LEN(configs); k++) {
		const char *slash = strrchr(path, '/');
		int folder = slash ? (int)(slash - path) : 0;
		if (snprintf(name, sizeof(name), "%.*s/%s", folder, path, configs[k]) <
		    (int)sizeof(name))
			add_stat(&key, name);
	}
	if (kind == FILE_SCRIPT && add_shim_choice(&key, path) < 0)
		return NULL;
	return key.overflow ? NULL : fh_buf_take(&key);
}

/* What the interpreter says of itself, from the cache or by asking it. */
static int ask(const char *path, enum file_kind kind, struct fh_probe *ret, struct fh_err *err)
{
	fh_autofree char *key = cache_key(path, kind);
	int rc;

	if (key && fh_interp_cache_load(key, ret) == 0) {
		if (access(ret->executable, X_OK) == 0)
			return 0;
		fh_probe_finish(ret);
	}
	rc = fh_probe_run(path, ret, err);
	if (rc == 0 && key)
		fh_interp_cache_store(key, ret);
	return rc;
}

/* The executable itself, and every name on the way of links from it to the file. */
static int add_executable(struct fh_interp *i, const char *home)
{
	fh_autofree char *at = strdup(i->executable);

	for (int hop = 0; at && hop < LINKS_MAX; hop++) {
		char target[PATH_MAX], next[2 * PATH_MAX];
		ssize_t n = readlink(at, target, sizeof(target) - 1);
		int rc = fh_trees_cover(i, at) ? 0 : fh_trees_add(i, at, home);
		if (rc < 0 || n < 0)
			return rc;
		target[n] = '\0';
		if (target[0] == '/')
			snprintf(next, sizeof(next), "%s", target);
		else
			snprintf(next, sizeof(next), "%.*s/%s", (int)(strrchr(at, '/') - at), at, target);
		free(at);
		at = strstr(next, "/../") || strstr(next, "/./") ? placed(next) : strdup(next);
	}
	return at ? -ELOOP : -ENOMEM;
}

static int add_paths(struct fh_interp *i, const struct fh_probe *p, const char *home,
		     const char **ret_missing)
{
	for (size_t k = 0; k < p->n_paths; k++) {
		const char *path = p->paths[k].path;
		int rc;
		if (p->paths[k].kind == FH_PROBE_PREFIX)
			rc = fh_trees_add_prefix(i, path, home);
		else
			rc = fh_trees_add(i, path, home);
		*ret_missing = path;
		if (rc == -ENOMEM || rc == -E2BIG)
			return rc;
		if (rc < 0 && p->paths[k].kind == FH_PROBE_NEED)
			return rc;
	}
	*ret_missing = i->executable;
	return add_executable(i, home);
}

/* May others go to `path` from the tree it is in, and read it? The tree's own parents do not matter: it is
 * mounted. */
static int check_others(const struct fh_interp *i, const char *path, unsigned need, struct fh_err *err)
{
	size_t from = strlen(path);
	char part[PATH_MAX];
	struct stat st;

	/* Through a link, the real path is looked at. */
	for (size_t k = 0; k < i->n_links; k++) {
		if (strcmp(path, i->links[k].path) == 0)
			return 0;
	}
	for (size_t k = 0; k < i->n_trees; k++) {
		size_t n = strlen(i->trees[k]);
		if (strncmp(path, i->trees[k], n) == 0 && (path[n] == '/' || path[n] == '\0'))
			from = n;
	}
	if (fh_trees_visible(path))
		return 0; /* a sandbox shows these as they are */
	for (size_t end = from;; end += 1 + strcspn(path + end + 1, "/")) {
		snprintf(part, sizeof(part), "%.*s", (int)end, path);
		if (stat(part, &st) < 0)
			return refuse(err, FH_ERR_NOT_EXEC, -errno, "", "'%s': %s", part, strerror(errno));
		unsigned want = path[end] ? S_IXOTH : S_ISDIR(st.st_mode) ? S_IROTH | S_IXOTH : need;
		if ((st.st_mode & want) != want)
			return refuse(
			    err, FH_ERR_NOT_EXEC, -EACCES,
			    "make it readable with chmod -R o+rX, or name another interpreter with --python",
			    "the sandbox's user cannot use '%s': '%s' has mode %04o", i->executable, part,
			    (unsigned)st.st_mode & 07777);
		if (!path[end])
			return 0;
	}
}

static int check_user(const struct fh_interp *i, const struct fh_probe *p, struct fh_err *err)
{
	fh_autofree char *real = realpath(i->executable, NULL);
	int rc = real ? check_others(i, real, S_IROTH | S_IXOTH, err) : -errno;

	if (rc == 0) /* the folders of an environment, too */
		rc = check_others(i, i->executable, S_IROTH | S_IXOTH, err);
	for (size_t k = 0; rc == 0 && k < p->n_paths; k++) {
		char inner[PATH_MAX + 8];
		enum fh_probe_kind kind = p->paths[k].kind;
		const char *path = p->paths[k].path;
		if (kind == FH_PROBE_LIBRARY || kind == FH_PROBE_PREFIX || !fh_trees_cover(i, path))
			continue;
		snprintf(inner, sizeof(inner), "%s/os.py", path);
		rc = check_others(i, access(inner, F_OK) == 0 ? inner : path, S_IROTH, err);
	}
	return rc;
}

static int build(const struct fh_probe *p, enum fh_interp_user user, struct fh_interp *i, struct fh_err *err)
{
	const char *missing = "", *home = getenv("HOME");
	int rc;

	i->executable = placed(p->executable);
	i->version = strdup(p->version);
	if (!i->executable || !i->version)
		return fh_fail(err, -ENOMEM, "find the interpreter '%s'", p->executable);
	rc = add_paths(i, p, home && home[0] == '/' ? home : NULL, &missing);
	if (rc == -EPERM)
		return refuse(
		    err, FH_ERR_NOT_EXEC, rc,
		    "install it in a folder of its own, or use a virtual environment",
		    "'%s' needs '%s', and showing that to a sandbox would show more than the interpreter",
		    i->executable, missing);
	if (rc < 0)
		return fh_fail(err, rc, "find what '%s' needs: '%s'", i->executable, missing);
	return user == FH_INTERP_OTHER_USER ? check_user(i, p, err) : 0;
}

static bool lies_in(const char *path, const char *folder)
{
	fh_autofree char *real = folder ? realpath(folder, NULL) : NULL;
	size_t n = real ? strlen(real) : 0;

	return real && strncmp(path, real, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* The folder that the program may write and that holds the interpreter, or its environment; NULL when none does. */
static const char *writable_home(const char *path, const struct fh_interp_use *use)
{
	fh_autofree char *real = realpath(path, NULL);
	const char *names[2] = {path, real ? real : path};

	for (int k = 0; k < 2; k++) {
		if (lies_in(names[k], use->workspace))
			return use->workspace;
		for (size_t i = 0; use->policy && i < use->policy->n_binds; i++)
			if (use->policy->binds[i].writable && lies_in(names[k], use->policy->binds[i].source))
				return use->policy->binds[i].source;
	}
	return NULL;
}

/* Asking runs it unconfined. */
static int may_ask(const char *path, const struct fh_interp_use *use, struct fh_err *err)
{
	const char *folder = writable_home(path, use);

	if (!folder)
		return 0;
	return refuse(err, FH_ERR_NOT_EXEC, -EPERM,
		      "use one outside, show the folder by --workspace instead of --workspace-rw, or run it "
		      "as a command by its path inside: fumehood run ... -- /work/...",
		      "'%s' lies in '%s', which the program may write: what it leaves there would run unconfined "
		      "when the interpreter is asked what it needs",
		      path, folder);
}

static int find_at(const char *given, const struct fh_interp_use *use, struct fh_interp *ret, struct fh_err *err)
{
	fh_autofree char *path = placed(given);
	struct fh_interp found = {0};
	struct fh_probe probe = {0};
	int kind, rc;

	if (!path)
		return refuse(err, FH_ERR_NOT_FOUND, -errno, "name a Python interpreter with --python",
			      "there is no interpreter '%s': %s", given, strerror(errno));
	kind = look_at(path, err);
	if (kind < 0)
		return kind;
	if (kind == FILE_ELF) {
		rc = find_system(path, use->user, ret);
		if (rc != 0)
			return rc < 0 ? fh_fail(err, rc, "find '%s'", path) : 0;
	}
	rc = may_ask(path, use, err);
	rc = rc ? rc : ask(path, (enum file_kind)kind, &probe, err);
	if (rc < 0)
		return rc;
	rc = build(&probe, use->user, &found, err);
	fh_probe_finish(&probe);
	if (rc < 0)
		fh_interp_finish(&found);
	else
		*ret = found;
	return rc;
}

enum search { FIRST_FOUND, FIRST_USABLE };

static int find_on_path(const char *name, enum search search, const struct fh_interp_use *use, struct fh_interp *ret,
			struct fh_err *err)
{
	const char *at = getenv("PATH");
	struct fh_err first = {0}, each = {0};
	int tried = 0, code = 0;

	if (!at || !*at)
		at = "/usr/local/bin:/usr/bin:/bin";
	while (at && tried < CANDIDATES_MAX) {
		size_t n = strcspn(at, ":");
		char path[PATH_MAX];
		struct stat st;
		if (snprintf(path, sizeof(path), "%.*s%s%s", (int)n, at, n ? "/" : "./", name) <
			(int)sizeof(path) &&
		    stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0) {
			int rc = find_at(path, use, ret, &each);
			if (rc == 0)
				return 0;
			if (tried++ == 0) {
				first = each;
				code = rc;
			}
			if (search == FIRST_FOUND)
				break;
		}
		at = at[n] ? at + n + 1 : NULL;
	}
	if (!tried)
		return refuse(err, FH_ERR_NOT_FOUND, -ENOENT,
			      "install Python, or name an interpreter with --python",
			      "there is no %s on PATH", name);
	if (err)
		*err = first;
	return code;
}

enum fh_interp_user fh_interp_confined_user(uint64_t level, enum fh_workspace_mode workspace)
{
	if (geteuid() == 0)
		return fh_ids_can_block(NULL, 0) ? FH_INTERP_OTHER_USER : FH_INTERP_SAME_USER;
	if (level == FH_LEVEL_PROCESS || workspace != FH_WORKSPACE_EMPTY || !fh_ids_can_subid(NULL, 0))
		return FH_INTERP_SAME_USER;
	return FH_INTERP_OTHER_USER;
}

int fh_interp_find(const char *wanted, const struct fh_interp_use *use, struct fh_interp *ret, struct fh_err *err)
{
	if (!wanted)
		return find_on_path("python3", FIRST_USABLE, use, ret, err);
	if (!*wanted || strlen(wanted) >= PATH_MAX)
		return fh_usage(err, "the name of a Python interpreter must have 1 to %d bytes",
				PATH_MAX - 1);
	if (!strchr(wanted, '/'))
		return find_on_path(wanted, FIRST_FOUND, use, ret, err);
	return find_at(wanted, use, ret, err);
}

void fh_interp_finish(struct fh_interp *i)
{
	free(i->executable);
	free(i->version);
	for (size_t k = 0; k < i->n_trees; k++)
		free(i->trees[k]);
	for (size_t k = 0; k < i->n_files; k++)
		free(i->files[k]);
	for (size_t k = 0; k < i->n_links; k++) {
		free(i->links[k].path);
		free(i->links[k].target);
	}
	memset(i, 0, sizeof(*i));
}

int fh_interp_python_argv(const struct fh_interp *i, const char *const *args, size_t n_args, char ***ret,
			  struct fh_err *err)
{
	const char *fixed[] = {i->executable, "-u", "-X", "utf8", "-c", fh_python_boot};
	char **argv = calloc(FH_ARRAY_LEN(fixed) + n_args + 1, sizeof(*argv));

	if (!argv)
		return fh_fail(err, -ENOMEM, "start '%s' with %zu arguments", i->executable, n_args);
	memcpy(argv, fixed, sizeof(fixed));
	if (n_args > 0)
		memcpy(argv + FH_ARRAY_LEN(fixed), args, n_args * sizeof(*args));
	*ret = argv;
	return 0;
}
