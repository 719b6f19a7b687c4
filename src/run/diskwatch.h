/* How much a folder of the host holds, by walking it: the watch for places that no file system of our own limits. */
#ifndef FH_RUN_DISKWATCH_H
#define FH_RUN_DISKWATCH_H

#include <stdint.h>

struct fh_diskwatch {
	uint64_t bytes;  /* allocated, not apparent: a sparse giant is small */
	uint64_t inodes;
};

/* Sums over everything beneath the folder, which may be hostile and changing: no link is followed, no other file system
 * entered, at most `inodes_max` entries and 64 levels are visited. */
void fh_diskwatch(const char *path, uint64_t inodes_max, struct fh_diskwatch *ret);

#endif
