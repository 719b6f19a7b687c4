/* From what was tried to what a person can act on: one check a facility, with the command that mends it. */
#include "run/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "isolate/ids.h"
#include "run/run.h"

#define SAY(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

#define ID_FILE_BYTES_MAX (256u << 10)
#define MOUNTINFO_MAX     (8u << 20)

const char *fh_check_state_name(enum fh_check_state state)
{
	static const char *const names[] = {"ok", "note", "weaker", "missing"};

	return names[state];
}

/* The number in a file of /proc/sys; -1 when this kernel has no such setting. */
static long setting(const char *path)
{
	char text[32];

	return fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) <= 0 ? -1 : strtol(text, NULL, 10);
}

static bool inside_container(const struct fh_doctor *d)
{
	return d->container[0] || (d->filtered && d->levels[FH_LEVEL_NAMESPACE - 1].holds == false);
}

/* ---- namespaces
 * --------------------------------------------------------------------------------------------- */

/* Why no user namespace can be made, and what to do: the first cause that fits. */
static void explain_userns(const struct fh_doctor *d, int error, struct fh_check *c)
{
	const char *name = strerror(error);

	if (error == ENOSYS || error == EINVAL) {
		SAY(c->found, "this kernel has no user namespaces (%s)", name);
		SAY(c->fix, "boot a kernel with CONFIG_USER_NS");
	} else if (setting("/proc/sys/user/max_user_namespaces") == 0) {
		SAY(c->found, "user namespaces are switched off: user.max_user_namespaces is 0");
		SAY(c->fix,
		    "sudo sysctl -w user.max_user_namespaces=15000   (for good: a line in /etc/sysctl.d/)");
	} else if (error == ENOSPC || error == EUSERS) {
		SAY(c->found,
		    "no more user namespaces: the limit of this one or of the nesting (32) is reached");
		SAY(c->fix,
		    "sudo sysctl -w user.max_user_namespaces=15000   (for good: a line in /etc/sysctl.d/)");
	} else if (setting("/proc/sys/kernel/unprivileged_userns_clone") == 0 && d->uid != 0) {
		SAY(c->found,
		    "ordinary users may make no user namespaces: kernel.unprivileged_userns_clone is 0");
		SAY(c->fix, "sudo sysctl -w kernel.unprivileged_userns_clone=1   (for good: a line in "
			    "/etc/sysctl.d/)");
	} else if (d->filtered) {
		SAY(c->found,
		    "a system call filter around us refuses namespaces (%s): we are inside a container",
		    name);
		SAY(c->fix,
		    "start the container with --security-opt seccomp=unconfined --security-opt "
		    "systempaths=unconfined (Kubernetes: seccompProfile Unconfined, procMount Unmasked)");
	} else {
		SAY(c->found, "user namespaces are refused (%s)", name);
		SAY(c->fix, "look for a security module that refuses them (SELinux: setsebool; AppArmor: "
			    "aa-status), or "
			    "leave the chroot we may be in");
	}
}

/* AppArmor lets the namespace be made and then refuses what is done in it. */
static bool held_by_apparmor(void)
{
	return setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") > 0;
}

static void explain_inside(const struct fh_doctor *d, int error, const char *what, struct fh_check *c)
{
	SAY(c->found, "%s: %s", what, strerror(error));
	if ((error == EPERM || error == EACCES) && held_by_apparmor() && d->uid != 0) {
		SAY(c->found, "%s: AppArmor restricts user namespaces of ordinary users (%s)", what,
		    strerror(error));
		SAY(c->fix, "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor "
			    "profile for "
			    "fumehood with the rule `userns,`");
	} else if (error == EPERM && d->filtered) {
		SAY(c->found, "%s: a system call filter around us refuses it (%s)", what, strerror(error));
		SAY(c->fix, "start the container with --security-opt seccomp=unconfined");
	} else if (error == ENOSPC) {
		SAY(c->fix, "raise the limit: sysctl user | grep max_");
	} else if (error == EINVAL || error == ENOSYS || error == ENODEV) {
		SAY(c->fix, "boot a kernel that has it");
	}
}

