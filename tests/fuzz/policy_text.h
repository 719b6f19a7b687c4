/* What must hold of any policy text, in either format; the two targets differ by the file name they give. */
#ifndef FH_FUZZ_POLICY_TEXT_H
#define FH_FUZZ_POLICY_TEXT_H

#include <string.h>

#include "fuzz.h"
#include "base/buf.h"
#include "formats/policy_file.h"
#include "formats/policy_json.h"

static void fuzz_taken(const struct fh_policy *p)
{
	struct fh_policy back;
	struct fh_err err = {0};
	fh_autobuf first = {0};
	fh_autobuf again = {0};
	fh_autobuf words = {0};

	fh_buf_init(&first, 16 << 20);
	fh_buf_init(&again, 16 << 20);
	fh_buf_init(&words, 16 << 20);
	fh_policy_init(&back);
	for (size_t i = 0; i < fh_fields_count; i++)
		fuzz_must(fh_field_value(p, &fh_fields[i]) >= fh_fields[i].lowest &&
			  fh_field_value(p, &fh_fields[i]) <= fh_fields[i].highest);
	fuzz_must(p->allow_weaker == 0);
	fuzz_must(fh_policy_to_json(p, FH_POLICY_JSON_LINE, &first) == 0);
	fuzz_must(fh_policy_read_text(first.data, first.len, "back.json", &back, &err) == 0);
	fuzz_must(fh_policy_to_json(&back, FH_POLICY_JSON_LINE, &again) == 0);
	fuzz_must(strcmp(first.data, again.data) == 0);
	fuzz_must(fh_policy_explain(p, &words) == 0);
	fh_policy_finish(&back);
}

static int fuzz_policy_text(const uint8_t *bytes, size_t n, const char *filename)
{
	struct fh_policy p, fresh;
	struct fh_err err = {0};

	fh_policy_init(&p);
	fh_policy_init(&fresh);
	if (fh_policy_read_text((const char *)bytes, n, filename, &p, &err) == 0) {
		fuzz_must(err.code == 0);
		fuzz_taken(&p);
	} else {
		size_t name = strlen(filename);
		fuzz_must(err.code < 0 && err.kind != FH_ERR_SANDBOX);
		fuzz_must(strncmp(err.message, filename, name) == 0 && err.message[name] == ':');
		/* A line, and never "line 0": the place was not found then. */
		fuzz_must(err.message[name + 1] >= '1' && err.message[name + 1] <= '9');
		for (const char *c = err.message; *c; c++)
			fuzz_must(*c >= 0x20 && *c < 0x7f);
		fuzz_must(memcmp(&p, &fresh, sizeof(p)) == 0);
	}
	fh_policy_finish(&p);
	return 0;
}

#endif
