/* Where our own groups are: texts of /proc in, decisions out. Pure functions, so that every kind of host can
 * be tested on any; must not open or read anything. */
#include "isolate/cgroup_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

static const char *const ctl_names[FH_CTL_COUNT] = {"memory", "pids", "cpu", "cpuacct", "freezer"};

const char *fh_ctl_name(enum fh_ctl ctl)
{
	return ctl_names[ctl];
}

unsigned fh_ctl_parse(const char *list, char separator)
{
	unsigned bits = 0;

	while (*list) {
		size_t n = strcspn(list, separator == ' ' ? " \n" : ",\n");

		for (int i = 0; i < FH_CTL_COUNT; i++)
			if (strlen(ctl_names[i]) == n && memcmp(list, ctl_names[i], n) == 0)
				bits |= 1u << i;
		list += n;
		if (*list)
			list++;
	}
	return bits;
}

/* Copies the n bytes at `from`, with the octal escapes of mountinfo undone. False when they do not fit. */
static bool unescape(const char *from, size_t n, char *into, size_t cap)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		char c = from[i];

		if (c == '\\' && i + 3 < n && from[i + 1] >= '0' && from[i + 1] <= '3') {
			c = (char)((from[i + 1] - '0') * 64 + (from[i + 2] - '0') * 8 + (from[i + 3] - '0'));
			i += 3;
		}
		if (used + 1 >= cap)
			return false;
		into[used++] = c;
	}
	into[used] = '\0';
	return true;
}

/* One line of mountinfo that shows a cgroup hierarchy. */
struct cgroup_mount {
	int version;
	unsigned controllers;
	bool read_only;
	dev_t dev;
	char root[FH_TREE_PATH_MAX];
	char point[FH_TREE_PATH_MAX];
};

/* "id parent major:minor root point options [optional...] - type source super-options". False for other
 * mounts. */
static bool parse_mount(const char *line, size_t n, struct cgroup_mount *m)
{
	const char *field[6], *end = line + n, *tail;
	size_t len[6];
	unsigned major, minor;

	for (int i = 0; i < 6; i++) {
		const char *space = memchr(line, ' ', (size_t)(end - line));

		if (!space)
			return false;
		field[i] = line;
		len[i] = (size_t)(space - line);
		line = space + 1;
	}
	tail = memmem(line - 1, (size_t)(end - line) + 1, " - ", 3);
	if (!tail)
		return false;
	tail += 3;
	if ((size_t)(end - tail) > 8 && memcmp(tail, "cgroup2 ", 8) == 0)
		m->version = 2;
	else if ((size_t)(end - tail) > 7 && memcmp(tail, "cgroup ", 7) == 0)
		m->version = 1;
	else
		return false;
	if (sscanf(field[2], "%u:%u ", &major, &minor) != 2)
		return false;
	m->dev = makedev(major, minor);
	m->read_only = len[5] >= 2 && memcmp(field[5], "ro", 2) == 0 && (len[5] == 2 || field[5][2] == ',');
	m->controllers = 0;
	if (m->version == 1) {
		const char *options = memrchr(tail, ' ', (size_t)(end - tail));
		char list[256];

		if (options && unescape(options + 1, (size_t)(end - options) - 1, list, sizeof(list)))
			m->controllers = fh_ctl_parse(list, ',');
	}
	return unescape(field[3], len[3], m->root, sizeof(m->root)) &&
	       unescape(field[4], len[4], m->point, sizeof(m->point));
}

static bool has_dotdot(const char *path)
{
	return strstr(path, "/../") || (strlen(path) >= 3 && strcmp(path + strlen(path) - 3, "/..") == 0);
}

/* Where the group `t->path` is beneath the mount. Fills in dir, or why not. */
static void place(struct fh_tree *t, const struct cgroup_mount *m)
{
	const char *below = t->path;
	size_t root_len = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);
	int n;

	if (has_dotdot(t->path) || has_dotdot(m->root)) {
		snprintf(t->why, sizeof(t->why),
			 "our own group is outside the cgroup namespace we are in (its path is '%.80s', the "
			 "mount's root "
			 "'%.80s')",
			 t->path, m->root);
		snprintf(t->fix, sizeof(t->fix),
			 "start the container with a cgroup namespace and mount of its own "
			 "(docker: --cgroupns=private)");
		return;
	}
	if (strncmp(below, m->root, root_len) != 0 || (below[root_len] != '/' && below[root_len] != '\0')) {
		snprintf(t->why, sizeof(t->why),
			 "our own group '%.80s' is not below what is mounted at %.80s", t->path, m->point);
		snprintf(t->fix, sizeof(t->fix),
			 "start the container with a cgroup namespace and mount of its own "
			 "(docker: --cgroupns=private)");
		return;
	}
	below += root_len;
	if (m->read_only) {
		snprintf(t->why, sizeof(t->why), "%.120s is mounted read-only", m->point);
		snprintf(t->fix, sizeof(t->fix),
			 "give the container a writable cgroup mount (docker: --cgroupns=private "
			 "--security-opt writable-cgroups=true)");
		return;
	}
	n = snprintf(t->dir, sizeof(t->dir), "%s%s", m->point, strcmp(below, "/") == 0 ? "" : below);
	if (n < 0 || (size_t)n >= sizeof(t->dir)) {
		t->dir[0] = '\0';
		snprintf(t->why, sizeof(t->why), "the path of our own group is too long");
		return;
	}
	t->dev = m->dev;
	t->why[0] = t->fix[0] = '\0';
}

