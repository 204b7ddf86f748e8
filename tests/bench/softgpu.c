/*
 * The software device's speed on the bundled kernels (gfx1030, clang-15), each result
 * held to double precision on the way: wave instructions a second and core, the same
 * arithmetic by PoCL on this CPU beside it, scaling over processors, where the time goes,
 * and what the sanitizer costs. All numbers of one run, of this machine and of this
 * minute; nothing here passes or fails on time. Usage: softgpu [-O0 -O1 ...]
 */
#include "softgpu.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "softgpu/exec.h"
#include "softgpu/loader.h"

#define MAX_ROWS 16

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Its own processors' time does not count what else the machine does. */
double bench_cpu(void)
{
	return now(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_wall(void)
{
	return now(CLOCK_MONOTONIC);
}

/* One line of both tables. */
static struct row {
	char name[32];
	const char *level;
	double instructions, first, core, one, two, peer, error;
	double sanitized, sanitized_two; /* times the plain run */
	double share[BENCH_CLASSES];
	bool has_share;
} rows[MAX_ROWS];
static size_t n_rows;
static struct bench_peer peer;

static void *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	char *p = NULL;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	p = malloc(*size + 1);
	if (!p || fread(p, 1, *size, f) != *size)
		exit(2);
	fclose(f);
	p[*size] = '\0';
	return p;
}

static struct sg_code *compile(
	const char *file, const char *level, struct sg_image **image)
{
	char dir[] = "/tmp/rck-bench-XXXXXX", cmd[1200], path[64];
	const char *src = getenv("RCK_SOURCE_DIR");
	struct rck_diag diag = {0};
	struct sg_fault fault;
	struct sg_code *code = NULL;
	size_t size;
	void *elf;

	if (!mkdtemp(dir))
		exit(2);
	snprintf(cmd, sizeof(cmd),
		"/usr/lib/llvm-15/bin/clang -x hip --cuda-device-only "
		"--no-gpu-bundle-output -nogpuinc "
		"--rocm-path=/usr "
		"--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode "
		"--offload-arch=gfx1030 -ffp-contract=off -w %s %s/src/kernels/%s -o "
		"%s/k.co",
		level, src ? src : ".", file, dir);
	if (system(cmd)) {
		fprintf(stderr, "softgpu: skipped: clang-15 with ROCm's device libraries "
				"is needed\n");
		exit(0);
	}
	snprintf(path, sizeof(path), "%s/k.co", dir);
	elf = read_file(path, &size);
	if (!elf || sg_image_load(elf, size, NULL, image, &diag) ||
		sg_code_open(file, "gfx1030", (*image)->base, (*image)->size, NULL, &code,
			&fault)) {
		fprintf(stderr, "softgpu: %s %s\n", diag.msg, fault.text);
		exit(2);
	}
	free(elf);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	if (system(cmd))
		exit(2);
	return code;
}

struct job {
	const char *name;
	struct sg_code *code;
	const struct sg_symbol *sym;
	struct sg_launch l;
};

static double once(struct job *j, unsigned int threads, double (*clock)(void))
{
	struct sg_fault fault;
	double t = clock();

	j->l.threads = threads;
	if (sg_exec_run(&j->l, &fault)) {
		fprintf(stderr, "softgpu: %s\n", fault.text);
		exit(2);
	}
	return clock() - t;
}

/* One thread and two, in turn, by the wall: what else runs meets both alike. */
static void best(struct job *j, struct row *r)
{
	r->core = r->one = r->two = 1e9;
	for (int i = 0; i < BENCH_RUNS; i++) {
		double start = bench_wall(), cpu = once(j, 1, bench_cpu);
		double one = bench_wall() - start, two = once(j, 2, bench_wall);

		r->core = cpu < r->core ? cpu : r->core;
		r->one = one < r->one ? one : r->one;
		r->two = two < r->two ? two : r->two;
	}
}

static void run_once(void *job)
{
	once(job, 1, bench_cpu);
}

/* Wave instructions, from a counted run. */
static double count(struct job *j)
{
	char path[] = "/tmp/rck-count-XXXXXX", *text, *at;
	int fd = mkstemp(path);
	size_t size;
	double n = 0;

	if (fd < 0)
		exit(2);
	close(fd);
	setenv("RCK_SOFT_COUNT", path, 1);
	once(j, 1, bench_cpu);
	unsetenv("RCK_SOFT_COUNT");
	text = read_file(path, &size);
	at = text ? strstr(text, ": ") : NULL;
	if (at)
		n = strtod(at + 2, NULL);
	unlink(path);
	free(text);
	return n;
}

/* What the sanitizer costs: once, as times of the best plain run. */
static void sanitized(struct job *j, struct row *r)
{
	setenv("RCK_SOFT_SANITIZE", "/dev/null", 1);
	r->sanitized = once(j, 1, bench_cpu) / r->core;
	r->sanitized_two = once(j, 2, bench_wall) / r->two;
	unsetenv("RCK_SOFT_SANITIZE");
}

static void launch(struct job *j, const struct sg_image *image, const char *prefix,
	const uint32_t block[2], const uint32_t grid[2], void *args)
{
	for (size_t i = 0; i < image->n_kernels; i++)
		if (!strncmp(image->kernels[i]->kernel, prefix, strlen(prefix)))
			j->sym = image->kernels[i];
	if (!j->sym)
		exit(2);
	memset(&j->l, 0, sizeof(j->l));
	for (int d = 0; d < 3; d++) {
		j->l.packet.workgroup_size[d] = (uint16_t)(d < 2 ? block[d] : 1);
		j->l.packet.grid_size[d] = d < 2 ? block[d] * grid[d] : 1;
	}
	j->l.packet.group_segment_size = j->sym->descriptor.group_segment_size;
	j->l.packet.private_segment_size = j->sym->descriptor.private_segment_size;
	j->l.packet.kernel_object = j->sym->address;
	j->l.packet.kernarg_address = (uint64_t)(uintptr_t)args;
	j->l.code = j->code;
	j->l.kernel = j->sym->kernel;
}

/* first: seconds of the first run, which decodes. */
static void report(
	struct job *j, const char *level, double first, double peer_time, double error)
{
	struct row *r = &rows[n_rows++];

	snprintf(r->name, sizeof r->name, "%s", j->name);
	r->level = level;
	r->first = first;
	r->peer = peer_time;
	r->error = error;
	r->instructions = count(j);
	best(j, r);
	sanitized(j, r);
	r->has_share = bench_profile(run_once, j, 0.5, r->share);
	printf("%-15s %s  %11.0f %9.5f %7.1f %8.3f %7.2f ", j->name, level,
		r->instructions, r->core, r->instructions / r->core * 1e-6, first,
		r->one / r->two);
	if (r->peer > 0)
		printf("%9.5f %7.1f", r->peer, r->core / r->peer);
	else
		printf("%9s %7s", "-", "-");
	printf("  %.1e\n", error);
	fflush(stdout);
}

static void rmsnorm(const char *level)
{
	enum { ROWS = 64, HIDDEN = 5120 };
	struct sg_image *image;
	struct job j = {
		.name = "rmsnorm 64x5120", .code = compile("rmsnorm.hip", level, &image)};
	float *x = malloc(ROWS * HIDDEN * 4), *out = malloc(ROWS * HIDDEN * 4),
	      *w = malloc(HIDDEN * 4);
	struct {
		float *out, *x, *w, *res;
		int64_t hidden;
		float eps;
		int gemma;
		char hidden_args[256];
	} a = {out, x, w, NULL, HIDDEN, 1e-6f, 0, {0}};
	double worst = 0, first;

	for (int i = 0; i < ROWS * HIDDEN; i++)
		x[i] = sinf((float)i * 0.37f);
	for (int i = 0; i < HIDDEN; i++)
		w[i] = cosf((float)i);
	launch(&j, image, "_Z8rms_normIfff", (uint32_t[]){256, 1}, (uint32_t[]){ROWS, 1},
		&a);
	first = once(&j, 1, bench_cpu);
	for (int r = 0; r < ROWS; r++) {
		double s = 0;

		for (int i = 0; i < HIDDEN; i++)
			s += (double)x[r * HIDDEN + i] * x[r * HIDDEN + i];
		s = 1 / sqrt(s / HIDDEN + 1e-6);
		for (int i = 0; i < HIDDEN; i++) {
			double want = x[r * HIDDEN + i] * s * w[i];

			worst = fmax(worst,
				fabs(out[r * HIDDEN + i] - want) / (fabs(want) + 1e-30));
		}
	}
	report(&j, level, first, peer.rmsnorm, worst);
	sg_code_close(j.code);
	sg_image_unload(image);
	free(x);
	free(out);
	free(w);
}

static void gemm(const char *level, int size, const char *name, double peer_time)
{
	struct sg_image *image;
	struct job j = {.name = name, .code = compile("gemm.hip", level, &image)};
	size_t n = (size_t)size, bytes = n * n * 4;
	float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
	struct {
		float *c, *a, *b;
		int m, n, k, pad;
		int64_t lda, ldb, ldc;
		float alpha, beta;
		int trans_a, trans_b;
		char hidden_args[256];
	} args = {c, a, b, size, size, size, 0, size, size, size, 1, 0, 0, 0, {0}};
	double worst = 0, first;

	for (size_t i = 0; i < n * n; i++) {
		a[i] = sinf((float)i * 0.1f);
		b[i] = cosf((float)i * 0.3f);
	}
	launch(&j, image, "_Z4gemmIf", (uint32_t[]){16, 16},
		(uint32_t[]){(uint32_t)size / 16, (uint32_t)size / 16}, &args);
	first = once(&j, 1, bench_cpu);
	for (size_t i = 0; i < n; i += 7)
		for (size_t k = 0; k < n; k++) {
			double s = 0, m = 0;

			for (size_t q = 0; q < n; q++) {
				s += (double)a[i * n + q] * b[q * n + k];
				m += fabs((double)a[i * n + q] * b[q * n + k]);
			}
			worst = fmax(worst, fabs(c[i * n + k] - s) / m);
		}
	report(&j, level, first, peer_time, worst);
	sg_code_close(j.code);
	sg_image_unload(image);
	free(a);
	free(b);
	free(c);
}

static void print_shares(void)
{
	printf("\nwhere the time of the runs above goes, %% by class of operation\n%-15s "
	       "   ",
		"kernel");
	for (int c = 0; c < BENCH_CLASSES; c++)
		printf(" %8s", bench_class_names[c]);
	printf("\n");
	for (size_t i = 0; i < n_rows; i++) {
		printf("%-15s %s", rows[i].name, rows[i].level);
		for (int c = 0; rows[i].has_share && c < BENCH_CLASSES; c++)
			printf(" %8.1f", 100 * rows[i].share[c]);
		printf("%s\n",
			rows[i].has_share ? "" : "  not measured: no libdw, or no -g");
	}
}

static void print_sanitized(void)
{
	printf("\nunder the sanitizer, times the plain run: on one core; by two "
	       "threads\n");
	for (size_t i = 0; i < n_rows; i++)
		printf("%-15s %s  %6.1f %6.1f\n", rows[i].name, rows[i].level,
			rows[i].sanitized, rows[i].sanitized_two);
}

int main(int argc, char **argv)
{
	static const char *const levels[] = {"-O0", "-O1", "-O3"};
	int n = argc > 1 ? argc - 1 : 3;
	double load = -1;

	if (argc == 2 && !strcmp(argv[1], "--pocl"))
		return bench_peer_main();
	if (n > MAX_ROWS / 3)
		return 3;
	getloadavg(&load, 1);
	bench_peer_measure("/proc/self/exe", &peer);
	printf("software device, gfx1030 by clang-15; %ld processors, load %.1f; peer: "
	       "%s\n"
	       "cpu s: seconds of one core, the best of %d; M/s: million wave "
	       "instructions a "
	       "second and core;\nfirst: the first run's, which decodes; x 2: times "
	       "faster by "
	       "two threads; slower: cpu s by the peer's\n\n"
	       "%-15s      instructions     cpu s     M/s    first     x 2      peer  "
	       "slower"
	       "  error\n",
		sysconf(_SC_NPROCESSORS_ONLN), load, peer.what, BENCH_RUNS, "kernel");
	for (int i = 0; i < n; i++) {
		const char *level = argc > 1 ? argv[1 + i] : levels[i];

		rmsnorm(level);
		gemm(level, 128, "gemm 128^3", peer.gemm128);
		if (strcmp(level, "-O0"))
			gemm(level, 256, "gemm 256^3", peer.gemm256);
	}
	print_shares();
	print_sanitized();
	return 0;
}
