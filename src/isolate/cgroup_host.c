/* What of this host's control groups we may use: opens the trees that cgroup_find.c names, decides which tree
 * holds which controller, and tells a person why something is missing. Runs once per process. */
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

enum { MOUNTINFO_MAX = 8 << 20, SELF_CGROUP_MAX = 64 << 10 };

const char *fh_cgroup_systemd_fix(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char path[256];

	if (access("/run/systemd/private", F_OK) != 0)
		return NULL;
	if (geteuid() == 0)
		return "systemd-run --scope -p Delegate=yes fumehood ...";
	if (!runtime || runtime[0] != '/')
		return NULL;
	snprintf(path, sizeof(path), "%s/systemd/private", runtime);
	if (access(path, F_OK) != 0) {
		snprintf(path, sizeof(path), "%s/bus", runtime);
		if (access(path, F_OK) != 0)
			return NULL;
	}
	return "systemd-run --user --scope -p Delegate=yes fumehood ...";
}

/* An answer of the host about what we may do. Any other error says only that we could not find out, and may not turn
 * into "this host has no control groups", after which limits would be held by weaker means. */
static bool is_answer(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM || error == EROFS;
}

/* Opens the directory of our own group in the tree. Where it may not be used, says why in `t`. */
static int open_tree_dir(struct fh_tree *t)
{
	fh_autofd int fd = -1;
	const char *fix;
	struct stat st;

	if (!t->dir[0])
		return 0;
	fd = open(t->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		if (!is_answer(errno))
			return -errno;
		snprintf(t->why, sizeof(t->why), "cannot open %.160s: %s", t->dir, strerror(errno));
		return 0;
	}
	if (st.st_dev != t->dev) {
		snprintf(t->why, sizeof(t->why), "something else is mounted over %.160s", t->dir);
		return 0;
	}
	if (faccessat(fd, ".", W_OK, AT_EACCESS) < 0 ||
	    (t->version == 2 && faccessat(fd, "cgroup.procs", W_OK, AT_EACCESS) < 0)) {
		if (!is_answer(errno))
			return -errno;
		snprintf(t->why, sizeof(t->why), "uid %u may not make groups below our own, %.160s: %s",
			 geteuid(), t->dir, strerror(errno));
		fix = fh_cgroup_systemd_fix();
		if (!fix)
			fix = geteuid() == 0 ? "run fumehood outside of this user namespace" : "run fumehood as root";
		snprintf(t->fix, sizeof(t->fix), "%s", fix);
		return 0;
	}
	t->fd = fh_take_fd(&fd);
	return 0;
}

/* A supervisor that moved itself into the leaf (or was started by one) makes its groups beside that leaf. */
static void leave_leaf(struct fh_tree *t)
{
	static const char leaf[] = "/" FH_GROUP_SELF;
	size_t n = strlen(t->dir), np = strlen(t->path), nl = sizeof(leaf) - 1;

	if (t->version == 2 && n > nl && np >= nl && strcmp(t->dir + n - nl, leaf) == 0) {
		t->dir[n - nl] = '\0';
		t->path[np - nl] = '\0';
		if (!t->path[0])
			memcpy(t->path, "/", 2);
	}
}

static int read_texts(struct fh_buf *mounts, struct fh_buf *own)
{
	int rc = fh_read_file_at(AT_FDCWD, "/proc/self/cgroup", own);

	return rc < 0 ? rc : fh_read_file_at(AT_FDCWD, "/proc/self/mountinfo", mounts);
}

/* Which tree holds each controller: a controller is bound to one hierarchy only, so the first found is the
 * one. */
static void assign(struct fh_cgroup_host *h)
{
	h->unified = FH_TREE_NONE;
	for (int c = 0; c < FH_CTL_COUNT; c++)
		h->at[c] = FH_TREE_NONE;
	for (size_t i = 0; i < h->n_trees; i++) {
		if (h->trees[i].fd < 0)
			continue;
		if (h->trees[i].version == 2)
			h->unified = (int)i;
		for (int c = 0; c < FH_CTL_COUNT; c++)
			if (h->trees[i].controllers & (1u << c))
				h->at[c] = (int)i;
	}
	/* The v2 group counts processor time and kills by itself. */
	if (h->unified != FH_TREE_NONE)
		h->at[FH_CTL_CPUACCT] = h->at[FH_CTL_FREEZER] = FH_TREE_NONE;
}

/* The v2 tree first: where it is, it counts processor time and kills, and v1 trees with nothing else are not needed. */
static int open_trees(struct fh_cgroup_host *h, struct fh_err *err)
{
	const unsigned by_v2 = 1u << FH_CTL_CPUACCT | 1u << FH_CTL_FREEZER;
	bool v2 = false;
	size_t i;
	int rc = 0;

	for (i = 0; i < h->n_trees; i++) {
		struct fh_tree *t = &h->trees[i];

		if (t->version != 2)
			continue;
		leave_leaf(t);
		rc = open_tree_dir(t);
		if (rc == 0 && t->fd >= 0)
			rc = fh_cgroup_v2_prepare(t);
		if (rc < 0)
			return fh_fail(err, rc, "look at the control group %s", t->dir);
		v2 = v2 || t->fd >= 0;
	}
	for (i = 0; i < h->n_trees && rc == 0; i++)
		if (h->trees[i].version == 1 && !(v2 && (h->trees[i].controllers & ~by_v2) == 0))
			rc = open_tree_dir(&h->trees[i]);
	return rc < 0 ? fh_fail(err, rc, "look at the control group %s", h->trees[i - 1].dir) : 0;
}