/* Mounts over parts of /proc: while one stands, the kernel gives a nested user namespace no fresh proc. */
static bool proc_is_covered(char *where, size_t cap)
{
	fh_autobuf mounts;
	bool found = false;

	fh_buf_init(&mounts, MOUNTINFO_MAX);
	if (fh_read_file_at(AT_FDCWD, "/proc/self/mountinfo", &mounts) < 0)
		return false;
	for (const char *line = fh_buf_str(&mounts); *line && !found;) {
		size_t n = strcspn(line, "\n");
		char target[128], kind[32] = "";
		const char *dash = memmem(line, n, " - ", 3);

		/* binfmt_misc hangs in an empty folder that may be covered. */
		if (dash && sscanf(line, "%*s %*s %*s %*s %127s", target) == 1 &&
		    strncmp(target, "/proc/", 6) == 0 && sscanf(dash, " - %31s", kind) == 1 &&
		    strncmp(target, "/proc/sys/fs/binfmt_misc", 24) != 0) {
			snprintf(where, cap, "%s", target);
			found = true;
		}
		line += n + (line[n] == '\n');
	}
	return found;
}

static void explain_proc(const struct fh_doctor *d, int error, struct fh_check *c)
{
	char where[128];

	if (error == EPERM && proc_is_covered(where, sizeof(where))) {
		SAY(c->found, "no private /proc can be mounted: an outer container covers parts of it (%s)",
		    where);
		SAY(c->fix,
		    "start the container with --security-opt systempaths=unconfined (podman: --security-opt "
		    "unmask=ALL; Kubernetes: procMount: Unmasked)");
		return;
	}
	explain_inside(d, error, "no private /proc can be mounted", c);
}

static void explain_step(const struct fh_doctor *d, enum fh_probe_step step, int error, struct fh_check *c)
{
	char what[64];

	switch (step) {
	case FH_PROBE_USERNS:
		explain_userns(d, error, c);
		break;
	case FH_PROBE_PROC:
		explain_proc(d, error, c);
		break;
	case FH_PROBE_OVERLAY:
		explain_inside(d, error, "no overlay can be mounted in a user namespace", c);
		if (!c->fix[0] || error == EPERM)
			SAY(c->fix, "boot Linux 5.11 or later with CONFIG_OVERLAY_FS; or --allow-weaker for "
				    "plain binds");
		break;
	default:
		snprintf(what, sizeof(what), "the %s cannot be had", fh_probe_step_name(step));
		explain_inside(d, error, what, c);
		break;
	}
}

static void check_namespaces(struct fh_doctor *d)
{
	static const char *const ids[FH_PROBE_STEPS_] = {
	    "user-namespaces", "id-map",         "mount-namespaces",  "pid-namespaces", "network-namespaces",
	    "ipc-namespaces",  "uts-namespaces", "cgroup-namespaces", "tmpfs",          "overlay",
	    "private-proc",
	};
	const struct fh_doctor_level *level = &d->levels[FH_LEVEL_NAMESPACE - 1];
	struct fh_probe_ladder ladder;
	int explained = 0, rc;

	if (level->holds) {
		SAY(fh_doctor_add(d, "namespaces", FH_CHECK_OK)->found,
		    "user, mount, pid, network, ipc, uts and cgroup namespaces, overlay and a private /proc");
		return;
	}
	rc = fh_probe_namespaces(&ladder);
	for (int i = 0; rc == 0 && i < FH_PROBE_STEPS_; i++) {
		struct fh_check *c;
		if (ladder.step[i] == FH_PROBE_NOT_TRIED || (explained && ladder.step[i] == explained))
			continue; /* what fails in the same way has the same cause */
		c = fh_doctor_add(d, ids[i], ladder.step[i] ? FH_CHECK_MISSING : FH_CHECK_OK);
		SAY(c->found, "%s", fh_probe_step_name((enum fh_probe_step)i));
		if (ladder.step[i] == 0)
			continue;
		SAY(c->matters, "level namespace, the default, cannot be had; --level process can");
		explain_step(d, (enum fh_probe_step)i, ladder.step[i], c);
		explained = ladder.step[i];
	}
}

/* ---- identity
 * ----------------------------------------------------------------------------------------------- */

/* Where the next range of sub-ids can begin so that it overlaps none that is given. */
static unsigned long next_subid(void)
{
	static const char *const files[] = {"/etc/subuid", "/etc/subgid"};
	unsigned long next = 100000;

	for (size_t i = 0; i < FH_ARRAY_LEN(files); i++) {
		fh_autobuf text;

		fh_buf_init(&text, ID_FILE_BYTES_MAX);
		if (fh_read_file_at(AT_FDCWD, files[i], &text) < 0)
			continue;
		for (const char *line = fh_buf_str(&text); *line;) {
			unsigned long first, count;
			size_t n = strcspn(line, "\n");

			if (sscanf(line, "%*[^:\n]:%lu:%lu", &first, &count) == 2 && first < 1ul << 31 &&
			    count < 1ul << 31 && first + count > next)
				next = first + count;
			line += n + (line[n] == '\n');
		}
	}
	return next;
}

