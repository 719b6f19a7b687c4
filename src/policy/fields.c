/* The field table of fields.def as data, and what can be said of one field: its value as text, its range. */
#include "policy/policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policy/units.h"

const struct fh_field fh_fields[] = {
#define FH_FIELD(member, name, type, lowest, highest, standard, unit, help)                                  \
	{name, FH_TYPE_##type, offsetof(struct fh_policy, member), lowest, highest, standard, unit, help},
#include "policy/fields.def"
#undef FH_FIELD
};
const size_t fh_fields_count = sizeof(fh_fields) / sizeof(fh_fields[0]);

const struct fh_field *fh_field_find(const char *name)
{
	for (size_t i = 0; i < fh_fields_count; i++)
		if (strcmp(fh_fields[i].name, name) == 0)
			return &fh_fields[i];
	return NULL;
}

const char *fh_level_name(enum fh_level level)
{
	switch (level) {
	case FH_LEVEL_PROCESS:
		return "process";
	case FH_LEVEL_NAMESPACE:
		return "namespace";
	case FH_LEVEL_GVISOR:
		return "gvisor";
	case FH_LEVEL_MICROVM:
		return "microvm";
	}
	return "unknown";
}

void fh_field_print(const struct fh_field *f, uint64_t value, char *into, size_t cap)
{
	switch (f->type) {
	case FH_TYPE_LEVEL:
		snprintf(into, cap, "%s", fh_level_name((enum fh_level)value));
		return;
	case FH_TYPE_DURATION:
		fh_print_duration(value, into, cap);
		return;
	case FH_TYPE_BYTES:
		fh_print_bytes(value, into, cap);
		return;
	case FH_TYPE_COUNT:
		snprintf(into, cap, "%" PRIu64, value);
		return;
	case FH_TYPE_CPUS:
		fh_print_cpus(value, into, cap);
		return;
	case FH_TYPE_BOOL:
		snprintf(into, cap, "%s", value ? "true" : "false");
		return;
	case FH_TYPE_NETWORK:
		snprintf(into, cap, "none");
		return;
	case FH_TYPE_ENFORCE:
		snprintf(into, cap, "%s", value == FH_ENFORCE_KERNEL ? "kernel" : "best");
		return;
	}
}

void fh_field_range(const struct fh_field *f, char *into, size_t cap)
{
	char lowest[32], highest[32];

	switch (f->type) {
	case FH_TYPE_LEVEL:
		snprintf(into, cap, "process (1) or namespace (2)");
		return;
	case FH_TYPE_BOOL:
		snprintf(into, cap, "true or false");
		return;
	case FH_TYPE_NETWORK:
		snprintf(into, cap, "none");
		return;
	case FH_TYPE_ENFORCE:
		snprintf(into, cap, "best or kernel");
		return;
	case FH_TYPE_DURATION:
	case FH_TYPE_BYTES:
	case FH_TYPE_COUNT:
	case FH_TYPE_CPUS:
		fh_field_print(f, f->lowest, lowest, sizeof(lowest));
		fh_field_print(f, f->highest, highest, sizeof(highest));
		snprintf(into, cap, "%s to %s", lowest, highest);
		return;
	}
}
