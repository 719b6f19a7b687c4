/* Which ids a sandbox gets and how they are mapped; see ids.h. The ledger is in ids_ledger.c, sub-ids in
 * ids_subid.c. */
#include "isolate/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sys/call.h"
#include "base/io.h"
#include "base/own.h"
#include "isolate/ids_ledger.h"
#include "isolate/ids_map.h"
#include "isolate/ids_subid.h"

enum { MAP_TEXT_MAX = 32768 }; /* the kernel allows 340 lines */

/* 1 when the effective set holds both, else 0; a negative errno when the kernel does not say. */
static int may_set_ids(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	unsigned both = 1u << CAP_SETUID | 1u << CAP_SETGID;

	long rc = FH_SYS(SYS_capget, &head, data);

	return rc < 0 ? (int)rc : (data[0].effective & both) == both;
}

/* The blocks of our user namespace. 1; or 0, and why, when there is none we may hand out; or a negative errno when that
 * could not be found out, which must never be taken for the other answer. */
static int find_range(struct fh_id_range *ret, char *why, size_t cap)
{
	fh_autobuf uid_map, gid_map;
	int rc = may_set_ids();

	fh_buf_init(&uid_map, MAP_TEXT_MAX);
	fh_buf_init(&gid_map, MAP_TEXT_MAX);
	if (rc <= 0) {
		snprintf(why, cap, "this process lacks CAP_SETUID and CAP_SETGID");
		return rc;
	}
	rc = fh_read_file_at(AT_FDCWD, "/proc/self/uid_map", &uid_map);
	rc = rc ? rc : fh_read_file_at(AT_FDCWD, "/proc/self/gid_map", &gid_map);
	if (rc < 0) {
		snprintf(why, cap, "the id maps of this process cannot be read in /proc/self");
		return rc == -ENOENT ? 0 : rc;
	}
	if (!fh_id_range_find(fh_buf_str(&uid_map), fh_buf_str(&gid_map), ret)) {
		snprintf(why, cap, "the user namespace we are in maps too few ids to hand any out");
		return 0;
	}
	return 1;
}

bool fh_ids_can_block(char *why, size_t cap)
{
	struct fh_id_range range;
	struct fh_err err = {0};
	char none[1];

	if (!why) {
		why = none;
		cap = sizeof(none);
	}
	if (find_range(&range, why, cap) <= 0)
		return false;
	if (fh_ledger_check(FH_LEDGER_DIR, &err) < 0) {
		snprintf(why, cap, "%s; fix: %s", err.message, err.fix);
		return false;
	}
	return true;
}

bool fh_ids_can_subid(char *why, size_t cap)
{
	struct fh_subids ids;

	return fh_subid_look(&ids, why, cap) > 0;
}

static int acquire_block(const struct fh_id_range *range, struct fh_ids *ret, struct fh_err *err)
{
	uint32_t block, first;
	int fd, rc = fh_ledger_take(FH_LEDGER_DIR, range->blocks, &block, &fd, err);

	if (rc < 0)
		return rc;
	first = range->first + block * FH_ID_BLOCK;
	*ret = (struct fh_ids){.kind = FH_IDS_BLOCK,
			       .init_uid = first,
			       .init_gid = first,
			       .program_uid = first + 1,
			       .program_gid = first + 1,
			       .lease_fd = fd};
	return 0;
}

/* Two ids out of the user's own: by a ledger in the user's runtime directory, so that no two sandboxes share
 * them; by lot where there is no such directory. */
static void acquire_subid(const struct fh_subids *ids, bool want_caller, struct fh_ids *ret)
{
	uint32_t pairs = (ids->uids.count < ids->gids.count ? ids->uids.count : ids->gids.count) / 2,
		 pair = 0;
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char dir[256];
	int fd = -1, n;

	n = runtime && runtime[0] == '/' ? snprintf(dir, sizeof(dir), "%s/fumehood", runtime)
					 : snprintf(dir, sizeof(dir), "/run/user/%u/fumehood", geteuid());
	if (n < 0 || (size_t)n >= sizeof(dir) || fh_ledger_take(dir, pairs, &pair, &fd, NULL) < 0) {
		if (getrandom(&pair, sizeof(pair), 0) != sizeof(pair))
			pair = (uint32_t)getpid();
		pair %= pairs;
	}
	*ret = (struct fh_ids){.kind = FH_IDS_SUBID,
			       .init_uid = ids->uids.first + 2 * pair,
			       .init_gid = ids->gids.first + 2 * pair,
			       .program_uid = want_caller ? geteuid() : ids->uids.first + 2 * pair + 1,
			       .program_gid = want_caller ? getegid() : ids->gids.first + 2 * pair + 1,
			       .lease_fd = fd};
}

