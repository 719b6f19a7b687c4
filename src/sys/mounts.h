/* The mount interfaces, old and new, as raw calls. */
#ifndef FH_SYS_MOUNTS_H
#define FH_SYS_MOUNTS_H

#include <linux/mount.h>
#include <linux/openat2.h>

#include "sys/call.h"

#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef OPEN_TREE_CLOEXEC
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 4
#endif
#ifndef MOUNT_ATTR_RDONLY
#define MOUNT_ATTR_RDONLY 0x1
#define MOUNT_ATTR_NOSUID 0x2
#define MOUNT_ATTR_NODEV  0x4
#define MOUNT_ATTR_NOEXEC 0x8
#endif
#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif
#ifndef MOUNT_ATTR_NOSYMFOLLOW
#define MOUNT_ATTR_NOSYMFOLLOW 0x00200000
#endif

struct fh_mount_attr {
	uint64_t attr_set, attr_clr, propagation, userns_fd;
};

static inline long fh_sys_mount(const char *source, const char *target, const char *type, unsigned long flags,
				const char *data)
{
	return FH_SYS(SYS_mount, source, target, type, flags, data);
}
static inline long fh_sys_umount2(const char *target, int flags)
{
	return FH_SYS(SYS_umount2, target, flags);
}
static inline long fh_sys_pivot_root(const char *new_root, const char *put_old)
{
	return FH_SYS(SYS_pivot_root, new_root, put_old);
}
static inline long fh_sys_open_tree(int dir, const char *path, unsigned flags)
{
	return FH_SYS(SYS_open_tree, dir, path, flags | OPEN_TREE_CLOEXEC);
}
/* Attaches the detached tree `fd` at dir/path, or at the fd `dir` itself where path is empty. */
static inline long fh_sys_move_mount(int fd, int dir, const char *path)
{
	unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (*path ? 0u : 0x40u /* MOVE_MOUNT_T_EMPTY_PATH */);

	return FH_SYS(SYS_move_mount, fd, "", dir, path, flags);
}
static inline long fh_sys_mount_setattr(int dir, const char *path, unsigned flags, const struct fh_mount_attr *attr)
{
	return FH_SYS(SYS_mount_setattr, dir, path, flags, attr, sizeof(*attr));
}
static inline long fh_sys_openat2(int dir, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .mode = mode, .resolve = resolve};

	return FH_SYS(SYS_openat2, dir, path, &how, sizeof(how));
}

#endif
