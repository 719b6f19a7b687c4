/* Policy files in both formats: what is taken, and that every refusal names the file, the right line and the
 * cure. */
#include "formats/policy_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/own.h"

static int read_text(const char *text, const char *filename, struct fh_policy *p, struct fh_err *err)
{
	memset(err, 0, sizeof(*err));
	fh_policy_init(p);
	return fh_policy_read_text(text, strlen(text), filename, p, err);
}

static int lay(const char *text, const char *filename, struct fh_policy *p, struct fh_err *err)
{
	return fh_policy_read_text(text, strlen(text), filename, p, err);
}

static void assert_taken(const char *text, const char *filename, struct fh_policy *p)
{
	struct fh_err err;

	if (read_text(text, filename, p, &err) != 0)
		fail_msg("%s refused: %s", text, err.message);
	assert_int_equal(err.code, 0);
}

static void json_with_everything(void **state)
{
	struct fh_policy p;

	assert_taken(
	    "{\"name\": \"strict\", \"level\": 1, \"enforce\": \"kernel\", \"network\": \"none\",\n"
	    " \"wall\": \"10s\", \"cpu\": 1.5, \"memory\": 1073741824, \"pids\": \"8\", \"disk\": \"2G\",\n"
	    " \"inodes\": 100, \"file_size\": \"1MB\", \"files\": 64, \"keep\": 0, \"output_stop\": \"1M\",\n"
	    " \"cpus\": 0.25, \"pty\": true,\n"
	    " \"env\": {\"A\": \"1\", \"B\": \"x=y\", \"C\": \"\"}, \"bind\": [\"/a:/b:rw\", \"/c:/d\"]}",
	    "p.json", &p);
	assert_string_equal(p.name, "strict");
	assert_int_equal(p.level, 1);
	assert_int_equal(p.enforce, FH_ENFORCE_KERNEL);
	assert_int_equal(p.wall_ms, 10000);
	assert_int_equal(p.cpu_ms, 1500);
	assert_int_equal(p.memory_bytes, 1 << 30);
	assert_int_equal(p.pids, 8);
	assert_int_equal(p.disk_bytes, 2ull << 30);
	assert_int_equal(p.inodes, 100);
	assert_int_equal(p.file_size_bytes, 1000000);
	assert_int_equal(p.files, 64);
	assert_int_equal(p.keep_bytes, 0);
	assert_int_equal(p.output_stop_bytes, 1 << 20);
	assert_int_equal(p.cpus_milli, 250);
	assert_int_equal(p.pty, 1);
	assert_int_equal(p.n_env, 3);
	assert_string_equal(p.env[1], "B=x=y");
	assert_string_equal(p.env[2], "C=");
	assert_int_equal(p.n_binds, 2);
	assert_true(p.binds[0].writable);
	assert_string_equal(p.binds[1].target, "/d");
	fh_policy_finish(&p);
}

static void yaml_with_everything(void **state)
{
	struct fh_policy p;

	assert_taken("# a comment\n"
		     "---\n"
		     "name: strict\n"
		     "wall: 10s      # ten\n"
		     "cpu: 1.5\n"
		     "memory: '512M'\n"
		     "pids: 8\n"
		     "pty: yes\n"
		     "env:\n"
		     "  PORT: 0080\n"
		     "  FLAG: true\n"
		     "  EMPTY: ''\n"
		     "  LONG: |\n"
		     "    two\n"
		     "    lines\n"
		     "bind:\n"
		     "- /a:/b:rw\n"
		     "- \"/c:/d\"\n"
		     "...\n",
		     "p.yaml", &p);
	assert_string_equal(p.name, "strict");
	assert_int_equal(p.wall_ms, 10000);
	assert_int_equal(p.cpu_ms, 1500);
	assert_int_equal(p.memory_bytes, 512 << 20);
	assert_int_equal(p.pids, 8);
	assert_int_equal(p.pty, 1);
	assert_string_equal(p.env[0], "PORT=0080");
	assert_string_equal(p.env[1], "FLAG=true");
	assert_string_equal(p.env[2], "EMPTY=");
	assert_string_equal(p.env[3], "LONG=two\nlines\n");
	assert_int_equal(p.n_binds, 2);
	fh_policy_finish(&p);
}

