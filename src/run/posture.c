/* What is in force, read back from outside while the program runs (or is a zombie that our init still holds): from
 * /proc/<pid> of the confined process, never from the configuration. One that is ending has no namespaces and no mounts
 * any more; those are init's, too, and are read there. */
#include "run/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

/* The pid of a pidfd as this process counts; 0 when it was reaped. */
static pid_t pid_of(int pidfd)
{
	char path[64], text[1024];
	const char *p;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	n = fh_read_small_at(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return (pid_t)n;
	p = strstr(text, "Pid:\t");
	if (!p)
		return -ESRCH;
	pid_t pid = (pid_t)strtol(p + 5, NULL, 10);
	return pid > 0 ? pid : 0;
}

static uint64_t field(const char *status, const char *name, int base)
{
	const char *p = strstr(status, name);

	return p ? strtoull(p + strlen(name), NULL, base) : 0;
}

/* "     0 1879048192    1\n  1000 ..." -> "0 1879048192 1, 1000 ..." */
static char *one_line(const char *text)
{
	fh_autobuf line;
	bool space = false;

	fh_buf_init(&line, 4096);
	for (const char *p = text; *p; p++) {
		if (*p == ' ' || *p == '\t') {
			space = line.len > 0 && line.data[line.len - 1] != ' ';
			continue;
		}
		if (*p == '\n') {
			if (p[1])
				fh_buf_adds(&line, ", ");
			space = false;
			continue;
		}
		if (space)
			fh_buf_addc(&line, ' ');
		space = false;
		fh_buf_addc(&line, *p);
	}
	return fh_buf_take(&line);
}

/* Where something is read: the program's folder in /proc, and init's for what one that is ending does not have. */
struct where {
	int program, init; /* negative: there is none */
};

/* What the kernel answers of a process that is ending, already before it is a zombie. Others say that we failed. */
static bool is_ending(int rc)
{
	return rc == -ENOENT || rc == -ESRCH || rc == -EINVAL || rc == -EACCES;
}

static int read_map(const struct where *w, const char *name, char **ret)
{
	char text[4096];
	ssize_t n = fh_read_small_at(w->program, name, text, sizeof(text));

	if (n < 0)
		return (int)n;
	*ret = one_line(text);
	return *ret ? 0 : -ENOMEM;
}

/* What a link in /proc/<pid>/ns names, without brackets: "net:4026532345". */
static int add_namespace(int proc, const char *name, struct fh_buf *line)
{
	char path[32], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "ns/%s", name);
	n = readlinkat(proc, path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	char *open = strchr(target, '['), *close = strchr(target, ']');
	if (open && close)
		fh_buf_addf(line, "%s%s:%.*s", line->len ? " " : "", name, (int)(close - open - 1), open + 1);
	return 0;
}

static int read_namespaces(const struct where *w, char **ret)
{
	static const char *const names[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"};
	fh_autobuf line;

	fh_buf_init(&line, 1024);
	for (size_t i = 0; i < FH_ARRAY_LEN(names); i++) {
		int rc = add_namespace(w->program, names[i], &line);

		if (is_ending(rc))
			rc = w->init < 0 ? w->init : add_namespace(w->init, names[i], &line);
		/* Not there: a kernel without this kind. Not ours to read: init, for an ordinary user; a program with an
		 * id of its own, for a root that lacks CAP_SYS_PTRACE. */
		if (rc < 0 && rc != -ENOENT && rc != -EACCES)
			return rc;
	}
	*ret = fh_buf_take(&line);
	return *ret ? 0 : -ENOMEM;
}

/* Target, type and options of each mount; sources are left out, as they could name paths of the host. */
static int read_mounts(const struct where *w, char **ret)
{
	fh_autobuf in, out;
	char *line, *rest;
	int rc;

	fh_buf_init(&in, 256u << 10);
	fh_buf_init(&out, 64u << 10);
	rc = fh_read_file_at(w->program, "mountinfo", &in);
	if (is_ending(rc) || (rc == 0 && in.len == 0))
		rc = w->init < 0 ? w->init : fh_read_file_at(w->init, "mountinfo", &in);
	if (rc < 0)
		return rc;
	for (line = in.data ? strtok_r(in.data, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
		char target[1024], options[256], type[64];
		char *dash = strstr(line, " - ");

		if (!dash || sscanf(line, "%*d %*d %*s %*s %1023s %255s", target, options) != 2 ||
		    sscanf(dash + 3, "%63s", type) != 1)
			continue;
		fh_buf_addf(&out, "%s %s %s\n", target, type, options);
	}
	*ret = fh_buf_take(&out);
	return *ret ? 0 : -ENOMEM;
}

static void read_status(const char *status, struct fh_receipt *ret)
{
	ret->uid = (uint32_t)field(status, "\nUid:\t", 10);
	ret->gid = (uint32_t)field(status, "\nGid:\t", 10);
	ret->caps[0] = field(status, "\nCapInh:\t", 16);
	ret->caps[1] = field(status, "\nCapPrm:\t", 16);
	ret->caps[2] = field(status, "\nCapEff:\t", 16);
	ret->caps[3] = field(status, "\nCapBnd:\t", 16);
	ret->caps[4] = field(status, "\nCapAmb:\t", 16);
	ret->no_new_privs = (int)field(status, "\nNoNewPrivs:\t", 10);
	ret->seccomp = (int)field(status, "\nSeccomp:\t", 10);
	ret->seccomp_filters = (int)field(status, "\nSeccomp_filters:\t", 10);
}

static int open_proc(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int read_all(const struct fh_run *run, const struct where *w, struct fh_receipt *ret)
{
	bool own = run->plan.namespaces;
	char status[8192];
	ssize_t n = fh_read_small_at(w->program, "status", status, sizeof(status));
	int rc;

	if (n < 0)
		return (int)n;
	read_status(status, ret);
	rc = read_namespaces(w, &ret->namespaces);
	if (own) {
		rc = rc ? rc : read_map(w, "uid_map", &ret->uid_map);
		rc = rc ? rc : read_map(w, "gid_map", &ret->gid_map);
		return rc ? rc : read_mounts(w, &ret->mounts);
	}
	ret->uid_map = strdup("");
	ret->gid_map = strdup("");
	ret->mounts = strdup("");
	return rc;
}

int fh_posture_read(struct fh_run *run, struct fh_receipt *ret, struct fh_err *err)
{
	pid_t pid = pid_of(run->program_pidfd);
	fh_autofd int program = pid > 0 ? open_proc(pid) : -1;
	fh_autofd int init = open_proc(run->child_pid);
	int rc = pid < 0 ? pid : program < 0 ? program : read_all(run, &(struct where){program, init}, ret);

	/* Killed with all of its sandbox (for memory, say): there is nothing to read, and the verdict is another. */
	if (pid == 0 || (rc < 0 && pid_of(run->program_pidfd) == 0))
		return 0;
	if (rc < 0)
		return fh_fail(err, rc, "read back what the sandbox enforces");
	/* The kernel shows no Landlock domain in /proc; that restrict_self succeeded is known from exec having
	 * happened, since the step before it could not be passed otherwise. */
	ret->landlock_abi = run->landlock.abi;
	run->result->has_receipt = true;
	return 0;
}
