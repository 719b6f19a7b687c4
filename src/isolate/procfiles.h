/* Files of /proc and /etc that are generated for the sandbox instead of shown from the host. */
#ifndef FH_ISOLATE_PROCFILES_H
#define FH_ISOLATE_PROCFILES_H

#include "base/buf.h"
#include "policy/policy.h"

/* /proc/meminfo in which the policy's memory is the machine's. */
int fh_procfile_meminfo(const struct fh_policy *policy, struct fh_buf *into);
/* /proc/stat with `n_cpus` idle processors and no activity of the host. */
int fh_procfile_stat(unsigned n_cpus, struct fh_buf *into);
/* /proc/cpuinfo of the first n_cpus processors of the host. */
int fh_procfile_cpuinfo(unsigned n_cpus, struct fh_buf *into);
/* A boot id of its own (36 characters and a newline), fresh for every sandbox. */
int fh_procfile_boot_id(struct fh_buf *into);

/* The generated /etc: name and content, ending with a NULL name. */
struct fh_etc_file {
	const char *name;
	const char *content;
};
extern const struct fh_etc_file fh_etc_files[];

/* Entries of /proc that tell about the host and that its programs can do without. */
extern const char *const fh_proc_masked_files[]; /* shown as empty files */
extern const char *const fh_proc_masked_dirs[];  /* shown as empty folders */

#endif
