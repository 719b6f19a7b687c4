/* A list of changes over a pipe, between a helper inside the sandbox's namespaces and us; see changes.h.
 *
 * One header, then for each change a fixed record and the bytes of its path, then the end of the file. Both
 * ends are this program on this machine, so numbers are in its own order; the receiver still takes no word
 * for granted. */
#include "run/changes.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "isolate/pathname.h"

#define MAGIC 0x31474843u /* "CHG1" */
/* PATH_MAX bytes, each escaped. */
#define PATH_TEXT_MAX (4 * 4096)

struct wire_header {
	uint32_t magic;
	int32_t failed; /* 0 or a negative errno: then there is no list */
	uint32_t n;
	uint32_t truncated;
};

struct wire_change {
	uint64_t size_bytes;
	uint32_t path_bytes;
	uint8_t kind, file, has_sum, zero;
	char sha256[64]; /* zeros without a sum */
};
_Static_assert(sizeof(struct wire_change) == 80, "no padding: every byte is checked");

static int send_change(struct fh_buf *out, const struct fh_change *c)
{
	struct wire_change w = {
	    .size_bytes = c->size_bytes,
	    .path_bytes = (uint32_t)strlen(c->path),
	    .kind = (uint8_t)c->kind,
	    .file = (uint8_t)c->file,
	    .has_sum = c->sha256[0] != '\0',
	};

	if (w.has_sum)
		memcpy(w.sha256, c->sha256, sizeof(w.sha256));
	fh_buf_add(out, &w, sizeof(w));
	return fh_buf_add(out, c->path, w.path_bytes);
}

int fh_changes_send(int fd, const struct fh_changes *c, int failed, struct fh_err *err)
{
	struct wire_header h = {.magic = MAGIC, .failed = failed};
	fh_autobuf out;
	int rc = 0;

	if (failed == 0) {
		h.n = (uint32_t)c->n;
		h.truncated = c->truncated;
	}
	fh_buf_init(&out, sizeof(h) + h.n * sizeof(struct wire_change) + FH_CHANGES_PATH_BYTES_MAX);
	fh_buf_add(&out, &h, sizeof(h));
	for (uint32_t i = 0; i < h.n && rc == 0; i++)
		rc = send_change(&out, &c->v[i]);
	if (rc == 0)
		rc = out.overflow ? -ENOMEM : fh_write_all(fd, out.data, out.len);
	return rc < 0 ? fh_fail(err, rc, "hand over the changes of the workspace") : 0;
}

struct receiver {
	int fd;
	uint64_t deadline_ns;
	size_t path_bytes;
	struct fh_changes got;
	size_t room;
};

static int wait_readable(const struct receiver *r)
{
	for (;;) {
		uint64_t now = fh_now_ns();
		struct pollfd p = {.fd = r->fd, .events = POLLIN};
		uint64_t ms;
		int n;

		if (now >= r->deadline_ns)
			return -ETIMEDOUT;
		ms = (r->deadline_ns - now) / 1000000 + 1;
		n = poll(&p, 1, ms < 1000000 ? (int)ms : 1000000);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

/* All n bytes, or -EBADMSG where the file ends before; with `may_end` its very first byte may be missing: 1.
 */
static int take(struct receiver *r, void *into, size_t n, int may_end)
{
	size_t have = 0;

	while (have < n) {
		int rc = wait_readable(r);
		ssize_t got;

		if (rc < 0)
			return rc;
		got = read(r->fd, (char *)into + have, n - have);
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (got == 0)
			return may_end && have == 0 ? 1 : -EBADMSG;
		have += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static bool is_sum(const struct wire_change *w)
{
	for (size_t i = 0; i < sizeof(w->sha256); i++) {
		char c = w->sha256[i];

		if (w->has_sum ? !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) : c != 0)
			return false;
	}
	return true;
}

static bool is_sane_record(const struct receiver *r, const struct wire_change *w)
{
	if (w->kind > FH_CHANGE_DELETED || w->file > FH_FILE_OTHER || w->has_sum > 1 || w->zero != 0 ||
	    !is_sum(w))
		return false;
	if (w->has_sum && (w->file != FH_FILE_REGULAR || w->kind == FH_CHANGE_DELETED))
		return false;
	return w->path_bytes > 0 && w->path_bytes <= PATH_TEXT_MAX &&
	       w->path_bytes <= FH_CHANGES_PATH_BYTES_MAX - r->path_bytes;
}

/* Relative, of real components, fit to be shown, and in order. */
static bool is_sane_path(const struct receiver *r, const char *path, size_t n)
{
	if (strlen(path) != n || !fh_pathname_is_escaped(path, n))
		return false;
	for (const char *p = path;; p++) {
		size_t len = strcspn(p, "/");

		if (len == 0 || (len == 1 && p[0] == '.') || (len == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += len;
		if (!*p)
			break;
	}
	return r->got.n == 0 || strcmp(r->got.v[r->got.n - 1].path, path) < 0;
}

static int keep(struct receiver *r, const struct wire_change *w, char **path)
{
	struct fh_change change = {.kind = w->kind, .file = w->file, .size_bytes = w->size_bytes};

	if (r->got.n == r->room) {
		size_t room = r->room ? 2 * r->room : 16;
		struct fh_change *grown = realloc(r->got.v, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		r->got.v = grown;
		r->room = room;
	}
	if (w->has_sum)
		memcpy(change.sha256, w->sha256, sizeof(w->sha256));
	change.path = fh_take_ptr(path);
	r->got.v[r->got.n++] = change;
	return 0;
}

static int receive_change(struct receiver *r)
{
	fh_autofree char *path = NULL;
	struct wire_change w;
	int rc = take(r, &w, sizeof(w), 0);

	if (rc < 0)
		return rc;
	if (!is_sane_record(r, &w))
		return -EBADMSG;
	path = malloc(w.path_bytes + 1u);
	if (!path)
		return -ENOMEM;
	rc = take(r, path, w.path_bytes, 0);
	if (rc < 0)
		return rc;
	path[w.path_bytes] = '\0';
	if (!is_sane_path(r, path, w.path_bytes))
		return -EBADMSG;
	r->path_bytes += w.path_bytes;
	return keep(r, &w, &path);
}

static int receive_all(struct receiver *r)
{
	struct wire_header h;
	char extra;
	int rc = take(r, &h, sizeof(h), 0);

	if (rc < 0)
		return rc;
	if (h.magic != MAGIC || h.truncated > 1 || h.n > FH_CHANGES_ENTRIES_MAX)
		return -EBADMSG;
	if (h.failed > 0 || h.failed < -4095 || (h.failed && (h.n || h.truncated)))
		return -EBADMSG;
	for (uint32_t i = 0; i < h.n; i++) {
		rc = receive_change(r);
		if (rc < 0)
			return rc;
	}
	rc = take(r, &extra, 1, 1);
	if (rc != 1)
		return rc < 0 ? rc : -EBADMSG;
	r->got.truncated = h.truncated;
	return h.failed;
}

int fh_changes_receive(int fd, uint64_t deadline_ns, struct fh_changes *ret, struct fh_err *err)
{
	struct receiver r = {.fd = fd, .deadline_ns = deadline_ns};
	int rc = receive_all(&r);

	if (rc < 0) {
		fh_changes_finish(&r.got);
		return fh_fail(err, rc, "receive the changes of the workspace");
	}
	*ret = r.got;
	return 0;
}
