/* Subordinate ids; see ids_subid.h. /etc/passwd is read by ourselves: the program is linked statically, where
 * the C library's look-ups would need shared libraries of the host. */
#include "isolate/ids_subid.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "sys/proc.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"

enum { FILE_MAX = 4 << 20, HELPER_MS_MAX = 10000 };

/* Field `index` (from 0) of a line of colon-separated fields; NULL when there are fewer. */
static const char *field(const char *line, size_t line_len, int index, size_t *ret_len)
{
	const char *end = line + line_len;

	for (int i = 0;; i++) {
		const char *colon = memchr(line, ':', (size_t)(end - line));

		if (i == index) {
			*ret_len = (size_t)((colon ? colon : end) - line);
			return line;
		}
		if (!colon)
			return NULL;
		line = colon + 1;
	}
}

/* A whole field as a 32-bit number; false for anything else. */
static bool number(const char *line, size_t line_len, int index, uint32_t *ret)
{
	uint64_t v = 0;
	size_t n;
	const char *s = field(line, line_len, index, &n);

	if (!s || n == 0 || n > 10)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	if (v > UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

/* The first line of /etc/passwd for the uid (and the name, unless NULL). False when there is none. */
static bool passwd_find(const char *passwd, uint32_t uid, const char *name, size_t name_len,
			uint32_t *ret_gid)
{
	for (const char *line = passwd; *line;) {
		size_t len = strcspn(line, "\n"), n;
		const char *own = field(line, len, 0, &n);
		uint32_t id, gid;

		if (number(line, len, 2, &id) && id == uid && number(line, len, 3, &gid) &&
		    (!name || (n == name_len && memcmp(own, name, n) == 0))) {
			*ret_gid = gid;
			return true;
		}
		line += len + (line[len] == '\n');
	}
	return false;
}

bool fh_subid_find(const char *subid, const char *passwd, uint32_t uid, uint32_t least,
		   struct fh_subid_range *ret)
{
	for (const char *line = subid; *line;) {
		size_t len = strcspn(line, "\n"), n;
		const char *owner = field(line, len, 0, &n);
		uint32_t id, gid, first, count;
		bool ours =
		    number(line, len, 0, &id) ? id == uid : n > 0 && passwd_find(passwd, uid, owner, n, &gid);

		if (ours && number(line, len, 1, &first) && number(line, len, 2, &count) && count >= least &&
		    first != 0 && (uint64_t)first + count <= UINT32_MAX) {
			*ret = (struct fh_subid_range){first, count};
			return true;
		}
		line += len + (line[len] == '\n');
	}
	return false;
}

/* Whether executing it gives it the right to map ids. */
static bool is_privileged(const char *path)
{
	struct statvfs vfs;
	struct stat st;

	if (access(path, X_OK) < 0 || stat(path, &st) < 0 || statvfs(path, &vfs) < 0 ||
	    (vfs.f_flag & ST_NOSUID))
		return false;
	return (st.st_uid == 0 && (st.st_mode & S_ISUID)) ||
	       getxattr(path, "security.capability", NULL, 0) > 0;
}

static const char *find_helper(const char *const *paths)
{
	for (; *paths; paths++)
		if (is_privileged(*paths))
			return *paths;
	return NULL;
}

static bool look_helpers(struct fh_subids *ret, char *why, size_t cap)
{
	/* Never through PATH: what runs here may map ids. */
	static const char *const uid_paths[] = {"/usr/bin/newuidmap", "/bin/newuidmap",
						"/run/wrappers/bin/newuidmap", "/usr/local/bin/newuidmap",
						NULL};
	static const char *const gid_paths[] = {"/usr/bin/newgidmap", "/bin/newgidmap",
						"/run/wrappers/bin/newgidmap", "/usr/local/bin/newgidmap",
						NULL};

	ret->newuidmap = find_helper(uid_paths);
	ret->newgidmap = find_helper(gid_paths);
	if (!ret->newuidmap || !ret->newgidmap) {
		snprintf(why, cap, "there is no setuid newuidmap and newgidmap (install the package uidmap)");
		return false;
	}
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
		snprintf(why, cap, "newuidmap cannot work: no_new_privs is set on this process");
		return false;
	}
	return true;
}

/* 0 also where the file is not there or not for us to read: it then gives us nothing. */
static int read_table(const char *path, struct fh_buf *into)
{
	int rc = fh_read_file_at(AT_FDCWD, path, into);

	return rc == -ENOENT || rc == -EACCES ? 0 : rc;
}

int fh_subid_look(struct fh_subids *ret, char *why, size_t cap)
{
	fh_autobuf passwd, subuid, subgid;
	struct fh_subids found = {0};
	uint32_t uid = geteuid(), gid;
	char none[1];
	int rc;

	if (!why) {
		why = none;
		cap = sizeof(none);
	}
	fh_buf_init(&passwd, FILE_MAX);
	fh_buf_init(&subuid, FILE_MAX);
	fh_buf_init(&subgid, FILE_MAX);
	if (!look_helpers(&found, why, cap))
		return 0;
	rc = read_table("/etc/passwd", &passwd);
	rc = rc ? rc : read_table("/etc/subuid", &subuid);
	rc = rc ? rc : read_table("/etc/subgid", &subgid);
	if (rc < 0) {
		snprintf(why, cap, "/etc/passwd, /etc/subuid or /etc/subgid cannot be read");
		return rc;
	}
	if (!passwd_find(fh_buf_str(&passwd), uid, NULL, 0, &gid)) {
		snprintf(why, cap, "uid %u has no line in /etc/passwd", uid);
		return 0;
	}
	if (gid != getegid() || getuid() != uid) {
		snprintf(why, cap,
			 "newuidmap refuses: the group of this process (%u) is not the user's own (%u)",
			 getegid(), gid);
		return 0;
	}
	if (!fh_subid_find(fh_buf_str(&subuid), fh_buf_str(&passwd), uid, 2, &found.uids)) {
		snprintf(why, cap,
			 "/etc/subuid gives uid %u no two ids (usermod --add-subuids 100000-165535 NAME)",
			 uid);
		return 0;
	}
	if (!fh_subid_find(fh_buf_str(&subgid), fh_buf_str(&passwd), uid, 2, &found.gids)) {
		snprintf(why, cap,
			 "/etc/subgid gives uid %u no two ids (usermod --add-subgids 100000-165535 NAME)",
			 uid);
		return 0;
	}
	*ret = found;
	return 1;
}

/* A helper on its way. */
struct helper {
	const char *path;
	const char *map; /* the file it writes, to judge it where its status is not to be had */
	pid_t pid;
	int said; /* what it writes to stderr */
};

static int spawn_helper(struct helper *h, pid_t pid, const struct fh_id_line lines[2])
{
	char text[7][16];
	char *argv[9] = {(char *)h->path};
	char *env[] = {(char *)"LC_ALL=C", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int pipes[2], rc;

	snprintf(text[0], sizeof(text[0]), "%d", pid);
	for (int i = 0; i < 2; i++) {
		snprintf(text[3 * i + 1], sizeof(text[0]), "%u", lines[i].inside);
		snprintf(text[3 * i + 2], sizeof(text[0]), "%u", lines[i].outside);
		snprintf(text[3 * i + 3], sizeof(text[0]), "%u", lines[i].count);
	}
	for (int i = 0; i < 7; i++)
		argv[i + 1] = text[i];
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], 2);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	rc = posix_spawn(&h->pid, h->path, &actions, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	h->said = pipes[0];
	return -rc;
}

/* Waits for the end of the helper; 0, or -ETIMEDOUT after it was killed. */
static int await(const struct helper *h, uint64_t deadline_ns, int *ret_status)
{
	fh_autofd int pidfd = (int)fh_sys_pidfd_open(h->pid);
	struct pollfd watch = {.fd = pidfd, .events = POLLIN};
	uint64_t now = fh_now_ns();
	int left_ms = now < deadline_ns ? (int)((deadline_ns - now) / 1000000) : 0, ready;

	do
		ready = pidfd < 0 ? 1 : poll(&watch, 1, left_ms);
	while (ready < 0 && errno == EINTR);
	if (ready == 0)
		kill(h->pid, SIGKILL);
	while (waitpid(h->pid, ret_status, 0) < 0) {
		if (errno == EINTR)
			continue;
		*ret_status = -1; /* the caller's process ignores SIGCHLD: nobody can tell */
		break;
	}
	return ready == 0 ? -ETIMEDOUT : 0;
}

static bool is_written(pid_t pid, const char *map)
{
	char path[48], text[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, map);
	return fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) > 0;
}

