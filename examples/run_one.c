/* Runs one program and prints what came of it:
 *
 *     cc run_one.c $(pkg-config --cflags --libs fumehood) -o run_one
 *     ./run_one python3 -c 'print(6 * 7)'
 */
#include <fumehood/fumehood.h>

#include <stdio.h>

static int complain(const struct fh_err *err)
{
	fprintf(stderr, "run_one: %s\n", err->message);
	if (err->fix[0])
		fprintf(stderr, "fix: %s\n", err->fix);
	return 125;
}

static void print(const struct fh_result *r)
{
	printf("verdict: %s", fh_verdict_name(r->verdict));
	if (r->exit_code >= 0)
		printf(", exit code %d", r->exit_code);
	if (r->signal)
		printf(", signal %d", r->signal);
	printf(", %.1f ms, at most %.1f MiB of memory\n", (double)r->wall_us / 1000,
	       (double)r->peak_memory_bytes / (1 << 20));
	if (r->message[0])
		printf("message: %s\n", r->message);
	if (r->out.bytes_total > 0)
		printf("stdout (%llu bytes%s):\n%s\n", (unsigned long long)r->out.bytes_total,
		       r->out.truncated ? ", the middle is missing" : "", r->out.text);
	if (r->err.bytes_total > 0)
		printf("stderr (%llu bytes%s):\n%s\n", (unsigned long long)r->err.bytes_total,
		       r->err.truncated ? ", the middle is missing" : "", r->err.text);
}

int main(int argc, char **argv)
{
	struct fh_err err = {0};
	struct fh_engine *engine = NULL;
	struct fh_policy *policy = NULL;
	struct fh_program *program = NULL;
	struct fh_run *run = NULL;
	struct fh_result *result = NULL;
	int status;

	if (argc < 2) {
		fprintf(stderr, "usage: run_one CMD [ARG...]\n");
		return 125;
	}
	if (fh_engine_open(&engine, &err) < 0 || fh_policy_create(&policy, &err) < 0 ||
	    fh_policy_set(policy, "wall", "10s", &err) < 0 ||
	    fh_policy_set(policy, "memory", "256M", &err) < 0 || fh_program_create(&program, &err) < 0 ||
	    fh_program_set_command(program, (const char *const *)argv + 1, &err) < 0 ||
	    fh_engine_start(engine, policy, program, &run, &err) < 0) {
		status = complain(&err);
	} else {
		fh_run_wait(run);
		result = fh_run_take_result(run);
		print(result);
		status = result->status;
	}
	fh_result_destroy(result);
	fh_run_destroy(run);
	fh_program_destroy(program);
	fh_policy_destroy(policy);
	fh_engine_close(engine);
	return status;
}
