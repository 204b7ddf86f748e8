#include "teardown/proc.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double rck_proc_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* "pid (comm) S ppid ...": comm may hold anything, so it ends at the LAST parenthesis. */
static int parse_stat(char *line, struct rck_proc_stat *out)
{
	char *open = strchr(line, '('), *close = strrchr(line, ')');
	unsigned long user, system;
	int ppid, cpu;

	if (!open || !close || close < open)
		return -EINVAL;
	*close = 0;
	snprintf(out->name, sizeof(out->name), "%s", open + 1);
	if (sscanf(close + 1,
		    " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d"
		    " %*d %*d %*u %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u"
		    " %*u %*u %*d %d",
		    &out->state, &ppid, &user, &system, &cpu) != 5)
		return -EINVAL;
	out->ppid = ppid;
	out->ticks = user + system;
	out->cpu = cpu;
	return 0;
}

int rck_proc_stat(pid_t pid, pid_t tid, struct rck_proc_stat *out)
{
	char path[64], line[1024];
	size_t n;
	FILE *f;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	else
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -ESRCH;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	if (!n)
		return -ESRCH;
	line[n] = 0;
	out->id = tid ? tid : pid;
	return parse_stat(line, out);
}

static void append(struct rck_pids *p, pid_t id)
{
	/* grows by powers of two: n itself says when */
	if (!(p->n & (p->n - 1)))
		p->ids = rck_xrealloc(p->ids, (p->n ? p->n * 2 : 1) * sizeof(*p->ids));
	p->ids[p->n++] = id;
}

/* The numeric names in a folder of /proc. */
static struct rck_pids numbers_in(const char *path)
{
	struct rck_pids list = {0};
	struct dirent *e;
	DIR *dir = opendir(path);

	if (!dir)
		return list;
	while ((e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			append(&list, atoi(e->d_name));
	closedir(dir);
	return list;
}

struct rck_pids rck_proc_threads(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return numbers_in(path);
}

static bool contains(const struct rck_pids *p, pid_t id)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->ids[i] == id)
			return true;
	return false;
}

struct rck_pids rck_proc_descendants(pid_t root)
{
	struct rck_pids all = numbers_in("/proc"), found = {0};
	pid_t *parent = rck_xcalloc(all.n ? all.n : 1, sizeof(*parent));
	size_t before;

	for (size_t i = 0; i < all.n; i++) {
		struct rck_proc_stat s;

		if (!rck_proc_stat(all.ids[i], 0, &s) && s.state != 'Z' && s.state != 'X')
			parent[i] = s.ppid;
	}
	/* a generation a pass */
	do {
		before = found.n;
		for (size_t i = 0; i < all.n; i++) {
			if (!parent[i])
				continue;
			if (parent[i] == root || contains(&found, parent[i])) {
				append(&found, all.ids[i]);
				parent[i] = 0;
			}
		}
	} while (found.n > before);
	free(parent);
	free(all.ids);
	return found;
}

double rck_proc_cpu_below(void)
{
	struct rck_pids below = rck_proc_descendants(getpid());
	double hz = (double)sysconf(_SC_CLK_TCK);
	struct rusage reaped;
	double sum;

	getrusage(RUSAGE_CHILDREN, &reaped);
	sum = (double)(reaped.ru_utime.tv_sec + reaped.ru_stime.tv_sec) +
	      (double)(reaped.ru_utime.tv_usec + reaped.ru_stime.tv_usec) * 1e-6;
	for (size_t i = 0; i < below.n; i++) {
		struct rck_proc_stat s;

		if (!rck_proc_stat(below.ids[i], 0, &s))
			sum += (double)s.ticks / hz;
	}
	free(below.ids);
	return sum;
}

size_t rck_proc_kill_below(void)
{
	size_t alive = 0;
	bool first = true;

	/* A process may fork while we look: look again until the kernel says there is no
	 * child left. */
	for (;;) {
		struct rck_pids below = rck_proc_descendants(getpid());
		pid_t pid;

		if (first)
			alive = below.n;
		first = false;
		for (size_t i = 0; i < below.n; i++)
			kill(below.ids[i], SIGKILL);
		free(below.ids);
		while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return alive;
		usleep(2000);
	}
}
