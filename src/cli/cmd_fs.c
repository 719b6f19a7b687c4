/* `fumehood fs`: list, read and write the files of a workspace that a program may have prepared against us.
 * All access goes through the path guard; every name is escaped before it is printed. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"
#include "cli/cli.h"
#include "formats/json_write.h"
#include "isolate/pathguard.h"
#include "isolate/pathname.h"
#include "policy/units.h"
#include "policy/words.h"

#define ENTRIES_MAX    10000
#define LISTING_MAX    (64u << 20)
#define NAME_TEXT_MAX  (4 * PATH_MAX)
#define FILE_BYTES_MAX (1ull << 30) /* unless --max says otherwise */

static const char usage_text[] =
    "usage: fumehood fs ls [--json] WORKSPACE [PATH]\n"
    "       fumehood fs get WORKSPACE PATH [-o FILE] [--max SIZE]\n"
    "       fumehood fs put WORKSPACE PATH [FILE|-] [--parents] [--executable] [--max SIZE]\n"
    "\n"
    "WORKSPACE is a directory of this host, PATH is relative to it. No link is followed, nothing outside is "
    "reached,\n"
    "and only regular files are read. Names are printed with \\xHH for bytes that a terminal might obey.\n"
    "  --json        ls: one JSON object\n"
    "  -o FILE       get: write there instead of to standard output (-: even to a terminal)\n"
    "  --parents     put: make missing directories\n"
    "  --executable  put: mode 0755 instead of 0644\n"
    "  --max SIZE    get and put: refuse files that are larger (default 1G)\n";

struct options {
	int json, parents, executable, help;
	const char *output;
	uint64_t max_bytes;
	char **words; /* after the verb */
	int n_words;
};

enum { OPT_MAX = 256 };

static int parse(int argc, char **argv, struct options *o, struct fh_err *err)
{
	const struct option table[] = {
	    {"json", no_argument, &o->json, 1},
	    {"parents", no_argument, &o->parents, 1},
	    {"executable", no_argument, &o->executable, 1},
	    {"output", required_argument, NULL, 'o'},
	    {"max", required_argument, NULL, OPT_MAX},
	    {"help", no_argument, NULL, 'h'},
	    {0},
	};
	int c;

	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":ho:", table, NULL)) != -1) {
		switch (c) {
		case 0:
			break;
		case 'o':
			o->output = optarg;
			break;
		case OPT_MAX:
			if (fh_parse_bytes(optarg, &o->max_bytes) < 0)
				return fh_usage(err, "--max '%s' is no size; write it as 512K, 50M or 1G",
						optarg);
			break;
		case 'h':
			o->help = 1;
			break;
		case ':':
			return fh_usage(err, "%s wants a value; `fumehood fs --help` shows how",
					argv[optind - 1]);
		default:
			return fh_usage(err, "fs has no option %s; `fumehood fs --help` lists them",
					argv[optind - 1]);
		}
	}
	o->words = argv + optind;
	o->n_words = argc - optind;
	return 0;
}

/* -- ls
 * ----------------------------------------------------------------------------------------------------------
 */

struct listing {
	int dir;
	struct fh_buf text;   /* what will be printed */
	struct fh_json *json; /* NULL: lines for a person */
};

static const char *kind_name(mode_t mode)
{
	if (S_ISREG(mode))
		return "file";
	if (S_ISDIR(mode))
		return "directory";
	return S_ISLNK(mode) ? "symlink" : "other";
}

static char kind_letter(mode_t mode)
{
	static const struct {
		mode_t type;
		char letter;
	} letters[] = {{S_IFREG, '-'},  {S_IFDIR, 'd'}, {S_IFLNK, 'l'}, {S_IFIFO, 'p'},
		       {S_IFSOCK, 's'}, {S_IFCHR, 'c'}, {S_IFBLK, 'b'}};

	for (size_t i = 0; i < FH_ARRAY_LEN(letters); i++)
		if ((mode & S_IFMT) == letters[i].type)
			return letters[i].letter;
	return '?';
}

