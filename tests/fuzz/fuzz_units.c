/* Amounts and words as people write them; and every other text that a flag can carry into a policy. */
#include <string.h>

#include "fuzz.h"
#include "base/own.h"
#include "policy/policy.h"
#include "policy/units.h"
#include "policy/words.h"

static void check_amount(int (*parse)(const char *, uint64_t *), void (*print)(uint64_t, char *, size_t),
			 const char *text)
{
	uint64_t value = 0, back = 0;
	char printed[32];

	if (parse(text, &value) < 0)
		return;
	print(value, printed, sizeof(printed));
	fuzz_must(parse(printed, &back) == 0 && back == value);
}

static void check_words(const char *text)
{
	static const char *const words[] = {"memory", "wall", "cpu", "cpus", "file_size"};
	char shown[FH_SHOWN_CAP];
	const char *near = fh_nearest(text, words, FH_ARRAY_LEN(words));

	for (const char *c = fh_show(text, shown); *c; c++)
		fuzz_must(*c >= 0x20 && *c < 0x7f);
	fuzz_must(strlen(shown) < FH_SHOWN_CAP && shown[0] == '\'' && shown[strlen(shown) - 1] == '\'');
	for (size_t i = 0; near && near != words[i]; i++)
		fuzz_must(i < FH_ARRAY_LEN(words));
}

static void check_lists(const char *text)
{
	struct fh_policy p;
	struct fh_err err = {0};

	fh_policy_init(&p);
	if (fh_policy_add_bind(&p, text, &err) == 0) {
		const struct fh_bind *b = &p.binds[0];
		fuzz_must(b->source[0] == '/' && b->source[1] && b->target[0] == '/' && b->target[1]);
		fuzz_must(!strstr(b->source, "//") && !strstr(b->target, "//") && !strstr(b->target, "/../"));
		fuzz_must(strncmp(b->target, "/proc/", 6) != 0 && strcmp(b->target, "/proc") != 0);
		fuzz_must(strcmp(b->target, "/etc") != 0 && strncmp(b->source, "/sys/", 5) != 0);
		/* The same target again is refused, however it is written. */
		fuzz_must(fh_policy_add_bind(&p, text, &err) < 0);
	}
	if (fh_policy_add_env(&p, text, &err) == 0)
		fuzz_must(p.n_env == 1 && strcmp(p.env[0], text) == 0 && text[0] != '=');
	(void)fh_policy_set_name(&p, text, &err);
	fuzz_must(strlen(p.name) > 0 && strlen(p.name) < FH_POLICY_NAME_MAX);
	fh_policy_finish(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	fh_autofree char *text = malloc(n + 1);
	struct fh_policy p;
	struct fh_err err = {0};

	if (!text)
		return 0;
	memcpy(text, bytes, n);
	text[n] = '\0';
	check_amount(fh_parse_duration, fh_print_duration, text);
	check_amount(fh_parse_bytes, fh_print_bytes, text);
	check_amount(fh_parse_cpus, fh_print_cpus, text);
	check_words(text);
	check_lists(text);
	fh_policy_init(&p);
	for (size_t i = 0; i < fh_fields_count; i++)
		if (fh_policy_set(&p, fh_fields[i].name, text, &err) < 0)
			fuzz_must(strstr(err.message, fh_fields[i].name) != NULL);
	for (size_t i = 0; i < fh_fields_count; i++)
		fuzz_must(fh_field_value(&p, &fh_fields[i]) >= fh_fields[i].lowest &&
			  fh_field_value(&p, &fh_fields[i]) <= fh_fields[i].highest);
	fh_policy_finish(&p);
	return 0;
}
