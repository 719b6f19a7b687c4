/* The system call filter of a level, as classic BPF bytes ready for seccomp(2).
 *
 * Built in the supervisor by our own small assembler, from one table of calls and argument rules
 * (isolate/seccomp_table.c): building takes microseconds, where libseccomp takes three milliseconds for the
 * like, which is more than the rest of a start. */
#ifndef FH_ISOLATE_SECCOMP_H
#define FH_ISOLATE_SECCOMP_H

#include <linux/filter.h>
#include <stddef.h>

#include "base/err.h"
#include "policy/policy.h"

struct fh_filter {
	struct sock_filter *insns; /* heap, owned */
	size_t n;                  /* at most BPF_MAXINSNS */
};

/* Calls that are refused only where this host has no better means against what they are good for. */
enum fh_seccomp_refuse {
	/* No group counts memory, and what is behind a mere descriptor or key, mapped nowhere, is seen by nobody. */
	FH_REFUSE_UNSEEN_MEMORY = 1,
	FH_REFUSE_AFFINITY = 2, /* no quota holds the number of processors: the affinity given at the start does */
};

/* Builds the filter for policy->level; `refuse`: FH_REFUSE_* or 0. 0 or a negative errno; `ret` untouched on failure. */
int fh_seccomp_build(const struct fh_policy *policy, unsigned refuse, struct fh_filter *ret, struct fh_err *err);
void fh_filter_finish(struct fh_filter *f);

#endif
