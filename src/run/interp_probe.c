/* Asks an interpreter what it needs, by running it once with a question (interp_probe.py).
 *
 * Runs in the supervisor, unconfined: the person named this interpreter. It gets a small environment, no
 * input, a session of its own, ten seconds, and bounds on what it may say; its whole process group is killed
 * at the end. Must not believe the content of the answer, only its form: interp.c judges. */
#include "run/interp_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

#define PROBE_MS 10000

struct probe {
	pid_t pid;
	int fds[2]; /* its stdout and stderr */
	struct fh_buf said[2];
};

/* What pyenv's shims and `#!/usr/bin/env` need, and nothing that changes how Python itself behaves. */
static void small_environment(char *into[8], char texts[8][4200])
{
	static const char *const names[] = {"PATH", "HOME", "PYENV_ROOT", "PYENV_VERSION", "PYENV_DIR"};
	static char locale[] = "LC_ALL=C.UTF-8";
	size_t n = 0;

	for (size_t k = 0; k < FH_ARRAY_LEN(names); k++) {
		const char *value = getenv(names[k]);
		if (value &&
		    snprintf(texts[n], sizeof(texts[n]), "%s=%s", names[k], value) < (int)sizeof(texts[n])) {
			into[n] = texts[n];
			n++;
		}
	}
	into[n++] = locale;
	into[n] = NULL;
}

static int prepare(posix_spawnattr_t *attr, posix_spawn_file_actions_t *files, const int out[2],
		   const int errs[2])
{
	sigset_t none, all;
	int rc = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);

	sigemptyset(&none);
	sigfillset(&all);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(files, out[1], 1);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(files, errs[1], 2);
	if (rc == 0)
		rc = posix_spawnattr_setsigmask(attr, &none);
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(attr, &all);
	if (rc == 0)
		rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
							POSIX_SPAWN_SETSIGDEF);
	return rc;
}

static int spawn(const char *path, struct probe *p)
{
	static char isolated[] = "-I", no_bytecode[] = "-B", command[] = "-c";
	char *argv[] = {(char *)path, isolated, no_bytecode, command, (char *)fh_python_probe, NULL};
	char *envp[8], texts[8][4200];
	posix_spawnattr_t attr;
	posix_spawn_file_actions_t files;
	int out[2], errs[2], rc;

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(errs, O_CLOEXEC) < 0) {
		rc = -errno;
		close(out[0]);
		close(out[1]);
		return rc;
	}
	small_environment(envp, texts);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_init(&files);
	rc = prepare(&attr, &files, out, errs);
	if (rc == 0)
		rc = posix_spawn(&p->pid, path, &files, &attr, argv, envp);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	close(out[1]);
	close(errs[1]);
	p->fds[0] = out[0];
	p->fds[1] = errs[0];
	return -rc;
}

/* Reads both streams until they end. 0, -ETIMEDOUT, -E2BIG when the answer is too long, or a negative errno.
 */
static int listen_to(struct probe *p)
{
	uint64_t deadline_ns = fh_now_ns() + PROBE_MS * UINT64_C(1000000);
	char chunk[4096];

	while (p->fds[0] >= 0 || p->fds[1] >= 0) {
		struct pollfd polled[2] = {{p->fds[0], POLLIN, 0}, {p->fds[1], POLLIN, 0}};
		uint64_t now = fh_now_ns();
		if (now >= deadline_ns)
			return -ETIMEDOUT;
		if (poll(polled, 2, (int)((deadline_ns - now) / 1000000) + 1) < 0 && errno != EINTR)
			return -errno;
		for (int k = 0; k < 2; k++) {
			if (p->fds[k] < 0 || !polled[k].revents)
				continue;
			ssize_t got = read(p->fds[k], chunk, sizeof(chunk));
			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0)
				fh_close(&p->fds[k]);
			else if (fh_buf_add(&p->said[k], chunk, (size_t)got) < 0 && k == 0)
				return -E2BIG; /* stderr is only kept up to its bound */
		}
		/* The answer is complete: what a background process still holds open does not matter. */
		if (strstr(fh_buf_str(&p->said[0]), "\nfumehood-probe end\n"))
			return 0;
	}
	return 0;
}

