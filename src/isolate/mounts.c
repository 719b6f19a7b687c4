/* The plan of the sandbox's own root; see mounts.h. Each part of the root is one function, in the order of the mount
 * table in ARCHITECTURE.md. Paths of operations are relative to the stage; "r/..." becomes "/...". */
#include "isolate/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "isolate/idmap.h"
#include "isolate/procfiles.h"
#include "sys/mounts.h"

#define MS_COMMON      (MS_NOSUID | MS_NODEV)
#define ATTR_COMMON    (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define ATTR_READ_ONLY (ATTR_COMMON | MOUNT_ATTR_RDONLY)
#define MASKS          "r/run/masks"
#define LD_CACHE_BYTES_MAX (4u << 20)

/* What every part needs. */
struct builder {
	const struct fh_root_spec *spec;
	struct fh_planner *planner;
	unsigned n_layers;
	unsigned n_inodes; /* taken on the disk before the program is there */
	struct fh_err *err;
};

static int op(struct builder *b, struct fh_plan_op o)
{
	if (o.kind <= FH_OP_SYMLINK && strncmp(o.target, "r/", 2) != 0)
		b->n_inodes++;
	int rc = fh_planner_op(b->planner, &o);

	return rc < 0 ? fh_fail(b->err, rc, "plan the root") : 0;
}

static int mkdir_op(struct builder *b, const char *target, uint32_t mode)
{
	return op(b, (struct fh_plan_op){.kind = FH_OP_MKDIR, .target = target, .mode = mode});
}

static int own_dir_op(struct builder *b, const char *target, uint32_t mode)
{
	int rc = mkdir_op(b, target, mode);

	if (rc == 0)
		rc = op(b, (struct fh_plan_op){.kind = FH_OP_CHOWN, .target = target, .uid = b->spec->program_id});
	return rc;
}

static int file_op(struct builder *b, const char *target, const void *bytes, size_t n)
{
	return op(b, (struct fh_plan_op){
			     .kind = FH_OP_FILE, .target = target, .mode = 0444, .bytes = bytes, .n_bytes = n});
}

static int clone_op(struct builder *b, const char *from, const char *target, uint64_t attr)
{
	return op(b, (struct fh_plan_op){.kind = FH_OP_CLONE, .text = from, .target = target, .attr = attr});
}

static int plan_stage(struct builder *b)
{
	int rc = mkdir_op(b, "e", 0555);

	rc = rc ? rc : mkdir_op(b, "w", 0755);
	rc = rc ? rc : own_dir_op(b, "w/work", 0755);
	rc = rc ? rc : own_dir_op(b, "w/home", 0700);
	rc = rc ? rc : mkdir_op(b, "w/tmp", 01777);
	rc = rc ? rc : mkdir_op(b, "w/shm", 01777);
	rc = rc ? rc : mkdir_op(b, "r", 0755);
	rc = rc ? rc
		: op(b, (struct fh_plan_op){.kind = FH_OP_TMPFS,
					    .target = "r",
					    .flags = MS_COMMON,
					    .text = "mode=755,size=8m,nr_inodes=4096"});
	return rc ? rc : mkdir_op(b, "r/run", 0755);
}

/* Makes "r" + every folder of an absolute path, however deep. */
static int mkdir_parents(struct builder *b, const char *inner, bool last_too)
{
	char path[4200];
	int n = snprintf(path, sizeof(path), "r%s", inner);
	int rc = 0;

	if (n < 0 || (size_t)n >= sizeof(path))
		return fh_usage(b->err, "the path '%.60s...' is too long", inner);
	for (char *p = path + 2; rc == 0 && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		rc = op(b, (struct fh_plan_op){
				   .kind = FH_OP_MKDIR, .target = path, .mode = 0755, .optional = true, .strict = true});
		*p = '/';
	}
	if (rc == 0 && last_too)
		rc = op(b, (struct fh_plan_op){
				   .kind = FH_OP_MKDIR, .target = path, .mode = 0755, .optional = true, .strict = true});
	return rc;
}

