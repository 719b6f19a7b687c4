/* The program of the C API: copies what it is given, and lives as long as its owner or a run needs it. */
#include "lib/program.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/own.h"
#include "fumehood/fumehood.h"
#include "policy/policy.h"

#define ARENA_BYTES_MAX (64u << 20) /* everything but the texts and the input, which have no limit of ours   \
				     */
#define WORDS_MAX 65536
#define ENV_MAX   4096

void fh_program_hold(struct fh_program *program)
{
	__atomic_add_fetch(&program->uses, 1, __ATOMIC_RELAXED);
}

static void close_fds(struct fh_program *p)
{
	fh_close(&p->spec.stdin_fd);
	fh_close(&p->spec.live_out_fd);
	fh_close(&p->spec.live_err_fd);
	fh_close(&p->spec.spill_out_fd);
	fh_close(&p->spec.spill_err_fd);
}

void fh_program_destroy(struct fh_program *program)
{
	if (!program || __atomic_sub_fetch(&program->uses, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	close_fds(program);
	fh_interp_finish(&program->interp);
	fh_arena_finish(&program->arena);
	free(program->argv);
	free(program->text);
	free(program->input);
	free(program);
}

static void release(const struct fh_spec *spec)
{
	fh_program_destroy((struct fh_program *)(uintptr_t)spec);
}

int fh_program_create(struct fh_program **ret_program, struct fh_err *err)
{
	struct fh_program *p = calloc(1, sizeof(*p));

	if (!p)
		return fh_fail(err, -ENOMEM, "take memory for a program");
	p->uses = 1;
	fh_arena_init(&p->arena, ARENA_BYTES_MAX);
	fh_spec_init(&p->spec);
	p->spec.release = release;
	*ret_program = p;
	return 0;
}

/* Every change begins here. */
static int may_change(const struct fh_program *p, struct fh_err *err)
{
	if (__atomic_load_n(&p->uses, __ATOMIC_ACQUIRE) == 1)
		return 0;
	return fh_fail(err, -EBUSY, "change a program that a run still uses");
}

static int no_memory(struct fh_err *err)
{
	return fh_fail(err, -ENOMEM, "keep a part of the program");
}

static int copy_bytes(const void *bytes, size_t n, char **ret, struct fh_err *err)
{
	char *copy = malloc(n + 1);

	if (!copy)
		return no_memory(err);
	if (n > 0)
		memcpy(copy, bytes, n);
	copy[n] = '\0';
	*ret = copy;
	return 0;
}

/* One heap block: the vector, then its strings. `front` words come first and are not copied. */
static int copy_words(const char *const *front, size_t n_front, const char *const *words, char ***ret,
		      struct fh_err *err)
{
	size_t n = 0, bytes = 0;
	char **copy, *at;

	for (; words && words[n]; n++) {
		if (n == WORDS_MAX)
			return fh_usage(err, "more than %d arguments", WORDS_MAX);
		bytes += strlen(words[n]) + 1;
	}
	copy = malloc((n_front + n + 1) * sizeof(*copy) + bytes);
	if (!copy)
		return no_memory(err);
	at = (char *)(copy + n_front + n + 1);
	for (size_t i = 0; i < n_front; i++)
		copy[i] = (char *)(uintptr_t)front[i];
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(words[i]) + 1;
		copy[n_front + i] = memcpy(at, words[i], len);
		at += len;
	}
	copy[n_front + n] = NULL;
	*ret = copy;
	return 0;
}

/* Takes the place of whatever was to be run before. Owns argv and text. */
static void run_this(struct fh_program *p, char **argv, char *text, size_t n)
{
	free(p->argv);
	free(p->text);
	fh_interp_finish(&p->interp);
	p->interp = (struct fh_interp){0};
	p->argv = argv;
	p->text = text;
	p->spec.argv = (const char *const *)argv;
	p->spec.source = text;
	p->spec.source_bytes = n;
	p->spec.interpreter = NULL;
	p->spec.trees = p->spec.files = NULL;
	p->spec.links = NULL;
	p->spec.n_trees = p->spec.n_files = p->spec.n_links = 0;
}

int fh_program_set_command(struct fh_program *program, const char *const *argv, struct fh_err *err)
{
	char **copy;
	int rc = may_change(program, err);

	if (rc == 0 && (!argv || !argv[0] || !argv[0][0]))
		return fh_usage(err, "the command is empty");
	rc = rc ? rc : copy_words(NULL, 0, argv, &copy, err);
	if (rc == 0)
		run_this(program, copy, NULL, 0);
	return rc;
}

int fh_program_set_shell(struct fh_program *program, const char *text, size_t n, const char *const *args,
			 struct fh_err *err)
{
	static const char *const front[] = {"bash", "/dev/fd/3"}; /* the text is read from sealed memory */
	fh_autofree char *copy = NULL;
	char **argv;
	int rc = may_change(program, err);

	rc = rc ? rc : copy_bytes(text, n, &copy, err);
	rc = rc ? rc : copy_words(front, FH_ARRAY_LEN(front), args, &argv, err);
	if (rc == 0)
		run_this(program, argv, fh_take_ptr(&copy), n);
	return rc;
}

/* The interpreter's argument vector with words of our own at its end. */
static int python_argv(const struct fh_interp *interp, const char *const *args, char ***ret,
		       struct fh_err *err)
{
	fh_autofree char **front = NULL;
	size_t n = 0;
	int rc = fh_interp_python_argv(interp, NULL, 0, &front, err);

	while (rc == 0 && front[n])
		n++;
	return rc ? rc : copy_words((const char *const *)front, n, args, ret, err);
}

int fh_program_set_python(struct fh_program *program, const struct fh_policy *policy, const char *interpreter,
			  const char *text, size_t n, const char *const *args, struct fh_err *err)
{
	struct fh_interp interp = {0};
	fh_autofree char *copy = NULL;
	char **argv;
	struct fh_spec *spec = &program->spec;
	uint64_t level = policy ? policy->level : fh_field_find("level")->standard;
	const struct fh_interp_use use = {
		.user = fh_interp_confined_user(level, spec->workspace_mode),
		.workspace = spec->workspace_mode == FH_WORKSPACE_DIRECT ? spec->workspace : NULL,
		.policy = policy,
	};
	int rc = may_change(program, err);

	rc = rc ? rc : copy_bytes(text, n, &copy, err);
	rc = rc ? rc : fh_interp_find(interpreter, &use, &interp, err);
	if (rc < 0)
		return rc;
	rc = python_argv(&interp, args, &argv, err);
	if (rc < 0) {
		fh_interp_finish(&interp);
		return rc;
	}
	run_this(program, argv, fh_take_ptr(&copy), n);
	program->interp = interp;
	spec->interpreter = program->interp.executable;
	spec->trees = (const char *const *)program->interp.trees;
	spec->files = (const char *const *)program->interp.files;
	spec->links = program->interp.links;
	spec->n_trees = program->interp.n_trees;
	spec->n_files = program->interp.n_files;
	spec->n_links = program->interp.n_links;
	return 0;
}

int fh_program_set_folder(struct fh_program *program, const char *path, struct fh_err *err)
{
	int rc = may_change(program, err);
	char *copy = rc == 0 ? fh_arena_dup(&program->arena, path) : NULL;

	if (rc == 0 && !copy)
		return no_memory(err);
	if (rc == 0)
		program->spec.cwd = copy;
	return rc;
}

int fh_program_add_env(struct fh_program *program, const char *assignment, struct fh_err *err)
{
	const char *equals = strchr(assignment, '=');
	size_t name = equals ? (size_t)(equals - assignment) + 1 : 0, at = 0;
	char *copy;
	int rc = may_change(program, err);

	if (rc < 0)
		return rc;
	if (name < 2)
		return fh_usage(err, "'%.80s' is no NAME=VALUE", assignment);
	while (at < program->n_env && strncmp(program->env[at], assignment, name) != 0)
		at++;
	if (at == ENV_MAX)
		return fh_usage(err, "more than %d variables in the environment", ENV_MAX);
	copy = fh_arena_dup(&program->arena, assignment);
	/* Two places more: the new one and the NULL at the end. */
	if (copy && at + 2 > program->cap_env) {
		size_t cap = program->cap_env ? program->cap_env * 2 : 16;
		const char **more = fh_arena_take(&program->arena, cap * sizeof(*more));
		if (more && program->n_env > 0)
			memcpy(more, program->env, program->n_env * sizeof(*more));
		program->env = more ? more : program->env;
		program->cap_env = more ? cap : program->cap_env;
	}
	if (!copy || at + 2 > program->cap_env)
		return no_memory(err);
	program->env[at] = copy;
	program->n_env += at == program->n_env;
	program->env[program->n_env] = NULL;
	program->spec.env = program->env;
	return 0;
}

/* A descriptor of our own for the caller's; -1 stays -1. */
static int duplicate(int fd, int *ret, struct fh_err *err)
{
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10);

	if (fd >= 0 && copy < 0)
		return fh_fail(err, -errno, "duplicate descriptor %d", fd);
	*ret = copy;
	return 0;
}

