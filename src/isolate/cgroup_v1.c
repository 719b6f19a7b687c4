/* One group in a v1 hierarchy: limits, counters, and killing under the freezer where there is no v2 group to
 * do it. */
#include "isolate/cgroup_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

enum { CPU_PERIOD_US = 100000, FREEZE_TRIES = 50, SOCKETS_PART = 8, SOCKETS_BYTES_MIN = 4 << 20 };

/* The kernel adds one to an eventfd when the group runs out of memory. */
static int watch_oom(struct fh_cgroup *c, int t, struct fh_err *err)
{
	char text[32];
	int rc;

	c->oom_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->oom_fd < 0)
		return fh_fail(err, -errno, "make an eventfd");
	c->oom_count_fd = openat(c->dir[t], "memory.oom_control", O_RDONLY | O_CLOEXEC);
	if (c->oom_count_fd < 0)
		return fh_fail(err, -errno, "open memory.oom_control of control group %s", c->name);
	snprintf(text, sizeof(text), "%d %d", c->oom_fd, c->oom_count_fd);
	rc = fh_write_small_at(c->dir[t], "cgroup.event_control", text);
	if (rc < 0)
		return fh_fail(err, rc, "watch memory.oom_control of control group %s", c->name);
	return 0;
}

/* What waits in sockets is counted apart in v1, and not at all without a limit: gigabytes on a loopback. It comes on
 * top of the memory, hence the small part. Kernels without the file (CONFIG_INET=n) have no such sockets. */
static int limit_sockets(struct fh_cgroup *c, int t, uint64_t bytes, struct fh_err *err)
{
	uint64_t part = bytes / SOCKETS_PART < SOCKETS_BYTES_MIN ? SOCKETS_BYTES_MIN : bytes / SOCKETS_PART;
	char text[32];
	int rc;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)part);
	rc = fh_write_small_at(c->dir[t], "memory.kmem.tcp.limit_in_bytes", text);
	if (rc < 0 && rc != -ENOENT)
		return fh_fail(err, rc, "limit the sockets' memory of control group %s", c->name);
	return 0;
}

static int limit_memory(struct fh_cgroup *c, int t, uint64_t bytes, struct fh_err *err)
{
	char text[32];
	int rc = fh_group_set(c, t, "memory.limit_in_bytes", bytes, err);

	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	rc = fh_write_small_at(c->dir[t], "memory.memsw.limit_in_bytes", text);
	/* Not there: the kernel does not account swap. Then the group must not swap at all. */
	if (rc == -ENOENT)
		rc = fh_write_small_at(c->dir[t], "memory.swappiness", "0");
	if (rc < 0)
		return fh_fail(err, rc, "limit the swap of control group %s", c->name);
	rc = limit_sockets(c, t, bytes, err);
	return rc < 0 ? rc : watch_oom(c, t, err);
}

static int limit_cpu(struct fh_cgroup *c, int t, uint64_t milli, struct fh_err *err)
{
	char text[32];
	int rc = fh_group_set(c, t, "cpu.cfs_period_us", CPU_PERIOD_US, err);

	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)milli * (CPU_PERIOD_US / 1000));
	rc = fh_write_small_at(c->dir[t], "cpu.cfs_quota_us", text);
	/* -EINVAL: more than the group above us may use itself, so that one's tighter quota holds. */
	if (rc < 0 && rc != -EINVAL)
		return fh_fail(err, rc, "write '%s' to cpu.cfs_quota_us of control group %s", text, c->name);
	return 0;
}

int fh_cgroup_v1_limit(struct fh_cgroup *c, int t, const struct fh_policy *policy, unsigned extra_pids,
		       struct fh_err *err)
{
	const struct fh_cgroup_host *h = c->host;
	int rc = 0;

	if (h->at[FH_CTL_MEMORY] == t)
		rc = limit_memory(c, t, policy->memory_bytes, err);
	if (rc == 0 && h->at[FH_CTL_PIDS] == t)
		rc = fh_group_set(c, t, "pids.max", policy->pids + extra_pids, err);
	if (rc == 0 && h->at[FH_CTL_CPU] == t && policy->cpus_milli < 1000ull * h->cpus_online)
		rc = limit_cpu(c, t, policy->cpus_milli, err);
	return rc;
}

int fh_cgroup_v1_read(struct fh_cgroup *c, int t, struct fh_cgroup_usage *into)
{
	const struct fh_cgroup_host *h = c->host;
	uint64_t tick_us = 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	char text[512];
	ssize_t n;
	int rc = 0;

	if (h->at[FH_CTL_CPUACCT] == t) {
		into->cpu_us = fh_group_number(c->dir[t], "cpuacct.usage", 0) / 1000;
		if (fh_group_text(c->dir[t], "cpuacct.stat", text, sizeof(text)) > 0) {
			into->user_us = fh_keyed_number(text, "user", 0) * tick_us;
			into->system_us = fh_keyed_number(text, "system", 0) * tick_us;
		}
	}
	if (h->at[FH_CTL_MEMORY] == t) {
		into->memory_bytes = fh_group_number(c->dir[t], "memory.usage_in_bytes", 0);
		into->memory_peak_bytes = fh_group_number(c->dir[t], "memory.max_usage_in_bytes", 0);
		n = pread(c->oom_count_fd, text, sizeof(text) - 1, 0);
		rc = n < 0 ? -errno : 0;
		if (n > 0) {
			text[n] = '\0';
			into->oom_kills = fh_keyed_number(text, "oom_kill", 0); /* since 4.13 */
		}
	}
	if (h->at[FH_CTL_PIDS] == t) {
		into->pids = fh_group_number(c->dir[t], "pids.current", 0);
		into->pids_peak = fh_group_number(c->dir[t], "pids.peak", 0);
		n = fh_group_text(c->dir[t], "pids.events", text, sizeof(text));
		if (n > 0)
			into->pids_denied = fh_keyed_number(text, "max", 0);
		else if (n < 0 && n != -ENOENT) /* since 4.14 */
			rc = (int)n;
	}
	return rc;
}

/* Freezing is finished when the state says so; a member in an uninterruptible sleep can hold it up for ever.
 */
static void freeze(int group)
{
	struct timespec pause = {.tv_nsec = 200000};
	char state[32];

	if (fh_write_small_at(group, "freezer.state", "FROZEN") < 0)
		return;
	for (int i = 0; i < FREEZE_TRIES; i++) {
		if (fh_group_text(group, "freezer.state", state, sizeof(state)) < 0 ||
		    strncmp(state, "FROZEN", 6) == 0)
			return;
		nanosleep(&pause, NULL);
	}
}

int fh_cgroup_v1_kill(struct fh_cgroup *c, int t)
{
	bool freezer = c->host->at[FH_CTL_FREEZER] == t;
	int rc;

	if (freezer)
		freeze(c->dir[t]);
	rc = fh_group_kill_members(c->dir[t], c->name);
	if (freezer)
		fh_write_small_at(c->dir[t], "freezer.state", "THAWED");
	return rc < 0 ? rc : 0;
}
