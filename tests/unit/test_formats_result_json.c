/* The JSON of a result: every member, nulls where there is nothing, and one line whatever the program chose
 * to print. */
#include "formats/result_json.h"

#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/own.h"

/* A result on the stack that borrows all its strings. */
static struct fh_result empty_result(void)
{
	struct fh_result r = {.id = "0123456789abcdef0123456789abcdef", .exit_code = -1};

	return r;
}

static void an_empty_result(void **state)
{
	struct fh_result r = empty_result();
	fh_autobuf b;

	r.verdict = FH_VERDICT_SANDBOX;
	r.status = 125;
	fh_buf_init(&b, 4096);
	assert_int_equal(fh_result_to_json(&r, FH_RESULT_TEXT, &b), 0);
	assert_string_equal(
	    fh_buf_str(&b),
	    "{\"id\":\"0123456789abcdef0123456789abcdef\",\"verdict\":\"sandbox\",\"exit_code\":null,"
	    "\"signal\":null,"
	    "\"signal_name\":null,"
	    "\"stdout\":{\"text\":\"\",\"bytes_total\":0,\"bytes_kept\":0,\"truncated\":false,\"binary\":"
	    "false,"
	    "\"text_cut\":null},"
	    "\"stderr\":{\"text\":\"\",\"bytes_total\":0,\"bytes_kept\":0,\"truncated\":false,\"binary\":"
	    "false,"
	    "\"text_cut\":null},"
	    "\"time_ms\":{\"queued\":0.000,\"setup\":0.000,\"wall\":0.000,\"user\":0.000,\"system\":0.000},"
	    "\"peak\":{\"memory_bytes\":0,\"pids\":0,\"disk_bytes\":0,\"inodes\":0,\"output_bytes\":0},"
	    "\"limit\":null,\"message\":\"\",\"status\":125,\"receipt\":null}");
}

static json_t *parsed(const struct fh_result *r, enum fh_result_bytes bytes)
{
	fh_autobuf b;
	json_t *tree;

	fh_buf_init(&b, 1 << 16);
	assert_int_equal(fh_result_to_json(r, bytes, &b), 0);
	assert_null(strchr(b.data, '\n'));
	tree = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(tree);
	return tree;
}

static void assert_text(const json_t *object, const char *key, const char *text)
{
	const char *got = json_string_value(json_object_get(object, key));

	if (!got)
		fail_msg("%s is not a text", key);
	assert_string_equal(got, text);
}

static void assert_number(const json_t *object, const char *key, double value)
{
	if (!json_is_number(json_object_get(object, key)))
		fail_msg("%s is not a number", key);
	assert_true(json_number_value(json_object_get(object, key)) == value);
}

static void streams_and_numbers(void **state)
{
	char raw[] = "a\xc3\xa9\xff\n\"\x1b[0m\0z", text[] = "a\xc3\xa9\xef\xbf\xbd\n\"\x1b[0m\xef\xbf\xbdz";
	struct fh_result r = empty_result();
	struct fh_chunk chunks[] = {{1, 0, 3}, {2, 0, 1}};
	char message[] = "ended at its memory limit of 512M";
	json_t *all, *out;

	r.verdict = FH_VERDICT_MEMORY;
	r.signal = SIGKILL;
	r.out = (struct fh_stream){.bytes_total = 1000,
				   .bytes_kept = sizeof(raw) - 1,
				   .truncated = true,
				   .binary = true,
				   .raw = raw,
				   .head_bytes = 4,
				   .text = text,
				   .text_bytes = sizeof(text) - 1,
				   .text_head_bytes = 6};
	r.chunks = chunks;
	r.n_chunks = 2;
	r.wall_us = 12345;
	r.peak_memory_bytes = UINT64_MAX >> 1;
	r.limit = FH_AXIS_MEMORY;
	r.limit_value = 512 << 20;
	r.message = message;
	r.err.bytes_total = 1;
	all = parsed(&r, FH_RESULT_BASE64);
	out = json_object_get(all, "stdout");
	assert_text(all, "verdict", "memory");
	assert_true(json_is_null(json_object_get(all, "exit_code")));
	assert_number(all, "signal", 9);
	assert_text(all, "signal_name", "SIGKILL");
	assert_text(out, "text", text);
	assert_number(out, "bytes_total", 1000);
	assert_number(out, "text_cut", 3);
	assert_number(out, "data_cut", 4);
	assert_text(out, "data_base64", "YcOp/woiG1swbQB6");
	assert_true(json_is_true(json_object_get(out, "truncated")));
	assert_true(json_is_true(json_object_get(out, "binary")));
	assert_number(json_object_get(all, "time_ms"), "wall", 12.345);
	assert_true(json_integer_value(json_object_get(json_object_get(all, "peak"), "memory_bytes")) ==
		    INT64_MAX);
	assert_number(json_object_get(all, "peak"), "output_bytes", 1001);
	assert_text(json_object_get(all, "limit"), "axis", "memory");
	assert_number(json_object_get(all, "limit"), "value", 512 << 20);
	assert_text(all, "message", message);
	assert_int_equal(json_array_size(json_object_get(all, "chunks")), 2);
	assert_text(json_array_get(json_object_get(all, "chunks"), 1), "stream", "stderr");
	json_decref(all);
	/* Without the request there is no data. */
	all = parsed(&r, FH_RESULT_TEXT);
	assert_null(json_object_get(json_object_get(all, "stdout"), "data_base64"));
	json_decref(all);
}

