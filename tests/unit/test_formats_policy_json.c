/* Policies as JSON: canonical, read back as the same policy, hashed; and the schema says what the decoder
 * does. */
#include "formats/policy_json.h"

#include <errno.h>
#include <jansson.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/own.h"
#include "formats/policy_file.h"
#include "formats/schema.h"

static void the_default_is_this(void **state)
{
	struct fh_policy p;
	fh_autobuf b;

	fh_buf_init(&b, 4096);
	fh_policy_init(&p);
	assert_int_equal(fh_policy_to_json(&p, FH_POLICY_JSON_LINE, &b), 0);
	assert_string_equal(fh_buf_str(&b), "{\"name\":\"default\",\"level\":\"namespace\",\"enforce\":"
					    "\"best\",\"network\":\"none\",\"wall\":\"30s\","
					    "\"cpu\":\"35s\",\"memory\":\"512M\",\"pids\":64,\"disk\":\"1G\","
					    "\"inodes\":65536,\"file_size\":\"50M\","
					    "\"files\":1024,\"keep\":\"8K\",\"output_stop\":\"5M\",\"cpus\":"
					    "\"2\",\"pty\":false,\"env\":{},\"bind\":[]}");
	fh_policy_finish(&p);
}

/* Every field at its lowest, then at its highest, with lists, in both styles: the file decoder gives the same
 * back. */
static void is_read_back(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct fh_policy p, back;
		struct fh_err err;
		fh_autobuf b, again;
		fh_buf_init(&b, 1 << 16);
		fh_buf_init(&again, 1 << 16);
		fh_policy_init(&p);
		fh_policy_init(&back);
		for (size_t k = 0; k < fh_fields_count; k++)
			*fh_field_of(&p, &fh_fields[k]) = i % 2 ? fh_fields[k].lowest : fh_fields[k].highest;
		assert_int_equal(fh_policy_set_name(&p, "other", &err), 0);
		assert_int_equal(fh_policy_add_env(&p, "Z=1=2", &err), 0);
		assert_int_equal(fh_policy_add_env(&p, "A=\x1b\"\\\xc3\xa9", &err), 0);
		assert_int_equal(fh_policy_add_bind(&p, "/z:/z:rw", &err), 0);
		assert_int_equal(fh_policy_add_bind(&p, "/a:/a", &err), 0);
		assert_int_equal(
		    fh_policy_to_json(&p, i < 2 ? FH_POLICY_JSON_LINE : FH_POLICY_JSON_INDENTED, &b), 0);
		assert_int_equal(strchr(b.data, '\n') != NULL, i >= 2);
		assert_int_equal(fh_policy_read_text(b.data, b.len, "p", &back, &err), 0);
		assert_string_equal(back.name, "other");
		for (size_t k = 0; k < fh_fields_count; k++)
			assert_true(fh_field_value(&back, &fh_fields[k]) ==
				    fh_field_value(&p, &fh_fields[k]));
		assert_string_equal(back.env[0], "A=\x1b\"\\\xc3\xa9");
		assert_string_equal(back.env[1], "Z=1=2");
		assert_string_equal(back.binds[0].target, "/z");
		assert_true(back.binds[0].writable);
		assert_int_equal(
		    fh_policy_to_json(&back, i < 2 ? FH_POLICY_JSON_LINE : FH_POLICY_JSON_INDENTED, &again),
		    0);
		assert_string_equal(fh_buf_str(&again), fh_buf_str(&b));
		fh_policy_finish(&p);
		fh_policy_finish(&back);
	}
}

static void hash_of(const struct fh_policy *p, char hex[FH_SHA256_HEX])
{
	memset(hex, 'x', FH_SHA256_HEX);
	assert_int_equal(fh_policy_hash(p, hex), 0);
	assert_int_equal(strlen(hex), 64);
}

static void hashes_tell_policies_apart(void **state)
{
	char first[FH_SHA256_HEX], other[FH_SHA256_HEX];
	struct fh_policy p, q;
	struct fh_err err;

	fh_policy_init(&p);
	fh_policy_init(&q);
	hash_of(&p, first);
	/* printf '%s' of the line above | sha256sum */
	assert_string_equal(first, "266cc6e77756be5e3426009555018729281a2dc06d38a1369182eea877eec6a6");
	q.allow_weaker = 1;
	hash_of(&q, other);
	assert_string_equal(first, other);
	for (size_t k = 0; k < fh_fields_count; k++) {
		const struct fh_field *f = &fh_fields[k];
		if (f->lowest == f->highest)
			continue;
		*fh_field_of(&q, f) = f->standard == f->lowest ? f->highest : f->lowest;
		hash_of(&q, other);
		assert_string_not_equal(first, other);
		*fh_field_of(&q, f) = f->standard;
	}
	/* The order of variables says nothing, the order of binds does. */
	fh_policy_add_env(&p, "A=1", &err);
	fh_policy_add_env(&p, "B=2", &err);
	fh_policy_add_env(&q, "B=2", &err);
	fh_policy_add_env(&q, "A=1", &err);
	hash_of(&p, first);
	hash_of(&q, other);
	assert_string_equal(first, other);
	fh_policy_add_bind(&p, "/a:/a", &err);
	fh_policy_add_bind(&p, "/b:/b", &err);
	fh_policy_add_bind(&q, "/b:/b", &err);
	fh_policy_add_bind(&q, "/a:/a", &err);
	hash_of(&p, first);
	hash_of(&q, other);
	assert_string_not_equal(first, other);
	fh_policy_finish(&p);
	fh_policy_finish(&q);
}

