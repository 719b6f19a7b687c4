/* What the cgroup*.c files share; nobody else includes it. See cgroup.h for the interface and the shapes of
 * hosts.
 *
 * A tree is one mounted hierarchy, reduced to what we need: the directory below which we make groups, and
 * which controllers a group made there gets. A run's group has the same name in every tree it uses. */
#ifndef FH_ISOLATE_CGROUP_IMPL_H
#define FH_ISOLATE_CGROUP_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "isolate/cgroup.h"

enum fh_ctl { FH_CTL_MEMORY, FH_CTL_PIDS, FH_CTL_CPU, FH_CTL_CPUACCT, FH_CTL_FREEZER, FH_CTL_COUNT };

#define FH_TREES_MAX     (FH_CTL_COUNT + 1) /* one for each v1 controller, and the v2 one */
#define FH_TREE_PATH_MAX 1024
#define FH_TREE_NONE     (-1)
#define FH_GROUP_PREFIX  "fumehood-"
#define FH_GROUP_SELF    "fumehood-self" /* the leaf a v2 supervisor moves itself into */

struct fh_tree {
	int version; /* 1 or 2 */
	unsigned
	    controllers; /* v1: mounted here; v2: handed down to the groups made here. Bits 1 << FH_CTL_* */
	char path[FH_TREE_PATH_MAX]; /* our own group as /proc/self/cgroup names it */
	char dir[FH_TREE_PATH_MAX]; /* the directory of it in our mount table; "" when it cannot be reached */
	dev_t dev;                  /* of the mount, to notice what was mounted over it */
	int fd;        /* O_PATH of the directory groups are made in; -1: this tree is not used */
	char why[256]; /* why it cannot be used, or (v2) why controllers are missing; "" otherwise */
	char fix[192];
};

struct fh_cgroup_host {
	struct fh_tree trees[FH_TREES_MAX];
	size_t n_trees;
	int at[FH_CTL_COUNT]; /* which tree holds a controller for us, or FH_TREE_NONE */
	int unified;          /* the v2 tree, or FH_TREE_NONE */
	unsigned cpus_online;
	bool swept; /* fh_cgroup_host_sweep was here */
	char prefix[80]; /* "fumehood-<pid>-<start time>-<pid namespace>-" */
	char note[256];  /* why no tree was found at all; "" otherwise */
};

struct fh_cgroup {
	struct fh_cgroup_host *host;
	char name[112];
	int dir[FH_TREES_MAX];	/* O_PATH of the group in each tree, or -1 */
	int join[FH_TREES_MAX]; /* v1: its `tasks`, for the child to write "0" to, or -1 */
	int oom_fd;            /* v1: eventfd; v2: memory.events */
	int oom_count_fd;      /* v1: memory.oom_control, where the kills are counted */
	int cpu_fd;            /* v2: cpu.stat; v1: cpuacct.usage */
};

/* What the name of a group says about its maker. */
struct fh_group_name {
	pid_t pid;
	uint64_t start_ticks;
	uint64_t pidns;
};

/* cgroup_find.c: pure functions of text. */

/* Finds the trees that matter to us in the texts of /proc/self/mountinfo and /proc/self/cgroup. Returns how
 * many were filled in (at most `cap`); `dir` is "" and `why` set where our own group cannot be reached
 * through a mount. */
size_t fh_cgroup_find(const char *mountinfo, const char *self_cgroup, struct fh_tree *ret_trees, size_t cap);
/* Bits 1 << FH_CTL_* of a list separated by `separator` (names we do not use are ignored). */
unsigned fh_ctl_parse(const char *list, char separator);
const char *fh_ctl_name(enum fh_ctl ctl);
/* Splits "fumehood-<pid>-<start>-<pidns>-<n>"; false for any other name. */
bool fh_group_name_parse(const char *name, struct fh_group_name *ret);
/* Field 22 of the text of /proc/<pid>/stat; 0 when the text makes no sense. */
uint64_t fh_stat_start_ticks(const char *stat);
/* The number behind "key" at the start of a line of a "key value" file; `absent` when it is not there. */
uint64_t fh_keyed_number(const char *text, const char *key, uint64_t absent);

/* cgroup_janitor.c */

/* Fills in the prefix of our own groups' names: who we are. 0 or a negative errno. */
int fh_group_prefix(char *into, size_t cap);
/* Removes the groups of dead supervisors of our pid namespace below every used tree. Bounded in time and
 * number. */
void fh_cgroup_janitor(struct fh_cgroup_host *h);
/* Kills the members that `cgroup.procs` of the group `name` lists, each pinned by a pidfd and checked to be a
 * member still. Returns how many were signalled, or a negative errno. */
int fh_group_kill_members(int groupfd, const char *name);

/* cgroup_v1.c and cgroup_v2.c: the same steps for each kind of hierarchy. `t` is an index into host->trees.
 */

int fh_cgroup_v1_limit(struct fh_cgroup *c, int t, const struct fh_policy *policy, unsigned extra_pids,
		       struct fh_err *err);
/* A negative errno where a counter that a verdict hangs on could not be read. */
int fh_cgroup_v1_read(struct fh_cgroup *c, int t, struct fh_cgroup_usage *into);
int fh_cgroup_v1_kill(struct fh_cgroup *c, int t);

/* Has controllers handed down to the groups made here; moves us into a leaf where that is needed and
 * possible. Fills `controllers`, and `why` and `fix` for those that are missing. A negative errno says that it could
 * not be found out. */
int fh_cgroup_v2_prepare(struct fh_tree *t);
int fh_cgroup_v2_limit(struct fh_cgroup *c, int t, const struct fh_policy *policy, unsigned extra_pids,
		       struct fh_err *err);
int fh_cgroup_v2_read(struct fh_cgroup *c, int t, struct fh_cgroup_usage *into);
int fh_cgroup_v2_kill(struct fh_cgroup *c, int t);

/* Shared small steps. */

/* Reads a control file in one read(2), NUL-terminated; what is longer is cut. Bytes read or a negative errno. */
ssize_t fh_group_text(int groupfd, const char *file, char *into, size_t cap);
/* Reads one number out of a file ("max" and what is missing give `absent`). */
uint64_t fh_group_number(int groupfd, const char *file, uint64_t absent);
/* Writes a number into a control file; records the error with the names of group and file. */
int fh_group_set(const struct fh_cgroup *c, int t, const char *file, uint64_t value, struct fh_err *err);
/* The command that gives us a group of our own on a host with systemd, or NULL where there is no systemd to
 * ask. */
const char *fh_cgroup_systemd_fix(void);

#endif
