/*
 * A library by the name of the HIP runtime, with what the preloaded libraries look for in
 * it: a thread of its own, and three static destructors of which the one that is
 * registered last is like the listener's. Each writes its name when it runs. With
 * PLANTED_HANG set that one waits for ever.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int __cxa_atexit(void (*)(void *), void *, void *);
void *planted_start(void);

extern void *__dso_handle;
static volatile int state;

static void first(void *arg)
{
	if (write(STDOUT_FILENO, "first\n", 6) < 0)
		_exit(9);
}

static void second(void *arg)
{
	if (write(STDOUT_FILENO, "second\n", 7) < 0)
		_exit(9);
}

/* Written so that gcc and clang load, compare with 1 and store 2 before all else. */
static void listener(void *arg)
{
	volatile int *s = arg;

	if (*s == 1) {
		*s = 2;
		if (!getenv("PLANTED_HANG")) {
			if (write(STDOUT_FILENO, "listener\n", 9) < 0)
				_exit(9);
			return;
		}
		while (*s == 2)
			;
	}
}

static __attribute__((constructor)) void register_all(void)
{
	state = 1;
	__cxa_atexit(first, NULL, &__dso_handle);
	__cxa_atexit(second, NULL, &__dso_handle);
	__cxa_atexit(listener, (void *)&state, &__dso_handle);
}

static void *run(void *arg)
{
	return arg;
}

void *planted_start(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, run, NULL))
		pthread_join(thread, NULL);
	return NULL;
}
