/* The fumehood program: finds the command and hands over. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/scope.h"
#include "policy/words.h"
#include "sys/fault.h"

const struct fh_command fh_commands[] = {
	{"run", fh_cmd_run, "run a program in a sandbox: fumehood run [OPTIONS] -- CMD [ARG...]", 1},
	{"python", fh_cmd_python, "run a Python program: fumehood python [OPTIONS] (-c CODE | FILE | -) [ARG...]", 1},
	{"bash", fh_cmd_bash, "run a shell program: fumehood bash [OPTIONS] (-c CODE | FILE | -) [ARG...]", 1},
	{"doctor", fh_cmd_doctor, "what this host can enforce, and what to do about what it cannot", 1},
	{"policy", fh_cmd_policy, "show, check and explain policies, and print their schema", 0},
	{"fs", fh_cmd_fs, "list, read and write the files of a workspace that a program has written", 0},
	{"bench", fh_cmd_bench, "measure fumehood against a bare spawn and bubblewrap on this host", 1},
	{NULL, NULL, NULL, 0},
};

void fh_cli_say(const char *text)
{
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;
		bool control = c < 0x20 || c == 0x7f ||
			       (c >= 0x80 && c < 0xa0 && p > text && (unsigned char)p[-1] == 0xc2);
		fputc(control ? '?' : c, stderr);
	}
}

int fh_cli_error(const struct fh_err *err)
{
	fputs("fumehood: ", stderr);
	fh_cli_say(err->message);
	if (err->fix[0])
		fputs("\nfix: ", stderr);
	fh_cli_say(err->fix);
	fputc('\n', stderr);
	switch (err->kind) {
	case FH_ERR_NOT_FOUND:
		return FH_STATUS_NOT_FOUND;
	case FH_ERR_NOT_EXEC:
		return FH_STATUS_NOT_EXEC;
	default:
		return FH_STATUS_ERROR;
	}
}

int fh_cli_colours(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

static void usage(FILE *to)
{
	fprintf(to, "fumehood runs code that nobody has read yet.\n\nusage: fumehood COMMAND [OPTIONS] ...\n\n");
	for (const struct fh_command *c = fh_commands; c->name; c++)
		fprintf(to, "  %-8s %s\n", c->name, c->summary);
	fprintf(to, "\n`fumehood COMMAND --help` lists the options of a command. `fumehood --version` prints the version.\n");
}

static int unknown_command(const char *word)
{
	const char *names[16], *near;
	char shown[FH_SHOWN_CAP];
	size_t n = 0;

	for (; fh_commands[n].name && n < FH_ARRAY_LEN(names); n++)
		names[n] = fh_commands[n].name;
	near = fh_nearest(word, names, n);
	if (near)
		fprintf(stderr, "fumehood: there is no command %s; did you mean '%s'?\n", fh_show(word, shown), near);
	else
		fprintf(stderr, "fumehood: there is no command %s; `fumehood --help` lists them\n",
			fh_show(word, shown));
	return FH_STATUS_ERROR;
}

/* A standard stream that is closed would otherwise be the number of one of our pipes. Input and error output may be
 * missing; with no place for the output there is nothing to do. */
static int open_standard_streams(void)
{
	if (fcntl(1, F_GETFD) < 0 && errno == EBADF) {
		fprintf(stderr, "fumehood: standard output is closed; redirect it to /dev/null if nobody wants it\n");
		return -1;
	}
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd ? O_WRONLY : O_RDONLY) != fd)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	if (open_standard_streams() < 0)
		return FH_STATUS_ERROR;
	fh_fault_setup();
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		usage(stderr);
		return FH_STATUS_ERROR;
	}
	if (argc == 3 && strcmp(argv[1], "help") == 0) { /* `help run` is `run --help` */
		static char help[] = "--help";
		argv[1] = argv[2];
		argv[2] = help;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		usage(stdout);
		return fflush(stdout) ? FH_STATUS_ERROR : FH_STATUS_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("fumehood %s\n", FH_VERSION);
		return fflush(stdout) ? FH_STATUS_ERROR : FH_STATUS_OK;
	}
	for (const struct fh_command *c = fh_commands; c->name; c++)
		if (strcmp(c->name, argv[1]) == 0) {
			if (c->runs)
				fh_cli_enter_scope(argv);
			return c->main(argc - 1, argv + 1);
		}
	return unknown_command(argv[1]);
}
