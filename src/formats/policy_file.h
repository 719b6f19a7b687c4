/* Policy files: JSON or YAML text into a policy.
 *
 * The top level is an object. Its members are the fields of policy/fields.def (a text as people write it, or
 * a number: seconds for times, bytes for sizes), `name`, `env` (an object of texts) and `bind` (an array of
 * "SOURCE:TARGET[:ro|:rw]"). Anything else is an error that names the file, the line, the field and what is
 * accepted. `allow_weaker` is refused: a file must not decide that for its reader. */
#ifndef FH_FORMATS_POLICY_FILE_H
#define FH_FORMATS_POLICY_FILE_H

#include <stddef.h>

#include "base/err.h"
#include "policy/policy.h"

#define FH_POLICY_FILE_BYTES_MAX (1u << 20)

/* Lays what the file says over *p, which must have been made by fh_policy_init; on failure *p is untouched.
 * JSON or YAML is told by the ending .json, .yaml or .yml, else by the first character: '{' is JSON. The
 * result is not passed through fh_policy_check: the caller may still have flags to lay over it. */
int fh_policy_read_file(const char *path, struct fh_policy *p, struct fh_err *err);
/* The same from memory; `filename` is for messages and for telling the format. */
int fh_policy_read_text(const char *text, size_t n, const char *filename, struct fh_policy *p,
			struct fh_err *err);

#endif
