/* The assembler where the filter does not lead it: far jumps, programs that are too long, every width of a
 * search. */
#include "filter_eval.h"

#include "isolate/bpf_asm.h"

static void far_jumps_arrive(void **state)
{
	enum { RUNGS = 700 };
	struct fh_asm a;
	const struct sock_filter *code;
	struct fh_filter f;
	unsigned far, next;
	int n;

	fh_asm_init(&a);
	far =
	    fh_asm_mask(&a, 7, fh_asm_if(&a, FH_ASM_EQUAL, 3, fh_asm_return(&a, 33), fh_asm_return(&a, 44)));
	next = fh_asm_return(&a, 55);
	for (uint32_t i = RUNGS; i-- > 0;)
		next = fh_asm_if(&a, FH_ASM_EQUAL, i, i % 2 ? far : fh_asm_return(&a, 55), next);
	fh_asm_load(&a, offsetof(struct seccomp_data, nr), next);
	n = fh_asm_code(&a, &code);
	assert_true(n > RUNGS);
	f = (struct fh_filter){(struct sock_filter *)code, (size_t)n};
	for (int i = 0; i <= RUNGS; i++) {
		struct seccomp_data d = {.nr = i};
		struct trace trace;
		uint32_t want = i % 2 == 0 || i == RUNGS ? 55 : i % 8 == 3 ? 33 : 44;

		assert_int_equal(evaluate(&f, &d, &trace), want);
	}
}

static void too_long_a_program_is_an_error(void **state)
{
	struct fh_asm a;
	const struct sock_filter *code = NULL;
	unsigned next;

	fh_asm_init(&a);
	next = fh_asm_return(&a, 1);
	for (uint32_t i = 0; i < FH_ASM_INSNS_MAX; i++)
		next = fh_asm_if(&a, FH_ASM_EQUAL, i, fh_asm_return(&a, 2), next);
	assert_int_equal(fh_asm_code(&a, &code), -E2BIG);
	assert_null(code);
}

static void search_finds_every_border(void **state)
{
	for (size_t n = 1; n <= 40; n++) {
		struct fh_asm a;
		struct fh_asm_range r[40];
		struct fh_filter f;
		const struct sock_filter *code;
		int len;

		fh_asm_init(&a);
		for (size_t i = 0; i < n; i++) /* widths 1, 2, 3, ...; verdicts 0, 1, 2, 0, ... */
			r[i] = (struct fh_asm_range){(uint32_t)(i * (i + 1) / 2),
						     fh_asm_return(&a, (uint32_t)(i % 3))};
		fh_asm_load(&a, offsetof(struct seccomp_data, nr), fh_asm_search(&a, r, n));
		len = fh_asm_code(&a, &code);
		assert_true(len > 0);
		f = (struct fh_filter){(struct sock_filter *)code, (size_t)len};
		for (size_t i = 0, v = 0; i < n; i++) {
			for (size_t k = 0; k <= i; k++, v++) {
				struct seccomp_data d = {.nr = (int)v};
				struct trace trace;

				assert_int_equal(evaluate(&f, &d, &trace), i % 3);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(far_jumps_arrive),
	    cmocka_unit_test(too_long_a_program_is_an_error),
	    cmocka_unit_test(search_finds_every_border),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
