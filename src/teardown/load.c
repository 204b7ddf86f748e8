#include "teardown/load.h"
#include "util/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK 512 /* bytes: dd's own */

static void spin(void)
{
	for (;;)
		__asm__ volatile("");
}

static void churn(void)
{
	int in = open("/dev/zero", O_RDONLY), out = open("/dev/null", O_WRONLY);
	char block[BLOCK];

	while (read(in, block, sizeof(block)) == BLOCK &&
		write(out, block, sizeof(block)) == BLOCK)
		;
}

static void no_work(void)
{
}

/* The origin's figures (48 spinners, 20 runs; 4 x 10 under 48 workers) where there are 48
 * hardware threads; workers 0: one a CPU. */
static const struct {
	const char *name, *what;
	void (*work)(void);
	bool pinned;
	unsigned workers, exposures, concurrent;
} shapes[RCK_LOAD_SHAPES] = {
	[RCK_LOAD_NONE] = {"none", "no load", no_work, false, 0, 20, 1},
	[RCK_LOAD_SPIN] = {"spin", "busy threads", spin, false, 0, 20, 1},
	[RCK_LOAD_CHURN] = {"churn", "processes that read /dev/zero and write /dev/null",
		churn, false, 0, 40, 4},
	[RCK_LOAD_STARVE] = {"starve",
		"the listener thread demoted to SCHED_IDLE on a busy CPU", spin, true, 4,
		8, 1},
};

const char *rck_load_name(enum rck_load_shape shape)
{
	return shapes[shape].name;
}

const char *rck_load_what(enum rck_load_shape shape)
{
	return shapes[shape].what;
}

unsigned rck_load_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

unsigned rck_load_workers(enum rck_load_shape shape)
{
	if (shape == RCK_LOAD_NONE)
		return 0;
	return shapes[shape].workers ? shapes[shape].workers : rck_load_cpus();
}

unsigned rck_load_exposures(enum rck_load_shape shape)
{
	return shapes[shape].exposures;
}

unsigned rck_load_concurrent(enum rck_load_shape shape)
{
	return shapes[shape].concurrent;
}

static int last_cpu(void)
{
	cpu_set_t set;
	int last = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			last = i;
	return last;
}

/* In the worker; does not return. */
static void work(enum rck_load_shape shape, int cpu, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* Ctrl-C is our parent's to handle, and its lines are not ours to hold open. */
	setpgid(0, 0);
	close_range(3, ~0u, 0);
	if (cpu >= 0) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	shapes[shape].work();
	_exit(0);
}

int rck_load_start(enum rck_load_shape shape, unsigned workers, struct rck_load *out)
{
	pid_t parent = getpid();

	*out = (struct rck_load){.starve_cpu = shapes[shape].pinned ? last_cpu() : -1};
	if (shape == RCK_LOAD_NONE)
		return 0;
	out->workers = rck_xcalloc(workers ? workers : 1, sizeof(*out->workers));
	for (unsigned i = 0; i < workers; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			int err = -errno;

			rck_load_stop(out);
			return err;
		}
		if (!pid)
			work(shape, out->starve_cpu, parent);
		out->workers[out->n++] = pid;
	}
	return 0;
}

void rck_load_stop(struct rck_load *load)
{
	for (size_t i = 0; i < load->n; i++)
		kill(load->workers[i], SIGKILL);
	for (size_t i = 0; i < load->n; i++)
		while (waitpid(load->workers[i], NULL, 0) < 0 && errno == EINTR)
			;
	free(load->workers);
	load->workers = NULL;
	load->n = 0;
}
