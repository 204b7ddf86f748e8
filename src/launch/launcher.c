/*
 * rocmcheck-launch: launches the bundled kernels of one code object through the HIP
 * runtime and compares what comes back with the CPU's results.
 *
 *	rocmcheck-launch --hip LIBRARY [--hsa-below DIR] --query
 *	rocmcheck-launch --hip LIBRARY [--hsa-below DIR] --code-object FILE
 *		[--seed N] [--rows N] [--hidden N] [--m N] [--n N] [--k N]
 *		[--dump FILE] [--time]
 *
 * One JSON object a line on stdout: "device", then a "case" each launch, or an "error".
 * --hsa-below: fail unless the HSA runtime that was loaded lies in DIR, so that nobody
 * takes a GPU's results for the software device's or the other way round. --dump: every
 * output byte, launch after launch, for the comparison of two code objects. Links the C
 * library alone and so starts under any tree's loader. Exit status: 0 it ran (the cases
 * tell what came out), 2 it could not, 3 usage.
 */
#include "launch/hip.h"
#include "launch/number.h"
#include "launch/problem.h"
#include "util/json.h"

#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define GUARD      1024u /* bytes on either side of an array */
#define GUARD_BYTE 0xfd  /* f32 -4.2e37, bf16 -4.2e37: nothing that a kernel writes */
#define TIMED_RUNS 21

static struct {
	const char *hip, *hsa_below, *code_object, *dump;
	bool query, time;
	uint64_t seed;
	struct rck_sizes sizes;
} arg;

static struct rck_hip hip;
static FILE *dump;

/* ---- lines of output ---- */

static void line_begin(struct rck_json *j, struct rck_strbuf *sb, const char *event)
{
	rck_json_init(j, sb, 0);
	rck_json_object(j);
	rck_json_kstr(j, "event", event);
}

static void line_end(struct rck_json *j, struct rck_strbuf *sb)
{
	rck_json_object_end(j);
	rck_strbuf_addc(sb, '\n');
	fwrite(sb->buf, 1, sb->len, stdout);
	fflush(stdout);
	rck_strbuf_release(sb);
}

/*
 * Ends without the runtime's destructors: for a kernel that declares hostcall they are
 * what this project is about, and not this program's question.
 */
static void __attribute__((noreturn)) quit(int status)
{
	if (dump && fclose(dump))
		status = 2;
	fflush(stdout);
	_exit(status);
}

/* An error that ends the run: kernel and call may be NULL. */
static void __attribute__((noreturn))
fail(const char *kernel, const char *call, rck_hip_error error, const char *text)
{
	struct rck_strbuf sb = RCK_STRBUF_INIT;
	struct rck_json j;

	line_begin(&j, &sb, "error");
	rck_json_kstr(&j, "kernel", kernel);
	rck_json_kstr(&j, "call", call);
	rck_json_ki64(&j, "code", error);
	rck_json_kstr(&j, "name", call ? hip.get_error_name(error) : NULL);
	rck_json_kstr(&j, "text", text);
	line_end(&j, &sb);
	quit(2);
}

static const char *current_kernel;

#define CALL(member, name, ...)                                                          \
	do {                                                                             \
		rck_hip_error call_error = hip.member(__VA_ARGS__);                      \
		if (call_error)                                                          \
			fail(current_kernel, name, call_error,                           \
				hip.get_error_string(call_error));                       \
	} while (0)

/* ---- the device ---- */

/* The file from which this process loaded the HSA runtime; "" when it has none. */
static void find_hsa(char *path, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];

	path[0] = '\0';
	while (maps && fgets(line, sizeof(line), maps)) {
		const char *slash = strchr(line, '/');
		const char *name = slash ? strrchr(slash, '/') : NULL;

		if (name && !strncmp(name, "/libhsa-runtime64.so", 20)) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(path, size, "%s", slash);
			break;
		}
	}
	if (maps)
		fclose(maps);
}

