/* Programs with a planted teardown: plant KIND. Each does some work, says "work done",
 * and ends in its own way. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *hold(void *arg)
{
	pthread_mutex_lock(&lock);
	*(volatile int *)arg = 1;
	for (;;)
		pause();
	return NULL;
}

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
	/* no tail call: this frame is looked for */
	pthread_mutex_unlock(&lock);
}

static int deadlock(void)
{
	static volatile int held;
	pthread_t t;

	pthread_create(&t, NULL, hold, (void *)&held);
	while (!held)
		usleep(1000);
	atexit(take_lock);
	return 0;
}

static volatile int planted_state = 1;

static __attribute__((noinline)) void planted_spin(void)
{
	while (planted_state)
		;
}

static int spin(void)
{
	atexit(planted_spin);
	return 0;
}

static void planted_crash(void)
{
	raise(SIGSEGV);
}

static int crash(void)
{
	atexit(planted_crash);
	return 0;
}

static int fail(void)
{
	return 7;
}

static int ignore_term(void)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	return spin();
}

/* Three children in sessions of their own, and a child each of theirs: all there before
 * the parent ends. */
static int leave(void)
{
	int ready[2];
	char c;

	if (pipe(ready))
		return 1;
	for (int i = 0; i < 3; i++)
		if (!fork()) {
			setsid();
			if (!fork())
				i = 3;
			if (write(ready[1], "", 1) != 1)
				return 1;
			for (;;)
				pause();
		}
	for (int i = 0; i < 6; i++)
		if (read(ready[0], &c, 1) != 1)
			return 1;
	return 0;
}

/* The child's exit hangs; the parent does not wait for it. */
static int fork_spin(void)
{
	if (!fork()) {
		atexit(planted_spin);
		exit(0);
	}
	return 0;
}

/* plant slow N: burns N / 10 seconds of CPU, then ends as it should. */
static int burn(const char *tenths)
{
	double seconds = tenths ? atof(tenths) / 10 : 1;

	while ((double)clock() / CLOCKS_PER_SEC < seconds)
		;
	return 0;
}

static int hang_in_work(void)
{
	for (;;)
		pause();
	return 0;
}

/* A child of its own, and work that takes a while. */
static int leave_slowly(void)
{
	if (!fork())
		for (;;)
			pause();
	sleep(1);
	return 0;
}

static int clean(void)
{
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} kinds[] = {
	{"clean", clean},
	{"deadlock", deadlock},
	{"spin", spin},
	{"crash", crash},
	{"fail", fail},
	{"ignore-term", ignore_term},
	{"leave", leave},
	{"leave-slowly", leave_slowly},
	{"fork-spin", fork_spin},
	{"hang-in-work", hang_in_work},
};

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "clean";

	if (!strcmp(kind, "slow")) {
		burn(argv[2]);
		printf("work done\n");
		return 0;
	}
	if (!strcmp(kind, "arguments")) {
		printf("work done\n");
		return argc;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kind, kinds[i].name)) {
			int status = kinds[i].run();

			printf("work done\n");
			return status;
		}
	return 99;
}
