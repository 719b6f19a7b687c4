/* The doctor's facts and tiny runs; see doctor.h. What they mean for a person is in doctor_checks.c. */
#include "run/doctor.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "run/run.h"
#include "sys/landlock.h"

#define TINY_WALL_MS 5000

struct fh_check *fh_doctor_add(struct fh_doctor *d, const char *id, enum fh_check_state state)
{
	struct fh_check *c;

	assert(d->n_checks < FH_CHECKS_MAX); /* the list is fixed, and shorter */
	c = &d->checks[d->n_checks++];
	*c = (struct fh_check){.id = id, .state = state};
	return c;
}

/* Which engine made the container we are in; "" for none that says so. */
static void find_container(char *into, size_t cap)
{
	static const struct {
		const char *file, *name;
	} marks[] = {
	    {"/.dockerenv", "docker"}, {"/run/.containerenv", "podman"}, {"/run/systemd/container", NULL}};
	const char *kubernetes = getenv("KUBERNETES_SERVICE_HOST"), *said = getenv("container");

	snprintf(into, cap, "%s",
		 kubernetes                            ? "kubernetes"
		 : said && *said && strlen(said) < cap ? said
						       : "");
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]) && !into[0]; i++) {
		char text[32];
		ssize_t n;

		if (access(marks[i].file, F_OK) < 0)
			continue;
		n = marks[i].name ? 0 : fh_read_small_at(AT_FDCWD, marks[i].file, text, sizeof(text));
		if (n > 0)
			text[strcspn(text, "\n")] = '\0';
		snprintf(into, cap, "%s", marks[i].name ? marks[i].name : n > 0 ? text : "container");
	}
}

static void look_at_host(struct fh_doctor *d)
{
	struct utsname uts;
	char text[256];
	unsigned inside = 0, outside = 0, count = 0;

	if (uname(&uts) == 0) {
		snprintf(d->kernel, sizeof(d->kernel), "%s", uts.release);
		snprintf(d->machine, sizeof(d->machine), "%s", uts.machine);
	}
	d->uid = geteuid();
	d->gid = getegid();
	if (fh_read_small_at(AT_FDCWD, "/proc/self/uid_map", text, sizeof(text)) > 0)
		d->nested_userns = sscanf(text, "%u %u %u", &inside, &outside, &count) != 3 || outside != 0 ||
				   count != 4294967295u;
	d->root = d->uid == 0 && (!d->nested_userns || outside == 0);
	d->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
	d->filtered = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
	d->landlock_abi = (int)fh_sys_landlock_abi();
	if (d->landlock_abi < 0)
		d->landlock_abi = 0;
	find_container(d->container, sizeof(d->container));
}

/* One run of `true` with receipt. The result, or NULL and `err`. */
static struct fh_result *tiny_run(struct fh_host *host, enum fh_level level, bool allow_weaker,
				  struct fh_err *err)
{
	static const char *const argv[] = {"true", NULL};
	struct fh_policy policy;
	struct fh_spec spec;
	struct fh_run *run = NULL;
	struct fh_result *result = NULL;

	fh_policy_init(&policy);
	policy.level = level;
	policy.wall_ms = TINY_WALL_MS;
	policy.allow_weaker = allow_weaker;
	fh_spec_init(&spec);
	spec.argv = argv;
	spec.want_receipt = true;
	if (fh_run_start(host, &policy, &spec, &run, err) == 0) {
		fh_run_wait(run);
		result = fh_run_take_result(run);
		if (!result)
			fh_fail(err, -ENOMEM, "take the result of a tiny run");
	}
	fh_run_destroy(run);
	fh_policy_finish(&policy);
	return result;
}

/* 127 at a level where everything else was in place means that there is no `true`, not that there is no wall.
 */
static bool result_holds(const struct fh_result *r)
{
	return r->verdict == FH_VERDICT_OK || (r->verdict == FH_VERDICT_SANDBOX && r->status == 127);
}

static void try_weaker(struct fh_host *host, struct fh_doctor_level *l)
{
	struct fh_err err = {0};
	struct fh_result *r = tiny_run(host, (enum fh_level)l->level, true, &err);
	size_t at = 0;

	if (r && result_holds(r))
		for (size_t i = 0; i < r->receipt.n_not_enforced && at + 1 < sizeof(l->weaker); i++)
			at += (size_t)snprintf(l->weaker + at, sizeof(l->weaker) - at, "%s%s", i ? "; " : "",
					       r->receipt.not_enforced[i]);
	fh_result_destroy(r);
}

static void try_level(struct fh_host *host, struct fh_doctor_level *l)
{
	struct fh_err err = {0};
	uint64_t start = fh_now_ns();
	struct fh_result *r = tiny_run(host, (enum fh_level)l->level, false, &err);

	l->total_us = (fh_now_ns() - start) / 1000;
	l->holds = r && result_holds(r);
	if (l->holds) {
		l->setup_us = r->setup_us;
		for (int a = 0; a < FH_AXIS_COUNT_; a++)
			l->means[a] = r->receipt.limits[a].means;
		fh_result_destroy(r);
		return;
	}
	snprintf(l->message, sizeof(l->message), "%s", r ? r->message : err.message);
	snprintf(l->fix, sizeof(l->fix), "%s", r ? "" : err.fix);
	if (r) {
		/* A result has both in one line. */
		char *fix = strstr(l->message, "; fix: ");
		if (fix) {
			snprintf(l->fix, sizeof(l->fix), "%.255s", fix + strlen("; fix: "));
			*fix = '\0';
		}
	}
	fh_result_destroy(r);
	try_weaker(host, l);
}

int fh_doctor_look(struct fh_doctor *ret, struct fh_err *err)
{
	struct fh_host *host = NULL;
	int rc = fh_host_open(&host, err);

	if (rc < 0)
		return rc;
	*ret = (struct fh_doctor){0};
	look_at_host(ret);
	ret->cgroup_shape = fh_cgroup_host_shape(host->cgroups);
	for (int i = 0; i < 4; i++) {
		struct fh_doctor_level *l = &ret->levels[i];

		l->level = i + 1;
		l->available = l->level == FH_LEVEL_PROCESS || l->level == FH_LEVEL_NAMESPACE;
		if (l->available)
			try_level(host, l);
	}
	ret->holds = ret->levels[FH_LEVEL_NAMESPACE - 1].holds;
	fh_doctor_check(ret, host);
	fh_host_close(host);
	return 0;
}
