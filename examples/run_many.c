/* Runs eight programs at once from one thread and one poll loop, and prints each result as it comes:
 *
 *     cc run_many.c $(pkg-config --cflags --libs fumehood) -o run_many
 *     ./run_many
 */
#include <fumehood/fumehood.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { RUNS = 8 };

static int start(struct fh_engine *engine, const struct fh_policy *policy, int number, struct fh_run **ret,
		 struct fh_err *err)
{
	char code[160];
	struct fh_program *program = NULL;
	int rc = fh_program_create(&program, err);

	snprintf(code, sizeof(code), "read -r line; echo \"$line, this is number %d\"; exit %d", number,
		 number % 3);
	if (rc == 0)
		rc = fh_program_set_shell(program, code, strlen(code), NULL, err);
	if (rc == 0)
		rc = fh_program_set_stdin(program, "hello\n", strlen("hello\n"), err);
	if (rc == 0)
		rc = fh_engine_start(engine, policy, program, ret, err);
	fh_program_destroy(program); /* the run keeps what it needs */
	return rc;
}

static int tell(struct fh_run *run, int number)
{
	struct fh_result *r = fh_run_take_result(run);
	int as_expected =
	    r->verdict == (number % 3 ? FH_VERDICT_EXIT : FH_VERDICT_OK) && r->exit_code == number % 3;

	printf("%d: %s, exit code %d: %s", number, fh_verdict_name(r->verdict), r->exit_code, r->out.text);
	if (r->message[0])
		printf("%d: %s\n", number, r->message);
	fh_result_destroy(r);
	return as_expected;
}

int main(void)
{
	struct fh_err err = {0};
	struct fh_engine *engine = NULL;
	struct fh_policy *policy = NULL;
	struct fh_run *runs[RUNS] = {NULL};
	struct pollfd fds[RUNS];
	int started = 0, living, good = 0;

	if (fh_engine_open(&engine, &err) < 0 || fh_policy_create(&policy, &err) < 0)
		goto out;
	for (; started < RUNS; started++) {
		if (start(engine, policy, started, &runs[started], &err) < 0)
			break;
		fds[started] = (struct pollfd){.fd = fh_run_fd(runs[started]), .events = POLLIN};
	}
	for (living = started; living > 0;) {
		if (poll(fds, (nfds_t)started, -1) < 0)
			continue; /* a signal */
		for (int i = 0; i < started; i++) {
			if (!fds[i].revents || !fh_run_step(runs[i]))
				continue;
			good += tell(runs[i], i);
			fds[i].fd = -1; /* poll passes over it */
			living--;
		}
	}
out:
	if (err.code)
		fprintf(stderr, "run_many: %s\n%s\n", err.message, err.fix);
	for (int i = 0; i < RUNS; i++)
		fh_run_destroy(runs[i]);
	fh_policy_destroy(policy);
	fh_engine_close(engine);
	return good == RUNS ? 0 : 1;
}
