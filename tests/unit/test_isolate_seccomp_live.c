/* The system call filter installed for real, each time in a child: what honest programs do works, what is
 * refused is refused by the kernel, too. Needs no privilege. Forbidden calls are given arguments that would
 * do no harm and fail with another error if they came through, since the tests may run as root. */
#include "filter_eval.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

enum { CHILD_SECONDS_MAX = 60 };

static int install(const struct fh_filter *f)
{
	struct sock_fprog program = {.len = (unsigned short)f->n, .filter = f->insns};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) < 0 ? -errno
												      : 0;
}

/* Runs `body` in a child under a filter; returns the wait status. `body` returns how many of its checks
 * failed. */
static int under_filter(int which, int (*body)(void))
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(CHILD_SECONDS_MAX);
		if (install(&filters[which]) < 0)
			_exit(99);
		_exit(body());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void passes_at_both_levels(int (*body)(void))
{
	assert_int_equal(under_filter(LEVEL2, body), 0);
	assert_int_equal(under_filter(LEVEL1, body), 0);
}

/* In a child cmocka cannot be asked: say what was wrong, count it. */
static int expect(const char *what, long got, long want)
{
	if (got == want)
		return 0;
	fprintf(stderr, "  %s: %ld, not %ld\n", what, got, want);
	return 1;
}

/* A call by number: what it returned, or its negative errno. */
static long call(long nr, long a, long b, long c, long d, long e)
{
	long got = syscall(nr, a, b, c, d, e, 0);

	return got < 0 ? -errno : got;
}

/* --- What must work. */

static void *thread_body(void *arg)
{
	*(int *)arg = 7;
	return arg;
}

static int makes_threads(void)
{
	pthread_t t;
	int value = 0;

	if (pthread_create(&t, NULL, thread_body, &value) != 0)
		return 1;
	pthread_join(t, NULL);
	return expect("a thread", value, 7);
}

static void threads_work(void **state)
{
	passes_at_both_levels(makes_threads);
}

static int runs_programs(void)
{
	int failed = expect("/bin/true", system("/bin/true"), 0);

	/* what is executed is filtered as before, and cannot gain privileges */
	failed += expect("a shell", system("grep -q '^Seccomp:[[:space:]]*2$' /proc/self/status"), 0);
	failed += expect("a pipeline", system("echo a b | wc -w | grep -q 2"), 0);
	return failed;
}

static void fork_and_exec_work(void **state)
{
	passes_at_both_levels(runs_programs);
}

static int runs_python(void)
{
	static const char script[] =
	    "import asyncio, fcntl, multiprocessing, os, resource, shutil, signal, sqlite3, ssl, socket, "
	    "subprocess, sys\n"
	    "import tempfile, threading\n"
	    "t = threading.Thread(target=abs, args=(1,)); t.start(); t.join()\n"
	    "assert subprocess.run(['/bin/echo', 'x'], capture_output=True).stdout == b'x\\n'\n"
	    "multiprocessing.set_start_method('fork')\n"
	    "with multiprocessing.Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]\n"
	    "a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'\n"
	    "ssl.create_default_context(); sqlite3.connect(':memory:').execute('create table a(b)')\n"
	    "with tempfile.TemporaryDirectory() as d:\n"
	    "    open(d + '/f', 'w').close(); os.chmod(d + '/f', 0o755); shutil.copy2(d + '/f', d + '/g')\n"
	    "    os.mkfifo(d + '/p'); os.symlink('f', d + '/l'); os.rename(d + '/f', d + '/h')\n"
	    "async def main():\n"
	    "    p = await asyncio.create_subprocess_exec('/bin/true'); assert await p.wait() == 0\n"
	    "asyncio.run(main())\n"
	    "resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.sched_setaffinity(0, "
	    "os.sched_getaffinity(0))\n"
	    "os.nice(1); os.memfd_create('m'); os.urandom(8); signal.setitimer(signal.ITIMER_REAL, 0)\n";

	execlp("python3", "python3", "-I", "-c", script, (char *)NULL);
	return 98;
}

static void python_works(void **state)
{
	if (system("python3 -c '' >/dev/null 2>&1") != 0) {
		print_message("SKIP python_works: there is no python3 here\n");
		skip();
	}
	passes_at_both_levels(runs_python);
}

/* --- What must not. */

