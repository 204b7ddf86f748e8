/* The peer: kernels.cl, the same arithmetic in OpenCL C, compiled by PoCL for this CPU.
 */
#include "softgpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child prints one line: what, and three times. */
void bench_peer_measure(const char *program, struct bench_peer *out)
{
	int p[2], status = -1;
	char line[256] = "";
	ssize_t n, at = 0;
	pid_t child;

	memset(out, 0, sizeof *out);
	snprintf(out->what, sizeof out->what, "its process failed");
	if (pipe(p))
		return;
	child = fork();
	if (!child) {
		dup2(p[1], 1);
		close(p[0]);
		close(p[1]);
		/* one processor, as in the other column */
		setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);
		execl(program, program, "--pocl", (char *)NULL);
		_exit(127);
	}
	close(p[1]);
	while (child > 0 && (n = read(p[0], line + at, sizeof line - 1 - (size_t)at)) > 0)
		at += n;
	close(p[0]);
	if (child > 0)
		waitpid(child, &status, 0);
	if (!status && sscanf(line, "%lf %lf %lf %127[^\n]", &out->rmsnorm, &out->gemm128,
			       &out->gemm256, out->what) < 4)
		out->rmsnorm = out->gemm128 = out->gemm256 = 0;
	else if (status && line[0])
		snprintf(out->what, sizeof out->what, "%.*s", (int)strcspn(line, "\n"),
			line);
}

#if RCK_BENCH_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <math.h>

static void fail(const char *what, int status)
{
	printf("%s: OpenCL error %d\n", what, status);
	exit(1);
}

#define CL(call)                                                                         \
	do {                                                                             \
		int status_ = (call);                                                    \
		if (status_)                                                             \
			fail(#call, status_);                                            \
	} while (0)

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;

static void find_device(void)
{
	cl_platform_id platforms[16];
	cl_uint n = 0;
	char name[64];

	if (clGetPlatformIDs(16, platforms, &n) || !n) {
		printf("no OpenCL platform\n");
		exit(1);
	}
	for (cl_uint i = 0; i < n && i < 16; i++)
		if (!clGetPlatformInfo(
			    platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL) &&
			strstr(name, "Portable Computing Language") &&
			!clGetDeviceIDs(
				platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL))
			return;
	printf("PoCL is not installed\n");
	exit(1);
}

static void build(void)
{
	char path[1024], *text = malloc(1 << 16);
	const char *source = getenv("RCK_SOURCE_DIR");
	FILE *f;
	int r;

	snprintf(path, sizeof path, "%s/tests/bench/kernels.cl", source ? source : ".");
	f = fopen(path, "r");
	if (!f || !text) {
		printf("cannot open kernels.cl\n");
		exit(1);
	}
	text[fread(text, 1, (1 << 16) - 1, f)] = '\0';
	fclose(f);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &r);
	CL(r);
	queue = clCreateCommandQueue(context, device, 0, &r);
	CL(r);
	program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &r);
	CL(r);
	CL(clBuildProgram(program, 1, &device, "", NULL, NULL));
	free(text);
}

static cl_mem floats(size_t n, double step, float (*f)(float))
{
	float *p = malloc(n * sizeof *p);
	cl_mem m;
	int r;

	for (size_t i = 0; i < n; i++)
		p[i] = f ? f((float)((double)i * step)) : 0;
	m = clCreateBuffer(
		context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, n * sizeof *p, p, &r);
	CL(r);
	free(p);
	return m;
}

/* The best of several runs, in seconds of this process's processors. */
static double best(cl_kernel k, cl_uint dims, const size_t *global, const size_t *local)
{
	double b = 1e9;

	for (int i = 0; i < BENCH_RUNS + 1; i++) {
		double t = bench_cpu();

		CL(clEnqueueNDRangeKernel(
			queue, k, dims, NULL, global, local, 0, NULL, NULL));
		CL(clFinish(queue));
		t = bench_cpu() - t;
		if (i && t < b) /* the first compiles */
			b = t;
	}
	return b;
}

static float read_one(cl_mem m, size_t at)
{
	float v;

	CL(clEnqueueReadBuffer(
		queue, m, CL_TRUE, at * sizeof v, sizeof v, &v, 0, NULL, NULL));
	return v;
}

static void arguments(cl_kernel k, const void *const *values, const size_t *sizes)
{
	for (cl_uint i = 0; sizes[i]; i++)
		CL(clSetKernelArg(k, i, sizes[i], values[i]));
}

static double rmsnorm(void)
{
	enum { ROWS = 64, HIDDEN = 5120 };
	cl_mem x = floats(ROWS * HIDDEN, 0.37, sinf), w = floats(HIDDEN, 1, cosf),
	       out = floats(ROWS * HIDDEN, 0, NULL);
	const cl_long hidden = HIDDEN;
	const float eps = 1e-6f;
	const int gemma = 0;
	const size_t global = ROWS * 256, local = 256, s = sizeof(cl_mem);
	double sum = 0, want, t;
	int r;
	cl_kernel k = clCreateKernel(program, "rms_norm", &r);

	CL(r);
	arguments(k, (const void *const[]){&out, &x, &w, NULL, &hidden, &eps, &gemma},
		(const size_t[]){s, s, s, s, 8, 4, 4, 0});
	t = best(k, 1, &global, &local);
	for (int i = 0; i < HIDDEN; i++)
		sum += pow(sinf((float)(i * 0.37)), 2);
	want = sinf((float)(1000 * 0.37)) * cosf(1000) / sqrt(sum / HIDDEN + 1e-6);
	if (!(fabs(read_one(out, 1000) - want) <= 1e-5 * fabs(want)))
		fail("rms_norm is wrong", 0);
	return t;
}

static double gemm(size_t n)
{
	cl_mem a = floats(n * n, 0.1, sinf), b = floats(n * n, 0.3, cosf),
	       c = floats(n * n, 0, NULL);
	const size_t global[] = {n, n}, local[] = {16, 16}, s = sizeof(cl_mem);
	const cl_long ld = (cl_long)n;
	const int size = (int)n, no = 0;
	const float alpha = 1, beta = 0;
	double want = 0, magnitude = 0, t;
	int r;
	cl_kernel k = clCreateKernel(program, "gemm", &r);

	CL(r);
	arguments(k,
		(const void *const[]){&c, &a, &b, &size, &size, &size, &ld, &ld, &ld,
			&alpha, &beta, &no, &no},
		(const size_t[]){s, s, s, 4, 4, 4, 8, 8, 8, 4, 4, 4, 4, 0});
	t = best(k, 2, global, local);
	for (size_t i = 0; i < n; i++) {
		double p = (double)sinf((float)((double)(3 * n + i) * 0.1)) *
			   cosf((float)((double)(i * n + 5) * 0.3));
		want += p;
		magnitude += fabs(p);
	}
	if (!(fabs(read_one(c, 3 * n + 5) - want) <= 1e-5 * magnitude))
		fail("gemm is wrong", 0);
	return t;
}

int bench_peer_main(void)
{
	char version[64] = "", name[64] = "";
	double times[3];

	find_device();
	clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version, version, NULL);
	clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
	build();
	times[0] = rmsnorm();
	times[1] = gemm(128);
	times[2] = gemm(256);
	printf("%.9f %.9f %.9f PoCL %s, %s\n", times[0], times[1], times[2], version,
		name);
	fflush(stdout);
	return 0;
}
#else
int bench_peer_main(void)
{
	printf("built without OpenCL's headers\n");
	return 1;
}
#endif
