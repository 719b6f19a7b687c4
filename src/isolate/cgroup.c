/* The control groups of one run over every shape of host; see cgroup.h. What differs between v1 and v2 is in
 * cgroup_v1.c and cgroup_v2.c, what is found out once per process in cgroup_host.c. */
#include "isolate/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sys/call.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "isolate/cgroup_impl.h"

enum { NAME_TRIES = 64, KILL_PASSES = 8, RMDIR_PAUSE_US_MAX = 2000 };

ssize_t fh_group_text(int groupfd, const char *file, char *into, size_t cap)
{
	fh_autofd int fd = openat(groupfd, file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, into, cap - 1);

	if (n < 0)
		return -errno;
	into[n] = '\0';
	return n;
}

uint64_t fh_group_number(int groupfd, const char *file, uint64_t absent)
{
	char text[32];

	if (fh_group_text(groupfd, file, text, sizeof(text)) <= 0 || text[0] < '0' || text[0] > '9')
		return absent;
	return strtoull(text, NULL, 10);
}

int fh_group_set(const struct fh_cgroup *c, int t, const char *file, uint64_t value, struct fh_err *err)
{
	char text[32];
	int rc;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	rc = fh_write_small_at(c->dir[t], file, text);
	if (rc < 0)
		return fh_fail(err, rc, "write '%s' to %s of control group %s", text, file, c->name);
	return 0;
}

/* Whether a run's group is needed in the tree: v1 trees only for a controller that does something for this
 * policy. */
static bool needs(const struct fh_cgroup_host *h, int t, const struct fh_policy *policy)
{
	if (h->trees[t].fd < 0)
		return false;
	if (t == h->unified || h->at[FH_CTL_MEMORY] == t || h->at[FH_CTL_PIDS] == t ||
	    h->at[FH_CTL_CPUACCT] == t || h->at[FH_CTL_FREEZER] == t)
		return true;
	return h->at[FH_CTL_CPU] == t && policy->cpus_milli < 1000ull * h->cpus_online;
}

/* Makes the group in the first tree under a name nobody has. The number never comes twice in one process; it
 * can only be taken in a child that was forked with our handle. */
static int make_first(struct fh_cgroup *c, int t)
{
	static unsigned counter;
	const struct fh_tree *tree = &c->host->trees[t];

	for (int i = 0; i < NAME_TRIES; i++) {
		snprintf(c->name, sizeof(c->name), "%s%u", c->host->prefix,
			 __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED));
		int rc = (int)fh_sys_mkdirat(tree->fd, c->name, 0755);
		if (rc != -EEXIST)
			return rc;
	}
	return -EEXIST;
}

static int make_group(struct fh_cgroup *c, int t, struct fh_err *err)
{
	const struct fh_tree *tree = &c->host->trees[t];
	int rc = 0;

	if (!c->name[0])
		rc = make_first(c, t);
	else
		rc = (int)fh_sys_mkdirat(tree->fd, c->name, 0755);
	if (rc < 0)
		return fh_fail(err, rc, "make a control group in %s", tree->dir);
	c->dir[t] = (int)fh_sys_openat(tree->fd, c->name, O_PATH | O_DIRECTORY, 0);
	if (c->dir[t] < 0) {
		rc = fh_fail(err, c->dir[t], "open control group %s/%s", tree->dir, c->name);
		unlinkat(tree->fd, c->name, AT_REMOVEDIR);
		return rc;
	}
	if (tree->version == 1) {
		/* A thread that moves itself is spared the wait that moving a process (cgroup.procs) costs. */
		c->join[t] = (int)fh_sys_openat(c->dir[t], "tasks", O_WRONLY, 0);
		if (c->join[t] < 0)
			rc = fh_fail(err, c->join[t], "open tasks of control group %s/%s", tree->dir, c->name);
	}
	return rc;
}

int fh_cgroup_create(struct fh_cgroup_host *h, const struct fh_policy *policy, unsigned extra_pids,
		     struct fh_cgroup **ret, struct fh_err *err)
{
	struct fh_cgroup *c = calloc(1, sizeof(*c));
	int rc = 0;