static void fix_subids(const char *why, struct fh_check *c)
{
	unsigned long first = next_subid();
	bool no_helper = strstr(why, "newuidmap and newgidmap") != NULL;

	if (strstr(why, "no line in /etc/passwd"))
		SAY(c->fix, "run as a user that /etc/passwd knows, with sub-ids");
	else if (strstr(why, "no_new_privs"))
		SAY(c->fix, "start fumehood without no_new_privs around it (systemd: NoNewPrivileges=no)");
	else if (strstr(why, "the group of this process"))
		SAY(c->fix, "start it under the user's own group");
	else if (no_helper && access("/etc/subuid", F_OK) == 0)
		SAY(c->fix, "sudo apt-get install uidmap   (Fedora: shadow-utils; Alpine: shadow-subids)");
	else
		SAY(c->fix, "%ssudo usermod --add-subuids %lu-%lu --add-subgids %lu-%lu \"$(id -un)\"",
		    no_helper ? "sudo apt-get install uidmap && " : "", first, first + 65535, first,
		    first + 65535);
}

static void check_identity(struct fh_doctor *d)
{
	struct fh_check *c = fh_doctor_add(d, "identity", FH_CHECK_OK);
	char why[320] = "";
	char *fix;

	if (d->uid != 0) {
		if (fh_ids_can_subid(why, sizeof(why))) {
			SAY(c->found, "a run has user ids of its own, out of this user's sub-ids");
			return;
		}
		c->state = FH_CHECK_WEAKER;
		SAY(c->found, "no sub-ids: %.250s", why);
		SAY(c->matters,
		    "programs run under your own user id: they share its per-user counters with you");
		fix_subids(why, c);
		return;
	}
	if (fh_ids_can_block(why, sizeof(why))) {
		SAY(c->found, "a run has user ids that nobody else on this host has");
		return;
	}
	fix = strstr(why, "; fix: ");
	if (fix) {
		*fix = '\0';
		SAY(c->fix, "%.250s", fix + strlen("; fix: "));
	}
	SAY(c->found, "no user ids of its own for a run: %.250s", why);
	if (!d->root) {
		c->state = FH_CHECK_WEAKER;
		SAY(c->matters, "programs run under the id of whoever made this user namespace");
		if (!c->fix[0])
			SAY(c->fix,
			    "run fumehood outside of this user namespace, or map at least 65536 ids into it");
		return;
	}
	c->state = FH_CHECK_MISSING;
	SAY(c->matters,
	    "as root nothing is run: a program with root's id could touch whatever of root's it sees");
	if (!c->fix[0] && d->nested_userns)
		SAY(c->fix, "run fumehood outside of this user namespace, or map at least 65536 ids into it");
	else if (!c->fix[0])
		SAY(c->fix, "give fumehood CAP_SETUID and CAP_SETGID, or run it as an ordinary user");
}

/* ---- kernel
 * ------------------------------------------------------------------------------------------------- */

static void check_landlock(struct fh_doctor *d)
{
	static const struct {
		int abi;
		const char *kernel, *lacks;
	} rows[] = {
	    {1, "5.13", ""},
	    {2, "5.19", "renames between folders (always refused)"},
	    {3, "6.2", "truncation"},
	    {4, "6.7", "TCP ports (level process)"},
	    {5, "6.10", "device controls"},
	    {6, "6.12", "abstract sockets and signals (level process)"},
	};
	struct fh_check *c = fh_doctor_add(d, "landlock", FH_CHECK_OK);
	char lacks[160] = "";
	size_t at = 0;

	if (d->landlock_abi == 0) {
		c->state = FH_CHECK_MISSING;
		SAY(c->found, "this kernel has no Landlock, or it is not switched on");
		SAY(c->matters,
		    "no level runs without --allow-weaker; level process would have no wall for files");
		SAY(c->fix, "boot Linux 5.13 or later with lsm=landlock,... on its command line");
		return;
	}
	for (size_t i = 0; i < FH_ARRAY_LEN(rows); i++)
		if (rows[i].abi > d->landlock_abi && at < sizeof(lacks))
			at += (size_t)snprintf(lacks + at, sizeof(lacks) - at, "%s%s", at ? ", " : "",
					       rows[i].lacks);
	SAY(c->found, "Landlock version %d", d->landlock_abi);
	if (!lacks[0])
		return;
	c->state = FH_CHECK_WEAKER;
	SAY(c->matters, "not governed by it: %s", lacks);
	SAY(c->fix, "boot Linux %s or later", rows[FH_ARRAY_LEN(rows) - 1].kernel);
}

