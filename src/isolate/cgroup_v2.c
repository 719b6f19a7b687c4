/* One group in the v2 hierarchy: limits, counters, kill. In a hybrid host it has no controllers and serves
 * for kill, processor time and emptiness only. */
#include "isolate/cgroup_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

enum { CPU_PERIOD_US = 100000 };

static const unsigned wanted = 1u << FH_CTL_MEMORY | 1u << FH_CTL_PIDS | 1u << FH_CTL_CPU;

static int read_controllers(int fd, const char *file, unsigned *ret)
{
	char text[512];
	ssize_t n = fh_group_text(fd, file, text, sizeof(text));

	if (n == -ENOENT || n == -EACCES || n == -EPERM)
		n = 0;
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	*ret = fh_ctl_parse(text, ' ') & wanted;
	return 0;
}

/* Whether no process but ourselves is in the group. */
static bool holds_only_us(int fd)
{
	char text[64], us[24];

	if (fh_group_text(fd, "cgroup.procs", text, sizeof(text)) < 0)
		return false;
	snprintf(us, sizeof(us), "%d\n", getpid());
	return text[0] == '\0' || strcmp(text, us) == 0;
}

static int move_into_leaf(int fd)
{
	fh_autofd int leaf = -1;

	if (mkdirat(fd, FH_GROUP_SELF, 0755) < 0 && errno != EEXIST)
		return -errno;
	leaf = openat(fd, FH_GROUP_SELF, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return leaf < 0 ? -errno : fh_write_small_at(leaf, "cgroup.procs", "0");
}

static void enable(int fd, unsigned controllers)
{
	static const enum fh_ctl order[] = {FH_CTL_MEMORY, FH_CTL_PIDS, FH_CTL_CPU};
	char text[32];

	/* One by one: one that is refused must not cost the others. */
	for (size_t i = 0; i < FH_ARRAY_LEN(order); i++)
		if (controllers & (1u << order[i])) {
			snprintf(text, sizeof(text), "+%s", fh_ctl_name(order[i]));
			fh_write_small_at(fd, "cgroup.subtree_control", text);
		}
}

int fh_cgroup_v2_prepare(struct fh_tree *t)
{
	unsigned offered = 0, given = 0;
	const char *fix;
	/* Only the true root has no cgroup.type; there, processes and handed-down controllers may be
	 * together. */
	bool root = faccessat(t->fd, "cgroup.type", F_OK, 0) < 0;
	bool crowded = false;
	int rc = read_controllers(t->fd, "cgroup.controllers", &offered);

	rc = rc ? rc : read_controllers(t->fd, "cgroup.subtree_control", &given);
	if (rc < 0)
		return rc;
	if (offered & ~given) {
		/* A group that holds processes cannot hand controllers down: get out of the way if that is
		 * all it takes. */
		crowded = !root && !holds_only_us(t->fd);
		if (!crowded && (root || move_into_leaf(t->fd) == 0)) {
			enable(t->fd, offered & ~given);
			rc = read_controllers(t->fd, "cgroup.subtree_control", &given);
			if (rc < 0)
				return rc;
		}
	}
	t->controllers = given;
	if (given == wanted)
		return 0;
	if (crowded)
		snprintf(t->why, sizeof(t->why),
			 "our own group %.120s holds other processes, too, so it cannot hand "
			 "controllers down",
			 t->dir);
	else if (offered & ~given)
		snprintf(t->why, sizeof(t->why), "%.120s refuses to hand the controller down", t->dir);
	else
		snprintf(t->why, sizeof(t->why), "our own group %.120s is not given the controller", t->dir);
	fix = fh_cgroup_systemd_fix();
	snprintf(t->fix, sizeof(t->fix), "%s",
		 fix ? fix
		     : "start fumehood in a cgroup of its own that has the memory, pids "
		       "and cpu controllers");
	return 0;
}

static bool host_swaps(void)
{
	char text[512];
	const char *line;

	if (fh_read_small_at(AT_FDCWD, "/proc/swaps", text, sizeof(text)) <= 0)
		return true;
	line = strchr(text, '\n');
	return line && line[1];
}

static int limit_memory(struct fh_cgroup *c, int t, uint64_t bytes, struct fh_err *err)
{
	char text[512];
	int rc = fh_group_set(c, t, "memory.max", bytes, err);

	if (rc < 0)
		return rc;
	rc = fh_write_small_at(c->dir[t], "memory.swap.max", "0");
	if (rc < 0 && host_swaps())
		return fh_unsupported(err, "boot the kernel with swapaccount=1, or switch swap off",
				      "this kernel cannot limit swap together with memory");
	fh_write_small_at(c->dir[t], "memory.zswap.max", "0"); /* since 5.19 */
	fh_write_small_at(c->dir[t], "memory.oom.group",
			  "1"); /* since 4.19; the supervisor kills the group anyway */
	c->oom_fd = openat(c->dir[t], "memory.events", O_RDONLY | O_CLOEXEC);
	if (c->oom_fd < 0)
		return fh_fail(err, -errno, "open memory.events of control group %s", c->name);
	/* Unread, it would poll ready at once. */
	return read(c->oom_fd, text, sizeof(text)) < 0 ? fh_fail(err, -errno, "read memory.events") : 0;
}

int fh_cgroup_v2_limit(struct fh_cgroup *c, int t, const struct fh_policy *policy, unsigned extra_pids,
		       struct fh_err *err)
{
	const struct fh_cgroup_host *h = c->host;
	char text[64];
	int rc = 0;

	if (h->at[FH_CTL_MEMORY] == t)
		rc = limit_memory(c, t, policy->memory_bytes, err);
	if (rc == 0 && h->at[FH_CTL_PIDS] == t)
		rc = fh_group_set(c, t, "pids.max", policy->pids + extra_pids, err);
	if (rc == 0 && h->at[FH_CTL_CPU] == t && policy->cpus_milli < 1000ull * h->cpus_online) {
		snprintf(text, sizeof(text), "%llu %d",
			 (unsigned long long)policy->cpus_milli * (CPU_PERIOD_US / 1000), CPU_PERIOD_US);
		rc = fh_write_small_at(c->dir[t], "cpu.max", text);
		if (rc < 0)
			rc = fh_fail(err, rc, "write '%s' to cpu.max of control group %s", text, c->name);
	}
	return rc;
}

int fh_cgroup_v2_read(struct fh_cgroup *c, int t, struct fh_cgroup_usage *into)
{
	const struct fh_cgroup_host *h = c->host;
	char text[1024];
	ssize_t n;
	int rc = 0;

	if (fh_group_text(c->dir[t], "cpu.stat", text, sizeof(text)) > 0) {
		into->cpu_us = fh_keyed_number(text, "usage_usec", 0);
		into->user_us = fh_keyed_number(text, "user_usec", 0);
		into->system_us = fh_keyed_number(text, "system_usec", 0);
	}
	if (h->at[FH_CTL_MEMORY] == t) {
		into->memory_bytes = fh_group_number(c->dir[t], "memory.current", 0);
		into->memory_peak_bytes = fh_group_number(c->dir[t], "memory.peak", 0); /* since 5.19 */
		n = fh_group_text(c->dir[t], "memory.events", text, sizeof(text));
		rc = n < 0 ? (int)n : 0;
		if (n > 0)
			into->oom_kills = fh_keyed_number(text, "oom_kill", 0);
	}
	if (h->at[FH_CTL_PIDS] == t) {
		into->pids = fh_group_number(c->dir[t], "pids.current", 0);
		into->pids_peak = fh_group_number(c->dir[t], "pids.peak", 0); /* since 6.1 */
		n = fh_group_text(c->dir[t], "pids.events", text, sizeof(text));
		if (n > 0)
			into->pids_denied = fh_keyed_number(text, "max", 0);
		else if (n < 0 && n != -ENOENT) /* since 4.14 */
			rc = (int)n;
	}
	return rc;
}

int fh_cgroup_v2_kill(struct fh_cgroup *c, int t)
{
	int rc = fh_write_small_at(c->dir[t], "cgroup.kill", "1"); /* since 5.14 */

	if (rc != -ENOENT)
		return rc;
	/* Frozen members cannot fork away; a kill gets through to them. */
	fh_write_small_at(c->dir[t], "cgroup.freeze", "1"); /* since 5.2 */
	rc = fh_group_kill_members(c->dir[t], c->name);
	fh_write_small_at(c->dir[t], "cgroup.freeze", "0");
	return rc < 0 ? rc : 0;
}
