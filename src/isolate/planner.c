/* Plans in the making; see planner.h. */
#include "isolate/planner.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/own.h"
#include "sys/mounts.h"

void fh_planner_finish(struct fh_planner *p)
{
	for (size_t i = 0; i < p->n_sources; i++)
		fh_close(&p->sources[i].tree_fd);
	fh_arena_finish(&p->arena);
}

int fh_planner_op(struct fh_planner *p, const struct fh_plan_op *op)
{
	struct fh_plan_op *slot = fh_arena_push(&p->arena, &p->ops, &p->n_ops, &p->cap_ops, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	*slot = *op;
	slot->target = fh_arena_dup(&p->arena, op->target);
	slot->text = op->text ? fh_arena_dup(&p->arena, op->text) : NULL;
	if (op->n_bytes) {
		void *bytes = fh_arena_take(&p->arena, op->n_bytes);
		if (bytes)
			memcpy(bytes, op->bytes, op->n_bytes);
		slot->bytes = bytes;
	}
	return p->arena.failed ? -ENOMEM : 0;
}

int fh_planner_rule(struct fh_planner *p, const char *path, uint64_t access, enum fh_rule_path kind)
{
	struct fh_plan_rule *slot = fh_arena_push(&p->arena, &p->rules, &p->n_rules, &p->cap_rules, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	*slot = (struct fh_plan_rule){fh_arena_dup(&p->arena, path), access, kind == FH_RULE_OPTIONAL, kind == FH_RULE_STRICT};
	return slot->path ? 0 : -ENOMEM;
}

int fh_planner_rlimit(struct fh_planner *p, int resource, uint64_t soft, uint64_t hard)
{
	struct fh_plan_rlimit *slot =
		fh_arena_push(&p->arena, &p->rlimits, &p->n_rlimits, &p->cap_rlimits, sizeof(*slot));
	struct rlimit now;

	if (!slot)
		return -ENOMEM;
	/* A hard limit can only be lowered here; a host that gives less is stricter, not weaker. */
	if (getrlimit((__rlimit_resource_t)resource, &now) == 0 && now.rlim_max != RLIM_INFINITY && hard > now.rlim_max)
		hard = now.rlim_max;
	*slot = (struct fh_plan_rlimit){resource, soft < hard ? soft : hard, hard};
	return 0;
}

static struct fh_plan_source *new_source(struct fh_planner *p, const char *path, int *ret_index)
{
	struct fh_plan_source *slot =
		fh_arena_push(&p->arena, &p->sources, &p->n_sources, &p->cap_sources, sizeof(*slot));

	if (!slot)
		return NULL;
	slot->tree_fd = -1;
	slot->path = fh_arena_dup(&p->arena, path);
	*ret_index = (int)p->n_sources - 1;
	return slot->path ? slot : NULL;
}

/* A map made for one owner must not come to lie over another's folder. */
static bool is_still_theirs(const struct fh_source_options *options, const struct stat *st)
{
	return options->idmap_fd < 0 || (st->st_uid == options->owner_uid && st->st_gid == options->owner_gid);
}

static bool is_showable(const struct stat *st)
{
	return S_ISDIR(st->st_mode) || S_ISREG(st->st_mode);
}

static int map_owner(const struct fh_plan_source *source, const struct fh_source_options *options, struct fh_err *err)
{
	struct fh_mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)options->idmap_fd};
	unsigned flags = AT_EMPTY_PATH | (options->recursive ? AT_RECURSIVE : 0);
	long rc = fh_sys_mount_setattr(source->tree_fd, "", flags, &attr);

	/* A file system that has no mapping is one thing, a call that failed another. */
	if (options->idmap_optional && (rc == -EINVAL || rc == -EPERM || rc == -EOPNOTSUPP))
		return 0;
	return rc < 0 ? fh_fail(err, (int)rc, "map the owner of '%s' to the sandbox's user", source->path) : 0;
}

int fh_planner_source(struct fh_planner *p, const char *path, const struct fh_source_options *options, int *ret_index,
		      uint32_t *ret_mode, struct fh_err *err)
{
	struct fh_plan_source *source;
	struct stat st;
	long fd = fh_sys_openat2(AT_FDCWD, path, O_PATH, 0, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	fh_autofd int at = (int)(fd < 0 ? -1 : fd);
	long tree;

	if (fd == -ELOOP)
		return fh_usage(err, "'%s' is, or leads through, a symbolic link; name the real path", path);
	if (fd < 0)
		return fh_fail(err, (int)fd, "'%s' cannot be shown to the program", path);
	if (fstat(at, &st) < 0)
		return fh_fail(err, -errno, "look at '%s'", path);
	if (!is_showable(&st))
		return fh_usage(err, "'%s' is neither a folder nor a regular file", path);
	if (!is_still_theirs(options, &st))
		return fh_fail(err, -ESTALE, "mount '%s', which was replaced while we looked", path);
	source = new_source(p, path, ret_index);
	if (!source)
		return fh_fail(err, -ENOMEM, "plan the mount of '%s'", path);
	source->dev = st.st_dev;
	source->ino = st.st_ino;
	source->recursive = options->recursive;
	if (ret_mode)
		*ret_mode = st.st_mode;

	tree = fh_sys_open_tree(at, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | (options->recursive ? AT_RECURSIVE : 0));
	if (tree < 0 && options->idmap_fd < 0 && tree == -EPERM)
		return 0; /* an ordinary user: the child opens it in its own namespace */
	if (tree < 0)
		return fh_fail(err, (int)tree, "copy the mount of '%s'", path);
	source->tree_fd = fcntl((int)tree, F_DUPFD_CLOEXEC, 10);
	close((int)tree);
	if (source->tree_fd < 0)
		return fh_fail(err, -errno, "keep the mount of '%s'", path);
	return options->idmap_fd < 0 ? 0 : map_owner(source, options, err);
}

int fh_planner_device(struct fh_planner *p, const char *path, unsigned major, unsigned minor, int *ret_index)
{
	struct fh_plan_source *source = new_source(p, path, ret_index);

	if (!source)
		return -ENOMEM;
	source->rdev = makedev(major, minor);
	return 0;
}
