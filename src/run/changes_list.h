/* Inside run/changes: the list while it grows, and where the walk is. */
#ifndef FH_RUN_CHANGES_LIST_H
#define FH_RUN_CHANGES_LIST_H

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/sha256.h"
#include "run/changes.h"

struct fh_changes_list {
	struct fh_changes_caps caps;
	struct fh_changes out;
	size_t room;       /* of out.v */
	size_t path_bytes; /* of all paths in out */
	uint64_t hash_left;
	int error;           /* memory ran out */
	bool stopped;        /* nothing more can be taken, or time is over */
	char path[PATH_MAX]; /* of the entry the walk is at, raw, NUL-terminated */
	size_t path_len;
};

void fh_changes_list_init(struct fh_changes_list *l, const struct fh_changes_caps *caps);
/* Sorts and hands the list over, or frees it and says what went wrong. */
int fh_changes_list_finish(struct fh_changes_list *l, struct fh_changes *ret, struct fh_err *err);

/* Steps to an entry of the directory the walk is in; false where the path would be too long (then it is
 * truncated). leave goes back to what enter found. */
bool fh_changes_enter(struct fh_changes_list *l, const char *name, size_t *ret_before);
void fh_changes_leave(struct fh_changes_list *l, size_t before);

/* Next name of a directory, no dots; NULL at its end, or when the walk has stopped. */
const char *fh_changes_next(struct fh_changes_list *l, DIR *d);
/* Opens a directory beneath another one to be read; NULL (with errno, and truncated) where that cannot be, or
 * is too deep. */
DIR *fh_changes_open_dir(struct fh_changes_list *l, int dir, const char *name, unsigned depth);

/* Sums a regular file of which `st` was seen; "" where it may not be read, is another by now or passes the
 * budget. Sets the size in `st` to the bytes that were read. */
void fh_changes_sum(struct fh_changes_list *l, int dir, const char *name, struct stat *st,
		    char hex[FH_SHA256_HEX]);

/* Adds the entry the walk is at. */
void fh_changes_note(struct fh_changes_list *l, enum fh_change_kind kind, const struct stat *st,
		     const char *hex);
/* The same, summing a regular file first. */
void fh_changes_note_summed(struct fh_changes_list *l, enum fh_change_kind kind, int dir, const char *name,
			    struct stat *st);

#endif
