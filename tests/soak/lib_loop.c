/* Runs many programs in one process, of every kind of end, four at a time:
 *
 *     lib_loop LEVEL RUNS     prints [{...}, {...}]: what the process held after a fifth of them, and at the end
 *
 * For tests/soak/test_soak.py. An end that is told as another, or that cannot be started, is an error. */
#include <fumehood/fumehood.h>

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_A_TIME = 4, CANCEL_ROUND = 3 };

static const struct kind {
	const char *text;
	enum fh_verdict verdict;
} kinds[] = {
	{"true", FH_VERDICT_OK},
	{"cat; exit 3", FH_VERDICT_EXIT},
	{"kill -9 $$", FH_VERDICT_SIGNAL},
	{"while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done", FH_VERDICT_OUTPUT},
	{"sleep 99 & setsid sleep 98 & echo left", FH_VERDICT_OK},
	{"echo x >made; mkdir d; cat made", FH_VERDICT_OK},
	{"sleep 9", FH_VERDICT_WALL},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct held {
	long rss_kb;
	int fds, children;
};

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static struct held held_now(void)
{
	struct held h = {.fds = entries("/proc/self/fd")};
	FILE *status = fopen("/proc/self/status", "re"), *children = fopen("/proc/thread-self/children", "re");
	char line[256];
	int pid;

	while (status && fgets(line, sizeof(line), status))
		(void)sscanf(line, "VmRSS: %ld", &h.rss_kb);
	while (children && fscanf(children, "%d", &pid) == 1)
		h.children++;
	if (status)
		fclose(status);
	if (children)
		fclose(children);
	return h;
}

static int start(struct fh_engine *engine, struct fh_policy *policy, int number, struct fh_run **ret,
		 struct fh_err *err)
{
	const struct kind *kind = &kinds[number % KINDS];
	struct fh_program *program = NULL;
	int rc = fh_program_create(&program, err);

	rc = rc ? rc : fh_program_set_shell(program, kind->text, strlen(kind->text), NULL, err);
	rc = rc ? rc : fh_program_set_stdin(program, "typed\n", 6, err);
	if (rc == 0 && number % 2)
		rc = fh_program_want_receipt(program, err);
	rc = rc ? rc : fh_policy_set(policy, "wall", kind->verdict == FH_VERDICT_WALL ? "60ms" : "30s", err);
	rc = rc ? rc : fh_engine_start(engine, policy, program, ret, err);
	fh_program_destroy(program);
	return rc;
}

/* 0 when it ended as it should; also takes the result in words and as JSON, which is memory, too. */
static int tell(struct fh_run *run, int number)
{
	struct fh_err err = {0};
	struct fh_result *r = fh_run_take_result(run);
	char *json = NULL, *text = NULL;
	int rc = fh_result_json(r, 0, &json, &err);

	rc = rc ? rc : fh_result_text(r, "observation", 4096, &text, &err);
	if (rc == 0 && r->verdict != kinds[number % KINDS].verdict) {
		fprintf(stderr, "run %d: %s: %s\n", number, fh_verdict_name(r->verdict), r->message);
		rc = 1;
	}
	free(json);
	free(text);
	fh_result_destroy(r);
	return rc;
}

/* A batch of AT_A_TIME runs from `number` on, in one poll loop; now and then one that is destroyed while it runs. */
static int batch(struct fh_engine *engine, struct fh_policy *policy, int number, struct fh_err *err)
{
	struct fh_run *runs[AT_A_TIME] = {NULL};
	struct pollfd fds[AT_A_TIME];
	int rc = 0, living = 0;

	for (int i = 0; i < AT_A_TIME && rc == 0; i++) {
		rc = start(engine, policy, number + i, &runs[i], err);
		fds[i] = (struct pollfd){.fd = rc ? -1 : fh_run_fd(runs[i]), .events = POLLIN};
		living += rc == 0;
	}
	if (rc == 0 && number / AT_A_TIME % CANCEL_ROUND == 0) {
		fh_run_destroy(runs[0]);
		runs[0] = NULL;
		fds[0].fd = -1;
		living--;
	}
	while (rc == 0 && living > 0) {
		if (poll(fds, AT_A_TIME, -1) < 0)
			continue;
		for (int i = 0; i < AT_A_TIME; i++) {
			if (fds[i].fd < 0 || !fds[i].revents || !fh_run_step(runs[i]))
				continue;
			rc |= tell(runs[i], number + i);
			fds[i].fd = -1;
			living--;
		}
	}
	for (int i = 0; i < AT_A_TIME; i++)
		fh_run_destroy(runs[i]);
	return rc;
}

int main(int argc, char **argv)
{
	struct fh_err err = {0};
	struct fh_engine *engine = NULL;
	struct fh_policy *policy = NULL;
	struct held early = {0}, late;
	int runs = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0, done = 0;
	int rc = runs >= 5 * AT_A_TIME ? 0 : -1;

	rc = rc ? rc : fh_engine_open(&engine, &err);
	rc = rc ? rc : fh_policy_create(&policy, &err);
	rc = rc ? rc : fh_policy_set(policy, "level", argv[1], &err);
	rc = rc ? rc : fh_policy_set(policy, "output_stop", "100K", &err);
	for (; rc == 0 && done < runs; done += AT_A_TIME) {
		rc = batch(engine, policy, done, &err);
		if (!early.rss_kb && done >= runs / 5)
			early = held_now();
	}
	late = held_now();
	fh_policy_destroy(policy);
	fh_engine_close(engine);
	if (rc != 0) {
		fprintf(stderr, "lib_loop: after %d of %d runs: %s\n", done, runs, err.message);
		return 1;
	}
	printf("[{\"rss_kb\":%ld,\"fds\":%d,\"children\":%d},{\"rss_kb\":%ld,\"fds\":%d,\"children\":%d,\"runs\":%d}]\n",
	       early.rss_kb, early.fds, early.children, late.rss_kb, late.fds, late.children, done);
	return 0;
}
