/* Program output made fit to be read by a model: each step takes valid UTF-8 and appends valid UTF-8. Nothing
 * is decided here about what to use or how much to show; formats/format_text.h does that.
 *
 * The steps build on each other in this order: terminal, progress, invisible, tokens; cutting to a budget
 * comes after, and the wrapper last, on what is really shown. */
#ifndef FH_FORMATS_CLEAN_H
#define FH_FORMATS_CLEAN_H

#include <stddef.h>

#include "base/buf.h"

/* Each returns 0 or the buffer's error. `into` needs at most the factor named here times n. */

/* Takes out what a terminal obeys: CSI, OSC, DCS, SOS, PM and APC sequences, other ESC sequences, the C1
 * controls in their place, DEL, and C0 controls but tab, line feed, CR and BS (those are progress). A string
 * sequence that has no end on its line loses only its introducer, so that an unfinished one cannot hide what
 * follows. Factor 1. */
int fh_clean_terminal(const char *in, size_t n, struct fh_buf *into);

/* Keeps of each line its last state: what stands after the last CR (a CR before the line's end counts as part
 * of that end), with backspaces carried out. Factor 1. */
int fh_clean_progress(const char *in, size_t n, struct fh_buf *into);

/* Writes bidirectional controls, zero-width and other invisible characters as <U+202E>. A single emoji or
 * text variation selector after a character stays. Factor 5. */
int fh_clean_invisible(const char *in, size_t n, struct fh_buf *into);

/* Breaks every chat control token (the lists of chat_tokens.h, their form, and the caller's) by one space
 * after its first character: <|im_start|> becomes < |im_start|>. A caller's token has at least two
 * characters. Factor 2. */
int fh_clean_tokens(const char *in, size_t n, const char *const *more, size_t n_more, struct fh_buf *into);

/* In place, without a change of length: what looks like the wrapper of an observation, anywhere in a line:
 * "--- STDOUT ---" becomes "~~~ STDOUT ~~~" (STDERR likewise, in any case of letters), "[fumehood:" and "[...
 * 1" get a round bracket. */
void fh_clean_wrapper(char *text, size_t n);

#endif
