/* What this host can enforce, found by trying it: a tiny run at each level, and probes for the cause of what
 * failed. Takes a fraction of a second and leaves nothing behind. */
#ifndef FH_RUN_DOCTOR_H
#define FH_RUN_DOCTOR_H

#include "base/buf.h"
#include "base/err.h"
#include "fumehood/result.h"
#include "isolate/probe.h"

enum fh_check_state {
	FH_CHECK_OK,
	FH_CHECK_NOTE,    /* good to know; nothing is weaker */
	FH_CHECK_WEAKER,  /* runs are possible, something holds less well than it could */
	FH_CHECK_MISSING, /* a level cannot be had */
};

/* One thing looked at. All texts are one line without a final period. */
struct fh_check {
	const char *id; /* stable, "user-namespaces" */
	enum fh_check_state state;
	char found[320];   /* what is so on this host */
	char matters[200]; /* what follows for runs; "" when OK */
	char fix[320];     /* the command or setting that mends it; "" where there is none */
};

/* One level as a tiny run at it went. */
struct fh_doctor_level {
	int level;
	bool available; /* this build knows how to make it */
	bool holds;
	char message[512], fix[256]; /* why it does not hold */
	uint64_t setup_us, total_us;
	enum fh_means means[FH_AXIS_COUNT_]; /* what holds each limit there */
	char weaker[256]; /* what --allow-weaker would leave out instead; "" when that does not help either,
			     or is not needed */
};

#define FH_CHECKS_MAX 40

struct fh_doctor {
	bool holds; /* the default level does */
	char kernel[72], machine[72], container[32];
	unsigned uid, gid;
	bool nested_userns; /* not the first user namespace: ids here are not ids of the machine */
	bool root;          /* uid 0, and the namespace around us would take it for root, too */
	bool no_new_privs, filtered;
	const char *cgroup_shape;
	int landlock_abi;
	struct fh_doctor_level levels[4];
	struct fh_check checks[FH_CHECKS_MAX];
	size_t n_checks;
};

/* Looks. Fails only when not even that is possible (no memory). */
int fh_doctor_look(struct fh_doctor *ret, struct fh_err *err);

/* Appends it as one JSON object (docs/c-api.md lists the members). 0 or -E2BIG. */
int fh_doctor_to_json(const struct fh_doctor *d, struct fh_buf *into);

const char *fh_check_state_name(enum fh_check_state state);

/* For the files of the doctor: one more check, to be filled in. */
struct fh_check *fh_doctor_add(struct fh_doctor *d, const char *id, enum fh_check_state state);

struct fh_host;
/* doctor_checks.c: from what the levels showed, and the host, to checks. */
void fh_doctor_check(struct fh_doctor *d, const struct fh_host *host);

#endif
