/* A bench report as a table for people and as JSON. */
#include "cli/bench.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "formats/json_write.h"

/* What happened between a mark and the one before it. */
static const char *const phase_names[FH_MARK_COUNT_] = {
    NULL,
    "lease ids, make control groups",
    "plan",
    "open channels, clone init",
    "map ids, enter control groups",
    "network namespace, root, fork",
    "confine, exec",
    "program",
    "end of init and namespaces",
    "read and remove control groups, result",
};

static void print_times(const struct fh_bench *b, const struct fh_bench_result *r, enum fh_side side,
			struct fh_buf *into)
{
	const struct fh_bench_times *t = &r->side[side];

	if (!b->has[side]) {
		fh_buf_addf(into, "  %-26s %s\n", fh_side_names[side], b->why[side]);
		return;
	}
	fh_buf_addf(into, "  %-26s %8.2f %8.2f %8.2f", fh_side_names[side], t->median_ms, t->p99_ms,
		    t->to_bare);
	if (t->to_bwrap > 0)
		fh_buf_addf(into, " %8.2f", t->to_bwrap);
	else
		fh_buf_addf(into, " %8s", "-");
	fh_buf_addf(into, " %8.2f", t->cpu_ms);
	for (int w = 0; w < FH_BENCH_WIDTHS; w++)
		fh_buf_addf(into, " %7.0f", t->per_second[w]);
	fh_buf_addc(into, '\n');
}

static void print_phases(const struct fh_bench_result *r, struct fh_buf *into)
{
	fh_buf_addf(into, "\n  phases of the engine, median ms\n");
	for (int i = 1; i < FH_MARK_COUNT_; i++)
		fh_buf_addf(into, "    %-40s %8.3f\n", phase_names[i], r->phase_ms[i]);
}

static void print_output(const struct fh_bench_output *o, struct fh_buf *into)
{
	double gib = (double)o->bytes / (1 << 30);

	if (!o->measured)
		return;
	fh_buf_addf(into,
		    "\n%.2f GiB printed: piped into cat %.0f ms (%.2f GiB/s), under fumehood run %.0f ms "
		    "(%.2f GiB/s): "
		    "%.2f x the speed\n"
		    "  supervisor memory: %.1f MiB after a tenth of it, %.1f MiB at most\n",
		    gib, o->pipe_ms, gib / o->pipe_ms * 1e3, o->sandbox_ms, gib / o->sandbox_ms * 1e3,
		    o->ratio, (double)o->memory_early_kib / 1024, (double)o->memory_kib / 1024);
}

int fh_bench_print(const struct fh_bench *b, const struct fh_bench_report *report, struct fh_buf *into)
{
	struct utsname name = {0};

	uname(&name);
	fh_buf_addf(into,
		    "fumehood %s bench: %u rounds in turn, %ld processors, Linux %s, uid %u. Times in ms.\n",
		    FH_VERSION, b->rounds, sysconf(_SC_NPROCESSORS_ONLN), name.release, (unsigned)geteuid());
	for (int i = 0; i < FH_BENCH_TASKS; i++) {
		const struct fh_bench_result *r = &report->tasks[i];
		if (!r->measured)
			continue;
		fh_buf_addf(into, "\n%-28s %8s %8s %8s %8s %8s   runs a second at %u, %u, %u at a time\n",
			    r->task->label, "median", "p99", "x bare", "x bwrap", "cpu", fh_bench_widths[0],
			    fh_bench_widths[1], fh_bench_widths[2]);
		for (int side = 0; side < FH_SIDE_COUNT_; side++)
			print_times(b, r, (enum fh_side)side, into);
		if (b->phases && b->has[FH_SIDE_ENGINE])
			print_phases(r, into);
	}
	fh_buf_addf(into, "\nmemory beside an idle program, MiB:");
	for (int side = 0; side < FH_SIDE_COUNT_; side++)
		if (report->idle_kib[side])
			fh_buf_addf(into, "  %s %.1f", fh_side_names[side],
				    (double)report->idle_kib[side] / 1024);
	fh_buf_addc(into, '\n');
	print_output(&report->output, into);
	return into->overflow ? -1 : 0;
}

