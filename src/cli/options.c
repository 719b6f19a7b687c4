/* Command line options; see options.h. The flags of the policy come from its field table, with `--memory` for "memory"
 * and `--file-size` for "file_size"; --help prints both tables. */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "formats/policy_file.h"
#include "policy/words.h"

enum { OPT_FIELD = 1000, OPT_OTHER = 2000 };

#define NAMES_MAX 64

enum other {
	O_POLICY,
	O_ALLOW_WEAKER,
	O_ENV,
	O_CWD,
	O_STDIN,
	O_WORKSPACE,
	O_WORKSPACE_RW,
	O_BIND,
	O_PYTHON,
	O_JSON,
	O_FORMAT,
	O_BASE64,
	O_INTERLEAVE,
	O_RECEIPT,
	O_SPILL,
	O_SPILL_MAX,
	O_ACCOUNT,
	O_QUIET,
	O_HELP,
};

struct other_option {
	const char *name;
	enum other id;
	int has_arg;
	const char *arg, *help;
};

static const struct other_option others[] = {
	{"policy", O_POLICY, 1, "FILE", "read a policy file (JSON or YAML); flags override it, wherever they stand"},
	{"allow-weaker", O_ALLOW_WEAKER, 0, NULL,
	 "run even where this host cannot enforce all that was asked; the receipt says what was not"},
	{"env", O_ENV, 1, "NAME=VALUE", "add to the program's environment; nothing of ours is passed otherwise"},
	{"cwd", O_CWD, 1, "PATH", "where it starts, inside the sandbox (default: the workspace, /work)"},
	{"stdin", O_STDIN, 1, "FILE|-", "what it reads as input (default: nothing, at end of file)"},
	{"workspace", O_WORKSPACE, 1, "DIR", "show this folder as /work; its changes are thrown away at the end"},
	{"workspace-rw", O_WORKSPACE_RW, 1, "DIR", "the same, but its changes are made in the folder itself"},
	{"bind", O_BIND, 1, "SRC:DST[:ro|:rw]", "show a path of this host inside (read-only unless :rw)"},
	{"python", O_PYTHON, 1, "PATH", "the interpreter: system, venv, pyenv (default: the first usable python3 on PATH)"},
	{"json", O_JSON, 0, NULL, "print the whole result as one JSON object, with the receipt"},
	{"format", O_FORMAT, 1, "NAME", "print it as text for a model: observation, retool or raw"},
	{"base64", O_BASE64, 0, NULL, "with --json: the kept bytes exactly as printed, too"},
	{"interleave", O_INTERLEAVE, 0, NULL, "with --json: the order in which pieces of both streams arrived"},
	{"receipt", O_RECEIPT, 1, "FILE|-", "also write the whole result as JSON to a file (-: standard error)"},
	{"spill", O_SPILL, 1, "DIR", "also keep all it prints, in DIR/stdout and DIR/stderr; DIR must be there"},
	{"spill-max", O_SPILL_MAX, 1, "SIZE", "at most this much of each stream (default: 1G)"},
	{"account", O_ACCOUNT, 0, NULL, "print a short account of what was enforced, on standard error"},
	{"quiet", O_QUIET, 0, NULL, "no status line when the program did not end well"},
	{"help", O_HELP, 0, NULL, "this text"},
};

static void flag_name(const struct fh_field *f, char *into, size_t cap)
{
	snprintf(into, cap, "%s", f->name);
	for (char *p = into; *p; p++)
		if (*p == '_')
			*p = '-';
}

static bool fits(const struct other_option *o, enum fh_option_set set)
{
	return o->id != O_PYTHON || set == FH_OPTIONS_PYTHON;
}

/* Prints `text` in lines of at most `width` columns, each after `indent` spaces but the first. */
static void print_wrapped(const char *text, int indent, int width)
{
	int column = 0;

	while (*text) {
		int word = (int)strcspn(text, " ");
		if (column > 0 && column + 1 + word > width) {
			printf("\n%*s", indent, "");
			column = 0;
		}
		column += printf("%s%.*s", column ? " " : "", word, text);
		text += word;
		while (*text == ' ')
			text++;
	}
	printf("\n");
}

