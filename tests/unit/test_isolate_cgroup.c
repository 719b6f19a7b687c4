/* Control groups: where they are (texts of other hosts in, decisions out), and on this host the real thing:
 * limits in force, the out-of-memory kill seen, refused forks counted, kill, removal, and the janitor. */
#include "isolate/cgroup_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"

#define MIB (1ull << 20)

static struct fh_cgroup_host *host;
static struct fh_cgroup_axes axes;

static struct fh_policy policy_of(uint64_t memory, uint64_t pids)
{
	return (struct fh_policy){.memory_bytes = memory, .pids = pids, .cpus_milli = 1000ull * 1024};
}

static struct fh_cgroup *create(uint64_t memory, uint64_t pids)
{
	struct fh_policy p = policy_of(memory, pids);
	struct fh_err err = {0};
	struct fh_cgroup *c = NULL;

	if (fh_cgroup_create(host, &p, 0, &c, &err) < 0)
		fail_msg("%s", err.message);
	return c;
}

static void destroy(struct fh_cgroup *c)
{
	struct fh_err err = {0};

	if (fh_cgroup_destroy(c, 2000, &err) < 0)
		fail_msg("%s", err.message);
}

#define NEED(what, name)                                                                                     \
	do {                                                                                                 \
		if (!(what)) {                                                                               \
			fh_autobuf why;                                                                      \
			fh_buf_init(&why, 4096);                                                             \
			fh_cgroup_host_explain(host, &why);                                                  \
			print_message("needs " name ": %.*s\n", (int)strcspn(fh_buf_str(&why), "\n"),            \
				      fh_buf_str(&why));                  \
			skip();                                                                              \
		}                                                                                            \
	} while (0)

/* A child in the group that waits for a byte and then runs `job`; its exit status is the job's. */
struct child {
	pid_t pid;
	int go;
};

static struct child start(struct fh_cgroup *c, int (*job)(void))
{
	int pipes[2], joined[2], fds[FH_CGROUP_JOIN_MAX];
	size_t n = fh_cgroup_join_fds(c, fds);
	struct clone_args args = {.exit_signal = SIGCHLD};
	struct child child;
	char byte;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(pipe2(joined, O_CLOEXEC), 0);
	if (fh_cgroup_into_fd(c) >= 0) {
		args.flags = CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)fh_cgroup_into_fd(c);
	}
	child.pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		close(pipes[1]);
		for (size_t i = 0; i < n; i++)
			if (write(fds[i], "0", 1) != 1)
				_exit(98);
		if (write(joined[1], "j", 1) != 1)
			_exit(97);
		close(joined[0]);
		close(joined[1]);
		if (read(pipes[0], &byte, 1) != 1)
			_exit(99);
		_exit(job());
	}
	close(pipes[0]);
	close(joined[1]);
	assert_int_equal(read(joined[0], &byte, 1), 1);
	close(joined[0]);
	child.go = pipes[1];
	return child;
}

static void go(struct child *child)
{
	assert_int_equal(write(child->go, "x", 1), 1);
}

static int wait_for(struct child *child)
{
	int status = -1;

	close(child->go);
	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
	return status;
}

static int eat_memory(void)
{
	for (int i = 0; i < 64; i++) {
		char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return 1;
		memset(p, i + 1, MIB);
	}
	return 0;
}

static int eat_some(void)
{
	char *p = mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 1, 8 * MIB);
	for (volatile unsigned i = 0; i < 30000000; i++)
		;
	return 0;
}

/* Exit status: how many forks went well. */
static int fork_many(void)
{
	int born = 0;

	for (int i = 0; i < 12; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			pause();
			_exit(0);
		}
		born += pid > 0;
	}
	return born;
}

static int sleep_long(void)
{
	if (fork() == 0)
		setsid();
	signal(SIGTERM, SIG_IGN);
	sleep(600);
	return 0;
}

/* Until sleep_long has forked; a slow machine takes its time. */
static void await_two(struct fh_cgroup *c)
{
	char procs[64];

	for (int i = 0; i < 500; i++) {
		for (int t = 0; t < (int)host->n_trees; t++)
			if (c->dir[t] >= 0 && fh_group_text(c->dir[t], "cgroup.procs", procs, sizeof(procs)) > 0 &&
			    strchr(procs, '\n') != strrchr(procs, '\n'))
				return;
		usleep(10000);
	}
}