/* Whether uid 0 here is uid 0 of the namespace around us as well, and not an ordinary user in disguise. */
static bool is_true_root(void)
{
	fh_autobuf map;
	uint32_t outside;

	fh_buf_init(&map, MAP_TEXT_MAX);
	return geteuid() == 0 && (fh_read_file_at(AT_FDCWD, "/proc/self/uid_map", &map) < 0 ||
				  !fh_id_map_outside(fh_buf_str(&map), 0, &outside) || outside == 0);
}

int fh_ids_acquire(bool want_caller, struct fh_ids *ret, struct fh_err *err)
{
	struct fh_id_range range;
	struct fh_subids subids;
	char why[256] = "";
	int rc = find_range(&range, why, sizeof(why));

	if (rc > 0)
		return acquire_block(&range, ret, err);
	if (rc == 0 && geteuid() != 0)
		rc = fh_subid_look(&subids, NULL, 0);
	if (rc < 0)
		return fh_fail(err, rc, "find out which user ids this process may hand out");
	if (rc > 0) {
		acquire_subid(&subids, want_caller, ret);
		return 0;
	}
	/* A program with root's own id could touch whatever of root's it gets to see. */
	if (is_true_root())
		return fh_unsupported(
		    err, "give fumehood CAP_SETUID and CAP_SETGID, or run it as an ordinary user",
		    "cannot give the program an id of its own as root: %s", why);
	*ret = (struct fh_ids){
	    .kind = FH_IDS_CALLER, .program_uid = geteuid(), .program_gid = getegid(), .lease_fd = -1};
	return 0;
}

void fh_ids_release(struct fh_ids *ids)
{
	fh_close(&ids->lease_fd);
}

/* The /proc directory of the child, and truly of procfs: what is written there decides over ids. */
static int open_proc(pid_t pid, int *ret, struct fh_err *err)
{
	fh_autofd int fd = -1;
	struct statfs fs;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = (int)fh_sys_openat(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return fh_fail(err, fd, "open '%s'", path);
	if (fstatfs(fd, &fs) < 0)
		return fh_fail(err, -errno, "stat '%s'", path);
	if (fs.f_type != PROC_SUPER_MAGIC)
		return fh_unsupported(err, "mount -t proc proc /proc", "/proc is not a proc file system");
	*ret = fh_take_fd(&fd);
	return 0;
}

static int write_map(int proc, const char *file, const char *text, struct fh_err *err)
{
	int rc = fh_write_small_at(proc, file, text);

	if (rc < 0)
		return fh_fail(err, rc, "write the %s of the sandbox", file);
	return 0;
}

static int map_block(const struct fh_ids *ids, int proc, struct fh_err *err)
{
	char text[64];
	int rc;

	snprintf(text, sizeof(text), "%u %u 1\n%u %u 1\n", FH_INNER_INIT_ID, ids->init_gid,
		 FH_INNER_PROGRAM_ID, ids->program_gid);
	rc = write_map(proc, "gid_map", text, err);
	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), "%u %u 1\n%u %u 1\n", FH_INNER_INIT_ID, ids->init_uid,
		 FH_INNER_PROGRAM_ID, ids->program_uid);
	return write_map(proc, "uid_map", text, err);
}

static int map_caller(const struct fh_ids *ids, int proc, struct fh_err *err)
{
	char text[32];
	/* Without it the kernel lets nobody unprivileged map a group: dropping one could open files that deny
	 * it. */
	int rc = write_map(proc, "setgroups", "deny", err);

	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), "%u %u 1\n", FH_INNER_PROGRAM_ID, ids->program_gid);
	rc = write_map(proc, "gid_map", text, err);
	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), "%u %u 1\n", FH_INNER_PROGRAM_ID, ids->program_uid);
	return write_map(proc, "uid_map", text, err);
}

static int map_subid(const struct fh_ids *ids, pid_t pid, struct fh_err *err)
{
	const struct fh_id_line uids[2] = {{FH_INNER_INIT_ID, ids->init_uid, 1},
					   {FH_INNER_PROGRAM_ID, ids->program_uid, 1}};
	const struct fh_id_line gids[2] = {{FH_INNER_INIT_ID, ids->init_gid, 1},
					   {FH_INNER_PROGRAM_ID, ids->program_gid, 1}};
	struct fh_subids helpers;
	char why[256];

	if (fh_subid_look(&helpers, why, sizeof(why)) <= 0)
		return fh_unsupported(err, NULL, "cannot map sub-ids: %s", why);
	return fh_subid_map(&helpers, pid, uids, gids, err);
}

int fh_ids_map(const struct fh_ids *ids, pid_t pid, struct fh_err *err)
{
	fh_autofd int proc = -1;
	int rc;

	if (ids->kind == FH_IDS_SUBID)
		return map_subid(ids, pid, err);
	rc = open_proc(pid, &proc, err);
	if (rc < 0)
		return rc;
	return ids->kind == FH_IDS_BLOCK ? map_block(ids, proc, err) : map_caller(ids, proc, err);
}
