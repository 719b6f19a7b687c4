/* Counting by looking; see procwalk.h. Breadth first over /proc/<pid>/task/<tid>/children. */
#include "run/procwalk.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

#define QUEUE_MAX 4096

struct queue {
	pid_t pids[QUEUE_MAX];
	unsigned n, max;
};

static void push_children(struct queue *q, pid_t pid, const char *tid)
{
	char path[64], list[8192];
	char *p = list;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)pid, tid);
	if (fh_read_small_at(AT_FDCWD, path, list, sizeof(list)) <= 0)
		return;
	while (*p && q->n < q->max && q->n < QUEUE_MAX) {
		long child = strtol(p, &p, 10);
		if (child <= 0)
			break;
		q->pids[q->n++] = (pid_t)child;
	}
}

static void push_all_children(struct queue *q, pid_t pid)
{
	char path[64];
	fh_autodir DIR *tasks = NULL;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			push_children(q, pid, entry->d_name);
}

struct times {
	unsigned long long own, reaped; /* microseconds */
	long threads;
};

static bool read_times(pid_t pid, struct times *ret)
{
	char path[64], text[1024];
	unsigned long long ticks[4] = {0}, tick_us = 1000000ull / (unsigned long)sysconf(_SC_CLK_TCK);
	char *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return false;
	p = strrchr(text, ')');
	if (!p ||
	    sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %ld",
		   &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ret->threads) != 5)
		return false;
	ret->own = (ticks[0] + ticks[1]) * tick_us;
	ret->reaped = (ticks[2] + ticks[3]) * tick_us;
	return true;
}

/* "\nRssAnon:     1234 kB" -> bytes. */
static uint64_t kilobytes(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? strtoull(p + strlen(name), NULL, 10) * 1024 : 0;
}

static void add_process(pid_t pid, struct fh_procwalk *sum)
{
	char path[64], text[4096];
	struct times times;

	if (read_times(pid, &times)) {
		sum->cpu_us += times.own + times.reaped;
		sum->threads += times.threads > 0 ? (unsigned)times.threads : 1;
		sum->processes++;
	}
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) > 0) {
		sum->private_bytes += kilobytes(text, "\nRssAnon:");
		sum->shared_bytes += kilobytes(text, "\nRssShmem:");
	}
}

/* Everything below `root`, parents before their children; NULL without memory. */
static struct queue *list_all(pid_t root, unsigned max)
{
	struct queue *q = malloc(sizeof(*q));

	if (!q)
		return NULL;
	q->n = 0;
	q->max = max;
	push_all_children(q, root);
	for (unsigned i = 0; i < q->n; i++)
		push_all_children(q, q->pids[i]);
	return q;
}

void fh_procwalk(pid_t root, unsigned max, struct fh_procwalk *ret)
{
	fh_autofree struct queue *q = list_all(root, max);
	struct times times;

	*ret = (struct fh_procwalk){0};
	/* First the dead whose parents died before them: who dies while we look is counted late rather than
	 * twice. */
	if (read_times(root, &times))
		ret->cpu_us = times.reaped;
	for (unsigned i = 0; q && i < q->n; i++)
		add_process(q->pids[i], ret);
}

uint64_t fh_procwalk_shared(pid_t root, unsigned max)
{
	fh_autofree struct queue *q = list_all(root, max);
	uint64_t bytes = 0;

	for (unsigned i = 0; q && i < q->n; i++) {
		char path[64], text[4096];

		snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)q->pids[i]);
		if (fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) > 0)
			bytes += kilobytes(text, "\nPss_Shmem:");
	}
	return bytes;
}
