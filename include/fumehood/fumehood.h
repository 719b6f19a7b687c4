/* fumehood as a library: run programs that nobody has read yet, and get back what they did.
 *
 *     engine   what this process may use of its host; one is enough, threads may share it
 *     policy   what a run may do and use
 *     program  what to run: a command, its input, its workspace
 *     run      one program under one policy, from start to result
 *
 * Threads. Each object may be used by one thread at a time, and any number of threads may work on different
 * objects. An engine, and a policy or program that is not being changed, may be used by many threads at once.
 * Nothing is global.
 *
 * Signals. The library installs no handler, sends none to the host program and raises no SIGPIPE in it; its
 * children end without SIGCHLD and are not seen by wait() or waitpid(-1). It never prints.
 *
 * Descriptors are close-on-exec from birth; a run holds up to 40 while it lives and none after it was
 * destroyed.
 *
 * Errors. See error.h. What is returned through `ret_...` is untouched on failure. Functions that return
 * nothing cannot fail, and every destroy accepts NULL. Texts that are handed out are freed by free().
 *
 * Cost. A run's first process is a fork of the calling one: with many gigabytes mapped, that copies page
 * tables for milliseconds. A big host program does better to keep a small process for its runs. */
#ifndef FUMEHOOD_FUMEHOOD_H
#define FUMEHOOD_FUMEHOOD_H

#include <stddef.h>
#include <stdint.h>

#include <fumehood/error.h>
#include <fumehood/result.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FUMEHOOD_CHECKED __attribute__((warn_unused_result))
#else
#define FUMEHOOD_CHECKED
#endif

/* "0.1.0". */
const char *fh_version(void);

/* ---- engine
 * -------------------------------------------------------------------------------------------------- */

struct fh_engine;

/* Looks at the control groups of this process and removes what fumehoods that were killed left in them. On a
 * host with cgroup v2 this process may be moved into the group "fumehood-self" below its own, as the kernel
 * demands of whoever makes groups. Costs about a millisecond. */
FUMEHOOD_CHECKED int fh_engine_open(struct fh_engine **ret_engine, struct fh_err *err);
/* Every run of it must be destroyed before. */
void fh_engine_close(struct fh_engine *engine);

/* What this host can enforce, as `fumehood doctor --json` prints it: found by trying, in a fraction of a
 * second. */
FUMEHOOD_CHECKED int fh_doctor_json(char **ret_text, struct fh_err *err);

/* ---- policy
 * -------------------------------------------------------------------------------------------------- */

struct fh_policy;

/* The default: level namespace, no network, 30 s, 512 MiB, ...; fumehood-policy(5) lists the fields. */
FUMEHOOD_CHECKED int fh_policy_create(struct fh_policy **ret_policy, struct fh_err *err);
void fh_policy_destroy(struct fh_policy *policy);

/* Sets one field from text as a person writes it: ("memory", "512M"), ("wall", "2.5s"), ("level", "process").
 */
FUMEHOOD_CHECKED int fh_policy_set(struct fh_policy *policy, const char *name, const char *text,
				   struct fh_err *err);
/* Lays the fields of a file, JSON or YAML, over the policy. */
FUMEHOOD_CHECKED int fh_policy_load(struct fh_policy *policy, const char *path, struct fh_err *err);
/* Names it, for receipts: 1 to 63 letters, digits, '.', '_' or '-'. */
FUMEHOOD_CHECKED int fh_policy_set_name(struct fh_policy *policy, const char *name, struct fh_err *err);
/* Adds "NAME=VALUE" to the environment, in place of an equal name. */
FUMEHOOD_CHECKED int fh_policy_add_env(struct fh_policy *policy, const char *assignment, struct fh_err *err);
/* Shows a path of the host: "SOURCE:TARGET[:ro|:rw]". */
FUMEHOOD_CHECKED int fh_policy_add_bind(struct fh_policy *policy, const char *bind, struct fh_err *err);
/* Lets a run do without what this host cannot enforce; its receipt says without what. No policy file can say
 * this. */
void fh_policy_allow_weaker(struct fh_policy *policy);

/* Whether all of it makes sense together. fh_engine_start() asks it, too. */
FUMEHOOD_CHECKED int fh_policy_check(const struct fh_policy *policy, struct fh_err *err);
/* The SHA-256 that receipts carry, 64 digits and NUL. Equal policies have equal ones. 0 or a negative errno.
 */
FUMEHOOD_CHECKED int fh_policy_hash(const struct fh_policy *policy, char hex[65]);
/* In plain words, one line a field; and as one line of JSON. */
FUMEHOOD_CHECKED int fh_policy_words(const struct fh_policy *policy, char **ret_text, struct fh_err *err);
FUMEHOOD_CHECKED int fh_policy_json(const struct fh_policy *policy, char **ret_text, struct fh_err *err);

/* ---- program
 * ------------------------------------------------------------------------------------------------- */

/* Everything given to it is copied, descriptors are duplicated. While a run uses it, it cannot be changed
 * (-EBUSY); it may be destroyed, and goes when the last of its runs does. Many runs may use one at the same
 * time. */
struct fh_program;

FUMEHOOD_CHECKED int fh_program_create(struct fh_program **ret_program, struct fh_err *err);
void fh_program_destroy(struct fh_program *program);

