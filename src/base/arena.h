/* Memory that is taken piece by piece and given back at once: the plan of a run, the strings of an answer.
 *
 * A failed allocation is remembered in `failed` and answered with NULL; callers that take many small pieces may check
 * once at the end, as long as they do not write through a NULL. `max_bytes` bounds the whole. */
#ifndef FH_BASE_ARENA_H
#define FH_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct fh_arena_block;

struct fh_arena {
	struct fh_arena_block *blocks;
	size_t used, max;
	bool failed;
};

void fh_arena_init(struct fh_arena *a, size_t max_bytes);
void fh_arena_finish(struct fh_arena *a);

/* Zeroed, aligned for any type. NULL when memory or the maximum ran out. */
void *fh_arena_take(struct fh_arena *a, size_t bytes);
char *fh_arena_dup(struct fh_arena *a, const char *text);
char *fh_arena_printf(struct fh_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A growing array of one type in an arena: *items holds *n elements of `size` bytes with room for *cap. Returns the new
 * last element (zeroed) or NULL. Outgrown copies stay in the arena until it ends. */
void *fh_arena_push(struct fh_arena *a, void *items, size_t *n, size_t *cap, size_t size);

#endif
