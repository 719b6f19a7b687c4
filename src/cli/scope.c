/* A systemd user scope; see scope.h. */
#include "cli/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/own.h"
#include "run/run.h"

#define SYSTEMD_RUN "/usr/bin/systemd-run"
#define MARK        "FUMEHOOD_NO_SCOPE" /* set for the second start, so that there is never a third */

static int groups_are_missing(void)
{
	struct fh_host *host = NULL;
	struct fh_err err;
	int missing;

	if (fh_host_open(&host, &err) < 0)
		return 0;
	missing = !(host->axes.memory && host->axes.pids);
	fh_host_close(host);
	return missing;
}

/* A manager that listens; a socket file alone may be left from a session that ended. */
static int manager_listens(const char *runtime)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	fh_autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int n = snprintf(address.sun_path, sizeof(address.sun_path), "%s/systemd/private", runtime);

	return fd >= 0 && n > 0 && (size_t)n < sizeof(address.sun_path) &&
	       connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

void fh_cli_enter_scope(char **argv)
{
	static const char *const front[] = {SYSTEMD_RUN, "--user", "--scope", "--quiet", "--collect",
					    "--property=Delegate=yes", "--"};
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char self[512];
	size_t n_front = FH_ARRAY_LEN(front), argc = 0;
	fh_autofree char **again = NULL;
	ssize_t n;

	if (geteuid() == 0 || getenv(MARK) || !runtime)
		return;
	if (access(SYSTEMD_RUN, X_OK) < 0 || !manager_listens(runtime) || !groups_are_missing())
		return;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return;
	self[n] = '\0';
	while (argv[argc])
		argc++;
	again = calloc(n_front + argc + 1, sizeof(*again));
	if (!again || setenv(MARK, "1", 1) < 0)
		return;
	for (size_t i = 0; i < n_front; i++)
		again[i] = (char *)(size_t)front[i];
	again[n_front] = self;
	for (size_t i = 1; i < argc; i++)
		again[n_front + i] = argv[i];
	execv(SYSTEMD_RUN, again);
	unsetenv(MARK);
}
