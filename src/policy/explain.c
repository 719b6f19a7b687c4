/* A policy in plain words, for someone who has to decide whether to trust a run under it. Says what holds by
 * the policy and the level alone; which kernel means hold it on this host is for `doctor` and the receipt. */
#include "policy/policy.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/own.h"
#include "policy/units.h"
#include "policy/words.h"

struct text {
	char s[32];
};

static struct text duration(uint64_t ms)
{
	struct text t;

	fh_print_duration(ms, t.s, sizeof(t.s));
	return t;
}

static struct text size(uint64_t bytes)
{
	struct text t;

	fh_print_bytes(bytes, t.s, sizeof(t.s));
	return t;
}

static struct text cpus(uint64_t milli)
{
	struct text t;

	fh_print_cpus(milli, t.s, sizeof(t.s));
	return t;
}

static void explain_level(const struct fh_policy *p, struct fh_buf *b)
{
	if (p->level == FH_LEVEL_PROCESS)
		fh_buf_adds(
		    b,
		    "level        process (1): the program runs in this system, fenced by Landlock, a system "
		    "call "
		    "filter and process limits. It has no process, network or file tree of its own: it can "
		    "list the system's processes and see that files exist even where it cannot read them.\n");
	else
		fh_buf_adds(
		    b,
		    "level        namespace (2): the program sees a small system of its own. It cannot see "
		    "this "
		    "system's files, processes, users or network. It shares this system's kernel: a bug in "
		    "the kernel could let it out.\n");
}

static void explain_enforce(const struct fh_policy *p, struct fh_buf *b)
{
	if (p->enforce == FH_ENFORCE_KERNEL)
		fh_buf_adds(b, "enforce      kernel: where the kernel of this host cannot hold a limit, "
			       "nothing runs.\n");
	else
		fh_buf_adds(b, "enforce      best: each limit is held by the strongest means of this host; "
			       "where that is "
			       "sampling, it can be overshot for a moment, and the receipt says so.\n");
}

static void explain_network(const struct fh_policy *p, struct fh_buf *b)
{
	if (p->level == FH_LEVEL_PROCESS)
		fh_buf_adds(
		    b, "network      none: the program cannot open network sockets, not even to itself.\n");
	else
		fh_buf_adds(
		    b, "network      none: its only network is a loopback of its own; nothing outside can be "
		       "reached, no names are resolved.\n");
}

static void explain_time(const struct fh_policy *p, struct fh_buf *b)
{
	fh_buf_addf(b, "wall         it is ended %s after its start, whatever it is doing.\n",
		    duration(p->wall_ms).s);
	fh_buf_addf(b,
		    "cpu          it is ended when its processes together have used %s of processor time.\n",
		    duration(p->cpu_ms).s);
	fh_buf_addf(b, "cpus         it computes on at most %s processor%s at a time.\n",
		    cpus(p->cpus_milli).s, p->cpus_milli == 1000 ? "" : "s");
}

static void explain_memory(const struct fh_policy *p, struct fh_buf *b)
{
	bool alone = p->level == FH_LEVEL_PROCESS;

	fh_buf_addf(b,
		    "memory       %s for all its processes and its files in memory together; past that it is "
		    "ended.%s\n",
		    size(p->memory_bytes).s,
		    alone
			? " At this level a host without cgroups for us holds it per process, or by sampling."
			: "");
	fh_buf_addf(
	    b,
	    "pids         at most %" PRIu64 " processes and threads at a time; more are refused to it.%s\n",
	    p->pids,
	    alone ? " At this level a host without cgroups for us counts per user, not per run." : "");
}

static void explain_disk(const struct fh_policy *p, struct fh_buf *b)
{
	const char *alone = p->level == FH_LEVEL_PROCESS
				? " At this level they are held by sampling: a fast writer overshoots."
				: "";

	fh_buf_addf(
	    b,
	    "disk         %s written to its workspace, home and temporary folders together; then its disk is "
	    "full.%s\n",
	    size(p->disk_bytes).s, alone);
	fh_buf_addf(b, "inodes       at most %" PRIu64 " files and folders made.\n", p->inodes);
	fh_buf_addf(b, "file_size    no file larger than %s.\n", size(p->file_size_bytes).s);
	fh_buf_addf(b, "files        at most %" PRIu64 " files open at a time in each process.\n", p->files);
}

static void explain_output(const struct fh_policy *p, struct fh_buf *b)
{
	if (p->keep_bytes)
		fh_buf_addf(b,
			    "keep         of stdout and of stderr, the first and last bytes are kept, %s of "
			    "each; the "
			    "rest is counted and dropped.\n",
			    size(p->keep_bytes).s);
	else
		fh_buf_adds(b, "keep         nothing of stdout and stderr is kept; it is only counted.\n");
	fh_buf_addf(b, "output_stop  it is ended when it has printed %s.\n", size(p->output_stop_bytes).s);
	fh_buf_addf(b, "pty          %s.\n",
		    p->pty ? "it can open terminals of its own" : "it can open no terminals");
}

static void explain_env(const struct fh_policy *p, struct fh_buf *b)
{
	fh_buf_addf(b, "env          a fixed small environment%s",
		    p->n_env ? ", and" : "; nothing of the caller's.\n");
	for (size_t i = 0; i < p->n_env; i++) {
		/* Names only: values may be secrets, and this text ends up on screens. */
		fh_autofree char *name = strndup(p->env[i], strcspn(p->env[i], "="));
		fh_buf_adds(b, i ? ", " : " ");
		fh_show_whole(b, name ? name : "?");
	}
	if (p->n_env)
		fh_buf_adds(b, " (values not shown).\n");
}

static void explain_binds(const struct fh_policy *p, struct fh_buf *b)
{
	if (!p->n_binds)
		fh_buf_adds(
		    b,
		    "bind         no files or folders of this system beyond what programs need to start.\n");
	for (size_t i = 0; i < p->n_binds; i++) {
		fh_buf_addf(b, "bind         it can %s ", p->binds[i].writable ? "read AND CHANGE" : "read");
		fh_show_whole(b, p->binds[i].source);
		fh_buf_adds(b, " of this system, there called ");
		fh_show_whole(b, p->binds[i].target);
		fh_buf_adds(b, ".\n");
	}
}

int fh_policy_explain(const struct fh_policy *p, struct fh_buf *into)
{
	fh_buf_addf(into, "policy       %s\n", p->name);
	explain_level(p, into);
	explain_enforce(p, into);
	explain_network(p, into);
	explain_time(p, into);
	explain_memory(p, into);
	explain_disk(p, into);
	explain_output(p, into);
	explain_env(p, into);
	explain_binds(p, into);
	if (p->allow_weaker)
		fh_buf_adds(
		    into,
		    "ALLOW WEAKER the caller accepts a run that this host cannot confine as said above; the "
		    "receipt lists what was not enforced.\n");
	return into->overflow ? -E2BIG : 0;
}
