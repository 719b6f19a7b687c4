/* Who made a group, whether that supervisor still lives, and what to do about the groups it left behind. Must
 * never touch a group that is not named by us, and never act while in doubt. */
#include "isolate/cgroup_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sys/proc.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"

enum {
	JANITOR_GROUPS_MAX = 4096, /* entries looked at in one tree */
	JANITOR_MS_MAX = 200,      /* for all trees together: a start must not wait longer for old rubbish */
	MEMBERS_TEXT_MAX = 65536,  /* of one read of cgroup.procs: more than 8,000 pids */
};

static uint64_t pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* 0 when it cannot be read: no such process, or a /proc that hides it. */
static uint64_t start_ticks(pid_t pid)
{
	char path[40], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return 0;
	return fh_stat_start_ticks(text);
}

int fh_group_prefix(char *into, size_t cap)
{
	uint64_t start, ns = pid_namespace();
	char path[40], text[1024];
	ssize_t n;

	/* Without these nobody could tell later whether we live. */
	if (!ns)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/stat", getpid());
	n = fh_read_small_at(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	start = fh_stat_start_ticks(text);
	if (!start)
		return -ENOENT;
	snprintf(into, cap, FH_GROUP_PREFIX "%d-%llu-%llu-", getpid(), (unsigned long long)start,
		 (unsigned long long)ns);
	return 0;
}

/* Only true when it is certain: no process has the pid, or one that started at another time has. A zombie
 * counts as alive, since it may be the ended main thread of a living supervisor. */
static bool is_dead(const struct fh_group_name *who)
{
	uint64_t now;

	if (kill(who->pid, 0) < 0 && errno == ESRCH)
		return true;
	now = start_ticks(who->pid);
	return now != 0 && now != who->start_ticks;
}

/* Whether /proc/<pid>/cgroup still has a path that ends in the group's name. */
static bool is_member(pid_t pid, const char *name)
{
	char path[40], text[8192];
	size_t n = strlen(name);

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return false;
	for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
		if (at > text && at[-1] == '/' && (at[n] == '\n' || at[n] == '\0'))
			return true;
	return false;
}

int fh_group_kill_members(int groupfd, const char *name)
{
	fh_autobuf procs;
	int rc, killed = 0;

	fh_buf_init(&procs, MEMBERS_TEXT_MAX);
	rc = fh_read_file_at(groupfd, "cgroup.procs", &procs);
	/* -E2BIG: what was read of a longer list is as good a start; the caller comes again. */
	if (rc < 0 && rc != -E2BIG)
		return rc;
	for (const char *line = fh_buf_str(&procs); *line;) {
		pid_t pid = (pid_t)strtol(line, NULL, 10);
		size_t len = strcspn(line, "\n");

		line += len + (line[len] == '\n');
		if (pid <= 1) /* 0: lives in a pid namespace that we cannot see into */
			continue;
		fh_autofd int pidfd = (int)fh_sys_pidfd_open(pid);
		if (pidfd >= 0 && is_member(pid, name) && fh_sys_pidfd_kill(pidfd, SIGKILL) == 0)
			killed++;
	}
	return killed;
}

/* Kills what lives in the group and removes it. Losing a race against another janitor, or against the clock,
 * is fine. */
static void sweep(const struct fh_tree *t, const char *name, uint64_t deadline_ns)
{
	struct timespec pause = {.tv_nsec = 1000000};

	if (unlinkat(t->fd, name, AT_REMOVEDIR) == 0 || errno != EBUSY)
		return;
	fh_autofd int group = openat(t->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (group < 0)
		return;
	/* A group that was left frozen would never empty. */
	fh_write_small_at(group, t->version == 2 ? "cgroup.freeze" : "freezer.state",
			  t->version == 2 ? "0" : "THAWED");
	do {
		if (t->version != 2 || fh_write_small_at(group, "cgroup.kill", "1") < 0)
			fh_group_kill_members(group, name);
		if (unlinkat(t->fd, name, AT_REMOVEDIR) == 0 || errno != EBUSY)
			return;
		nanosleep(&pause, NULL);
	} while (fh_now_ns() < deadline_ns);
}

static void sweep_tree(const struct fh_tree *t, uint64_t pidns, uint64_t deadline_ns)
{
	struct fh_group_name who, last = {0};
	bool last_dead = false;
	const struct dirent *entry;
	int fd = openat(t->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fh_autodir DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir) {
		fh_close(&fd);
		return;
	}
	for (int i = 0; i < JANITOR_GROUPS_MAX && (entry = readdir(dir)) && fh_now_ns() < deadline_ns; i++) {
		if (!fh_group_name_parse(entry->d_name, &who) || who.pidns != pidns)
			continue;
		if (who.pid != last.pid || who.start_ticks != last.start_ticks)
			last_dead = is_dead(&who);
		last = who;
		if (last_dead)
			sweep(t, entry->d_name, deadline_ns);
	}
}

void fh_cgroup_janitor(struct fh_cgroup_host *h)
{
	uint64_t pidns = pid_namespace(), deadline_ns = fh_now_ns() + JANITOR_MS_MAX * 1000000ull;

	if (!pidns)
		return;
	for (size_t i = 0; i < h->n_trees; i++)
		if (h->trees[i].fd >= 0)
			sweep_tree(&h->trees[i], pidns, deadline_ns);
}
