/* The last steps before the program: from fork to exec. One visible ordered list at the end of the file; the order is
 * argued in ARCHITECTURE.md. Raw calls only; every step that fails ends this process with a record. */
#include "child/child.h"

#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/prctl.h>

#include "sys/landlock.h"
#include "sys/proc.h"

#define SECBITS_ALL                                                                                                    \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |               \
	 SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static int status_home(const struct fh_plan *plan)
{
	return plan->source_fd >= 0 ? 4 : 3;
}

/* Descriptors 0-2 (and 3 for a program source); the status pipe moves just above them and closes at exec. */
static void set_stdio(const struct fh_plan *plan)
{
	for (int i = 0; i < 3; i++)
		FH_MUST(plan, STDIO, fh_sys_dup3(plan->stdio_fds[i], i, 0));
	if (plan->source_fd >= 0)
		FH_MUST(plan, STDIO, fh_sys_dup3(plan->source_fd, 3, 0));
	FH_MUST(plan, STDIO, fh_sys_dup3(plan->status_fd, status_home(plan), O_CLOEXEC));
}

static void set_rlimits(const struct fh_plan *plan)
{
	for (size_t i = 0; i < plan->n_rlimits; i++) {
		struct rlimit64 limit = {plan->rlimits[i].soft, plan->rlimits[i].hard};
		long rc = FH_SYS(SYS_prlimit64, 0, plan->rlimits[i].resource, &limit, NULL);

		if (rc < 0)
			fh_child_die(plan, FH_STEP_RLIMIT, rc, plan->rlimits[i].resource);
	}
}

static void set_scheduling(const struct fh_plan *plan)
{
	struct {
		int priority;
	} none = {0};

	if (plan->reset_scheduler)
		FH_MUST(plan, SCHEDULING, FH_SYS(SYS_sched_setscheduler, 0, 0 /* SCHED_OTHER */, &none));
	FH_MUST(plan, SCHEDULING, FH_SYS(SYS_setpriority, 0 /* PRIO_PROCESS */, 0, plan->nice));
	if (plan->set_affinity)
		FH_MUST(plan, SCHEDULING,
			FH_SYS(SYS_sched_setaffinity, 0, sizeof(plan->affinity), &plan->affinity));
}

/* While still capable: close every way back to a capability. Without privilege (level 1) some of these are refused, and
 * then there was nothing to drop. */
static void drop_bounding_set(const struct fh_plan *plan)
{
	for (unsigned long cap = 0; cap < 64; cap++) {
		long rc = fh_sys_prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
		if (rc == -EINVAL)
			break;
		if (rc == -EPERM && !plan->namespaces)
			break;
		FH_MUST(plan, CAPS, rc);
	}
	FH_MUST(plan, CAPS, fh_sys_prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
	long rc = fh_sys_prctl(PR_SET_SECUREBITS, SECBITS_ALL, 0, 0, 0);
	if (!(rc == -EPERM && !plan->namespaces))
		FH_MUST(plan, CAPS, rc);
}

static void take_program_ids(const struct fh_plan *plan)
{
	if (plan->drop_groups)
		FH_MUST(plan, PROGRAM_IDS, fh_sys_setgroups(0, NULL));
	if (!plan->change_ids)
		return;
	FH_MUST(plan, PROGRAM_IDS, fh_sys_setresgid(plan->program_gid));
	FH_MUST(plan, PROGRAM_IDS, fh_sys_setresuid(plan->program_uid));
}

static void empty_capability_sets(const struct fh_plan *plan)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};

	FH_MUST(plan, CAPS, FH_SYS(SYS_capset, &header, none));
}

/* Nothing above is believed before the kernel says so itself. */
static void verify_ids(const struct fh_plan *plan)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};
	uid_t uid[3];
	gid_t gid[3];

	FH_MUST(plan, VERIFY_IDS, FH_SYS(SYS_getresuid, &uid[0], &uid[1], &uid[2]));
	FH_MUST(plan, VERIFY_IDS, FH_SYS(SYS_getresgid, &gid[0], &gid[1], &gid[2]));
	FH_MUST(plan, VERIFY_IDS, FH_SYS(SYS_capget, &header, caps));
	for (int i = 0; i < 3 && plan->change_ids; i++)
		if (uid[i] != plan->program_uid || gid[i] != plan->program_gid)
			fh_child_die(plan, FH_STEP_VERIFY_IDS, -EPERM, i);
	for (int i = 0; i < 2 && !plan->skip_caps; i++)
		if (caps[i].effective || caps[i].permitted || caps[i].inheritable)
			fh_child_die(plan, FH_STEP_VERIFY_IDS, -EPERM, 8 + i);
	if (plan->drop_groups && syscall(SYS_getgroups, 0, NULL) != 0)
		fh_child_die(plan, FH_STEP_VERIFY_IDS, -EPERM, 16);
}

