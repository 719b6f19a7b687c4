/* Words in messages; see words.h. */
#include "policy/words.h"

#include <stdio.h>
#include <string.h>

/* Longer words are not compared: the table below lives on the stack and its cost is a square. */
#define WORD_CHARS_MAX 40

const char *fh_show(const char *text, char into[FH_SHOWN_CAP])
{
	static const char cut[] = "...";
	size_t used = 0;

	into[used++] = '\'';
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		/* Room for one escape, the dots, the quote and the end. */
		if (used + 4 + sizeof(cut) + 1 > FH_SHOWN_CAP) {
			memcpy(into + used, cut, sizeof(cut) - 1);
			used += sizeof(cut) - 1;
			break;
		}
		if (*p >= 0x20 && *p < 0x7f)
			into[used++] = (char)*p;
		else
			used += (size_t)snprintf(into + used, FH_SHOWN_CAP - used, "\\x%02x", *p);
	}
	into[used++] = '\'';
	into[used] = '\0';
	return into;
}

void fh_show_whole(struct fh_buf *into, const char *text)
{
	fh_buf_addc(into, '\'');
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p >= 0x20 && *p < 0x7f)
			fh_buf_addc(into, (char)*p);
		else
			fh_buf_addf(into, "\\x%02x", *p);
	}
	fh_buf_addc(into, '\'');
}

static char plain(char c)
{
	if (c == '-')
		return '_';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b; both within WORD_CHARS_MAX.
 */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][WORD_CHARS_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t j = 0; j <= nb; j++)
		last[j] = before[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *spare = before;
		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t change = plain(a[i - 1]) != plain(b[j - 1]);
			now[j] = least(last[j - 1] + change, least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) &&
			    plain(a[i - 2]) == plain(b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[nb];
}

const char *fh_nearest(const char *word, const char *const *words, size_t n)
{
	size_t len = strnlen(word, WORD_CHARS_MAX + 1), nearest = (size_t)-1;
	const char *found = NULL;

	if (len > WORD_CHARS_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t other = strnlen(words[i], WORD_CHARS_MAX + 1);
		if (other > WORD_CHARS_MAX)
			continue;
		size_t d = distance(word, len, words[i], other);
		/* "mem" means memory, "memory_bytes" too: one that begins the other is as near as one slip.
		 */
		if (len >= 3 && other >= 3 && strncmp(word, words[i], least(len, other)) == 0)
			d = least(d, 1);
		if (d <= other / 3 + 1 && d < other && d < nearest) {
			nearest = d;
			found = words[i];
		}
	}
	return found;
}
