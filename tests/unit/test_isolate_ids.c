/* Ids of a sandbox: texts in, ranges out; the ledger among many processes; and real maps of real user
 * namespaces. */
#include "isolate/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/sched.h>
#include <cmocka.h>

#include "base/io.h"
#include "base/own.h"
#include "isolate/ids_ledger.h"
#include "isolate/ids_map.h"
#include "isolate/ids_subid.h"

enum { CROWD = 200 };

static char tmp[] = "/tmp/fh-test-ids-XXXXXX";
static char ledger[64];

/* ---- texts ---- */

static void takes_its_own_range_where_all_ids_are_there(void **state)
{
	struct fh_id_range r;

	assert_true(fh_id_range_find("         0          0 4294967295\n", "0 0 4294967295\n", &r));
	assert_int_equal(r.first, 1879048192u);
	assert_int_equal(r.blocks, 65536);
	assert_int_equal(r.first + r.blocks * FH_ID_BLOCK - 1, 1879572479u);
}

static void takes_the_top_half_of_fewer_ids(void **state)
{
	struct fh_id_range r;

	assert_true(fh_id_range_find("0 1000 1\n1 100000 65536\n", "0 1000 1\n1 100000 65536\n", &r));
	assert_int_equal(r.blocks, 4096);
	assert_int_equal(r.first, 65537 - 32768);
	/* Only what both have counts. */
	assert_true(fh_id_range_find("0 100000 65536\n", "0 100000 1000\n", &r));
	assert_int_equal(r.blocks, 62);
	assert_int_equal(r.first + r.blocks * FH_ID_BLOCK, 1000);
}

static void has_no_range_where_hardly_any_id_is_mapped(void **state)
{
	struct fh_id_range r = {7, 7};

	assert_false(fh_id_range_find("0 1000 1\n", "0 1000 1\n", &r));
	assert_false(fh_id_range_find("0 0 15\n", "0 0 15\n", &r));
	assert_false(fh_id_range_find("", "0 0 4294967295\n", &r));
	assert_false(fh_id_range_find("rubbish\n", "\n\n", &r));
	assert_int_equal(r.first, 7);
}

static void looks_ids_up_in_a_map(void **state)
{
	uint32_t out;

	assert_true(fh_id_map_outside("0 1000 1\n1 100000 65536\n", 0, &out));
	assert_int_equal(out, 1000);
	assert_true(fh_id_map_outside("0 1000 1\n1 100000 65536\n", 65536, &out));
	assert_int_equal(out, 165535);
	assert_false(fh_id_map_outside("0 1000 1\n1 100000 65536\n", 65537, &out));
}

static const char passwd_text[] = "root:x:0:0:root:/root:/bin/bash\n"
				  "bad line\n"
				  "ada:x:4242:4242:Ada:/home/ada:/bin/sh\n"
				  "countess:x:4242:4242::/:\n";

static void finds_sub_ids_by_name_and_number(void **state)
{
	struct fh_subid_range r;

	assert_true(fh_subid_find("bob:1:2\nada:100000:65536\n", passwd_text, 4242, 2, &r));
	assert_int_equal(r.first, 100000);
	assert_int_equal(r.count, 65536);
	assert_true(fh_subid_find("4242:200000:10\n", "", 4242, 2, &r));
	assert_int_equal(r.first, 200000);
	assert_true(fh_subid_find("countess:300000:2", passwd_text, 4242, 2, &r));
	assert_int_equal(r.first, 300000);
	/* Too few in the first line, enough in the second. */
	assert_true(fh_subid_find("ada:5000:1\nada:6000:2\n", passwd_text, 4242, 2, &r));
	assert_int_equal(r.first, 6000);
}

static void refuses_sub_ids_of_others_and_rubbish(void **state)
{
	static const char *const texts[] = {"",
					    "ada:0:10\n",
					    "root:100000:65536\n",
					    "ada:100000\n",
					    "ada:100000:\n",
					    "ada:-5:10\n",
					    "ada:1e5:10\n",
					    "ada:4294967290:10\n",
					    ":100000:10\n",
					    "ad:100000:10\n",
					    "adam:100000:10\n",
					    "ada:99999999999:10\n",
					    "424:100000:5\n",
					    "ada:100000:10x\n",
					    "\n\n:\n::\n:::\n"};
	struct fh_subid_range r = {7, 7};

	for (size_t i = 0; i < FH_ARRAY_LEN(texts); i++)
		assert_false(fh_subid_find(texts[i], passwd_text, 4242, 2, &r));
	assert_int_equal(r.first, 7);
}

/* ---- the ledger ---- */