static int duplicate_two(const int fds[2], int *first, int *second, struct fh_err *err)
{
	fh_autofd int one = -1, two = -1;
	int rc = duplicate(fds[0], &one, err);

	rc = rc ? rc : duplicate(fds[1], &two, err);
	if (rc < 0)
		return rc;
	fh_close(first);
	fh_close(second);
	*first = fh_take_fd(&one);
	*second = fh_take_fd(&two);
	return 0;
}

static void take_input(struct fh_program *p, enum fh_stdin kind, char *bytes, size_t n, int fd)
{
	free(p->input);
	fh_close(&p->spec.stdin_fd);
	p->input = bytes;
	p->spec.stdin_kind = kind;
	p->spec.stdin_bytes = bytes;
	p->spec.stdin_n = n;
	p->spec.stdin_fd = fd;
}

int fh_program_set_stdin(struct fh_program *program, const void *bytes, size_t n, struct fh_err *err)
{
	char *copy = NULL;
	int rc = may_change(program, err);

	rc = rc ? rc : copy_bytes(bytes, n, &copy, err);
	if (rc == 0)
		take_input(program, FH_STDIN_BYTES, copy, n, -1);
	return rc;
}

int fh_program_set_stdin_fd(struct fh_program *program, int fd, struct fh_err *err)
{
	struct stat st;
	int copy = -1, rc = may_change(program, err);

	if (rc == 0 && (fd < 0 || fstat(fd, &st) < 0))
		return fh_usage(err, "descriptor %d is not open", fd);
	if (rc == 0 && S_ISDIR(st.st_mode))
		return fh_usage(err, "descriptor %d is a folder", fd);
	rc = rc ? rc : duplicate(fd, &copy, err);
	if (rc == 0)
		take_input(program, FH_STDIN_FD, NULL, 0, copy);
	return rc;
}

