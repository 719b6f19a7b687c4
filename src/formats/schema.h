/* The JSON Schema (draft 2020-12) of policy files, made from the field table, for editors and other people's
 * checks. It says what can be said there; policy_file.h decides. */
#ifndef FH_FORMATS_SCHEMA_H
#define FH_FORMATS_SCHEMA_H

#include "base/buf.h"

/* Appends the schema, indented, without a final line end. 0 or -E2BIG. */
int fh_schema_print(struct fh_buf *into);

#endif
