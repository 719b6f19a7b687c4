/* From what was observed to what is told. The order of the questions matters: our own failure first, then what we did,
 * then what the kernel did, and only then how the program ended by itself. */
#include "run/internal.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "policy/policy.h"

static void say(struct fh_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct fh_result *r, const char *fmt, ...)
{
	va_list ap;
	char *text = NULL;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	free(r->message);
	r->message = text ? text : strdup("");
}

static void fired(struct fh_run *run, enum fh_verdict verdict, enum fh_axis axis, uint64_t value)
{
	run->result->verdict = verdict;
	run->result->limit = axis;
	run->result->limit_value = value;
	run->result->status = verdict == FH_VERDICT_WALL ? 124 : 123;
	run->result->receipt.limits[axis].fired = true;
}

/* A value with its unit, as a person would write it on the command line. */
static const char *amount(const struct fh_run *run, const char *field, char *into, size_t cap)
{
	const struct fh_field *f = fh_field_find(field);

	fh_field_print(f, fh_field_value(&run->policy, f), into, cap);
	return into;
}

static void tell_sandbox(struct fh_run *run)
{
	struct fh_result *r = run->result;

	r->verdict = FH_VERDICT_SANDBOX;
	r->status = run->failure.kind == FH_ERR_NOT_FOUND  ? 127
		    : run->failure.kind == FH_ERR_NOT_EXEC ? 126
							    : 125;
	say(r, "%s%s%s", run->failure.message, run->failure.fix[0] ? "; fix: " : "", run->failure.fix);
}

/* What we ended. True when that is the whole story. */
static bool tell_cause(struct fh_run *run)
{
	const struct fh_policy *p = &run->policy;
	char text[32];

	switch (run->cause) {
	case FH_CAUSE_WALL:
		fired(run, FH_VERDICT_WALL, FH_AXIS_WALL, p->wall_ms);
		say(run->result, "ended after %s of real time; raise --wall if it needs longer",
		    amount(run, "wall", text, sizeof(text)));
		return true;
	case FH_CAUSE_CPU:
		fired(run, FH_VERDICT_CPU, FH_AXIS_CPU, p->cpu_ms);
		say(run->result, "ended after %s of processor time; raise --cpu if it needs more",
		    amount(run, "cpu", text, sizeof(text)));
		return true;
	case FH_CAUSE_MEMORY:
		fired(run, FH_VERDICT_MEMORY, FH_AXIS_MEMORY, p->memory_bytes);
		say(run->result, "it needed more than %s of memory; raise --memory if it should have it",
		    amount(run, "memory", text, sizeof(text)));
		return true;
	case FH_CAUSE_OUTPUT:
		fired(run, FH_VERDICT_OUTPUT, FH_AXIS_OUTPUT, p->output_stop_bytes);
		say(run->result, "it printed more than %s; raise --output-stop if that is wanted",
		    amount(run, "output_stop", text, sizeof(text)));
		return true;
	case FH_CAUSE_DISK:
		fired(run, FH_VERDICT_DISK, FH_AXIS_DISK, p->disk_bytes);
		say(run->result, "it wrote more than %s; raise --disk if it should", amount(run, "disk", text, sizeof(text)));
		return true;
	case FH_CAUSE_INODES:
		fired(run, FH_VERDICT_INODES, FH_AXIS_INODES, p->inodes);
		say(run->result, "it made more than %s files and folders; raise --inodes if it should",
		    amount(run, "inodes", text, sizeof(text)));
		return true;
	case FH_CAUSE_CANCEL:
		run->result->verdict = FH_VERDICT_CANCELLED;
		run->result->status = 130;
		say(run->result, "%s", run->cancel_reason);
		return true;
	case FH_CAUSE_NONE:
	case FH_CAUSE_SANDBOX:
		break;
	}
	return false;
}

/* A limit that the kernel answered with an error to the program: it explains a failure, not a success. */
static enum fh_axis refused_axis(const struct fh_run *run, const struct fh_cgroup_usage *usage, uint64_t *ret_value)
{
	if (usage->pids_denied > 0 || run->pids_full_seen) {
		*ret_value = run->policy.pids;
		return FH_AXIS_PIDS;
	}
	if (run->disk_full_seen) {
		*ret_value = run->policy.disk_bytes;
		return FH_AXIS_DISK;
	}
	if (run->inodes_full_seen) {
		*ret_value = run->policy.inodes;
		return FH_AXIS_INODES;
	}
	return FH_AXIS_NONE;
}

static void tell_refused(struct fh_run *run, enum fh_axis axis, uint64_t value)
{
	static const struct {
		enum fh_axis axis;
		enum fh_verdict verdict;
		const char *field, *flag, *what;
	} rows[] = {
		{FH_AXIS_PIDS, FH_VERDICT_PIDS, "pids", "--pids", "processes and threads"},
		{FH_AXIS_DISK, FH_VERDICT_DISK, "disk", "--disk", "of disk"},
		{FH_AXIS_INODES, FH_VERDICT_INODES, "inodes", "--inodes", "files and folders"},
	};
	struct fh_result *r = run->result;
	char text[32];

	r->limit = axis;
	r->limit_value = value;
	r->receipt.limits[axis].fired = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].axis != axis)
			continue;
		if (r->verdict != FH_VERDICT_OK) {
			r->verdict = rows[i].verdict;
			r->status = 123;
		}
		say(r, "it was refused more than %s %s; raise %s if it needs more",
		    amount(run, rows[i].field, text, sizeof(text)), rows[i].what, rows[i].flag);
	}
}

