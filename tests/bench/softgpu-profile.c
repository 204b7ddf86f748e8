/* Where the interpreter's time goes: the program counter sampled by a timer, its source
 * file by DWARF, the file's class of operation. */
#include "softgpu.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

const char *const bench_class_names[BENCH_CLASSES] = {
	"VALU", "SALU", "memory", "LDS", "control", "decode", "dispatch", "other"};

#if defined(HAVE_LIBDW) && (defined(__x86_64__) || defined(__aarch64__))
#include <elfutils/libdwfl.h>

#define MAX_SAMPLES (1 << 16)
#define PERIOD      200000 /* ns */

/* The longest prefix of a file's name decides. */
static const struct {
	const char *prefix;
	enum bench_class class;
} classes[] = {
	{"lane", BENCH_VALU},
	{"valu", BENCH_VALU},
	{"ops-lane", BENCH_VALU},
	{"ops-matrix", BENCH_VALU},
	{"ops-salu", BENCH_SALU},
	{"ops-sfloat", BENCH_SALU},
	{"ops-mem", BENCH_MEMORY},
	{"ops-smem", BENCH_MEMORY},
	{"ops-atomic", BENCH_MEMORY},
	{"ops-lds", BENCH_LDS},
	{"ops-gws", BENCH_CONTROL},
	{"ops-control", BENCH_CONTROL},
	{"decode", BENCH_DECODE},
	{"isa-table", BENCH_DECODE},
	{"wave", BENCH_DISPATCH},
	{"group", BENCH_DISPATCH},
};

static uint64_t samples[MAX_SAMPLES];
static volatile size_t n_samples;

static void sample(int number, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;

	if (n_samples < MAX_SAMPLES)
#ifdef __x86_64__
		samples[n_samples++] = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
#else
		samples[n_samples++] = u->uc_mcontext.pc;
#endif
}

static bool start(timer_t *timer)
{
	struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
	struct sigaction a = {
		.sa_sigaction = sample, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerspec every = {{0, PERIOD}, {0, PERIOD}};

	e._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	n_samples = 0;
	return !sigaction(SIGPROF, &a, NULL) &&
	       !timer_create(CLOCK_MONOTONIC, &e, timer) &&
	       !timer_settime(*timer, 0, &every, NULL);
}

static Dwfl *open_self(void)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	Dwfl *d = dwfl_begin(&callbacks);

	if (d &&
		(dwfl_linux_proc_report(d, getpid()) || dwfl_report_end(d, NULL, NULL))) {
		dwfl_end(d);
		d = NULL;
	}
	return d;
}

static enum bench_class class_of_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	enum bench_class class = BENCH_OTHER;
	size_t longest = 0;

	if (!strstr(path, "softgpu/"))
		return BENCH_OTHER;
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		size_t n = strlen(classes[i].prefix);
		if (n > longest && !strncmp(name, classes[i].prefix, n)) {
			longest = n;
			class = classes[i].class;
		}
	}
	return class;
}

/* By the line's own file, which may be a header; else by its compilation unit's. libc's
 * share is copying, which is memory's. */
static enum bench_class class_of(Dwfl *d, uint64_t pc, bool *known)
{
	Dwfl_Module *m = dwfl_addrmodule(d, pc);
	enum bench_class class = BENCH_OTHER;
	const char *path;
	Dwarf_Addr bias;
	Dwfl_Line *line;
	Dwarf_Die *cu;

	if (!m)
		return BENCH_OTHER;
	path = dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	if (path && strstr(path, "libc.so"))
		return BENCH_MEMORY;
	line = dwfl_module_getsrc(m, pc);
	path = line ? dwfl_lineinfo(line, NULL, NULL, NULL, NULL, NULL) : NULL;
	if (path)
		class = class_of_file(path);
	if (class == BENCH_OTHER) {
		cu = dwfl_module_addrdie(m, pc, &bias);
		path = cu ? dwarf_diename(cu) : NULL;
		class = path ? class_of_file(path) : class;
	}
	*known |= class != BENCH_OTHER; /* other modules have lines without our -g */
	return class;
}

bool bench_profile(
	void (*run)(void *arg), void *arg, double seconds, double share[BENCH_CLASSES])
{
	double end = bench_cpu() + seconds;
	bool known = false;
	timer_t timer;
	Dwfl *d;

	if (!start(&timer))
		return false;
	while (bench_cpu() < end)
		run(arg);
	timer_delete(timer);
	d = open_self();
	memset(share, 0, BENCH_CLASSES * sizeof *share);
	for (size_t i = 0; d && i < n_samples; i++)
		share[class_of(d, samples[i], &known)] += 1.0 / (double)n_samples;
	dwfl_end(d);
	return known;
}
#else
bool bench_profile(
	void (*run)(void *arg), void *arg, double seconds, double share[BENCH_CLASSES])
{
	return false;
}
#endif
