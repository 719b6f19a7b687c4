/* The rest of the C API: engine, policies, results as text. Each is a thin cover over one room. Runs are the
 * run room's own functions, which the public header declares with the same meaning. */
#include <errno.h>
#include <stdlib.h>

#include "base/own.h"
#include "formats/format_text.h"
#include "formats/policy_file.h"
#include "formats/policy_json.h"
#include "formats/result_json.h"
#include "fumehood/fumehood.h"
#include "lib/program.h"
#include "run/doctor.h"
#include "run/run.h"

#define TEXT_BYTES_MAX (1ull << 32)

struct fh_engine {
	struct fh_host *host;
};

const char *fh_version(void)
{
	return FH_VERSION;
}

int fh_engine_open(struct fh_engine **ret_engine, struct fh_err *err)
{
	struct fh_engine *e = calloc(1, sizeof(*e));
	int rc = e ? fh_host_open(&e->host, err) : fh_fail(err, -ENOMEM, "take memory for an engine");

	if (rc < 0) {
		free(e);
		return rc;
	}
	*ret_engine = e;
	return 0;
}

void fh_engine_close(struct fh_engine *engine)
{
	if (!engine)
		return;
	fh_host_close(engine->host);
	free(engine);
}

int fh_engine_start(struct fh_engine *engine, const struct fh_policy *policy, struct fh_program *program,
		    struct fh_run **ret_run, struct fh_err *err)
{
	int rc;

	if (!program->spec.argv)
		return fh_usage(err,
				"the program has nothing to run: set a command, a shell or a Python program");
	fh_program_hold(program);
	rc = fh_run_start(engine->host, policy, &program->spec, ret_run, err);
	if (rc < 0)
		fh_program_destroy(program);
	return rc;
}

int fh_policy_create(struct fh_policy **ret_policy, struct fh_err *err)
{
	struct fh_policy *p = malloc(sizeof(*p));

	if (!p)
		return fh_fail(err, -ENOMEM, "take memory for a policy");
	fh_policy_init(p);
	*ret_policy = p;
	return 0;
}

void fh_policy_destroy(struct fh_policy *policy)
{
	if (!policy)
		return;
	fh_policy_finish(policy);
	free(policy);
}

int fh_policy_load(struct fh_policy *policy, const char *path, struct fh_err *err)
{
	return fh_policy_read_file(path, policy, err);
}

void fh_policy_allow_weaker(struct fh_policy *policy)
{
	policy->allow_weaker = 1;
}

/* Hands a text over when it came out whole. */
static int hand_over(int rc, struct fh_buf *text, char **ret_text, const char *what, struct fh_err *err)
{
	char *whole;

	if (rc < 0)
		return fh_fail(err, rc, "write %s", what);
	whole = fh_buf_take(text);
	if (!whole)
		return fh_fail(err, -ENOMEM, "write %s", what);
	*ret_text = whole;
	return 0;
}

int fh_policy_words(const struct fh_policy *policy, char **ret_text, struct fh_err *err)
{
	fh_autobuf text;

	fh_buf_init(&text, TEXT_BYTES_MAX);
	return hand_over(fh_policy_explain(policy, &text), &text, ret_text, "the policy in words", err);
}

int fh_policy_json(const struct fh_policy *policy, char **ret_text, struct fh_err *err)
{
	fh_autobuf text;

	fh_buf_init(&text, TEXT_BYTES_MAX);
	return hand_over(fh_policy_to_json(policy, FH_POLICY_JSON_LINE, &text), &text, ret_text,
			 "the policy as JSON", err);
}

int fh_result_json(const struct fh_result *result, unsigned flags, char **ret_text, struct fh_err *err)
{
	fh_autobuf text;
	enum fh_result_bytes bytes = flags & FH_JSON_BASE64 ? FH_RESULT_BASE64 : FH_RESULT_TEXT;

	fh_buf_init(&text, TEXT_BYTES_MAX);
	if (flags & ~FH_JSON_BASE64)
		return fh_usage(err, "unknown flags %#x", flags & ~FH_JSON_BASE64);
	return hand_over(fh_result_to_json(result, bytes, &text), &text, ret_text, "the result as JSON", err);
}

int fh_result_text(const struct fh_result *result, const char *format, size_t budget, char **ret_text,
		   struct fh_err *err)
{
	fh_autobuf text;
	struct fh_format_options options;
	enum fh_text_format which;
	int rc = fh_format_parse(format, &which, err);

	fh_buf_init(&text, TEXT_BYTES_MAX);
	if (rc < 0)
		return rc;
	fh_format_options_init(&options, which);
	options.budget = budget;
	rc = fh_format_result(result, &options, &text, err);
	return rc < 0 ? rc : hand_over(0, &text, ret_text, "the result as text", err);
}

int fh_doctor_json(char **ret_text, struct fh_err *err)
{
	fh_autobuf text;
	struct fh_doctor *doctor = malloc(sizeof(*doctor)); /* too large for the stack of some threads */
	int rc = doctor ? fh_doctor_look(doctor, err) : fh_fail(err, -ENOMEM, "look at this host");

	fh_buf_init(&text, TEXT_BYTES_MAX);
	if (rc == 0)
		rc = hand_over(fh_doctor_to_json(doctor, &text), &text, ret_text, "what was found", err);
	free(doctor);
	return rc;
}