static int end(struct probe *p)
{
	int status = 0;

	/* Before it is reaped, its number is nobody else's. */
	kill(-p->pid, SIGKILL);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	fh_close(&p->fds[0]);
	fh_close(&p->fds[1]);
	return status;
}

/* The line of what it printed to stderr that says why: Python's is the last, pyenv's the first. */
static const char *reason_line(struct fh_buf *said)
{
	char *line;

	if (said->len == 0)
		return "it printed no reason";
	while (said->len > 0 && (unsigned char)said->data[said->len - 1] <= ' ')
		said->data[--said->len] = '\0';
	line = strrchr(said->data, '\n');
	line = line ? line + 1 : said->data;
	if (strncmp(said->data, "pyenv: ", 7) == 0) {
		line = said->data;
		line[strcspn(line, "\n")] = '\0';
	}
	for (char *c = line; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	return line;
}

static int not_python(struct fh_err *err, int code, const char *path, const char *why)
{
	fh_usage(err, "'%s' does not work as a Python interpreter: %s", path, why);
	if (err) {
		err->code = code;
		err->kind = FH_ERR_NOT_EXEC;
	}
	return code;
}

int fh_probe_run(const char *path, struct fh_probe *ret, struct fh_err *err)
{
	struct probe p = {.pid = -1, .fds = {-1, -1}};
	int rc;

	rc = spawn(path, &p);
	if (rc < 0) {
		fh_close(&p.fds[0]);
		fh_close(&p.fds[1]);
		return not_python(err, rc, path, strerror(-rc));
	}
	fh_buf_init(&p.said[0], FH_PROBE_BYTES_MAX);
	fh_buf_init(&p.said[1], 4096);
	rc = listen_to(&p);
	end(&p);
	if (rc == -ETIMEDOUT)
		not_python(err, rc, path, "it gave no answer within 10 seconds");
	else if (rc < 0)
		not_python(err, rc, path, strerror(-rc));
	else if (fh_probe_parse(fh_buf_take(&p.said[0]), ret) < 0)
		rc = not_python(err, -ENOEXEC, path, reason_line(&p.said[1]));
	fh_buf_finish(&p.said[0]);
	fh_buf_finish(&p.said[1]);
	return rc;
}

static bool parse_line(struct fh_probe *p, char *line)
{
	static const char *const kinds[] = {"prefix", "need", "packages", "library"};
	char *value = strchr(line, '\t');

	if (!value)
		return false;
	*value++ = '\0';
	for (const char *c = value; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	}
	if (strcmp(line, "version") == 0) {
		p->version = value;
		return strlen(value) < 32 && strspn(value, "0123456789.") == strlen(value);
	}
	if (value[0] != '/' || strlen(value) >= 4096)
		return false;
	if (strcmp(line, "executable") == 0) {
		p->executable = value;
		return true;
	}
	for (size_t k = 0; k < FH_ARRAY_LEN(kinds); k++) {
		if (strcmp(line, kinds[k]) != 0)
			continue;
		if (p->n_paths == FH_PROBE_PATHS_MAX)
			return false;
		p->paths[p->n_paths].kind = (enum fh_probe_kind)k;
		p->paths[p->n_paths++].path = value;
		return true;
	}
	return false;
}

int fh_probe_parse(char *text, struct fh_probe *ret)
{
	/* What a site-packages hook prints may stand before the answer. */
	char *at = text ? strstr(text, "fumehood-probe 1\n") : NULL;
	struct fh_probe *p = calloc(1, sizeof(*p));
	bool whole = false, good = p && at && (at == text || at[-1] == '\n');

	if (good)
		at = strchr(at, '\n') + 1;
	while (good && !whole && *at) {
		char *next = strchr(at, '\n');
		good = next != NULL;
		if (!good)
			break;
		*next = '\0';
		whole = strcmp(at, "fumehood-probe end") == 0;
		good = whole || parse_line(p, at);
		at = next + 1;
	}
	good = good && whole && p->executable && p->version;
	if (good) {
		p->text = text;
		*ret = *p;
	} else {
		free(text);
	}
	free(p);
	return good ? 0 : -EBADMSG;
}

void fh_probe_finish(struct fh_probe *p)
{
	free(p->text);
	p->text = NULL;
	p->n_paths = 0;
}
