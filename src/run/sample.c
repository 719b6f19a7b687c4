/* The watch: what the kernel does not cap for the sandbox as a whole is looked at from time to time. How often follows
 * from how soon a limit could be passed, so that a short run is not looked at at all. */
#include "run/internal.h"

#include <sys/vfs.h>

#include "base/clock.h"
#include "run/procwalk.h"

#define MS            1000000ull
#define DISK_EVERY_MS 100
#define WALK_EVERY_MS 20
#define CPU_LEAST_MS  5

static uint64_t cpu_used_us(struct fh_run *run)
{
	return run->host->axes.cpu_time ? fh_cgroup_cpu_us(run->cgroup) : run->watched_cpu_us;
}

uint64_t fh_sample_next_ns(const struct fh_run *run)
{
	uint64_t now = fh_now_ns(), limit_us = run->policy.cpu_ms * 1000;
	uint64_t used_us = run->watched_cpu_us < limit_us ? run->watched_cpu_us : limit_us;
	uint64_t wait = (limit_us - used_us) * 1000 / (run->n_cpus ? run->n_cpus : 1);

	if (wait > DISK_EVERY_MS * MS)
		wait = DISK_EVERY_MS * MS;
	if (!run->means.memory_by_group || !run->host->axes.cpu_time)
		if (wait > WALK_EVERY_MS * MS)
			wait = WALK_EVERY_MS * MS;
	if (wait < CPU_LEAST_MS * MS)
		wait = CPU_LEAST_MS * MS;
	return now + wait;
}

static void sample_disk(struct fh_run *run)
{
	struct statfs fs;
	uint64_t bytes, inodes;

	if (run->stage_fd < 0 || fstatfs(run->stage_fd, &fs) < 0)
		return;
	bytes = (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
	inodes = (uint64_t)(fs.f_files - fs.f_ffree);
	if (run->stage_inodes_start == 0) {
		/* First look: what is there now is ours. */
		run->stage_inodes_start = inodes;
		run->stage_blocks_start = bytes;
	}
	if (bytes > run->stage_blocks_start && bytes - run->stage_blocks_start > run->peak_disk_bytes)
		run->peak_disk_bytes = bytes - run->stage_blocks_start;
	if (inodes > run->stage_inodes_start && inodes - run->stage_inodes_start > run->peak_inodes)
		run->peak_inodes = inodes - run->stage_inodes_start;
	run->disk_full_seen |= fs.f_bfree == 0;
	run->inodes_full_seen |= fs.f_ffree == 0;
}

static void sample_processes(struct fh_run *run)
{
	struct fh_procwalk sum;
	uint64_t memory;

	if (run->means.memory_by_group && run->host->axes.cpu_time && run->means.pids_by_group)
		return;
	fh_procwalk(run->child_pid, (unsigned)run->policy.pids + 64, &sum);
	memory = sum.private_bytes + run->peak_disk_bytes;
	if (sum.cpu_us > run->watched_cpu_us && !run->host->axes.cpu_time)
		run->watched_cpu_us = sum.cpu_us;
	if (memory > run->peak_memory_bytes)
		run->peak_memory_bytes = memory;
	if (sum.threads > run->peak_pids)
		run->peak_pids = sum.threads;
	if (!run->means.pids_by_group && sum.threads >= run->policy.pids)
		run->pids_full_seen = true;
	if (!run->means.memory_by_group && memory > run->policy.memory_bytes)
		fh_run_end(run, FH_CAUSE_MEMORY);
}

void fh_sample(struct fh_run *run)
{
	sample_disk(run);
	if (run->phase != FH_PHASE_RUNNING)
		return;
	sample_processes(run);
	if (run->phase != FH_PHASE_RUNNING)
		return;
	run->watched_cpu_us = cpu_used_us(run);
	if (run->watched_cpu_us > run->policy.cpu_ms * 1000)
		fh_run_end(run, FH_CAUSE_CPU);
}