	if (!c)
		return fh_fail(err, -ENOMEM, "make control groups");
	c->host = h;
	c->oom_fd = c->oom_count_fd = c->cpu_fd = -1;
	for (int t = 0; t < FH_TREES_MAX; t++)
		c->dir[t] = c->join[t] = -1;
	for (int t = 0; t < (int)h->n_trees && rc == 0; t++) {
		if (!needs(h, t, policy))
			continue;
		rc = make_group(c, t, err);
		if (rc == 0)
			rc = h->trees[t].version == 2 ? fh_cgroup_v2_limit(c, t, policy, extra_pids, err)
						      : fh_cgroup_v1_limit(c, t, policy, extra_pids, err);
	}
	if (rc < 0) {
		fh_cgroup_destroy(c, 0, NULL);
		return rc;
	}
	*ret = c;
	return 0;
}

int fh_cgroup_into_fd(const struct fh_cgroup *c)
{
	return c->host->unified == FH_TREE_NONE ? -1 : c->dir[c->host->unified];
}

size_t fh_cgroup_join_fds(const struct fh_cgroup *c, int ret_fds[FH_CGROUP_JOIN_MAX])
{
	size_t n = 0;

	for (int t = 0; t < (int)c->host->n_trees && n < FH_CGROUP_JOIN_MAX; t++)
		if (c->join[t] >= 0)
			ret_fds[n++] = c->join[t];
	return n;
}

static int add_to(struct fh_cgroup *c, int t, pid_t pid, struct fh_err *err)
{
	char text[24];
	int rc;

	snprintf(text, sizeof(text), "%d", pid);
	rc = fh_write_small_at(c->dir[t], "cgroup.procs", text);
	if (rc < 0)
		return fh_fail(err, rc, "move process %d into control group %s/%s", pid,
			       c->host->trees[t].dir, c->name);
	return 0;
}

int fh_cgroup_add(struct fh_cgroup *c, pid_t pid, struct fh_err *err)
{
	int rc = 0;

	for (int t = 0; t < (int)c->host->n_trees && rc == 0; t++)
		if (c->dir[t] >= 0 && t != c->host->unified)
			rc = add_to(c, t, pid, err);
	return rc;
}

int fh_cgroup_add_all(struct fh_cgroup *c, pid_t pid, struct fh_err *err)
{
	int rc = fh_cgroup_add(c, pid, err);

	if (rc == 0 && fh_cgroup_into_fd(c) >= 0)
		rc = add_to(c, c->host->unified, pid, err);
	return rc;
}

int fh_cgroup_oom_fd(const struct fh_cgroup *c)
{
	return c->oom_fd;
}

short fh_cgroup_oom_events(const struct fh_cgroup *c)
{
	/* A v2 file is always readable, an eventfd never has priority data. */
	return c->oom_count_fd >= 0 ? POLLIN : POLLPRI;
}