/*
 * HSA, for the one thing that HIP only tells in a structure: the target id.
 * hsa_agent_get_info is stable since HSA 1.0: agent info 0 is the name, 17 the kind
 * (1: GPU); 0xA006 (AMD's) the bus, device and function of PCI, 0xA00F its domain.
 */
struct agent {
	uint64_t handle;
};
typedef int (*agent_info_fn)(struct agent, int what, void *value);

struct hsa_search {
	agent_info_fn info;
	int (*iterate_isas)(struct agent, int (*fn)(uint64_t isa, void *), void *);
	int (*isa_info)(uint64_t isa, int what, void *value);
	unsigned domain, bdf;
	char target[128];
};

static int take_isa(uint64_t isa, void *data)
{
	struct hsa_search *s = data;
	char name[128] = "";
	const char *dashes;

	if (s->isa_info(isa, 1, name)) /* HSA_ISA_INFO_NAME */
		return 0;
	dashes = strstr(name, "--");
	if (!dashes || s->target[0])
		return 0;
	snprintf(s->target, sizeof(s->target), "%s", dashes + 2);
	return 1; /* the first is the most specific: stop */
}

static int take_agent(struct agent a, void *data)
{
	struct hsa_search *s = data;
	uint32_t kind = 0, bdf = 0, domain = 0;

	if (s->info(a, 17, &kind) || kind != 1)
		return 0;
	s->info(a, 0xa006, &bdf);
	s->info(a, 0xa00f, &domain);
	if ((bdf == s->bdf && domain == s->domain) || s->bdf == ~0u)
		s->iterate_isas(a, take_isa, s);
	return 0;
}

static void find_target(char *target, size_t size, const char *pci)
{
	int (*iterate)(int (*)(struct agent, void *), void *) =
		(int (*)(int (*)(struct agent, void *), void *))dlsym(
			RTLD_DEFAULT, "hsa_iterate_agents");
	struct hsa_search s = {.bdf = ~0u};
	unsigned domain, bus, device, function;

	*(void **)&s.info = dlsym(RTLD_DEFAULT, "hsa_agent_get_info");
	*(void **)&s.iterate_isas = dlsym(RTLD_DEFAULT, "hsa_agent_iterate_isas");
	*(void **)&s.isa_info = dlsym(RTLD_DEFAULT, "hsa_isa_get_info_alt");
	if (sscanf(pci, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4) {
		s.domain = domain;
		s.bdf = bus << 8 | device << 3 | function;
	}
	if (iterate && s.info && s.iterate_isas && s.isa_info)
		iterate(take_agent, &s);
	snprintf(target, size, "%s", s.target);
}

static bool lies_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && path[n] == '/';
}

static void open_device(void)
{
	char text[512], hsa[4096], name[256] = "", pci[64] = "", target[128];
	struct rck_strbuf sb = RCK_STRBUF_INIT;
	struct rck_json j;
	int count = 0, version = 0;
	rck_hip_error error;
	Dl_info where = {0};

	if (rck_hip_open(&hip, arg.hip, text, sizeof(text)))
		fail(NULL, NULL, 0, text);
	dladdr(*(void **)&hip.init, &where);
	error = hip.init(0);
	if (!error)
		error = hip.get_device_count(&count);
	find_hsa(hsa, sizeof(hsa));
	if (arg.hsa_below && !lies_below(hsa, arg.hsa_below))
		fail(NULL, NULL, 0,
			"the HSA runtime that was loaded is not the one asked for");
	if (!error && count > 0) {
		CALL(set_device, "hipSetDevice", 0);
		CALL(device_get_name, "hipDeviceGetName", name, sizeof(name), 0);
		CALL(device_get_pci_bus_id, "hipDeviceGetPCIBusId", pci, sizeof(pci), 0);
		CALL(runtime_get_version, "hipRuntimeGetVersion", &version);
	}
	find_target(target, sizeof(target), pci);
	line_begin(&j, &sb, "device");
	rck_json_ki64(&j, "count", error ? 0 : count);
	rck_json_kstr(&j, "name", name);
	rck_json_kstr(&j, "target", target);
	rck_json_kstr(&j, "pci", pci);
	rck_json_kstr(&j, "hip", where.dli_fname ? where.dli_fname : arg.hip);
	rck_json_ki64(&j, "hip_version", version);
	rck_json_kstr(&j, "hsa", hsa);
	rck_json_kstr(&j, "error", error ? hip.get_error_name(error) : NULL);
	line_end(&j, &sb);
	if (arg.query)
		quit(0);
	if (error)
		fail(NULL, "hipGetDeviceCount", error, hip.get_error_string(error));
	if (count <= 0)
		fail(NULL, NULL, 0, "HIP finds no device");
}

