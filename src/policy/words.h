/* Words that a person typed, put safely into a message: shown, and guessed at. */
#ifndef FH_POLICY_WORDS_H
#define FH_POLICY_WORDS_H

#include <stddef.h>

#include "base/buf.h"

#define FH_SHOWN_CAP 56

/* `text` in single quotes, cut to fit, with every byte that is not printable ASCII as \xHH: what a stranger
 * wrote into a file must not steer the terminal that shows the error. Returns `into`. */
const char *fh_show(const char *text, char into[FH_SHOWN_CAP]);

/* The same, uncut, for texts that a person decides by. */
void fh_show_whole(struct fh_buf *into, const char *text);

/* The one of `words` that is nearest to `word` by typing mistakes, or NULL when none is near enough to
 * suggest. */
const char *fh_nearest(const char *word, const char *const *words, size_t n);

#endif
