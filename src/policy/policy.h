/* What a run may do and use. Plain data, no I/O: made by formats/ from a file or by cli/ from flags, checked
 * here, turned into a plan by isolate/. */
#ifndef FH_POLICY_POLICY_H
#define FH_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum fh_level { FH_LEVEL_PROCESS = 1, FH_LEVEL_NAMESPACE = 2, FH_LEVEL_GVISOR = 3, FH_LEVEL_MICROVM = 4 };
enum fh_enforce { FH_ENFORCE_BEST, FH_ENFORCE_KERNEL };
enum fh_network { FH_NETWORK_NONE };

#define FH_POLICY_BINDS_MAX 64
#define FH_POLICY_ENV_MAX   256
#define FH_POLICY_NAME_MAX  64

/* One host path made visible inside. Both paths absolute, owned by the policy. */
struct fh_bind {
	char *source;
	char *target;
	bool writable;
};

struct fh_policy {
	char name[FH_POLICY_NAME_MAX]; /* "default" unless the file names it */
	/* The scalars of fields.def. All are uint64_t so that one table can reach each by offset; enums
	 * included. */
	uint64_t level;
	uint64_t enforce;
	uint64_t network;
	uint64_t wall_ms;
	uint64_t cpu_ms;
	uint64_t memory_bytes;
	uint64_t pids;
	uint64_t disk_bytes;
	uint64_t inodes;
	uint64_t file_size_bytes;
	uint64_t files;
	uint64_t keep_bytes;
	uint64_t output_stop_bytes;
	uint64_t cpus_milli;
	uint64_t pty;
	uint64_t allow_weaker; /* never from a policy file: only the caller's own choice */

	char **env; /* "K=V" strings, owned; added to the default environment, replacing equal names */
	size_t n_env;
	struct fh_bind *binds;
	size_t n_binds;
};

enum fh_field_type {
	FH_TYPE_LEVEL,
	FH_TYPE_DURATION,
	FH_TYPE_BYTES,
	FH_TYPE_COUNT,
	FH_TYPE_CPUS,
	FH_TYPE_BOOL,
	FH_TYPE_NETWORK,
	FH_TYPE_ENFORCE,
};

/* One row of fields.def. */
struct fh_field {
	const char *name;
	enum fh_field_type type;
	size_t offset; /* of the uint64_t in struct fh_policy */
	uint64_t lowest, highest, standard;
	const char *unit;
	const char *help;
};

extern const struct fh_field fh_fields[];
extern const size_t fh_fields_count;

/* Finds a row by its policy-file name; NULL when there is none. */
const struct fh_field *fh_field_find(const char *name);

static inline uint64_t *fh_field_of(struct fh_policy *p, const struct fh_field *f)
{
	return (uint64_t *)((char *)p + f->offset);
}

static inline uint64_t fh_field_value(const struct fh_policy *p, const struct fh_field *f)
{
	return *(const uint64_t *)((const char *)p + f->offset);
}

/* Sets every field to its default; a policy is always made by this first. finish frees lists, accepts zeroes.
 */
void fh_policy_init(struct fh_policy *p);
void fh_policy_finish(struct fh_policy *p);
/* Deep copy; 0 or -ENOMEM. */
int fh_policy_copy(struct fh_policy *ret, const struct fh_policy *from);

/* Sets one scalar from text as a person writes it ("512M", "30s", "0.5", "namespace", "true"). Refuses
 * unknown names, empty text, signs, NaN, overflow, trailing characters and values out of range with an error
 * that names the accepted range. */
int fh_policy_set(struct fh_policy *p, const char *name, const char *text, struct fh_err *err);

/* Adds "K=V" (replacing an equal name). Refuses an empty name, a name with '=', too many entries. Any other
 * bytes are the caller's business. */
int fh_policy_add_env(struct fh_policy *p, const char *assignment, struct fh_err *err);

/* Adds "SRC:DST[:ro|:rw]" (read-only when not said; a bind is writable only with :rw). Both absolute and
 * normal: no ".", "..", "//"; final slashes are dropped. DST not taken by an earlier bind, neither "/" nor at
 * or under /proc, /sys or /dev, nor exactly /usr, /etc, /work, /tmp; SRC neither at nor under /proc or /sys,
 * nor "/". */
int fh_policy_add_bind(struct fh_policy *p, const char *spec, struct fh_err *err);

/* 1 to 63 letters, digits, '.', '_' or '-'. */
int fh_policy_set_name(struct fh_policy *p, const char *name, struct fh_err *err);

/* Refuses what is out of range, what contradicts itself (file_size over disk: clipped nowhere, refused here)
 * and what the level cannot give: a bind under another name or a pty at level process (kind UNSUPPORTED). */
int fh_policy_check(const struct fh_policy *p, struct fh_err *err);

/* One line a field in plain words: what a run under it can and cannot do. */
int fh_policy_explain(const struct fh_policy *p, struct fh_buf *into);

/* Text of a value in the form fh_policy_set takes ("512M", "30s", "1.5"); `into` of at least 32 bytes. */
void fh_field_print(const struct fh_field *f, uint64_t value, char *into, size_t cap);

/* What the field accepts, as a person reads it: "1ms to 7d", "true or false"; `into` of at least 96 bytes. */
void fh_field_range(const struct fh_field *f, char *into, size_t cap);

/* True for paths through which the walls themselves could be moved: /proc and /sys of the host, our own control files. */
bool fh_path_is_control(const char *path);

const char *fh_level_name(enum fh_level level);

#endif
