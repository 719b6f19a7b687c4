/* What the kernel lets this process do, found by trying it in children that are gone afterwards. For
 * `fumehood doctor`: a run finds out by itself and says which step failed; this finds the cause. Changes
 * nothing outside its children. */
#ifndef FH_ISOLATE_PROBE_H
#define FH_ISOLATE_PROBE_H

/* The steps of a sandbox at level namespace, each tried by itself in one child as far as its needs are met.
 */
enum fh_probe_step {
	FH_PROBE_USERNS,
	FH_PROBE_ID_MAP,
	FH_PROBE_MNTNS,
	FH_PROBE_PIDNS,
	FH_PROBE_NETNS,
	FH_PROBE_IPCNS,
	FH_PROBE_UTSNS,
	FH_PROBE_CGROUPNS,
	FH_PROBE_TMPFS,
	FH_PROBE_OVERLAY,
	FH_PROBE_PROC,
	FH_PROBE_STEPS_
};

/* Whether a system call is there at all, asked with arguments that cannot do anything. */
enum fh_probe_call {
	FH_PROBE_CLONE3,
	FH_PROBE_PIDFD_OPEN,
	FH_PROBE_CLOSE_RANGE,
	FH_PROBE_OPENAT2,
	FH_PROBE_OPEN_TREE,
	FH_PROBE_MOUNT_SETATTR,
	FH_PROBE_MEMFD,
	FH_PROBE_EPOLL,
	FH_PROBE_CALLS_
};

#define FH_PROBE_NOT_TRIED (-1)

struct fh_probe_ladder {
	int step[FH_PROBE_STEPS_]; /* 0: works; a positive errno; or not tried, since something before it
				      failed */
};

/* 0, or a negative errno when no child could be had, or it did not answer within a second. */
int fh_probe_namespaces(struct fh_probe_ladder *ret);

/* 0 when it is there (and not refused by a filter), else a positive errno. */
int fh_probe_call(enum fh_probe_call call);

/* Installs a harmless filter in a child. 0, a positive errno, or a negative one as above. */
int fh_probe_seccomp(void);

const char *fh_probe_step_name(enum fh_probe_step step);
const char *fh_probe_call_name(enum fh_probe_call call);

#endif
