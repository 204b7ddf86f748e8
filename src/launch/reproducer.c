/*
 * One HIP kernel launch, then exit: does the process end?
 *
 * The kernel is a row-wise RMS norm. Compiled at -O0 its metadata asks for a hostcall
 * buffer although it performs no hostcall; at -O1 it does not. At the first launch of
 * the -O0 form the HIP runtime starts a thread that listens for hostcalls, and at exit
 * it has to stop that thread again. This program prints "work done" when every result
 * has arrived; all that is left then is to return from main.
 *
 *	reproducer [--route exit|cumask|fork] [--kernel NAME] [--rows N] [--hidden N]
 *		[--repeat N] --code-object FILE
 *
 * Routes to the teardown of the listener:
 *	exit	return from main
 *	cumask	launch on a stream with a CU mask; destroying it stops the listener early
 *	fork	after the launch, once the listener waits for its first call, fork; the
 *		child, which has no listener, calls exit()
 *
 * --repeat launches N times before "work done". Exit status: 0 done, 1 a HIP call
 * failed or a result is wrong, 3 usage. Links libamdhip64 and nothing else, because at
 * exit the order of destructors depends on how the runtime was loaded.
 */
#include <hip/hip_runtime_api.h>

#include <dirent.h>
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* rms_norm<float, float, float> of rmsnorm.hip: one block of 256 threads a row. */
static const char default_kernel[] = "_Z8rms_normIfffEvPT0_PKT_S4_PT1_lfi";
static const char *kernel = default_kernel;
static const char *code_object;
static const char *route = "exit";
static unsigned rows = 4;
static unsigned hidden = 256;
static unsigned repeat = 1;

#define CHECK(call)                                                                      \
	do {                                                                             \
		hipError_t check_err = (call);                                           \
		if (check_err) {                                                         \
			fprintf(stderr, "reproducer: %s: error %d: %s\n", #call,         \
				(int)check_err, hipGetErrorString(check_err));           \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

static void usage(void)
{
	fprintf(stderr, "usage: reproducer [--route exit|cumask|fork] [--kernel NAME] "
			"[--rows N] [--hidden N] [--repeat N] --code-object FILE\n");
	exit(3);
}

static unsigned number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || !n || n > 1u << 20)
		usage();
	return (unsigned)n;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"route", required_argument, NULL, 'r'},
		{"kernel", required_argument, NULL, 'k'},
		{"code-object", required_argument, NULL, 'c'},
		{"rows", required_argument, NULL, 'R'},
		{"hidden", required_argument, NULL, 'H'},
		{"repeat", required_argument, NULL, 'n'},
		{NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'r')
			route = optarg;
		else if (c == 'k')
			kernel = optarg;
		else if (c == 'c')
			code_object = optarg;
		else if (c == 'R')
			rows = number(optarg);
		else if (c == 'H')
			hidden = number(optarg);
		else if (c == 'n')
			repeat = number(optarg);
		else
			usage();
	}
	if (!code_object || optind != argc ||
		(strcmp(route, "exit") && strcmp(route, "cumask") &&
			strcmp(route, "fork")))
		usage();
}

static void *device_copy(const void *host, size_t size)
{
	void *p = NULL;

	CHECK(hipMalloc(&p, size));
	CHECK(hipMemcpy(p, host, size, hipMemcpyHostToDevice));
	return p;
}

/*
 * A kernel that is named may be another one than an RMS norm: what it takes beyond the
 * norm's arguments is zeros, and an argument may be as large as the room it has here.
 */
#define ARGUMENTS 4096
union argument {
	void *pointer;
	int64_t integer;
	float real;
	char room[16384];
};

/*
 * Every x and weight is 1, so every result is 1 / sqrt(1 + eps), in any of the kernels'
 * types. Returns the number of wrong ones; only the default kernel's are looked at.
 */
static size_t work(hipStream_t stream)
{
	size_t n = (size_t)rows * hidden;
	float *host = malloc(n * sizeof(*host));
	hipModule_t module;
	hipFunction_t function;
	static union argument zeros, out, x, weight, residual, hidden_size, eps, gemma;
	static void *args[ARGUMENTS] = {
		&out, &x, &weight, &residual, &hidden_size, &eps, &gemma};
	size_t wrong = 0;

	if (!host)
		exit(1);
	for (size_t i = 0; i < n; i++)
		host[i] = 1.0f;
	CHECK(hipModuleLoad(&module, code_object));
	CHECK(hipModuleGetFunction(&function, module, kernel));
	for (size_t i = 7; i < ARGUMENTS; i++)
		args[i] = &zeros;
	hidden_size.integer = hidden;
	eps.real = 1e-6f;
	x.pointer = device_copy(host, n * sizeof(*host));
	weight.pointer = device_copy(host, hidden * sizeof(*host));
	memset(host, 0xff, n * sizeof(*host)); /* NaN: what no kernel has written */
	out.pointer = device_copy(host, n * sizeof(*host));

	for (unsigned i = 0; i < repeat; i++)
		CHECK(hipModuleLaunchKernel(
			function, rows, 1, 1, 256, 1, 1, 0, stream, args, NULL));
	CHECK(hipStreamSynchronize(stream));
	CHECK(hipMemcpy(host, out.pointer, n * sizeof(*host), hipMemcpyDeviceToHost));
	if (kernel == default_kernel)
		for (size_t i = 0; i < n; i++)
			wrong += !(fabsf(host[i] - 1.0f) < 1e-5f);
	free(host);

	/* The line that a supervisor waits for: from here on only teardown is left. */
	printf("work done: %u launch(es) of %s, %zu wrong result(s)\n", repeat, kernel,
		wrong);
	fflush(stdout);
	return wrong;
}

/* Whether every other thread of this process waits for something: proc(5), "stat". */
static int others_wait(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *d;
	int waiting = 1;

	while (tasks && (d = readdir(tasks))) {
		char path[300], line[512] = "";
		const char *end;
		FILE *f;

		if (d->d_name[0] == '.' || atoi(d->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", d->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
		fclose(f);
		end = strrchr(line, ')');
		waiting &= end && end[1] && end[2] != 'R';
	}
	if (tasks)
		closedir(tasks);
	return waiting;
}

/* A thread that was told to run may have to wait for a processor on a busy machine. */
static void let_listener_begin(void)
{
	for (int i = 0, seen = 0; i < 10000 && seen < 3; i++) {
		seen = others_wait() ? seen + 1 : 0;
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	size_t wrong;

	parse(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);

	if (!strcmp(route, "cumask")) {
		const uint32_t two_compute_units = 0x3;
		hipStream_t stream;

		CHECK(hipExtStreamCreateWithCUMask(&stream, 1, &two_compute_units));
		wrong = work(stream);
		CHECK(hipStreamDestroy(stream));
	} else {
		wrong = work(NULL);
	}
	if (!strcmp(route, "fork")) {
		pid_t child;

		let_listener_begin();
		child = fork();
		if (!child)
			exit(0);
		/* the parent's own teardown is not what this route asks about */
		_exit(child < 0 || waitpid(child, NULL, 0) != child || wrong);
	}
	return wrong != 0;
}