static void format_is_told_by_ending_or_first_character(void **state)
{
	struct fh_policy p;
	struct fh_err err;

	assert_taken("{\"wall\": 1}", "-", &p);
	assert_int_equal(p.wall_ms, 1000);
	fh_policy_finish(&p);
	assert_taken(" \n\t{\"wall\": 1}", "policy", &p);
	fh_policy_finish(&p);
	assert_taken("wall: 1", "policy", &p);
	assert_int_equal(p.wall_ms, 1000);
	fh_policy_finish(&p);
	assert_taken("{wall: 1}", "policy.yml", &p);
	fh_policy_finish(&p);
	assert_taken("\xef\xbb\xbf{\"wall\": 1}", "policy", &p);
	fh_policy_finish(&p);
	assert_taken("\xef\xbb\xbfwall: 1", "policy", &p);
	fh_policy_finish(&p);
	assert_taken("{}", "policy", &p);
	fh_policy_finish(&p);
	assert_int_equal(read_text("{wall: 1}", "policy", &p, &err), -EINVAL);
	fh_policy_finish(&p);
	assert_int_equal(read_text("wall: 1", "policy.json", &p, &err), -EINVAL);
	fh_policy_finish(&p);
}

/* Each refusal: the text, and what the message must begin with and hold. */
struct refusal {
	const char *text, *starts, *holds;
};

static void assert_refused(const struct refusal *rows, size_t n, const char *filename)
{
	for (size_t i = 0; i < n; i++) {
		struct fh_policy p, fresh;
		struct fh_err err;
		if (read_text(rows[i].text, filename, &p, &err) == 0)
			fail_msg("taken: %s", rows[i].text);
		if (err.kind != FH_ERR_USAGE ||
		    strncmp(err.message, rows[i].starts, strlen(rows[i].starts)) != 0 ||
		    !strstr(err.message, rows[i].holds))
			fail_msg("for %s\nexpected %s ... %s\ngot %s", rows[i].text, rows[i].starts,
				 rows[i].holds, err.message);
		fh_policy_init(&fresh);
		assert_memory_equal(&p, &fresh, sizeof(p)); /* untouched, lists included */
		fh_policy_finish(&p);
	}
}

static void json_refusals(void **state)
{
	static const struct refusal rows[] = {
	    {"", "p.json:1: ", "not JSON"},
	    {"[]", "p.json:1: ", "object of fields"},
	    {"[1,\n2", "p.json:2: ", "not JSON"},
	    {"{\n\"wall\": 1,\n}", "p.json:3: ", "not JSON"},
	    {"{\"wall\": 1} x", "p.json:1: ", "not JSON"},
	    {"{\"wall\": NaN}", "p.json:1: ", "not JSON"},
	    {"{\"wall\": 1e999}", "p.json:1: ", "not JSON"},
	    {"{\"wall\": 99999999999999999999}", "p.json:1: ", "not JSON"},
	    {"{\"name\": \"a\\u0000b\"}", "p.json:1: ", "not JSON"},
	    {"{\"name\": \"\xff\"}", "p.json:1: ", "not JSON"},
	    {"{\"wall\": 1,\n\"wall\": 2}", "p.json:2: ", "duplicate"},
	    {"{\n\n\"memroy\": 1}", "p.json:3: there is no field 'memroy'", "did you mean 'memory'?"},
	    {"{\"binds\": []}", "p.json:1: there is no field 'binds'", "did you mean 'bind'?"},
	    {"{\"\\u001b[2J\": 1}", "p.json:1: there is no field '\\x1b[2J'", ""},
	    {"{\"wall\": 1,\n\"allow_weaker\": true}", "p.json:2: allow_weaker", "--allow-weaker"},
	    {"{\"env\": {\"a\": \"b\"},\n\n\"pids\": 0}", "p.json:3: pids: '0' is out of range",
	     "1 to 4194304"},
	    {"{\"pids\": 4194305}", "p.json:1: pids: '4194305' is out of range", "accepted: 1 to 4194304"},
	    {"{\"pids\": -1}", "p.json:1: pids: '-1'", "accepted"},
	    {"{\"pids\": 1.5}", "p.json:1: pids: ", "whole number"},
	    {"{\"pids\": true}", "p.json:1: pids: the value is of the wrong kind", "1 to 4194304"},
	    {"{\"pids\": null}", "p.json:1: pids: the value is of the wrong kind", ""},
	    {"{\"pids\": [1]}", "p.json:1: pids: the value is of the wrong kind", ""},
	    {"{\"wall\": -0.0}", "p.json:1: wall: ", ""},
	    {"{\"wall\": 1e300}", "p.json:1: wall: ", "1ms to 7d"},
	    {"{\"wall\": \"7.1d\"}", "p.json:1: wall: '7.1d' is out of range", "1ms to 7d"},
	    {"{\"keep\": 0.5}", "p.json:1: keep: ", ""},
	    {"{\"pty\": 2}", "p.json:1: pty: '2' is not accepted", "true or false"},
	    {"{\"level\": \"docker\"}", "p.json:1: level: ", "process (1) or namespace (2)"},
	    {"{\"name\": 7}", "p.json:1: name: ", "text"},
	    {"{\"name\": \"a b\"}", "p.json:1: name: ", "letters"},
	    {"{\"env\": []}", "p.json:1: env: ", "object"},
	    {"{\n\"env\": {\n\"A\": \"1\",\n\"B\": 2}}", "p.json:4: env: the value of 'B'", "text"},
	    {"{\"env\": {\"A=B\": \"1\"}}", "p.json:1: env: 'A=B'", "name"},
	    {"{\"env\": {\"\": \"1\"}}", "p.json:1: env: ''", "name"},
	    {"{\n\"bind\": [\n\"/a:/b\", \"/c:/d\",\n\n\"/e:/proc\"]}", "p.json:5: bind: ", "/proc"},
	    {"{\n\"bind\": [\n\"/a:/b\",\n7]}", "p.json:4: bind: ", "SOURCE:TARGET"},
	    {"{\"bind\": \"/a:/b\"}", "p.json:1: bind: ", "list"},
	    {"{\"x}\\\"{\": \"[[{,\",\n\"pids\": 0}", "p.json:1: there is no field", ""},
	    {"{\"name\": \"[[{,\\\"\",\n\"pids\": 0}", "p.json:1: name: ", ""},
	    {"{\"cpu\": \"x,{\\\"\"\n,\"pids\": 0}", "p.json:1: cpu: ", ""},
	    {"{\"wall\": [[[[[[[[[1]]]]]]]]]}", "p.json:1: nested more than 8", ""},
	};

	assert_refused(rows, FH_ARRAY_LEN(rows), "p.json");
}