static int judge(struct helper *h, pid_t pid, uint64_t deadline_ns, struct fh_err *err)
{
	char said[256];
	int status = 0, rc = await(h, deadline_ns, &status);
	ssize_t n;

	if (rc < 0)
		return fh_fail(err, rc, "%s did not finish within %d s", h->path, HELPER_MS_MAX / 1000);
	if (status == 0 || (status == -1 && is_written(pid, h->map)))
		return 0;
	n = read(h->said, said, sizeof(said) - 1);
	said[n > 0 ? n : 0] = '\0';
	said[strcspn(said, "\n")] = '\0';
	return fh_fail(err, -EPERM, "%s failed (%s)", h->path, said[0] ? said : "it did not say why");
}

int fh_subid_map(const struct fh_subids *ids, pid_t pid, const struct fh_id_line uids[2],
		 const struct fh_id_line gids[2], struct fh_err *err)
{
	struct helper h[2] = {{.path = ids->newuidmap, .map = "uid_map", .pid = -1, .said = -1},
			      {.path = ids->newgidmap, .map = "gid_map", .pid = -1, .said = -1}};
	uint64_t deadline_ns = fh_now_ns() + HELPER_MS_MAX * 1000000ull;
	int rc = 0;

	/* Side by side: each takes a millisecond, and neither needs the other. */
	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = spawn_helper(&h[i], pid, i == 0 ? uids : gids);
		if (rc < 0) {
			h[i].pid = -1;
			rc = fh_fail(err, rc, "start '%s'", h[i].path);
		}
	}
	for (int i = 0; i < 2; i++) {
		if (h[i].pid > 0) {
			int judged = judge(&h[i], pid, deadline_ns, rc == 0 ? err : NULL);

			rc = rc < 0 ? rc : judged;
		}
		fh_close(&h[i].said);
	}
	return rc;
}