/* A host folder, read-only, at the same place. As an overlay of its own every sandbox has its own inodes: a plain bind
 * would let sandboxes see each other's opens by inotify and meet by file locks. */
static int plan_tree(struct builder *b, const char *path)
{
	struct fh_source_options options = {.recursive = b->spec->plain_trees, .idmap_fd = -1};
	char layer[16], target[4200], layers[32];
	int source, rc;

	rc = fh_planner_source(b->planner, path, &options, &source, NULL, b->err);
	if (rc < 0)
		return rc;
	rc = mkdir_parents(b, path, true);
	snprintf(target, sizeof(target), "r%s", path);
	if (b->spec->plain_trees)
		return rc ? rc
			  : op(b, (struct fh_plan_op){.kind = FH_OP_ATTACH,
						      .target = target,
						      .source = source,
						      .attr = ATTR_READ_ONLY,
						      .recursive = true});
	snprintf(layer, sizeof(layer), "l%u", b->n_layers++);
	snprintf(layers, sizeof(layers), "lowerdir=%s:e", layer);
	rc = rc ? rc : mkdir_op(b, layer, 0755);
	rc = rc ? rc
		: op(b, (struct fh_plan_op){
				.kind = FH_OP_ATTACH, .target = layer, .source = source, .attr = ATTR_READ_ONLY});
	return rc ? rc
		  : op(b, (struct fh_plan_op){.kind = FH_OP_OVERLAY,
					      .target = target,
					      .flags = MS_COMMON | MS_RDONLY,
					      .text = layers});
}

