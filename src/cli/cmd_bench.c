/* `fumehood bench`: what isolation costs on this host, beside a bare spawn and bubblewrap. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "cli/bench.h"
#include "cli/cli.h"

#define REPORT_BYTES_MAX (1u << 20)

static const char usage_text[] =
    "usage: fumehood bench [OPTIONS]\n"
    "\n"
    "Runs small programs bare, under bubblewrap and under fumehood, in turn, and compares medians; then "
    "prints many\n"
    "bytes through the sandbox. Takes some minutes; --quick about half a minute.\n"
    "\n"
    "  --quick        fewer rounds, less output\n"
    "  --runs N       rounds of each program (default 200, with --quick 30)\n"
    "  --only WHAT    one part: true, bash, python, output\n"
    "  --phases       also where the time of a run goes\n"
    "  --json         the report as JSON\n"
    "  -h, --help     this text\n";

static const char *const true_words[] = {"true", NULL};
static const char *const bash_words[] = {"bash", "-c", "true", NULL};
static const char *const python_words[] = {"/usr/bin/python3", "-c", "print(2+3)", NULL};
static const struct {
	const char *name;
	struct fh_bench_task task;
} tasks[FH_BENCH_TASKS] = {
    {"true", {"true", true_words}},
    {"bash", {"bash -c true", bash_words}},
    {"python", {"python3 -c 'print(2+3)'", python_words}},
};

static int read_options(int argc, char **argv, struct fh_bench *b, const char **ret_only, struct fh_err *err)
{
	static const struct option table[] = {
	    {"quick", no_argument, NULL, 'q'},
	    {"runs", required_argument, NULL, 'r'},
	    {"only", required_argument, NULL, 'o'},
	    {"phases", no_argument, NULL, 'p'},
	    {"json", no_argument, NULL, 'j'},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	unsigned long rounds = 0;
	char *end;
	int c;

	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
		switch (c) {
		case 'q':
			b->quick = true;
			break;
		case 'r':
			rounds = strtoul(optarg, &end, 10);
			if (*optarg < '0' || *optarg > '9' || *end || rounds < 1 ||
			    rounds > FH_BENCH_ROUNDS_MAX)
				return fh_usage(err, "--runs takes a number from 1 to %d, not '%s'",
						FH_BENCH_ROUNDS_MAX, optarg);
			break;
		case 'o':
			*ret_only = optarg;
			break;
		case 'p':
			b->phases = true;
			break;
		case 'j':
			b->json = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			return 1;
		default:
			return fh_usage(err, "there is no such use of '%s'; --help lists the options",
					argv[optind - 1]);
		}
	}
	if (optind < argc)
		return fh_usage(err, "'%s' is too much; --help lists the options", argv[optind]);
	b->rounds = rounds ? (unsigned)rounds : b->quick ? 30 : 200;
	b->output_bytes = b->quick ? 1ull << 30 : 5ull << 30;
	return 0;
}

/* Somebody may look on: say what is going on, since it takes a while. */
static void progress(const char *what)
{
	if (isatty(2))
		fprintf(stderr, "fumehood: measuring %s\n", what);
}

static int measure_all(struct fh_bench *b, const char *only, struct fh_bench_report *report,
		       struct fh_err *err)
{
	bool known = !only || strcmp(only, "output") == 0;
	int rc = 0;

	for (int i = 0; rc == 0 && i < FH_BENCH_TASKS; i++) {
		const struct fh_bench_task *task = &tasks[i].task;
		if (only && strcmp(only, tasks[i].name) != 0)
			continue;
		known = true;
		if (task->argv[0][0] == '/' && access(task->argv[0], X_OK) < 0) {
			fprintf(stderr, "fumehood: no %s here: it is not measured\n", task->argv[0]);
			continue;
		}
		progress(task->label);
		rc = fh_bench_measure(b, task, &report->tasks[i], err);
	}
	if (!known)
		return fh_usage(err, "--only takes true, bash, python or output, not '%s'", only);
	rc = rc ? rc : fh_bench_idle(b, report, err);
	if (rc == 0 && (!only || strcmp(only, "output") == 0)) {
		progress("output");
		rc = fh_bench_output(b, &report->output, err);
	}
	return rc;
}

static int print(const struct fh_bench *b, const struct fh_bench_report *report, struct fh_err *err)
{
	fh_autobuf text;
	int rc;

	fh_buf_init(&text, REPORT_BYTES_MAX);
	rc = b->json ? fh_bench_print_json(b, report, &text) : fh_bench_print(b, report, &text);
	rc = rc < 0 ? -ENOMEM : fh_write_all(1, text.data, text.len);
	return rc < 0 ? fh_fail(err, rc, "print the report") : 0;
}

int fh_cmd_bench(int argc, char **argv)
{
	struct fh_bench b = {.null_fd = -1};
	struct fh_bench_report report = {0};
	struct fh_err err = {0};
	const char *only = NULL;
	int rc = read_options(argc, argv, &b, &only, &err);

	if (rc > 0)
		return FH_STATUS_OK;
	if (rc == 0) {
		rc = fh_bench_open(&b, &err);
		rc = rc ? rc : measure_all(&b, only, &report, &err);
		rc = rc ? rc : print(&b, &report, &err);
		fh_bench_close(&b);
	}
	return rc < 0 ? fh_cli_error(&err) : FH_STATUS_OK;
}