int fh_cgroup_host_open(struct fh_cgroup_host **ret, struct fh_err *err)
{
	struct fh_cgroup_host *h = calloc(1, sizeof(*h));
	fh_autobuf mounts, own;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int rc;

	fh_buf_init(&mounts, MOUNTINFO_MAX);
	fh_buf_init(&own, SELF_CGROUP_MAX);
	if (!h)
		return fh_fail(err, -ENOMEM, "look at the control groups");
	h->cpus_online = cpus > 0 ? (unsigned)cpus : 1;
	rc = read_texts(&mounts, &own);
	if (rc == 0)
		rc = fh_group_prefix(h->prefix, sizeof(h->prefix));
	if (rc < 0 && !is_answer(-rc)) {
		free(h);
		return fh_fail(err, rc, "read our own control groups in /proc/self");
	}
	if (rc < 0)
		snprintf(h->note, sizeof(h->note), "cannot read our own groups in /proc/self: %s",
			 strerror(-rc));
	else
		h->n_trees = fh_cgroup_find(fh_buf_str(&mounts), fh_buf_str(&own), h->trees, FH_TREES_MAX);
	if (rc == 0 && h->n_trees == 0)
		snprintf(h->note, sizeof(h->note), "no cgroup file system is mounted");
	rc = open_trees(h, err);
	if (rc < 0) {
		fh_cgroup_host_close(h);
		return rc;
	}
	assign(h);
	*ret = h;
	return 0;
}

void fh_cgroup_host_sweep(struct fh_cgroup_host *h)
{
	if (!__atomic_exchange_n(&h->swept, true, __ATOMIC_RELAXED))
		fh_cgroup_janitor(h);
}

void fh_cgroup_host_close(struct fh_cgroup_host *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->n_trees; i++)
		fh_close(&h->trees[i].fd);
	free(h);
}

void fh_cgroup_host_axes(const struct fh_cgroup_host *h, struct fh_cgroup_axes *ret)
{
	bool unified = h->unified != FH_TREE_NONE;

	*ret = (struct fh_cgroup_axes){
	    .memory = h->at[FH_CTL_MEMORY] != FH_TREE_NONE,
	    .pids = h->at[FH_CTL_PIDS] != FH_TREE_NONE,
	    .cpu_rate = h->at[FH_CTL_CPU] != FH_TREE_NONE,
	    .cpu_time = unified || h->at[FH_CTL_CPUACCT] != FH_TREE_NONE,
	    .kill = unified || h->at[FH_CTL_FREEZER] != FH_TREE_NONE,
	};
}

const char *fh_cgroup_host_shape(const struct fh_cgroup_host *h)
{
	bool v1 = false;

	for (size_t i = 0; i < h->n_trees; i++)
		v1 = v1 || (h->trees[i].fd >= 0 && h->trees[i].version == 1);
	if (h->unified == FH_TREE_NONE)
		return v1 ? "v1" : "none";
	return v1 ? "hybrid" : "v2";
}

/* The tree that should have held a controller: the v1 one that is mounted with it, else the v2 one. */
static const struct fh_tree *tree_to_blame(const struct fh_cgroup_host *h, enum fh_ctl ctl)
{
	const struct fh_tree *blame = NULL;

	for (size_t i = 0; i < h->n_trees; i++) {
		const struct fh_tree *t = &h->trees[i];

		if (t->version == 1 && (t->controllers & (1u << ctl)))
			return t;
		if (t->version == 2)
			blame = t;
	}
	return blame;
}

static void explain_axis(const struct fh_cgroup_host *h, const char *axis, enum fh_ctl ctl,
			 struct fh_buf *why)
{
	const struct fh_tree *t = tree_to_blame(h, ctl);
	const char *reason = h->note, *fix = "";

	if (t) {
		reason = t->why;
		fix = t->fix;
	}
	if (!reason[0])
		reason = "this kernel or its boot options leave the controller out";
	if (!fix[0])
		fix = "run on a host with cgroup2 mounted at /sys/fs/cgroup and a group of our own below it";
	fh_buf_addf(why, "%s: %s; fix: %s\n", axis, reason, fix);
}

void fh_cgroup_host_explain(const struct fh_cgroup_host *h, struct fh_buf *why)
{
	struct fh_cgroup_axes have;

	fh_cgroup_host_axes(h, &have);
	if (!have.memory)
		explain_axis(h, "memory", FH_CTL_MEMORY, why);
	if (!have.pids)
		explain_axis(h, "pids", FH_CTL_PIDS, why);
	if (!have.cpu_rate)
		explain_axis(h, "cpu rate", FH_CTL_CPU, why);
	if (!have.cpu_time)
		explain_axis(h, "cpu time", FH_CTL_CPUACCT, why);
	if (!have.kill)
		explain_axis(h, "kill", FH_CTL_FREEZER, why);
}
