/*
 * Preloaded into the program under test, which is not modified. It says when main has
 * returned or exit was called: an atexit handler would not do, for it runs after the
 * destructors of a dlopened library and before those of a linked one. It names the
 * threads that libamdhip64 makes, and on request demotes the youngest of these at the
 * moment the runtime makes that thread's doorbell, before the thread is told to run.
 */
#include "teardown/preload-say.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef void exit_fn(int);

uint32_t hsa_signal_create(int64_t, uint32_t, const void *, void *);
uint32_t hsa_amd_signal_create(int64_t, uint32_t, const void *, uint64_t, void *);

static main_fn *real_main;
/* The tid of the youngest thread that libamdhip64 made, until it is demoted. */
static pid_t youngest;

/* ---- threads of the HIP runtime ---- */

struct started {
	void *(*fn)(void *);
	void *arg;
};

static void *run_thread(void *arg)
{
	struct started s = *(struct started *)arg;
	pid_t tid = (pid_t)syscall(SYS_gettid);
	void *result;

	free(arg);
	__atomic_store_n(&youngest, tid, __ATOMIC_RELEASE);
	say(RCK_SAYS_THREAD, tid, -1);
	result = s.fn(s.arg);
	say(RCK_SAYS_THREAD_END, tid, -1);
	return result;
}

EXPORT int pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	static create_fn *real;
	struct started *s;
	int err;

	if (!real)
		real = (create_fn *)next("pthread_create");
	if (!is_hip(__builtin_return_address(0)))
		return real(thread, attr, fn, arg);
	s = malloc(sizeof(*s));
	if (!s)
		return EAGAIN;
	*s = (struct started){fn, arg};
	err = real(thread, attr, run_thread, s);
	if (err)
		free(s);
	return err;
}

/* struct sched_attr of the kernel (sched_setattr(2), first version), which glibc 2.36
 * does not declare. Times are in nanoseconds. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * From Linux 6.12 on a thread may ask for a longer slice, and the scheduler then takes it
 * for less urgent. It counts for more than the credit that a thread which slept brings
 * along, with which it might run at once, SCHED_IDLE or not. The policy keeps it; older
 * kernels do without.
 */
static void lengthen_slice(pid_t tid)
{
	struct attributes a = {
		.size = sizeof(a), .policy = SCHED_OTHER, .runtime = 100 * 1000 * 1000};

	syscall(SYS_sched_setattr, tid, &a, 0);
}

/* 'S' when it waits; 0 when it is gone. */
static char state_of(pid_t tid)
{
	char path[64], line[512];
	const char *end;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = 0;
	end = strrchr(line, ')');
	return end && end[1] ? end[2] : 0;
}

/*
 * The thread has told its maker that it is there, and is about to wait for the word to
 * run. It holds a lock until it does: demoted before, it would keep its maker waiting as
 * well.
 */
static void let_it_wait(pid_t tid)
{
	for (int i = 0; i < 20000 && state_of(tid) == 'R'; i++)
		usleep(100);
}

/*
 * SCHED_IDLE on the busy CPU: it will run, as the kernel promises, but long after whoever
 * is about to wake it has gone on.
 */
static void starve_youngest(void)
{
	static int cpu = -2;
	pid_t tid;
	cpu_set_t set;
	struct sched_param none = {0};

	if (cpu == -2)
		cpu = number_in_env(RCK_PRELOAD_STARVE, -1);
	if (cpu < 0)
		return;
	tid = __atomic_exchange_n(&youngest, 0, __ATOMIC_ACQ_REL);
	if (!tid)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	let_it_wait(tid);
	lengthen_slice(tid);
	if (sched_setaffinity(tid, sizeof(set), &set) ||
		sched_setscheduler(tid, SCHED_IDLE, &none))
		say(RCK_SAYS_NOT_STARVED, errno, -1);
	else
		say(RCK_SAYS_STARVED, tid, -1);
}

EXPORT uint32_t hsa_signal_create(
	int64_t value, uint32_t n, const void *agents, void *out)
{
	static uint32_t (*real)(int64_t, uint32_t, const void *, void *);

	if (!real)
		real = (uint32_t(*)(int64_t, uint32_t, const void *, void *))next(
			"hsa_signal_create");
	if (is_hip(__builtin_return_address(0)))
		starve_youngest();
	return real(value, n, agents, out);
}

EXPORT uint32_t hsa_amd_signal_create(
	int64_t value, uint32_t n, const void *agents, uint64_t flags, void *out)
{
	static uint32_t (*real)(int64_t, uint32_t, const void *, uint64_t, void *);

	if (!real)
		real = (uint32_t(*)(int64_t, uint32_t, const void *, uint64_t,
			void *))next("hsa_amd_signal_create");
	if (is_hip(__builtin_return_address(0)))
		starve_youngest();
	return real(value, n, agents, flags, out);
}

/* ---- the end of the work ---- */

/* One of ours, or the machine's? The program that runs is asked: paths in its environment
 * need not be what its loader took. */
static int name_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *base = slash ? slash + 1 : info->dlpi_name;

	if (!strncmp(base, "libamdhip64.so", 14) ||
		!strncmp(base, "libhsa-runtime64.so", 19))
		say_text(RCK_SAYS_LIBRARY, info->dlpi_name);
	return 0;
}

static void say_end(const char *event, int status)
{
	dl_iterate_phdr(name_library, NULL);
	say(event, status & 0xff, -1);
}

static int wrapped_main(int argc, char **argv, char **envp)
{
	int status = real_main(argc, argv, envp);

	say_end(RCK_SAYS_RETURNED, status);
	return status;
}

EXPORT int __libc_start_main(main_fn *program_main, int argc, char **argv,
	void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	start_fn *real = (start_fn *)next("__libc_start_main");

	real_main = program_main;
	say(RCK_SAYS_LOADED, -1, -1);
	if (number_in_env(RCK_PRELOAD_LINES, 0))
		setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	return real(wrapped_main, argc, argv, init, fini, rtld_fini, stack_end);
}

EXPORT __attribute__((noreturn)) void exit(int status)
{
	exit_fn *real = (exit_fn *)next("exit");

	say_end(RCK_SAYS_EXIT, status);
	real(status);
	__builtin_unreachable();
}