/* ---- arrays on the device ---- */

struct on_device {
	char *base;    /* with its guards */
	uint8_t *host; /* the same bytes here */
	size_t size;   /* of the array */
};

static void put(const struct rck_array *a, struct on_device *d)
{
	d->size = a->n * rck_elem_size(a->elem);
	d->host = rck_xmalloc(d->size + 2 * GUARD);
	/* what is read beside an input poisons the result */
	memset(d->host, a->expect ? GUARD_BYTE : 0xff, d->size + 2 * GUARD);
	memcpy(d->host + GUARD, a->initial, d->size);
	CALL(malloc, "hipMalloc", (void **)&d->base, d->size + 2 * GUARD);
	CALL(memcpy, "hipMemcpy", d->base, d->host, d->size + 2 * GUARD,
		RCK_HIP_TO_DEVICE);
}

/* Bytes of the guards that changed; counts them as touched elements. */
static void get(const struct rck_array *a, struct on_device *d, struct rck_check *check)
{
	const int guard = a->expect ? GUARD_BYTE : 0xff;

	memset(d->host, 0, d->size + 2 * GUARD);
	CALL(memcpy, "hipMemcpy", d->host, d->base, d->size + 2 * GUARD, RCK_HIP_TO_HOST);
	for (size_t i = 0; i < GUARD; i++)
		check->touched +=
			(d->host[i] != guard) + (d->host[GUARD + d->size + i] != guard);
	rck_problem_check(a, d->host + GUARD, check);
	if (dump && a->expect && d->size &&
		fwrite(d->host + GUARD, 1, d->size, dump) != d->size)
		fail(current_kernel, NULL, 0, "cannot write the dump");
	CALL(free, "hipFree", d->base);
	free(d->host);
}

/* ---- launches ---- */

static void fill_params(const struct rck_problem *p, const struct on_device *on,
	uint64_t values[RCK_ARGS_MAX], void *params[RCK_ARGS_MAX])
{
	for (size_t i = 0; i < p->kernel->n_args; i++) {
		const struct rck_problem_arg *a = &p->args[i];

		values[i] = a->array >= 0
				    ? (uint64_t)(uintptr_t)(on[a->array].base + GUARD)
				    : a->bits;
		params[i] = &values[i];
	}
}