static void print_help(enum fh_option_set set)
{
	static const char *const forms[] = {
		"usage: fumehood run [OPTIONS] [--] CMD [ARG...]",
		"usage: fumehood python [OPTIONS] (-c CODE | FILE | -) [ARG...]",
		"usage: fumehood bash [OPTIONS] (-c CODE | FILE | -) [ARG...]",
	};
	char left[96], standard[32], name[64];

	printf("%s\n\nWhat it may do and use:\n", forms[set]);
	for (size_t i = 0; i < fh_fields_count; i++) {
		fh_autofree char *help = NULL;
		flag_name(&fh_fields[i], name, sizeof(name));
		snprintf(left, sizeof(left), "--%s %s", name, fh_fields[i].unit);
		fh_field_print(&fh_fields[i], fh_fields[i].standard, standard, sizeof(standard));
		if (asprintf(&help, "%s (default: %s)", fh_fields[i].help, standard) < 0)
			return;
		printf("  %-28s", left);
		print_wrapped(help, 30, 78);
	}
	printf("\nHow it is run and told:\n");
	if (set != FH_OPTIONS_RUN) {
		printf("  %-28s", "-c CODE");
		print_wrapped("the program itself, of any length", 30, 78);
	}
	for (size_t i = 0; i < FH_ARRAY_LEN(others); i++) {
		if (!fits(&others[i], set))
			continue;
		snprintf(left, sizeof(left), "--%s%s%s", others[i].name, others[i].arg ? " " : "",
			 others[i].arg ? others[i].arg : "");
		printf("  %-28s", left);
		print_wrapped(others[i].help, 30, 78);
	}
	printf("\nExit status: the program's own; 124 wall limit, 123 another limit, 125 an error of fumehood or its\n"
	       "use, 126 cannot be executed, 127 not found, 128+n ended by signal n.\n");
}

static int set_format(struct fh_run_options *o, const char *name, struct fh_err *err)
{
	static const struct {
		const char *name;
		enum fh_format format;
	} rows[] = {{"observation", FH_FORMAT_OBSERVATION},
		    {"retool", FH_FORMAT_RETOOL},
		    {"raw", FH_FORMAT_RAW},
		    {"json", FH_FORMAT_JSON}};

	for (size_t i = 0; i < FH_ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, name) == 0) {
			o->format = rows[i].format;
			return 0;
		}
	return fh_usage(err, "there is no format '%s'; it is one of observation, retool, raw, json", name);
}

/* Sizes that are no policy field are read by the same reader: through a scratch policy's file_size. */
static int set_size(uint64_t *into, const char *flag, const char *text, struct fh_err *err)
{
	struct fh_policy scratch;
	int rc;

	fh_policy_init(&scratch);
	rc = fh_policy_set(&scratch, "file_size", text, err);
	if (rc == 0)
		*into = scratch.file_size_bytes;
	fh_policy_finish(&scratch);
	return rc < 0 ? fh_usage(err, "--%s takes a size such as 512M, not '%s'", flag, text) : 0;
}

static int set_workspace(struct fh_run_options *o, const char *dir, bool rw, struct fh_err *err)
{
	if (o->workspace)
		return fh_usage(err, "give --workspace or --workspace-rw once");
	if (!*dir)
		return fh_usage(err, "the workspace is empty");
	o->workspace = dir;
	o->workspace_rw = rw;
	return 0;
}

static int set_other(struct fh_run_options *o, enum other id, const char *arg, struct fh_err *err)
{
	switch (id) {
	case O_POLICY: /* read before all others */
		return 0;
	case O_ALLOW_WEAKER:
		o->policy.allow_weaker = 1;
		return 0;
	case O_ENV:
		return fh_policy_add_env(&o->policy, arg, err);
	case O_CWD:
		o->cwd = arg;
		return *arg ? 0 : fh_usage(err, "the working folder is empty");
	case O_STDIN:
		o->stdin_path = arg;
		return 0;
	case O_WORKSPACE:
	case O_WORKSPACE_RW:
		return set_workspace(o, arg, id == O_WORKSPACE_RW, err);
	case O_BIND:
		return fh_policy_add_bind(&o->policy, arg, err);
	case O_PYTHON:
		o->python = arg;
		return 0;
	case O_JSON:
		o->format = FH_FORMAT_JSON;
		return 0;
	case O_FORMAT:
		return set_format(o, arg, err);
	case O_BASE64:
		o->base64 = true;
		return 0;
	case O_INTERLEAVE:
		o->interleave = true;
		return 0;
	case O_RECEIPT:
		o->receipt = arg;
		return 0;
	case O_SPILL:
		o->spill_dir = arg;
		return 0;
	case O_SPILL_MAX:
		return set_size(&o->spill_bytes, "spill-max", arg, err);
	case O_ACCOUNT:
		o->account = true;
		return 0;
	case O_QUIET:
		o->quiet = true;
		return 0;
	case O_HELP:
		break;
	}
	return 0;
}