static void yaml_refusals(void **state)
{
	static const struct refusal rows[] = {
	    {"", "p.yaml:1: the file is empty", ""},
	    {"# nothing\n", "p.yaml:2: the file is empty", ""},
	    {"---\n", "p.yaml:1: a policy is an object", ""},
	    {"- a\n", "p.yaml:1: a policy is an object", ""},
	    {"text", "p.yaml:1: a policy is an object", ""},
	    {"wall: 1\nwall: 2\n", "p.yaml:2: 'wall' is given twice", ""},
	    {"env:\n  A: 1\n  B: 2\n  A: 3\n", "p.yaml:4: 'A' is given twice", ""},
	    {"wall: 1\n---\nwall: 2\n", "p.yaml:2: a second document", ""},
	    {"wall: &x 1\n", "p.yaml:1: anchors such as &x", ""},
	    {"env: &x\n  A: b\n", "p.yaml:1: anchors such as &x", ""},
	    {"wall: 1\ncpu: *x\n", "p.yaml:2: aliases such as *x", ""},
	    {"wall: !!str 1\n", "p.yaml:1: tags such as", ""},
	    {"bind: !mine [a]\n", "p.yaml:1: tags such as '!mine'", ""},
	    {"? [a]\n: b\n", "p.yaml:1: a name must be plain text", ""},
	    {"~: b\n", "p.yaml:1: a name is missing", ""},
	    {"wall: [1\n", "p.yaml:2: this is not YAML", ""},
	    {"wall: 1\n\tcpu: 2\n", "p.yaml:", "not YAML"},
	    {"name: \"a\\0b\"\n", "p.yaml:1: the text holds a NUL", ""},
	    {"name: \xff\n", "p.yaml:1: this is not YAML", ""},
	    {"\n\nmemroy: 1\n", "p.yaml:3: there is no field 'memroy'", "did you mean 'memory'?"},
	    {"<<: {wall: 1}\n", "p.yaml:1: there is no field '<<'", ""},
	    {"wall: 1\nenv:\n  A: b\npids: 0\n", "p.yaml:4: pids: '0' is out of range", "1 to 4194304"},
	    {"wall: .nan\n", "p.yaml:1: wall: '.nan' is not a time", "1ms to 7d"},
	    {"wall: -1\n", "p.yaml:1: wall: '-1'", ""},
	    {"wall:\n", "p.yaml:1: wall: the value is of the wrong kind", ""},
	    {"wall: {a: b}\n", "p.yaml:1: wall: the value is of the wrong kind", ""},
	    {"allow_weaker: yes\n", "p.yaml:1: allow_weaker", "--allow-weaker"},
	    {"env:\n  A: b\n  C:\n", "p.yaml:3: env: the value of 'C'", "\"\""},
	    {"env:\n  A: {x: y}\n", "p.yaml:2: env: the value of 'A'", ""},
	    {"env: {A: b,\n  D: {},\n  E: f}\n", "p.yaml:2: env: the value of 'D'", ""},
	    {"bind:\n  - /a:/b\n  - /c:/d\n  # note\n  - /e:/sys\n", "p.yaml:5: bind: ", "/sys"},
	    {"bind:\n  - [x, y]\n", "p.yaml:2: bind: each must be a text", ""},
	    {"wall: [[[[[[[[[1]]]]]]]]]\n", "p.yaml:1: nested more than 8", ""},
	};

	assert_refused(rows, FH_ARRAY_LEN(rows), "p.yaml");
}

