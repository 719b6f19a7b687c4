/* The ledger of id blocks; see ids_ledger.h. Must not trust what it finds: a ledger that others could lock or
 * write is refused. */
#include "isolate/ids_ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/call.h"
#include "base/own.h"

enum { LEDGER_BYTES = 4096 };

static int cannot_make(const char *what, int rc, struct fh_err *err)
{
	char fix[160];

	snprintf(fix, sizeof(fix), "let uid %u write there (a container: mount a tmpfs on /run)", geteuid());
	return fh_unsupported(err, fix, "cannot keep the ledger of user ids in %s (errno %d)", what, -rc);
}

static int open_dir(const char *dir, int *ret, struct fh_err *err)
{
	fh_autofd int fd = -1;
	struct stat st;

	fd = (int)fh_sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (fd == -ENOENT) {
		int rc = (int)fh_sys_mkdirat(AT_FDCWD, dir, 0700);

		if (rc < 0 && rc != -EEXIST)
			return cannot_make(dir, rc, err);
		fd = (int)fh_sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	}
	if (fd == -ELOOP || fd == -ENOTDIR)
		return fh_unsupported(err, "remove it", "%s is not a directory", dir);
	if (fd < 0)
		return cannot_make(dir, fd, err);
	if (fstat(fd, &st) < 0)
		return fh_fail(err, -errno, "stat '%s'", dir);
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return fh_unsupported(err, "remove it, or give it to the user that runs fumehood, mode 0700",
				      "%s belongs to uid %u with mode %04o, so others could write there", dir,
				      st.st_uid, st.st_mode & 07777u);
	*ret = fh_take_fd(&fd);
	return 0;
}

static int open_ledger(const char *dir, int *ret, struct fh_err *err)
{
	fh_autofd int dirfd = -1;
	fh_autofd int fd = -1;
	struct stat st;
	int rc = open_dir(dir, &dirfd, err);

	if (rc < 0)
		return rc;
	fd = (int)fh_sys_openat(dirfd, "ids", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd == -ELOOP || fd == -EISDIR || fd == -ENXIO)
		return fh_unsupported(err, "remove it", "%s/ids is not a file", dir);
	if (fd < 0)
		return cannot_make(dir, fd, err);
	if (fstat(fd, &st) < 0)
		return fh_fail(err, -errno, "stat '%s/ids'", dir);
	/* Whoever can read it can hold locks in it and so starve us. */
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) || st.st_nlink != 1)
		return fh_unsupported(err, "remove it",
				      "%s/ids is not a file of uid %u alone (mode %06o, uid %u, links %u)",
				      dir, geteuid(), st.st_mode, st.st_uid, (unsigned)st.st_nlink);
	if (st.st_size < LEDGER_BYTES && ftruncate(fd, LEDGER_BYTES) < 0)
		return cannot_make(dir, -errno, err);
	*ret = fh_take_fd(&fd);
	return 0;
}

int fh_ledger_check(const char *dir, struct fh_err *err)
{
	fh_autofd int fd = -1;

	return open_ledger(dir, &fd, err);
}

/* 0 when the block is ours now, -EAGAIN when somebody holds it. */
static int lock_block(int fd, uint32_t block)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = block, .l_len = 1};
	int rc = (int)fh_sys_fcntl(fd, F_OFD_SETLK, (long)(uintptr_t)&lock);

	return rc == -EACCES ? -EAGAIN : rc;
}

/* Draws numbers from the counter until one names a free block. The counter is shared memory of the file, not
 * a field under a lock: a stopped process can then never stand in the way of the others. */
static int draw(int fd, uint32_t *next, uint32_t blocks, uint32_t *ret_block)
{
	uint32_t none = 0, start;

	/* Ledgers that do not know of each other (containers without user namespaces) should not draw in
	 * step. */
	if (__atomic_load_n(next, __ATOMIC_RELAXED) == 0 &&
	    getrandom(&start, sizeof(start), GRND_NONBLOCK) == sizeof(start))
		__atomic_compare_exchange_n(next, &none, start, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < blocks; i++) {
		uint32_t block = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED) % blocks;
		int rc = lock_block(fd, block);

		if (rc == 0)
			*ret_block = block;
		if (rc != -EAGAIN)
			return rc;
	}
	return -EUSERS;
}

int fh_ledger_take(const char *dir, uint32_t blocks, uint32_t *ret_block, int *ret_fd, struct fh_err *err)
{
	fh_autofd int fd = -1;
	uint32_t *next;
	int rc = open_ledger(dir, &fd, err);

	if (rc < 0)
		return rc;
	next = mmap(NULL, sizeof(*next), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (next == MAP_FAILED)
		return fh_fail(err, -errno, "map '%s/ids'", dir);
	rc = draw(fd, next, blocks, ret_block);
	munmap(next, sizeof(*next));
	if (rc == -EUSERS)
		return fh_fail(err, rc, "all %u blocks of user ids are held by running sandboxes", blocks);
	if (rc < 0)
		return fh_fail(err, rc, "lock a block of '%s/ids'", dir);
	*ret_fd = fh_take_fd(&fd);
	return 0;
}
