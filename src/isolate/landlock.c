/* Landlock rules; see landlock.h. */
#include "isolate/landlock.h"

#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "sys/landlock.h"

#define READ  (FH_LL_READ_FILE | FH_LL_READ_DIR)
#define RUN   (READ | FH_LL_EXECUTE)
/* Everything but making device nodes and talking to devices. */
#define WRITE                                                                                                          \
	(RUN | FH_LL_WRITE_FILE | FH_LL_REMOVE_DIR | FH_LL_REMOVE_FILE | FH_LL_MAKE_DIR | FH_LL_MAKE_REG |             \
	 FH_LL_MAKE_SOCK | FH_LL_MAKE_FIFO | FH_LL_MAKE_SYM | FH_LL_REFER | FH_LL_TRUNCATE)
#define DEVICE (FH_LL_READ_FILE | FH_LL_WRITE_FILE | FH_LL_TRUNCATE | FH_LL_IOCTL_DEV)

/* What each ABI added, cumulatively. */
static uint64_t fs_rights(int abi)
{
	uint64_t rights = (1ull << 13) - 1;

	if (abi >= 2)
		rights |= FH_LL_REFER;
	if (abi >= 3)
		rights |= FH_LL_TRUNCATE;
	if (abi >= 5)
		rights |= FH_LL_IOCTL_DEV;
	return rights;
}

void fh_landlock_probe(enum fh_level level, struct fh_landlock *ret)
{
	long abi = fh_sys_landlock_abi();

	*ret = (struct fh_landlock){0};
	if (abi <= 0 || fh_switched_off("landlock"))
		return;
	ret->abi = (int)abi;
	ret->fs = fs_rights(ret->abi);
	/* Level 2 has a network namespace and an honest loopback in it; at level 1 no TCP port is anybody's. */
	if (ret->abi >= 4 && level == FH_LEVEL_PROCESS)
		ret->net = FH_LL_NET_BIND | FH_LL_NET_CONNECT;
	if (ret->abi >= 6)
		ret->scoped = FH_LL_SCOPE_ABSTRACT | FH_LL_SCOPE_SIGNAL;
}

struct rule {
	const char *path;
	uint64_t access;
};

static int add_kind(struct fh_planner *planner, const struct rule *rules, size_t n, enum fh_rule_path kind,
		    struct fh_err *err)
{
	for (size_t i = 0; i < n; i++) {
		int rc = fh_planner_rule(planner, rules[i].path, rules[i].access, kind);
		if (rc < 0)
			return fh_fail(err, rc, "plan the Landlock rule for '%s'", rules[i].path);
	}
	return 0;
}

static int add(struct fh_planner *planner, const struct rule *rules, size_t n, struct fh_err *err)
{
	return add_kind(planner, rules, n, FH_RULE_OPTIONAL, err);
}

/* Where /bin, /lib and the like are links into /usr, its rule holds for them. */
static bool leads_to_usr(const char *path)
{
	char to[16];
	ssize_t n = readlink(path, to, sizeof(to));

	return (n >= 3 && memcmp(to, "usr", 3) == 0 && (n == 3 || to[3] == '/')) ||
	       (n >= 4 && memcmp(to, "/usr", 4) == 0 && (n == 4 || to[4] == '/'));
}

static int add_shared(const char *const *trees, size_t n_trees, const char *const *files, size_t n_files,
		      struct fh_planner *planner, struct fh_err *err)
{
	static const struct rule common[] = {{"/usr", RUN}, {"/proc", READ}};
	static const char *const merged[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libo32"};
	int rc = add(planner, common, FH_ARRAY_LEN(common), err);

	for (size_t i = 0; rc == 0 && i < FH_ARRAY_LEN(merged); i++)
		if (!leads_to_usr(merged[i]) && access(merged[i], F_OK) == 0)
			rc = add(planner, &(struct rule){merged[i], RUN}, 1, err);
	for (size_t i = 0; rc == 0 && i < n_trees; i++)
		rc = add(planner, &(struct rule){trees[i], RUN}, 1, err);
	for (size_t i = 0; rc == 0 && i < n_files; i++)
		rc = add(planner, &(struct rule){files[i], RUN}, 1, err);
	return rc;
}

int fh_landlock_plan_root(const struct fh_policy *policy, const char *const *trees, size_t n_trees,
			  const char *const *files, size_t n_files, struct fh_planner *planner, struct fh_err *err)
{
	/* In the root we made, nothing but the five device files and parts with rules of their own are below /dev. */
	static const struct rule own[] = {
		{"/", FH_LL_READ_DIR}, {"/etc", READ},	{"/work", WRITE}, {"/tmp", WRITE},
		{"/home", WRITE},      {"/dev", DEVICE}, {"/dev/shm", WRITE},
	};
	static const struct rule pty[] = {{"/dev/pts", READ | DEVICE}};
	int rc = add_shared(trees, n_trees, files, n_files, planner, err);

	rc = rc ? rc : add(planner, own, sizeof(own) / sizeof(own[0]), err);
	if (rc == 0 && policy->pty)
		rc = add(planner, pty, 1, err);
	for (size_t i = 0; rc == 0 && i < policy->n_binds; i++)
		rc = add(planner, &(struct rule){policy->binds[i].target, policy->binds[i].writable ? WRITE : RUN}, 1,
			 err);
	return rc;
}

int fh_landlock_plan_host(const struct fh_policy *policy, const char *home, const char *workspace,
			  const char *const *trees, size_t n_trees, const char *const *files, size_t n_files,
			  struct fh_planner *planner, struct fh_err *err)
{
	/* The parts of /etc that libraries read at start, and nothing that tells of users or services. */
	static const struct rule host[] = {
		{"/etc/ld.so.cache", READ},  {"/etc/ld.so.preload", READ}, {"/etc/nsswitch.conf", READ},
		{"/etc/passwd", READ},       {"/etc/group", READ},         {"/etc/localtime", READ},
		{"/etc/alternatives", READ}, {"/etc/host.conf", READ},     {"/etc/hosts", READ},
		{"/sys/devices/system/cpu", READ},
		{"/dev/null", DEVICE},       {"/dev/zero", DEVICE},        {"/dev/full", DEVICE},
		{"/dev/random", DEVICE},     {"/dev/urandom", DEVICE},
	};
	int rc = add_shared(trees, n_trees, files, n_files, planner, err);

	rc = rc ? rc : add(planner, host, sizeof(host) / sizeof(host[0]), err);
	/* Nothing is mounted at this level: these paths are the host's own, and a link would lead anywhere. */
	rc = rc ? rc : add(planner, &(struct rule){home, WRITE}, 1, err);
	if (rc == 0 && workspace)
		rc = add_kind(planner, &(struct rule){workspace, WRITE}, 1, FH_RULE_STRICT, err);
	for (size_t i = 0; rc == 0 && i < policy->n_binds; i++)
		rc = add_kind(planner,
			      &(struct rule){policy->binds[i].source, policy->binds[i].writable ? WRITE : RUN}, 1,
			      FH_RULE_STRICT, err);
	return rc;
}
