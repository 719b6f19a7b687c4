/* Policies take what they should, refuse the rest, and say why in words a person can act on. */
#include "policy/policy.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/own.h"

static void assert_says(const struct fh_err *err, const char *part)
{
	if (!strstr(err->message, part))
		fail_msg("expected '%s' in '%s'", part, err->message);
}

static void defaults_are_those_of_the_table(void **state)
{
	struct fh_policy p;
	struct fh_err err = {0};

	fh_policy_init(&p);
	assert_string_equal(p.name, "default");
	assert_int_equal(p.level, FH_LEVEL_NAMESPACE);
	assert_int_equal(p.wall_ms, 30000);
	assert_int_equal(p.cpu_ms, 35000);
	assert_int_equal(p.memory_bytes, 512 << 20);
	assert_int_equal(p.pids, 64);
	assert_int_equal(p.disk_bytes, 1 << 30);
	assert_int_equal(p.inodes, 65536);
	assert_int_equal(p.file_size_bytes, 50 << 20);
	assert_int_equal(p.keep_bytes, 8192);
	assert_int_equal(p.output_stop_bytes, 5 << 20);
	assert_int_equal(p.cpus_milli, 2000);
	assert_int_equal(p.allow_weaker, 0);
	assert_int_equal(fh_policy_check(&p, &err), 0);
	assert_int_equal(err.code, 0);
	fh_policy_finish(&p);
	fh_policy_finish(&p);
}

/* Each field at both borders and one step past them, through the text a person would write. */
static void borders_of_every_field(void **state)
{
	struct fh_policy p;
	struct fh_err err;
	char text[32];

	fh_policy_init(&p);
	for (size_t i = 0; i < fh_fields_count; i++) {
		const struct fh_field *f = &fh_fields[i];
		assert_ptr_equal(fh_field_find(f->name), f);
		assert_true(f->lowest <= f->standard && f->standard <= f->highest);
		fh_field_print(f, f->lowest, text, sizeof(text));
		assert_int_equal(fh_policy_set(&p, f->name, text, &err), 0);
		assert_true(fh_field_value(&p, f) == f->lowest);
		fh_field_print(f, f->highest, text, sizeof(text));
		assert_int_equal(fh_policy_set(&p, f->name, text, &err), 0);
		assert_true(fh_field_value(&p, f) == f->highest);
		assert_int_equal(fh_policy_set(&p, f->name, "", &err), -EINVAL);
		assert_int_equal(fh_policy_set(&p, f->name, "-1", &err), -EINVAL);
		assert_int_equal(err.kind, FH_ERR_USAGE);
		assert_says(&err, f->name);
		assert_says(&err, "accepted: ");
		if (f->type == FH_TYPE_BOOL || f->type == FH_TYPE_NETWORK || f->type == FH_TYPE_ENFORCE ||
		    f->type == FH_TYPE_LEVEL)
			continue;
		fh_field_print(f, f->highest + 1, text, sizeof(text));
		assert_int_equal(fh_policy_set(&p, f->name, text, &err), -EINVAL);
		assert_says(&err, "out of range");
		if (f->lowest > 0) {
			fh_field_print(f, f->lowest - 1, text, sizeof(text));
			assert_int_equal(fh_policy_set(&p, f->name, text, &err), -EINVAL);
			assert_says(&err, "out of range");
		}
		/* Refusals changed nothing. */
		assert_true(fh_field_value(&p, f) == f->highest);
	}
	assert_null(fh_field_find("nothing"));
	fh_policy_finish(&p);
}

static void levels(void **state)
{
	struct fh_policy p;
	struct fh_err err;

	fh_policy_init(&p);
	assert_int_equal(fh_policy_set(&p, "level", "process", &err), 0);
	assert_int_equal(p.level, 1);
	assert_int_equal(fh_policy_set(&p, "level", "2", &err), 0);
	assert_int_equal(p.level, 2);
	static const char *const stronger[] = {"gvisor", "3", "microvm", "4"};
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(fh_policy_set(&p, "level", stronger[i], &err), -ENOTSUP);
		assert_int_equal(err.kind, FH_ERR_UNSUPPORTED);
		assert_says(&err,
			    i < 2 ? "level gvisor is not available yet; the strongest here is namespace"
				  : "level microvm is not available yet; the strongest here is namespace");
		assert_true(err.fix[0]);
	}
	assert_int_equal(fh_policy_set(&p, "level", "5", &err), -EINVAL);
	assert_int_equal(fh_policy_set(&p, "level", "0", &err), -EINVAL);
	assert_int_equal(fh_policy_set(&p, "level", "Process", &err), -EINVAL);
	assert_int_equal(p.level, 2);
	p.level = FH_LEVEL_MICROVM;
	assert_int_equal(fh_policy_check(&p, &err), -ENOTSUP);
	p.level = 77;
	assert_int_equal(fh_policy_check(&p, &err), -EINVAL);
	fh_policy_finish(&p);
}