static void bytes_that_are_no_text_still_differ(void **state)
{
	char first[FH_SHA256_HEX], other[FH_SHA256_HEX];
	struct fh_policy p, q;
	struct fh_err err;
	fh_autobuf b;

	fh_policy_init(&p);
	fh_policy_init(&q);
	fh_policy_add_env(&p, "A=\xff", &err);
	fh_policy_add_env(&q, "A=\xfe", &err);
	hash_of(&p, first);
	hash_of(&q, other);
	assert_string_not_equal(first, other);
	fh_policy_add_bind(&p, "/\xff:/b:rw", &err);
	fh_buf_init(&b, 4096);
	assert_int_equal(fh_policy_to_json(&p, FH_POLICY_JSON_LINE, &b), 0);
	assert_non_null(
	    strstr(fh_buf_str(&b),
		   "\"env\":{},\"env_base64\":[\"QT3/\"],\"bind\":[],\"bind_base64\":[\"L/86L2I6cnc=\"]}"));
	fh_policy_finish(&p);
	fh_policy_finish(&q);
}

static void a_small_buffer_is_told(void **state)
{
	struct fh_policy p;
	fh_autobuf b;

	fh_policy_init(&p);
	fh_buf_init(&b, 20);
	assert_int_equal(fh_policy_to_json(&p, FH_POLICY_JSON_LINE, &b), -E2BIG);
	fh_buf_finish(&b);
	fh_buf_init(&b, 20);
	assert_int_equal(fh_schema_print(&b), -E2BIG);
	fh_policy_finish(&p);
}

/*** The schema ***/

static json_t *schema(void)
{
	fh_autobuf b;
	json_t *tree;

	fh_buf_init(&b, 1 << 16);
	assert_int_equal(fh_schema_print(&b), 0);
	tree = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(tree);
	return tree;
}

/* Whether the schema of one field takes the value. */
static int schema_takes(const json_t *field, const json_t *value)
{
	const json_t *list = json_object_get(field, "enum"), *item;
	size_t i;

	json_array_foreach(list, i, item) if (json_equal(item, value)) return 1;
	json_array_foreach(json_object_get(field, "anyOf"), i, item)
	{
		const char *pattern = json_string_value(json_object_get(item, "pattern"));
		regex_t re;
		if (pattern && json_is_string(value)) {
			assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
			int match = regexec(&re, json_string_value(value), 0, NULL, 0) == 0;
			regfree(&re);
			if (match)
				return 1;
		}
		if (!pattern && json_is_number(value) &&
		    ((double)(int64_t)json_number_value(value) == json_number_value(value) ||
		     strcmp(json_string_value(json_object_get(item, "type")), "number") == 0) &&
		    json_number_value(value) >= json_number_value(json_object_get(item, "minimum")) &&
		    json_number_value(value) <= json_number_value(json_object_get(item, "maximum")))
			return 1;
	}
	return 0;
}

/* The schema must take what the decoder takes. What the decoder refuses the schema may only take as a text
 * whose form is right and whose value is out of range: patterns cannot compare. */
static void schema_and_decoder_agree(void **state)
{
	static const char *const values[] = {
	    "\"30s\"",  "\"500ms\"", "\"1.5h\"",   "\"5M\"",   "\"512MiB\"",  "\"1KB\"",
	    "\"7B\"",   "\"7b\"",    "\"1.5\"",    "\"1.5B\"", "\"64\"",      "\"64K\"",
	    "\"-1\"",   "\"\"",      "\" 1\"",     "\"1 \"",   "\"1.\"",      "\".5\"",
	    "\"1e3\"",  "\"true\"",  "\"yes\"",    "\"True\"", "\"process\"", "\"namespace\"",
	    "\"none\"", "\"best\"",  "\"kernel\"", "\"1\"",    "\"2\"",       "\"0\"",
	    "0",        "1",         "2",          "64",       "100000",      "10000000",
	    "-1",       "0.5",       "1.5",        "true",     "false",       "1e15",
	    "\"1Ki\"",  "\"2d\"",    "\"x\"",
	};
	json_t *all = schema(), *fields = json_object_get(all, "properties");

	assert_true(json_is_false(json_object_get(all, "additionalProperties")));
	assert_int_equal(json_object_size(fields), fh_fields_count + 3);
	for (size_t k = 0; k < fh_fields_count; k++) {
		const struct fh_field *f = &fh_fields[k];
		json_t *field = json_object_get(fields, f->name);
		assert_non_null(field);
		assert_true(schema_takes(field, json_object_get(field, "default")));
		for (size_t i = 0; i < FH_ARRAY_LEN(values); i++) {
			json_t *value = json_loads(values[i], JSON_DECODE_ANY, NULL);
			struct fh_policy p;
			struct fh_err err;
			char text[100];
			snprintf(text, sizeof(text), "{\"%s\": %s}", f->name, values[i]);
			fh_policy_init(&p);
			int decoder = fh_policy_read_text(text, strlen(text), "p", &p, &err) == 0;
			int taken = schema_takes(field, value);
			if (decoder ? !taken : taken && !strstr(err.message, "out of range"))
				fail_msg("%s: decoder %d, schema %d", text, decoder, taken);
			json_decref(value);
			fh_policy_finish(&p);
		}
	}
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_default_is_this),
	    cmocka_unit_test(is_read_back),
	    cmocka_unit_test(hashes_tell_policies_apart),
	    cmocka_unit_test(bytes_that_are_no_text_still_differ),
	    cmocka_unit_test(a_small_buffer_is_told),
	    cmocka_unit_test(schema_and_decoder_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
