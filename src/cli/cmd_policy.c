/* `fumehood policy`: show, check, explain, schema. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "cli/cli.h"
#include "formats/policy_file.h"
#include "formats/policy_json.h"
#include "formats/schema.h"
#include "policy/policy.h"
#include "policy/words.h"

static const char usage_text[] =
	"usage: fumehood policy show [FILE]      the policy in full, as JSON; without FILE the default\n"
	"       fumehood policy check FILE       is it valid? one line, exit status 0 or 125\n"
	"       fumehood policy explain [FILE]   in plain words, what a run under it can and cannot do\n"
	"       fumehood policy schema           the JSON Schema of policy files\n";

static int print(struct fh_buf *text)
{
	if (text->overflow || (text->len && text->data[text->len - 1] != '\n' && fh_buf_addc(text, '\n') < 0) || fh_write_all(1, text->data, text->len) < 0) {
		fprintf(stderr, "fumehood: print the policy: %s\n", strerror(errno));
		return FH_STATUS_ERROR;
	}
	return FH_STATUS_OK;
}

static int act_on(const char *what, const char *file, const struct fh_policy *policy)
{
	fh_autobuf text;

	fh_buf_init(&text, 1u << 20);
	if (strcmp(what, "check") == 0)
		return printf("%s: valid\n", file) < 0 || fflush(stdout) ? FH_STATUS_ERROR : FH_STATUS_OK;
	if (strcmp(what, "show") == 0)
		return fh_policy_to_json(policy, FH_POLICY_JSON_INDENTED, &text) < 0 ? FH_STATUS_ERROR : print(&text);
	return fh_policy_explain(policy, &text) < 0 ? FH_STATUS_ERROR : print(&text);
}

static int print_schema(void)
{
	fh_autobuf text;

	fh_buf_init(&text, 1u << 20);
	fh_schema_print(&text);
	return print(&text);
}

static int understood(int argc, const char *what, struct fh_err *err)
{
	char shown[FH_SHOWN_CAP];

	if (!*what)
		fh_usage(err, "policy wants a word of these:");
	else if (strcmp(what, "show") && strcmp(what, "check") && strcmp(what, "explain") && strcmp(what, "schema"))
		fh_usage(err, "there is no policy %s", fh_show(what, shown));
	else if (argc > 3 || strcmp(what, "schema") == 0)
		fh_usage(err, "policy %s takes %s", what, strcmp(what, "schema") == 0 ? "no file" : "one file");
	else if (strcmp(what, "check") == 0 && argc < 3)
		fh_usage(err, "policy check wants a file");
	return err->code == 0;
}

int fh_cmd_policy(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *file = argc > 2 ? argv[2] : NULL;
	struct fh_policy policy;
	struct fh_err err = {0};
	int rc = 0;

	if (strcmp(what, "--help") == 0 || strcmp(what, "-h") == 0) {
		fputs(usage_text, stdout);
		return FH_STATUS_OK;
	}
	if (strcmp(what, "schema") == 0 && argc == 2)
		return print_schema();
	if (!understood(argc, what, &err)) {
		fprintf(stderr, "fumehood: %s\n%s", err.message, usage_text);
		return FH_STATUS_ERROR;
	}
	fh_policy_init(&policy);
	if (file)
		rc = fh_policy_read_file(file, &policy, &err);
	rc = rc ? rc : fh_policy_check(&policy, &err);
	rc = rc < 0 ? fh_cli_error(&err) : act_on(what, file, &policy);
	fh_policy_finish(&policy);
	return rc;
}