static void launch(
	const struct rck_problem *p, void *function, void *stream, void **params)
{
	const uint32_t *b = p->kernel->block;

	CALL(module_launch_kernel, "hipModuleLaunchKernel", function, p->grid[0],
		p->grid[1], p->grid[2], b[0], b[1], b[2], 0, stream, params, NULL);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* More launches by events, after the one that was checked and warmed the device. seconds:
 * TIMED_RUNS of them, in ascending order. */
static void time_launches(const struct rck_problem *p, void *function, void *stream,
	void **params, double *seconds)
{
	void *from, *to;

	CALL(event_create, "hipEventCreate", &from);
	CALL(event_create, "hipEventCreate", &to);
	for (int i = 0; i < TIMED_RUNS; i++) {
		float ms = 0;

		CALL(event_record, "hipEventRecord", from, stream);
		launch(p, function, stream, params);
		CALL(event_record, "hipEventRecord", to, stream);
		CALL(event_synchronize, "hipEventSynchronize", to);
		CALL(event_elapsed_time, "hipEventElapsedTime", &ms, from, to);
		seconds[i] = ms * 1e-3;
	}
	CALL(event_destroy, "hipEventDestroy", from);
	CALL(event_destroy, "hipEventDestroy", to);
	qsort(seconds, TIMED_RUNS, sizeof(*seconds), by_value);
}

static void report(const struct rck_bundled *k, const struct rck_case *c,
	const struct rck_check *check, uint64_t elements, const double *seconds)
{
	struct rck_strbuf sb = RCK_STRBUF_INIT;
	struct rck_json j;
	char bound[128];

	rck_problem_explain(k, c, bound, sizeof(bound));
	line_begin(&j, &sb, "case");
	rck_json_kstr(&j, "kernel", k->symbol);
	rck_json_kstr(&j, "case", c->name);
	rck_json_ku64(&j, "outputs", elements);
	rck_json_ku64(&j, "checked", check->checked);
	rck_json_ku64(&j, "bad", check->bad);
	rck_json_ku64(&j, "touched", check->touched);
	rck_json_kdouble(&j, "max_rel", check->max_rel);
	rck_json_kdouble(&j, "rms_rel",
		check->n_rel ? sqrt(check->sum_sq_rel / (double)check->n_rel) : 0.0);
	rck_json_kdouble(&j, "bound_rel", check->bound_rel);
	rck_json_kdouble(&j, "max_ratio", check->max_ratio);
	rck_json_kstr(&j, "bound", bound);
	rck_json_key(&j, "ulp");
	rck_json_array(&j);
	for (int i = 0; i < RCK_ULP_BUCKETS; i++)
		rck_json_u64(&j, check->ulp[i]);
	rck_json_array_end(&j);
	if (check->bad) {
		rck_json_kstr(&j, "first_array", check->first_array);
		rck_json_ku64(&j, "first_index", check->first_index);
		rck_json_kdouble(&j, "first_got", check->first_got);
		rck_json_kdouble(&j, "first_expected", check->first_expected);
		rck_json_kdouble(&j, "first_bound", check->first_bound);
	}
	rck_json_kdouble(&j, "seconds", seconds[TIMED_RUNS / 2]);
	rck_json_kdouble(&j, "seconds_q1", seconds[TIMED_RUNS / 4]);
	rck_json_kdouble(&j, "seconds_q3", seconds[TIMED_RUNS - 1 - TIMED_RUNS / 4]);
	line_end(&j, &sb);
}

static void run_case(const struct rck_bundled *k, const struct rck_case *c, uint64_t seed,
	void *function, void *stream)
{
	struct on_device on[RCK_ARRAYS_MAX];
	struct rck_check check = {0};
	uint64_t values[RCK_ARGS_MAX];
	void *params[RCK_ARGS_MAX];
	struct rck_problem p;
	uint64_t outputs = 0;
	double seconds[TIMED_RUNS];

	for (int i = 0; i < TIMED_RUNS; i++)
		seconds[i] = NAN;
	rck_problem_make(&p, k, c, seed);
	for (size_t i = 0; i < p.n_arrays; i++)
		put(&p.arrays[i], &on[i]);
	fill_params(&p, on, values, params);
	if (p.grid[0] && p.grid[1] && p.grid[2])
		launch(&p, function, stream, params);
	CALL(stream_synchronize, "hipStreamSynchronize", stream);
	for (size_t i = 0; i < p.n_arrays; i++)
		outputs += p.arrays[i].expect ? p.arrays[i].n : 0;
	/* once more only where a second launch computes the same again */
	if (arg.time && !c->residual && !c->in_place && c->beta == 0.0f)
		time_launches(&p, function, stream, params, seconds);
	for (size_t i = 0; i < p.n_arrays; i++)
		get(&p.arrays[i], &on[i], &check);
	report(k, c, &check, outputs, seconds);
	rck_problem_release(&p);
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	struct rck_strbuf sb = RCK_STRBUF_INIT;
	char chunk[65536];
	size_t n;

	while (f && (n = fread(chunk, 1, sizeof(chunk), f)))
		rck_strbuf_add(&sb, chunk, n);
	if (!f || ferror(f) || !sb.len)
		fail(NULL, NULL, 0, "cannot read the code object");
	fclose(f);
	return rck_strbuf_detach(&sb);
}

static void run_all(void)
{
	char *image = read_file(arg.code_object);
	struct rck_case cases[RCK_CASES_MAX];
	void *module, *stream;
	size_t found = 0;

	CALL(module_load_data, "hipModuleLoadData", &module, image);
	CALL(stream_create, "hipStreamCreate", &stream);
	for (size_t i = 0; i < rck_bundled_count; i++) {
		const struct rck_bundled *k = &rck_bundled_kernels[i];
		void *function;
		size_t n;

		/* a code object holds the kernels of one source file */
		if (hip.module_get_function(&function, module, k->symbol))
			continue;
		found++;
		current_kernel = k->symbol;
		n = rck_cases(k, &arg.sizes, cases);
		for (size_t c = 0; c < n; c++)
			run_case(k, &cases[c], arg.seed + 1000 * i + c, function, stream);
		current_kernel = NULL;
	}
	if (!found)
		fail(NULL, NULL, 0, "the code object has none of the bundled kernels");
	CALL(stream_destroy, "hipStreamDestroy", stream);
	CALL(module_unload, "hipModuleUnload", module);
	free(image);
}

static uint64_t number(const char *text, uint64_t most)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 0);

	if (end == text || *end || v > most) {
		fprintf(stderr, "rocmcheck-launch: '%s' is not a number up to %llu\n",
			text, (unsigned long long)most);
		exit(3);
	}
	return v;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"hip", required_argument, NULL, 'h'},
		{"hsa-below", required_argument, NULL, 'b'},
		{"code-object", required_argument, NULL, 'c'},
		{"dump", required_argument, NULL, 'd'},
		{"seed", required_argument, NULL, 's'},
		{"rows", required_argument, NULL, 'r'},
		{"hidden", required_argument, NULL, 'H'},
		{"m", required_argument, NULL, 'm'},
		{"n", required_argument, NULL, 'n'},
		{"k", required_argument, NULL, 'k'},
		{"query", no_argument, NULL, 'q'},
		{"time", no_argument, NULL, 't'},
		{NULL, 0, NULL, 0},
	};
	uint32_t *const size_of[] = {['r'] = &arg.sizes.rows,
		['H'] = &arg.sizes.hidden,
		['m'] = &arg.sizes.m,
		['n'] = &arg.sizes.n,
		['k'] = &arg.sizes.k};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'h')
			arg.hip = optarg;
		else if (c == 'b')
			arg.hsa_below = optarg;
		else if (c == 'c')
			arg.code_object = optarg;
		else if (c == 'd')
			arg.dump = optarg;
		else if (c == 's')
			arg.seed = number(optarg, UINT64_MAX);
		else if (c == 'q')
			arg.query = true;
		else if (c == 't')
			arg.time = true;
		else if (c == '?')
			exit(3);
		else
			*size_of[c] = (uint32_t)number(optarg, 1u << 16);
	}
	if (!arg.hip || (!arg.query && !arg.code_object) || optind != argc) {
		fprintf(stderr, "rocmcheck-launch: options are missing\n");
		exit(3);
	}
}

int main(int argc, char **argv)
{
	arg.sizes = rck_sizes_default;
	parse(argc, argv);
	open_device();
	if (arg.dump && !(dump = fopen(arg.dump, "we")))
		fail(NULL, NULL, 0, "cannot write the dump");
	run_all();
	quit(0);
}
