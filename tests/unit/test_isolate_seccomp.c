/* The system call filter, call by call, evaluated by a small BPF interpreter: nothing is installed here
 * (test_isolate_seccomp_live.c does that).
 *
 * The outcome of every number is compared with a golden file, so that a change of the table is seen in
 * review: tests/golden/syscalls-<arch>-level<n>.txt. To write them anew after a change that is meant:
 *
 *     FH_GOLDEN_WRITE=1 meson test -C build isolate_seccomp
 *
 * on each architecture (qemu-user will do): a row that is changed changes both.
 */
#include "filter_eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/own.h"

/* --- Every number, against the golden files. */

static void sweep(int which, struct fh_buf *into)
{
	for (uint32_t nr = 0; nr <= 600; nr++) {
		struct seccomp_data d = {.nr = (int)nr, .arch = ARCH};
		struct trace trace;
		uint32_t verdict = evaluate(&filters[which], &d, &trace);

		fh_buf_addf(into, "%u %s %s\n", nr, call_name(nr),
			    trace.looked_at_args ? "by-arguments" : outcome_name(verdict));
	}
	assert_false(into->overflow);
}

static void compare_with_golden(int which, int level)
{
	fh_autobuf swept;
	char path[4096], line[128];
	const char *at;
	fh_autofile FILE *f = NULL;
	int differ = 0;

	fh_buf_init(&swept, 64 * 1024);
	sweep(which, &swept);
	snprintf(path, sizeof(path), "%s/syscalls-%s-level%d.txt", FH_GOLDEN_DIR, ARCH_NAME, level);
	if (getenv("FH_GOLDEN_WRITE")) {
		f = fopen(path, "we");
		assert_non_null(f);
		assert_int_equal(fwrite(swept.data, 1, swept.len, f), swept.len);
		return;
	}
	f = fopen(path, "re");
	if (!f)
		fail_msg("%s is missing", path);
	for (at = fh_buf_str(&swept); *at; at = strchr(at, '\n') + 1) {
		size_t n = (size_t)(strchr(at, '\n') + 1 - at);

		if (!fgets(line, sizeof(line), f))
			line[0] = '\0';
		if (strlen(line) != n || memcmp(line, at, n) != 0) {
			print_error("  golden: %s  filter: %.*s", *line ? line : "(ends)\n", (int)n, at);
			differ++;
		}
	}
	if (differ || fgets(line, sizeof(line), f))
		fail_msg("%d outcomes differ from %s", differ, path);
}

static void every_number_at_level_namespace_is_as_reviewed(void **state)
{
	compare_with_golden(LEVEL2, 2);
}

static void every_number_at_level_process_is_as_reviewed(void **state)
{
	compare_with_golden(LEVEL1, 1);
}

/* The filter's search agrees with the table, row by row, and with its default between rows. */
static void search_finds_every_row(void **state)
{
	static const uint32_t plain[] = {[FH_ACT_ENOSYS] = FAILS(ENOSYS),
					 [FH_ACT_ALLOW] = SECCOMP_RET_ALLOW,
					 [FH_ACT_EPERM] = FAILS(EPERM),
					 [FH_ACT_SKIP] = FAILS(0)};
	const struct fh_call *row[FH_CALL_NR_END] = {0};

	for (size_t i = 0; i < fh_calls_count; i++) {
		const struct fh_call *c = &fh_calls[i];

		assert_in_range(c->nr, 0, FH_CALL_NR_END - 1);
		if (row[c->nr])
			fail_msg("%s and %s are both number %d", row[c->nr]->name, c->name, c->nr);
		row[c->nr] = c;
	}
	for (int which = 0; which < FILTERS; which++) {
		for (uint32_t nr = 0; nr < FH_CALL_NR_END; nr++) {
			struct seccomp_data d = {.nr = (int)nr, .arch = ARCH};
			struct trace trace;
			uint32_t got = evaluate(&filters[which], &d, &trace);
			unsigned act = !row[nr]          ? FH_ACT_ENOSYS
				       : which == LEVEL1 ? row[nr]->at_process
							 : row[nr]->at_namespace;

			if (trace.looked_at_args != (act >= FH_ACT_RULES))
				fail_msg("%s: arguments %s", call_name(nr),
					 trace.looked_at_args ? "matter" : "do not matter");
			if (act < FH_ACT_RULES && got != plain[act])
				fail_msg("%s: %s", call_name(nr), outcome_name(got));
		}
	}
}

static void unknown_numbers_do_not_exist(void **state)
{
	static const uint32_t unknown[] = {471, 511, 548, 600, 1024, 0x3fffffff};

	for (int which = 0; which < FILTERS; which++)
		for (size_t i = 0; i < FH_ARRAY_LEN(unknown); i++)
			assert_int_equal(outcome(which, ARCH, unknown[i], no_args), FAILS(ENOSYS));
}

