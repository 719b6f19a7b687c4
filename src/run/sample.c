/* The watch: what the kernel does not cap for the sandbox as a whole is looked at from time to time. How
 * often follows from how soon a limit could be passed, so that a short run is not looked at at all. */
#include "run/internal.h"

#include <sys/vfs.h>

#include "base/clock.h"
#include "run/diskwatch.h"
#include "run/procwalk.h"

#define MS            1000000ull
#define DISK_EVERY_MS 100
#define WALK_EVERY_MS 20
#define CPU_LEAST_MS  5

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

static bool look_at_disk(struct fh_run *run, struct statfs *fs, uint64_t *bytes, uint64_t *inodes)
{
	if (run->stage_fd < 0 || fstatfs(run->stage_fd, fs) < 0)
		return false;
	*bytes = (uint64_t)(fs->f_blocks - fs->f_bfree) * (uint64_t)fs->f_bsize;
	*inodes = (uint64_t)(fs->f_files - fs->f_ffree);
	return true;
}

/* The folder of the host that the program writes to, where it is not the sandbox's own disk. */
static const char *watched_folder(const struct fh_run *run)
{
	if (run->spec->workspace_mode == FH_WORKSPACE_DIRECT)
		return run->spec->workspace;
	return run->private_dir;
}

/* Walking costs time of its own: at most a tenth of the supervisor's. */
static void sample_folder(struct fh_run *run)
{
	const char *folder = watched_folder(run);
	uint64_t began = fh_now_ns(), bytes, inodes;
	struct fh_diskwatch now;

	if (!folder || (began < run->folder_next_ns && run->phase == FH_PHASE_RUNNING))
		return;
	fh_diskwatch(folder, run->folder_inodes_start + run->policy.inodes, &now);
	run->folder_next_ns = fh_now_ns() + 10 * (fh_now_ns() - began) + DISK_EVERY_MS * MS;
	bytes = now.bytes > run->folder_bytes_start ? now.bytes - run->folder_bytes_start : 0;
	inodes = now.inodes > run->folder_inodes_start ? now.inodes - run->folder_inodes_start : 0;
	if (bytes > run->peak_disk_bytes)
		run->peak_disk_bytes = bytes;
	if (inodes > run->peak_inodes)
		run->peak_inodes = inodes;
	if (bytes > run->policy.disk_bytes) {
		run->disk_full_seen = true;
		fh_run_end(run, FH_CAUSE_DISK);
	} else if (inodes > run->policy.inodes) {
		run->inodes_full_seen = true;
		fh_run_end(run, FH_CAUSE_INODES);
	}
}

void fh_sample_start(struct fh_run *run)
{
	struct fh_diskwatch folder;
	struct statfs fs;

	if (watched_folder(run)) {
		fh_diskwatch(watched_folder(run), UINT64_MAX / 2, &folder);
		run->folder_bytes_start = folder.bytes;
		run->folder_inodes_start = folder.inodes;
	}
	(void)look_at_disk(run, &fs, &run->stage_blocks_start, &run->stage_inodes_start);
}

static void sample_disk(struct fh_run *run)
{
	struct statfs fs;
	uint64_t bytes, inodes;

	if (!look_at_disk(run, &fs, &bytes, &inodes))
		return;
	run->disk_now_bytes = bytes > run->stage_blocks_start ? bytes - run->stage_blocks_start : 0;
	if (bytes > run->stage_blocks_start && bytes - run->stage_blocks_start > run->peak_disk_bytes)
		run->peak_disk_bytes = bytes - run->stage_blocks_start;
	if (inodes > run->stage_inodes_start && inodes - run->stage_inodes_start > run->peak_inodes)
		run->peak_inodes = inodes - run->stage_inodes_start;
	run->disk_full_seen |= fs.f_bfree == 0;
	run->inodes_full_seen |= fs.f_ffree == 0;
}

/* Private memory, and what of shared memory and of the disk in memory is larger: a file that is mapped shows
 * in both. */
static uint64_t memory_in_use(struct fh_run *run, const struct fh_procwalk *sum, unsigned max)
{
	uint64_t shared = sum->shared_bytes;

	if (shared > run->disk_now_bytes && sum->private_bytes + shared > run->policy.memory_bytes)
		shared = fh_procwalk_shared(run->child_pid, max);
	return sum->private_bytes + (shared > run->disk_now_bytes ? shared : run->disk_now_bytes);
}

static void sample_processes(struct fh_run *run)
{
	unsigned max = (unsigned)run->policy.pids + 64;
	struct fh_procwalk sum;
	uint64_t memory;

	if (run->means.memory_by_group && run->host->axes.cpu_time && run->means.pids_by_group)
		return;
	fh_procwalk(run->child_pid, max, &sum);
	memory = memory_in_use(run, &sum, max);
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
	struct fh_err why = {0};
	int rc;

	sample_disk(run);
	sample_folder(run);
	if (run->phase != FH_PHASE_RUNNING)
		return;
	sample_processes(run);
	if (run->phase != FH_PHASE_RUNNING)
		return;
	rc = run->host->axes.cpu_time ? fh_cgroup_cpu_us(run->cgroup, &run->watched_cpu_us) : 0;
	if (rc < 0) { /* a limit that cannot be watched is not held */
		fh_fail(&why, rc, "read the processor time of the sandbox");
		fh_run_fail(run, &why);
		return;
	}
	if (run->watched_cpu_us > run->policy.cpu_ms * 1000)
		fh_run_end(run, FH_CAUSE_CPU);
}
