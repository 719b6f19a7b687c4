/* Shared by the commands: how they speak to a person, and the table they are listed in. */
#ifndef FH_CLI_CLI_H
#define FH_CLI_CLI_H

#include "base/err.h"

/* Exit statuses of fumehood itself; a run gives the program's own otherwise. */
enum fh_status {
	FH_STATUS_OK = 0,
	FH_STATUS_LIMIT = 123,
	FH_STATUS_WALL = 124,
	FH_STATUS_ERROR = 125,
	FH_STATUS_NOT_EXEC = 126,
	FH_STATUS_NOT_FOUND = 127,
};

struct fh_command {
	const char *name;
	int (*main)(int argc, char **argv); /* argv[0] is the command's name */
	const char *summary;
	int runs; /* starts sandboxes, and so wants control groups */
};

extern const struct fh_command fh_commands[]; /* ends with a NULL name */

/* Prints to stderr a text that may quote what somebody else chose (a command, a path, a value): without line ends and
 * without anything a terminal obeys. */
void fh_cli_say(const char *text);
/* Prints "fumehood: <message>" (and "fix: ...") on stderr; returns the exit status that fits the error. */
int fh_cli_error(const struct fh_err *err);

/* True when a person looks at `fd` and colours are welcome (a terminal, no NO_COLOR). */
int fh_cli_colours(int fd);

int fh_cmd_run(int argc, char **argv);
int fh_cmd_python(int argc, char **argv);
int fh_cmd_bash(int argc, char **argv);
int fh_cmd_policy(int argc, char **argv);
int fh_cmd_doctor(int argc, char **argv);
int fh_cmd_fs(int argc, char **argv);
int fh_cmd_bench(int argc, char **argv);

#endif
