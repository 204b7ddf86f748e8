/*
 * Processes and threads as /proc has them (proc(5)), and the end of everything below us.
 * Ids are pids and tids; times are clock ticks (sysconf(_SC_CLK_TCK), 100 a second).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rck_proc_stat {
	pid_t id;       /* the pid or tid asked for */
	pid_t ppid;     /* of the process */
	char state;     /* R running or runnable, S asleep, D, Z, T, t, X */
	char name[17];  /* comm, as the kernel cuts it; unmasked */
	uint64_t ticks; /* user and system time of this process or thread */
	int cpu;        /* last ran on */
};

/* One thread (tid) of a process, or the process itself (tid 0). -ESRCH when it is gone.
 */
int rck_proc_stat(pid_t pid, pid_t tid, struct rck_proc_stat *out);

/* A list of ids; free(ids). */
struct rck_pids {
	pid_t *ids;
	size_t n;
};

/* Every live process below root, parents before their children; root itself not. */
struct rck_pids rck_proc_descendants(pid_t root);
/* Every thread of a process, the oldest first. Empty when it is gone. */
struct rck_pids rck_proc_threads(pid_t pid);

/* Seconds of CPU that the processes below the caller used so far, the reaped ones too. */
double rck_proc_cpu_below(void);

/*
 * Kills, by pid, whatever lives below the caller and reaps it, until nothing is left. The
 * caller is a child subreaper, so that orphans come to it. Returns how many processes
 * were alive at the start.
 */
size_t rck_proc_kill_below(void);

/* CLOCK_MONOTONIC in seconds. */
double rck_proc_now(void);
