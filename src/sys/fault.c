/* Fault injection for the test build; see fault.h. */
#include "sys/fault.h"

#ifdef FH_TEST_HOOKS
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In a page that the supervisor and its children share. */
static struct {
	unsigned long calls;
	long failed_nr; /* which call was made to fail; -1: none */
	int failed_in;  /* by which process, as it counts itself */
} *shared;
static unsigned long fail_at;
static int fail_errno;
static const char *switches = "";

/* By raw calls, which cannot be made to fail. */
static void report_count(void)
{
	const char *path = getenv("FUMEHOOD_FAULT_COUNT");
	int fd = path && shared ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)
				: -1;
	char text[96];
	int n;

	if (fd < 0)
		return;
	n = snprintf(text, sizeof(text), "%lu %ld %s\n", shared->calls, shared->failed_nr,
		     shared->failed_nr < 0	     ? "nobody"
		     : shared->failed_in == getpid() ? "supervisor"
						     : "child");
	(void)!syscall(SYS_write, fd, text, (size_t)n);
	syscall(SYS_close, fd);
}

void fh_fault_setup(void)
{
	const char *spec = getenv("FUMEHOOD_FAULT");
	const char *off = getenv("FUMEHOOD_SWITCH");
	void *page = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (spec && (sscanf(spec, "%lu:%d", &fail_at, &fail_errno) != 2 || fail_at == 0)) {
		fprintf(stderr, "fumehood: FUMEHOOD_FAULT is '%s', expected N:ERRNO\n", spec);
		_exit(125);
	}
	if (page == MAP_FAILED)
		_exit(125);
	shared = page;
	shared->failed_nr = -1;
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
	if (!fail_at || n != fail_at)
		return 0;
	shared->failed_nr = nr;
	shared->failed_in = (int)syscall(SYS_getpid);
	return -fail_errno;
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
