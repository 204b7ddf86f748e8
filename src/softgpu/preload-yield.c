/*
 * Preloaded by "rocmcheck soft": who waits by sched_yield(2) alone leaves the processor
 * to the device. CLR waits so for commands while a device is in active wait
 * (amd::Event::awaitCompletion, rocclr/platform/command.cpp; seen with 6.4.3), and beside
 * a GPU that costs nothing; here it kept a processor busy beside one thread of kernels,
 * and took a tenth of two processors from two.
 */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FREE_YIELDS 64      /* of a wait: a lock's are fewer */
#define BREAK_NS    5000000 /* without a yield: the next begins another wait */
#define MAX_NS      1000000
#define DELAY_SHARE 8 /* a wait grows by one part in so many at most, and by MAX_NS */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((visibility("default"))) int sched_yield(void)
{
	static __thread uint64_t began, last;
	static __thread unsigned int yields;
	uint64_t now = now_ns(), pause;
	int saved = errno;

	if (now - last > BREAK_NS) {
		began = now;
		yields = 0;
	}
	last = now;
	if (++yields <= FREE_YIELDS)
		return (int)syscall(SYS_sched_yield);
	pause = (now - began) / DELAY_SHARE;
	nanosleep(&(struct timespec){0, pause < MAX_NS ? (long)pause : MAX_NS}, NULL);
	errno = saved;
	last = now_ns();
	return 0;
}
