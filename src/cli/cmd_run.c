/* `fumehood run`, `python` and `bash`: from words to a spec. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "cli/cli.h"
#include "cli/drive.h"
#include "run/interp.h"

#define PROGRAM_BYTES_MAX (1ull << 30)

int fh_cmd_run(int argc, char **argv)
{
	struct fh_run_options options;
	struct fh_spec spec;
	struct fh_err err = {0};
	int rc = fh_options_parse(argc, argv, FH_OPTIONS_RUN, &options, &err);

	if (rc == 0 && options.first >= argc)
		rc = fh_usage(&err, "no command given: fumehood run [OPTIONS] -- CMD [ARG...]");
	if (rc == 0) {
		fh_spec_init(&spec);
		spec.argv = (const char *const *)argv + options.first;
		rc = fh_cli_drive(&options, &spec);
	} else if (rc < 0) {
		rc = fh_cli_error(&err);
	} else {
		rc = 0;
	}
	fh_options_finish(&options);
	return rc;
}

/* Reads the program: from -c, a file, or standard input. */
static int read_program(const struct fh_run_options *o, int argc, char **argv, struct fh_buf *into, struct fh_err *err)
{
	const char *path = o->code ? NULL : o->first < argc ? argv[o->first] : NULL;
	fh_autofd int opened = -1;
	struct stat st;
	int fd = 0, rc;

	fh_buf_init(into, PROGRAM_BYTES_MAX);
	if (o->code)
		return fh_buf_adds(into, o->code) < 0 ? fh_fail(err, -ENOMEM, "keep the program") : 0;
	if (!path)
		return fh_usage(err, "no program given: -c CODE, a FILE, or - for standard input");
	if (strcmp(path, "-") != 0) {
		fd = opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			return fh_usage(err, "the program '%s' cannot be read: %s", path, strerror(errno));
		if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
			return fh_usage(err, "the program '%s' is a folder", path);
	} else if (o->stdin_path && strcmp(o->stdin_path, "-") == 0) {
		return fh_usage(err, "standard input cannot be both the program and its input");
	}
	rc = fh_read_all(fd, into);
	return rc < 0 ? fh_fail(err, rc, "read the program '%s'", path) : 0;
}

/* The words after the program are its own. */
static char **own_words(const struct fh_run_options *o, int argc, char **argv)
{
	return argv + (o->code ? o->first : o->first < argc ? o->first + 1 : argc);
}

static int run_bash(struct fh_run_options *o, int argc, char **argv, struct fh_err *err)
{
	struct fh_spec spec;
	char **words = own_words(o, argc, argv);
	size_t n = (size_t)(argv + argc - words);
	fh_autofree const char **command = calloc(n + 3, sizeof(*command));
	fh_autobuf program;
	int rc = read_program(o, argc, argv, &program, err);

	if (rc < 0)
		return rc;
	if (!command)
		return fh_fail(err, -ENOMEM, "build the command");
	command[0] = "bash";
	command[1] = "/dev/fd/3"; /* the text is read from sealed memory: it may be of any length */
	for (size_t i = 0; i < n; i++)
		command[i + 2] = words[i];
	fh_spec_init(&spec);
	spec.argv = command;
	spec.source = fh_buf_str(&program);
	spec.source_bytes = program.len;
	return fh_cli_drive(o, &spec);
}

static int run_python(struct fh_run_options *o, int argc, char **argv, struct fh_err *err)
{
	const enum fh_workspace_mode mode = !o->workspace	? FH_WORKSPACE_EMPTY
					    : o->workspace_rw ? FH_WORKSPACE_DIRECT
							      : FH_WORKSPACE_COPY;
	const struct fh_interp_use use = {
		.user = fh_interp_confined_user(o->policy.level, mode),
		.workspace = o->workspace_rw ? o->workspace : NULL,
		.policy = &o->policy,
	};
	struct fh_interp interp = {0};
	struct fh_spec spec;
	char **words = own_words(o, argc, argv);
	fh_autofree char **command = NULL;
	fh_autobuf program;
	int rc = read_program(o, argc, argv, &program, err);

	rc = rc ? rc : fh_interp_find(o->python, &use, &interp, err);
	rc = rc ? rc
		: fh_interp_python_argv(&interp, (const char *const *)words, (size_t)(argv + argc - words), &command, err);
	if (rc == 0) {
		fh_spec_init(&spec);
		spec.argv = (const char *const *)command;
		spec.source = fh_buf_str(&program);
		spec.source_bytes = program.len;
		spec.interpreter = interp.executable;
		spec.trees = (const char *const *)interp.trees;
		spec.files = (const char *const *)interp.files;
		spec.links = interp.links;
		spec.n_trees = interp.n_trees;
		spec.n_files = interp.n_files;
		spec.n_links = interp.n_links;
		rc = fh_cli_drive(o, &spec);
	}
	fh_interp_finish(&interp);
	return rc;
}

static int with_options(int argc, char **argv, enum fh_option_set set,
			int (*body)(struct fh_run_options *, int, char **, struct fh_err *))
{
	struct fh_run_options options;
	struct fh_err err = {0};
	int rc = fh_options_parse(argc, argv, set, &options, &err);

	if (rc == 0)
		rc = body(&options, argc, argv, &err);
	else if (rc > 0)
		rc = 0;
	fh_options_finish(&options);
	return rc < 0 ? fh_cli_error(&err) : rc;
}

int fh_cmd_bash(int argc, char **argv)
{
	return with_options(argc, argv, FH_OPTIONS_BASH, run_bash);
}

int fh_cmd_python(int argc, char **argv)
{
	return with_options(argc, argv, FH_OPTIONS_PYTHON, run_python);
}