static const struct {
	const char *what;
	long nr, args[5];
	int error;
} refused[] = {
    {"mount", SYS_mount, {0}, EPERM},
    {"umount2", SYS_umount2, {0}, EPERM},
    {"pivot_root", SYS_pivot_root, {0}, EPERM},
    {"chroot", SYS_chroot, {0}, EPERM},
    {"open_tree", SYS_open_tree, {-1}, EPERM},
    {"fsopen", SYS_fsopen, {0}, EPERM},
    {"unshare", SYS_unshare, {0}, EPERM},
    {"setns", SYS_setns, {-1}, EPERM},
    {"ptrace", SYS_ptrace, {-1}, EPERM},
    {"process_vm_readv", SYS_process_vm_readv, {0}, EPERM},
    {"pidfd_getfd", SYS_pidfd_getfd, {-1}, EPERM},
    {"kcmp", SYS_kcmp, {-1}, EPERM},
    {"bpf", SYS_bpf, {-1}, EPERM},
    {"perf_event_open", SYS_perf_event_open, {0}, EPERM},
    {"open_by_handle_at", SYS_open_by_handle_at, {-1}, EPERM},
    {"init_module", SYS_init_module, {0}, EPERM},
    {"kexec_load", SYS_kexec_load, {0, 99999}, EPERM},
    {"reboot", SYS_reboot, {0}, EPERM},
    {"swapon", SYS_swapon, {0}, EPERM},
    {"acct", SYS_acct, {1}, EPERM},
    {"quotactl", SYS_quotactl, {-1}, EPERM},
    {"syslog", SYS_syslog, {-1}, EPERM},
    {"sethostname", SYS_sethostname, {0, -1}, EPERM},
    {"settimeofday", SYS_settimeofday, {1, 1}, EPERM},
    {"clock_settime", SYS_clock_settime, {-1, 0}, EPERM},
    {"adjtimex", SYS_adjtimex, {0}, EPERM},
    {"fanotify_init", SYS_fanotify_init, {-1}, EPERM},
    {"clone3", SYS_clone3, {0, -1}, ENOSYS},
    {"openat2", SYS_openat2, {AT_FDCWD, 0, 0, 1}, ENOSYS},
    {"io_uring_setup", SYS_io_uring_setup, {0, 0}, ENOSYS},
    {"userfaultfd", SYS_userfaultfd, {-1}, ENOSYS},
    {"memfd_secret", SYS_memfd_secret, {-1}, ENOSYS},
    {"keyctl", SYS_keyctl, {-1}, ENOSYS},
    {"add_key", SYS_add_key, {0}, ENOSYS},
    {"request_key", SYS_request_key, {0}, ENOSYS},
    {"io_setup", SYS_io_setup, {0, 0}, ENOSYS},
    {"vmsplice", SYS_vmsplice, {-1}, ENOSYS},
    {"statmount", 457, {0}, ENOSYS},
    {"futex_wait", 455, {0}, ENOSYS},
    {"a call of tomorrow", 500, {0}, ENOSYS},
    {"clone NEWUSER", SYS_clone, {CLONE_NEWUSER | CLONE_VFORK | SIGCHLD}, EPERM},
    {"clone NEWUSER, upper bits", SYS_clone, {(long)0xffffffff00000000 | CLONE_NEWUSER | SIGCHLD}, EPERM},
    {"clone PARENT", SYS_clone, {CLONE_PARENT | SIGCHLD}, EPERM},
    {"socket ALG", SYS_socket, {AF_ALG, SOCK_SEQPACKET, 0}, EAFNOSUPPORT},
    {"socket ALG, upper bits", SYS_socket, {(1L << 32) | AF_ALG, SOCK_SEQPACKET, 0}, EAFNOSUPPORT},
    {"socket VSOCK", SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}, EAFNOSUPPORT},
    {"socket PACKET", SYS_socket, {AF_PACKET, SOCK_RAW, 0}, EAFNOSUPPORT},
    {"socket RAW", SYS_socket, {AF_INET, SOCK_RAW, IPPROTO_ICMP}, EAFNOSUPPORT},
    {"socket MPTCP", SYS_socket, {AF_INET, SOCK_STREAM, 262}, EAFNOSUPPORT},
    {"sendto OOB", SYS_sendto, {-1, 0, 0, MSG_OOB}, EPERM},
    {"ioctl TIOCSTI", SYS_ioctl, {-1, 0x5412}, EPERM},
    {"ioctl FIFREEZE", SYS_ioctl, {-1, (long)FIFREEZE}, EPERM},
    {"ioctl SETFLAGS", SYS_ioctl, {-1, FS_IOC_SETFLAGS}, EPERM},
    {"fcntl SETLEASE", SYS_fcntl, {-1, F_SETLEASE, F_RDLCK}, EPERM},
    {"prctl PTRACER", SYS_prctl, {0x59616d61}, EPERM},
    {"prctl SECUREBITS", SYS_prctl, {PR_SET_SECUREBITS, -1}, EPERM},
    {"personality", SYS_personality, {0x0040000}, EPERM},
    {"personality, upper bits", SYS_personality, {(1L << 32) | 0x0040000}, EPERM},
    {"seccomp listener", SYS_seccomp, {1, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0}, EPERM},
    {"sched_setscheduler FIFO", SYS_sched_setscheduler, {0, SCHED_FIFO, 0}, EPERM},
    {"fchmod set-uid", SYS_fchmod, {-1, 04755}, EPERM},
    {"openat set-uid", SYS_openat, {AT_FDCWD, 0, O_CREAT, 04755}, EPERM},
    {"mknodat device", SYS_mknodat, {-1, 0, S_IFCHR | 0600, 0}, EPERM},
};

