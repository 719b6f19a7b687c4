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

static void add_process(pid_t pid, struct fh_procwalk *sum)
{
	char path[64], text[4096];
	unsigned long long ticks[4] = {0};
	long threads = 0, hz = sysconf(_SC_CLK_TCK);
	char *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return;
	p = strrchr(text, ')');
	if (p && sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %ld", &ticks[0],
			&ticks[1], &ticks[2], &ticks[3], &threads) == 5) {
		sum->cpu_us += (ticks[0] + ticks[1] + ticks[2] + ticks[3]) * (1000000ull / (unsigned long)hz);
		sum->threads += threads > 0 ? (unsigned)threads : 1;
		sum->processes++;
	}
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (fh_read_small_at(AT_FDCWD, path, text, sizeof(text)) > 0 && (p = strstr(text, "\nRssAnon:")))
		sum->private_bytes += strtoull(p + 9, NULL, 10) * 1024;
}

void fh_procwalk(pid_t root, unsigned max, struct fh_procwalk *ret)
{
	struct queue *q = malloc(sizeof(*q));

	*ret = (struct fh_procwalk){0};
	if (!q)
		return;
	q->n = 0;
	q->max = max;
	push_all_children(q, root);
	for (unsigned i = 0; i < q->n; i++) {
		add_process(q->pids[i], ret);
		push_all_children(q, q->pids[i]);
	}
	free(q);
}
