/* The YAML front end of policy files; see tree.h. libyaml's events build the same tree as JSON would. What
 * makes YAML surprising is refused: anchors and aliases (a small file that unfolds into a huge one), tags,
 * merges, several documents. */
#include "formats/tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "policy/words.h"

struct reader {
	const char *filename;
	yaml_parser_t parser;
	yaml_event_t event; /* the current one; deleted by the next step */
};

static void cleanup_reader(struct reader *r)
{
	yaml_event_delete(&r->event);
	yaml_parser_delete(&r->parser);
}

static int open_reader(struct reader *r, const struct fh_source *s, struct fh_err *err)
{
	memset(r, 0, sizeof(*r));
	r->filename = s->filename;
	if (!yaml_parser_initialize(&r->parser))
		return fh_fail(err, -ENOMEM, "read YAML");
	/* Never UTF-16: what is checked must be what is read. */
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)s->text, s->n);
	return 0;
}

static size_t line_of(const struct reader *r)
{
	return r->event.start_mark.line + 1;
}

/* A USAGE error at the current event. */
__attribute__((format(printf, 3, 4))) static int refuse(const struct reader *r, struct fh_err *err,
							const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return fh_usage(err, "%s:%zu: %s", r->filename, line_of(r), why);
}

static int step(struct reader *r, struct fh_err *err)
{
	char shown[FH_SHOWN_CAP];
	size_t line;

	yaml_event_delete(&r->event);
	if (yaml_parser_parse(&r->parser, &r->event))
		return 0;
	if (r->parser.error == YAML_MEMORY_ERROR)
		return fh_fail(err, -ENOMEM, "read YAML");
	line = r->parser.problem_mark.line + 1;
	return fh_usage(err, "%s:%zu: this is not YAML: %s", r->filename, line,
			fh_show(r->parser.problem ? r->parser.problem : "it cannot be read", shown));
}

static int expect(struct reader *r, yaml_event_type_t type, const char *what, struct fh_err *err)
{
	int rc = step(r, err);

	if (rc == 0 && r->event.type != type)
		return refuse(r, err, "%s", what);
	return rc;
}

static int refuse_extras(struct reader *r, const yaml_char_t *anchor, const yaml_char_t *tag,
			 struct fh_err *err)
{
	char shown[FH_SHOWN_CAP];

	if (anchor)
		return refuse(r, err, "anchors such as &%s are not allowed here", (const char *)anchor);
	if (tag)
		return refuse(r, err, "tags such as %s are not allowed here",
			      fh_show((const char *)tag, shown));
	return 0;
}

static int build(struct reader *r, unsigned depth, json_t **ret, struct fh_err *err);

static int is_null(const yaml_event_t *e)
{
	const char *s = (const char *)e->data.scalar.value;

	return e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!*s || strcmp(s, "~") == 0 || strcmp(s, "null") == 0);
}

static int build_scalar(struct reader *r, json_t **ret, struct fh_err *err)
{
	const char *s = (const char *)r->event.data.scalar.value;
	size_t n = r->event.data.scalar.length;
	int rc = refuse_extras(r, r->event.data.scalar.anchor, r->event.data.scalar.tag, err);

	if (rc < 0)
		return rc;
	if (memchr(s, '\0', n))
		return refuse(r, err, "the text holds a NUL character");
	*ret = is_null(&r->event) ? json_null() : json_stringn(s, n);
	return *ret ? 0 : refuse(r, err, "the text is not valid UTF-8");
}

/* Fills an array until its end event. */
static int build_items(struct reader *r, unsigned depth, json_t *array, struct fh_err *err)
{
	for (;;) {
		json_t *item = NULL;
		int rc = step(r, err);
		if (rc < 0 || r->event.type == YAML_SEQUENCE_END_EVENT)
			return rc;
		rc = build(r, depth, &item, err);
		if (rc < 0)
			return rc;
		if (json_array_append_new(array, item) < 0)
			return fh_fail(err, -ENOMEM, "keep a list");
	}
}

static int add_member(struct reader *r, unsigned depth, json_t *object, const char *key, size_t n,
		      struct fh_err *err)
{
	json_t *value = NULL;
	int rc = step(r, err);

	if (rc == 0)
		rc = build(r, depth, &value, err);
	if (rc == 0 && json_object_setn_new(object, key, n, value) < 0)
		rc = fh_fail(err, -ENOMEM, "keep a value");
	return rc;
}

static int build_members(struct reader *r, unsigned depth, json_t *object, struct fh_err *err)
{
	for (;;) {
		char shown[FH_SHOWN_CAP];
		json_t *key = NULL;
		int rc = step(r, err);
		if (rc < 0 || r->event.type == YAML_MAPPING_END_EVENT)
			return rc;
		if (r->event.type != YAML_SCALAR_EVENT)
			return refuse(r, err, "a name must be plain text");
		rc = build_scalar(r, &key, err);
		if (rc < 0)
			return rc;
		if (!json_is_string(key))
			rc = refuse(r, err, "a name is missing");
		else if (json_object_get(object, json_string_value(key)))
			rc = refuse(r, err, "%s is given twice", fh_show(json_string_value(key), shown));
		else
			rc = add_member(r, depth, object, json_string_value(key), json_string_length(key),
					err);
		json_decref(key);
		if (rc < 0)
			return rc;
	}
}

