/* Walking a folder to see how much it holds; see diskwatch.h. */
#include "run/diskwatch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

#define LEVELS_MAX 64

/* One folder being read; the stack of them is the path from the root to where we are. */
struct level {
	DIR *dir;
};

static bool enter(struct level *stack, int *depth, int parent, const char *name, dev_t dev)
{
	struct stat st;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	if (*depth == LEVELS_MAX || fstat(fd, &st) < 0 || (dev && st.st_dev != dev)) {
		close(fd);
		return false;
	}
	stack[*depth].dir = fdopendir(fd);
	if (!stack[*depth].dir) {
		close(fd);
		return false;
	}
	(*depth)++;
	return true;
}

void fh_diskwatch(const char *path, uint64_t inodes_max, struct fh_diskwatch *ret)
{
	struct level stack[LEVELS_MAX];
	struct stat root;
	int depth = 0;

	*ret = (struct fh_diskwatch){0};
	if (lstat(path, &root) < 0 || !enter(stack, &depth, AT_FDCWD, path, root.st_dev))
		return;
	while (depth > 0) {
		struct level *here = &stack[depth - 1];
		struct dirent *entry = ret->inodes > inodes_max ? NULL : readdir(here->dir);
		struct stat st;

		if (!entry) {
			closedir(here->dir);
			depth--;
			continue;
		}
		if (entry->d_name[0] == '.' && (!entry->d_name[1] || (entry->d_name[1] == '.' && !entry->d_name[2])))
			continue;
		if (fstatat(dirfd(here->dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		ret->inodes++;
		ret->bytes += (uint64_t)st.st_blocks * 512 / (st.st_nlink > 1 && !S_ISDIR(st.st_mode) ? st.st_nlink : 1);
		if (S_ISDIR(st.st_mode))
			(void)enter(stack, &depth, dirfd(here->dir), entry->d_name, root.st_dev);
	}
}