static void unknown_names(void **state)
{
	struct fh_policy p;
	struct fh_err err;

	fh_policy_init(&p);
	assert_int_equal(fh_policy_set(&p, "memroy", "1G", &err), -EINVAL);
	assert_says(&err, "did you mean 'memory'?");
	assert_int_equal(fh_policy_set(&p, "file-size", "1G", &err), -EINVAL);
	assert_says(&err, "did you mean 'file_size'?");
	assert_int_equal(fh_policy_set(&p, "quite_something_else", "1G", &err), -EINVAL);
	assert_null(strstr(err.message, "did you mean"));
	assert_int_equal(fh_policy_set(&p, "allow_weaker", "true", &err), -EINVAL);
	assert_says(&err, "--allow-weaker");
	assert_int_equal(p.allow_weaker, 0);
	assert_int_equal(fh_policy_set(&p, "a\x1b[31m\n", "1", &err), -EINVAL);
	assert_says(&err, "'a\\x1b[31m\\x0a'");
	fh_policy_finish(&p);
}

static void environment(void **state)
{
	struct fh_policy p;
	struct fh_err err;
	char text[32];

	fh_policy_init(&p);
	assert_int_equal(fh_policy_add_env(&p, "A=1", &err), 0);
	assert_int_equal(fh_policy_add_env(&p, "AB=2", &err), 0);
	assert_int_equal(fh_policy_add_env(&p, "A=3=4", &err), 0);
	assert_int_equal(fh_policy_add_env(&p, "EMPTY=", &err), 0);
	assert_int_equal(p.n_env, 3);
	assert_string_equal(p.env[0], "A=3=4");
	assert_string_equal(p.env[1], "AB=2");
	assert_int_equal(fh_policy_add_env(&p, "=1", &err), -EINVAL);
	assert_int_equal(fh_policy_add_env(&p, "A", &err), -EINVAL);
	assert_int_equal(fh_policy_add_env(&p, "", &err), -EINVAL);
	for (int i = 3; i < FH_POLICY_ENV_MAX; i++) {
		snprintf(text, sizeof(text), "N%d=x", i);
		assert_int_equal(fh_policy_add_env(&p, text, &err), 0);
	}
	assert_int_equal(fh_policy_add_env(&p, "ONEMORE=x", &err), -EINVAL);
	assert_int_equal(fh_policy_add_env(&p, "A=replaced", &err), 0);
	assert_int_equal(p.n_env, FH_POLICY_ENV_MAX);
	fh_policy_finish(&p);
}

static void environment_size(void **state)
{
	struct fh_policy p;
	struct fh_err err;
	size_t most = (128 << 10) - 1; /* with its NUL exactly what the kernel takes */
	fh_autofree char *big = malloc(most + 2);

	fh_policy_init(&p);
	memset(big, 'x', most + 1);
	big[1] = '=';
	big[most + 1] = '\0';
	assert_int_equal(fh_policy_add_env(&p, big, &err), -EINVAL);
	big[most] = '\0';
	for (int i = 0; i < 8; i++) {
		big[0] = (char)('a' + i);
		assert_int_equal(fh_policy_add_env(&p, big, &err), 0);
	}
	/* 8 x (128 KiB - 1) are in, 8 bytes are left of 1 MiB. */
	assert_int_equal(fh_policy_add_env(&p, "Z=3456789", &err), -EINVAL);
	assert_says(&err, "1 MiB");
	assert_int_equal(fh_policy_add_env(&p, "Z=345678", &err), 0);
	fh_policy_finish(&p);
}