static bool group_exists(const char *paths)
{
	fh_autofree char *copy = strdup(paths);
	char *save = NULL;

	for (char *p = strtok_r(copy, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		if (access(p, F_OK) == 0)
			return true;
	return false;
}

static void makes_limits_that_can_be_read_back(void **state)
{
	struct fh_policy p = policy_of(32 * MIB, 7);
	struct fh_cgroup *c = NULL;
	fh_autobuf paths;
	int t;

	NEED(axes.memory && axes.pids, "the memory and pids controllers");
	p.cpus_milli = 250;
	assert_int_equal(fh_cgroup_create(host, &p, 2, &c, NULL), 0);
	t = host->at[FH_CTL_MEMORY];
	assert_int_equal(fh_group_number(c->dir[t],
					 host->trees[t].version == 2 ? "memory.max" : "memory.limit_in_bytes",
					 0),
			 32 * MIB);
	if (host->trees[t].version == 1)
		assert_int_equal(fh_group_number(c->dir[t], "memory.memsw.limit_in_bytes", 32 * MIB),
				 32 * MIB);
	else
		assert_int_equal(fh_group_number(c->dir[t], "memory.swap.max", 0), 0);
	assert_int_equal(fh_group_number(c->dir[host->at[FH_CTL_PIDS]], "pids.max", 0), 9);
	if (axes.cpu_rate) {
		t = host->at[FH_CTL_CPU];
		assert_int_equal(fh_group_number(c->dir[t],
						 host->trees[t].version == 2 ? "cpu.max" : "cpu.cfs_quota_us",
						 0),
				 25000);
	}
	fh_buf_init(&paths, 4096);
	fh_cgroup_describe(c, &paths);
	assert_true(group_exists(fh_buf_str(&paths)));
	destroy(c);
	assert_false(group_exists(fh_buf_str(&paths)));
}

static void makes_no_cpu_group_it_does_not_need(void **state)
{
	struct fh_cgroup *c;
	int t = host->at[FH_CTL_CPU];

	NEED(t != FH_TREE_NONE && host->trees[t].version == 1, "a v1 cpu controller");
	c = create(32 * MIB, 7);
	assert_int_equal(c->dir[t], -1);
	destroy(c);
}

static void counts_what_a_child_used(void **state)
{
	struct fh_cgroup_usage use;
	struct fh_cgroup *c;
	struct child child;
	uint64_t cpu_us;

	NEED(axes.memory && axes.pids && axes.cpu_time, "memory, pids and processor time");
	c = create(64 * MIB, 8);
	child = start(c, eat_some);
	go(&child);
	assert_int_equal(wait_for(&child), 0);
	fh_cgroup_read(c, &use);
	assert_int_equal(use.pids, 0);
	assert_true(use.cpu_us > 1000);
	assert_int_equal(fh_cgroup_cpu_us(c, &cpu_us), 0);
	assert_true(cpu_us >= use.cpu_us);
	if (use.memory_peak_bytes)
		assert_true(use.memory_peak_bytes >= 8 * MIB && use.memory_peak_bytes <= 64 * MIB);
	assert_int_equal(use.oom_kills, 0);
	assert_int_equal(use.pids_denied, 0);
	destroy(c);
}

/* For a process that was not made for this group. */
static void moves_a_process_from_outside(void **state)
{
	struct fh_cgroup_usage use;
	struct fh_err err = {0};
	struct fh_cgroup *c;
	int status;
	pid_t pid;

	NEED(axes.pids && axes.kill, "the pids controller and a way to kill");
	c = create(64 * MIB, 8);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	if (fh_cgroup_add_all(c, pid, &err) < 0)
		fail_msg("%s", err.message);
	fh_cgroup_read(c, &use);
	assert_int_equal(use.pids, 1);
	assert_int_equal(fh_cgroup_kill(c), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, SIGKILL);
	destroy(c);
}

static void sees_memory_run_out(void **state)
{
	struct fh_cgroup_usage use;
	struct fh_cgroup *c;
	struct child child;
	struct pollfd watch;
	bool seen = false;

	NEED(axes.memory, "the memory controller");
	c = create(16 * MIB, 8);
	watch = (struct pollfd){.fd = fh_cgroup_oom_fd(c), .events = fh_cgroup_oom_events(c)};
	assert_true(watch.fd >= 0);
	assert_int_equal(poll(&watch, 1, 0), 0);
	assert_false(fh_cgroup_oom_take(c));
	child = start(c, eat_memory);
	go(&child);
	for (int i = 0; i < 100 && !seen; i++)
		if (poll(&watch, 1, 100) > 0)
			seen = fh_cgroup_oom_take(c);
	assert_true(seen);
	assert_int_equal(wait_for(&child), SIGKILL);
	fh_cgroup_read(c, &use);
	assert_true(use.oom_kills >= 1);
	destroy(c);
}

static void counts_refused_forks(void **state)
{
	struct fh_cgroup_usage use;
	struct fh_cgroup *c;
	struct child child;
	int status;

	NEED(axes.pids && axes.kill, "the pids controller and a way to kill");
	c = create(64 * MIB, 5);
	child = start(c, fork_many);
	go(&child);
	status = wait_for(&child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 4);
	fh_cgroup_read(c, &use);
	assert_true(use.pids_denied >= 1);
	assert_int_equal(use.pids, 4);
	assert_int_equal(fh_cgroup_kill(c), 0);
	destroy(c);
}

static void kills_all_that_live_there(void **state)
{
	struct fh_cgroup *c;
	struct child child;

	NEED(axes.kill, "a way to kill");
	c = create(64 * MIB, 8);
	child = start(c, sleep_long);
	go(&child);
	await_two(c);
	assert_int_equal(fh_cgroup_destroy(NULL, 0, NULL), 0);
	assert_int_equal(fh_cgroup_kill(c), 0);
	assert_int_equal(wait_for(&child), SIGKILL);
	destroy(c);
}

static void kills_without_cgroup_kill(void **state)
{
	struct fh_cgroup *c;
	struct child child;

	NEED(axes.pids, "the pids controller");
	c = create(64 * MIB, 8);
	child = start(c, sleep_long);
	go(&child);
	await_two(c);
	/* As on a host without a v2 mount, for which the chase by pids is all there is. */
	assert_int_equal(fh_group_kill_members(c->dir[host->at[FH_CTL_PIDS]], c->name), 2);
	assert_int_equal(wait_for(&child), SIGKILL);
	destroy(c);
}

static void says_when_a_group_stays_busy(void **state)
{
	struct fh_err err = {0};
	struct fh_cgroup *c;
	struct child child;
	fh_autobuf paths;
	uint64_t before;

	NEED(axes.kill || axes.pids, "any control group");
	c = create(64 * MIB, 8);
	fh_buf_init(&paths, 4096);
	fh_cgroup_describe(c, &paths);
	child = start(c, sleep_long);
	before = fh_now_ns();
	assert_int_equal(fh_cgroup_destroy(c, 50, &err), -EBUSY);
	assert_true(fh_now_ns() - before >= 50 * 1000000ull);
	assert_non_null(strstr(err.message, "remove control group"));
	kill(child.pid, SIGKILL);
	wait_for(&child);
	for (char *save = NULL, *p = strtok_r(paths.data, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		for (int i = 0; i < 2000 && rmdir(p) < 0 && errno == EBUSY; i++)
			usleep(1000);
}

/* A supervisor that makes a group with a sleeper in it, tells us its path and ends (`die`) or stays. */
static pid_t other_supervisor(bool die, char paths[4096], int *ret_stay)
{
	int out[2], stay[2];
	pid_t pid;
	ssize_t n;

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(stay, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		struct fh_cgroup_host *own;
		struct fh_policy p = policy_of(64 * MIB, 8);
		struct fh_cgroup *c;
		struct fh_buf text;
		struct child child;
		char byte;

		close(stay[1]);
		if (fh_cgroup_host_open(&own, NULL) < 0 || fh_cgroup_create(own, &p, 0, &c, NULL) < 0)
			_exit(1);
		child = start(c, sleep_long);
		go(&child);
		await_two(c);
		fh_buf_init(&text, 4096);
		fh_cgroup_describe(c, &text);
		if (write(out[1], text.data, text.len) < 0)
			_exit(1);
		close(out[1]);
		if (!die && read(stay[0], &byte, 1) == 0 && fh_cgroup_kill(c) == 0)
			fh_cgroup_destroy(c, 2000, NULL);
		_exit(0);
	}
	close(out[1]);
	close(stay[0]);
	n = read(out[0], paths, 4095);
	paths[n > 0 ? n : 0] = '\0';
	close(out[0]);
	*ret_stay = stay[1];
	return pid;
}

static void cleans_up_after_the_dead_only(void **state)
{
	char dead[4096], alive[4096], foreign[FH_TREE_PATH_MAX + 64];
	int stay, unused, t = host->unified != FH_TREE_NONE ? host->unified : host->at[FH_CTL_PIDS];
	struct fh_cgroup_host *again;
	pid_t pid, gone;

	NEED(axes.kill || axes.pids, "any control group");
	/* A name of our pattern, but of another pid namespace: its pid means nothing here. */
	snprintf(foreign, sizeof(foreign), "%s/fumehood-4194000-1-1-0", host->trees[t].dir);
	assert_int_equal(mkdir(foreign, 0755), 0);
	/* The living one first: each start cleans up. */
	pid = other_supervisor(false, alive, &stay);
	gone = other_supervisor(true, dead, &unused);
	close(unused);
	assert_int_equal(waitpid(gone, NULL, 0), gone);
	assert_true(group_exists(dead));
	assert_true(group_exists(alive));
	/* One start gives it a bounded time; what is left then is for the next one. */
	for (int i = 0; i < 20 && (i == 0 || group_exists(dead)); i++) {
		assert_int_equal(fh_cgroup_host_open(&again, NULL), 0);
		fh_cgroup_host_sweep(again);
		fh_cgroup_host_close(again);
	}
	assert_false(group_exists(dead));
	assert_true(group_exists(alive));
	assert_int_equal(access(foreign, F_OK), 0);
	close(stay);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(group_exists(alive));
	rmdir(foreign);
}

static void says_what_is_missing(void **state)
{
	struct fh_cgroup_axes none;
	struct fh_cgroup_host *h;
	pid_t pid;
	int status;

	if (geteuid() != 0) {
		print_message("needs root, to become an ordinary user\n");
		skip();
	}
	pid = fork();
	if (pid == 0) {
		struct fh_policy p = policy_of(64 * MIB, 8);
		struct fh_cgroup_usage use;
		struct fh_cgroup *c;
		struct fh_buf why;
		uint64_t cpu_us;

		if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
			_exit(1);
		fh_buf_init(&why, 8192);
		if (fh_cgroup_host_open(&h, NULL) < 0 || strcmp(fh_cgroup_host_shape(h), "none") != 0)
			_exit(2);
		fh_cgroup_host_axes(h, &none);
		fh_cgroup_host_explain(h, &why);
		if (none.memory || none.pids || none.cpu_rate || none.cpu_time || none.kill)
			_exit(3);
		if (!strstr(fh_buf_str(&why), "memory: ") || !strstr(fh_buf_str(&why), "; fix: "))
			_exit(4);
		if (fh_cgroup_create(h, &p, 0, &c, NULL) < 0 || fh_cgroup_into_fd(c) != -1 ||
		    fh_cgroup_oom_fd(c) != -1 || fh_cgroup_add(c, getpid(), NULL) < 0 ||
		    fh_cgroup_kill(c) < 0)
			_exit(5);
		fh_cgroup_read(c, &use);
		if (fh_cgroup_cpu_us(c, &cpu_us) < 0 || cpu_us)
			_exit(6);
		_exit(use.cpu_us || use.pids || fh_cgroup_destroy(c, 0, NULL) < 0 ? 7 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == 1) {
		print_message("needs a user namespace with more than one id\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static int open_host(void **state)
{
	struct fh_err err = {0};

	if (fh_cgroup_host_open(&host, &err) < 0) {
		print_message("%s\n", err.message);
		return -1;
	}
	fh_cgroup_host_axes(host, &axes);
	print_message("host: %s, groups below %s\n", fh_cgroup_host_shape(host),
		      host->n_trees ? host->trees[host->n_trees - 1].dir : "nothing");
	return 0;
}

static int close_host(void **state)
{
	fh_cgroup_host_close(host);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(makes_limits_that_can_be_read_back),
	    cmocka_unit_test(makes_no_cpu_group_it_does_not_need),
	    cmocka_unit_test(counts_what_a_child_used),
	    cmocka_unit_test(moves_a_process_from_outside),
	    cmocka_unit_test(sees_memory_run_out),
	    cmocka_unit_test(counts_refused_forks),
	    cmocka_unit_test(kills_all_that_live_there),
	    cmocka_unit_test(kills_without_cgroup_kill),
	    cmocka_unit_test(says_when_a_group_stays_busy),
	    cmocka_unit_test(cleans_up_after_the_dead_only),
	    cmocka_unit_test(says_what_is_missing),
	};
	return cmocka_run_group_tests(tests, open_host, close_host);
}
