/* The options of a run, from the command line: the policy's fields (one flag a row of the field table) and the rest. */
#ifndef FH_CLI_OPTIONS_H
#define FH_CLI_OPTIONS_H

#include <stdbool.h>

#include "base/err.h"
#include "policy/policy.h"
#include "run/spec.h"

enum fh_format { FH_FORMAT_LIVE, FH_FORMAT_JSON, FH_FORMAT_OBSERVATION, FH_FORMAT_RETOOL, FH_FORMAT_RAW };

struct fh_run_options {
	struct fh_policy policy;
	enum fh_format format;
	const char *cwd;
	const char *stdin_path; /* "-": ours; NULL: at end of file */
	const char *workspace;
	bool workspace_rw;
	const char *python;     /* `python` only */
	const char *code;       /* -c, `python` and `bash` only */
	const char *spill_dir;  /* whole streams into DIR/stdout and DIR/stderr */
	uint64_t spill_bytes;
	const char *receipt;    /* file for the whole result as JSON; "-": stderr */
	int receipt_fd;         /* that file, once it is open; -1 */
	bool base64, interleave, quiet, account;
	int first;              /* index in argv of the first word after the options */
};

enum fh_option_set { FH_OPTIONS_RUN, FH_OPTIONS_PYTHON, FH_OPTIONS_BASH };

/* Parses argv. 0; 1 when --help was asked for and printed; or a negative errno. Call fh_options_finish always. */
int fh_options_parse(int argc, char **argv, enum fh_option_set set, struct fh_run_options *ret, struct fh_err *err);
void fh_options_finish(struct fh_run_options *o);

#endif
