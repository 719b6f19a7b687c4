/* From policy, spec and host to a finished plan. Decides and opens everything; runs nothing. */
#include "run/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "run/inspect.h"
#include "run/privatedir.h"
#include "sys/fault.h"

static bool level2(const struct fh_run *run)
{
	return run->policy.level == FH_LEVEL_NAMESPACE && !run->weaker.level_process;
}

/* A host folder must exist, be a folder, be no link, and not be a place whose exposure would undo the walls. */
static int check_workspace(const struct fh_run *run, struct fh_err *err)
{
	const char *path = run->spec->workspace;
	struct stat st;

	if (path[0] != '/')
		return fh_usage(err, "the workspace '%s' is not an absolute path", path);
	if (fh_path_is_control(path) || strcmp(path, "/") == 0 || strcmp(path, "/dev") == 0)
		return fh_usage(err, "the workspace '%s' is a control folder of this host; name one of your own", path);
	if (lstat(path, &st) < 0)
		return fh_usage(err, "the workspace '%s' cannot be used: %s", path, strerror(errno));
	if (S_ISLNK(st.st_mode))
		return fh_usage(err, "the workspace '%s' is a symbolic link; name the folder it points to", path);
	if (!S_ISDIR(st.st_mode))
		return fh_usage(err, "the workspace '%s' is not a folder", path);
	if (access(path, R_OK | X_OK) < 0)
		return fh_usage(err, "the workspace '%s' cannot be read: %s", path, strerror(errno));
	return 0;
}

static int plan_identity(struct fh_run *run, struct fh_err *err)
{
	struct fh_plan *plan = &run->plan;
	bool caller = run->spec->workspace_mode != FH_WORKSPACE_EMPTY;
	int rc = 0;

	if (level2(run)) {
		rc = fh_ids_acquire(caller, &run->ids, err);
		if (rc < 0)
			return rc;
		plan->init_is_mapped = run->ids.kind != FH_IDS_CALLER;
		plan->drop_groups = run->ids.kind != FH_IDS_CALLER;
		plan->change_ids = true;
		plan->program_uid = plan->program_gid = FH_INNER_PROGRAM_ID;
		return 0;
	}
	/* Level 1: an id that nobody else has where we may take one, else the caller's own. */
	run->ids = (struct fh_ids){.kind = FH_IDS_CALLER, .lease_fd = -1};
	if (geteuid() == 0) {
		/* Refuses where the program would be root itself: Landlock does not stop an owner from chmod and chown. */
		rc = fh_ids_acquire(false, &run->ids, err);
		if (rc < 0)
			return rc;
	}
	if (run->ids.kind == FH_IDS_BLOCK) {
		plan->drop_groups = true;
		plan->change_ids = true;
		plan->program_uid = run->ids.program_uid;
		plan->program_gid = run->ids.program_gid;
	}
	return 0;
}

/* Limits: groups first, and what stands in for them where there are none. */
static int plan_limits(struct fh_run *run, struct fh_err *err)
{
	struct fh_plan *plan = &run->plan;
	int rc;

	rc = fh_cgroup_create(run->host->cgroups, &run->policy, level2(run) ? 1 : 2, &run->cgroup, err);
	if (rc < 0)
		return rc;
	run->means = (struct fh_limit_means){
		.memory_by_group = run->host->axes.memory,
		.pids_by_group = run->host->axes.pids,
		.own_user_count = level2(run) || plan->change_ids,
		.own_tasks = run->ids.kind == FH_IDS_CALLER,
	};
	if (run->policy.enforce == FH_ENFORCE_KERNEL && !(run->host->axes.memory && run->host->axes.pids)) {
		if (!run->policy.allow_weaker)
			return fh_unsupported(err, "run `fumehood doctor` for how to get control groups here",
					      "this host has no %s control group for us, and the policy asks for "
					      "limits held by the kernel (enforce: kernel)",
					      run->host->axes.memory ? "pids" : "memory");
	}
	rc = fh_limits_plan(&run->policy, &run->means, &run->planner, err);
	if (rc < 0)
		return rc;
	run->n_cpus = fh_limits_affinity(&run->policy, &plan->affinity, &run->all_cpus);
	plan->set_affinity = true;
	errno = 0;
	plan->nice = getpriority(PRIO_PROCESS, 0);
	if (plan->nice < 5)
		plan->nice = 5;
	plan->reset_scheduler = sched_getscheduler(0) == SCHED_FIFO || sched_getscheduler(0) == SCHED_RR;
	plan->oom_score_adj = "800";
	return 0;
}