/* /usr, and /bin /lib ... as the host has them: links into /usr, or folders of their own. */
static int plan_system(struct builder *b)
{
	static const char *const names[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libo32"};
	int rc = plan_tree(b, "/usr");

	for (size_t i = 0; rc == 0 && i < FH_ARRAY_LEN(names); i++) {
		char to[256], target[32];
		struct stat st;
		ssize_t n;

		if (lstat(names[i], &st) < 0) {
			if (errno == ENOENT)
				continue;
			return fh_fail(b->err, -errno, "look at '%s'", names[i]);
		}
		if (S_ISDIR(st.st_mode)) {
			rc = plan_tree(b, names[i]);
			continue;
		}
		if (!S_ISLNK(st.st_mode))
			continue;
		n = readlink(names[i], to, sizeof(to) - 1);
		if (n < 0)
			return fh_fail(b->err, -errno, "read the link '%s'", names[i]);
		to[n] = '\0';
		snprintf(target, sizeof(target), "r%s", names[i]);
		rc = op(b, (struct fh_plan_op){.kind = FH_OP_SYMLINK, .target = target, .text = to});
	}
	return rc;
}

static int plan_etc(struct builder *b)
{
	fh_autobuf cache;
	int rc = mkdir_op(b, "r/etc", 0755);
	struct stat st;

	for (const struct fh_etc_file *f = fh_etc_files; rc == 0 && f->name; f++) {
		char target[64];
		snprintf(target, sizeof(target), "r/etc/%s", f->name);
		rc = file_op(b, target, f->content, strlen(f->content));
	}
	/* The loader's cache is copied, not shared: without it libraries outside the standard folders are not found. */
	fh_buf_init(&cache, LD_CACHE_BYTES_MAX);
	if (rc == 0 && fh_read_file_at(AT_FDCWD, "/etc/ld.so.cache", &cache) == 0)
		rc = file_op(b, "r/etc/ld.so.cache", cache.data, cache.len);
	rc = rc ? rc : op(b, (struct fh_plan_op){.kind = FH_OP_SYMLINK, .target = "r/etc/mtab", .text = "../proc/self/mounts"});
	/* Debian's links from /usr/bin/awk and the like lead through here. */
	if (rc == 0 && lstat("/etc/alternatives", &st) == 0 && S_ISDIR(st.st_mode))
		rc = plan_tree(b, "/etc/alternatives");
	return rc;
}

static int fill_meminfo(const struct fh_root_spec *spec, struct fh_buf *into)
{
	return fh_procfile_meminfo(spec->policy, into);
}

static int fill_stat(const struct fh_root_spec *spec, struct fh_buf *into)
{
	return fh_procfile_stat(spec->n_cpus, into);
}

static int fill_cpuinfo(const struct fh_root_spec *spec, struct fh_buf *into)
{
	return fh_procfile_cpuinfo(spec->n_cpus, into);
}

static int fill_loadavg(const struct fh_root_spec *spec, struct fh_buf *into)
{
	return fh_buf_adds(into, "0.00 0.00 0.00 1/1 1\n");
}

static int fill_boot_id(const struct fh_root_spec *spec, struct fh_buf *into)
{
	return fh_procfile_boot_id(into);
}

/* The files of /proc that are generated for the sandbox. */
struct generated {
	const char *name, *mask;
	int (*fill)(const struct fh_root_spec *, struct fh_buf *);
	bool only_some_cpus;
};
static const struct generated generated[] = {
	{"meminfo", MASKS "/meminfo", fill_meminfo, false},
	{"stat", MASKS "/stat", fill_stat, false},
	{"loadavg", MASKS "/loadavg", fill_loadavg, false},
	{"sys/kernel/random/boot_id", MASKS "/boot_id", fill_boot_id, false},
	{"cpuinfo", MASKS "/cpuinfo", fill_cpuinfo, true},
};

static bool is_wanted(const struct builder *b, const struct generated *g)
{
	return !g->only_some_cpus || !b->spec->all_cpus;
}

/* What is shown over entries of /proc. It becomes a mount with all its restrictions first; every cover is then a bind of
 * a part of that mount, which inherits them: one system call each. */
static int plan_masks(struct builder *b)
{
	int rc = mkdir_op(b, MASKS, 0700);

	/* On the root's file system and not on the disk, whose place in `df` is not below /proc. */
	rc = rc ? rc : mkdir_op(b, MASKS "/folder", 0555);
	rc = rc ? rc : file_op(b, MASKS "/file", "", 0);
	for (size_t i = 0; rc == 0 && i < FH_ARRAY_LEN(generated); i++) {
		fh_autobuf text;
		fh_buf_init(&text, 1u << 20);
		if (!is_wanted(b, &generated[i]))
			continue;
		rc = generated[i].fill(b->spec, &text);
		if (rc < 0)
			return fh_fail(b->err, rc, "generate /proc/%s", generated[i].name);
		rc = file_op(b, generated[i].mask, fh_buf_str(&text), text.len);
	}
	return rc ? rc : clone_op(b, MASKS, MASKS, ATTR_READ_ONLY | MOUNT_ATTR_NOEXEC);
}

static int cover_op(struct builder *b, const char *name, const char *mask)
{
	char target[64];

	snprintf(target, sizeof(target), "r/proc/%s", name);
	return op(b, (struct fh_plan_op){.kind = FH_OP_BIND, .text = mask, .target = target, .optional = true});
}

static int sysctl_op(struct builder *b, const char *name, const char *value, bool optional)
{
	char target[96];

	snprintf(target, sizeof(target), "r/proc/sys/%s", name);
	return op(b, (struct fh_plan_op){.kind = FH_OP_SYSCTL, .target = target, .text = value, .optional = optional});
}

/* Limits that belong to namespaces. No further user namespace can be made, and so none of the others. */
static int plan_sysctls(struct builder *b)
{
	char bytes[32], pages[32];
	int rc = 0;

	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)b->spec->policy->memory_bytes);
	snprintf(pages, sizeof(pages), "%llu", (unsigned long long)b->spec->policy->memory_bytes / 4096);
	if (!fh_switched_off("nested-userns"))
		rc = sysctl_op(b, "user/max_user_namespaces", "0", false);
	rc = rc ? rc : sysctl_op(b, "vm/memfd_noexec", "1", true);
	rc = rc ? rc : sysctl_op(b, "kernel/shmmax", bytes, true);
	rc = rc ? rc : sysctl_op(b, "kernel/shmall", pages, true);
	rc = rc ? rc : sysctl_op(b, "kernel/msgmni", "32", true);
	rc = rc ? rc : sysctl_op(b, "fs/mqueue/queues_max", "16", true);
	return rc;
}