static void binds_taken(void **state)
{
	struct fh_policy p;
	struct fh_err err;

	fh_policy_init(&p);
	assert_int_equal(fh_policy_add_bind(&p, "/data/a:/data", &err), 0);
	assert_int_equal(fh_policy_add_bind(&p, "/data/b/:/opt/b//:rw", &err), 0);
	assert_int_equal(fh_policy_add_bind(&p, "/:x:/y", &err), -EINVAL);
	assert_int_equal(fh_policy_add_bind(&p, "/dev/null:/opt/null:ro", &err), 0);
	assert_int_equal(fh_policy_add_bind(&p, "/a..b/.c:/usr/share/x", &err), 0);
	assert_int_equal(p.n_binds, 4);
	assert_string_equal(p.binds[0].source, "/data/a");
	assert_string_equal(p.binds[0].target, "/data");
	assert_false(p.binds[0].writable);
	assert_string_equal(p.binds[1].source, "/data/b");
	assert_string_equal(p.binds[1].target, "/opt/b");
	assert_true(p.binds[1].writable);
	assert_false(p.binds[2].writable);
	fh_policy_finish(&p);
}

static void binds_refused(void **state)
{
	static const char *const refused[] = {
	    "",
	    ":",
	    "::",
	    "/a",
	    "/a:",
	    ":/a",
	    "a:/b",
	    "/a:b",
	    "/a:/b:",
	    "/a:/b:rx",
	    "/a:/b:ro:rw",
	    "/a:/b:RW",
	    "/a:/",
	    "/a://",
	    "/a:/b/../c",
	    "/a:/b/./c",
	    "/a:/b//c",
	    "/a:/..",
	    "/a:/.",
	    "/a/../b:/c",
	    "/a/./b:/c",
	    "/a:/proc",
	    "/a:/proc/1",
	    "/a:/sys",
	    "/a:/sys/x",
	    "/a:/dev",
	    "/a:/dev/shm",
	    "/a:/usr",
	    "/a:/etc",
	    "/a:/work",
	    "/a:/tmp",
	    "/a:/tmp/",
	    "/:/b",
	    "//:/b",
	    "/proc:/b",
	    "/proc/self/root:/b",
	    "/sys:/b",
	    "/sys/fs:/b",
	    "/run/fumehood:/b",
	    "/run/fumehood/x:/b",
	    "/run/user/1000/fumehood:/b",
	    "/run/user/1000/fumehood/ids:/b",
	};
	struct fh_policy p;
	struct fh_err err;

	fh_policy_init(&p);
	for (size_t i = 0; i < FH_ARRAY_LEN(refused); i++) {
		memset(&err, 0, sizeof(err));
		if (fh_policy_add_bind(&p, refused[i], &err) != -EINVAL || err.kind != FH_ERR_USAGE)
			fail_msg("bind '%s' was not refused", refused[i]);
		assert_says(&err, "bind: ");
	}
	assert_int_equal(p.n_binds, 0);
	fh_policy_finish(&p);
}

static void binds_counted(void **state)
{
	struct fh_policy p;
	struct fh_err err;
	char text[32];

	fh_policy_init(&p);
	for (int i = 0; i < FH_POLICY_BINDS_MAX; i++) {
		snprintf(text, sizeof(text), "/a:/b/%d", i);
		assert_int_equal(fh_policy_add_bind(&p, text, &err), 0);
	}
	assert_int_equal(fh_policy_add_bind(&p, "/a:/b/0", &err), -EINVAL);
	assert_says(&err, "taken");
	assert_int_equal(fh_policy_add_bind(&p, "/a:/b/more", &err), -EINVAL);
	assert_says(&err, "more than 64");
	fh_policy_finish(&p);
}

static void bind_lengths(void **state)
{
	struct fh_policy p;
	struct fh_err err;
	char spec[9000];

	fh_policy_init(&p);
	memset(spec, 'x', sizeof(spec));
	memcpy(spec, "/a:/", 4);
	spec[3 + 4096] = '\0'; /* a target of 4096 characters: one too long with its NUL */
	assert_int_equal(fh_policy_add_bind(&p, spec, &err), -EINVAL);
	spec[3 + 4095] = '\0';
	assert_int_equal(fh_policy_add_bind(&p, spec, &err), 0);
	memset(spec, 'x', sizeof(spec));
	spec[0] = '/';
	spec[8999] = '\0';
	assert_int_equal(fh_policy_add_bind(&p, spec, &err), -EINVAL);
	fh_policy_finish(&p);
}

