/* Results as text for a model, made from the result and never stored in it.
 *
 * observation: a header line, then the streams that hold anything, each under its own line. Nothing the
 * program prints can be taken for these lines.
 *
 *     [fumehood: verdict=exit exit_code=1 wall=12ms TRUNCATED]
 *     --- STDOUT ---
 *     ...
 *     --- STDERR ---
 *     ...
 *
 *     Flags: TIMEOUT (wall or cpu), OOM (memory), TRUNCATED (something is not shown), BINARY (a stream is no
 * text), and `limit=axis` for the other limits. A message of the result stands on a second line, "[fumehood:
 * ...]".
 *
 * retool: one channel. "Error: execution timed out after N seconds." for wall or cpu; else stdout, where it
 * holds more than blanks; else stderr; else nothing for success, or "Error: process exited with code N." and
 * the like. A failure of the sandbox itself always says so instead, never looks like output.
 *
 * raw: stdout, then stderr, as kept; only the budget is applied. With any cleaning, stderr begins on a line
 * of its own.
 *
 * What does not fit is cut from the middle, on character borders, and counted on a line of its own,
 * "[... 1234 characters omitted ...]": in the unit of the budget, or in bytes where the run itself had kept
 * only head and tail. */
#ifndef FH_FORMATS_FORMAT_TEXT_H
#define FH_FORMATS_FORMAT_TEXT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "fumehood/result.h"

enum fh_text_format { FH_TEXT_OBSERVATION, FH_TEXT_RETOOL, FH_TEXT_RAW };

enum fh_format_unit { FH_UNIT_CHARACTERS, FH_UNIT_BYTES, FH_UNIT_CALLER };

/* Steps of formats/clean.h; the wrapper is guarded in every observation without being asked. */
enum fh_format_clean {
	FH_CLEAN_TERMINAL = 1 << 0,
	FH_CLEAN_PROGRESS = 1 << 1,
	FH_CLEAN_INVISIBLE = 1 << 2,
	FH_CLEAN_TOKENS = 1 << 3,
	FH_CLEAN_ALL = (1 << 4) - 1,
};

enum fh_format_time {
	FH_FORMAT_TIME_SHOWN,
	FH_FORMAT_TIME_HIDDEN /* for observations that must repeat exactly */
};

/* Most that wrapper, notices and markers add to what the budget allows, messages of the result not counted.
 */
#define FH_FORMAT_WRAPPER_BYTES_MAX 512

struct fh_format_options {
	enum fh_text_format format;
	enum fh_format_unit unit;
	/* For FH_UNIT_CALLER: how many units a text has, such as tokens; never falling as text is added. And
	 * their name. */
	size_t (*count)(void *self, const char *text, size_t n);
	void *self;
	const char *unit_name;
	size_t budget;         /* of program output, both streams together; 0 shows all that was kept */
	unsigned head_percent; /* of the budget; the rest shows the tail */
	unsigned clean;        /* enum fh_format_clean */
	enum fh_format_time time;
	const char *const
	    *tokens; /* the caller's control tokens, beside those of chat_tokens.h; 2 characters or more */
	size_t n_tokens;
};

/* The defaults of a format: characters, no budget, 35 % head, everything cleaned (nothing for raw). */
void fh_format_options_init(struct fh_format_options *o, enum fh_text_format format);

/* "observation", "retool" or "raw"; -EINVAL with a USAGE error for another word. */
int fh_format_parse(const char *name, enum fh_text_format *ret, struct fh_err *err);

/* Appends the text. USAGE for options that make no sense, -E2BIG or -ENOMEM (kind SANDBOX) when it did not
 * fit. */
int fh_format_result(const struct fh_result *r, const struct fh_format_options *o, struct fh_buf *into,
		     struct fh_err *err);

#endif
