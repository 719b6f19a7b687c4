/* Host programs of the library, each with a habit that could disturb runs or be disturbed by them:
 *
 *     lib_host CASE     prints "ok" and ends with 0, or says what went wrong and ends with 1
 */
#include <fumehood/fumehood.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, RUNS_EACH = 25 };

static struct fh_engine *engine;
static struct fh_policy *policy;

#define CHECK(what)                                                                                          \
	do {                                                                                                 \
		if (!(what)) {                                                                               \
			printf("%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #what, err.message);          \
			return 1;                                                                            \
		}                                                                                            \
	} while (0)

static int open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A shell program's run to its end. NULL, and the reason, when it could not be started. */
static struct fh_result *run_shell(const char *text, const char *input, struct fh_err *err)
{
	struct fh_program *program = NULL;
	struct fh_run *run = NULL;
	struct fh_result *result = NULL;
	int rc = fh_program_create(&program, err);

	rc = rc ? rc : fh_program_set_shell(program, text, strlen(text), NULL, err);
	if (rc == 0 && input)
		rc = fh_program_set_stdin(program, input, strlen(input), err);
	rc = rc ? rc : fh_engine_start(engine, policy, program, &run, err);
	fh_program_destroy(program);
	if (rc == 0) {
		fh_run_wait(run);
		result = fh_run_take_result(run);
	}
	fh_run_destroy(run);
	return result;
}

static int echoes(void)
{
	struct fh_err err = {0};
	struct fh_result *r = run_shell("read -r x; echo $x; exit 7", "word\n", &err);

	CHECK(r);
	CHECK(r->verdict == FH_VERDICT_EXIT && r->exit_code == 7);
	CHECK(strcmp(r->out.text, "word\n") == 0);
	fh_result_destroy(r);
	return 0;
}

static void *many_runs(void *bad)
{
	for (int i = 0; i < RUNS_EACH; i++)
		if (echoes() != 0)
			__atomic_add_fetch((int *)bad, 1, __ATOMIC_RELAXED);
	return NULL;
}

static int threads(void)
{
	struct fh_err err = {0};
	pthread_t ids[THREADS];
	int bad = 0, before;

	CHECK(echoes() == 0);
	before = open_fds();
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&ids[i], NULL, many_runs, &bad) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	CHECK(bad == 0);
	CHECK(open_fds() == before);
	return 0;
}

/* Everything a reader of nothing could raise: a program that closes its input while we feed it, and an output
 * that nobody reads. SIGPIPE is at its default, which would end us. */
static int sigpipe(void)
{
	struct fh_err err = {0};
	struct fh_program *program = NULL;
	struct fh_run *run = NULL;
	struct fh_result *r;
	size_t n = 4 << 20;
	char *much = malloc(n + 1);
	int fds[2];
	sigset_t pending, mask, before;

	signal(SIGPIPE, SIG_DFL);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	memset(much, 'x', n);
	much[n] = '\0';
	r = run_shell("exec 0<&-; sleep 0.1; echo done", much, &err);
	CHECK(r && r->verdict == FH_VERDICT_OK && strcmp(r->out.text, "done\n") == 0);
	fh_result_destroy(r);
	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	CHECK(fh_program_create(&program, &err) == 0);
	CHECK(fh_program_set_shell(program, "while :; do echo line; done", 27, NULL, &err) == 0);
	CHECK(fh_program_pass_output(program, fds[1], -1, &err) == 0);
	close(fds[0]);
	close(fds[1]);
	CHECK(fh_engine_start(engine, policy, program, &run, &err) == 0);
	fh_run_wait(run);
	r = fh_run_take_result(run);
	CHECK(r && r->verdict == FH_VERDICT_CANCELLED);
	fh_result_destroy(r);
	fh_run_destroy(run);
	fh_program_destroy(program);
	sigpending(&pending);
	CHECK(!sigismember(&pending, SIGPIPE));
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (int sig = 1; sig < NSIG; sig++)
		CHECK(sigismember(&mask, sig) == sigismember(&before, sig));
	free(much);
	return 0;
}

static volatile sig_atomic_t children_seen;

static void take_any_child(int sig)
{
	int error = errno;

	children_seen++;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		children_seen++;
	errno = error;
}

/* Hosts that ignore SIGCHLD, and hosts that wait for any child. */
static int sigchld(void)
{
	struct fh_err err = {0};

	signal(SIGCHLD, SIG_IGN);
	CHECK(echoes() == 0);
	signal(SIGCHLD, take_any_child);
	for (int i = 0; i < 5; i++)
		CHECK(echoes() == 0);
	CHECK(children_seen == 0);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	return 0;
}

/* Handlers and masks of the host do not reach the program. */
static int signals(void)
{
	struct fh_err err = {0};
	sigset_t all;
	struct fh_result *r;

	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	r = run_shell("grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status; kill -TERM $$", NULL, &err);
	CHECK(r && r->verdict == FH_VERDICT_SIGNAL && r->signal == SIGTERM);
	CHECK(strstr(r->out.text, "SigBlk:\t0000000000000000"));
	CHECK(strstr(r->out.text, "SigIgn:\t0000000000000000"));
	fh_result_destroy(r);
	return 0;
}

/* A host without standard streams: its pipes get their numbers. */
static int no_streams(void)
{
	int rc, say = fcntl(1, F_DUPFD_CLOEXEC, 100);

	close(0);
	close(1);
	close(2);
	rc = echoes();
	dup2(say, 1);
	return rc;
}

/* One queue for many runs, registered once: the descriptor stays the same and is gone with the run. */
static int epoll(void)
{
	struct fh_err err = {0};
	struct fh_program *program = NULL;
	struct fh_run *runs[3];
	struct epoll_event event;
	int queue = epoll_create1(EPOLL_CLOEXEC), living = 3, before;

	CHECK(fh_program_create(&program, &err) == 0);
	CHECK(fh_program_set_shell(program, "echo hello; sleep 0.05; exit 0", 30, NULL, &err) == 0);
	before = open_fds();
	for (int i = 0; i < 3; i++) {
		CHECK(fh_engine_start(engine, policy, program, &runs[i], &err) == 0);
		event = (struct epoll_event){.events = EPOLLIN, .data.u32 = (uint32_t)i};
		CHECK(epoll_ctl(queue, EPOLL_CTL_ADD, fh_run_fd(runs[i]), &event) == 0);
	}
	while (living > 0) {
		struct fh_result *r;
		CHECK(epoll_wait(queue, &event, 1, 10000) == 1);
		if (!fh_run_step(runs[event.data.u32]))
			continue;
		r = fh_run_take_result(runs[event.data.u32]);
		CHECK(r && r->verdict == FH_VERDICT_OK && strcmp(r->out.text, "hello\n") == 0);
		CHECK(!fh_run_take_result(runs[event.data.u32]));
		fh_result_destroy(r);
		fh_run_destroy(runs[event.data.u32]);
		living--;
	}
	CHECK(epoll_wait(queue, &event, 1, 0) == 0);
	CHECK(open_fds() == before);
	fh_program_destroy(program);
	close(queue);
	return 0;
}

static int cancel(void)
{
	struct fh_err err = {0};
	struct fh_program *program = NULL;
	struct fh_run *run = NULL;
	struct fh_result *r;
	const char *argv[] = {"sleep", "100", NULL};

	CHECK(fh_program_create(&program, &err) == 0);
	CHECK(fh_program_set_command(program, argv, &err) == 0);
	CHECK(fh_engine_start(engine, policy, program, &run, &err) == 0);
	CHECK(!fh_run_take_result(run));
	fh_run_cancel(run, "enough");
	fh_run_wait(run);
	r = fh_run_take_result(run);
	CHECK(r && r->verdict == FH_VERDICT_CANCELLED && strstr(r->message, "enough"));
	fh_result_destroy(r);
	fh_run_destroy(run);
	/* Destroyed while it runs, and its program before it. */
	CHECK(fh_engine_start(engine, policy, program, &run, &err) == 0);
	fh_program_destroy(program);
	fh_run_destroy(run);
	return 0;
}

/* Formats of a result, a policy that is told to allow weaker ones, a Python program, order, receipt, files.
 */
static int everything(void)
{
	static const char text[] = "import sys\nprint(sys.argv[1], input())\nprint('oops', file=sys.stderr)\n"
				   "open('made', 'w').write('x')\nsys.exit(4)\n";
	struct fh_err err = {0};
	struct fh_program *program = NULL;
	struct fh_run *run = NULL;
	struct fh_result *r;
	const char *args[] = {"argument", NULL};
	char *json = NULL, *observation = NULL, saved[64] = "";
	FILE *file = tmpfile();
	int fds[2];

	CHECK(file && pipe2(fds, O_CLOEXEC) == 0);
	CHECK(fh_program_create(&program, &err) == 0);
	CHECK(fh_program_set_python(program, policy, NULL, text, sizeof(text) - 1, args, &err) == 0);
	CHECK(fh_program_set_stdin_fd(program, fds[0], &err) == 0);
	CHECK(fh_program_save_output(program, fileno(file), -1, 1 << 20, &err) == 0);
	CHECK(fh_program_add_env(program, "WHO=me", &err) == 0);
	CHECK(fh_program_keep_order(program, &err) == 0);
	CHECK(fh_program_want_receipt(program, &err) == 0);
	close(fds[0]);
	CHECK(write(fds[1], "typed\n", 6) == 6);
	close(fds[1]);
	CHECK(fh_engine_start(engine, policy, program, &run, &err) == 0);
	fh_run_wait(run);
	r = fh_run_take_result(run);
	CHECK(r && r->verdict == FH_VERDICT_EXIT && r->exit_code == 4);
	CHECK(strcmp(r->out.text, "argument typed\n") == 0 && strcmp(r->err.text, "oops\n") == 0);
	CHECK(r->n_chunks == 2 && r->has_receipt && r->receipt.interpreter[0]);
	CHECK(pread(fileno(file), saved, sizeof(saved) - 1, 0) == 15 &&
	      strcmp(saved, "argument typed\n") == 0);
	CHECK(fh_result_json(r, FH_JSON_BASE64, &json, &err) == 0 &&
	      strstr(json, "\"data_base64\":\"b29wcwo=\""));
	CHECK(fh_result_json(r, 8, &json, &err) == -EINVAL);
	CHECK(fh_result_text(r, "observation", 0, &observation, &err) == 0 &&
	      strstr(observation, "exit_code=4"));
	CHECK(fh_result_text(r, "poem", 0, &observation, &err) == -EINVAL);
	free(json);
	free(observation);
	fh_result_destroy(r);
	fh_run_destroy(run);
	fh_program_destroy(program);
	fclose(file);
	return 0;
}

static int doctor(void)
{
	struct fh_err err = {0};
	char *json = NULL;
	int before = open_fds();

	CHECK(fh_doctor_json(&json, &err) == 0);
	CHECK(strstr(json, "\"levels\":["));
	CHECK(open_fds() == before);
	free(json);
	return 0;
}

static const struct {
	const char *name;
	int (*body)(void);
} cases[] = {
    {"threads", threads}, {"sigpipe", sigpipe},       {"sigchld", sigchld},
    {"signals", signals}, {"no_streams", no_streams}, {"epoll", epoll},
    {"cancel", cancel},   {"everything", everything}, {"doctor", doctor},
};

int main(int argc, char **argv)
{
	struct fh_err err = {0};
	int rc;

	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		CHECK(fh_engine_open(&engine, &err) == 0);
		CHECK(fh_policy_create(&policy, &err) == 0);
		if (getenv("LIB_HOST_LEVEL"))
			CHECK(fh_policy_set(policy, "level", getenv("LIB_HOST_LEVEL"), &err) == 0);
		rc = cases[i].body();
		fh_policy_destroy(policy);
		fh_engine_close(engine);
		if (rc == 0)
			printf("ok\n");
		return rc;
	}
	fprintf(stderr, "usage: lib_host CASE\n");
	return 125;
}
