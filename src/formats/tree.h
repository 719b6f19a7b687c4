/* A policy file's text as a jansson tree, from JSON or from YAML, and where in the text a member stands.
 *
 * Both front ends take one document of at most FH_TREE_DEPTH_MAX levels whose objects name no member twice.
 * In a tree from YAML every scalar is a string as it was written, so `port: 0080` stays "0080"; a plain
 * empty, `~` or `null` scalar is JSON null. Members keep the order of the text. */
#ifndef FH_FORMATS_TREE_H
#define FH_FORMATS_TREE_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

#define FH_TREE_DEPTH_MAX 8

struct fh_source {
	const char *text;
	size_t n;
	const char *filename; /* for messages only */
};

/* Both: 0 and a tree for json_decref, or a USAGE error that begins with "FILENAME:LINE: ". */
int fh_json_tree(const struct fh_source *s, json_t **ret, struct fh_err *err);
int fh_yaml_tree(const struct fh_source *s, json_t **ret, struct fh_err *err);

/* The line (from 1) of member `outer` of the top object; with inner >= 0, of member or element `inner` of its
 * value. The text must be one that the function above took; 0 when there is no such member. */
size_t fh_json_line(const struct fh_source *s, size_t outer, long inner);
size_t fh_yaml_line(const struct fh_source *s, size_t outer, long inner);

#endif
