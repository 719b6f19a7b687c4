/* Builds the filter of a level from the table of calls: no system call is made here, the bytes are for the
 * child.
 *
 *     foreign architecture                                    -> the process is killed
 *     x86-64: x32 numbers, 512 to 547                         -> the process is killed
 *     binary search over ranges of numbers with equal outcome -> a verdict, or a rule about arguments
 *
 * No hot calls come before the search. For numbers that are allowed whatever their arguments the kernel never
 * runs the filter: it finds them out at installation, by evaluating every number once. So each test in front
 * of all others makes every start slower (some 2 us each), and saves a call nothing that could be measured.
 */
#include "isolate/seccomp.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "isolate/bpf_asm.h"
#include "isolate/seccomp_rules.h"
#include "isolate/seccomp_table.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the system call table knows x86-64 and aarch64"
#endif

/* Where each number goes; calls without a row go where a missing call goes. */
static void place_calls(struct fh_asm *a, const struct fh_policy *policy, unsigned refuse,
			unsigned place_of[FH_CALL_NR_END])
{
	unsigned act_place[FH_ACT_COUNT] = {0}; /* a rule is emitted once, when the first call wants it */
	const unsigned missing = fh_rule_emit(a, FH_ACT_ENOSYS, policy);

	for (size_t i = 0; i < FH_CALL_NR_END; i++)
		place_of[i] = missing;
	for (size_t i = 0; i < fh_calls_count; i++) {
		const struct fh_call *c = &fh_calls[i];
		unsigned act = policy->level == FH_LEVEL_PROCESS ? c->at_process : c->at_namespace;

		assert(c->nr >= 0 && c->nr < FH_CALL_NR_END);
		if (!act_place[act])
			act_place[act] = fh_rule_emit(a, (enum fh_act)act, policy);
		place_of[c->nr] = act_place[act];
	}
	if (refuse & FH_REFUSE_UNSEEN_MEMORY)
		place_of[SYS_memfd_create] = place_of[SYS_shmget] = missing;
	if (refuse & FH_REFUSE_AFFINITY)
		place_of[SYS_sched_setaffinity] =
		    act_place[FH_ACT_EPERM] ? act_place[FH_ACT_EPERM] : fh_rule_emit(a, FH_ACT_EPERM, policy);
}

static unsigned search_calls(struct fh_asm *a, const unsigned place_of[FH_CALL_NR_END])
{
	struct fh_asm_range ranges[FH_CALL_NR_END + 1];
	size_t n = 0;

	for (uint32_t nr = 0; nr < FH_CALL_NR_END; nr++)
		if (n == 0 || ranges[n - 1].place != place_of[nr])
			ranges[n++] = (struct fh_asm_range){nr, place_of[nr]};
	/* Numbers from the end on share the outcome of the last one, which the table leaves without a row. */
	return fh_asm_search(a, ranges, n);
}

static void assemble(struct fh_asm *a, const struct fh_policy *policy, unsigned refuse)
{
	unsigned place_of[FH_CALL_NR_END];
	unsigned next, kill;

	place_calls(a, policy, refuse, place_of);
	next = search_calls(a, place_of);
	kill = fh_asm_return(a, SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__
	/* Numbers of the x32 ABI, and their 64-bit twins, which some kernels accept without the bit. */
	next = fh_asm_if(a, FH_ASM_AT_LEAST, 512, fh_asm_if(a, FH_ASM_AT_LEAST, 548, next, kill), next);
	next = fh_asm_if(a, FH_ASM_ANY_BIT, 0x40000000, kill, next);
#endif
	next = fh_asm_load(a, offsetof(struct seccomp_data, nr), next);
	next = fh_asm_if(a, FH_ASM_EQUAL, NATIVE_ARCH, next, kill);
	fh_asm_load(a, offsetof(struct seccomp_data, arch), next);
}

int fh_seccomp_build(const struct fh_policy *policy, unsigned refuse, struct fh_filter *ret,
		     struct fh_err *err)
{
	const struct sock_filter *code;
	struct fh_asm a;
	struct sock_filter *insns;
	int n;

	if (policy->level != FH_LEVEL_PROCESS && policy->level != FH_LEVEL_NAMESPACE)
		return fh_fail(err, -EINVAL, "build the system call filter: level %d brings its own",
			       (int)policy->level);
	fh_asm_init(&a);
	assemble(&a, policy, refuse);
	n = fh_asm_code(&a, &code);
	if (n < 0)
		return fh_fail(err, n, "build the system call filter: more than %d instructions",
			       FH_ASM_INSNS_MAX);
	insns = malloc((size_t)n * sizeof(*insns));
	if (!insns)
		return fh_fail(err, -ENOMEM, "build the system call filter");
	memcpy(insns, code, (size_t)n * sizeof(*insns));
	*ret = (struct fh_filter){.insns = insns, .n = (size_t)n};
	return 0;
}

void fh_filter_finish(struct fh_filter *f)
{
	free(f->insns);
	*f = (struct fh_filter){0};
}
