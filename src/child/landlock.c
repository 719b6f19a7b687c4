/* Prepares the Landlock ruleset: paths are those of the root the process sees now. Raw calls only. */
#include "child/child.h"

#include <sys/stat.h>

#include "sys/landlock.h"
#include "sys/mounts.h"

/* Rights that make sense for a file; the kernel refuses the others on one. */
#define FILE_RIGHTS (FH_LL_EXECUTE | FH_LL_WRITE_FILE | FH_LL_READ_FILE | FH_LL_TRUNCATE | FH_LL_IOCTL_DEV)

static size_t ruleset_size(int abi)
{
	return abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
}

/* Each component of an absolute path by itself: where a filter around us (an older container's) knows no openat2. */
static long open_by_steps(const char *path)
{
	long at = fh_sys_openat(AT_FDCWD, "/", O_PATH, 0);

	while (at >= 0 && *path) {
		char name[256];
		size_t n = 0;
		struct stat st;
		long next;

		while (*path == '/')
			path++;
		while (path[n] && path[n] != '/' && n < sizeof(name) - 1) {
			name[n] = path[n];
			n++;
		}
		if (n == 0)
			break;
		name[n] = '\0';
		path += n;
		if (*path && *path != '/') {
			fh_sys_close((int)at);
			return -ENAMETOOLONG;
		}
		next = fh_sys_openat((int)at, name, O_PATH | O_NOFOLLOW, 0);
		fh_sys_close((int)at);
		at = next;
		if (at >= 0 && (fstat((int)at, &st) < 0 || S_ISLNK(st.st_mode))) {
			fh_sys_close((int)at);
			return -ELOOP;
		}
	}
	return at;
}

static long open_rule(const struct fh_plan_rule *rule)
{
	long at;

	if (!rule->strict)
		return fh_sys_openat(AT_FDCWD, rule->path, O_PATH, 0);
	at = fh_sys_openat2(AT_FDCWD, rule->path, O_PATH, 0, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	return at == -ENOSYS || at == -EPERM ? open_by_steps(rule->path) : at;
}

int fh_child_landlock_ruleset(const struct fh_plan *plan)
{
	struct fh_ll_ruleset ruleset = {
		.handled_fs = plan->landlock_fs,
		.handled_net = plan->landlock_net,
		.scoped = plan->landlock_scoped,
	};
	long fd;

	if (plan->landlock_abi <= 0)
		return -1;
	fd = fh_sys_landlock_create(&ruleset, ruleset_size(plan->landlock_abi));
	if (fd < 0)
		fh_child_die(plan, FH_STEP_LANDLOCK_RULES, fd, -1);
	for (size_t i = 0; i < plan->n_rules; i++) {
		const struct fh_plan_rule *rule = &plan->rules[i];
		struct fh_ll_path_beneath beneath = {.allowed = rule->access & plan->landlock_fs};
		struct stat st;
		long at = open_rule(rule);

		/* May be absent, or out of reach for an ordinary user; but what cannot be looked at for another reason
		 * would be missing inside, and the program would get the blame. */
		if (rule->optional && (at == -ENOENT || at == -ENOTDIR || at == -EACCES || at == -ELOOP))
			continue;
		if (at < 0 || fstat((int)at, &st) < 0)
			fh_child_die(plan, FH_STEP_LANDLOCK_RULES, at < 0 ? at : -errno, (int)i);
		if (!S_ISDIR(st.st_mode))
			beneath.allowed &= FILE_RIGHTS;
		beneath.parent_fd = (int)at;
		long rc = beneath.allowed ? fh_sys_landlock_add((int)fd, &beneath) : 0;
		if (rc < 0)
			fh_child_die(plan, FH_STEP_LANDLOCK_RULES, rc, (int)i);
		fh_sys_close((int)at);
	}
	/* Above the numbers that the standard streams and the status pipe move to. */
	long high = fh_sys_fcntl((int)fd, F_DUPFD_CLOEXEC, 10);
	if (high < 0)
		fh_child_die(plan, FH_STEP_LANDLOCK_RULES, high, -1);
	fh_sys_close((int)fd);
	return (int)high;
}
