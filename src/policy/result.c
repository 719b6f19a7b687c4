/* Results: the names of their enums, and their end. They are filled by run/ and printed by formats/. */
#include "fumehood/result.h"

#include <stdlib.h>

const char *fh_verdict_name(enum fh_verdict v)
{
	switch (v) {
	case FH_VERDICT_OK:
		return "ok";
	case FH_VERDICT_EXIT:
		return "exit";
	case FH_VERDICT_SIGNAL:
		return "signal";
	case FH_VERDICT_WALL:
		return "wall";
	case FH_VERDICT_CPU:
		return "cpu";
	case FH_VERDICT_MEMORY:
		return "memory";
	case FH_VERDICT_PIDS:
		return "pids";
	case FH_VERDICT_DISK:
		return "disk";
	case FH_VERDICT_INODES:
		return "inodes";
	case FH_VERDICT_OUTPUT:
		return "output";
	case FH_VERDICT_POLICY:
		return "policy";
	case FH_VERDICT_CANCELLED:
		return "cancelled";
	case FH_VERDICT_SANDBOX:
		return "sandbox";
	}
	return "unknown";
}

const char *fh_axis_name(enum fh_axis a)
{
	switch (a) {
	case FH_AXIS_NONE:
		return "none";
	case FH_AXIS_WALL:
		return "wall";
	case FH_AXIS_CPU:
		return "cpu";
	case FH_AXIS_MEMORY:
		return "memory";
	case FH_AXIS_PIDS:
		return "pids";
	case FH_AXIS_DISK:
		return "disk";
	case FH_AXIS_INODES:
		return "inodes";
	case FH_AXIS_FILE_SIZE:
		return "file_size";
	case FH_AXIS_FILES:
		return "files";
	case FH_AXIS_OUTPUT:
		return "output";
	case FH_AXIS_COUNT_:
		break;
	}
	return "unknown";
}

const char *fh_means_name(enum fh_means m)
{
	switch (m) {
	case FH_MEANS_NONE:
		return "none";
	case FH_MEANS_CGROUP:
		return "cgroup";
	case FH_MEANS_RLIMIT:
		return "rlimit";
	case FH_MEANS_WATCH:
		return "watch";
	case FH_MEANS_TMPFS:
		return "tmpfs";
	case FH_MEANS_CLOCK:
		return "clock";
	case FH_MEANS_PIPE:
		return "pipe";
	}
	return "unknown";
}

static void finish_strings(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

static void finish_receipt(struct fh_receipt *r)
{
	free(r->uid_map);
	free(r->gid_map);
	free(r->namespaces);
	free(r->cgroups);
	free(r->mounts);
	finish_strings(r->not_enforced, r->n_not_enforced);
	finish_strings(r->mechanisms, r->n_mechanisms);
	for (size_t i = 0; i < r->n_changes; i++)
		free(r->changes[i].path);
	free(r->changes);
}

void fh_result_destroy(struct fh_result *r)
{
	if (!r)
		return;
	free(r->out.raw);
	free(r->out.text);
	free(r->err.raw);
	free(r->err.text);
	free(r->chunks);
	free(r->message);
	finish_receipt(&r->receipt);
	free(r);
}
