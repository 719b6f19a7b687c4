/* A step that failed in the child, in words a person can act on; and what may be left out where the caller allowed
 * it. */
#include "run/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const step_words[] = {
	"",
#define WORDS(id, words) words,
	FH_STEPS(WORDS)
#undef WORDS
};

/* What the step was working on. */
static const char *subject(const struct fh_run *run, const struct fh_step_failure *record)
{
	const struct fh_plan *plan = &run->plan;
	size_t i = (size_t)record->detail;

	if (record->detail < 0)
		return "";
	switch ((enum fh_step)record->step) {
	case FH_STEP_SOURCE:
	case FH_STEP_SOURCE_CHANGED:
		return i < plan->n_sources ? plan->sources[i].path : "";
	case FH_STEP_MKDIR:
	case FH_STEP_FILE:
	case FH_STEP_SYMLINK:
	case FH_STEP_CHOWN:
	case FH_STEP_ATTACH:
	case FH_STEP_CLONE_MOUNT:
	case FH_STEP_TMPFS:
	case FH_STEP_PROC:
	case FH_STEP_DEVPTS:
	case FH_STEP_OVERLAY:
	case FH_STEP_SYSCTL:
	case FH_STEP_SEAL: {
		const char *target = i < plan->n_ops ? plan->ops[i].target : "";
		return target[0] == 'r' && target[1] == '/' ? target + 1 : target;
	}
	case FH_STEP_LANDLOCK_RULES:
		return i < plan->n_rules ? plan->rules[i].path : "";
	default:
		return "";
	}
}

static const char *fix_for(const struct fh_step_failure *record)
{
	switch ((enum fh_step)record->step) {
	case FH_STEP_PROC:
		return "an outer container has covered parts of /proc: run it with an unmasked /proc "
		       "(--security-opt systempaths=unconfined), or use --level process";
	case FH_STEP_OVERLAY:
		return "a kernel of 5.11 or later mounts overlays in user namespaces; or use --allow-weaker for plain "
		       "read-only binds";
	case FH_STEP_NETNS:
	case FH_STEP_CGROUPNS:
	case FH_STEP_STAGE:
	case FH_STEP_PRIVATE:
		return "run `fumehood doctor`, or use --level process";
	case FH_STEP_LANDLOCK:
	case FH_STEP_LANDLOCK_RULES:
		return "boot a kernel with Landlock (lsm=landlock,...), or use --allow-weaker";
	default:
		return NULL;
	}
}

static void explain_exec(const struct fh_run *run, int error, struct fh_err *ret)
{
	const char *command = run->plan.argv[0];

	ret->code = -error;
	ret->fix[0] = '\0';
	if (error == ENOENT || error == ENOTDIR) {
		ret->kind = FH_ERR_NOT_FOUND;
		snprintf(ret->message, sizeof(ret->message), "'%.300s': command not found inside the sandbox", command);
		if (strchr(command, '/'))
			snprintf(ret->fix, sizeof(ret->fix),
				 "the path is looked up inside, where only /usr, /etc, /work and what --bind shows exist");
		return;
	}
	ret->kind = FH_ERR_NOT_EXEC;
	if (error == E2BIG) {
		ret->kind = FH_ERR_USAGE;
		snprintf(ret->message, sizeof(ret->message),
			 "the arguments and environment are too long for the kernel; pass the data by --stdin or a file");
		return;
	}
	snprintf(ret->message, sizeof(ret->message), "'%.300s' cannot be executed: %s", command,
		 error == ENOEXEC ? "not a program for this machine" : strerror(error));
}

void fh_failure_explain(const struct fh_run *run, const struct fh_step_failure *record, struct fh_err *ret)
{
	const char *what = subject(run, record), *fix = fix_for(record);

	if (record->step == FH_STEP_EXEC) {
		explain_exec(run, record->error, ret);
		return;
	}
	if (record->step == FH_STEP_CWD) {
		fh_usage(ret, "the working folder '%s' cannot be entered inside the sandbox: %s", run->plan.cwd,
			 strerror(record->error));
		return;
	}
	if (record->step == FH_STEP_LANDLOCK_RULES && record->error == ELOOP) {
		fh_usage(ret, "'%s' is, or leads through, a symbolic link; name the real path", what);
		return;
	}
	if (record->step == FH_STEP_LANDLOCK_RULES && (record->error == ENOENT || record->error == EACCES)) {
		fh_usage(ret, "'%s' cannot be shown to the program: %s", what, strerror(record->error));
		return;
	}
	fh_fail(ret, -record->error, "the sandbox could not %s%s%s%s", step_words[record->step], *what ? " '" : "", what,
		*what ? "'" : "");
	if (fix) {
		ret->kind = FH_ERR_UNSUPPORTED;
		snprintf(ret->fix, sizeof(ret->fix), "%s", fix);
	}
}

bool fh_failure_weaken(struct fh_run *run, const struct fh_step_failure *record)
{
	struct fh_weaker *weaker = &run->weaker;
	bool *what = NULL;

	if (!run->policy.allow_weaker)
		return false;
	switch ((enum fh_step)record->step) {
	case FH_STEP_OVERLAY:
		if (run->spec->workspace_mode != FH_WORKSPACE_COPY)
			what = &weaker->plain_trees;
		break;
	case FH_STEP_PROC:
		what = &weaker->no_proc;
		break;
	case FH_STEP_CGROUPNS:
		what = &weaker->no_cgroupns;
		break;
	case FH_STEP_NETNS:
	case FH_STEP_LOOPBACK:
	case FH_STEP_PRIVATE:
	case FH_STEP_STAGE:
	case FH_STEP_PIVOT:
		what = &weaker->level_process;
		break;
	default:
		break;
	}
	if (!what || *what)
		return false;
	*what = true;
	return true;
}
