/* Policies: made, filled from text, copied, checked. No I/O: whether a path exists or a host can hold a limit
 * is for isolate/ to find out; here is only what can be said of a policy by itself. */
#include "policy/policy.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "policy/units.h"
#include "policy/words.h"

/* The kernel takes no single string longer than this (MAX_ARG_STRLEN), its final NUL included. */
#define ENV_ENTRY_BYTES_MAX (128u << 10)
/* And no environment much larger than this, with the arguments, at its usual stack limit. */
#define ENV_TOTAL_BYTES_MAX (1u << 20)

/*** Life ***/

void fh_policy_init(struct fh_policy *p)
{
	*p = (struct fh_policy){.name = "default"};
	for (size_t i = 0; i < fh_fields_count; i++)
		*fh_field_of(p, &fh_fields[i]) = fh_fields[i].standard;
}

void fh_policy_finish(struct fh_policy *p)
{
	for (size_t i = 0; i < p->n_env; i++)
		free(p->env[i]);
	free(p->env);
	for (size_t i = 0; i < p->n_binds; i++) {
		free(p->binds[i].source);
		free(p->binds[i].target);
	}
	free(p->binds);
	*p = (struct fh_policy){0};
}

static int append_env(struct fh_policy *p, const char *assignment)
{
	char **grown = reallocarray(p->env, p->n_env + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	p->env = grown;
	p->env[p->n_env] = strdup(assignment);
	if (!p->env[p->n_env])
		return -ENOMEM;
	p->n_env++;
	return 0;
}

static int append_bind(struct fh_policy *p, const char *source, const char *target, bool writable)
{
	struct fh_bind *grown = reallocarray(p->binds, p->n_binds + 1, sizeof(*grown));
	struct fh_bind bind = {.writable = writable};

	if (!grown)
		return -ENOMEM;
	p->binds = grown;
	bind.source = strdup(source);
	bind.target = strdup(target);
	if (!bind.source || !bind.target) {
		free(bind.source);
		free(bind.target);
		return -ENOMEM;
	}
	p->binds[p->n_binds++] = bind;
	return 0;
}

int fh_policy_copy(struct fh_policy *ret, const struct fh_policy *from)
{
	struct fh_policy copy = *from;
	int rc = 0;

	copy.env = NULL;
	copy.binds = NULL;
	copy.n_env = copy.n_binds = 0;
	for (size_t i = 0; i < from->n_env && rc == 0; i++)
		rc = append_env(&copy, from->env[i]);
	for (size_t i = 0; i < from->n_binds && rc == 0; i++)
		rc =
		    append_bind(&copy, from->binds[i].source, from->binds[i].target, from->binds[i].writable);
	if (rc < 0) {
		fh_policy_finish(&copy);
		return rc;
	}
	*ret = copy;
	return 0;
}

/*** Scalars ***/

static int level_unavailable(uint64_t level, struct fh_err *err)
{
	return fh_unsupported(err, "use level namespace, the default",
			      "level %s is not available yet; the strongest here is namespace",
			      fh_level_name((enum fh_level)level));
}

static int parse_level(const char *text, uint64_t *ret)
{
	for (uint64_t level = FH_LEVEL_PROCESS; level <= FH_LEVEL_MICROVM; level++) {
		const char digit[2] = {(char)('0' + level), '\0'};
		if (strcmp(text, fh_level_name((enum fh_level)level)) != 0 && strcmp(text, digit) != 0)
			continue;
		*ret = level;
		return 0;
	}
	return -EINVAL;
}

static int parse_enforce(const char *text, uint64_t *ret)
{
	if (strcmp(text, "best") != 0 && strcmp(text, "kernel") != 0)
		return -EINVAL;
	*ret = strcmp(text, "kernel") == 0 ? FH_ENFORCE_KERNEL : FH_ENFORCE_BEST;
	return 0;
}

static int parse_network(const char *text, uint64_t *ret)
{
	if (strcmp(text, "none") != 0)
		return -EINVAL;
	*ret = FH_NETWORK_NONE;
	return 0;
}

static int parse_value(const struct fh_field *f, const char *text, uint64_t *ret)
{
	switch (f->type) {
	case FH_TYPE_LEVEL:
		return parse_level(text, ret);
	case FH_TYPE_DURATION:
		return fh_parse_duration(text, ret);
	case FH_TYPE_BYTES:
		return fh_parse_bytes(text, ret);
	case FH_TYPE_COUNT:
		return fh_parse_count(text, ret);
	case FH_TYPE_CPUS:
		return fh_parse_cpus(text, ret);
	case FH_TYPE_BOOL:
		return fh_parse_bool(text, ret);
	case FH_TYPE_NETWORK:
		return parse_network(text, ret);
	case FH_TYPE_ENFORCE:
		return parse_enforce(text, ret);
	}
	return -EINVAL;
}

static const char *looks_like(enum fh_field_type type)
{
	switch (type) {
	case FH_TYPE_DURATION:
		return "a time such as 500ms, 30s, 5m or 1h";
	case FH_TYPE_BYTES:
		return "a size such as 64K, 512M or 1G";
	case FH_TYPE_COUNT:
		return "a whole number";
	case FH_TYPE_CPUS:
		return "a number of processors such as 0.5 or 2";
	case FH_TYPE_LEVEL:
	case FH_TYPE_BOOL:
	case FH_TYPE_NETWORK:
	case FH_TYPE_ENFORCE:
		return NULL; /* the range names every word there is */
	}
	return NULL;
}

static int unknown_field(const char *name, struct fh_err *err)
{
	const char *names[64];
	char shown[FH_SHOWN_CAP];
	const char *near;
	size_t n = 0;

	if (strcmp(name, "allow_weaker") == 0)
		return fh_usage(err, "allow_weaker is no part of a policy: "
				     "only the caller of a run may accept a weaker one, with --allow-weaker");
	for (; n < fh_fields_count && n < FH_ARRAY_LEN(names); n++)
		names[n] = fh_fields[n].name;
	near = fh_nearest(name, names, n);
	if (near)
		return fh_usage(err, "there is no policy field %s; did you mean '%s'?", fh_show(name, shown),
				near);
	return fh_usage(err, "there is no policy field %s", fh_show(name, shown));
}

/* One message for a value that is no such amount, for one that overflows and for one out of range. */
static int unacceptable(const struct fh_field *f, const char *shown, int not_parsed, struct fh_err *err)
{
	char range[96];
	const char *looks = looks_like(f->type);

	fh_field_range(f, range, sizeof(range));
	if (not_parsed && looks)
		return fh_usage(err, "%s: %s is not %s; accepted: %s", f->name, shown, looks, range);
	if (looks)
		return fh_usage(err, "%s: %s is out of range; accepted: %s", f->name, shown, range);
	return fh_usage(err, "%s: %s is not accepted; accepted: %s", f->name, shown, range);
}

int fh_policy_set(struct fh_policy *p, const char *name, const char *text, struct fh_err *err)
{
	const struct fh_field *f = fh_field_find(name);
	char shown[FH_SHOWN_CAP];
	uint64_t value;
	int rc;

	if (!f)
		return unknown_field(name, err);
	rc = parse_value(f, text, &value);
	if (rc < 0)
		return unacceptable(f, fh_show(text, shown), rc != -ERANGE, err);
	if (f->type == FH_TYPE_LEVEL && value > f->highest)
		return level_unavailable(value, err);
	if (value < f->lowest || value > f->highest)
		return unacceptable(f, fh_show(text, shown), 0, err);
	*fh_field_of(p, f) = value;
	return 0;
}

/*** Environment ***/

int fh_policy_add_env(struct fh_policy *p, const char *assignment, struct fh_err *err)
{
	const char *equals = strchr(assignment, '=');
	char shown[FH_SHOWN_CAP];
	size_t length = strnlen(assignment, ENV_ENTRY_BYTES_MAX), name_length, total = length,
	       same = p->n_env;
	char *copy;

	if (!equals)
		return fh_usage(err, "env: %s has no '='; write NAME=VALUE", fh_show(assignment, shown));
	name_length = (size_t)(equals - assignment) + 1;
	if (name_length == 1)
		return fh_usage(err, "env: %s has no name before '='", fh_show(assignment, shown));
	if (length >= ENV_ENTRY_BYTES_MAX)
		return fh_usage(err, "env: %s is longer than the kernel takes (128 KiB)",
				fh_show(assignment, shown));
	for (size_t i = 0; i < p->n_env; i++) {
		if (strncmp(p->env[i], assignment, name_length) == 0)
			same = i;
		else
			total += strlen(p->env[i]);
	}
	if (total > ENV_TOTAL_BYTES_MAX)
		return fh_usage(err, "env: the variables together are larger than 1 MiB");
	if (same == p->n_env) {
		if (p->n_env >= FH_POLICY_ENV_MAX)
			return fh_usage(err, "env: more than %d variables", FH_POLICY_ENV_MAX);
		return append_env(p, assignment) < 0 ? fh_fail(err, -ENOMEM, "keep a variable") : 0;
	}
	copy = strdup(assignment);
	if (!copy)
		return fh_fail(err, -ENOMEM, "keep a variable");
	free(p->env[same]);
	p->env[same] = copy;
	return 0;
}

/*** Binds ***/

static bool within(const char *path, const char *tree)
{
	size_t n = strlen(tree);

	return strncmp(path, tree, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* Absolute, and no "", "." or ".." between its slashes. */
static bool is_normal(const char *path)
{
	if (path[0] != '/')
		return false;
	if (path[1] == '\0')
		return true;
	for (const char *p = path; *p; p += strcspn(p, "/")) {
		size_t n = strcspn(++p, "/");
		if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
	}
	return true;
}

bool fh_path_is_control(const char *path)
{
	unsigned uid;
	int end = -1;

	if (within(path, "/proc") || within(path, "/sys") || within(path, "/run/fumehood"))
		return true;
	/* What holds them, too. An ordinary user's ledger of sub-ids lies in the runtime folder. */
	if (strcmp(path, "/run") == 0 || strcmp(path, "/run/user") == 0)
		return true;
	if (sscanf(path, "/run/user/%u%n", &uid, &end) != 1 || end < 0)
		return false;
	return path[end] == '\0' || within(path + end, "/fumehood");
}

/* Why a path can stand on that side of a bind; NULL when it can. */
static const char *source_fault(const char *path)
{
	if (!is_normal(path))
		return "must be an absolute path without '.', '..' or '//'";
	if (strcmp(path, "/") == 0)
		return "must not be the whole host";
	if (strcmp(path, "/dev") == 0)
		return "must not be all devices of the host (a folder below is fine)";
	if (fh_path_is_control(path))
		return "must not be in /proc or /sys of the host, nor a file of fumehood's own";
	return NULL;
}

static const char *target_fault(const char *path)
{
	static const char *const trees[] = {"/proc", "/sys", "/dev"};
	static const char *const ours[] = {"/usr", "/etc", "/work", "/tmp"};

	if (!is_normal(path))
		return "must be an absolute path without '.', '..' or '//'";
	if (strcmp(path, "/") == 0)
		return "must not be the root";
	for (size_t i = 0; i < FH_ARRAY_LEN(trees); i++)
		if (within(path, trees[i]))
			return "must not be in /proc, /sys or /dev";
	for (size_t i = 0; i < FH_ARRAY_LEN(ours); i++)
		if (strcmp(path, ours[i]) == 0)
			return "must not cover /usr, /etc, /work or /tmp (a folder below is fine)";
	return NULL;
}

static void drop_final_slashes(char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
}

static int refuse_bind(struct fh_err *err, const char *spec, const char *why)
{
	char shown[FH_SHOWN_CAP];

	return fh_usage(err, "bind: %s: %s", fh_show(spec, shown), why);
}

/* Splits a copy of the spec in place. */
static const char *split_bind(char *spec, char **ret_target, bool *ret_writable)
{
	static const char form[] = "write SOURCE:TARGET, SOURCE:TARGET:ro or SOURCE:TARGET:rw";
	char *colon = strchr(spec, ':'), *mode;

	if (!colon)
		return form;
	*colon = '\0';
	*ret_target = colon + 1;
	*ret_writable = false;
	mode = strchr(colon + 1, ':');
	if (!mode)
		return NULL;
	*mode = '\0';
	if (strcmp(mode + 1, "ro") != 0 && strcmp(mode + 1, "rw") != 0)
		return form;
	*ret_writable = mode[2] == 'w';
	return NULL;
}

int fh_policy_add_bind(struct fh_policy *p, const char *spec, struct fh_err *err)
{
	fh_autofree char *copy = NULL;
	char *target;
	bool writable;
	const char *why;

	if (strnlen(spec, 2 * PATH_MAX) >= 2 * PATH_MAX)
		return refuse_bind(err, spec, "is longer than two paths can be");
	copy = strdup(spec);
	if (!copy)
		return fh_fail(err, -ENOMEM, "keep a bind");
	why = split_bind(copy, &target, &writable);
	if (why)
		return refuse_bind(err, spec, why);
	drop_final_slashes(copy);
	drop_final_slashes(target);
	if (strlen(copy) >= PATH_MAX || strlen(target) >= PATH_MAX)
		return refuse_bind(err, spec, "is longer than a path can be");
	why = source_fault(copy);
	if (why)
		return fh_usage(err, "bind: the source %s %s", fh_show(copy, (char[FH_SHOWN_CAP]){0}), why);
	why = target_fault(target);
	if (why)
		return fh_usage(err, "bind: the target %s %s", fh_show(target, (char[FH_SHOWN_CAP]){0}), why);
	for (size_t i = 0; i < p->n_binds; i++)
		if (strcmp(p->binds[i].target, target) == 0)
			return refuse_bind(err, spec, "its target is taken by an earlier bind");
	if (p->n_binds >= FH_POLICY_BINDS_MAX)
		return fh_usage(err, "bind: more than %d binds", FH_POLICY_BINDS_MAX);
	return append_bind(p, copy, target, writable) < 0 ? fh_fail(err, -ENOMEM, "keep a bind") : 0;
}

/*** The whole ***/

int fh_policy_set_name(struct fh_policy *p, const char *name, struct fh_err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = strnlen(name, FH_POLICY_NAME_MAX);
	char shown[FH_SHOWN_CAP];

	if (n == 0 || n == FH_POLICY_NAME_MAX || strspn(name, allowed) != n)
		return fh_usage(err, "name: %s is not 1 to %d letters, digits, '.', '_' or '-'",
				fh_show(name, shown), FH_POLICY_NAME_MAX - 1);
	memcpy(p->name, name, n + 1);
	return 0;
}

static int check_ranges(const struct fh_policy *p, struct fh_err *err)
{
	for (size_t i = 0; i < fh_fields_count; i++) {
		const struct fh_field *f = &fh_fields[i];
		uint64_t value = fh_field_value(p, f);
		char text[32];

		if (f->type == FH_TYPE_LEVEL && value > f->highest && value <= FH_LEVEL_MICROVM)
			return level_unavailable(value, err);
		if (value >= f->lowest && value <= f->highest)
			continue;
		fh_field_print(f, value, text, sizeof(text));
		return unacceptable(f, text, 0, err);
	}
	return 0;
}

int fh_policy_check(const struct fh_policy *p, struct fh_err *err)
{
	char file_size[32], disk[32];
	int rc = check_ranges(p, err);

	if (rc < 0)
		return rc;
	/* The default is no wish: a small disk bounds the files on it by itself. */
	if (p->file_size_bytes > p->disk_bytes &&
	    p->file_size_bytes != fh_field_find("file_size")->standard) {
		fh_print_bytes(p->file_size_bytes, file_size, sizeof(file_size));
		fh_print_bytes(p->disk_bytes, disk, sizeof(disk));
		return fh_usage(err,
				"file_size (%s) is larger than disk (%s): no such file could be written; "
				"set file_size to %s or less",
				file_size, disk, disk);
	}
	if (p->level != FH_LEVEL_PROCESS)
		return 0;
	if (p->pty)
		return fh_unsupported(err, "use level namespace, or leave pty off",
				      "level process has no /dev/pts of its own to give (pty)");
	for (size_t i = 0; i < p->n_binds; i++)
		if (strcmp(p->binds[i].source, p->binds[i].target) != 0)
			return fh_unsupported(
			    err, "use level namespace, or bind the path to itself",
			    "level process cannot show a path under another name (bind to %s)",
			    fh_show(p->binds[i].target, (char[FH_SHOWN_CAP]){0}));
	return 0;
}