static void copies_are_deep(void **state)
{
	struct fh_policy p, copy;
	struct fh_err err;

	fh_policy_init(&p);
	fh_policy_add_env(&p, "A=1", &err);
	fh_policy_add_bind(&p, "/a:/b:rw", &err);
	p.wall_ms = 77;
	assert_int_equal(fh_policy_copy(&copy, &p), 0);
	assert_ptr_not_equal(copy.env[0], p.env[0]);
	fh_policy_finish(&p);
	assert_string_equal(copy.env[0], "A=1");
	assert_string_equal(copy.binds[0].source, "/a");
	assert_string_equal(copy.binds[0].target, "/b");
	assert_true(copy.binds[0].writable);
	assert_int_equal(copy.wall_ms, 77);
	fh_policy_finish(&copy);
}

static void contradictions(void **state)
{
	struct fh_policy p;
	struct fh_err err;

	fh_policy_init(&p);
	p.file_size_bytes = 60 << 20;
	p.disk_bytes = p.file_size_bytes;
	assert_int_equal(fh_policy_check(&p, &err), 0);
	p.disk_bytes--;
	assert_int_equal(fh_policy_check(&p, &err), -EINVAL);
	assert_says(&err, "file_size (60M) is larger than disk");
	fh_policy_finish(&p);

	/* A small disk alone is no contradiction with a default that nobody asked for. */
	fh_policy_init(&p);
	p.disk_bytes = 1 << 20;
	assert_int_equal(fh_policy_check(&p, &err), 0);
	fh_policy_finish(&p);

	fh_policy_init(&p);
	p.pids = 0;
	assert_int_equal(fh_policy_check(&p, &err), -EINVAL);
	assert_says(&err, "pids");
	fh_policy_finish(&p);
}

static void level_process_gives_less(void **state)
{
	struct fh_policy p;
	struct fh_err err;

	fh_policy_init(&p);
	p.level = FH_LEVEL_PROCESS;
	assert_int_equal(fh_policy_add_bind(&p, "/a:/a", &err), 0);
	assert_int_equal(fh_policy_check(&p, &err), 0);
	p.pty = 1;
	assert_int_equal(fh_policy_check(&p, &err), -ENOTSUP);
	assert_int_equal(err.kind, FH_ERR_UNSUPPORTED);
	p.pty = 0;
	assert_int_equal(fh_policy_add_bind(&p, "/a:/b", &err), 0);
	assert_int_equal(fh_policy_check(&p, &err), -ENOTSUP);
	p.level = FH_LEVEL_NAMESPACE;
	assert_int_equal(fh_policy_check(&p, &err), 0);
	fh_policy_finish(&p);
}

static void names(void **state)
{
	struct fh_policy p;
	struct fh_err err;
	char longest[FH_POLICY_NAME_MAX + 1];

	fh_policy_init(&p);
	memset(longest, 'n', sizeof(longest));
	longest[FH_POLICY_NAME_MAX] = '\0';
	assert_int_equal(fh_policy_set_name(&p, longest, &err), -EINVAL);
	longest[FH_POLICY_NAME_MAX - 1] = '\0';
	assert_int_equal(fh_policy_set_name(&p, longest, &err), 0);
	assert_string_equal(p.name, longest);
	assert_int_equal(fh_policy_set_name(&p, "", &err), -EINVAL);
	assert_int_equal(fh_policy_set_name(&p, "a b", &err), -EINVAL);
	assert_int_equal(fh_policy_set_name(&p, "caf\xc3\xa9", &err), -EINVAL);
	assert_int_equal(fh_policy_set_name(&p, "strict-1.0_x", &err), 0);
	fh_policy_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults_are_those_of_the_table),
	    cmocka_unit_test(borders_of_every_field),
	    cmocka_unit_test(levels),
	    cmocka_unit_test(unknown_names),
	    cmocka_unit_test(environment),
	    cmocka_unit_test(environment_size),
	    cmocka_unit_test(binds_taken),
	    cmocka_unit_test(binds_refused),
	    cmocka_unit_test(binds_counted),
	    cmocka_unit_test(bind_lengths),
	    cmocka_unit_test(copies_are_deep),
	    cmocka_unit_test(contradictions),
	    cmocka_unit_test(level_process_gives_less),
	    cmocka_unit_test(names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
