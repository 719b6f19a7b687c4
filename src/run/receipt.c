/* The rest of the receipt: which means held each limit, by what names the mechanisms go, what was not enforced. */
#include "run/receipt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/policy_json.h"

#define LINES_MAX 32

static void add_line(char ***lines, size_t *n, const char *text)
{
	if (!*lines)
		*lines = calloc(LINES_MAX, sizeof(**lines));
	if (*lines && *n < LINES_MAX)
		(*lines)[(*n)++] = strdup(text);
}

static void set_limit(struct fh_receipt *r, enum fh_axis axis, uint64_t value, enum fh_means means)
{
	r->limits[axis].value = value;
	r->limits[axis].means = means;
}

static void fill_limits(const struct fh_run *run, struct fh_receipt *r)
{
	const struct fh_policy *p = &run->policy;
	bool level2 = run->plan.namespaces;
	bool direct = run->spec->workspace_mode == FH_WORKSPACE_DIRECT;

	set_limit(r, FH_AXIS_WALL, p->wall_ms, FH_MEANS_CLOCK);
	set_limit(r, FH_AXIS_CPU, p->cpu_ms, run->host->axes.cpu_time ? FH_MEANS_CGROUP : FH_MEANS_WATCH);
	set_limit(r, FH_AXIS_MEMORY, p->memory_bytes, run->means.memory_by_group ? FH_MEANS_CGROUP : FH_MEANS_WATCH);
	set_limit(r, FH_AXIS_PIDS, p->pids, run->means.pids_by_group ? FH_MEANS_CGROUP : FH_MEANS_RLIMIT);
	set_limit(r, FH_AXIS_DISK, p->disk_bytes, level2 && !direct ? FH_MEANS_TMPFS : FH_MEANS_WATCH);
	set_limit(r, FH_AXIS_INODES, p->inodes, level2 && !direct ? FH_MEANS_TMPFS : FH_MEANS_WATCH);
	set_limit(r, FH_AXIS_FILE_SIZE, p->file_size_bytes, FH_MEANS_RLIMIT);
	set_limit(r, FH_AXIS_FILES, p->files, FH_MEANS_RLIMIT);
	set_limit(r, FH_AXIS_OUTPUT, p->output_stop_bytes, FH_MEANS_PIPE);
}

/* Named only where the read-back shows it, or where the step could not have been passed without it. */
static void fill_mechanisms(const struct fh_run *run, struct fh_receipt *r)
{
	const struct fh_plan *plan = &run->plan;
	char text[96];

	if (plan->namespaces) {
		static const char *const names[] = {"user", "mnt", "pid", "ipc", "uts"};
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			snprintf(text, sizeof(text), "%s namespace", names[i]);
			add_line(&r->mechanisms, &r->n_mechanisms, text);
		}
		if (plan->new_netns)
			add_line(&r->mechanisms, &r->n_mechanisms, "net namespace, loopback only");
		if (plan->new_cgroupns)
			add_line(&r->mechanisms, &r->n_mechanisms, "cgroup namespace");
		add_line(&r->mechanisms, &r->n_mechanisms, "own root");
		if (!run->weaker.plain_trees)
			add_line(&r->mechanisms, &r->n_mechanisms, "overlay per sandbox over shared trees");
	}
	if (r->seccomp == 2)
		add_line(&r->mechanisms, &r->n_mechanisms, "seccomp allowlist");
	if (r->landlock_abi > 0) {
		snprintf(text, sizeof(text), "landlock abi %d", r->landlock_abi);
		add_line(&r->mechanisms, &r->n_mechanisms, text);
	}
	if (r->no_new_privs == 1)
		add_line(&r->mechanisms, &r->n_mechanisms, "no new privileges");
	/* Zeros that nobody read back show nothing. */
	if (run->result->has_receipt && (r->caps[0] | r->caps[1] | r->caps[2] | r->caps[4]) == 0)
		add_line(&r->mechanisms, &r->n_mechanisms, "no capabilities");
	switch (run->ids.kind) {
	case FH_IDS_BLOCK:
		add_line(&r->mechanisms, &r->n_mechanisms, "ids of its own (block)");
		break;
	case FH_IDS_SUBID:
		add_line(&r->mechanisms, &r->n_mechanisms, "ids of its own (sub-ids)");
		break;
	case FH_IDS_CALLER:
		add_line(&r->mechanisms, &r->n_mechanisms, "the caller's id: the kernel's per-user counters are shared");
		break;
	}
	if (r->cgroups && r->cgroups[0])
		add_line(&r->mechanisms, &r->n_mechanisms, "control groups");
}

static void fill_not_enforced(const struct fh_run *run, struct fh_receipt *r)
{
	const struct fh_weaker *w = &run->weaker;

	if (w->level_process)
		add_line(&r->not_enforced, &r->n_not_enforced,
			 "level namespace: this host refuses namespaces; the run had level process");
	if (w->plain_trees)
		add_line(&r->not_enforced, &r->n_not_enforced,
			 "overlay per sandbox: system folders were plain read-only binds, shared with other sandboxes");
	if (w->no_proc)
		add_line(&r->not_enforced, &r->n_not_enforced, "private /proc: /proc was empty");
	if (w->no_landlock)
		add_line(&r->not_enforced, &r->n_not_enforced, "landlock: this kernel has none");
	if (w->no_cgroupns)
		add_line(&r->not_enforced, &r->n_not_enforced, "cgroup namespace: group names of the host were visible");
	if (run->policy.enforce == FH_ENFORCE_KERNEL && !run->means.memory_by_group)
		add_line(&r->not_enforced, &r->n_not_enforced, "memory by the kernel: held by a watch");
	if (run->policy.enforce == FH_ENFORCE_KERNEL && !run->means.pids_by_group)
		add_line(&r->not_enforced, &r->n_not_enforced, "pids by a control group: held by an rlimit");
}

void fh_receipt_fill(struct fh_run *run, struct fh_receipt *r)
{
	fh_autobuf groups;

	snprintf(r->version, sizeof(r->version), "%s", FH_VERSION);
	snprintf(r->policy_name, sizeof(r->policy_name), "%s", run->policy.name);
	(void)fh_policy_hash(&run->policy, r->policy_sha256);
	r->level = run->plan.namespaces ? FH_LEVEL_NAMESPACE : FH_LEVEL_PROCESS;
	fh_buf_init(&groups, 16384);
	fh_cgroup_describe(run->cgroup, &groups);
	r->cgroups = fh_buf_take(&groups);
	if (run->spec->interpreter)
		snprintf(r->interpreter, sizeof(r->interpreter), "%s", run->spec->interpreter);
	fill_limits(run, r);
	fill_mechanisms(run, r);
	fill_not_enforced(run, r);
	r->started_ms = run->started_clock_ms;
}