static uint32_t take(uint32_t blocks, int *ret_fd)
{
	struct fh_err err = {0};
	uint32_t block = UINT32_MAX;

	if (fh_ledger_take(ledger, blocks, &block, ret_fd, &err) < 0)
		fail_msg("%s", err.message);
	assert_true(block < blocks);
	return block;
}

static void gives_a_crowd_distinct_blocks(void **state)
{
	static bool seen[256];
	int from[2], hold[2], got = 0;
	uint32_t block;
	pid_t pids[CROWD];

	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	for (int i = 0; i < CROWD; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			int fd;
			char byte;

			close(hold[1]);
			if (fh_ledger_take(ledger, 256, &block, &fd, NULL) < 0)
				block = UINT32_MAX;
			if (write(from[1], &block, sizeof(block)) < 0 || read(hold[0], &byte, 1) != 0)
				_exit(1);
			_exit(0);
		}
		assert_true(pids[i] > 0);
	}
	for (; got < CROWD && read(from[0], &block, sizeof(block)) == sizeof(block); got++) {
		assert_true(block < 256);
		assert_false(seen[block]);
		seen[block] = true;
	}
	assert_int_equal(got, CROWD);
	close(hold[1]);
	close(hold[0]);
	for (int i = 0; i < CROWD; i++)
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	close(from[0]);
	close(from[1]);
}

static void hands_out_in_turn(void **state)
{
	int fd;
	uint32_t first = take(64, &fd);

	close(fd);
	for (uint32_t i = 1; i < 64; i++) {
		assert_int_equal(take(64, &fd), (first + i) % 64);
		close(fd);
	}
	assert_int_equal(take(64, &fd), first);
	close(fd);
}

static void holds_while_an_inherited_fd_lives(void **state)
{
	int fd, other, hold[2];
	uint32_t block;
	pid_t pid;

	assert_int_equal(take(1, &fd), 0);
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	close(fd); /* the supervisor is gone; init still has it */
	assert_int_equal(fh_ledger_take(ledger, 1, &block, &other, NULL), -EUSERS);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(take(1, &fd), 0);
	close(fd);
	close(hold[0]);
	close(hold[1]);
}

static void says_when_all_are_held(void **state)
{
	struct fh_err err = {0};
	int fds[4], fd = -7;
	uint32_t block = 7;

	for (int i = 0; i < 4; i++)
		take(4, &fds[i]);
	assert_int_equal(fh_ledger_take(ledger, 4, &block, &fd, &err), -EUSERS);
	assert_int_equal(fd, -7);
	assert_int_equal(block, 7);
	assert_non_null(strstr(err.message, "all 4 blocks"));
	for (int i = 0; i < 4; i++)
		close(fds[i]);
}

static void refuse(const char *dir, const char *says)
{
	struct fh_err err = {0};
	uint32_t block;
	int fd;

	assert_int_equal(fh_ledger_take(dir, 4, &block, &fd, &err), -ENOTSUP);
	assert_int_equal(err.kind, FH_ERR_UNSUPPORTED);
	if (!strstr(err.message, says))
		fail_msg("'%s' is not in '%s'", says, err.message);
	assert_string_not_equal(err.fix, "");
	assert_int_equal(fh_ledger_check(dir, NULL), -ENOTSUP);
}

/* Whether there is a user 4242 to become: root, and not that of a namespace with one id only. */
static bool can_become_user(void)
{
	char text[512];
	uint32_t outside;

	return geteuid() == 0 && fh_read_small_at(AT_FDCWD, "/proc/self/uid_map", text, sizeof(text)) > 0 &&
	       fh_id_map_outside(text, 4242, &outside);
}

static void refuses_a_hostile_ledger(void **state)
{
	char dir[80], file[96], victim[96];
	struct stat st;
	int fd;

	snprintf(dir, sizeof(dir), "%s/hostile", tmp);
	snprintf(file, sizeof(file), "%s/ids", dir);
	snprintf(victim, sizeof(victim), "%s/victim", tmp);
	fd = open(victim, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);

	assert_int_equal(symlink(tmp, dir), 0);
	refuse(dir, "not a directory");
	unlink(dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	chmod(dir, 0777);
	refuse(dir, "others could write");
	chmod(dir, 0700);
	assert_int_equal(symlink(victim, file), 0);
	refuse(dir, "not a file");
	unlink(file);
	assert_int_equal(link(victim, file), 0);
	refuse(dir, "alone");
	unlink(file);
	assert_int_equal(mkfifo(file, 0600), 0);
	refuse(dir, "alone");
	unlink(file);
	assert_int_equal(mkdir(file, 0700), 0);
	refuse(dir, "not a file");
	rmdir(file);
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	fchmod(fd, 0644);
	close(fd);
	refuse(dir, "alone");
	unlink(file);
	if (can_become_user()) {
		assert_int_equal(chown(dir, 4242, 4242), 0);
		refuse(dir, "belongs to uid 4242");
	}
	rmdir(dir);
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_size, 0);
	unlink(victim);
}