static void check_calls(struct fh_doctor *d)
{
	char lacking[200] = "";
	size_t at = 0;
	bool only_clone3 = true;
	struct fh_check *c;

	for (int i = 0; i < FH_PROBE_CALLS_ && at < sizeof(lacking); i++) {
		bool mounts = i == FH_PROBE_OPEN_TREE || i == FH_PROBE_MOUNT_SETATTR;
		int error = fh_probe_call((enum fh_probe_call)i);

		/* Nobody needs to mount where there are no namespaces to mount in. */
		if (error == 0 || (mounts && !d->levels[FH_LEVEL_NAMESPACE - 1].holds))
			continue;
		only_clone3 = only_clone3 && i == FH_PROBE_CLONE3;
		at += (size_t)snprintf(lacking + at, sizeof(lacking) - at, "%s%s (%s)", at ? ", " : "",
				       fh_probe_call_name((enum fh_probe_call)i), strerror(error));
	}
	c = fh_doctor_add(d, "system-calls",
			  !lacking[0]   ? FH_CHECK_OK
			  : only_clone3 ? FH_CHECK_NOTE
					: FH_CHECK_WEAKER);
	if (!lacking[0]) {
		SAY(c->found, "pidfd, openat2, clone3 and the new mount calls");
		return;
	}
	SAY(c->found, "not to be had: %s", lacking);
	SAY(c->matters, "%s",
	    only_clone3 ? "runs start a little slower, by clone"
			: "some workspaces, binds or runs will be refused");
	SAY(c->fix, "%s",
	    d->filtered ? "start the container around us with --security-opt seccomp=unconfined"
			: "boot Linux 5.12 or later");
}

static void check_seccomp(struct fh_doctor *d)
{
	int error = fh_probe_seccomp();
	struct fh_check *c = fh_doctor_add(d, "seccomp", error ? FH_CHECK_MISSING : FH_CHECK_OK);

	if (!error) {
		SAY(c->found, "system call filters");
		return;
	}
	SAY(c->found, "no system call filter can be installed (%s)", strerror(error < 0 ? -error : error));
	SAY(c->matters, "nothing is run without one");
	SAY(c->fix, "boot a kernel with CONFIG_SECCOMP_FILTER");
}

/* ---- limits
 * ------------------------------------------------------------------------------------------------- */

static const char *matters_without(const char *axis)
{
	static const struct {
		const char *axis, *matters;
	} rows[] = {
	    {"memory", "memory is held by sampling: a program can pass its limit for some milliseconds"},
	    {"pids", "processes are held by a limit per user"},
	    {"cpu rate", "fractions of a processor are not held, whole ones are (by affinity)"},
	    {"cpu time", "processor time is held by sampling"},
	    {"kill", "the end of a run is by walking its processes"},
	};

	for (size_t i = 0; i < FH_ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].axis, axis) == 0)
			return rows[i].matters;
	return "";
}

/* Splits a line "axis: reason; fix: command" in place; false when it is none. */
static bool split_line(char *line, char **ret_reason, char **ret_fix)
{
	char *reason = strstr(line, ": "), *fix = reason ? strstr(reason, "; fix: ") : NULL;

	if (!fix)
		return false;
	*reason = *fix = '\0';
	*ret_reason = reason + 2;
	*ret_fix = fix + strlen("; fix: ");
	return true;
}

/* What one command mends is one check, with the reason of its first axis. */
static void check_groups(struct fh_doctor *d, const struct fh_host *host)
{
	fh_autobuf why;
	char *line, *rest = NULL, *reason, *fix, first_reason[160] = "", axes[64] = "";
	struct fh_check *c = NULL;

	fh_buf_init(&why, 8192);
	fh_cgroup_host_explain(host->cgroups, &why);
	if (!why.data || why.len == 0) {
		SAY(fh_doctor_add(d, "control-groups", FH_CHECK_OK)->found,
		    "control groups (%s) hold memory, processes and CPU", d->cgroup_shape);
		return;
	}
	for (line = strtok_r(why.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!split_line(line, &reason, &fix))
			continue;
		if (c && strncmp(c->fix, fix, sizeof(c->fix) - 1) == 0) {
			size_t at = strlen(axes);
			snprintf(axes + at, sizeof(axes) - at, ", %s", line);
			SAY(c->matters, "limits are held by sampling and per process instead, less tightly "
					"(see the table)");
		} else {
			c = fh_doctor_add(d, "control-groups", FH_CHECK_WEAKER);
			SAY(axes, "%s", line);
			SAY(first_reason, "%s", reason);
			SAY(c->matters, "%s", matters_without(line));
			SAY(c->fix, "%s", fix);
		}
		SAY(c->found, "no control group for %s: %s", axes, first_reason);
	}
}

