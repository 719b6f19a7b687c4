/* The schema of policy files; see schema.h. */
#include "formats/schema.h"

#include <string.h>

#include "base/own.h"
#include "formats/json_write.h"
#include "policy/policy.h"

/* The grammars of policy/units.h, anchored. */
static const char duration_pattern[] = "^[0-9]+([.][0-9]+)?(ms|s|m|h|d)?$";
static const char bytes_pattern[] = "^([0-9]+[Bb]?|[0-9]+([.][0-9]+)?[KkMmGgTt]([Ii]?[Bb])?)$";
static const char count_pattern[] = "^[0-9]+$";
static const char cpus_pattern[] = "^[0-9]+([.][0-9]+)?$";
static const char name_pattern[] = "^[A-Za-z0-9._-]{1,63}$";
static const char variable_pattern[] = "^[^=]+$";
static const char bind_pattern[] = "^/[^:]*:/[^:]*(:ro|:rw)?$";

static void put_text(struct fh_json *j, const char *key, const char *text)
{
	fh_json_key(j, key);
	fh_json_string(j, text);
}

static void put_string_form(struct fh_json *j, const char *pattern)
{
	fh_json_open_object(j);
	put_text(j, "type", "string");
	put_text(j, "pattern", pattern);
	fh_json_close_object(j);
}

static void put_bound(struct fh_json *j, const char *key, uint64_t value, uint64_t per)
{
	fh_json_key(j, key);
	if (per == 1)
		fh_json_u64(j, value);
	else
		fh_json_thousandths(j, value);
}

/* A number between the bounds; `per` of them make one of what people count in (milliseconds a second). */
static void put_number_form(struct fh_json *j, const struct fh_field *f, uint64_t per)
{
	fh_json_open_object(j);
	put_text(j, "type", per == 1 ? "integer" : "number");
	put_bound(j, "minimum", f->lowest, per);
	put_bound(j, "maximum", f->highest, per);
	fh_json_close_object(j);
}

static void put_amount(struct fh_json *j, const struct fh_field *f, const char *pattern, uint64_t per)
{
	fh_json_key(j, "anyOf");
	fh_json_open_array(j);
	put_string_form(j, pattern);
	put_number_form(j, f, per);
	fh_json_close_array(j);
}

static void put_words(struct fh_json *j, const char *const *words, size_t n)
{
	fh_json_key(j, "enum");
	fh_json_open_array(j);
	for (size_t i = 0; i < n; i++)
		fh_json_string(j, words[i]);
}

static void put_choice(struct fh_json *j, const struct fh_field *f)
{
	static const char *const truths[] = {"true", "yes", "on", "1", "false", "no", "off", "0"};
	static const char *const enforce[] = {"best", "kernel"};
	static const char *const network[] = {"none"};
	static const char *const levels[] = {"process", "namespace", "1", "2"};

	if (f->type == FH_TYPE_BOOL) {
		put_words(j, truths, FH_ARRAY_LEN(truths));
		fh_json_bool(j, true);
		fh_json_bool(j, false);
		fh_json_u64(j, 1);
		fh_json_u64(j, 0);
	} else if (f->type == FH_TYPE_LEVEL) {
		put_words(j, levels, FH_ARRAY_LEN(levels));
		for (uint64_t level = f->lowest; level <= f->highest; level++)
			fh_json_u64(j, level);
	} else if (f->type == FH_TYPE_ENFORCE) {
		put_words(j, enforce, FH_ARRAY_LEN(enforce));
	} else {
		put_words(j, network, FH_ARRAY_LEN(network));
	}
	fh_json_close_array(j);
}

static void put_field(struct fh_json *j, const struct fh_field *f)
{
	char standard[32], range[96];
	fh_autobuf about;

	fh_field_print(f, f->standard, standard, sizeof(standard));
	fh_field_range(f, range, sizeof(range));
	fh_buf_init(&about, 1024);
	fh_buf_addf(&about, "%s. Accepted: %s.", f->help, range);
	fh_json_key(j, f->name);
	fh_json_open_object(j);
	put_text(j, "description", fh_buf_str(&about));
	put_text(j, "default", standard);
	switch (f->type) {
	case FH_TYPE_DURATION:
		put_amount(j, f, duration_pattern, 1000);
		break;
	case FH_TYPE_BYTES:
		put_amount(j, f, bytes_pattern, 1);
		break;
	case FH_TYPE_COUNT:
		put_amount(j, f, count_pattern, 1);
		break;
	case FH_TYPE_CPUS:
		put_amount(j, f, cpus_pattern, 1000);
		break;
	case FH_TYPE_LEVEL:
	case FH_TYPE_BOOL:
	case FH_TYPE_NETWORK:
	case FH_TYPE_ENFORCE:
		put_choice(j, f);
		break;
	}
	fh_json_close_object(j);
}

static void put_name(struct fh_json *j)
{
	fh_json_key(j, "name");
	fh_json_open_object(j);
	put_text(j, "description", "What the policy is called in results.");
	put_text(j, "default", "default");
	put_text(j, "type", "string");
	put_text(j, "pattern", name_pattern);
	fh_json_close_object(j);
}

static void put_env(struct fh_json *j)
{
	fh_json_key(j, "env");
	fh_json_open_object(j);
	put_text(j, "description", "Variables added to the environment of the program.");
	put_text(j, "type", "object");
	fh_json_key(j, "maxProperties");
	fh_json_u64(j, FH_POLICY_ENV_MAX);
	fh_json_key(j, "propertyNames");
	fh_json_open_object(j);
	put_text(j, "pattern", variable_pattern);
	fh_json_close_object(j);
	fh_json_key(j, "additionalProperties");
	fh_json_open_object(j);
	put_text(j, "type", "string");
	fh_json_close_object(j);
	fh_json_close_object(j);
}

static void put_bind(struct fh_json *j)
{
	fh_json_key(j, "bind");
	fh_json_open_object(j);
	put_text(j, "description",
		 "Files or folders of this system that the program can see, SOURCE:TARGET[:ro|:rw]; "
		 "read-only unless :rw is said.");
	put_text(j, "type", "array");
	fh_json_key(j, "maxItems");
	fh_json_u64(j, FH_POLICY_BINDS_MAX);
	fh_json_key(j, "items");
	put_string_form(j, bind_pattern);
	fh_json_close_object(j);
}

int fh_schema_print(struct fh_buf *into)
{
	struct fh_json j;

	fh_json_init(&j, into);
	j.indented = true;
	fh_json_open_object(&j);
	put_text(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	put_text(&j, "title", "fumehood policy");
	put_text(&j, "description",
		 "What a run of fumehood may do and use. A number is seconds for times and bytes for sizes.");
	put_text(&j, "type", "object");
	fh_json_key(&j, "properties");
	fh_json_open_object(&j);
	put_name(&j);
	for (size_t i = 0; i < fh_fields_count; i++)
		put_field(&j, &fh_fields[i]);
	put_env(&j);
	put_bind(&j);
	fh_json_close_object(&j);
	fh_json_key(&j, "additionalProperties");
	fh_json_bool(&j, false);
	fh_json_close_object(&j);
	return fh_json_finish(&j);
}