static int set_workspace(struct fh_program *p, enum fh_workspace_mode mode, const char *path,
			 struct fh_err *err)
{
	int rc = may_change(p, err);
	char *copy = rc == 0 ? fh_arena_dup(&p->arena, path) : NULL;

	if (rc == 0 && !copy)
		return no_memory(err);
	if (rc == 0) {
		p->spec.workspace_mode = mode;
		p->spec.workspace = copy;
	}
	return rc;
}

int fh_program_copy_workspace(struct fh_program *program, const char *path, struct fh_err *err)
{
	return set_workspace(program, FH_WORKSPACE_COPY, path, err);
}

int fh_program_use_workspace(struct fh_program *program, const char *path, struct fh_err *err)
{
	return set_workspace(program, FH_WORKSPACE_DIRECT, path, err);
}

int fh_program_pass_output(struct fh_program *program, int out_fd, int err_fd, struct fh_err *err)
{
	int rc = may_change(program, err);

	return rc ? rc
		  : duplicate_two((const int[]){out_fd, err_fd}, &program->spec.live_out_fd,
				  &program->spec.live_err_fd, err);
}

int fh_program_save_output(struct fh_program *program, int out_fd, int err_fd, uint64_t bytes_max,
			   struct fh_err *err)
{
	const int fds[2] = {out_fd, err_fd};
	struct stat st;
	int rc = may_change(program, err);

	/* Whatever else could make us wait. */
	for (int i = 0; rc == 0 && i < 2; i++)
		if (fds[i] >= 0 && (fstat(fds[i], &st) < 0 || !S_ISREG(st.st_mode)))
			return fh_usage(err, "descriptor %d is not an open regular file", fds[i]);
	rc = rc ? rc : duplicate_two(fds, &program->spec.spill_out_fd, &program->spec.spill_err_fd, err);
	if (rc == 0)
		program->spec.spill_bytes = bytes_max;
	return rc;
}

int fh_program_keep_order(struct fh_program *program, struct fh_err *err)
{
	int rc = may_change(program, err);

	if (rc == 0)
		program->spec.interleave = true;
	return rc;
}

int fh_program_want_receipt(struct fh_program *program, struct fh_err *err)
{
	int rc = may_change(program, err);

	if (rc == 0)
		program->spec.want_receipt = true;
	return rc;
}