static void check_descriptors(struct fh_doctor *d)
{
	struct fh_check *c = fh_doctor_add(d, "open-files", FH_CHECK_OK);
	const uint64_t want = fh_field_find("files")->standard;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	SAY(c->found, "%llu open files of one process, at most %llu", (unsigned long long)limit.rlim_cur,
	    (unsigned long long)limit.rlim_max);
	if (limit.rlim_max >= want)
		return;
	c->state = FH_CHECK_WEAKER;
	SAY(c->matters, "the default policy gives a program %llu, more than may be given here",
	    (unsigned long long)want);
	SAY(c->fix,
	    "raise the hard limit (ulimit -Hn %llu before dropping privileges, or LimitNOFILE= of the unit), "
	    "or --files",
	    (unsigned long long)want);
}

/* ---- the host around
 * ---------------------------------------------------------------------------------------- */

static void check_swap(struct fh_doctor *d, const struct fh_host *host)
{
	char text[4096];
	unsigned areas = 0;
	struct fh_check *c;

	if (fh_read_small_at(AT_FDCWD, "/proc/swaps", text, sizeof(text)) <= 0)
		return;
	for (const char *p = strchr(text, '\n'); p && p[1]; p = strchr(p + 1, '\n'))
		areas++;
	c = fh_doctor_add(d, "swap", areas == 0 ? FH_CHECK_OK : FH_CHECK_NOTE);
	if (areas == 0) {
		SAY(c->found, "no swap");
		return;
	}
	SAY(c->found, "swap is on (%u area%s)", areas, areas == 1 ? "" : "s");
	SAY(c->matters, "%s",
	    host->axes.memory
		? "runs are kept out of it where their control group can say so; other memory of the host is "
		  "not"
		: "what programs hold in memory may reach the disk, and their memory is counted without it");
	SAY(c->fix, "sudo swapoff -a, or keep it encrypted");
}

static void check_core(struct fh_doctor *d)
{
	char text[160];
	struct fh_check *c;

	if (fh_read_small_at(AT_FDCWD, "/proc/sys/kernel/core_pattern", text, sizeof(text)) <= 0 ||
	    text[0] != '|')
		return;
	text[strcspn(text, " \n")] = '\0';
	c = fh_doctor_add(d, "core-dumps", FH_CHECK_NOTE);
	SAY(c->found, "core dumps of this host go to a program (%s)", text + 1);
	SAY(c->matters, "runs have a core limit of one byte, which keeps theirs from it");
}

static void check_surroundings(struct fh_doctor *d)
{
	struct fh_check *c;

	if (inside_container(d)) {
		c = fh_doctor_add(d, "container", FH_CHECK_NOTE);
		SAY(c->found, "inside a container%s%s%s", d->container[0] ? " (" : "", d->container,
		    d->container[0] ? ")" : "");
		SAY(c->matters, "what the container may do bounds what a run can be held by");
	}
	if (d->nested_userns && d->uid == 0) {
		c = fh_doctor_add(d, "nested", FH_CHECK_NOTE);
		SAY(c->found, "root of a user namespace, not of the machine");
	}
	if (d->no_new_privs && d->uid != 0) {
		c = fh_doctor_add(d, "no-new-privs", FH_CHECK_NOTE);
		SAY(c->found, "no_new_privs is set on this process");
		SAY(c->matters, "the helpers that map sub-ids cannot work");
	}
}

/* A level that failed for a reason that no other check found: in its own words. */
static void check_levels(struct fh_doctor *d)
{
	static const char *const ids[] = {"level-process", "level-namespace"};
	struct fh_check *c;

	for (size_t i = 0; i < d->n_checks; i++)
		if (d->checks[i].state == FH_CHECK_MISSING)
			return;
	for (int i = 0; i < 2; i++) {
		const struct fh_doctor_level *level = &d->levels[i];

		if (level->holds)
			continue;
		c = fh_doctor_add(d, ids[i], FH_CHECK_MISSING);
		SAY(c->found, "%.250s", level->message);
		SAY(c->matters, "level %s cannot be had", fh_level_name((enum fh_level)level->level));
		SAY(c->fix, "%s",
		    level->fix[0] ? level->fix : "run it by `fumehood run` to see more, and report it");
	}
}

void fh_doctor_check(struct fh_doctor *d, const struct fh_host *host)
{
	check_namespaces(d);
	check_identity(d);
	check_landlock(d);
	check_seccomp(d);
	check_calls(d);
	check_groups(d, host);
	check_descriptors(d);
	check_swap(d, host);
	check_core(d);
	check_surroundings(d);
	check_levels(d);
}