static int is_refused(void)
{
	int failed = 0;

	for (size_t i = 0; i < FH_ARRAY_LEN(refused); i++) {
		const long *a = refused[i].args;

		failed += expect(refused[i].what, call(refused[i].nr, a[0], a[1], a[2], a[3], a[4]),
				 -refused[i].error);
	}
	return failed;
}

static void forbidden_calls_are_refused(void **state)
{
	passes_at_both_levels(is_refused);
}

/* The probe shows something only if the same calls are answered otherwise without a filter. */
static void without_a_filter_they_are_not(void **state)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		int passed = 0;

		passed += call(SYS_unshare, 0, 0, 0, 0, 0) == 0;
		passed += call(SYS_setns, -1, 0, 0, 0, 0) == -EBADF;
		passed += call(SYS_sendto, -1, 0, 0, MSG_OOB, 0) == -EBADF;
		passed += call(SYS_ioctl, -1, 0x5412, 0, 0, 0) == -EBADF;
		passed += call(SYS_fcntl, -1, F_SETLEASE, F_RDLCK, 0, 0) == -EBADF;
		passed += call(SYS_fchmod, -1, 04755, 0, 0, 0) == -EBADF;
		passed += call(SYS_openat, AT_FDCWD, 0, O_CREAT, 04755, 0) == -EFAULT;
		_exit(passed);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != 7)
		print_message(
		    "  %d of 7 probes come through here without our filter: the host has one of its own\n",
		    WEXITSTATUS(status));
	assert_in_range(WEXITSTATUS(status), 4, 7);
}

/* Allowed siblings of what is refused. */
static int honest_calls_pass(void)
{
	char path[] = "/tmp/fumehood-test-XXXXXX";
	int fd = mkstemp(path), failed = 0;

	failed += expect("mkstemp", fd >= 0, 1);
	failed += expect("fchmod 755", fchmod(fd, 0755), 0);
	failed += expect("chmod 1644", chmod(path, 01644), 0);
	failed += expect("chmod 4755", chmod(path, 04755), -1);
	failed += expect("an ordinary open", close(open(path, O_RDONLY | O_CLOEXEC)), 0);
	failed += expect("unlink", unlink(path), 0);
	failed += expect("mkfifo", mkfifo(path, 0600), 0);
	failed += expect("unlink the fifo", unlink(path), 0);
	failed += expect("sync does nothing", call(SYS_sync, 0, 0, 0, 0, 0), 0);
	failed += expect("a unix socket", close(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), 0);
	failed += expect("prctl name", prctl(PR_SET_NAME, "x", 0, 0, 0), 0);
	failed += expect("batch scheduling", sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0}), 0);
	failed += expect(
	    "which actions there are",
	    call(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, (long)&(uint32_t){SECCOMP_RET_ERRNO}, 0, 0), 0);
	return failed;
}

static void their_siblings_pass(void **state)
{
	passes_at_both_levels(honest_calls_pass);
}

