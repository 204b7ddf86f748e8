/*
 * The preloaded sched_yield, linked in: short waits yield, long ones sleep. What is asked
 * is how often the kernel was asked, not how long it took.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *set_later(void *flag)
{
	usleep(300000);
	__atomic_store_n((int *)flag, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* A wait of 300 ms: 64 yields, a hundred naps that grow to 1 ms, then one a ms. Real
 * yields would be more than a hundred thousand on an idle machine. */
static void long_wait(void **state)
{
	int flag = 0;
	unsigned int asked = 0;
	double began = now(), took;
	pthread_t setter;

	errno = 7;
	assert_int_equal(pthread_create(&setter, NULL, set_later, &flag), 0);
	while (!__atomic_load_n(&flag, __ATOMIC_SEQ_CST)) {
		assert_int_equal(sched_yield(), 0);
		asked++;
	}
	took = (now() - began) * 1000;
	pthread_join(setter, NULL);
	assert_int_equal(errno, 7);
	/* a pause of the machine begins another wait: 64 in at least 5 ms */
	assert_in_range(asked, 65, 64 + 200 + (unsigned int)(took * (1 + 64 / 5.0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
