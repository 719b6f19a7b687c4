/* Reading id maps; see ids_map.h. */
#include "isolate/ids_map.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { LINES_MAX = 340 }; /* of one map, by the kernel */

struct extent {
	uint64_t inside, outside, count;
};

/* Takes the next line that makes sense; false at the end. */
static bool next_extent(const char **text, struct extent *ret)
{
	while (**text) {
		const char *line = *text;
		size_t len = strcspn(line, "\n");
		unsigned inside, outside, count;

		*text += len + (line[len] == '\n');
		if (sscanf(line, "%u %u %u", &inside, &outside, &count) == 3) {
			*ret = (struct extent){inside, outside, count};
			return true;
		}
	}
	return false;
}

/* The stretches of inside ids that a line of each map have in common, the largest of them. */
static struct extent largest_common(const char *uid_map, const char *gid_map)
{
	struct extent u, g, best = {0};
	int lines = 0;

	for (const char *up = uid_map; lines < LINES_MAX && next_extent(&up, &u); lines++) {
		int others = 0;

		for (const char *gp = gid_map; others < LINES_MAX && next_extent(&gp, &g); others++) {
			uint64_t from = u.inside > g.inside ? u.inside : g.inside;
			uint64_t u_end = u.inside + u.count, g_end = g.inside + g.count;
			uint64_t to = u_end < g_end ? u_end : g_end;

			if (to > from && to - from > best.count)
				best = (struct extent){from, 0, to - from};
		}
	}
	return best;
}

bool fh_id_range_find(const char *uid_map, const char *gid_map, struct fh_id_range *ret)
{
	struct extent all = largest_common(uid_map, gid_map);
	uint64_t end = all.inside + all.count, blocks, first;

	if (all.inside <= FH_ID_FIRST && end >= (uint64_t)FH_ID_FIRST + FH_ID_BLOCK * FH_ID_BLOCKS_MAX) {
		*ret = (struct fh_id_range){FH_ID_FIRST, FH_ID_BLOCKS_MAX};
		return true;
	}
	blocks = all.count / 2 / FH_ID_BLOCK;
	if (blocks > FH_ID_BLOCKS_MAX)
		blocks = FH_ID_BLOCKS_MAX;
	first = end - blocks * FH_ID_BLOCK;
	if (blocks == 0 || first == 0)
		return false;
	*ret = (struct fh_id_range){(uint32_t)first, (uint32_t)blocks};
	return true;
}

bool fh_id_map_outside(const char *map, uint32_t inside, uint32_t *ret)
{
	struct extent e;

	for (int i = 0; i < LINES_MAX && next_extent(&map, &e); i++)
		if (inside >= e.inside && inside - e.inside < e.count) {
			*ret = (uint32_t)(e.outside + inside - e.inside);
			return true;
		}
	return false;
}
