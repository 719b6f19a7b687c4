/* A small assembler for classic BPF programs as seccomp(2) takes them.
 *
 * Classic BPF jumps only forward. So a program is written from its end to its beginning: whatever an
 * instruction may go on to is there already, and the value that emitting it returned, a place, is all that is
 * needed to name it. There are no labels to resolve and no second pass.
 *
 * A conditional jump reaches 255 instructions. Farther targets are reached through a hop that is put in where
 * it is needed: a copy of the target if that only returns, else an unconditional jump. */
#ifndef FH_ISOLATE_BPF_ASM_H
#define FH_ISOLATE_BPF_ASM_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every start of a sandbox has the kernel check and translate each instruction: a filter that comes near this
 * is slower than it needs to be. */
#define FH_ASM_INSNS_MAX   1000
#define FH_ASM_RETURNS_MAX 8

struct fh_asm {
	struct sock_filter insns[FH_ASM_INSNS_MAX]; /* filled from the back */
	unsigned n;
	bool overflow; /* it did not fit; places are worthless then. Checked once, by fh_asm_code */
	struct {
		uint32_t value;
		unsigned place; /* of the copy written last */
	} returns[FH_ASM_RETURNS_MAX];
	unsigned n_returns;
};

/* What a jump asks of the accumulator. */
enum fh_asm_test { FH_ASM_EQUAL = BPF_JEQ, FH_ASM_AT_LEAST = BPF_JGE, FH_ASM_ANY_BIT = BPF_JSET };

/* From `first` on up to the next row's `first`, go to `place`. */
struct fh_asm_range {
	uint32_t first;
	unsigned place;
};

void fh_asm_init(struct fh_asm *a);

/* Each puts one step in front of `next` (or `yes` and `no`) and returns its place. */
unsigned fh_asm_return(struct fh_asm *a, uint32_t value);
unsigned fh_asm_load(struct fh_asm *a, size_t offset, unsigned next); /* 32 bits of struct seccomp_data */
unsigned fh_asm_mask(struct fh_asm *a, uint32_t bits, unsigned next);
unsigned fh_asm_if(struct fh_asm *a, enum fh_asm_test test, uint32_t operand, unsigned yes, unsigned no);

/* Binary search: goes where the range that holds the accumulator says. `r` is sorted, starts at 0 and has at
 * least one row. */
unsigned fh_asm_search(struct fh_asm *a, const struct fh_asm_range *r, size_t n);

/* The finished program, that must begin at the place emitted last. Returns its length and points `ret_code`
 * into `a`, or -E2BIG. */
int fh_asm_code(const struct fh_asm *a, const struct sock_filter **ret_code);

#endif
