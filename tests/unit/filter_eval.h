/* For tests of the system call filter: a small interpreter of BPF, and the filters of both levels. */
#ifndef FH_TESTS_FILTER_EVAL_H
#define FH_TESTS_FILTER_EVAL_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "isolate/seccomp.h"
#include "isolate/seccomp_table.h"

#ifdef __x86_64__
#define ARCH      AUDIT_ARCH_X86_64
#define ARCH_NAME "x86_64"
#define FOREIGN   AUDIT_ARCH_I386
#else
#define ARCH      AUDIT_ARCH_AARCH64
#define ARCH_NAME "aarch64"
#define FOREIGN   AUDIT_ARCH_ARM
#endif

#define ALLOWED      SECCOMP_RET_ALLOW
#define KILLED       SECCOMP_RET_KILL_PROCESS
#define FAILS(error) (SECCOMP_RET_ERRNO | (uint32_t)(error))

/* --- The interpreter. */

struct trace {
	unsigned steps;
	int looked_at_args;
};

static inline uint32_t word_at(const struct seccomp_data *d, uint32_t offset)
{
	uint32_t word;

	assert_true(offset % 4 == 0 && offset + 4 <= sizeof(*d));
	memcpy(&word, (const char *)d + offset, sizeof(word));
	return word;
}

/* What the filter says; fails the test if it leaves the program, goes on forever or does what we never emit.
 */
static inline uint32_t evaluate(const struct fh_filter *f, const struct seccomp_data *d, struct trace *ret)
{
	uint32_t a = 0;

	*ret = (struct trace){0};
	for (size_t pc = 0; pc < f->n; pc++) {
		const struct sock_filter *i = &f->insns[pc];
		int yes;

		ret->steps++;
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = word_at(d, i->k);
			ret->looked_at_args |= i->k >= offsetof(struct seccomp_data, args);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			continue;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			yes = a == i->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			yes = a >= i->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			yes = (a & i->k) != 0;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			fail_msg("instruction %zu: code %#x", pc, i->code);
			return 0;
		}
		pc += yes ? i->jt : i->jf;
	}
	fail_msg("the filter ran past its end");
	return 0;
}

/* --- Filters of both levels, built once. */

enum { LEVEL1, LEVEL2, LEVEL2_PTY, FILTERS };
static struct fh_filter filters[FILTERS];

static inline struct fh_policy policy_of(int which)
{
	return (struct fh_policy){.level = which == LEVEL1 ? FH_LEVEL_PROCESS : FH_LEVEL_NAMESPACE,
				  .pty = which == LEVEL2_PTY};
}

static inline int build_filters(void **state)
{
	for (int i = 0; i < FILTERS; i++) {
		struct fh_policy policy = policy_of(i);

		assert_int_equal(fh_seccomp_build(&policy, 0, &filters[i], NULL), 0);
	}
	return 0;
}

static inline int free_filters(void **state)
{
	for (int i = 0; i < FILTERS; i++)
		fh_filter_finish(&filters[i]);
	return 0;
}

static inline uint32_t outcome(int which, uint32_t arch, uint32_t nr, const uint64_t args[6])
{
	struct seccomp_data d = {.nr = (int)nr, .arch = arch};
	struct trace trace;

	memcpy(d.args, args, sizeof(d.args));
	return evaluate(&filters[which], &d, &trace);
}

static const uint64_t no_args[6];

static inline const char *outcome_name(uint32_t verdict)
{
	switch (verdict) {
	case SECCOMP_RET_ALLOW:
		return "allow";
	case SECCOMP_RET_KILL_PROCESS:
		return "kill";
	case FAILS(0):
		return "skip";
	case FAILS(EPERM):
		return "EPERM";
	case FAILS(ENOSYS):
		return "ENOSYS";
	case FAILS(EAFNOSUPPORT):
		return "EAFNOSUPPORT";
	default:
		return "?";
	}
}

static inline const char *call_name(uint32_t nr)
{
	for (size_t i = 0; i < fh_calls_count; i++)
		if ((uint32_t)fh_calls[i].nr == nr)
			return fh_calls[i].name;
	return "-";
}

#endif
