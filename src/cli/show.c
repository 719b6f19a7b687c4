/* Telling a result: JSON, text for a model, or (live) only what went wrong and, on request, what was enforced. */
#include "cli/drive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "cli/cli.h"
#include "formats/format_text.h"
#include "formats/result_json.h"

#define JSON_BYTES_MAX (1ull << 32)

static int print_json(const struct fh_run_options *o, const struct fh_result *r, int fd)
{
	fh_autobuf text;
	int rc;

	fh_buf_init(&text, JSON_BYTES_MAX);
	rc = fh_result_to_json(r, o->base64 ? FH_RESULT_BASE64 : FH_RESULT_TEXT, &text);
	rc = rc ? rc : fh_buf_addc(&text, '\n');
	return rc ? rc : fh_write_all(fd, text.data, text.len);
}

static int print_text(const struct fh_run_options *o, const struct fh_result *r)
{
	enum fh_text_format format = o->format == FH_FORMAT_OBSERVATION ? FH_TEXT_OBSERVATION
				     : o->format == FH_FORMAT_RETOOL	? FH_TEXT_RETOOL
									: FH_TEXT_RAW;
	struct fh_format_options options;
	struct fh_err err;
	fh_autobuf text;
	int rc;

	fh_buf_init(&text, JSON_BYTES_MAX);
	fh_format_options_init(&options, format);
	rc = fh_format_result(r, &options, &text, &err);
	return rc ? rc : fh_write_all(1, fh_buf_str(&text), text.len);
}

static int write_receipt(const struct fh_run_options *o, const struct fh_result *r)
{
	if (!o->receipt)
		return 0;
	if (strcmp(o->receipt, "-") == 0)
		return print_json(o, r, 2);
	/* Only a file can be cut, and what it held before is no part of this. */
	if (ftruncate(o->receipt_fd, 0) < 0 && errno != EINVAL)
		return -errno;
	return print_json(o, r, o->receipt_fd);
}

static void print_limit(const struct fh_receipt *c, enum fh_axis axis, const char *field)
{
	char text[32];

	fh_field_print(fh_field_find(field), c->limits[axis].value, text, sizeof(text));
	fprintf(stderr, " %s %s (%s)", field, text, fh_means_name(c->limits[axis].means));
}

static void print_account(const struct fh_result *r)
{
	const struct fh_receipt *c = &r->receipt;

	fprintf(stderr, "fumehood: %s in %.0f ms (set up in %.1f ms), level %s, policy %s\n", fh_verdict_name(r->verdict),
		(double)r->wall_us / 1000, (double)r->setup_us / 1000, fh_level_name((enum fh_level)c->level),
		c->policy_name);
	fprintf(stderr, "  walls:  ");
	for (size_t i = 0; i < c->n_mechanisms; i++)
		fprintf(stderr, "%s%s", i ? ", " : "", c->mechanisms[i]);
	fprintf(stderr, "\n  limits:");
	print_limit(c, FH_AXIS_WALL, "wall");
	print_limit(c, FH_AXIS_CPU, "cpu");
	print_limit(c, FH_AXIS_MEMORY, "memory");
	print_limit(c, FH_AXIS_PIDS, "pids");
	print_limit(c, FH_AXIS_DISK, "disk");
	fprintf(stderr, "\n  used:   %.1f ms of processor time, %.1f MiB of memory at most\n",
		(double)(r->user_us + r->system_us) / 1000, (double)r->peak_memory_bytes / (1 << 20));
	for (size_t i = 0; i < c->n_not_enforced; i++)
		fprintf(stderr, "  NOT enforced: %s\n", c->not_enforced[i]);
}

static bool unfinished(const struct fh_stream *s)
{
	return s->bytes_kept > 0 && s->raw[s->bytes_kept - 1] != '\n';
}

static void print_status(const struct fh_run_options *o, const struct fh_result *r)
{
	bool colours = fh_cli_colours(2);
	/* What the program printed may have left the line unfinished. */
	const char *before = !isatty(2) ? "" : unfinished(&r->out) || unfinished(&r->err) ? "\n" : "";

	if (o->quiet || r->verdict == FH_VERDICT_OK || r->verdict == FH_VERDICT_EXIT || !r->message[0])
		return;
	fprintf(stderr, "%s%sfumehood: %s: ", before, colours ? "\033[31m" : "", fh_verdict_name(r->verdict));
	fh_cli_say(r->message);
	fprintf(stderr, "%s\n", colours ? "\033[0m" : "");
}

int fh_cli_show(const struct fh_run_options *o, const struct fh_result *r)
{
	int rc = 0;

	if (o->format == FH_FORMAT_JSON)
		rc = print_json(o, r, 1);
	else if (o->format != FH_FORMAT_LIVE)
		rc = print_text(o, r);
	if (o->format == FH_FORMAT_LIVE)
		print_status(o, r);
	if (o->account && r->has_receipt)
		print_account(r);
	return rc ? rc : write_receipt(o, r);
}