/* One getopt table from both of ours. */
static struct option *long_options(enum fh_option_set set, char (**ret_names)[64])
{
	size_t n = fh_fields_count + FH_ARRAY_LEN(others) + 1, at = 0;
	struct option *table = calloc(n, sizeof(*table));
	char(*names)[64] = calloc(fh_fields_count, sizeof(*names));

	*ret_names = names;
	if (!table || !names)
		return table;
	for (size_t i = 0; i < fh_fields_count; i++) {
		flag_name(&fh_fields[i], names[i], sizeof(names[i]));
		table[at++] = (struct option){names[i], required_argument, NULL, OPT_FIELD + (int)i};
	}
	for (size_t i = 0; i < FH_ARRAY_LEN(others); i++)
		if (fits(&others[i], set))
			table[at++] = (struct option){others[i].name, others[i].has_arg, NULL, OPT_OTHER + others[i].id};
	return table;
}

/* What getopt does not know: a slip, a value that is not wanted, or a beginning of several names. */
static int unknown_option(const struct option *table, const char *word, struct fh_err *err)
{
	const char *names[NAMES_MAX], *near;
	char typed[64], shown[FH_SHOWN_CAP];
	size_t n = 0, begin_so = 0, length = strcspn(word, "=");

	if (length < 2 || length - 2 >= sizeof(typed))
		return fh_usage(err, "there is no option %s; --help lists them", fh_show(word, shown));
	snprintf(typed, sizeof(typed), "%.*s", (int)(length - 2), word + 2);
	for (; table[n].name && n < FH_ARRAY_LEN(names); n++) {
		names[n] = table[n].name;
		begin_so += strncmp(names[n], typed, length - 2) == 0;
		if (strcmp(names[n], typed) == 0)
			return fh_usage(err, "the option '--%s' takes no value", typed);
	}
	if (begin_so > 1)
		return fh_usage(err, "%s is the beginning of %zu options; --help lists them", fh_show(word, shown),
				begin_so);
	near = fh_nearest(typed, names, n);
	if (near)
		return fh_usage(err, "there is no option %s; did you mean '--%s'?", fh_show(word, shown), near);
	return fh_usage(err, "there is no option %s; --help lists them", fh_show(word, shown));
}

/* Policy files are read first, so that a flag never loses to a file for standing in front of it. */
static int read_policies(int argc, char **argv, const char *shorts, const struct option *table,
			 struct fh_policy *policy, struct fh_err *err)
{
	int c, rc = 0;

	optind = 1;
	while (rc == 0 && (c = getopt_long(argc, argv, shorts, table, NULL)) != -1 && c != 'c' && c != '?' && c != ':')
		if (c == OPT_OTHER + O_POLICY)
			rc = fh_policy_read_file(optarg, policy, err);
	return rc;
}

int fh_options_parse(int argc, char **argv, enum fh_option_set set, struct fh_run_options *ret, struct fh_err *err)
{
	fh_autofree char(*names)[64] = NULL;
	fh_autofree struct option *table = long_options(set, &names);
	const char *shorts = set == FH_OPTIONS_RUN ? "+:h" : "+:hc:";
	int c, rc = 0;

	*ret = (struct fh_run_options){.spill_bytes = 1ull << 30, .receipt_fd = -1};
	fh_policy_init(&ret->policy);
	if (!table || !names)
		return fh_fail(err, -ENOMEM, "read the options");
	opterr = 0;
	rc = read_policies(argc, argv, shorts, table, &ret->policy, err);
	optind = 1;
	while (rc == 0 && (c = getopt_long(argc, argv, shorts, table, NULL)) != -1) {
		if (c == 'h' || c == OPT_OTHER + O_HELP) {
			print_help(set);
			return 1;
		}
		if (c == 'c') {
			ret->code = optarg;
			break; /* as for python and sh: what follows belongs to the program */
		}
		if (c == '?' && optopt && optopt < 256)
			return fh_usage(err, "there is no option '-%c'; --help lists them", optopt);
		if (c == '?')
			return unknown_option(table, argv[optind - 1], err);
		if (c == ':')
			return fh_usage(err, "the option '%s' needs a value", argv[optind - 1]);
		if (c >= OPT_OTHER)
			rc = set_other(ret, (enum other)(c - OPT_OTHER), optarg, err);
		else
			rc = fh_policy_set(&ret->policy, fh_fields[c - OPT_FIELD].name, optarg, err);
	}
	ret->first = optind;
	return rc;
}

void fh_options_finish(struct fh_run_options *o)
{
	fh_policy_finish(&o->policy);
}