static void json_number(struct fh_json *j, const char *key, double value)
{
	fh_json_key(j, key);
	fh_json_thousandths(j, value > 0 ? (uint64_t)(value * 1000 + 0.5) : 0);
}

static void json_side(struct fh_json *j, const struct fh_bench *b, const struct fh_bench_report *report,
		      const struct fh_bench_result *r, int side)
{
	const struct fh_bench_times *t = &r->side[side];

	fh_json_open_object(j);
	fh_json_key(j, "side");
	fh_json_string(j, fh_side_names[side]);
	if (!b->has[side]) {
		fh_json_key(j, "missing");
		fh_json_string(j, b->why[side]);
		fh_json_close_object(j);
		return;
	}
	json_number(j, "median_ms", t->median_ms);
	json_number(j, "p99_ms", t->p99_ms);
	json_number(j, "cpu_ms", t->cpu_ms);
	json_number(j, "ratio_bare", t->to_bare);
	if (t->to_bwrap > 0)
		json_number(j, "ratio_bubblewrap", t->to_bwrap);
	fh_json_key(j, "per_second");
	fh_json_open_object(j);
	for (int w = 0; w < FH_BENCH_WIDTHS; w++) {
		char key[16];
		snprintf(key, sizeof(key), "%u", fh_bench_widths[w]);
		json_number(j, key, t->per_second[w]);
	}
	fh_json_close_object(j);
	if (report->idle_kib[side]) {
		fh_json_key(j, "supervisor_memory_bytes");
		fh_json_u64(j, report->idle_kib[side] * 1024);
	}
	fh_json_close_object(j);
}

static void json_task(struct fh_json *j, const struct fh_bench *b, const struct fh_bench_report *report,
		      const struct fh_bench_result *r)
{
	fh_json_open_object(j);
	fh_json_key(j, "program");
	fh_json_string(j, r->task->label);
	fh_json_key(j, "sides");
	fh_json_open_array(j);
	for (int side = 0; side < FH_SIDE_COUNT_; side++)
		json_side(j, b, report, r, side);
	fh_json_close_array(j);
	fh_json_key(j, "phases_ms");
	fh_json_open_object(j);
	for (int i = 1; i < FH_MARK_COUNT_; i++)
		json_number(j, phase_names[i], r->phase_ms[i]);
	fh_json_close_object(j);
	fh_json_close_object(j);
}

static void json_output(struct fh_json *j, const struct fh_bench_output *o)
{
	fh_json_open_object(j);
	fh_json_key(j, "bytes");
	fh_json_u64(j, o->bytes);
	json_number(j, "pipe_ms", o->pipe_ms);
	json_number(j, "sandbox_ms", o->sandbox_ms);
	json_number(j, "speed_ratio", o->ratio);
	fh_json_key(j, "supervisor_memory_early_bytes");
	fh_json_u64(j, o->memory_early_kib * 1024);
	fh_json_key(j, "supervisor_memory_bytes");
	fh_json_u64(j, o->memory_kib * 1024);
	fh_json_close_object(j);
}

int fh_bench_print_json(const struct fh_bench *b, const struct fh_bench_report *report, struct fh_buf *into)
{
	struct utsname name = {0};
	struct fh_json j;

	uname(&name);
	fh_json_init(&j, into);
	j.indented = true;
	fh_json_open_object(&j);
	fh_json_key(&j, "version");
	fh_json_string(&j, FH_VERSION);
	fh_json_key(&j, "kernel");
	fh_json_string(&j, name.release);
	fh_json_key(&j, "processors");
	fh_json_i64(&j, sysconf(_SC_NPROCESSORS_ONLN));
	fh_json_key(&j, "uid");
	fh_json_u64(&j, geteuid());
	fh_json_key(&j, "rounds");
	fh_json_u64(&j, b->rounds);
	fh_json_key(&j, "programs");
	fh_json_open_array(&j);
	for (int i = 0; i < FH_BENCH_TASKS; i++)
		if (report->tasks[i].measured)
			json_task(&j, b, report, &report->tasks[i]);
	fh_json_close_array(&j);
	if (report->output.measured) {
		fh_json_key(&j, "output");
		json_output(&j, &report->output);
	}
	fh_json_close_object(&j);
	return fh_json_finish(&j) < 0 || fh_buf_addc(into, '\n') < 0 ? -1 : 0;
}
