/* Results as JSON; see result_json.h. */
#include "formats/result_json.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "formats/json_write.h"
#include "formats/utf8.h"
#include "policy/policy.h"

void fh_signal_name(int signal, char *into, size_t cap)
{
	const char *name = signal > 0 ? sigabbrev_np(signal) : NULL;

	if (signal <= 0)
		snprintf(into, cap, "%s", "");
	else if (name)
		snprintf(into, cap, "SIG%s", name);
	else if (signal >= SIGRTMIN && signal <= SIGRTMAX)
		snprintf(into, cap, "SIGRTMIN+%d", signal - SIGRTMIN);
	else
		snprintf(into, cap, "signal %d", signal);
}

static void put_u64(struct fh_json *j, const char *key, uint64_t value)
{
	fh_json_key(j, key);
	fh_json_u64(j, value);
}

static void put_bool(struct fh_json *j, const char *key, bool value)
{
	fh_json_key(j, key);
	fh_json_bool(j, value);
}

static void put_text(struct fh_json *j, const char *key, const char *text)
{
	fh_json_key(j, key);
	fh_json_string(j, text ? text : "");
}

static void put_text_or_null(struct fh_json *j, const char *key, const char *text)
{
	fh_json_key(j, key);
	fh_json_string(j, text && *text ? text : NULL);
}

static void put_ms(struct fh_json *j, const char *key, uint64_t us)
{
	fh_json_key(j, key);
	fh_json_thousandths(j, us);
}

/* The lines, or the words, of a text as an array; without empty ones. */
static void put_split(struct fh_json *j, const char *key, const char *text, const char *separators)
{
	const char *p = text ? text : "";

	fh_json_key(j, key);
	fh_json_open_array(j);
	while (*p) {
		size_t n = strcspn(p, separators);
		if (n)
			fh_json_bytes(j, p, n);
		p += n + (p[n] != '\0');
	}
	fh_json_close_array(j);
}

static void put_list(struct fh_json *j, const char *key, char *const *list, size_t n)
{
	fh_json_key(j, key);
	fh_json_open_array(j);
	for (size_t i = 0; i < n; i++)
		fh_json_string(j, list[i]);
	fh_json_close_array(j);
}

/*** Streams ***/

