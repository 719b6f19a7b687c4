/* The argument rules of the filter: subprograms that end in a verdict. */
#ifndef FH_ISOLATE_SECCOMP_RULES_H
#define FH_ISOLATE_SECCOMP_RULES_H

#include "isolate/bpf_asm.h"
#include "isolate/seccomp_table.h"
#include "policy/policy.h"

/* Emits what `act` means under `policy` and returns its place: a plain verdict or a rule. */
unsigned fh_rule_emit(struct fh_asm *a, enum fh_act act, const struct fh_policy *policy);

#endif