static void enter_cwd(const struct fh_plan *plan)
{
	char where[2] = {0, 0};
	long rc;

	FH_MUST(plan, CWD, fh_sys_chdir(plan->cwd));
	/* "(unreachable)..." would say that we stand outside the root; a long absolute path does not fit, which is fine. */
	rc = syscall(SYS_getcwd, where, sizeof(where));
	if (rc < 0 ? errno != ERANGE : where[0] != '/')
		fh_child_die(plan, FH_STEP_CWD, -EXDEV, -1);
}

static void reset_signals(const struct fh_plan *plan)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} standard = {0};

	for (int sig = 1; sig <= 64; sig++) {
		if (sig == SIGKILL || sig == SIGSTOP)
			continue;
		FH_MUST(plan, SIGNALS, FH_SYS(SYS_rt_sigaction, sig, &standard, NULL, sizeof(uint64_t)));
	}
}

static void unblock_signals(const struct fh_plan *plan)
{
	uint64_t none = 0;

	FH_MUST(plan, SIGNALS, FH_SYS(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none)));
}

/* Whether a file that the kernel could not execute may be a script: one without a NUL in its beginning, as shells ask. */
static bool looks_like_text(const char *path)
{
	char head[128];
	long fd = fh_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long got = fd < 0 ? -1 : fh_sys_read((int)fd, head, sizeof(head));

	if (fd >= 0)
		fh_sys_close((int)fd);
	for (long i = 0; i < got && head[i] != '\n'; i++)
		if (head[i] == '\0')
			return false;
	return true;
}

/* Tries every candidate path, as execvp does. */
_Noreturn static void exec_program(const struct fh_plan *plan)
{
	long worst = -ENOENT;
	int at = 0;

	for (size_t i = 0; plan->exec_paths[i]; i++) {
		long rc = FH_SYS(SYS_execve, plan->exec_paths[i], plan->argv, plan->envp);

		if (rc == -ENOEXEC && plan->shell_argv && looks_like_text(plan->exec_paths[i])) {
			/* An executable text without "#!" is a shell script, as for every shell. */
			plan->shell_argv[1] = (char *)(uintptr_t)plan->exec_paths[i];
			rc = FH_SYS(SYS_execve, plan->shell_argv[0], plan->shell_argv, plan->envp);
			rc = rc == -ENOENT ? -ENOEXEC : rc;
		}
		if (rc == -ENOENT || rc == -ENOTDIR)
			continue;
		worst = rc;
		at = (int)i;
		if (rc != -EACCES)
			break;
	}
	fh_child_die(plan, FH_STEP_EXEC, worst, at);
}

_Noreturn void fh_child_program(const struct fh_plan *plan, const struct fh_pair *pair)
{
	struct fh_plan confined = *plan; /* ours to change: the status pipe moves */
	int ruleset_fd;

	FH_MUST(plan, SESSION, fh_sys_setsid());
	if (plan->namespaces)
		fh_pair_make_network(pair, plan);
	if (!plan->skip_caps)
		drop_bounding_set(plan);
	reset_signals(plan);
	fh_pair_wait(pair, plan); /* for the root */

	ruleset_fd = fh_child_landlock_ruleset(plan);
	set_stdio(plan);
	confined.status_fd = status_home(plan);
	plan = &confined;

	set_rlimits(plan);
	syscall(SYS_umask, 077);
	take_program_ids(plan);
	if (!plan->skip_caps)
		empty_capability_sets(plan);
	verify_ids(plan);
	if (!plan->skip_no_new_privs)
		FH_MUST(plan, NO_NEW_PRIVS, fh_sys_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (ruleset_fd >= 0)
		FH_MUST(plan, LANDLOCK, fh_sys_landlock_restrict(ruleset_fd));
	fh_pair_wait(pair, plan); /* until the old root is gone */
	FH_MUST(plan, CLOSE_FDS,
		fh_sys_close_range((unsigned)plan->status_fd + 1, ~0u, CLOSE_RANGE_UNSHARE));
	enter_cwd(plan);
	unblock_signals(plan);
	set_scheduling(plan); /* late: until here it is our own work that would have to wait longer */
	FH_MUST(plan, PERSONALITY, FH_SYS(SYS_personality, 0));
	if (plan->seccomp.len > 0)
		FH_MUST(plan, SECCOMP,
			FH_SYS(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &plan->seccomp));
	exec_program(plan);
}