static int has_network_and_ipc(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), failed = 0;
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};

	failed += expect("an inet socket", fd >= 0, 1);
	failed += expect("bind", bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
	failed += expect("a netlink socket", close(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0)), 0);
	failed += expect("shmget comes through", call(SYS_shmget, 1, 0, 0, 0, 0) != -ENOSYS, 1);
	failed += expect("inotify", call(SYS_inotify_init1, -1, 0, 0, 0, 0), -EINVAL);
	failed += expect("prlimit64 of any pid", call(SYS_prlimit64, 0x7fffffff, 7, 0, 0, 0), -ESRCH);
	return failed;
}

static int has_neither(void)
{
	int failed = 0;

	failed += expect("an inet socket", call(SYS_socket, AF_INET, SOCK_STREAM, 0, 0, 0), -EAFNOSUPPORT);
	failed += expect("a netlink socket", call(SYS_socket, AF_NETLINK, SOCK_RAW, 0, 0, 0), -EAFNOSUPPORT);
	failed += expect("shmget", call(SYS_shmget, 1, 0, 0, 0, 0), -ENOSYS);
	failed += expect("inotify", call(SYS_inotify_init1, -1, 0, 0, 0, 0), -ENOSYS);
	failed += expect("prlimit64 of any pid", call(SYS_prlimit64, 0x7fffffff, 7, 0, 0, 0), -EPERM);
	failed += expect("renice a whole user", call(SYS_setpriority, 2, 0, 0, 0, 0), -EPERM);
	return failed;
}

static void levels_differ_where_namespaces_matter(void **state)
{
	assert_int_equal(under_filter(LEVEL2, has_network_and_ipc), 0);
	assert_int_equal(under_filter(LEVEL1, has_neither), 0);
}

static int stays_after_a_permissive_one(void)
{
	struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct fh_filter permissive = {all, 1};
	int failed = expect("a second filter", install(&permissive), 0);

	return failed + expect("unshare", call(SYS_unshare, 0, 0, 0, 0, 0), -EPERM);
}

static void it_cannot_be_loosened(void **state)
{
	passes_at_both_levels(stays_after_a_permissive_one);
}

#ifdef __x86_64__
static int enters_by_int80(void)
{
	long nr = 20; /* getpid of i386 */

	__asm__ volatile("int $0x80" : "+a"(nr) : : "memory", "cc");
	return 0;
}

static int calls_x32(void)
{
	syscall(0x40000000 | SYS_getpid);
	return 0;
}

static int calls_x32_without_its_bit(void)
{
	syscall(520); /* execve */
	return 0;
}

static void foreign_abis_are_killed(void **state)
{
	static int (*const bodies[])(void) = {enters_by_int80, calls_x32, calls_x32_without_its_bit};

	for (size_t i = 0; i < FH_ARRAY_LEN(bodies); i++) {
		int status = under_filter(LEVEL2, bodies[i]);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSYS);
	}
}
#endif

/* --- What it costs. */

static double ns_a_call(void)
{
	enum { CALLS = 100000 };
	uint64_t from = fh_now_ns();

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return (double)(fh_now_ns() - from) / CALLS;
}

static void a_call_costs_little(void **state)
{
	double bare = ns_a_call();
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		uint64_t from = fh_now_ns();
		double installed_us, filtered;

		if (install(&filters[LEVEL2]) < 0)
			_exit(99);
		installed_us = (double)(fh_now_ns() - from) / 1000.0;
		filtered = ns_a_call();
		fprintf(stderr, "  installed in %.0f us; getppid takes %.0f ns, %.0f ns without\n",
			installed_us, filtered, bare);
		_exit(filtered < bare + 5000.0 ? 0 : 1); /* catches only a filter that is badly wrong */
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(threads_work),
	    cmocka_unit_test(fork_and_exec_work),
	    cmocka_unit_test(python_works),
	    cmocka_unit_test(forbidden_calls_are_refused),
	    cmocka_unit_test(without_a_filter_they_are_not),
	    cmocka_unit_test(their_siblings_pass),
	    cmocka_unit_test(levels_differ_where_namespaces_matter),
	    cmocka_unit_test(it_cannot_be_loosened),
#ifdef __x86_64__
	    cmocka_unit_test(foreign_abis_are_killed),
#endif
	    cmocka_unit_test(a_call_costs_little),
	};

	return cmocka_run_group_tests(tests, build_filters, free_filters);
}
