/* What a sandbox sees instead of the host's own numbers; see procfiles.h. */
#include "isolate/procfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/own.h"

int fh_procfile_meminfo(const struct fh_policy *policy, struct fh_buf *into)
{
	unsigned long long kb = policy->memory_bytes / 1024;
	/* What a small idle system would show: all but a little is free. The order is the kernel's, since
	 * tools read by name but people by eye. */
	unsigned long long used = kb / 64;

	return fh_buf_addf(into,
			   "MemTotal:       %8llu kB\n"
			   "MemFree:        %8llu kB\n"
			   "MemAvailable:   %8llu kB\n"
			   "Buffers:               0 kB\n"
			   "Cached:                0 kB\n"
			   "SwapCached:            0 kB\n"
			   "Active:         %8llu kB\n"
			   "Inactive:              0 kB\n"
			   "SwapTotal:             0 kB\n"
			   "SwapFree:              0 kB\n"
			   "Dirty:                 0 kB\n"
			   "Writeback:             0 kB\n"
			   "AnonPages:      %8llu kB\n"
			   "Mapped:                0 kB\n"
			   "Shmem:                 0 kB\n"
			   "Slab:                  0 kB\n"
			   "SReclaimable:          0 kB\n"
			   "SUnreclaim:            0 kB\n"
			   "CommitLimit:    %8llu kB\n"
			   "Committed_AS:   %8llu kB\n"
			   "HugePages_Total:       0\n"
			   "HugePages_Free:        0\n"
			   "Hugepagesize:       2048 kB\n",
			   kb, kb - used, kb - used, used, used, kb, used);
}

int fh_procfile_stat(unsigned n_cpus, struct fh_buf *into)
{
	fh_buf_adds(into, "cpu  0 0 0 0 0 0 0 0 0 0\n");
	for (unsigned i = 0; i < n_cpus; i++)
		fh_buf_addf(into, "cpu%u 0 0 0 0 0 0 0 0 0 0\n", i);
	return fh_buf_adds(into, "intr 0\nctxt 0\nbtime 0\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n");
}

int fh_procfile_cpuinfo(unsigned n_cpus, struct fh_buf *into)
{
	/* The file is read only as far as it is needed: on a large machine each processor costs time. */
	fh_autofile FILE *f = fopen("/proc/cpuinfo", "re");
	char line[4096];
	unsigned seen = 0;

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "processor", 9) == 0 && seen++ == n_cpus)
			break;
		if (strncmp(line, "cpu MHz", 7) == 0) /* the host's load shows in it */
			continue;
		fh_buf_adds(into, line);
	}
	return into->overflow ? -E2BIG : 0;
}

int fh_procfile_boot_id(struct fh_buf *into)
{
	unsigned char r[16];

	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return -EIO;
	r[6] = (unsigned char)((r[6] & 0x0f) | 0x40);
	r[8] = (unsigned char)((r[8] & 0x3f) | 0x80);
	for (int i = 0; i < 16; i++)
		fh_buf_addf(into, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", r[i]);
	return fh_buf_addc(into, '\n');
}

const struct fh_etc_file fh_etc_files[] = {
    {"passwd", "root:x:0:0:root:/:/usr/sbin/nologin\nuser:x:1000:1000:user:/home/user:/bin/sh\n"},
    {"group", "root:x:0:\nuser:x:1000:\n"},
    {"hosts", "127.0.0.1\tlocalhost fumehood\n::1\tlocalhost ip6-localhost ip6-loopback\n"},
    {"hostname", "fumehood\n"},
    {"host.conf", "multi on\n"},
    {"nsswitch.conf",
     "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n"},
    {"resolv.conf", "# no network, so no name server\n"},
    {"shells", "/bin/sh\n/bin/bash\n"},
    {"protocols", "ip\t0\tIP\nicmp\t1\tICMP\ntcp\t6\tTCP\nudp\t17\tUDP\n"},
    {"services", "http\t80/tcp\nhttps\t443/tcp\ndomain\t53/tcp\ndomain\t53/udp\n"},
    {NULL, NULL},
};

/* Readable by anybody on an ordinary kernel, and about the host. What only root may read (kcore, kmsg,
 * slabinfo and the like) needs no mask, as the host's root is never an id of a sandbox; what is the same on
 * every machine with this kernel (crypto, misc, devices) needs none either. Entries a kernel lacks are passed
 * over. */
const char *const fh_proc_masked_files[] = {
    "bootconfig", "buddyinfo", "cgroups",  "cmdline",   "config.gz",     "diskstats", "interrupts", "iomem",   "ioports",
    "kallsyms",  "keys",     "key-users", "latency_stats", "locks",     "mdstat",     "modules", "partitions",
    "schedstat", "softirqs", "swaps",     "vmstat",        "zoneinfo",  NULL,
};

const char *const fh_proc_masked_dirs[] = {
    "acpi", "asound", "bus", "driver", "dynamic_debug", "fs", "irq", "pressure", "scsi", NULL,
};
