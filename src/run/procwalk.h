/* The processes below one process, as /proc shows them: for hosts without control groups, where the supervisor itself
 * must count what a sandbox uses. */
#ifndef FH_RUN_PROCWALK_H
#define FH_RUN_PROCWALK_H

#include <stdint.h>
#include <sys/types.h>

struct fh_procwalk {
	unsigned processes, threads;
	uint64_t cpu_us;         /* of the living, and of the dead they waited for */
	uint64_t private_bytes;  /* anonymous memory; pages still shared after a fork count for each */
};

/* Sums over everything below `root` (which itself is not counted), at most `max` processes. */
void fh_procwalk(pid_t root, unsigned max, struct fh_procwalk *ret);

#endif