static int plan_covers(struct builder *b)
{
	int rc = 0;

	if (!fh_switched_off("proc-masks")) {
		for (const char *const *name = fh_proc_masked_files; rc == 0 && *name; name++)
			rc = cover_op(b, *name, MASKS "/file");
		for (const char *const *name = fh_proc_masked_dirs; rc == 0 && *name; name++)
			rc = cover_op(b, *name, MASKS "/folder");
	}
	for (size_t i = 0; rc == 0 && i < FH_ARRAY_LEN(generated); i++)
		if (is_wanted(b, &generated[i]))
			rc = cover_op(b, generated[i].name, generated[i].mask);
	return rc;
}

static int plan_proc(struct builder *b)
{
	int rc = mkdir_op(b, "r/proc", 0555);

	if (rc || b->spec->no_proc)
		return rc;
	rc = op(b, (struct fh_plan_op){.kind = FH_OP_PROC,
				       .target = "r/proc",
				       .flags = MS_COMMON | MS_NOEXEC,
				       .text = "hidepid=invisible"});
	rc = rc ? rc : plan_sysctls(b);
	rc = rc ? rc : plan_masks(b);
	rc = rc ? rc : plan_covers(b);
	if (rc == 0 && !fh_switched_off("proc-ro"))
		rc = op(b, (struct fh_plan_op){.kind = FH_OP_SEAL, .target = "r/proc", .attr = MOUNT_ATTR_RDONLY});
	return rc;
}

static int plan_dev(struct builder *b)
{
	static const struct {
		const char *name;
		unsigned minor;
	} nodes[] = {{"null", 3}, {"zero", 5}, {"full", 7}, {"random", 8}, {"urandom", 9}};
	static const char *const links[][2] = {{"fd", "/proc/self/fd"},
					       {"stdin", "/proc/self/fd/0"},
					       {"stdout", "/proc/self/fd/1"},
					       {"stderr", "/proc/self/fd/2"}};
	char host[32], target[32];
	int source, rc = mkdir_op(b, "r/dev", 0755);

	for (size_t i = 0; rc == 0 && i < FH_ARRAY_LEN(nodes); i++) {
		snprintf(host, sizeof(host), "/dev/%s", nodes[i].name);
		snprintf(target, sizeof(target), "r/dev/%s", nodes[i].name);
		rc = fh_planner_device(b->planner, host, 1, nodes[i].minor, &source);
		rc = rc ? rc : file_op(b, target, "", 0);
		/* Read-only stops what could be left on a node that sandboxes share (times, modes, attributes); a
		 * device can be written to all the same. */
		rc = rc ? rc
			: op(b, (struct fh_plan_op){.kind = FH_OP_ATTACH,
						    .target = target,
						    .source = source,
						    .attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY});
	}
	for (size_t i = 0; rc == 0 && i < FH_ARRAY_LEN(links); i++) {
		snprintf(target, sizeof(target), "r/dev/%s", links[i][0]);
		rc = op(b, (struct fh_plan_op){.kind = FH_OP_SYMLINK, .target = target, .text = links[i][1]});
	}
	rc = rc ? rc : mkdir_op(b, "r/dev/shm", 01777);
	rc = rc ? rc : clone_op(b, "w/shm", "r/dev/shm", ATTR_COMMON | MOUNT_ATTR_NOEXEC);
	if (rc == 0 && b->spec->policy->pty) {
		rc = mkdir_op(b, "r/dev/pts", 0755);
		rc = rc ? rc
			: op(b, (struct fh_plan_op){.kind = FH_OP_DEVPTS,
						    .target = "r/dev/pts",
						    .flags = MS_NOSUID | MS_NOEXEC,
						    .text = "newinstance,ptmxmode=0666,mode=620,max=16"});
		rc = rc ? rc
			: op(b, (struct fh_plan_op){.kind = FH_OP_SYMLINK, .target = "r/dev/ptmx", .text = "pts/ptmx"});
	}
	return rc;
}

