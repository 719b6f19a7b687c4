/* The JSON front end of policy files; see tree.h. jansson reads; a small scanner beside it bounds the depth
 * before and finds lines after, which jansson does not tell for values. */
#include "formats/tree.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "policy/words.h"

/* Walks over the text of one JSON value, knowing only strings, brackets, commas and line ends. */
struct scanner {
	const char *text;
	size_t n, at, line;
	unsigned depth;
};

/* The next structural character, or '"' for a whole string (then `at` is past it), or 0 at the end. A number
 * or a word is reported as its first character. */
static char scan(struct scanner *s)
{
	while (s->at < s->n) {
		char c = s->text[s->at++];
		if (c == '\n')
			s->line++;
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			continue;
		if (c == '{' || c == '[')
			s->depth++;
		if ((c == '}' || c == ']') && s->depth)
			s->depth--;
		if (c == '"') {
			while (s->at < s->n && s->text[s->at] != '"' && s->text[s->at] != '\n')
				s->at += s->text[s->at] == '\\' && s->at + 1 < s->n ? 2 : 1;
			if (s->at < s->n && s->text[s->at] == '"')
				s->at++;
		}
		return c;
	}
	return 0;
}

static int check_depth(const struct fh_source *source, struct fh_err *err)
{
	struct scanner s = {.text = source->text, .n = source->n, .line = 1};

	while (scan(&s))
		if (s.depth > FH_TREE_DEPTH_MAX)
			return fh_usage(err, "%s:%zu: nested more than %d deep", source->filename, s.line,
					FH_TREE_DEPTH_MAX);
	return 0;
}

int fh_json_tree(const struct fh_source *s, json_t **ret, struct fh_err *err)
{
	json_error_t fault;
	fh_autobuf why = {0};
	json_t *tree;
	int rc = check_depth(s, err);

	if (rc < 0)
		return rc;
	tree = json_loadb(s->text, s->n, JSON_REJECT_DUPLICATES, &fault);
	if (tree) {
		*ret = tree;
		return 0;
	}
	/* jansson quotes the text near the fault, which may hold anything; a second pair of quotes would only be noise. */
	fh_buf_init(&why, 1024);
	fh_show_whole(&why, fault.text);
	return fh_usage(err, "%s:%d: this is not JSON: %.*s", s->filename, fault.line > 0 ? fault.line : 1,
			(int)(why.len > 2 ? why.len - 2 : 0), fh_buf_str(&why) + (why.len > 2));
}

/* A member begins where a container was opened or a comma ended the one before; the scanner stands before it.
 */
static size_t line_of_member(struct scanner *s, size_t index)
{
	unsigned depth = s->depth;
	struct scanner ahead;

	for (size_t i = 0; i < index;) {
		char c = scan(s);
		if (!c || s->depth < depth)
			return 0;
		if (c == ',' && s->depth == depth)
			i++;
	}
	ahead = *s;
	return scan(&ahead) && ahead.depth >= depth ? ahead.line : 0;
}

size_t fh_json_line(const struct fh_source *source, size_t outer, long inner)
{
	struct scanner s = {.text = source->text, .n = source->n, .line = 1};
	size_t line;
	char c;

	if (scan(&s) != '{')
		return 0;
	line = line_of_member(&s, outer);
	if (!line || inner < 0)
		return line;
	/* Past the name and its colon, into the value. */
	if (scan(&s) != '"' || scan(&s) != ':')
		return 0;
	c = scan(&s);
	return c == '{' || c == '[' ? line_of_member(&s, (size_t)inner) : 0;
}