static int plan_landlock(struct fh_run *run, const char *home, struct fh_err *err)
{
	const struct fh_spec *spec = run->spec;
	const char *workspace = spec->workspace_mode == FH_WORKSPACE_DIRECT ? spec->workspace : NULL;
	struct fh_plan *plan = &run->plan;

	fh_landlock_probe(level2(run) ? FH_LEVEL_NAMESPACE : FH_LEVEL_PROCESS, &run->landlock);
	if (run->landlock.abi == 0 && !fh_switched_off("landlock")) {
		if (!run->policy.allow_weaker)
			return fh_unsupported(err, "boot a kernel with Landlock (5.13 or later, lsm=landlock,...)",
					      "this kernel has no Landlock");
		run->weaker.no_landlock = true;
	}
	plan->landlock_abi = run->landlock.abi;
	plan->landlock_fs = run->landlock.fs;
	plan->landlock_net = run->landlock.net;
	plan->landlock_scoped = run->landlock.scoped;
	plan->warden_scope = !level2(run) && !plan->change_ids && run->landlock.abi >= 6;
	if (level2(run))
		return fh_landlock_plan_root(&run->policy, spec->trees, spec->n_trees, spec->files, spec->n_files,
					     &run->planner, err);
	return fh_landlock_plan_host(&run->policy, home, workspace, spec->trees, spec->n_trees, spec->files,
				     spec->n_files, &run->planner, err);
}

static int plan_root(struct fh_run *run, struct fh_err *err)
{
	struct fh_plan *plan = &run->plan;
	struct fh_root_spec root = {
		.policy = &run->policy,
		.workspace_mode = run->spec->workspace_mode,
		.workspace = run->spec->workspace,
		.trees = run->spec->trees,
		.files = run->spec->files,
		.links = run->spec->links,
		.n_trees = run->spec->n_trees,
		.n_files = run->spec->n_files,
		.n_links = run->spec->n_links,
		.program_id = FH_INNER_PROGRAM_ID,
		.ids = &run->ids,
		.n_cpus = run->n_cpus,
		.all_cpus = run->all_cpus,
		.plain_trees = run->weaker.plain_trees,
		.no_proc = run->weaker.no_proc,
	};
	static const char *const places[] = {"/tmp", "/mnt", "/var", "/usr"};
	int rc = fh_mounts_plan(&root, &run->planner, &plan->stage_options, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < FH_ARRAY_LEN(places) && !plan->stage; i++) {
		struct stat st;
		if (stat(places[i], &st) == 0 && S_ISDIR(st.st_mode))
			plan->stage = places[i];
	}
	if (!plan->stage)
		return fh_fail(err, -ENOENT, "find a folder to build the sandbox's root on");
	plan->root = "r";
	plan->hostname = "fumehood";
	plan->new_netns = !fh_switched_off("netns");
	plan->new_cgroupns = !run->weaker.no_cgroupns;
	plan->new_keyring = true;
	return 0;
}