bool fh_cgroup_oom_take(struct fh_cgroup *c)
{
	char text[512];
	uint64_t count;
	ssize_t n;

	if (c->oom_fd < 0)
		return false;
	if (c->oom_count_fd >= 0) /* v1 */
		return read(c->oom_fd, &count, sizeof(count)) == sizeof(count);
	n = pread(c->oom_fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return fh_keyed_number(text, "oom", 0) > 0 || fh_keyed_number(text, "oom_kill", 0) > 0;
}

int fh_cgroup_read(struct fh_cgroup *c, struct fh_cgroup_usage *ret)
{
	int worst = 0;

	*ret = (struct fh_cgroup_usage){0};
	for (int t = 0; t < (int)c->host->n_trees; t++) {
		if (c->dir[t] < 0)
			continue;
		int rc = c->host->trees[t].version == 2 ? fh_cgroup_v2_read(c, t, ret) : fh_cgroup_v1_read(c, t, ret);

		worst = worst ? worst : rc;
	}
	return worst;
}

/* Opens what counts the processor time; it stays open, since the watch comes back often. */
static int open_cpu(const struct fh_cgroup *c)
{
	int unified = c->host->unified, acct = c->host->at[FH_CTL_CPUACCT];

	if (unified != FH_TREE_NONE)
		return openat(c->dir[unified], "cpu.stat", O_RDONLY | O_CLOEXEC);
	return openat(c->dir[acct], "cpuacct.usage", O_RDONLY | O_CLOEXEC);
}

int fh_cgroup_cpu_us(struct fh_cgroup *c, uint64_t *ret)
{
	bool unified = c->host->unified != FH_TREE_NONE;
	char text[1024];
	ssize_t n;

	if (!unified && c->host->at[FH_CTL_CPUACCT] == FH_TREE_NONE) {
		*ret = 0;
		return 0;
	}
	if (c->cpu_fd < 0)
		c->cpu_fd = open_cpu(c);
	n = c->cpu_fd < 0 ? -1 : pread(c->cpu_fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	*ret = unified ? fh_keyed_number(text, "usage_usec", 0) : strtoull(text, NULL, 10) / 1000;
	return 0;
}

int fh_cgroup_kill(struct fh_cgroup *c)
{
	const struct fh_cgroup_host *h = c->host;
	int t = h->unified, rc = 0;

	if (t != FH_TREE_NONE && c->dir[t] >= 0)
		return fh_cgroup_v2_kill(c, t);
	t = h->at[FH_CTL_FREEZER];
	if (t != FH_TREE_NONE && c->dir[t] >= 0)
		return fh_cgroup_v1_kill(c, t);
	/* No way to hold them still: a forking crowd is chased through the first group there is, a few times
	 * over. */
	for (t = 0; t < (int)h->n_trees && c->dir[t] < 0; t++)
		;
	for (int i = 0; i < KILL_PASSES && t < (int)h->n_trees; i++) {
		rc = fh_group_kill_members(c->dir[t], c->name);
		if (rc <= 0)
			break;
	}
	return rc < 0 ? rc : 0;
}

/* A group is busy while a killed member is still on its way out; any other refusal may pass as well, and a group that
 * stays is worse than a late end. */
static int remove_group(int treefd, const char *name, uint64_t deadline_ns)
{
	long pause_us = 50;

	while (unlinkat(treefd, name, AT_REMOVEDIR) < 0) {
		struct timespec pause = {.tv_nsec = pause_us * 1000};

		if (errno == ENOENT)
			return 0;
		if (fh_now_ns() >= deadline_ns)
			return -errno;
		nanosleep(&pause, NULL);
		pause_us = pause_us * 2 > RMDIR_PAUSE_US_MAX ? RMDIR_PAUSE_US_MAX : pause_us * 2;
	}
	return 0;
}

int fh_cgroup_destroy(struct fh_cgroup *c, unsigned grace_ms, struct fh_err *err)
{
	uint64_t deadline_ns = fh_now_ns() + grace_ms * 1000000ull;
	int rc, worst = 0;

	if (!c)
		return 0;
	fh_close(&c->oom_count_fd);
	fh_close(&c->cpu_fd);
	for (int t = 0; t < (int)c->host->n_trees; t++) {
		if (c->dir[t] < 0)
			continue;
		fh_close(&c->join[t]);
		fh_close(&c->dir[t]);
		rc = remove_group(c->host->trees[t].fd, c->name, deadline_ns);
		if (rc < 0)
			worst =
			    fh_fail(err, rc, "remove control group %s/%s", c->host->trees[t].dir, c->name);
	}
	/* Last: closing a v1 eventfd before its group is gone costs more than all the rest. */
	fh_close(&c->oom_fd);
	free(c);
	return worst;
}

void fh_cgroup_describe(const struct fh_cgroup *c, struct fh_buf *into)
{
	for (int t = 0; t < (int)c->host->n_trees; t++) {
		const struct fh_tree *tree = &c->host->trees[t];

		if (c->dir[t] >= 0)
			fh_buf_addf(into, "%s/%s\n", tree->dir, c->name);
	}
}
