/* Level 2: pid 1 of the sandbox, from clone to its end. Builds the sandbox around itself, forks the program under
 * another id, then only reaps. It has no handlers, so no signal from inside reaches it; it is not dumpable, so nothing
 * inside can look at it; when it exits the kernel kills and reaps everything in its pid namespace. Raw calls only. */
#include "child/child.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <string.h>

#include "child/watch.h"
#include "sys/proc.h"

static void take_init_ids(const struct fh_plan *plan)
{
	if (!plan->init_is_mapped)
		return;
	if (plan->drop_groups)
		FH_MUST(plan, INIT_IDS, fh_sys_setgroups(0, NULL));
	FH_MUST(plan, INIT_IDS, fh_sys_setresgid(0));
	FH_MUST(plan, INIT_IDS, fh_sys_setresuid(0));
}

static void make_namespaces(const struct fh_plan *plan)
{
	/* Only now, standing in its group, so that the group is the root of what it sees. */
	if (plan->new_cgroupns)
		FH_MUST(plan, CGROUPNS, fh_sys_unshare(CLONE_NEWCGROUP));
	if (plan->new_keyring) {
		long rc = fh_sys_new_keyring();
		if (rc != -ENOSYS) /* a kernel without keys has none to reach */
			FH_MUST(plan, KEYRING, rc);
	}
	FH_MUST(plan, HOSTNAME, FH_SYS(SYS_sethostname, plan->hostname, strlen(plan->hostname)));
	FH_MUST(plan, HOSTNAME, FH_SYS(SYS_setdomainname, "", 0));
}

/* Once the program is on its way init needs no power: waiting needs none, and its exit kills the rest. */
static void give_up_power(const struct fh_plan *plan)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};

	FH_MUST(plan, CAPS, fh_sys_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	FH_MUST(plan, CAPS, FH_SYS(SYS_capset, &header, none));
}

_Noreturn void fh_child_init(const struct fh_plan *plan)
{
	struct fh_watch watch;
	struct fh_pair pair;
	int stage_fd = -1;

	fh_child_close_inherited(plan);
	fh_child_join_groups(plan);
	FH_MUST(plan, SESSION, fh_sys_setsid());
	fh_child_raise_oom_score(plan);
	syscall(SYS_umask, 0);
	fh_child_wait_for_go(plan);
	take_init_ids(plan);
	make_namespaces(plan);
	FH_MUST(plan, INIT_IDS, fh_sys_prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	fh_pair_open(&pair, plan);
	fh_watch_fork(&watch, plan, &pair);
	fh_sys_close(pair.program_fd);
	fh_child_build_root(plan, &stage_fd);
	fh_pair_tell(&pair, plan);
	fh_watch_announce(&watch, stage_fd);
	fh_pair_enter_network(&pair, plan);
	fh_child_leave_old_root(plan);
	fh_pair_tell(&pair, plan);
	/* From here the status pipe is the program's alone: its end of file says that exec happened. */
	fh_sys_close(plan->status_fd);
	fh_sys_close(pair.init_fd);
	give_up_power(plan);
	if (fh_watch_wait(&watch) == FH_WATCH_MAIN_ENDED)
		fh_watch_report_end(&watch);
	fh_sys_exit(0);
}