/* ---- real maps ---- */

/* A child in a user namespace of its own that waits until `go` is closed and tells what it is then. */
struct child {
	pid_t pid;
	int go, says;
};

static struct child start(void)
{
	struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
	int go[2], says[2];
	struct child c;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(says, O_CLOEXEC) < 0)
		return (struct child){.pid = -1};
	c.pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (c.pid == 0) {
		uid_t ids[2] = {0};
		char byte;

		close(go[1]);
		if (read(go[0], &byte, 1) != 0)
			_exit(1);
		ids[0] = setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0 ? getuid() : 1;
		ids[1] = getgid();
		if (write(says[1], ids, sizeof(ids)) != sizeof(ids))
			_exit(1);
		_exit(0);
	}
	close(go[0]);
	close(says[1]);
	c.go = go[1];
	c.says = says[0];
	return c;
}

static bool becomes_1000(struct child *c)
{
	uid_t ids[2] = {0};
	bool good;

	close(c->go);
	good = read(c->says, ids, sizeof(ids)) == sizeof(ids) && ids[0] == 1000 && ids[1] == 1000;
	close(c->says);
	waitpid(c->pid, NULL, 0);
	return good;
}

static bool map_has(pid_t pid, const char *file, uint32_t inside, uint32_t outside)
{
	char path[48], text[512];
	uint32_t found;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) > 0 &&
	       fh_id_map_outside(text, inside, &found) && found == outside;
}

static void maps_a_block_as_root(void **state)
{
	struct fh_ids a, b;
	struct fh_err err = {0};
	char why[256];
	struct child c;

	if (!fh_ids_can_block(why, sizeof(why))) {
		print_message("needs a block of ids: %s\n", why);
		skip();
	}
	assert_int_equal(fh_ids_acquire(true, &a, &err), 0);
	assert_int_equal(fh_ids_acquire(false, &b, &err), 0);
	assert_int_equal(a.kind, FH_IDS_BLOCK);
	assert_int_not_equal(a.program_uid, b.program_uid);
	assert_int_equal(a.program_uid, a.init_uid + 1);
	assert_true(fcntl(a.lease_fd, F_GETFD) & FD_CLOEXEC);
	c = start();
	if (fh_ids_map(&a, c.pid, &err) < 0)
		fail_msg("%s", err.message);
	assert_true(map_has(c.pid, "uid_map", 0, a.init_uid) &&
		    map_has(c.pid, "uid_map", 1000, a.program_uid));
	assert_true(map_has(c.pid, "gid_map", 0, a.init_gid) &&
		    map_has(c.pid, "gid_map", 1000, a.program_gid));
	assert_true(becomes_1000(&c));
	fh_ids_release(&a);
	fh_ids_release(&b);
	assert_int_equal(a.lease_fd, -1);
}

