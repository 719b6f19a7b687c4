/* Runs one spec under one policy from the command line: signals, waiting, and telling the result. */
#ifndef FH_CLI_DRIVE_H
#define FH_CLI_DRIVE_H

#include "cli/options.h"
#include "fumehood/result.h"
#include "run/run.h"

/* Fills what the options say about streams and folders, runs to the end, prints. Returns the exit status. */
int fh_cli_drive(struct fh_run_options *options, struct fh_spec *spec);

/* show.c: the result in the chosen format on stdout, status line and account on stderr. Negative errno when it could
 * not be printed. */
int fh_cli_show(const struct fh_run_options *options, const struct fh_result *result);

#endif
