/* Fault injection for the test build; see fault.h. */
#include "sys/fault.h"

#ifdef FH_TEST_HOOKS
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct {
	unsigned long calls;
} *shared;
static unsigned long fail_at;
static int fail_errno;
static const char *switches = "";

static void report_count(void)
{
	const char *path = getenv("FUMEHOOD_FAULT_COUNT");
	FILE *f = path ? fopen(path, "we") : NULL;

	if (!f)
		return;
	fprintf(f, "%lu\n", shared ? shared->calls : 0);
	fclose(f);
}

void fh_fault_setup(void)
{
	const char *spec = getenv("FUMEHOOD_FAULT");
	const char *off = getenv("FUMEHOOD_SWITCH");
	void *page = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page != MAP_FAILED)
		shared = page;
	if (spec && sscanf(spec, "%lu:%d", &fail_at, &fail_errno) != 2)
		fail_at = 0;
	if (off)
		switches = off;
	atexit(report_count);
}

long fh_fault_next(long nr)
{
	unsigned long n;

	if (!shared)
		return 0;
	n = __atomic_add_fetch(&shared->calls, 1, __ATOMIC_RELAXED);
	return fail_at && n == fail_at ? -fail_errno : 0;
}

unsigned long fh_fault_count(void)
{
	return shared ? shared->calls : 0;
}

int fh_switched_off(const char *name)
{
	size_t len = 0;
	const char *p = switches;

	while (name[len])
		len++;
	while (*p) {
		size_t n = 0;
		while (p[n] && p[n] != ',')
			n++;
		if (n == len && memcmp(p, name, n) == 0)
			return 1;
		p += n + (p[n] == ',');
	}
	return 0;
}
#else
/* The product build has no such code; a translation unit may not be empty. */
extern const int fh_fault_absent;
const int fh_fault_absent = 1;
#endif