/* "id:controllers:path"; v2 is "0::path". False for hierarchies we have no use for. */
static bool parse_own(const char *line, size_t n, struct fh_tree *t)
{
	static const char deleted[] = " (deleted)";
	const char *first = memchr(line, ':', n), *second;
	char list[256];
	size_t len;

	if (!first)
		return false;
	second = memchr(first + 1, ':', n - (size_t)(first + 1 - line));
	if (!second || (size_t)(second - first) > sizeof(list))
		return false;
	memset(t, 0, sizeof(*t));
	t->fd = -1;
	len = (size_t)(second - first) - 1;
	memcpy(list, first + 1, len);
	list[len] = '\0';
	t->version = len == 0 ? 2 : 1;
	t->controllers = fh_ctl_parse(list, ',');
	if (t->version == 1 && !t->controllers)
		return false;
	len = n - (size_t)(second + 1 - line);
	if (len >= sizeof(t->path))
		return false;
	memcpy(t->path, second + 1, len);
	t->path[len] = '\0';
	if (len > sizeof(deleted) - 1 && strcmp(t->path + len - (sizeof(deleted) - 1), deleted) == 0)
		snprintf(t->why, sizeof(t->why), "our own group was removed under us");
	return true;
}

size_t fh_cgroup_find(const char *mountinfo, const char *self_cgroup, struct fh_tree *ret_trees, size_t cap)
{
	struct cgroup_mount *m = malloc(sizeof(*m));
	size_t n = 0;

	if (!m)
		return 0;
	for (const char *line = self_cgroup; *line && n < cap;) {
		size_t len = strcspn(line, "\n");

		if (parse_own(line, len, &ret_trees[n]))
			n++;
		line += len + (line[len] == '\n');
	}
	for (const char *line = mountinfo; *line;) {
		size_t len = strcspn(line, "\n");

		if (parse_mount(line, len, m))
			for (size_t i = 0; i < n; i++) {
				struct fh_tree *t = &ret_trees[i];
				bool same = m->version == t->version &&
					    (t->version == 2 || (m->controllers & t->controllers));

				if (same && !t->dir[0] && !strstr(t->path, " (deleted)"))
					place(t, m);
			}
		line += len + (line[len] == '\n');
	}
	for (size_t i = 0; i < n; i++)
		if (!ret_trees[i].dir[0] && !ret_trees[i].why[0])
			snprintf(ret_trees[i].why, sizeof(ret_trees[i].why),
				 "its cgroup file system is not mounted");
	free(m);
	return n;
}

/* Digits and then `after`; moves *p past it. */
static bool take_number(const char **p, char after, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;
	int digits = 0;

	for (; *s >= '0' && *s <= '9' && digits < 19; s++, digits++)
		v = v * 10 + (uint64_t)(*s - '0');
	if (!digits || *s != after)
		return false;
	*p = after ? s + 1 : s;
	*ret = v;
	return true;
}

bool fh_group_name_parse(const char *name, struct fh_group_name *ret)
{
	uint64_t pid, start, pidns, n;

	if (strncmp(name, FH_GROUP_PREFIX, strlen(FH_GROUP_PREFIX)) != 0)
		return false;
	name += strlen(FH_GROUP_PREFIX);
	if (!take_number(&name, '-', &pid) || !take_number(&name, '-', &start) ||
	    !take_number(&name, '-', &pidns) || !take_number(&name, '\0', &n))
		return false;
	if (pid == 0 || pid > INT32_MAX)
		return false;
	*ret = (struct fh_group_name){.pid = (pid_t)pid, .start_ticks = start, .pidns = pidns};
	return true;
}

uint64_t fh_stat_start_ticks(const char *stat)
{
	/* The name in field 2 may hold spaces and parentheses: count from the last one. */
	const char *p = strrchr(stat, ')');

	for (int field = 2; p && field < 22; field++) {
		p = strchr(p, ' ');
		if (p)
			p++;
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

uint64_t fh_keyed_number(const char *text, const char *key, uint64_t absent)
{
	size_t n = strlen(key);

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");

		if (len > n + 1 && memcmp(line, key, n) == 0 && line[n] == ' ')
			return strtoull(line + n + 1, NULL, 10);
		line += len + (line[len] == '\n');
	}
	return absent;
}