/* The value that the current event begins. Recursion is bounded by the depth. */
static int build(struct reader *r, unsigned depth, json_t **ret, struct fh_err *err)
{
	json_t *made = NULL;
	int rc;

	if (r->event.type == YAML_SCALAR_EVENT)
		return build_scalar(r, ret, err);
	if (r->event.type == YAML_ALIAS_EVENT)
		return refuse(r, err, "aliases such as *%s are not allowed here",
			      (const char *)r->event.data.alias.anchor);
	if (depth >= FH_TREE_DEPTH_MAX)
		return refuse(r, err, "nested more than %d deep", FH_TREE_DEPTH_MAX);
	if (r->event.type == YAML_SEQUENCE_START_EVENT) {
		rc = refuse_extras(r, r->event.data.sequence_start.anchor, r->event.data.sequence_start.tag,
				   err);
		made = json_array();
		if (rc == 0)
			rc = made ? build_items(r, depth + 1, made, err)
				  : fh_fail(err, -ENOMEM, "keep a list");
	} else if (r->event.type == YAML_MAPPING_START_EVENT) {
		rc = refuse_extras(r, r->event.data.mapping_start.anchor, r->event.data.mapping_start.tag,
				   err);
		made = json_object();
		if (rc == 0)
			rc = made ? build_members(r, depth + 1, made, err)
				  : fh_fail(err, -ENOMEM, "keep a map");
	} else {
		rc = refuse(r, err, "there is nothing in this document");
	}
	if (rc < 0) {
		json_decref(made);
		return rc;
	}
	*ret = made;
	return 0;
}

int fh_yaml_tree(const struct fh_source *s, json_t **ret, struct fh_err *err)
{
	__attribute__((cleanup(cleanup_reader))) struct reader r = {0};
	json_t *tree = NULL;
	int rc = open_reader(&r, s, err);

	if (rc == 0)
		rc = expect(&r, YAML_STREAM_START_EVENT, "this is not YAML", err);
	if (rc == 0)
		rc = expect(&r, YAML_DOCUMENT_START_EVENT, "the file is empty", err);
	if (rc == 0)
		rc = step(&r, err);
	if (rc == 0)
		rc = build(&r, 0, &tree, err);
	if (rc == 0)
		rc = expect(&r, YAML_DOCUMENT_END_EVENT, "something stands after the document", err);
	if (rc == 0)
		rc = expect(&r, YAML_STREAM_END_EVENT, "a second document begins; one file is one policy",
			    err);
	if (rc < 0) {
		json_decref(tree);
		return rc;
	}
	*ret = tree;
	return 0;
}

/*** Lines ***/

/* Steps over the rest of the value whose first event is the current one. */
static int skip_value(struct reader *r)
{
	unsigned depth = 0;

	for (;;) {
		yaml_event_type_t type = r->event.type;
		if (type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT)
			depth++;
		else if (type == YAML_MAPPING_END_EVENT || type == YAML_SEQUENCE_END_EVENT)
			depth--;
		if (depth == 0)
			return 0;
		if (step(r, NULL) < 0)
			return -EINVAL;
	}
}

/* The current event opened a container; afterwards it is the first of member `index`. */
static int go_to_member(struct reader *r, size_t index)
{
	size_t values = r->event.type == YAML_MAPPING_START_EVENT ? 2 : 1;

	if (r->event.type != YAML_MAPPING_START_EVENT && r->event.type != YAML_SEQUENCE_START_EVENT)
		return -EINVAL;
	for (size_t i = 0; i < index * values; i++)
		if (step(r, NULL) < 0 || r->event.type == YAML_MAPPING_END_EVENT ||
		    r->event.type == YAML_SEQUENCE_END_EVENT || skip_value(r) < 0)
			return -EINVAL;
	if (step(r, NULL) < 0 || r->event.type == YAML_MAPPING_END_EVENT ||
	    r->event.type == YAML_SEQUENCE_END_EVENT)
		return -EINVAL;
	return 0;
}

size_t fh_yaml_line(const struct fh_source *s, size_t outer, long inner)
{
	__attribute__((cleanup(cleanup_reader))) struct reader r = {0};

	if (open_reader(&r, s, NULL) < 0)
		return 0;
	for (int i = 0; i < 3; i++) /* stream, document, the mapping */
		if (step(&r, NULL) < 0)
			return 0;
	if (r.event.type != YAML_MAPPING_START_EVENT || go_to_member(&r, outer) < 0)
		return 0;
	if (inner < 0)
		return line_of(&r);
	if (step(&r, NULL) < 0 || go_to_member(&r, (size_t)inner) < 0)
		return 0;
	return line_of(&r);
}
