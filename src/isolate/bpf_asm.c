/* The assembler of bpf_asm.h. Knows BPF and nothing of system calls. */
#include "isolate/bpf_asm.h"

#include <errno.h>

/* Farther away than this a target is given a hop. Two below what an offset can hold, since the hops of one
 * jump's two targets push each other away. */
#define REACH_MAX 253

void fh_asm_init(struct fh_asm *a)
{
	a->n = 0;
	a->n_returns = 0;
	a->overflow = false;
}

static unsigned put(struct fh_asm *a, struct sock_filter insn)
{
	if (a->n == FH_ASM_INSNS_MAX) {
		a->overflow = true;
		return a->n;
	}
	a->insns[FH_ASM_INSNS_MAX - ++a->n] = insn;
	return a->n;
}

/* Offset to `place` in the instruction that is about to be put. */
static unsigned away(const struct fh_asm *a, unsigned place)
{
	return a->n - place;
}

static const struct sock_filter *at(const struct fh_asm *a, unsigned place)
{
	return &a->insns[FH_ASM_INSNS_MAX - place];
}

unsigned fh_asm_return(struct fh_asm *a, uint32_t value)
{
	unsigned i;

	for (i = 0; i < a->n_returns; i++)
		if (a->returns[i].value == value)
			break;
	if (i < a->n_returns && away(a, a->returns[i].place) <= REACH_MAX)
		return a->returns[i].place;
	if (i == FH_ASM_RETURNS_MAX) {
		a->overflow = true;
		return a->n;
	}
	if (i == a->n_returns)
		a->n_returns++;
	a->returns[i].value = value;
	a->returns[i].place = put(a, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value));
	return a->returns[i].place;
}

/* Makes sure that a conditional jump can name `place`; returns what to name. */
static unsigned reach(struct fh_asm *a, unsigned place)
{
	if (a->overflow || away(a, place) <= REACH_MAX)
		return place;
	if (at(a, place)->code == (BPF_RET | BPF_K))
		return fh_asm_return(a, at(a, place)->k);
	return put(a, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, away(a, place)));
}

/* Makes sure that `place` comes next: what is put in front of it falls through to it. */
static void fall_to(struct fh_asm *a, unsigned place)
{
	if (away(a, place))
		put(a, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, away(a, place)));
}

unsigned fh_asm_load(struct fh_asm *a, size_t offset, unsigned next)
{
	fall_to(a, next);
	return put(a, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

unsigned fh_asm_mask(struct fh_asm *a, uint32_t bits, unsigned next)
{
	fall_to(a, next);
	return put(a, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits));
}

unsigned fh_asm_if(struct fh_asm *a, enum fh_asm_test test, uint32_t operand, unsigned yes, unsigned no)
{
	yes = reach(a, yes);
	no = reach(a, no);
	if (a->overflow)
		return a->n;
	return put(a, (struct sock_filter)BPF_JUMP(BPF_JMP | (unsigned)test | BPF_K, operand,
						   (uint8_t)away(a, yes), (uint8_t)away(a, no)));
}

/* Recursion of depth log2(n). */
unsigned fh_asm_search(struct fh_asm *a, const struct fh_asm_range *r, size_t n)
{
	size_t mid = n / 2;
	unsigned yes, no;

	if (n == 1)
		return r[0].place;
	/* One value that differs from both its neighbours' common outcome: one test where halving takes two.
	 */
	if (n == 3 && r[0].place == r[2].place && r[2].first == r[1].first + 1)
		return fh_asm_if(a, FH_ASM_EQUAL, r[1].first, r[1].place, r[0].place);
	yes = fh_asm_search(a, r + mid, n - mid);
	no = fh_asm_search(a, r, mid);
	return fh_asm_if(a, FH_ASM_AT_LEAST, r[mid].first, yes, no);
}

int fh_asm_code(const struct fh_asm *a, const struct sock_filter **ret_code)
{
	if (a->overflow)
		return -E2BIG;
	*ret_code = &a->insns[FH_ASM_INSNS_MAX - a->n];
	return (int)a->n;
}