/* Runs `job` as an ordinary user in a child, where test macros do not reach; returns its exit status. */
static int as_user(int (*job)(void), bool with_subids)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		const char *files[] = {"subuid", "subgid", "passwd"};
		const char *texts[] = {"4242:300000:1000\n", "ada:400000:500\n", passwd_text};
		char path[96], target[32];

		if (with_subids &&
		    (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0))
			_exit(90);
		for (int i = 0; with_subids && i < 3; i++) {
			snprintf(path, sizeof(path), "%s/%s", tmp, files[i]);
			snprintf(target, sizeof(target), "/etc/%s", files[i]);
			int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

			if (fd < 0 || fh_write_all(fd, texts[i], strlen(texts[i])) < 0 || close(fd) < 0 ||
			    mount(path, target, NULL, MS_BIND, NULL) < 0)
				_exit(91);
		}
		unsetenv("XDG_RUNTIME_DIR");
		/* Dumpable again, as a program started by that user would be. */
		if (setresgid(4242, 4242, 4242) < 0 || setresuid(4242, 4242, 4242) < 0 ||
		    prctl(PR_SET_DUMPABLE, 1) < 0)
			_exit(92);
		_exit(job());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int map_own_id(void)
{
	struct fh_ids ids;
	struct fh_err err = {0};
	struct child c;

	if (fh_ids_can_block(NULL, 0))
		return 1;
	if (fh_ids_can_subid(NULL, 0))
		return 77;
	if (fh_ids_acquire(false, &ids, &err) < 0)
		return geteuid() == 0 && err.kind == FH_ERR_UNSUPPORTED && err.fix[0] ? 0 : 1; /* never root's own id */
	if (ids.kind != FH_IDS_CALLER || ids.program_uid != geteuid() || ids.lease_fd != -1)
		return 2;
	c = start();
	if (c.pid < 0)
		return 77;
	if (fh_ids_map(&ids, c.pid, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 3;
	}
	if (!map_has(c.pid, "uid_map", 1000, geteuid()) || map_has(c.pid, "uid_map", 0, geteuid()))
		return 4;
	return becomes_1000(&c) ? 0 : 5;
}

static void maps_only_the_caller_without_sub_ids(void **state)
{
	int rc = can_become_user() ? as_user(map_own_id, false) : map_own_id();

	if (rc == 77) {
		print_message("needs user namespaces for an ordinary user, and one without sub-ids\n");
		skip();
	}
	assert_int_equal(rc, 0);
}

static int map_sub_ids(void)
{
	struct fh_ids ids, own;
	struct fh_err err = {0};
	struct child c;
	char why[256];

	if (!fh_ids_can_subid(why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		return strstr(why, "uidmap") ? 77 : 1;
	}
	if (fh_ids_acquire(false, &ids, &err) < 0 || ids.kind != FH_IDS_SUBID)
		return 2;
	if (ids.init_uid < 300000 || ids.program_uid >= 300500 || ids.program_uid != ids.init_uid + 1 ||
	    ids.init_gid < 400000 || ids.program_gid >= 400500)
		return 3;
	c = start();
	if (fh_ids_map(&ids, c.pid, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 4;
	}
	if (!map_has(c.pid, "uid_map", 1000, ids.program_uid) ||
	    !map_has(c.pid, "gid_map", 0, ids.init_gid) || !becomes_1000(&c))
		return 5;
	/* The caller's own id for the program, a sub-id for init. */
	if (fh_ids_acquire(true, &own, &err) < 0 || own.program_uid != geteuid() || own.init_uid < 300000)
		return 6;
	c = start();
	if (fh_ids_map(&own, c.pid, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 7;
	}
	if (!map_has(c.pid, "uid_map", 1000, geteuid()) || !becomes_1000(&c))
		return 8;
	/* What the helper says reaches the caller. */
	ids.program_uid = 1;
	c = start();
	if (fh_ids_map(&ids, c.pid, &err) == 0 || !strstr(err.message, "newuidmap"))
		return 9;
	return becomes_1000(&c) ? 10 : 0;
}

static void maps_sub_ids_through_the_helpers(void **state)
{
	int rc;

	if (!can_become_user()) {
		print_message("needs root, to show other /etc files to a user of its own\n");
		skip();
	}
	if (access("/etc/subuid", F_OK) < 0 || access("/etc/subgid", F_OK) < 0) {
		print_message("needs /etc/subuid and /etc/subgid, to put others over them\n");
		skip();
	}
	rc = as_user(map_sub_ids, true);
	if (rc == 77) {
		print_message("needs newuidmap and newgidmap (package uidmap)\n");
		skip();
	}
	assert_int_equal(rc, 0);
}

static int set_up(void **state)
{
	if (!mkdtemp(tmp) || chmod(tmp, 0755) < 0)
		return -1;
	snprintf(ledger, sizeof(ledger), "%s/ledger", tmp);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const files[] = {"ledger/ids", "subuid", "subgid", "passwd"};
	char path[96];

	for (size_t i = 0; i < FH_ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", tmp, files[i]);
		unlink(path);
	}
	rmdir(ledger);
	return rmdir(tmp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(takes_its_own_range_where_all_ids_are_there),
	    cmocka_unit_test(takes_the_top_half_of_fewer_ids),
	    cmocka_unit_test(has_no_range_where_hardly_any_id_is_mapped),
	    cmocka_unit_test(looks_ids_up_in_a_map),
	    cmocka_unit_test(finds_sub_ids_by_name_and_number),
	    cmocka_unit_test(refuses_sub_ids_of_others_and_rubbish),
	    cmocka_unit_test(gives_a_crowd_distinct_blocks),
	    cmocka_unit_test(hands_out_in_turn),
	    cmocka_unit_test(holds_while_an_inherited_fd_lives),
	    cmocka_unit_test(says_when_all_are_held),
	    cmocka_unit_test(refuses_a_hostile_ledger),
	    cmocka_unit_test(maps_a_block_as_root),
	    cmocka_unit_test(maps_only_the_caller_without_sub_ids),
	    cmocka_unit_test(maps_sub_ids_through_the_helpers),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
