/* `fumehood doctor`: what this host can enforce, for a person in a minute or for a program as JSON. Exit
 * status 0 when the default level holds, 1 when it does not. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/own.h"
#include "cli/cli.h"
#include "policy/policy.h"
#include "run/doctor.h"

static const char usage_text[] = "usage: fumehood doctor [--json]\n"
				 "\n"
				 "Tries what this host can enforce: gaps with the command that mends each, "
				 "then each level and what holds each limit\n"
				 "there. Exit status: 0 when the default level (namespace) holds here, 1 "
				 "when it does not, 125 when it could not look.\n";

struct paint {
	const char *bold, *good, *bad, *weak, *dim, *off;
};

static const struct paint colours = {"\033[1m", "\033[32m", "\033[31m", "\033[33m", "\033[2m", "\033[0m"};
static const struct paint plain = {"", "", "", "", "", ""};

static void print_verdict(const struct fh_doctor *d, const struct paint *p)
{
	if (d->holds)
		printf("%sThe default level (namespace) holds on this host.%s\n", p->good, p->off);
	else
		printf("%sThe default level (namespace) does not hold on this host.%s %s\n", p->bad, p->off,
		       d->levels[FH_LEVEL_PROCESS - 1].holds
			   ? "Level process does: fumehood run --level process."
			   : "Neither does level process.");
}

static void print_gaps(const struct fh_doctor *d, const struct paint *p)
{
	static const enum fh_check_state worst_first[] = {FH_CHECK_MISSING, FH_CHECK_WEAKER};

	for (size_t s = 0; s < FH_ARRAY_LEN(worst_first); s++)
		for (size_t i = 0; i < d->n_checks; i++) {
			const struct fh_check *c = &d->checks[i];
			if (c->state != worst_first[s])
				continue;
			printf("\n%s%s%s  %s%s%s\n", c->state == FH_CHECK_MISSING ? p->bad : p->weak,
			       fh_check_state_name(c->state), p->off, p->bold, c->found, p->off);
			if (c->matters[0])
				printf("         %s\n", c->matters);
			if (c->fix[0])
				printf("         fix: %s\n", c->fix);
		}
}

static void print_levels(const struct fh_doctor *d, const struct paint *p)
{
	printf("\n%slevel%s\n", p->bold, p->off);
	for (int i = 0; i < 4; i++) {
		const struct fh_doctor_level *l = &d->levels[i];

		printf("  %d %-10s ", l->level, fh_level_name((enum fh_level)l->level));
		if (!l->available)
			printf("%snot available yet%s\n", p->dim, p->off);
		else if (l->holds)
			printf("%sholds%s, set up in %.1f ms\n", p->good, p->off, (double)l->setup_us / 1000);
		else
			printf("%sdoes not hold%s: %s\n", p->bad, p->off, l->message);
		if (l->weaker[0])
			printf("               with --allow-weaker it runs, without: %s\n", l->weaker);
	}
}

static void print_limits(const struct fh_doctor *d, const struct paint *p)
{
	const struct fh_doctor_level *one = &d->levels[FH_LEVEL_PROCESS - 1],
				     *two = &d->levels[FH_LEVEL_NAMESPACE - 1];

	if (!one->holds && !two->holds)
		return;
	printf("\n%s%-12s %-10s %-10s%s\n", p->bold, "limit", "process", "namespace", p->off);
	for (int a = FH_AXIS_NONE + 1; a < FH_AXIS_COUNT_; a++)
		printf("  %-10s %-10s %s\n", fh_axis_name((enum fh_axis)a),
		       one->holds ? fh_means_name(one->means[a]) : "-",
		       two->holds ? fh_means_name(two->means[a]) : "-");
}

static void print_rest(const struct fh_doctor *d, const struct paint *p)
{
	printf("\n%shost%s\n  Linux %s %s, uid %u%s, control groups: %s\n", p->bold, p->off, d->kernel,
	       d->machine, d->uid, d->nested_userns ? " in a user namespace" : "", d->cgroup_shape);
	for (size_t i = 0; i < d->n_checks; i++)
		if (d->checks[i].state == FH_CHECK_OK)
			printf("  %sok%s    %s\n", p->good, p->off, d->checks[i].found);
	for (size_t i = 0; i < d->n_checks; i++)
		if (d->checks[i].state == FH_CHECK_NOTE)
			printf("  note  %s%s%s\n", d->checks[i].found, d->checks[i].matters[0] ? ": " : "",
			       d->checks[i].matters);
}

static int print_json(const struct fh_doctor *d)
{
	fh_autobuf text;
	int rc;

	fh_buf_init(&text, 1u << 20);
	rc = fh_doctor_to_json(d, &text);
	rc = rc ? rc : fh_buf_addc(&text, '\n');
	return rc ? rc : fh_write_all(1, text.data, text.len);
}

int fh_cmd_doctor(int argc, char **argv)
{
	const struct paint *p = fh_cli_colours(1) ? &colours : &plain;
	bool json = argc == 2 && strcmp(argv[1], "--json") == 0;
	struct fh_doctor doctor;
	struct fh_err err = {0};
	int rc;

	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		fputs(usage_text, stdout);
		return fflush(stdout) ? FH_STATUS_ERROR : FH_STATUS_OK;
	}
	if (argc > 1 && !json) {
		fprintf(stderr, "fumehood: doctor takes nothing but --json\n%s", usage_text);
		return FH_STATUS_ERROR;
	}
	if (fh_doctor_look(&doctor, &err) < 0)
		return fh_cli_error(&err);
	if (json) {
		rc = print_json(&doctor);
	} else {
		print_verdict(&doctor, p);
		print_gaps(&doctor, p);
		print_levels(&doctor, p);
		print_limits(&doctor, p);
		print_rest(&doctor, p);
		rc = fflush(stdout);
	}
	if (rc != 0) {
		fprintf(stderr, "fumehood: what was found could not be printed\n");
		return FH_STATUS_ERROR;
	}
	return doctor.holds ? 0 : 1;
}