static void stronger_levels_are_unsupported(void **state)
{
	struct fh_policy p;
	struct fh_err err;

	assert_int_equal(read_text("wall: 1\nlevel: gvisor\n", "p", &p, &err), -ENOTSUP);
	assert_int_equal(err.kind, FH_ERR_UNSUPPORTED);
	assert_string_equal(err.message,
			    "p:2: level gvisor is not available yet; the strongest here is namespace");
	assert_true(err.fix[0]);
	fh_policy_finish(&p);
	fh_policy_init(&p);
	assert_int_equal(lay("level: 3\n", "p", &p, NULL), -ENOTSUP);
	fh_policy_finish(&p);
}

static void files_lie_over_each_other(void **state)
{
	struct fh_policy p;
	struct fh_err err;

	fh_policy_init(&p);
	assert_int_equal(lay("{\"wall\":1,\"env\":{\"A\":\"1\"}}", "a", &p, &err), 0);
	assert_int_equal(lay("{\"cpu\":2,\"env\":{\"A\":\"2\",\"B\":\"3\"}}", "b", &p, &err), 0);
	assert_int_equal(p.wall_ms, 1000);
	assert_int_equal(p.cpu_ms, 2000);
	assert_int_equal(p.n_env, 2);
	assert_string_equal(p.env[0], "A=2");
	/* A refused file leaves the lists as they were. */
	assert_int_equal(lay("{\"env\":{\"C\":\"4\"},\"pids\":0}", "c", &p, &err), -EINVAL);
	assert_int_equal(p.n_env, 2);
	fh_policy_finish(&p);
}

static void sizes_are_bounded(void **state)
{
	struct fh_policy p;
	struct fh_err err;
	size_t most = FH_POLICY_FILE_BYTES_MAX;
	fh_autofree char *text = malloc(most + 1);

	memset(text, ' ', most + 1);
	memcpy(text, "{}", 2);
	fh_policy_init(&p);
	assert_int_equal(fh_policy_read_text(text, most, "p", &p, &err), 0);
	assert_int_equal(fh_policy_read_text(text, most + 1, "p", &p, &err), -EINVAL);
	assert_non_null(strstr(err.message, "1 MiB"));
	/* Deep nesting costs no stack. */
	memset(text, '[', most);
	assert_int_equal(fh_policy_read_text(text, most, "p.json", &p, &err), -EINVAL);
	assert_int_equal(fh_policy_read_text(text, most, "p.yaml", &p, &err), -EINVAL);
	fh_policy_finish(&p);
}

static void reads_from_disk(void **state)
{
	char folder[] = "/tmp/fh-policy-XXXXXX", path[64];
	struct fh_policy p;
	struct fh_err err;
	FILE *f;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/p.yaml", folder);
	fh_policy_init(&p);
	assert_int_equal(fh_policy_read_file(path, &p, &err), -ENOENT);
	assert_int_equal(err.kind, FH_ERR_USAGE);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(fh_policy_read_file(folder, &p, &err), -EISDIR);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("wall: 3s\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(fh_policy_read_file(path, &p, &err), 0);
	assert_int_equal(p.wall_ms, 3000);
	assert_int_equal(truncate(path, FH_POLICY_FILE_BYTES_MAX + 1), 0);
	assert_int_equal(fh_policy_read_file(path, &p, &err), -EINVAL);
	assert_non_null(strstr(err.message, "1 MiB"));
	fh_policy_finish(&p);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(json_with_everything),
	    cmocka_unit_test(yaml_with_everything),
	    cmocka_unit_test(format_is_told_by_ending_or_first_character),
	    cmocka_unit_test(json_refusals),
	    cmocka_unit_test(yaml_refusals),
	    cmocka_unit_test(stronger_levels_are_unsupported),
	    cmocka_unit_test(files_lie_over_each_other),
	    cmocka_unit_test(sizes_are_bounded),
	    cmocka_unit_test(reads_from_disk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
