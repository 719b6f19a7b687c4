/* What is in force, read back from outside while the program runs (or is a zombie that our init still holds): from
 * /proc/<pid> of the confined process, never from the configuration. */
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

/* The pid of a pidfd as this process counts. */
static pid_t pid_of(int pidfd)
{
	char path[64], text[1024];
	const char *p;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	if (fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	p = strstr(text, "Pid:\t");
	return p ? (pid_t)strtol(p + 5, NULL, 10) : -1;
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

static char *read_map(int proc, const char *name)
{
	char text[4096];

	return fh_read_small_at(proc, name, text, sizeof(text)) < 0 ? strdup("") : one_line(text);
}

/* A program that ended at once is a zombie when we look, which has ids and capabilities still but no namespaces; its
 * parent, our init or warden, is in the same. */
static char *read_namespaces(int proc, int parent)
{
	static const char *const names[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"};
	fh_autobuf line;

	fh_buf_init(&line, 1024);
	for (size_t i = 0; i < FH_ARRAY_LEN(names); i++) {
		char path[32], target[64];
		ssize_t n;

		snprintf(path, sizeof(path), "ns/%s", names[i]);
		n = readlinkat(proc, path, target, sizeof(target) - 1);
		if (n <= 0)
			n = readlinkat(parent, path, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		/* "net:[4026532345]" -> "net:4026532345" */
		char *open = strchr(target, '['), *close = strchr(target, ']');
		if (open && close)
			fh_buf_addf(&line, "%s%s:%.*s", line.len ? " " : "", names[i], (int)(close - open - 1), open + 1);
	}
	return fh_buf_take(&line);
}

/* Target, type and options of each mount; sources are left out, as they could name paths of the host. */
static char *read_mounts(int proc, int parent)
{
	fh_autobuf in, out;
	char *line, *rest;

	fh_buf_init(&in, 256u << 10);
	fh_buf_init(&out, 64u << 10);
	if (fh_read_file_at(proc, "mountinfo", &in) < 0 || in.len == 0) {
		fh_buf_finish(&in);
		fh_buf_init(&in, 256u << 10);
		if (fh_read_file_at(parent, "mountinfo", &in) < 0 || in.len == 0)
			return strdup("");
	}
	for (line = strtok_r(in.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char target[1024], options[256], type[64];
		char *dash = strstr(line, " - ");

		if (!dash || sscanf(line, "%*d %*d %*s %*s %1023s %255s", target, options) != 2 ||
		    sscanf(dash + 3, "%63s", type) != 1)
			continue;
		fh_buf_addf(&out, "%s %s %s\n", target, type, options);
	}
	return fh_buf_take(&out);
}

void fh_posture_read(struct fh_run *run, struct fh_receipt *ret)
{
	pid_t pid = run->program_pidfd < 0 ? -1 : pid_of(run->program_pidfd);
	char path[32], status[8192];
	fh_autofd int proc = -1, parent = -1;

	if (pid <= 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0 || fh_read_small_at(proc, "status", status, sizeof(status)) <= 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d", (int)run->child_pid);
	parent = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
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
	ret->uid_map = run->plan.namespaces ? read_map(proc, "uid_map") : strdup("");
	ret->gid_map = run->plan.namespaces ? read_map(proc, "gid_map") : strdup("");
	ret->namespaces = read_namespaces(proc, parent);
	ret->mounts = run->plan.namespaces ? read_mounts(proc, parent) : strdup("");
	/* The kernel shows no Landlock domain in /proc; that restrict_self succeeded is known from exec having
	 * happened, since the step before it could not be passed otherwise. */
	ret->landlock_abi = run->landlock.abi;
	run->result->has_receipt = true;
}
