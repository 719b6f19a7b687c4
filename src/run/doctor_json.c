/* What the doctor found, as JSON for programs. Members are only ever added. */
#include "run/doctor.h"

#include "formats/json_write.h"
#include "policy/policy.h"

static void put(struct fh_json *j, const char *key, const char *text)
{
	fh_json_key(j, key);
	fh_json_string(j, text);
}

static void put_bool(struct fh_json *j, const char *key, bool value)
{
	fh_json_key(j, key);
	fh_json_bool(j, value);
}

static void put_host(struct fh_json *j, const struct fh_doctor *d)
{
	fh_json_key(j, "host");
	fh_json_open_object(j);
	put(j, "kernel", d->kernel);
	put(j, "machine", d->machine);
	fh_json_key(j, "uid");
	fh_json_u64(j, d->uid);
	fh_json_key(j, "gid");
	fh_json_u64(j, d->gid);
	put_bool(j, "nested_user_namespace", d->nested_userns);
	put(j, "container", d->container[0] ? d->container : NULL);
	put_bool(j, "no_new_privs", d->no_new_privs);
	put_bool(j, "seccomp_filtered", d->filtered);
	put(j, "cgroups", d->cgroup_shape);
	fh_json_key(j, "landlock_abi");
	fh_json_i64(j, d->landlock_abi);
	fh_json_close_object(j);
}

static void put_level(struct fh_json *j, const struct fh_doctor_level *l)
{
	fh_json_open_object(j);
	put(j, "name", fh_level_name((enum fh_level)l->level));
	fh_json_key(j, "number");
	fh_json_i64(j, l->level);
	put_bool(j, "available", l->available);
	put_bool(j, "holds", l->holds);
	put(j, "message", l->available ? l->message : "not available yet");
	put(j, "fix", l->fix);
	put(j, "allow_weaker", l->weaker[0] ? l->weaker : NULL);
	fh_json_key(j, "setup_ms");
	if (l->holds)
		fh_json_thousandths(j, l->setup_us);
	else
		fh_json_null(j);
	fh_json_key(j, "limits");
	fh_json_open_object(j);
	for (int a = FH_AXIS_NONE + 1; l->holds && a < FH_AXIS_COUNT_; a++)
		put(j, fh_axis_name((enum fh_axis)a), fh_means_name(l->means[a]));
	fh_json_close_object(j);
	fh_json_close_object(j);
}

int fh_doctor_to_json(const struct fh_doctor *d, struct fh_buf *into)
{
	struct fh_json j;

	fh_json_init(&j, into);
	fh_json_open_object(&j);
	put(&j, "version", FH_VERSION);
	put_bool(&j, "holds", d->holds);
	put(&j, "default_level", fh_level_name(FH_LEVEL_NAMESPACE));
	put_host(&j, d);
	fh_json_key(&j, "levels");
	fh_json_open_array(&j);
	for (int i = 0; i < 4; i++)
		put_level(&j, &d->levels[i]);
	fh_json_close_array(&j);
	fh_json_key(&j, "checks");
	fh_json_open_array(&j);
	for (size_t i = 0; i < d->n_checks; i++) {
		fh_json_open_object(&j);
		put(&j, "id", d->checks[i].id);
		put(&j, "state", fh_check_state_name(d->checks[i].state));
		put(&j, "found", d->checks[i].found);
		put(&j, "matters", d->checks[i].matters);
		put(&j, "fix", d->checks[i].fix);
		fh_json_close_object(&j);
	}
	fh_json_close_array(&j);
	fh_json_close_object(&j);
	return fh_json_finish(&j);
}
