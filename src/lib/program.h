/* A program as the C API holds it: a spec that owns everything it points to. */
#ifndef FH_LIB_PROGRAM_H
#define FH_LIB_PROGRAM_H

#include "base/arena.h"
#include "run/interp.h"
#include "run/spec.h"

struct fh_program {
	struct fh_spec spec; /* first: a run gives back the spec, and that is the program */
	unsigned uses;       /* its owner and its runs; the last one frees it */
	struct fh_arena arena;
	struct fh_interp interp;
	char **argv; /* of the three ways to say what to run, the last one's */
	char *text;
	char *input;
	const char **env;
	size_t n_env, cap_env;
};

/* For a run that starts; spec.release gives it back. */
void fh_program_hold(struct fh_program *program);

#endif
