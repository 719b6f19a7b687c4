/* The list of changes that a helper in the sandbox's namespaces sends: whatever is taken can be sent again as
 * the same bytes, and holds only names that may be shown. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "isolate/pathname.h"
#include "run/changes.h"

static void check(const struct fh_changes *c)
{
	fuzz_must(c->n <= FH_CHANGES_ENTRIES_MAX);
	for (size_t i = 0; i < c->n; i++) {
		fuzz_must(fh_pathname_is_escaped(c->v[i].path, strlen(c->v[i].path)));
		fuzz_must(c->v[i].path[0] != '/');
		fuzz_must(strlen(c->v[i].sha256) == 0 || strlen(c->v[i].sha256) == 64);
		fuzz_must(i == 0 || strcmp(c->v[i - 1].path, c->v[i].path) < 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	fh_autofd int in = memfd_create("in", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
	struct fh_changes c = {0};
	fh_autobuf again = {.max = n};

	fuzz_must(in >= 0 && out >= 0 && fh_write_all(in, bytes, n) == 0 && lseek(in, 0, SEEK_SET) == 0);
	if (fh_changes_receive(in, fh_now_ns() + 60000000000ull, &c, NULL) < 0) {
		fuzz_must(!c.v);
		return 0;
	}
	check(&c);
	fuzz_must(fh_changes_send(out, &c, 0, NULL) == 0 && lseek(out, 0, SEEK_SET) == 0);
	fuzz_must(fh_read_all(out, &again) == 0);
	fuzz_must(again.len == n && (n == 0 || memcmp(again.data, bytes, n) == 0));
	fh_changes_finish(&c);
	return 0;
}