/* What to run; the last of these three counts. `argv` and `args` end with NULL; args may be NULL.
 *
 * A command: argv[0] is looked up inside, on the sandbox's PATH unless it holds a '/'. */
FUMEHOOD_CHECKED int fh_program_set_command(struct fh_program *program, const char *const *argv,
					    struct fh_err *err);
/* A shell program of any length, run by bash. */
FUMEHOOD_CHECKED int fh_program_set_shell(struct fh_program *program, const char *text, size_t n,
					  const char *const *args, struct fh_err *err);
/* A Python program of any length, with a true __main__ and tracebacks that show its lines. `interpreter` is a
 * path, a name to be looked up on our PATH, or NULL for the first python3 there that the program may run. The
 * policy (NULL: the default) and the workspace decide under which id that is, so both should be settled
 * before; an interpreter that lies in a folder the program may write is refused, since asking runs it unconfined.
 * Asking one that was not used before takes up to seconds. */
FUMEHOOD_CHECKED int fh_program_set_python(struct fh_program *program, const struct fh_policy *policy,
					   const char *interpreter, const char *text, size_t n,
					   const char *const *args, struct fh_err *err);

/* Where it starts; below the workspace unless absolute. */
FUMEHOOD_CHECKED int fh_program_set_folder(struct fh_program *program, const char *path, struct fh_err *err);
/* "NAME=VALUE", in place of an equal name; the policy's own come after. */
FUMEHOOD_CHECKED int fh_program_add_env(struct fh_program *program, const char *assignment,
					struct fh_err *err);

/* Its standard input, empty unless set: bytes, or what can be read from `fd` until its end. */
FUMEHOOD_CHECKED int fh_program_set_stdin(struct fh_program *program, const void *bytes, size_t n,
					  struct fh_err *err);
FUMEHOOD_CHECKED int fh_program_set_stdin_fd(struct fh_program *program, int fd, struct fh_err *err);

/* Its workspace, a fresh empty one unless set: a folder of the host (absolute, no link), copy on write or
 * itself. */
FUMEHOOD_CHECKED int fh_program_copy_workspace(struct fh_program *program, const char *path,
					       struct fh_err *err);
FUMEHOOD_CHECKED int fh_program_use_workspace(struct fh_program *program, const char *path,
					      struct fh_err *err);

/* Passes everything printed on as it comes; -1 for a stream that is not. A reader who is gone cancels the
 * run. */
FUMEHOOD_CHECKED int fh_program_pass_output(struct fh_program *program, int out_fd, int err_fd,
					    struct fh_err *err);
/* Writes everything printed to two regular files, at most bytes_max each; -1 for a stream that is not kept.
 */
FUMEHOOD_CHECKED int fh_program_save_output(struct fh_program *program, int out_fd, int err_fd,
					    uint64_t bytes_max, struct fh_err *err);
/* Keeps the order in which the two streams arrived, in fh_result.chunks. */
FUMEHOOD_CHECKED int fh_program_keep_order(struct fh_program *program, struct fh_err *err);
/* Reads back what was in force and lists what changed, into fh_result.receipt. */
FUMEHOOD_CHECKED int fh_program_want_receipt(struct fh_program *program, struct fh_err *err);

/* ---- run
 * ----------------------------------------------------------------------------------------------------- */

struct fh_run;

/* Starts it. The policy is copied. On failure nothing was run and nothing is left behind; a program that
 * cannot be found or executed is no failure here but a result. */
FUMEHOOD_CHECKED int fh_engine_start(struct fh_engine *engine, const struct fh_policy *policy,
				     struct fh_program *program, struct fh_run **ret_run, struct fh_err *err);

/* A descriptor to poll for reading, in poll, epoll or select: readable when fh_run_step() has something to
 * do. The same until the run is destroyed, and the run's. */
int fh_run_fd(const struct fh_run *run);
/* Does what is due, without blocking. 1: it is over; 0: not yet. Deadlines are held only while somebody
 * steps. */
int fh_run_step(struct fh_run *run);
/* Steps until it is over. */
void fh_run_wait(struct fh_run *run);
/* Asks for its end; step or wait until it is over. The verdict is `cancelled`, with the reason, unless it
 * ended before. */
void fh_run_cancel(struct fh_run *run, const char *reason);
/* The result, once it is over: the caller's, by fh_result_destroy(). NULL before, and the second time. */
struct fh_result *fh_run_take_result(struct fh_run *run);
/* Ends it if it is not over, waiting until its processes are gone (at most some seconds), and frees it. */
void fh_run_destroy(struct fh_run *run);

/* ---- result: result.h, and as text
 * --------------------------------------------------------------------------- */

#define FH_JSON_BASE64 1u /* the streams' bytes as well, as base64 */

/* As `fumehood run --json` prints it, on one line. `flags`: 0 or FH_JSON_BASE64. */
FUMEHOOD_CHECKED int fh_result_json(const struct fh_result *result, unsigned flags, char **ret_text,
				    struct fh_err *err);

/* As text for a model. `format`: "observation", "retool" or "raw"; at most `budget` characters of output (0:
 * all that was kept). */
FUMEHOOD_CHECKED int fh_result_text(const struct fh_result *result, const char *format, size_t budget,
				    char **ret_text, struct fh_err *err);

#ifdef __cplusplus
}
#endif
#endif
