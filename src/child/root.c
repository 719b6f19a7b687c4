/* Builds the sandbox's own root from nothing and enters it. Runs in init, between clone and exec: raw calls only.
 *
 * The stage: one tmpfs, the sandbox's disk, is mounted over a host folder in our own mount namespace and becomes the
 * working directory. Sources are attached below it, overlays are made of relative names (so the mount table shows no
 * host path), the new root is a second tmpfs at plan->root below the stage. After pivot_root the old root goes, and
 * the stage with it; only the parts of the disk that were mounted into the new root stay reachable. */
#include "child/child.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include "sys/mounts.h"

/* Opens the folder that holds a strict target, following no link, and points *ret_name at the last component. */
static long open_parent(const char *target, const char **ret_name)
{
	char parent[4096];
	size_t cut = 0, i;

	for (i = 0; target[i]; i++) {
		if (i + 1 >= sizeof(parent))
			return -ENAMETOOLONG;
		if (target[i] == '/')
			cut = i;
		parent[i] = target[i];
	}
	parent[cut] = '\0';
	*ret_name = target + cut + 1;
	return fh_sys_openat2(AT_FDCWD, parent, O_PATH | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

static long make_dir(const struct fh_plan_op *op)
{
	const char *name = op->target;
	long dir = AT_FDCWD, rc;

	if (op->strict)
		dir = open_parent(op->target, &name);
	if (dir < 0 && dir != AT_FDCWD)
		return dir;
	rc = fh_sys_mkdirat((int)dir, name, op->mode);
	if (dir >= 0)
		fh_sys_close((int)dir);
	return rc == -EEXIST && op->optional ? 0 : rc;
}

static long write_file(const struct fh_plan_op *op)
{
	const char *name = op->target;
	long dir = AT_FDCWD, fd;
	size_t done = 0;

	if (op->strict)
		dir = open_parent(op->target, &name);
	if (dir < 0 && dir != AT_FDCWD)
		return dir;
	fd = fh_sys_openat((int)dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, op->mode);
	if (dir >= 0)
		fh_sys_close((int)dir);
	if (fd == -EEXIST && op->optional)
		return 0;

	if (fd < 0)
		return fd;
	while (done < op->n_bytes) {
		long n = fh_sys_write((int)fd, (const char *)op->bytes + done, op->n_bytes - done);
		if (n < 0) {
			fh_sys_close((int)fd);
			return n;
		}
		done += (size_t)n;
	}
	return fh_sys_close((int)fd);
}

static long write_sysctl(const struct fh_plan_op *op)
{
	long fd = fh_sys_openat(AT_FDCWD, op->target, O_WRONLY, 0);
	size_t len = 0;
	long n;

	if (fd < 0)
		return fd;
	while (op->text[len])
		len++;
	n = fh_sys_write((int)fd, op->text, len);
	fh_sys_close((int)fd);
	return n;
}

/* Makes a detached mount of each source that the supervisor left to us, verified to be what it looked at. All before the
 * stage covers a part of the host's tree. */
static void open_sources(const struct fh_plan *plan)
{
	for (size_t i = 0; i < plan->n_sources; i++) {
		struct fh_plan_source *source = &plan->sources[i];
		unsigned flags = OPEN_TREE_CLONE | AT_SYMLINK_NOFOLLOW | (source->recursive ? AT_RECURSIVE : 0);
		struct stat st;
		long fd;

		if (source->tree_fd >= 0)
			continue;
		fd = fh_sys_open_tree(AT_FDCWD, source->path, flags);
		if (fd < 0 || fstat((int)fd, &st) < 0)
			fh_child_die(plan, FH_STEP_SOURCE, fd < 0 ? fd : -errno, (int)i);
		if (source->rdev ? !S_ISCHR(st.st_mode) || st.st_rdev != source->rdev
				 : st.st_dev != source->dev || st.st_ino != source->ino)
			fh_child_die(plan, FH_STEP_SOURCE_CHANGED, -EXDEV, (int)i);
		source->tree_fd = (int)fd;
	}
}

/* Attributes first, then the place: nothing is ever reachable without its restrictions. */
static long attach(int fd, const struct fh_plan_op *op)
{
	struct fh_mount_attr attr = {.attr_set = op->attr};
	long rc = 0;

	if (op->attr)
		rc = fh_sys_mount_setattr(fd, "", AT_EMPTY_PATH | (op->recursive ? AT_RECURSIVE : 0), &attr);
	if (rc == 0 && op->strict) {
		long at = fh_sys_openat2(AT_FDCWD, op->target, O_PATH, 0, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
		rc = at < 0 ? at : fh_sys_move_mount(fd, (int)at, "");
		if (at >= 0)
			fh_sys_close((int)at);
	} else if (rc == 0) {
		rc = fh_sys_move_mount(fd, AT_FDCWD, op->target);
	}
	fh_sys_close(fd);
	return rc;
}

static void do_attach(const struct fh_plan *plan, const struct fh_plan_op *op, int detail)
{
	long rc = attach(plan->sources[op->source].tree_fd, op);

	if (rc < 0)
		fh_child_die(plan, FH_STEP_ATTACH, rc, detail);
}

static void do_clone(const struct fh_plan *plan, const struct fh_plan_op *op, int detail)
{
	long fd = fh_sys_open_tree(AT_FDCWD, op->text, OPEN_TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	long rc = fd < 0 ? fd : attach((int)fd, op);

	if (rc < 0 && !(op->optional && rc == -ENOENT))
		fh_child_die(plan, FH_STEP_CLONE_MOUNT, rc, detail);
}

static void do_op(const struct fh_plan *plan, const struct fh_plan_op *op, int detail)
{
	struct fh_mount_attr attr = {.attr_set = op->attr};
	enum fh_step step = FH_STEP_NONE;
	long rc = 0;

	switch (op->kind) {
	case FH_OP_MKDIR:
		step = FH_STEP_MKDIR;
		rc = make_dir(op);
		break;
	case FH_OP_FILE:
		step = FH_STEP_FILE;
		rc = write_file(op);
		break;
	case FH_OP_SYMLINK:
		step = FH_STEP_SYMLINK;
		rc = fh_sys_symlinkat(op->text, AT_FDCWD, op->target);
		break;
	case FH_OP_CHOWN:
		step = FH_STEP_CHOWN;
		rc = fh_sys_fchownat(AT_FDCWD, op->target, op->uid, op->uid);
		break;
	case FH_OP_TMPFS:
		step = FH_STEP_TMPFS;
		rc = fh_sys_mount("tmpfs", op->target, "tmpfs", op->flags, op->text);
		break;
	case FH_OP_PROC:
		step = FH_STEP_PROC;
		rc = fh_sys_mount("proc", op->target, "proc", op->flags, op->text);
		break;
	case FH_OP_DEVPTS:
		step = FH_STEP_DEVPTS;
		rc = fh_sys_mount("devpts", op->target, "devpts", op->flags, op->text);
		break;
	case FH_OP_OVERLAY:
		step = FH_STEP_OVERLAY;
		rc = fh_sys_mount("overlay", op->target, "overlay", op->flags, op->text);
		break;
	case FH_OP_ATTACH:
		do_attach(plan, op, detail);
		return;
	case FH_OP_CLONE:
		do_clone(plan, op, detail);
		return;
	case FH_OP_BIND:
		step = FH_STEP_CLONE_MOUNT;
		rc = fh_sys_mount(op->text, op->target, NULL, MS_BIND, NULL);
		break;
	case FH_OP_SYSCTL:
		step = FH_STEP_SYSCTL;
		rc = write_sysctl(op);
		break;
	case FH_OP_SEAL:
		step = FH_STEP_SEAL;
		rc = fh_sys_mount_setattr(AT_FDCWD, op->target, op->recursive ? AT_RECURSIVE : 0, &attr);
		break;
	}
	if (rc < 0 && op->optional && (rc == -ENOENT || rc == -ENOTDIR))
		return;
	if (rc < 0 && op->optional && step == FH_STEP_SYSCTL && (rc == -EACCES || rc == -EPERM))
		return; /* not one that this kernel leaves to namespaces */
	if (rc < 0)
		fh_child_die(plan, step, rc, detail);
}

void fh_child_build_root(const struct fh_plan *plan, int *ret_stage_fd)
{
	long fd;

	FH_MUST(plan, PRIVATE, fh_sys_mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	open_sources(plan);
	FH_MUST(plan, STAGE,
		fh_sys_mount("tmpfs", plan->stage, "tmpfs", MS_NOSUID | MS_NODEV, plan->stage_options));
	FH_MUST(plan, STAGE, fh_sys_chdir(plan->stage));
	fd = fh_sys_openat(AT_FDCWD, ".", O_PATH | O_DIRECTORY, 0);
	FH_MUST(plan, STAGE, fd);

	for (size_t i = 0; i < plan->n_ops; i++)
		do_op(plan, &plan->ops[i], (int)i);

	FH_MUST(plan, PIVOT, fh_sys_chdir(plan->root));
	FH_MUST(plan, PIVOT, fh_sys_pivot_root(".", "."));
	*ret_stage_fd = (int)fd;
}

void fh_child_leave_old_root(const struct fh_plan *plan)
{
	char where[2] = {0, 0};

	/* The old root now lies over the new one; take it away, and with it every way back. */
	FH_MUST(plan, PIVOT, fh_sys_umount2(".", MNT_DETACH));
	FH_MUST(plan, PIVOT, fh_sys_chdir("/"));
	/* An absolute answer shows that we stand inside the root, not "(unreachable)". */
	if (syscall(SYS_getcwd, where, sizeof(where)) < 0 || where[0] != '/')
		fh_child_die(plan, FH_STEP_PIVOT, -EXDEV, -1);
}