static void tell_signal(struct fh_run *run, int sig)
{
	struct fh_result *r = run->result;
	char text[32];

	r->signal = sig;
	r->verdict = FH_VERDICT_SIGNAL;
	r->status = 128 + sig;
	say(r, "ended by signal %d (%s)", sig, strsignal(sig));
	if (sig == SIGXCPU && run->watched_cpu_us + 50000 >= run->policy.cpu_ms * 1000) {
		fired(run, FH_VERDICT_CPU, FH_AXIS_CPU, run->policy.cpu_ms);
		say(r, "ended after %s of processor time; raise --cpu if it needs more",
		    amount(run, "cpu", text, sizeof(text)));
	} else if (sig == SIGXFSZ) {
		/* A program may send itself the signal; one that the kernel sent it for leaves a file of that size. */
		if (run->peak_disk_bytes >= run->policy.file_size_bytes)
			fired(run, FH_VERDICT_DISK, FH_AXIS_FILE_SIZE, run->policy.file_size_bytes);
		say(r, "ended by SIGXFSZ, which the kernel sends for a file larger than %s; raise --file-size if it should",
		    amount(run, "file_size", text, sizeof(text)));
	} else if (sig == SIGSYS) {
		r->verdict = FH_VERDICT_POLICY;
		r->status = 123;
		say(r, "ended by SIGSYS, as the system call filter does to a system call of a foreign ABI");
	}
}

static void tell_own_end(struct fh_run *run)
{
	struct fh_result *r = run->result;
	int status = run->program_status;

	if (WIFSIGNALED(status)) {
		tell_signal(run, WTERMSIG(status));
		return;
	}
	r->exit_code = WEXITSTATUS(status);
	r->status = r->exit_code;
	r->verdict = r->exit_code == 0 ? FH_VERDICT_OK : FH_VERDICT_EXIT;
}

static void decide(struct fh_run *run, const struct fh_cgroup_usage *usage)
{
	struct fh_result *r = run->result;
	enum fh_axis axis;
	uint64_t value = 0;

	for (int i = 0; i < 2 && run->failure.code == 0; i++) {
		int rc = fh_capture_spill_error(run->out[i].capture);
		if (rc < 0)
			fh_fail(&run->failure, rc, "keep all of %s in its spill file", i ? "stderr" : "stdout");
	}
	if (run->failure.code != 0) {
		tell_sandbox(run);
		return;
	}
	if (usage->oom_kills > 0 && (run->cause == FH_CAUSE_NONE || !run->program_ended))
		run->cause = FH_CAUSE_MEMORY;
	if (run->program_ended && run->cause == FH_CAUSE_MEMORY && WIFSIGNALED(run->program_status))
		r->signal = WTERMSIG(run->program_status);
	if (tell_cause(run))
		return;
	if (!run->program_ended) {
		fh_fail(&run->failure, -ECHILD, "%s",
			"the sandbox was killed from outside, by neither its limits nor its caller");
		tell_sandbox(run);
		return;
	}
	tell_own_end(run);
	axis = refused_axis(run, usage, &value);
	if (axis != FH_AXIS_NONE && r->verdict != FH_VERDICT_POLICY && r->limit == FH_AXIS_NONE)
		tell_refused(run, axis, value);
}

static void fill_times(struct fh_run *run, const struct fh_cgroup_usage *usage)
{
	struct fh_result *r = run->result;
	uint64_t end = run->ended_ns ? run->ended_ns : fh_now_ns();

	if (run->exec_seen) {
		r->setup_us = (run->started_ns - run->created_ns) / 1000;
		r->wall_us = end > run->started_ns ? (end - run->started_ns) / 1000 : 0;
	} else {
		r->setup_us = (end - run->created_ns) / 1000;
	}
	r->user_us = (uint64_t)run->user_us;
	r->system_us = (uint64_t)run->system_us;
	if (usage->user_us + usage->system_us > r->user_us + r->system_us) {
		r->user_us = usage->user_us;
		r->system_us = usage->system_us;
	}
	if (r->user_us + r->system_us < run->watched_cpu_us && !run->host->axes.cpu_time)
		r->user_us = run->watched_cpu_us - r->system_us;
	r->peak_memory_bytes = usage->memory_peak_bytes;
	if (r->peak_memory_bytes == 0) {
		r->peak_memory_bytes = (uint64_t)run->maxrss_kb * 1024;
		if (run->peak_memory_bytes > r->peak_memory_bytes)
			r->peak_memory_bytes = run->peak_memory_bytes;
	}
	r->peak_pids = usage->pids_peak > run->peak_pids ? usage->pids_peak : run->peak_pids;
	if (r->peak_pids == 0 && run->exec_seen)
		r->peak_pids = 1;
	r->peak_disk_bytes = run->peak_disk_bytes;
	r->peak_inodes = run->peak_inodes;
}

int fh_verdict_make(struct fh_run *run)
{
	struct fh_cgroup_usage usage;
	struct fh_result *r = run->result;
	int rc = fh_cgroup_read(run->cgroup, &usage);

	if (rc < 0 && run->failure.code == 0)
		fh_fail(&run->failure, rc, "read what the kernel counted of the sandbox");
	memcpy(r->id, run->id, sizeof(r->id));
	r->exit_code = -1;
	if (!r->message)
		r->message = strdup("");
	decide(run, &usage);
	fill_times(run, &usage);
	for (int i = 0; i < 2; i++) {
		struct fh_err ignored;
		if (fh_capture_finish_stream(run->out[i].capture, i ? &r->err : &r->out, &ignored) < 0)
			return -ENOMEM;
	}
	r->chunks = run->chunks;
	r->n_chunks = run->n_chunks;
	r->chunks_truncated = run->chunks_truncated;
	run->chunks = NULL;
	return r->message ? 0 : -ENOMEM;
}
