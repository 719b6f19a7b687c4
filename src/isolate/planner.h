/* A plan in the making: the arena it lives in and its growing parts. isolate/ adds to it facility by facility, run/
 * completes it and hands the finished struct fh_plan to the child. */
#ifndef FH_ISOLATE_PLANNER_H
#define FH_ISOLATE_PLANNER_H

#include "base/arena.h"
#include "base/err.h"
#include "child/plan.h"

#define FH_PLANNER_BYTES_MAX (64u << 20)

struct fh_planner {
	struct fh_arena arena;
	struct fh_plan_op *ops;
	size_t n_ops, cap_ops;
	struct fh_plan_source *sources;
	size_t n_sources, cap_sources;
	struct fh_plan_rule *rules;
	size_t n_rules, cap_rules;
	struct fh_plan_rlimit *rlimits;
	size_t n_rlimits, cap_rlimits;
};

static inline void fh_planner_init(struct fh_planner *p)
{
	*p = (struct fh_planner){0};
	fh_arena_init(&p->arena, FH_PLANNER_BYTES_MAX);
}

/* Closes the sources' trees and frees everything. */
void fh_planner_finish(struct fh_planner *p);

enum fh_rule_path {
	FH_RULE_OPTIONAL, /* a path that does not exist needs no rule */
	FH_RULE_STRICT,   /* a host path of the caller's choice: it must exist, and no component may be a link */
};

/* Each appends and returns 0 or -ENOMEM. Strings are copied. */
int fh_planner_op(struct fh_planner *p, const struct fh_plan_op *op);
int fh_planner_rule(struct fh_planner *p, const char *path, uint64_t access, enum fh_rule_path kind);
int fh_planner_rlimit(struct fh_planner *p, int resource, uint64_t soft, uint64_t hard);

/* Looks at a host path (no component may be a link) and adds it as a source: as a detached mount where this process may
 * make one (root: the sandbox's own ids need not be able to walk there), else as a path that the child opens and
 * compares. `ret_index` is its place in sources. `st_mode` of what is there goes to ret_mode when not NULL. */
struct fh_source_options {
	bool recursive;
	int idmap_fd; /* a user namespace whose map is put on the mount; -1: none. Needs the detached form */
	bool idmap_optional; /* a file system that cannot be mapped is shown as it is */
	uint32_t owner_uid, owner_gid; /* whom the map is for: what is mounted must still be theirs */
};
int fh_planner_source(struct fh_planner *p, const char *path, const struct fh_source_options *options, int *ret_index,
		      uint32_t *ret_mode, struct fh_err *err);
/* A character device node of this number. */
int fh_planner_device(struct fh_planner *p, const char *path, unsigned major, unsigned minor, int *ret_index);

#endif