/* A folder of the caller's and the program must have one owner: on disk the folder's, inside the program. Only root can
 * map a mount; the program of an ordinary user has the user's own id already. */
static int owner_map(struct builder *b, const char *path, struct fh_source_options *options, int *ret_fd)
{
	const struct fh_ids *ids = b->spec->ids;
	struct stat st;

	*ret_fd = -1;
	if (ids->kind != FH_IDS_BLOCK)
		return 0;
	if (lstat(path, &st) < 0)
		return fh_fail(b->err, -errno, "'%s' cannot be shown to the program", path);
	options->owner_uid = st.st_uid;
	options->owner_gid = st.st_gid;
	return fh_idmap_create(st.st_uid, ids->program_uid, st.st_gid, ids->program_gid, ret_fd, b->err);
}

static int plan_workspace(struct builder *b)
{
	struct fh_source_options options = {.idmap_fd = -1};
	fh_autofd int map = -1;
	char layer[16], layers[96];
	int source, rc = mkdir_op(b, "r/work", 0755);

	if (rc || b->spec->workspace_mode == FH_WORKSPACE_EMPTY)
		return rc ? rc : clone_op(b, "w/work", "r/work", ATTR_COMMON);
	rc = owner_map(b, b->spec->workspace, &options, &map);
	options.idmap_fd = map;
	rc = rc ? rc : fh_planner_source(b->planner, b->spec->workspace, &options, &source, NULL, b->err);
	if (rc < 0)
		return rc;
	if (b->spec->workspace_mode == FH_WORKSPACE_DIRECT)
		return op(b, (struct fh_plan_op){
				     .kind = FH_OP_ATTACH, .target = "r/work", .source = source, .attr = ATTR_COMMON});
	snprintf(layer, sizeof(layer), "l%u", b->n_layers++);
	snprintf(layers, sizeof(layers), "lowerdir=%s,upperdir=u/work,workdir=u/wk,userxattr", layer);
	rc = rc ? rc : mkdir_op(b, layer, 0755);
	rc = rc ? rc
		: op(b, (struct fh_plan_op){
				.kind = FH_OP_ATTACH, .target = layer, .source = source, .attr = ATTR_READ_ONLY});
	rc = rc ? rc : mkdir_op(b, "u", 0755);
	rc = rc ? rc : own_dir_op(b, "u/work", 0755);
	rc = rc ? rc : own_dir_op(b, "u/wk", 0700);
	b->n_inodes += 2; /* the overlay's own: its working folder and its index of whiteouts */
	return rc ? rc
		  : op(b, (struct fh_plan_op){
				  .kind = FH_OP_OVERLAY, .target = "r/work", .flags = MS_COMMON, .text = layers});
}

static int plan_writable(struct builder *b)
{
	int rc = mkdir_op(b, "r/tmp", 01777);

	rc = rc ? rc : clone_op(b, "w/tmp", "r/tmp", ATTR_COMMON);
	rc = rc ? rc : mkdir_op(b, "r/home", 0755);
	rc = rc ? rc : mkdir_op(b, "r/home/user", 0755);
	rc = rc ? rc : clone_op(b, "w/home", "r/home/user", ATTR_COMMON);
	rc = rc ? rc : mkdir_op(b, "r/sys", 0555);
	rc = rc ? rc : mkdir_op(b, "r/var", 0755);
	rc = rc ? rc : op(b, (struct fh_plan_op){.kind = FH_OP_SYMLINK, .target = "r/var/tmp", .text = "../tmp"});
	return rc ? rc : plan_workspace(b);
}