static uint64_t count_characters(const char *text, size_t n)
{
	uint64_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

static void put_cut(struct fh_json *j, const char *key, bool truncated, uint64_t at)
{
	fh_json_key(j, key);
	if (truncated)
		fh_json_u64(j, at);
	else
		fh_json_null(j);
}

static void put_stream(struct fh_json *j, const char *key, const struct fh_stream *s,
		       enum fh_result_bytes bytes)
{
	fh_json_key(j, key);
	fh_json_open_object(j);
	fh_json_key(j, "text");
	fh_json_bytes(j, s->text ? s->text : "", s->text ? s->text_bytes : 0);
	put_u64(j, "bytes_total", s->bytes_total);
	put_u64(j, "bytes_kept", s->bytes_kept);
	put_bool(j, "truncated", s->truncated);
	put_bool(j, "binary", s->binary);
	put_cut(j, "text_cut", s->truncated, s->text ? count_characters(s->text, s->text_head_bytes) : 0);
	if (bytes == FH_RESULT_BASE64) {
		fh_json_key(j, "data_base64");
		fh_json_base64(j, s->raw ? s->raw : "", s->raw ? s->bytes_kept : 0);
		put_cut(j, "data_cut", s->truncated, s->head_bytes);
	}
	fh_json_close_object(j);
}

static void put_chunks(struct fh_json *j, const struct fh_result *r)
{
	if (!r->chunks)
		return;
	fh_json_key(j, "chunks");
	fh_json_open_array(j);
	for (size_t i = 0; i < r->n_chunks; i++) {
		fh_json_open_object(j);
		put_text(j, "stream", r->chunks[i].stream == 2 ? "stderr" : "stdout");
		put_u64(j, "offset", r->chunks[i].offset);
		put_u64(j, "bytes", r->chunks[i].bytes);
		fh_json_close_object(j);
	}
	fh_json_close_array(j);
	put_bool(j, "chunks_truncated", r->chunks_truncated);
}

/*** Receipt ***/

static void put_limits(struct fh_json *j, const struct fh_receipt *r)
{
	fh_json_key(j, "limits");
	fh_json_open_object(j);
	for (int axis = FH_AXIS_NONE + 1; axis < FH_AXIS_COUNT_; axis++) {
		fh_json_key(j, fh_axis_name((enum fh_axis)axis));
		fh_json_open_object(j);
		put_u64(j, "value", r->limits[axis].value);
		put_text(j, "means", fh_means_name(r->limits[axis].means));
		put_bool(j, "fired", r->limits[axis].fired);
		fh_json_close_object(j);
	}
	fh_json_close_object(j);
}

/* As /proc writes them: a JSON number would lose bits of a 64-bit mask in many readers. */
static void put_capabilities(struct fh_json *j, const struct fh_receipt *r)
{
	static const char *const sets[5] = {"inheritable", "permitted", "effective", "bounding", "ambient"};
	char hex[17];

	fh_json_key(j, "capabilities");
	fh_json_open_object(j);
	for (int i = 0; i < 5; i++) {
		snprintf(hex, sizeof(hex), "%016" PRIx64, r->caps[i]);
		put_text(j, sets[i], hex);
	}
	fh_json_close_object(j);
}

static const char *change_name(enum fh_change_kind kind)
{
	switch (kind) {
	case FH_CHANGE_ADDED:
		return "added";
	case FH_CHANGE_MODIFIED:
		return "modified";
	case FH_CHANGE_DELETED:
		return "deleted";
	}
	return "unknown";
}

static const char *file_name(enum fh_file_kind kind)
{
	switch (kind) {
	case FH_FILE_REGULAR:
		return "file";
	case FH_FILE_DIRECTORY:
		return "directory";
	case FH_FILE_SYMLINK:
		return "symlink";
	case FH_FILE_OTHER:
		return "other";
	}
	return "unknown";
}

static void put_changes(struct fh_json *j, const struct fh_receipt *r)
{
	fh_json_key(j, "changes");
	fh_json_open_array(j);
	for (size_t i = 0; i < r->n_changes; i++) {
		const struct fh_change *c = &r->changes[i];
		fh_json_open_object(j);
		put_text(j, "change", change_name(c->kind));
		put_text(j, "kind", file_name(c->file));
		put_text(j, "path", c->path);
		put_u64(j, "size_bytes", c->size_bytes);
		put_text_or_null(j, "sha256", c->sha256);
		fh_json_close_object(j);
	}
	fh_json_close_array(j);
	put_bool(j, "changes_truncated", r->changes_truncated);
}

static void put_confinement(struct fh_json *j, const struct fh_receipt *r)
{
	put_text(j, "uid_map", r->uid_map);
	put_text(j, "gid_map", r->gid_map);
	put_u64(j, "uid", r->uid);
	put_u64(j, "gid", r->gid);
	put_capabilities(j, r);
	put_bool(j, "no_new_privs", r->no_new_privs == 1);
	fh_json_key(j, "seccomp");
	fh_json_open_object(j);
	fh_json_key(j, "mode");
	fh_json_i64(j, r->seccomp);
	fh_json_key(j, "filters");
	fh_json_i64(j, r->seccomp_filters);
	fh_json_close_object(j);
	fh_json_key(j, "landlock_abi");
	fh_json_i64(j, r->landlock_abi);
	put_split(j, "namespaces", r->namespaces, " ");
	put_split(j, "cgroups", r->cgroups, "\n");
	put_split(j, "mounts", r->mounts, "\n");
	put_list(j, "mechanisms", r->mechanisms, r->n_mechanisms);
	put_list(j, "not_enforced", r->not_enforced, r->n_not_enforced);
}

static void put_receipt(struct fh_json *j, const struct fh_result *result)
{
	const struct fh_receipt *r = &result->receipt;

	fh_json_key(j, "receipt");
	if (!result->has_receipt) {
		fh_json_null(j);
		return;
	}
	fh_json_open_object(j);
	put_text(j, "version", r->version);
	put_text(j, "policy_name", r->policy_name);
	put_text(j, "policy_sha256", r->policy_sha256);
	put_text(j, "level", fh_level_name((enum fh_level)r->level));
	put_limits(j, r);
	put_confinement(j, r);
	put_changes(j, r);
	put_text_or_null(j, "stdout_sha256", result->out.sha256);
	put_text_or_null(j, "stderr_sha256", result->err.sha256);
	put_text_or_null(j, "interpreter", r->interpreter);
	put_u64(j, "started_ms", r->started_ms);
	put_u64(j, "ended_ms", r->ended_ms);
	fh_json_close_object(j);
}

/*** The whole ***/

static void put_end(struct fh_json *j, const struct fh_result *r)
{
	char name[24];

	put_text(j, "id", r->id);
	put_text(j, "verdict", fh_verdict_name(r->verdict));
	fh_json_key(j, "exit_code");
	if (r->exit_code >= 0)
		fh_json_i64(j, r->exit_code);
	else
		fh_json_null(j);
	fh_json_key(j, "signal");
	if (r->signal > 0)
		fh_json_i64(j, r->signal);
	else
		fh_json_null(j);
	fh_signal_name(r->signal, name, sizeof(name));
	put_text_or_null(j, "signal_name", name);
}

static void put_usage(struct fh_json *j, const struct fh_result *r)
{
	fh_json_key(j, "time_ms");
	fh_json_open_object(j);
	put_ms(j, "queued", r->queued_us);
	put_ms(j, "setup", r->setup_us);
	put_ms(j, "wall", r->wall_us);
	put_ms(j, "user", r->user_us);
	put_ms(j, "system", r->system_us);
	fh_json_close_object(j);
	fh_json_key(j, "peak");
	fh_json_open_object(j);
	put_u64(j, "memory_bytes", r->peak_memory_bytes);
	put_u64(j, "pids", r->peak_pids);
	put_u64(j, "disk_bytes", r->peak_disk_bytes);
	put_u64(j, "inodes", r->peak_inodes);
	put_u64(j, "output_bytes", r->out.bytes_total + r->err.bytes_total);
	fh_json_close_object(j);
	fh_json_key(j, "limit");
	if (r->limit == FH_AXIS_NONE) {
		fh_json_null(j);
		return;
	}
	fh_json_open_object(j);
	put_text(j, "axis", fh_axis_name(r->limit));
	put_u64(j, "value", r->limit_value);
	fh_json_close_object(j);
}

int fh_result_to_json(const struct fh_result *r, enum fh_result_bytes bytes, struct fh_buf *into)
{
	struct fh_json j;

	fh_json_init(&j, into);
	fh_json_open_object(&j);
	put_end(&j, r);
	put_stream(&j, "stdout", &r->out, bytes);
	put_stream(&j, "stderr", &r->err, bytes);
	put_chunks(&j, r);
	put_usage(&j, r);
	put_text(&j, "message", r->message);
	fh_json_key(&j, "status");
	fh_json_i64(&j, r->status);
	put_receipt(&j, r);
	fh_json_close_object(&j);
	return fh_json_finish(&j);
}
