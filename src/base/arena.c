/* Arenas; see arena.h. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 16384
#define ALIGN       16

struct fh_arena_block {
	struct fh_arena_block *next;
	size_t used, size;
	_Alignas(ALIGN) char bytes[];
};

void fh_arena_init(struct fh_arena *a, size_t max_bytes)
{
	*a = (struct fh_arena){.max = max_bytes};
}

void fh_arena_finish(struct fh_arena *a)
{
	while (a->blocks) {
		struct fh_arena_block *next = a->blocks->next;
		free(a->blocks);
		a->blocks = next;
	}
	*a = (struct fh_arena){.max = a->max};
}

void *fh_arena_take(struct fh_arena *a, size_t bytes)
{
	struct fh_arena_block *block = a->blocks;
	size_t need = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	void *piece;

	if (need < bytes || need > a->max - a->used) {
		a->failed = true;
		return NULL;
	}
	if (!block || block->size - block->used < need) {
		size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES;
		block = malloc(sizeof(*block) + size);
		if (!block) {
			a->failed = true;
			return NULL;
		}
		*block = (struct fh_arena_block){.next = a->blocks, .size = size};
		a->blocks = block;
	}
	piece = block->bytes + block->used;
	block->used += need;
	a->used += need;
	return memset(piece, 0, need);
}

char *fh_arena_dup(struct fh_arena *a, const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = fh_arena_take(a, n);

	return copy ? memcpy(copy, text, n) : NULL;
}

char *fh_arena_printf(struct fh_arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *text = NULL;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n >= 0)
		text = fh_arena_take(a, (size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	return text;
}

void *fh_arena_push(struct fh_arena *a, void *items, size_t *n, size_t *cap, size_t size)
{
	void **array = items;

	if (*n == *cap) {
		size_t more = *cap ? *cap * 2 : 32;
		void *grown = fh_arena_take(a, more * size);
		if (!grown)
			return NULL;
		if (*n)
			memcpy(grown, *array, *n * size);
		*array = grown;
		*cap = more;
	}
	return (char *)*array + (*n)++ * size;
}
