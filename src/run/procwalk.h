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
	uint64_t shared_bytes;   /* mapped pages of shared memory and of files in memory; counted for each that maps them */
};

/* Sums over everything below `root`, at most `max` processes. Of `root` itself counts the time of those it reaped. */
void fh_procwalk(pid_t root, unsigned max, struct fh_procwalk *ret);

/* The shared pages alone, each counted once however many map it. Dear: for when the sum above is too large. */
uint64_t fh_procwalk_shared(pid_t root, unsigned max);

#endif