static void foreign_abis_kill(void **state)
{
	static const uint32_t archs[] = {FOREIGN, 0, 0xffffffff, AUDIT_ARCH_PPC64LE};

	for (int which = 0; which < FILTERS; which++) {
		for (size_t i = 0; i < FH_ARRAY_LEN(archs); i++)
			for (uint32_t nr = 0; nr <= 600; nr++)
				assert_int_equal(outcome(which, archs[i], nr, no_args), KILLED);
#ifdef __x86_64__
		for (uint32_t nr = 0; nr <= 600; nr++) {
			assert_int_equal(outcome(which, ARCH, nr | 0x40000000, no_args), KILLED);
			assert_int_equal(outcome(which, ARCH, nr | 0xc0000000, no_args), KILLED);
		}
		for (uint32_t nr = 512; nr <= 547; nr++)
			assert_int_equal(outcome(which, ARCH, nr, no_args), KILLED);
#endif
	}
}

/* --- What it costs. */

static void stays_small(void **state)
{
	static const char *const names[] = {"process", "namespace", "namespace with a pty"};

	for (int which = 0; which < FILTERS; which++) {
		unsigned total = 0, worst = 0;

		for (size_t i = 0; i < fh_calls_count; i++) {
			struct seccomp_data d = {.nr = fh_calls[i].nr, .arch = ARCH};
			struct trace trace;

			evaluate(&filters[which], &d, &trace);
			total += trace.steps;
			worst = trace.steps > worst ? trace.steps : worst;
		}
		print_message("  level %s: %zu instructions; a call takes %.1f of them, at most %u\n",
			      names[which], filters[which].n, (double)total / (double)fh_calls_count, worst);
		assert_in_range(filters[which].n, 100, 600);
		assert_in_range(worst, 1, 60);
	}
}

static void is_built_in_microseconds(void **state)
{
	struct fh_policy policy = policy_of(LEVEL2);
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 200; i++) {
		struct fh_filter f;
		uint64_t from = fh_now_ns(), took;

		assert_int_equal(fh_seccomp_build(&policy, 0, &f, NULL), 0);
		took = fh_now_ns() - from;
		best = took < best ? took : best;
		fh_filter_finish(&f);
	}
	print_message("  built in %.1f us\n", (double)best / 1000.0);
	assert_in_range(best, 1, 2000000); /* far from what it takes, even unoptimised on a busy machine */
}

static void other_levels_have_no_filter(void **state)
{
	struct fh_policy policy = {.level = FH_LEVEL_GVISOR};
	struct fh_filter f = {.n = 7};
	struct fh_err err = {0};

	assert_int_equal(fh_seccomp_build(&policy, 0, &f, &err), -EINVAL);
	assert_int_equal(f.n, 7);
	assert_non_null(strstr(err.message, "filter"));
}

/* What is refused besides differs in these calls only. */
static void calls_can_be_refused_besides(void **state)
{
	for (int which = 0; which < FILTERS; which++) {
		struct fh_policy policy = policy_of(which);
		struct fh_filter f;

		assert_int_equal(fh_seccomp_build(&policy, FH_REFUSE_UNSEEN_MEMORY | FH_REFUSE_AFFINITY, &f, NULL), 0);
		for (uint32_t nr = 0; nr <= 600; nr++) {
			struct seccomp_data d = {.nr = (int)nr, .arch = ARCH};
			struct trace trace;
			uint32_t verdict = evaluate(&f, &d, &trace);

			if (nr == SYS_memfd_create || nr == SYS_shmget)
				assert_int_equal(verdict, FAILS(ENOSYS));
			else if (nr == SYS_sched_setaffinity)
				assert_int_equal(verdict, FAILS(EPERM));
			else
				assert_int_equal(verdict, outcome(which, ARCH, nr, no_args));
		}
		fh_filter_finish(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_number_at_level_namespace_is_as_reviewed),
	    cmocka_unit_test(every_number_at_level_process_is_as_reviewed),
	    cmocka_unit_test(search_finds_every_row),
	    cmocka_unit_test(unknown_numbers_do_not_exist),
	    cmocka_unit_test(foreign_abis_kill),
	    cmocka_unit_test(stays_small),
	    cmocka_unit_test(is_built_in_microseconds),
	    cmocka_unit_test(other_levels_have_no_filter),
	    cmocka_unit_test(calls_can_be_refused_besides),
	};
	return cmocka_run_group_tests(tests, build_filters, free_filters);
}
