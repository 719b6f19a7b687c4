/* The control tokens of chat templates, a list for each family of models. A tokenizer may turn such a text
 * into the token itself, and with it a program's output into a turn of its own; formats/clean.h makes them
 * harmless. */
#ifndef FH_FORMATS_CHAT_TOKENS_H
#define FH_FORMATS_CHAT_TOKENS_H

#include <stddef.h>

struct fh_chat_family {
	const char *name;
	const char *const *tokens;
	size_t n;
};

extern const struct fh_chat_family fh_chat_families[];
extern const size_t fh_chat_families_count;

/* Most modern families write <|name|> (some with a full-width bar), with names added at every release, so
 * these are known by their form: the length in bytes of one at the start of the n bytes, or 0. */
size_t fh_chat_token_by_form(const char *bytes, size_t n);

#endif