/* Every place the command could be at, on the PATH that the program will have. */
static int plan_command(struct fh_run *run, struct fh_err *err)
{
	const char *command = run->spec->argv[0], *path = "/usr/local/bin:/usr/bin:/bin";
	struct fh_arena *arena = &run->planner.arena;
	const char **places;
	size_t n = 2, at = 0, argc = 0;
	char **shell;

	if (!command || !*command)
		return fh_usage(err, "the command is empty");
	while (run->spec->argv[argc])
		argc++;
	for (char *const *e = run->plan.envp; *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			path = *e + 5;
	for (const char *p = path; *p; p++)
		n += *p == ':';
	places = fh_arena_take(arena, (n + 1) * sizeof(*places));
	shell = fh_arena_take(arena, (argc + 2) * sizeof(*shell));
	if (!places || !shell)
		return fh_fail(err, -ENOMEM, "plan the command");
	if (strchr(command, '/')) {
		places[at++] = fh_arena_dup(arena, command);
	} else {
		while (*path) {
			size_t len = strcspn(path, ":");
			if (len > 0)
				places[at++] = fh_arena_printf(arena, "%.*s/%s", (int)len, path, command);
			path += len + (path[len] == ':');
		}
	}
	shell[0] = fh_arena_dup(arena, "/bin/sh");
	for (size_t i = 1; i < argc; i++)
		shell[i + 1] = (char *)(uintptr_t)run->spec->argv[i];
	if (arena->failed)
		return fh_fail(err, -ENOMEM, "plan the command");
	run->plan.exec_paths = places;
	run->plan.shell_argv = shell;
	run->plan.argv = (char *const *)(uintptr_t)run->spec->argv;
	return 0;
}

static int plan_filter(struct fh_run *run, struct fh_err *err)
{
	struct fh_policy policy = run->policy;
	unsigned refuse = 0;
	int rc;

	if (fh_switched_off("seccomp"))
		return 0;
	if (!run->means.memory_by_group)
		refuse |= FH_REFUSE_UNSEEN_MEMORY;
	if (!run->host->axes.cpu_rate && !run->all_cpus)
		refuse |= FH_REFUSE_AFFINITY;
	policy.level = level2(run) ? FH_LEVEL_NAMESPACE : FH_LEVEL_PROCESS;
	rc = fh_seccomp_build(&policy, refuse, &run->filter, err);
	if (rc < 0)
		return rc;
	run->plan.seccomp = (struct sock_fprog){.len = (unsigned short)run->filter.n, .filter = run->filter.insns};
	return 0;
}

static int prepare_level1(struct fh_run *run, struct fh_err *err)
{
	const struct fh_spec *spec = run->spec;
	const char *home;
	int rc = fh_privatedir_create(run->plan.change_ids ? run->plan.program_uid : geteuid(),
				      run->plan.change_ids ? run->plan.program_gid : getegid(), &run->private_dir, err);

	if (rc < 0)
		return rc;
	home = run->private_dir;
	if (spec->workspace_mode == FH_WORKSPACE_COPY)
		return fh_unsupported(err, "use --workspace-rw, or level namespace",
				      "a copy-on-write workspace needs level namespace (2)");
	run->plan.cwd = spec->cwd ? spec->cwd : spec->workspace_mode == FH_WORKSPACE_DIRECT ? spec->workspace : home;
	if (spec->cwd && spec->cwd[0] != '/')
		return fh_usage(err, "the working folder '%s' is not an absolute path", spec->cwd);
	rc = fh_limits_environment(&run->policy, home, home, run->n_cpus, spec->env, &run->planner,
				   &run->plan.envp, err);
	return rc < 0 ? rc : plan_landlock(run, home, err);
}

static int prepare_level2(struct fh_run *run, struct fh_err *err)
{
	int rc = plan_root(run, err);

	if (rc < 0)
		return rc;
	run->plan.cwd = run->spec->cwd ? run->spec->cwd : FH_INNER_WORK;
	if (run->plan.cwd[0] != '/')
		run->plan.cwd = fh_arena_printf(&run->planner.arena, "%s/%s", FH_INNER_WORK, run->plan.cwd);
	rc = fh_limits_environment(&run->policy, FH_INNER_HOME, "/tmp", run->n_cpus, run->spec->env,
				   &run->planner, &run->plan.envp,
				   err);
	return rc < 0 ? rc : plan_landlock(run, FH_INNER_HOME, err);
}

int fh_run_prepare(struct fh_run *run, struct fh_err *err)
{
	struct fh_plan *plan = &run->plan;
	int rc = 0;

	fh_planner_init(&run->planner);
	*plan = (struct fh_plan){.namespaces = level2(run), .source_fd = -1};
	plan->want_ack = run->spec->want_receipt;
	plan->skip_caps = fh_switched_off("caps");
	plan->skip_no_new_privs = fh_switched_off("no-new-privs");
	if (run->spec->workspace_mode != FH_WORKSPACE_EMPTY)
		rc = check_workspace(run, err);
	rc = rc ? rc : fh_inspect_before(run, err);
	rc = rc ? rc : plan_identity(run, err);
	rc = rc ? rc : plan_limits(run, err);
	fh_run_mark(run, FH_MARK_GROUPED);
	rc = rc ? rc : level2(run) ? prepare_level2(run, err) : prepare_level1(run, err);
	rc = rc ? rc : plan_command(run, err);
	rc = rc ? rc : plan_filter(run, err);
	if (rc < 0)
		return rc;
	if (run->planner.arena.failed)
		return fh_fail(err, -ENOMEM, "plan the run");
	plan->sources = run->planner.sources;
	plan->n_sources = run->planner.n_sources;
	plan->ops = run->planner.ops;
	plan->n_ops = run->planner.n_ops;
	plan->rules = run->planner.rules;
	plan->n_rules = run->planner.n_rules;
	plan->rlimits = run->planner.rlimits;
	plan->n_rlimits = fh_switched_off("rlimits") ? 0 : run->planner.n_rlimits;
	fh_run_mark(run, FH_MARK_PLANNED);
	return 0;
}
