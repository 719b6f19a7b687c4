/* Policy files; see policy_file.h. The front ends make a tree of either format; here the tree is laid over a
 * policy. */
#include "formats/policy_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"
#include "formats/tree.h"
#include "policy/words.h"

/* One of the two formats. */
struct front_end {
	int (*tree)(const struct fh_source *s, json_t **ret, struct fh_err *err);
	size_t (*line)(const struct fh_source *s, size_t outer, long inner);
};

static const struct front_end json_front = {fh_json_tree, fh_json_line};
static const struct front_end yaml_front = {fh_yaml_tree, fh_yaml_line};

/* Members that are not scalars of the table. */
static const char *const other_members[] = {"name", "env", "bind"};

struct policy_text {
	struct fh_source source;
	const struct front_end *front;
};

static int ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

static const struct front_end *choose_front(const struct fh_source *s)
{
	size_t i = 0;

	if (ends_with(s->filename, ".json"))
		return &json_front;
	if (ends_with(s->filename, ".yaml") || ends_with(s->filename, ".yml"))
		return &yaml_front;
	while (i < s->n &&
	       (s->text[i] == ' ' || s->text[i] == '\t' || s->text[i] == '\r' || s->text[i] == '\n'))
		i++;
	return i < s->n && s->text[i] == '{' ? &json_front : &yaml_front;
}

static int within_line(const struct policy_text *t, size_t outer, long inner, struct fh_err *err)
{
	return fh_err_within(err, "%s:%zu", t->source.filename, t->front->line(&t->source, outer, inner));
}

/*** Scalars ***/

/* A JSON number as the text that fh_policy_set takes. Decimals stay visible, so that a field of whole numbers
 * refuses them; a minus too. Without printf's %f, which follows the locale of whoever called us. */
