/* Per-process limits; see limits.h. */
#include "isolate/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

#define MIB (1ull << 20)

/* Processes and threads this user has now, where the count of the kernel is shared with the user. */
static uint64_t user_tasks_now(void)
{
	fh_autodir DIR *proc = opendir("/proc");
	struct dirent *entry;
	uint64_t tasks = 0;
	uid_t me = getuid();

	while (proc && (entry = readdir(proc))) {
		char path[300], line[256];
		unsigned uid = ~0u, threads = 0;
		fh_autofile FILE *f = NULL;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/status", entry->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f)) {
			if (strncmp(line, "Uid:", 4) == 0)
				sscanf(line + 4, "%u", &uid);
			else if (sscanf(line, "Threads: %u", &threads) == 1)
				break;
		}
		if (uid == me)
			tasks += threads;
	}
	return tasks;
}

int fh_limits_plan(const struct fh_policy *policy, const struct fh_limit_means *means, struct fh_planner *planner,
		   struct fh_err *err)
{
	uint64_t cpu_s = policy->cpu_ms / 1000 + 2; /* a backstop only: the watch over the whole sandbox is exact */
	/* Where a group counts, this is only a backstop with some room, so that it is the group that refuses and tells. */
	uint64_t tasks = policy->pids + means->own_tasks + (means->pids_by_group ? 16 : 0) +
			 (means->own_user_count ? 0 : user_tasks_now());
	int rc = 0;

	/* One byte: neither a core file nor a piped core handler (a limit of 0 does not stop the latter). */
	rc = rc ? rc : fh_planner_rlimit(planner, RLIMIT_CORE, 1, 1);
	rc = rc ? rc : fh_planner_rlimit(planner, RLIMIT_NOFILE, policy->files, policy->files);
	rc = rc ? rc : fh_planner_rlimit(planner, RLIMIT_NPROC, tasks, tasks);
	rc = rc ? rc : fh_planner_rlimit(planner, RLIMIT_FSIZE, policy->file_size_bytes, policy->file_size_bytes);
	rc = rc ? rc : fh_planner_rlimit(planner, RLIMIT_CPU, cpu_s, cpu_s + 1);
	rc = rc ? rc : fh_planner_rlimit(planner, RLIMIT_STACK, 8 * MIB, 64 * MIB);
	rc = rc ? rc : fh_planner_rlimit(planner, RLIMIT_MEMLOCK, 64 * 1024, 64 * 1024);
	rc = rc ? rc : fh_planner_rlimit(planner, RLIMIT_MSGQUEUE, 0, 0);
	rc = rc ? rc : fh_planner_rlimit(planner, RLIMIT_SIGPENDING, 256, 256);
	rc = rc ? rc : fh_planner_rlimit(planner, RLIMIT_RTPRIO, 0, 0);
	rc = rc ? rc : fh_planner_rlimit(planner, RLIMIT_NICE, 0, 0);
	if (rc == 0 && !means->memory_by_group) {
		/* Without a group the watch samples the sum; this bounds what one process can take between two samples.
		 * Private writable memory is what counts here, so large reservations (JIT heaps) stay possible. */
		uint64_t bytes = policy->memory_bytes + policy->memory_bytes / 4 + 16 * MIB;
		rc = fh_planner_rlimit(planner, RLIMIT_DATA, bytes, bytes);
	}
	return rc < 0 ? fh_fail(err, rc, "plan the resource limits") : 0;
}

unsigned fh_limits_affinity(const struct fh_policy *policy, cpu_set_t *ret_set, bool *ret_all)
{
	unsigned want = (unsigned)((policy->cpus_milli + 999) / 1000);
	cpu_set_t mine;
	unsigned have, first, picked = 0;

	CPU_ZERO(ret_set);
	if (sched_getaffinity(0, sizeof(mine), &mine) < 0)
		CPU_SET(0, &mine);
	have = (unsigned)CPU_COUNT(&mine);
	*ret_all = want >= have;
	if (*ret_all) {
		*ret_set = mine;
		return have;
	}
	/* Start at another one each time, so that many small sandboxes do not share the first processor. */
	first = (unsigned)(fh_now_ns() / 1000) % have;
	for (unsigned pass = 0, seen = 0; picked < want && pass < 2; pass++)
		for (int cpu = 0; cpu < CPU_SETSIZE && picked < want; cpu++) {
			if (!CPU_ISSET(cpu, &mine))
				continue;
			if (seen++ >= first && !CPU_ISSET(cpu, ret_set)) {
				CPU_SET(cpu, ret_set);
				picked++;
			}
		}
	return picked;
}

/* Numeric libraries start a thread per processor of the host unless told otherwise; in a small sandbox that only costs.
 * OMP_NUM_THREADS is set as well, but to the processors there are: nproc(1) believes it before anything else. */
static const char *const standard[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"USER=user",
	"LOGNAME=user",
	"SHELL=/bin/sh",
	"LANG=C.UTF-8",
	"TERM=dumb",
	"OPENBLAS_NUM_THREADS=1",
	"MKL_NUM_THREADS=1",
	"NUMEXPR_NUM_THREADS=1",
	"VECLIB_MAXIMUM_THREADS=1",
	"PYTHONDONTWRITEBYTECODE=1",
};

static bool same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return n == strcspn(b, "=") && strncmp(a, b, n) == 0;
}

static void set(char **envp, size_t *n, char *assignment)
{
	if (!assignment) /* the arena remembers that it failed */
		return;
	for (size_t i = 0; i < *n; i++)
		if (same_name(envp[i], assignment)) {
			envp[i] = assignment;
			return;
		}
	envp[(*n)++] = assignment;
}

int fh_limits_environment(const struct fh_policy *policy, const char *home, const char *tmpdir,
			  unsigned n_cpus, const char *const *extra, struct fh_planner *planner, char *const **ret_envp,
			  struct fh_err *err)
{
	size_t n_extra = 0, n = 0;
	char **envp;

	while (extra && extra[n_extra])
		n_extra++;
	envp = fh_arena_take(&planner->arena,
			     (FH_ARRAY_LEN(standard) + 3 + n_extra + policy->n_env + 1) * sizeof(*envp));
	if (!envp)
		return fh_fail(err, -ENOMEM, "build the environment");
	for (size_t i = 0; i < FH_ARRAY_LEN(standard); i++)
		set(envp, &n, fh_arena_dup(&planner->arena, standard[i]));
	set(envp, &n, fh_arena_printf(&planner->arena, "OMP_NUM_THREADS=%u", n_cpus));
	set(envp, &n, fh_arena_printf(&planner->arena, "HOME=%s", home));
	set(envp, &n, fh_arena_printf(&planner->arena, "TMPDIR=%s", tmpdir));
	for (size_t i = 0; i < n_extra; i++)
		set(envp, &n, fh_arena_dup(&planner->arena, extra[i]));
	for (size_t i = 0; i < policy->n_env; i++)
		set(envp, &n, fh_arena_dup(&planner->arena, policy->env[i]));
	if (planner->arena.failed)
		return fh_fail(err, -ENOMEM, "build the environment");
	*ret_envp = envp;
	return 0;
}