/* A host file or folder at a place of the caller's choice. */
static int plan_bind(struct builder *b, const char *from, const char *to, uint64_t attr)
{
	struct fh_source_options options = {.recursive = true, .idmap_optional = true};
	fh_autofd int map = -1;
	char target[4200];
	uint32_t mode = 0;
	int source, rc = owner_map(b, from, &options, &map);

	options.idmap_fd = map;
	rc = rc ? rc : fh_planner_source(b->planner, from, &options, &source, &mode, b->err);
	if (rc < 0)
		return rc;
	if ((size_t)snprintf(target, sizeof(target), "r%s", to) >= sizeof(target))
		return fh_usage(b->err, "the path '%.60s...' is too long", to);
	rc = mkdir_parents(b, to, S_ISDIR(mode));
	if (rc == 0 && !S_ISDIR(mode))
		rc = op(b, (struct fh_plan_op){
				   .kind = FH_OP_FILE, .target = target, .mode = 0444, .optional = true, .strict = true});
	return rc ? rc
		  : op(b, (struct fh_plan_op){.kind = FH_OP_ATTACH,
					      .target = target,
					      .source = source,
					      .attr = attr,
					      .recursive = true,
					      .strict = true});
}

static bool below(const char *path, const char *root)
{
	size_t n = strlen(root);

	return strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static int plan_link(struct builder *b, const struct fh_root_link *link)
{
	char target[4200];
	int rc = mkdir_parents(b, link->path, false);

	if ((size_t)snprintf(target, sizeof(target), "r%s", link->path) >= sizeof(target))
		return fh_usage(b->err, "the path '%.60s...' is too long", link->path);
	return rc ? rc : op(b, (struct fh_plan_op){.kind = FH_OP_SYMLINK, .target = target, .text = link->target});
}

static int plan_extras(struct builder *b)
{
	const struct fh_policy *policy = b->spec->policy;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < b->spec->n_trees; i++)
		if (!below(b->spec->trees[i], "/usr"))
			rc = plan_tree(b, b->spec->trees[i]);
	for (size_t i = 0; rc == 0 && i < b->spec->n_files; i++)
		if (!below(b->spec->files[i], "/usr"))
			rc = plan_bind(b, b->spec->files[i], b->spec->files[i], ATTR_READ_ONLY);
	for (size_t i = 0; rc == 0 && i < b->spec->n_links; i++)
		rc = plan_link(b, &b->spec->links[i]);
	for (size_t i = 0; rc == 0 && i < policy->n_binds; i++)
		rc = plan_bind(b, policy->binds[i].source, policy->binds[i].target,
			       policy->binds[i].writable ? ATTR_COMMON : ATTR_READ_ONLY);
	return rc;
}

int fh_mounts_plan(const struct fh_root_spec *spec, struct fh_planner *planner, const char **ret_options,
		   struct fh_err *err)
{
	struct builder b = {.spec = spec, .planner = planner, .n_inodes = 1, .err = err};
	int rc = plan_stage(&b);

	rc = rc ? rc : plan_system(&b);
	rc = rc ? rc : plan_etc(&b);
	rc = rc ? rc : plan_proc(&b);
	rc = rc ? rc : plan_dev(&b);
	rc = rc ? rc : plan_writable(&b);
	rc = rc ? rc : plan_extras(&b);
	if (rc == 0 && !fh_switched_off("root-ro"))
		rc = op(&b, (struct fh_plan_op){.kind = FH_OP_SEAL,
						.target = "r",
						.attr = ATTR_READ_ONLY | MOUNT_ATTR_NOEXEC});
	if (rc < 0)
		return rc;
	*ret_options = fh_arena_printf(&planner->arena, "mode=755,size=%llu,nr_inodes=%llu",
				       (unsigned long long)spec->policy->disk_bytes,
				       (unsigned long long)spec->policy->inodes + b.n_inodes);
	return *ret_options ? 0 : fh_fail(err, -ENOMEM, "plan the root");
}