/* Where a link says it leads; nothing is looked up there. */
static void add_target(const struct listing *l, const struct fh_guard_entry *e, struct fh_buf *into)
{
	char target[PATH_MAX];
	ssize_t n = S_ISLNK(e->st.st_mode) ? readlinkat(l->dir, e->name, target, sizeof(target)) : 0;

	if (n > 0)
		fh_pathname_escape(target, (size_t)n, into);
}

static void add_json(struct listing *l, const struct fh_guard_entry *e, const char *name, const char *target)
{
	char mode[8];

	snprintf(mode, sizeof(mode), "%04o", e->st.st_mode & 07777);
	fh_json_open_object(l->json);
	fh_json_key(l->json, "name");
	fh_json_string(l->json, name);
	fh_json_key(l->json, "kind");
	fh_json_string(l->json, kind_name(e->st.st_mode));
	fh_json_key(l->json, "size_bytes");
	fh_json_u64(l->json, (uint64_t)e->st.st_size);
	fh_json_key(l->json, "mode");
	fh_json_string(l->json, mode);
	fh_json_key(l->json, "mtime_ms");
	fh_json_i64(l->json, (int64_t)e->st.st_mtim.tv_sec * 1000 + e->st.st_mtim.tv_nsec / 1000000);
	if (S_ISLNK(e->st.st_mode)) {
		fh_json_key(l->json, "target");
		fh_json_string(l->json, target);
	}
	fh_json_close_object(l->json);
}

static int add_entry(const struct fh_guard_entry *e, void *arg)
{
	struct listing *l = arg;
	fh_autobuf name = {.max = NAME_TEXT_MAX};
	fh_autobuf target = {.max = NAME_TEXT_MAX};

	fh_pathname_escape(e->name, strlen(e->name), &name);
	add_target(l, e, &target);
	if (name.overflow || target.overflow)
		return -ENOMEM;
	if (l->json)
		add_json(l, e, fh_buf_str(&name), fh_buf_str(&target));
	else
		fh_buf_addf(&l->text, "%c%04o %12lld %s%s%s%s\n", kind_letter(e->st.st_mode),
			    e->st.st_mode & 07777, (long long)e->st.st_size, fh_buf_str(&name),
			    S_ISDIR(e->st.st_mode) ? "/" : "", target.len ? " -> " : "", fh_buf_str(&target));
	return l->text.overflow ? -ENOMEM : 0;
}

/* All of it or nothing, and the account of what is missing behind it. */
static int list(struct listing *l, const char *path, struct fh_err *err)
{
	fh_autobuf shown = {.max = NAME_TEXT_MAX};
	struct fh_json json;
	int rc;

	if (l->json) {
		l->json = &json;
		fh_json_init(&json, &l->text);
		fh_pathname_escape(path, strlen(path), &shown);
		fh_json_open_object(&json);
		fh_json_key(&json, "path");
		fh_json_string(&json, fh_buf_str(&shown));
		fh_json_key(&json, "entries");
		fh_json_open_array(&json);
	}
	rc = fh_guard_list(l->dir, ".", ENTRIES_MAX, add_entry, l, err);
	if (rc < 0 && rc != -E2BIG)
		return rc == -ENOMEM ? fh_fail(err, rc, "list the directory") : rc;
	if (l->json) {
		fh_json_close_array(&json);
		fh_json_key(&json, "truncated");
		fh_json_bool(&json, rc == -E2BIG);
		fh_json_close_object(&json);
		fh_buf_addc(&l->text, '\n');
		if (fh_json_finish(&json) < 0)
			return fh_fail(err, -ENOMEM, "list the directory");
	}
	return rc;
}

static int fs_ls(int root, const struct options *o, struct fh_err *err)
{
	const char *path = o->n_words > 2 ? o->words[2] : ".";
	fh_autofd int dir = fh_guard_open_dir(root, path, err);
	struct fh_json placeholder;
	struct listing l = {.dir = dir, .json = o->json ? &placeholder : NULL};
	int rc, printed;

	if (dir < 0)
		return dir;
	fh_buf_init(&l.text, LISTING_MAX);
	rc = list(&l, path, err);
	printed = rc < 0 && rc != -E2BIG ? 0 : fh_write_all(1, fh_buf_str(&l.text), l.text.len);
	fh_buf_finish(&l.text);
	return printed < 0 ? fh_fail(err, printed, "print the listing") : rc;
}