static void the_receipt(void **state)
{
	struct fh_result r = empty_result();
	char namespaces[] = "user:1 mnt:2", cgroups[] = "/a\n/b\n", mounts[] = "/ tmpfs ro\n/proc proc ro\n";
	char uid_map[] = "1000 100000 1", path[] = "a\xe2\x80\xa8\\x0a", one[] = "pids: no cgroup";
	char userns[] = "userns", netns[] = "netns", *mechanisms[] = {userns, netns}, *weaker[] = {one};
	struct fh_change changes[] = {
	    {FH_CHANGE_ADDED, FH_FILE_REGULAR, path, 7, "aa"},
	    {FH_CHANGE_DELETED, FH_FILE_DIRECTORY, path, 0, ""},
	    {FH_CHANGE_MODIFIED, FH_FILE_SYMLINK, path, 0, ""},
	};
	json_t *all, *receipt, *limits;

	r.exit_code = 3;
	r.verdict = FH_VERDICT_EXIT;
	r.has_receipt = true;
	memcpy(r.out.sha256, "0a", 3);
	r.receipt = (struct fh_receipt){.version = "0.1.0",
					.policy_name = "default",
					.policy_sha256 = "ff",
					.level = 2,
					.uid_map = uid_map,
					.uid = 1000,
					.gid = 1001,
					.caps = {0, 0, 0, 0x8000000000000001ull, 0},
					.no_new_privs = 1,
					.seccomp = 2,
					.seccomp_filters = 1,
					.landlock_abi = 7,
					.namespaces = namespaces,
					.cgroups = cgroups,
					.mounts = mounts,
					.mechanisms = mechanisms,
					.n_mechanisms = 2,
					.not_enforced = weaker,
					.n_not_enforced = 1,
					.changes = changes,
					.n_changes = 3,
					.interpreter = "/usr/bin/python3",
					.started_ms = 1,
					.ended_ms = 2};
	r.receipt.limits[FH_AXIS_PIDS] = (struct fh_limit_state){64, FH_MEANS_CGROUP, true};
	all = parsed(&r, FH_RESULT_TEXT);
	receipt = json_object_get(all, "receipt");
	limits = json_object_get(receipt, "limits");
	assert_number(all, "exit_code", 3);
	assert_text(receipt, "level", "namespace");
	assert_int_equal(json_object_size(limits), FH_AXIS_COUNT_ - 1);
	assert_text(json_object_get(limits, "pids"), "means", "cgroup");
	assert_number(json_object_get(limits, "pids"), "value", 64);
	assert_true(json_is_true(json_object_get(json_object_get(limits, "pids"), "fired")));
	assert_text(json_object_get(receipt, "capabilities"), "bounding", "8000000000000001");
	assert_text(receipt, "uid_map", uid_map);
	assert_text(receipt, "gid_map", "");
	assert_int_equal(json_array_size(json_object_get(receipt, "namespaces")), 2);
	assert_string_equal(json_string_value(json_array_get(json_object_get(receipt, "namespaces"), 1)),
			    "mnt:2");
	assert_int_equal(json_array_size(json_object_get(receipt, "cgroups")), 2);
	assert_string_equal(json_string_value(json_array_get(json_object_get(receipt, "mounts"), 1)),
			    "/proc proc ro");
	assert_int_equal(json_array_size(json_object_get(receipt, "not_enforced")), 1);
	assert_int_equal(json_array_size(json_object_get(receipt, "mechanisms")), 2);
	assert_text(json_array_get(json_object_get(receipt, "changes"), 0), "change", "added");
	assert_text(json_array_get(json_object_get(receipt, "changes"), 0), "path", path);
	assert_text(json_array_get(json_object_get(receipt, "changes"), 1), "kind", "directory");
	assert_true(
	    json_is_null(json_object_get(json_array_get(json_object_get(receipt, "changes"), 1), "sha256")));
	assert_text(receipt, "stdout_sha256", "0a");
	assert_true(json_is_null(json_object_get(receipt, "stderr_sha256")));
	assert_number(json_object_get(receipt, "seccomp"), "mode", 2);
	json_decref(all);
}

static void signal_names(void **state)
{
	char name[24];

	fh_signal_name(0, name, sizeof(name));
	assert_string_equal(name, "");
	fh_signal_name(SIGSEGV, name, sizeof(name));
	assert_string_equal(name, "SIGSEGV");
	fh_signal_name(SIGRTMIN + 3, name, sizeof(name));
	assert_string_equal(name, "SIGRTMIN+3");
	fh_signal_name(999, name, sizeof(name));
	assert_string_equal(name, "signal 999");
}

static void a_small_buffer_is_told(void **state)
{
	struct fh_result r = empty_result();
	fh_autobuf b;

	fh_buf_init(&b, 100);
	assert_int_equal(fh_result_to_json(&r, FH_RESULT_TEXT, &b), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_empty_result),
	    cmocka_unit_test(streams_and_numbers),
	    cmocka_unit_test(the_receipt),
	    cmocka_unit_test(signal_names),
	    cmocka_unit_test(a_small_buffer_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
