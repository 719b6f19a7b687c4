/* Reading the id maps of a user namespace, as in /proc/self/uid_map. Pure functions of text. */
#ifndef FH_ISOLATE_IDS_MAP_H
#define FH_ISOLATE_IDS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define FH_ID_BLOCK      8u          /* ids of one sandbox */
#define FH_ID_BLOCKS_MAX 65536u      /* sandboxes of one host */
#define FH_ID_FIRST      0x70000000u /* of our own range */

/* Ids we may hand out: `blocks` times FH_ID_BLOCK of them. */
struct fh_id_range {
	uint32_t first, blocks;
};

/* Our own range where both maps hold it whole; otherwise the top half of the largest stretch that both maps
 * have, leaving the lower ids to the users that live there. False when that is not even one block. */
bool fh_id_range_find(const char *uid_map, const char *gid_map, struct fh_id_range *ret);

/* What an id of the inside is outside; false when it is not mapped. */
bool fh_id_map_outside(const char *map, uint32_t inside, uint32_t *ret);

#endif