/* -- get and put
 * -------------------------------------------------------------------------------------------------- */

static int get_to_file(int root, const struct options *o, struct fh_err *err)
{
	int fresh = 1;
	fh_autofd int out = open(o->output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int rc;

	if (out < 0 && errno == EEXIST) {
		fresh = 0;
		out = open(o->output, O_WRONLY | O_TRUNC | O_CLOEXEC);
	}
	if (out < 0)
		return fh_fail(err, -errno, "open '%s' to write", o->output);
	rc = fh_guard_get(root, o->words[2], out, o->max_bytes, NULL, err);
	if (rc < 0 && fresh) /* a half file would look like a whole one */
		unlink(o->output);
	return rc;
}

static int fs_get(int root, const struct options *o, struct fh_err *err)
{
	char shown[FH_SHOWN_CAP];
	struct stat st;
	fh_autofd int there = fh_guard_open_file(root, o->words[2], &st, err);

	/* Asked first, so that a wrong path leaves no empty file behind, and a large file not its beginning. */
	if (there < 0)
		return there;
	if ((uint64_t)st.st_size > o->max_bytes)
		return fh_usage(err, "%s holds more than the %llu bytes allowed; --max SIZE allows more",
				fh_show(o->words[2], shown), (unsigned long long)o->max_bytes);
	if (o->output && strcmp(o->output, "-"))
		return get_to_file(root, o, err);
	if (!o->output && isatty(1))
		return fh_usage(
		    err,
		    "the file may hold bytes that a terminal obeys; name a file with -o, or -o - for the "
		    "terminal all the same");
	return fh_guard_get(root, o->words[2], 1, o->max_bytes, NULL, err);
}

static int fs_put(int root, const struct options *o, struct fh_err *err)
{
	const char *from = o->n_words > 3 ? o->words[3] : "-";
	unsigned flags = (o->parents ? FH_GUARD_PARENTS : 0) | (o->executable ? FH_GUARD_EXECUTABLE : 0);
	fh_autofd int opened = -1;

	if (strcmp(from, "-")) {
		opened = open(from, O_RDONLY | O_CLOEXEC);
		if (opened < 0)
			return fh_fail(err, -errno, "open '%s'", from);
	}
	return fh_guard_put(root, o->words[2], opened >= 0 ? opened : 0, o->max_bytes, flags, err);
}

static const struct verb {
	const char *name;
	int (*act)(int root, const struct options *o, struct fh_err *err);
	int words_min, words_max; /* the verb counts */
} verbs[] = {
    {"ls", fs_ls, 2, 3},
    {"get", fs_get, 3, 3},
    {"put", fs_put, 3, 4},
};

static const struct verb *find_verb(const struct options *o)
{
	for (size_t i = 0; o->n_words > 0 && i < FH_ARRAY_LEN(verbs); i++)
		if (strcmp(verbs[i].name, o->words[0]) == 0 && o->n_words >= verbs[i].words_min &&
		    o->n_words <= verbs[i].words_max)
			return &verbs[i];
	return NULL;
}

int fh_cmd_fs(int argc, char **argv)
{
	struct options o = {.max_bytes = FILE_BYTES_MAX};
	const struct verb *verb;
	struct fh_err err = {0};
	fh_autofd int root = -1;

	if (parse(argc, argv, &o, &err) < 0)
		return fh_cli_error(&err);
	if (o.help)
		return fh_write_all(1, usage_text, strlen(usage_text)) < 0 ? FH_STATUS_ERROR : FH_STATUS_OK;
	verb = find_verb(&o);
	if (!verb) {
		fh_usage(
		    &err,
		    "fs wants `ls WORKSPACE [PATH]`, `get WORKSPACE PATH` or `put WORKSPACE PATH [FILE]`");
		return fh_cli_error(&err);
	}
	root = fh_guard_open_root(o.words[1], &err);
	if (root < 0 || verb->act(root, &o, &err) < 0)
		return fh_cli_error(&err);
	return FH_STATUS_OK;
}