static void number_text(const json_t *value, char *into, size_t cap)
{
	double real = json_real_value(value), whole;
	uint64_t billionths;

	if (json_is_integer(value)) {
		snprintf(into, cap, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return;
	}
	if (signbit(real) || real >= 0x1p63) {
		snprintf(into, cap, signbit(real) ? "a negative number" : "a huge number");
		return;
	}
	whole = (double)(uint64_t)real;
	billionths = (uint64_t)((real - whole) * 1e9 + 0.5);
	if (real == whole)
		snprintf(into, cap, "%" PRIu64, (uint64_t)real);
	else
		snprintf(into, cap, "%" PRIu64 ".%09" PRIu64, (uint64_t)real + billionths / 1000000000u,
			 billionths % 1000000000u);
}

static int set_field(struct fh_policy *p, const struct fh_field *f, const json_t *value, struct fh_err *err)
{
	char text[48], range[96];

	if (json_is_string(value))
		return fh_policy_set(p, f->name, json_string_value(value), err);
	if (json_is_number(value)) {
		number_text(value, text, sizeof(text));
		return fh_policy_set(p, f->name, text, err);
	}
	if (json_is_boolean(value) && f->type == FH_TYPE_BOOL)
		return fh_policy_set(p, f->name, json_is_true(value) ? "true" : "false", err);
	fh_field_range(f, range, sizeof(range));
	return fh_usage(err, "%s: the value is of the wrong kind; write a text or a number; accepted: %s",
			f->name, range);
}

static int set_name(struct fh_policy *p, const json_t *value, struct fh_err *err)
{
	if (!json_is_string(value))
		return fh_usage(err, "name: the value must be a text");
	return fh_policy_set_name(p, json_string_value(value), err);
}

/*** Lists ***/

static int add_variable(struct fh_policy *p, const char *name, const json_t *value, struct fh_err *err)
{
	char shown[FH_SHOWN_CAP];
	fh_autobuf assignment;

	fh_buf_init(&assignment, FH_POLICY_FILE_BYTES_MAX);
	if (!json_is_string(value))
		return fh_usage(err, "env: the value of %s must be a text; write \"\" for an empty one",
				fh_show(name, shown));
	if (!*name || strchr(name, '='))
		return fh_usage(err, "env: %s cannot be the name of a variable", fh_show(name, shown));
	if (fh_buf_addf(&assignment, "%s=%s", name, json_string_value(value)) < 0)
		return fh_usage(err, "env: %s is too large", fh_show(name, shown));
	return fh_policy_add_env(p, fh_buf_str(&assignment), err);
}

static int set_env(const struct policy_text *t, size_t outer, struct fh_policy *p, json_t *value,
		   struct fh_err *err)
{
	const char *name;
	json_t *item;
	long inner = 0;

	if (!json_is_object(value)) {
		fh_usage(err, "env: must be an object of texts, such as {\"LANG\": \"C\"}");
		return within_line(t, outer, -1, err);
	}
	json_object_foreach(value, name, item)
	{
		if (add_variable(p, name, item, err) < 0)
			return within_line(t, outer, inner, err);
		inner++;
	}
	return 0;
}

static int set_binds(const struct policy_text *t, size_t outer, struct fh_policy *p, json_t *value,
		     struct fh_err *err)
{
	size_t i;
	json_t *item;

	if (!json_is_array(value)) {
		fh_usage(err, "bind: must be a list of texts, such as [\"/srv/data:/data:ro\"]");
		return within_line(t, outer, -1, err);
	}
	json_array_foreach(value, i, item)
	{
		int rc = json_is_string(item)
			     ? fh_policy_add_bind(p, json_string_value(item), err)
			     : fh_usage(err, "bind: each must be a text, SOURCE:TARGET[:ro|:rw]");
		if (rc < 0)
			return within_line(t, outer, (long)i, err);
	}
	return 0;
}

/*** The whole ***/

static int unknown_member(const char *name, struct fh_err *err)
{
	const char *names[64];
	char shown[FH_SHOWN_CAP];
	const char *near;
	size_t n = 0;

	if (strcmp(name, "allow_weaker") == 0)
		return fh_usage(
		    err, "allow_weaker cannot stand in a policy file: only the caller of a run may accept "
			 "a weaker one, with --allow-weaker");
	for (size_t i = 0; i < fh_fields_count && n < FH_ARRAY_LEN(names) - FH_ARRAY_LEN(other_members); i++)
		names[n++] = fh_fields[i].name;
	for (size_t i = 0; i < FH_ARRAY_LEN(other_members); i++)
		names[n++] = other_members[i];
	near = fh_nearest(name, names, n);
	if (near)
		return fh_usage(err, "there is no field %s; did you mean '%s'?", fh_show(name, shown), near);
	return fh_usage(err, "there is no field %s", fh_show(name, shown));
}

static int set_member(const struct policy_text *t, size_t outer, struct fh_policy *p, const char *name,
		      json_t *value, struct fh_err *err)
{
	const struct fh_field *f = fh_field_find(name);
	int rc;

	if (strcmp(name, "env") == 0)
		return set_env(t, outer, p, value, err);
	if (strcmp(name, "bind") == 0)
		return set_binds(t, outer, p, value, err);
	if (f)
		rc = set_field(p, f, value, err);
	else if (strcmp(name, "name") == 0)
		rc = set_name(p, value, err);
	else
		rc = unknown_member(name, err);
	return rc < 0 ? within_line(t, outer, -1, err) : 0;
}

static int lay_over(const struct policy_text *t, json_t *tree, struct fh_policy *p, struct fh_err *err)
{
	const char *name;
	json_t *value;
	size_t outer = 0;

	if (!json_is_object(tree))
		return fh_usage(err, "%s:1: a policy is an object of fields, such as {\"wall\": \"10s\"}",
				t->source.filename);
	json_object_foreach(tree, name, value)
	{
		int rc = set_member(t, outer++, p, name, value, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int fh_policy_read_text(const char *text, size_t n, const char *filename, struct fh_policy *p,
			struct fh_err *err)
{
	struct policy_text t = {.source = {text, n, filename}};
	struct fh_policy made = {0};
	struct fh_err unheard;
	json_t *tree = NULL;
	int rc;

	if (!err)
		err = &unheard;
	if (n > FH_POLICY_FILE_BYTES_MAX)
		return fh_usage(err, "%s: larger than 1 MiB, which no policy is", filename);
	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark, as some editors leave */
		t.source.text += 3;
		t.source.n -= 3;
	}
	t.front = choose_front(&t.source);
	rc = t.front->tree(&t.source, &tree, err);
	if (rc < 0)
		return rc;
	rc = fh_policy_copy(&made, p);
	if (rc < 0)
		fh_fail(err, rc, "copy a policy");
	else
		rc = lay_over(&t, tree, &made, err);
	if (rc == 0) {
		struct fh_policy old = *p;
		*p = made;
		made = old;
	}
	fh_policy_finish(&made);
	json_decref(tree);
	return rc;
}

int fh_policy_read_file(const char *path, struct fh_policy *p, struct fh_err *err)
{
	fh_autobuf text;
	int rc;

	fh_buf_init(&text, FH_POLICY_FILE_BYTES_MAX);
	rc = fh_read_file_at(AT_FDCWD, path, &text);
	if (rc == -E2BIG)
		return fh_usage(err, "%s: larger than 1 MiB, which no policy is", path);
	if (rc < 0) {
		fh_fail(err, rc, "read the policy file '%s'", path);
		if (err)
			err->kind = FH_ERR_USAGE;
		return rc;
	}
	return fh_policy_read_text(fh_buf_str(&text), text.len, path, p, err);
}
