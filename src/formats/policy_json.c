/* Policies as canonical JSON; see policy_json.h. */
#include "formats/policy_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "formats/json_write.h"
#include "formats/utf8.h"

/* More than any policy can hold: 1 MiB of environment and 64 binds of two paths, each byte escaped to six. */
#define POLICY_JSON_BYTES_MAX (16u << 20)

static void put_field(struct fh_json *j, const struct fh_field *f, uint64_t value)
{
	char text[32];

	fh_json_key(j, f->name);
	switch (f->type) {
	case FH_TYPE_COUNT:
		fh_json_u64(j, value);
		return;
	case FH_TYPE_BOOL:
		fh_json_bool(j, value != 0);
		return;
	case FH_TYPE_LEVEL:
	case FH_TYPE_DURATION:
	case FH_TYPE_BYTES:
	case FH_TYPE_CPUS:
	case FH_TYPE_NETWORK:
	case FH_TYPE_ENFORCE:
		fh_field_print(f, value, text, sizeof(text));
		fh_json_string(j, text);
		return;
	}
}

static int is_text(const char *s)
{
	return fh_utf8_is_valid(s, strlen(s));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put_env(struct fh_json *j, char *const *sorted, size_t n)
{
	size_t odd = 0;

	fh_json_key(j, "env");
	fh_json_open_object(j);
	for (size_t i = 0; i < n; i++) {
		size_t name_length = strcspn(sorted[i], "=");
		fh_autofree char *name = NULL;
		if (!is_text(sorted[i])) {
			odd++;
			continue;
		}
		name = strndup(sorted[i], name_length);
		fh_json_key(j, name ? name : "");
		fh_json_string(j, sorted[i] + name_length + (sorted[i][name_length] == '='));
		if (!name)
			j->into->overflow = true;
	}
	fh_json_close_object(j);
	if (!odd)
		return;
	fh_json_key(j, "env_base64");
	fh_json_open_array(j);
	for (size_t i = 0; i < n; i++)
		if (!is_text(sorted[i]))
			fh_json_base64(j, sorted[i], strlen(sorted[i]));
	fh_json_close_array(j);
}

/* The binds that are text, or those that are not. */
static void put_binds(struct fh_json *j, const struct fh_policy *p, int text)
{
	fh_json_open_array(j);
	for (size_t i = 0; i < p->n_binds; i++) {
		const struct fh_bind *b = &p->binds[i];
		fh_autobuf spec;
		fh_buf_init(&spec, POLICY_JSON_BYTES_MAX);
		if (fh_buf_addf(&spec, "%s:%s:%s", b->source, b->target, b->writable ? "rw" : "ro") < 0)
			j->into->overflow = true;
		else if (text && is_text(fh_buf_str(&spec)))
			fh_json_string(j, fh_buf_str(&spec));
		else if (!text && !is_text(fh_buf_str(&spec)))
			fh_json_base64(j, fh_buf_str(&spec), spec.len);
	}
	fh_json_close_array(j);
}

static int has_odd_binds(const struct fh_policy *p)
{
	for (size_t i = 0; i < p->n_binds; i++)
		if (!is_text(p->binds[i].source) || !is_text(p->binds[i].target))
			return 1;
	return 0;
}

int fh_policy_to_json(const struct fh_policy *p, enum fh_policy_json_style style, struct fh_buf *into)
{
	fh_autofree char **sorted = calloc(p->n_env + 1, sizeof(*sorted));
	struct fh_json j;

	if (!sorted)
		return -ENOMEM;
	if (p->n_env) {
		memcpy(sorted, p->env, p->n_env * sizeof(*sorted));
		qsort(sorted, p->n_env, sizeof(*sorted), by_name);
	}
	fh_json_init(&j, into);
	j.indented = style == FH_POLICY_JSON_INDENTED;
	fh_json_open_object(&j);
	fh_json_key(&j, "name");
	fh_json_string(&j, p->name);
	for (size_t i = 0; i < fh_fields_count; i++)
		put_field(&j, &fh_fields[i], fh_field_value(p, &fh_fields[i]));
	put_env(&j, sorted, p->n_env);
	fh_json_key(&j, "bind");
	put_binds(&j, p, 1);
	if (has_odd_binds(p)) {
		fh_json_key(&j, "bind_base64");
		put_binds(&j, p, 0);
	}
	fh_json_close_object(&j);
	return fh_json_finish(&j);
}

int fh_policy_hash(const struct fh_policy *p, char hex[FH_SHA256_HEX])
{
	struct fh_sha256 sum;
	fh_autobuf text;
	int rc;

	fh_buf_init(&text, POLICY_JSON_BYTES_MAX);
	rc = fh_policy_to_json(p, FH_POLICY_JSON_LINE, &text);
	if (rc < 0)
		return rc;
	fh_sha256_init(&sum);
	fh_sha256_add(&sum, text.data, text.len);
	fh_sha256_hex(&sum, hex);
	return 0;
}
