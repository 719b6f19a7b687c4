/* Level 1: the process beside the program where there is no pid namespace. It is the sub-reaper of everything the
 * program starts, and at the end kills and reaps all of it. How it kills exactly its own, strongest first:
 *   own id    started as root, the program has an id that nobody else has: a helper takes that id and kills "all";
 *   scope     the warden sits in a Landlock signal scope: its "all" is what it started;
 *   walk      neither: its children are killed again and again until none is left (orphans become its children).
 * Raw calls only. */
#include "child/child.h"

#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "child/watch.h"
#include "sys/landlock.h"
#include "sys/proc.h"

#define SWEEP_MS_MAX 2000

static void enter_scope(const struct fh_plan *plan)
{
	/* A domain that does not handle it forbids to move files between folders: handled, and allowed everywhere. */
	struct fh_ll_ruleset scope = {.handled_fs = FH_LL_REFER, .scoped = FH_LL_SCOPE_SIGNAL};
	struct fh_ll_path_beneath all = {.allowed = FH_LL_REFER};
	long fd, root;

	if (!plan->warden_scope)
		return;
	FH_MUST(plan, NO_NEW_PRIVS, fh_sys_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	fd = fh_sys_landlock_create(&scope, sizeof(scope));
	FH_MUST(plan, LANDLOCK, fd);
	root = fh_sys_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
	FH_MUST(plan, LANDLOCK, root);
	all.parent_fd = (int)root;
	FH_MUST(plan, LANDLOCK, fh_sys_landlock_add((int)fd, &all));
	fh_sys_close((int)root);
	FH_MUST(plan, LANDLOCK, fh_sys_landlock_restrict((int)fd));
	fh_sys_close((int)fd);
}

/* Returns the helper's pid: our child, which is done in a moment unless somebody of that id stopped it. */
static long kill_by_id(const struct fh_plan *plan)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};
	long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0) {
		/* Without capabilities, whatever securebits we were started with: "all" would be the whole host. */
		if (syscall(SYS_setresgid, plan->program_gid, plan->program_gid, plan->program_gid) == 0 &&
		    syscall(SYS_setresuid, plan->program_uid, plan->program_uid, plan->program_uid) == 0 &&
		    syscall(SYS_capset, &header, none) == 0)
			syscall(SYS_kill, -1, SIGKILL);
		fh_sys_exit(0);
	}
	return pid;
}

/* Sends SIGKILL to each of our children as /proc lists them. */
static void kill_children(void)
{
	char list[4096];
	long fd = fh_sys_openat(AT_FDCWD, "/proc/thread-self/children", O_RDONLY, 0);
	long got = fd < 0 ? 0 : syscall(SYS_read, (int)fd, list, sizeof(list));
	long pid = 0;

	for (long i = 0; i < got; i++) {
		if (list[i] >= '0' && list[i] <= '9') {
			pid = pid * 10 + (list[i] - '0');
			continue;
		}
		if (pid > 1)
			syscall(SYS_kill, pid, SIGKILL);
		pid = 0;
	}
	if (fd >= 0)
		fh_sys_close((int)fd);
}

/* False when there was no room for the helper: then some was made, which others may take if we wait. */
static bool kill_everything(const struct fh_plan *plan, long *helper)
{
	if (plan->change_ids) {
		if (*helper > 0)
			syscall(SYS_kill, *helper, SIGKILL);
		*helper = kill_by_id(plan);
		if (*helper <= 0) {
			kill_children();
			return false;
		}
	} else if (plan->warden_scope) {
		syscall(SYS_kill, -1, SIGKILL);
	} else {
		kill_children();
	}
	return true;
}

static int64_t now_ms(void)
{
	struct timespec ts = {0};

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Reaps who ended. 0: no child is left, or the spared one ended; 1: there are others still. */
static int reap(pid_t spare, long *helper)
{
	for (;;) {
		siginfo_t info = {0};
		long rc = syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL, NULL);

		if (rc < 0)
			return errno != ECHILD;
		if (info.si_pid == 0)
			return 1;
		if (spare > 0 && info.si_pid == spare)
			return 0; /* its turn comes with the report of its end */
		if (info.si_pid == *helper)
			*helper = 0;
		syscall(SYS_waitid, P_PID, info.si_pid, &info, WEXITED | WNOHANG | __WALL, NULL);
	}
}

/* Kills and reaps until no child is left; orphans of the dead become our children, so "no child" is "nobody".
 * The dead get a while to be reaped before the next blow: a blow can take a child of our own, which has to be
 * reaped, too. Returns how many were still there when time ran out. */
static int sweep(const struct fh_plan *plan, pid_t spare)
{
	int64_t deadline = now_ms() + SWEEP_MS_MAX;
	/* 30 ms; or 1 ms where a blow reaches one generation only. */
	int reaps = plan->change_ids || plan->warden_scope ? 20 : 4;
	long helper = 0;

	while (reap(spare, &helper)) {
		struct timespec pause = {.tv_nsec = 50000};

		if (now_ms() > deadline)
			return 1;
		if (!kill_everything(plan, &helper))
			continue;
		for (int i = 0; i < reaps && reap(spare, &helper); i++) {
			syscall(SYS_nanosleep, &pause, NULL);
			if (pause.tv_nsec < 2000000)
				pause.tv_nsec *= 2;
		}
	}
	return 0;
}

_Noreturn void fh_child_warden(const struct fh_plan *plan)
{
	struct fh_report gone = {.kind = FH_REPORT_GONE};
	const struct fh_pair alone = {-1, -1};
	struct fh_watch watch;
	enum fh_watch_event event;

	fh_child_close_inherited(plan);
	fh_child_join_groups(plan);
	FH_MUST(plan, SESSION, fh_sys_setsid());
	fh_child_raise_oom_score(plan);
	FH_MUST(plan, FORK, fh_sys_prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	FH_MUST(plan, INIT_IDS, fh_sys_prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	fh_child_wait_for_go(plan);
	enter_scope(plan);
	fh_watch_fork(&watch, plan, &alone);
	fh_watch_announce(&watch, -1);
	/* From here the status pipe is the program's alone: its end of file says that exec happened. */
	fh_sys_close(plan->status_fd);
	event = fh_watch_wait(&watch);
	if (event == FH_WATCH_ASKED)
		sweep(plan, watch.main_pid);
	if (event != FH_WATCH_ORPHANED)
		fh_watch_report_end(&watch);
	gone.left = sweep(plan, 0);
	fh_child_send_report(plan->report_fd, &gone, NULL, 0);
	fh_sys_exit(0);
}
