/* Where control groups are: texts of many hosts in, decisions out. */
#include "isolate/cgroup_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/own.h"

static void finds_a_delegated_v2_group(void **state)
{
	struct fh_tree t[FH_TREES_MAX];
	size_t n = fh_cgroup_find(
	    "23 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
	    "35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
	    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope\n", t, FH_TREES_MAX);

	assert_int_equal(n, 1);
	assert_int_equal(t[0].version, 2);
	assert_string_equal(
	    t[0].dir, "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope");
	assert_string_equal(t[0].why, "");
}

static void finds_a_hybrid_host(void **state)
{
	struct fh_tree t[FH_TREES_MAX];
	size_t n = fh_cgroup_find(
	    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
	    "36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices\n"
	    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
	    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
	    "9:name=systemd:/\n8:pids:/\n5:devices:/\n4:memory:/process_api/abc\n1:cpu,cpuacct:/\n0::/\n", t,
	    FH_TREES_MAX);

	assert_int_equal(n, 4);
	assert_int_equal(t[0].controllers, 1u << FH_CTL_PIDS);
	assert_string_equal(t[0].dir, "");
	assert_non_null(strstr(t[0].why, "not mounted"));
	assert_string_equal(t[1].dir, "/sys/fs/cgroup/memory/process_api/abc");
	assert_int_equal(t[2].controllers, 1u << FH_CTL_CPU | 1u << FH_CTL_CPUACCT);
	assert_string_equal(t[2].dir, "/sys/fs/cgroup/cpu,cpuacct");
	assert_string_equal(t[3].dir, "/sys/fs/cgroup/unified");
	assert_int_equal(t[3].version, 2);
}

static void takes_the_root_of_a_bind_mount_off(void **state)
{
	struct fh_tree t[FH_TREES_MAX];
	static const char mounts[] =
	    "40 31 0:32 /docker/ab /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";

	assert_int_equal(fh_cgroup_find(mounts, "4:memory:/docker/ab/x\n", t, FH_TREES_MAX), 1);
	assert_string_equal(t[0].dir, "/sys/fs/cgroup/memory/x");
	assert_int_equal(fh_cgroup_find(mounts, "4:memory:/docker/ab\n", t, FH_TREES_MAX), 1);
	assert_string_equal(t[0].dir, "/sys/fs/cgroup/memory");
	/* A name that only starts alike is another group. */
	assert_int_equal(fh_cgroup_find(mounts, "4:memory:/docker/abc\n", t, FH_TREES_MAX), 1);
	assert_string_equal(t[0].dir, "");
	assert_non_null(strstr(t[0].why, "not below"));
}

static void refuses_what_is_outside_of_the_namespace(void **state)
{
	struct fh_tree t[FH_TREES_MAX];

	fh_cgroup_find("35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/../../other\n", t,
		       FH_TREES_MAX);
	assert_string_equal(t[0].dir, "");
	assert_non_null(strstr(t[0].why, "outside the cgroup namespace"));
	fh_cgroup_find("35 24 0:30 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/\n", t, FH_TREES_MAX);
	assert_string_equal(t[0].dir, "");
	assert_string_not_equal(t[0].fix, "");
}

static void prefers_a_writable_mount(void **state)
{
	struct fh_tree t[FH_TREES_MAX];

	fh_cgroup_find("35 24 0:30 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw\n", "0::/\n", t,
		       FH_TREES_MAX);
	assert_string_equal(t[0].dir, "");
	assert_non_null(strstr(t[0].why, "read-only"));
	fh_cgroup_find("35 24 0:30 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw\n"
		       "36 24 0:30 / /mnt/my\\040groups rw - cgroup2 cgroup2 rw\n",
		       "0::/\n", t, FH_TREES_MAX);
	assert_string_equal(t[0].dir, "/mnt/my groups");
	assert_string_equal(t[0].why, "");
}

static void survives_texts_that_make_no_sense(void **state)
{
	struct fh_tree t[FH_TREES_MAX];
	static const char *const broken[] = {"",
					     "\n\n",
					     "::",
					     "0:",
					     "4:memory",
					     "a b c d e f g",
					     " - cgroup2 ",
					     "1 2 3:4 / /x rw - cgroup",
					     "1 2 x / /x rw - cgroup2 c rw"};

	for (size_t i = 0; i < FH_ARRAY_LEN(broken); i++)
		for (size_t j = 0; j < FH_ARRAY_LEN(broken); j++) {
			size_t n = fh_cgroup_find(broken[i], broken[j], t, FH_TREES_MAX);

			for (size_t k = 0; k < n; k++)
				assert_string_equal(t[k].dir, "");
		}
	assert_int_equal(
	    fh_cgroup_find("1 2 0:3 / /x rw - cgroup2 c rw\n", "0::/gone (deleted)\n", t, FH_TREES_MAX), 1);
	assert_string_equal(t[0].dir, "");
	assert_non_null(strstr(t[0].why, "removed"));
}

static void knows_its_own_names_only(void **state)
{
	struct fh_group_name who;
	static const char *const others[] = {"fumehood-self",
					     "fumehood-1-2-3",
					     "fumehood-1-2-3-4-5",
					     "fumehood-1-2-3-",
					     "fumehood--1-2-3-4",
					     "xfumehood-1-2-3-4",
					     "fumehood-0-2-3-4",
					     "memory.max",
					     "fumehood-1-2-3-4x",
					     "fumehood-99999999999999999999-2-3-4",
					     "fumehood-4294967297-2-3-4"};

	assert_true(fh_group_name_parse("fumehood-12-345-4026531836-7", &who));
	assert_int_equal(who.pid, 12);
	assert_int_equal(who.start_ticks, 345);
	assert_int_equal(who.pidns, 4026531836u);
	for (size_t i = 0; i < FH_ARRAY_LEN(others); i++)
		assert_false(fh_group_name_parse(others[i], &who));
}

static void reads_the_start_time_past_a_hostile_name(void **state)
{
	assert_int_equal(
	    fh_stat_start_ticks("7 (a) S 1 (b) 1) R 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 98765 22"),
	    98765);
	assert_int_equal(fh_stat_start_ticks("7 (a) S 1"), 0);
	assert_int_equal(fh_stat_start_ticks(""), 0);
}

static void reads_keyed_numbers(void **state)
{
	static const char text[] = "low 0\noom 3\noom_kill 12\n";

	assert_int_equal(fh_keyed_number(text, "oom", 0), 3);
	assert_int_equal(fh_keyed_number(text, "oom_kill", 0), 12);
	assert_int_equal(fh_keyed_number(text, "kill", 9), 9);
	assert_int_equal(fh_keyed_number(text, "oom_kil", 9), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(finds_a_delegated_v2_group),
	    cmocka_unit_test(finds_a_hybrid_host),
	    cmocka_unit_test(takes_the_root_of_a_bind_mount_off),
	    cmocka_unit_test(refuses_what_is_outside_of_the_namespace),
	    cmocka_unit_test(prefers_a_writable_mount),
	    cmocka_unit_test(survives_texts_that_make_no_sense),
	    cmocka_unit_test(knows_its_own_names_only),
	    cmocka_unit_test(reads_the_start_time_past_a_hostile_name),
	    cmocka_unit_test(reads_keyed_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
