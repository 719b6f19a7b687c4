/* A policy as JSON, in one canonical form: equal policies give equal text. */
#ifndef FH_FORMATS_POLICY_JSON_H
#define FH_FORMATS_POLICY_JSON_H

#include "base/buf.h"
#include "base/sha256.h"
#include "policy/policy.h"

enum fh_policy_json_style { FH_POLICY_JSON_LINE, FH_POLICY_JSON_INDENTED };

/* Appends it: name, the fields in the order of the table, env sorted by name, binds in their order (it
 * matters), without a final line end. formats/policy_file.h reads it back, but for entries that are no UTF-8:
 * those stand as base64 of "NAME=VALUE" or "SOURCE:TARGET:mode" in env_base64 and bind_base64, so that no two
 * policies look alike. `allow_weaker` is the caller's choice and no part of it. 0, -E2BIG or -ENOMEM. */
int fh_policy_to_json(const struct fh_policy *p, enum fh_policy_json_style style, struct fh_buf *into);

/* The SHA-256 of that line: what `policy show | sha256sum` of the line form gives (without a line end). */
int fh_policy_hash(const struct fh_policy *p, char hex[FH_SHA256_HEX]);

#endif
