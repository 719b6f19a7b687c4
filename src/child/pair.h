/* How init and the program keep in step at level 2; see pair.c. */
#ifndef FH_CHILD_PAIR_H
#define FH_CHILD_PAIR_H

#include "child/plan.h"

struct fh_pair {
	int init_fd, program_fd; /* both -1 at level 1, where there is nothing to wait for */
};

void fh_pair_open(struct fh_pair *pair, const struct fh_plan *plan);
/* The program's side. Waits do nothing at level 1. */
void fh_pair_make_network(const struct fh_pair *pair, const struct fh_plan *plan);
void fh_pair_wait(const struct fh_pair *pair, const struct fh_plan *plan);
/* Init's side. */
void fh_pair_enter_network(const struct fh_pair *pair, const struct fh_plan *plan);
void fh_pair_tell(const struct fh_pair *pair, const struct fh_plan *plan);

#endif
