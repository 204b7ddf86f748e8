/*
 * Kernels compiled for each target and level, executed, and held to the same functions
 * compiled for this machine, bit for bit. RCK_TEST_LONG=1 takes all levels.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa-fp8.h"
#include "isa-functions.h"
#include "softgpu/exec.h"
#include "softgpu/loader.h"

#define N      1000
#define GROUPS ((N + 255) / 256)
#define ITEMS  (GROUPS * 256)

static u32 input[ITEMS * IN], output[ITEMS * OUT], expected[ITEMS * OUT];

static const struct {
	const char *name;
	void (*fn)(const u32 *, u32 *);
} functions[] = {
#define F(NAME) {#NAME, t_##NAME},
	FUNCTIONS(F)
#undef F
};

static u32 random_word(void)
{
	static u64 state = 0x9e3779b97f4a7c15ull;
	static const u32 edges[] = {0, 1, 2, 0x7f800000, 0xff800000, 0x7fc00000,
		0x80000000, 0x7fffffff, 0xffffffff, 0x00000001, 0x007fffff, 0x00800000,
		0x3f800000, 0x7f7fffff, 0x3c003c00, 0x7c00fc00, 0x00010001, 0x7ff00000,
		0xfff00000, 0x3ff00000, 0x4b000001};

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	if ((state >> 33) % 5 == 0)
		return edges[(state >> 40) % (sizeof(edges) / sizeof(*edges))];
	if ((state >> 33) % 5 == 1) /* floats of ordinary size */
		return (u32)(state >> 32 & 0x83ffffff) + 0x3e000000;
	return (u32)(state >> 32);
}

static void kernel_run(const struct sg_image *image, struct sg_code *code,
	const char *name, u32 groups, u32 n, struct sg_fault *fault)
{
	const struct sg_symbol *sym;
	struct {
		const u32 *in;
		u32 *out;
		u32 n, pad[13];
	} args = {input, output, n, {0}};
	struct sg_launch l = {0};
	char full[64];

	snprintf(full, sizeof(full), "k_%s", name);
	sym = sg_image_symbol(image, full);
	assert_non_null(sym);
	l.packet.workgroup_size[0] = 256;
	l.packet.workgroup_size[1] = l.packet.workgroup_size[2] = 1;
	l.packet.grid_size[0] = groups * 256;
	l.packet.grid_size[1] = l.packet.grid_size[2] = 1;
	l.packet.group_segment_size = sym->descriptor.group_segment_size;
	l.packet.private_segment_size = sym->descriptor.private_segment_size;
	if (sym->descriptor.properties & SG_PROPERTY_DYNAMIC_STACK)
		/* Without flat scratch LLVM 22 gives dynamic allocas a wave's offset as a
		 * lane's. */
		l.packet.private_segment_size += 65536;
	l.packet.kernel_object = sym->address;
	l.packet.kernarg_address = (uint64_t)&args;
	l.packet_address = (uint64_t)&l.packet;
	l.code = code;
	l.kernel = name;
	sg_exec_run(&l, fault);
}

static unsigned int bad;

static void compare(const char *what, const char *name)
{
	for (u32 i = 0; i < N; i++)
		for (u32 k = 0; k < OUT; k++)
			if (output[i * OUT + k] != expected[i * OUT + k]) {
				print_message("%s %s: item %u word %u: 0x%08x, not "
					      "0x%08x (in %08x %08x %08x "
					      "%08x %08x %08x %08x %08x)\n",
					what, name, i, k, output[i * OUT + k],
					expected[i * OUT + k], input[i * IN],
					input[i * IN + 1], input[i * IN + 2],
					input[i * IN + 3], input[i * IN + 4],
					input[i * IN + 5], input[i * IN + 6],
					input[i * IN + 7]);
				bad++;
				return;
			}
}

static bool ran(const char *what, const char *name, const struct sg_fault *fault)
{
	if (fault->kind == SG_FAULT_NONE)
		return true;
	print_message("%s %s: %s\n", what, name, fault->text);
	bad++;
	return false;
}

static void check_functions(
	const struct sg_image *image, struct sg_code *code, const char *what)
{
	struct sg_fault fault;

	for (size_t f = 0; f < sizeof(functions) / sizeof(*functions); f++) {
		char full[64];

		snprintf(full, sizeof(full), "k_%s", functions[f].name);
		if (!sg_image_symbol(image, full))
			continue; /* left out for an old compiler: isa-kernels.hip */
		memset(output, 0xcc, sizeof(output));
		memset(expected, 0, sizeof(expected));
		for (u32 i = 0; i < N; i++)
			functions[f].fn(input + i * IN, expected + i * OUT);
		kernel_run(image, code, functions[f].name, GROUPS, N, &fault);
		if (ran(what, functions[f].name, &fault))
			compare(what, functions[f].name);
	}
}

static void check_reduce(
	const struct sg_image *image, struct sg_code *code, const char *what)
{
	struct sg_fault fault;

	memset(output, 0, sizeof(output));
	memset(expected, 0, sizeof(expected));
	for (u32 g = 0; g < GROUPS; g++) {
		u32 sum = 0;

		for (u32 i = g * 256; i < g * 256 + 256 && i < N; i++)
			sum += input[i * IN];
		for (u32 i = g * 256; i < g * 256 + 256 && i < N; i++)
			expected[i * OUT] = sum + i % 256;
	}
	kernel_run(image, code, "reduce", GROUPS, N, &fault);
	if (ran(what, "reduce", &fault))
		compare(what, "reduce");
	memset(output, 0, sizeof(output));
	memset(expected, 0, sizeof(expected));
	for (u32 i = 0; i < N; i++)
		if (i % 256 < 128)
			expected[i * OUT] = input[(i - i % 256 + 127 - i % 256) * IN] ^
					    (127 - i % 256);
	kernel_run(image, code, "early", GROUPS, N, &fault);
	if (ran(what, "early", &fault))
		compare(what, "early");
}

static void check_tickets(
	const struct sg_image *image, struct sg_code *code, const char *what)
{
	struct sg_fault fault;
	u32 sum = 0;

	memset(output, 0, sizeof(output));
	memset(expected, 0, sizeof(expected));
	for (u32 ticket = 0; ticket < 10; ticket++)
		sum = sum * 3 + ticket + 1;
	for (u32 i = 0; i < N; i++)
		expected[i * OUT] = sum;
	for (u32 g = 0; g < GROUPS; g++)
		expected[g * 256 * OUT + 1] = 11;
	kernel_run(image, code, "tickets", GROUPS, N, &fault);
	if (ran(what, "tickets", &fault))
		compare(what, "tickets");
}

static void check_atomics(
	const struct sg_image *image, struct sg_code *code, const char *what)
{
	struct sg_fault fault;
	u32 *e = expected;
	u64 e64[3] = {0};

	memset(output, 0, sizeof(output));
	memset(expected, 0, sizeof(expected));
	output[3] = e[3] = ~0u;
	for (u32 g = 0; g < GROUPS; g++) {
		u32 low = ~0u, high = 0;

		for (u32 i = g * 256; i < g * 256 + 256 && i < N; i++) {
			u32 x = input[i * IN];

			e[0] += x;
			e[1] ^= x;
			e[2] |= x & 0x0f0f0f0f;
			e[3] &= x | 0x0ff00000;
			e[4] -= x * 3;
			e[5] = e[5] < x ? x : e[5];
			e64[0] += (u64)x * x;
			e64[1] ^= (u64)x << 17;
			e64[2] += x;
			low = x < low ? x : low;
			high = x > high ? x : high;
		}
		e[6] += low ^ high;
	}
	memcpy(e + 8, e64, sizeof(e64));
	kernel_run(image, code, "atomics", GROUPS, N, &fault);
	if (ran(what, "atomics", &fault))
		compare(what, "atomics");
}

static void check_lanes(
	const struct sg_image *image, struct sg_code *code, const char *what)
{
	struct sg_fault fault;

	memset(output, 0, sizeof(output));
	memset(expected, 0, sizeof(expected));
	kernel_run(image, code, "lanes", GROUPS, N, &fault);
	for (u32 i = 0; i < N; i++) {
		u32 *e = expected + i * OUT, l = i & 31;
		/* word 6 and the wave's size: ask what ran */
		e[0] = input[(i ^ 5) * IN];
		e[1] = input[(i ^ 1) * IN];
		e[2] = l % 16 ? input[(i - 1) * IN] : 77;
		e[3] = input[(i ^ 7) * IN];
		e[4] = input[(i ^ 1) * IN];
		e[5] = l;
		e[6] = output[i * OUT + 6];
		if (e[6] != input[((i & ~31u) + 3) * IN] &&
			e[6] != input[((i & ~63u) + 3) * IN])
			e[6]++;
		e[7] = input[(i ^ 9) * IN];
	}
	if (ran(what, "lanes", &fault))
		compare(what, "lanes");
}

static void check_turns(
	const struct sg_image *image, struct sg_code *code, const char *what)
{
	struct sg_fault fault;

	memset(output, 0, sizeof(output));
	memset(expected, 0, sizeof(expected));
	for (u32 g = 0; g < 40; g++)
		expected[1] = expected[1] * 3 + g;
	expected[0] = 40;
	kernel_run(image, code, "turns", 40, N, &fault);
	if (ran(what, "turns", &fault))
		compare(what, "turns");
}

static void check_sleeper(
	const struct sg_image *image, struct sg_code *code, const char *what)
{
	struct sg_fault fault;

	memset(output, 0, sizeof(output));
	memset(expected, 0, sizeof(expected));
	for (u32 i = 0; i < N; i++)
		expected[i * OUT] = input[i * IN];
	expected[1] = 1;
	kernel_run(image, code, "sleeper", GROUPS, N, &fault);
	if (ran(what, "sleeper", &fault))
		compare(what, "sleeper");
}

/* ---- clang's builtins for what only some targets have ---- */

static bool launched(const struct sg_image *image, struct sg_code *code, const char *what,
	const char *name)
{
	struct sg_fault fault;
	char full[64];

	snprintf(full, sizeof(full), "k_%s", name);
	if (!sg_image_symbol(image, full))
		return false;
	memset(output, 0, sizeof(output));
	memset(expected, 0, sizeof(expected));
	kernel_run(image, code, name, GROUPS, N, &fault);
	return ran(what, name, &fault);
}

static u32 real(double v)
{
	return f_as((float)v);
}

static void check_fp8(
	const struct sg_image *image, struct sg_code *code, const char *what, bool gfx9)
{
	const struct format *fp8 = &formats[gfx9 ? 0 : 2], *bf8 = fp8 + 1;

	if (!launched(image, code, what, "fp8"))
		return;
	for (u32 i = 0; i < N; i++) {
		const u32 *x = input + i * IN;
		u32 *e = expected + i * OUT;

		for (u32 k = 0; k < 4; k++) {
			e[0] |= nearest(fp8, as_f(x[k]), false) << 8 * k;
			e[1] |= nearest(bf8, as_f(x[k]), false) << 8 * k;
		}
		e[2] = (e[1] & 0xff0000ff) |
		       stochastic(fp8, as_f(x[0]), x[4], false) << 16 |
		       stochastic(bf8, as_f(x[1]), x[5], false) << 8;
		e[3] = real(value(fp8, x[6] >> 8 & 255));
		e[4] = real(value(bf8, x[6] >> 24));
		e[5] = real(value(fp8, x[7] >> 16 & 255));
		e[6] = real(value(fp8, x[7] >> 24));
		e[7] = real(value(bf8, x[7] & 255));
		e[8] = real(value(bf8, x[7] >> 8 & 255));
	}
	compare(what, "fp8");
}

static int small(u32 x, int e)
{
	return (int)(x >> 4 * e & 7) - 3;
}

/* Waves of 64: four lanes a row of A have eight of its 32 columns each, half of them. */
static void check_smfmac(
	const struct sg_image *image, struct sg_code *code, const char *what)
{
	if (!launched(image, code, what, "smfmac"))
		return;
	for (u32 i = 0; i < N; i++)
		for (u32 r = 0; r < 4; r++) {
			u32 wave = i & ~63u, row = i % 64 / 16 * 4 + r, col = i % 16;
			int sum = small(input[i * IN + 2], (int)r);

			for (u32 part = 0; part < 4; part++)
				for (int e = 0; e < 4; e++) {
					const u32 *a =
						input + (wave + 16 * part + row) * IN;
					const u32 *b =
						input + (wave + 16 * part + col) * IN;
					int at = a[3] >> (8 + 2 * e) & 3; /* ABID 1 */

					sum += small(a[0], e) *
					       small(b[1], e / 2 * 4 + at);
				}
			expected[i * OUT + r] = real(sum);
		}
	compare(what, "smfmac");
}

static void check_swmmac(
	const struct sg_image *image, struct sg_code *code, const char *what)
{
	if (!launched(image, code, what, "swmmac"))
		return;
	for (u32 i = 0; i < N; i++)
		for (u32 r = 0; r < 8; r++) {
			u32 wave = i & ~31u, row = i % 32 / 16 * 8 + r, col = i % 16;
			int sum = small(input[i * IN + 4], (int)r);

			for (u32 part = 0; part < 2; part++)
				for (int e = 0; e < 8; e++) {
					const u32 *a =
						input + (wave + 16 * part + row) * IN;
					const u32 *b =
						input + (wave + 16 * part + col) * IN;
					int k = e / 2 * 4 + (int)(a[3] >> 2 * e & 3);

					sum += small(a[0], e) *
					       small(b[1 + k / 8], k % 8);
				}
			expected[i * OUT + r] = real(sum);
		}
	compare(what, "swmmac");
}

static void check_to_lds(
	const struct sg_image *image, struct sg_code *code, const char *what)
{
	if (!launched(image, code, what, "to_lds"))
		return;
	for (u32 i = 0; i < N; i++) {
		u32 from = (i & ~255u) + 255 - i % 256;

		expected[i * OUT] = input[from * IN + 1];
		expected[i * OUT + 1] = from < N ? input[from * IN + 1] & 255 : 0;
	}
	compare(what, "to_lds");
}

/* The neighbour of a half that rounding chooses; x is exact. */
static u32 half_toward(double x, u32 round)
{
	_Float16 h = (_Float16)x;
	double d = (double)h;
	bool up;
	u16 u;

	memcpy(&u, &h, 2);
	if (x != x)
		return 0x7e00;
	if (x - x != 0 || d == x || !round)
		return u;
	up = round == 1 || (round == 3 && x < 0);
	if (up ? d < x : d > x) /* the next: one more or less in its magnitude */
		u = (u16)(u + (up != !!(u & 0x8000) ? 1 : -1));
	return u;
}

static double half_at(u32 x)
{
	u16 u = (u16)x;
	_Float16 h;

	memcpy(&h, &u, 2);
	return (double)h;
}

static u32 half_flushed(u32 x)
{
	return x & 0x7c00 ? x & 0xffff : x & 0x8000;
}

/* Zero where it would be denormal with any exponent. */
static u32 product_flushed(float a, float b)
{
	double x;
	float scaled;

	a = fpclassify(a) == FP_SUBNORMAL ? copysignf(0, a) : a;
	b = fpclassify(b) == FP_SUBNORMAL ? copysignf(0, b) : b;
	x = (double)a * b;
	scaled = (float)(x * 0x1p100);
	return fabsf(scaled) < 0x1p-26f ? f_as(copysignf(0, a) * copysignf(1, b))
					: f_as((float)x);
}

static u32 half_product_flushed(u32 a, u32 b)
{
	double x = half_at(half_flushed(a)) * half_at(half_flushed(b));
	u32 up = half_toward(x * 0x1p8, 0); /* with room below */

	if (x == x && x - x == 0 && fabs(half_at(up)) < 0x1p-6 && fabs(x) < 1)
		return signbit(x) ? 0x8000 : 0;
	return half_toward(x, 0);
}

static bool same_half(u32 a, u32 b)
{
	a &= 0xffff;
	b &= 0xffff;
	return a == b || ((a & 0x7fff) > 0x7c00 && (b & 0x7fff) > 0x7c00);
}

static void check_mode(
	const struct sg_image *image, struct sg_code *code, const char *what)
{
	static const int rounds[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
	static const char *const names[] = {"sum of halves", "sum of floats",
		"product without denormals", "product of halves without denormals",
		"product of doubles"};

	if (!launched(image, code, what, "mode"))
		return;
	for (u32 i = 0; i < N; i++) {
		const u32 *x = input + i * IN, *got = output + i * OUT;
		volatile double p = as_d(x[4] | (u64)x[5] << 32),
				q = as_d(x[6] | (u64)x[7] << 32);
		bool ok[5] = {true, true, true, true, true};

		for (u32 r = 0; r < 4; r++) {
			volatile float a = as_f(x[2]), b = as_f(x[3]), sum;
			volatile double product;
			u64 d;

			for (int h = 0; h < 32; h += 16) {
				double s = half_at(x[0] >> h) + half_at(x[1] >> h);

				if (s == 0) /* the sign of a zero is tested elsewhere */
					ok[0] &= !(got[r] >> h & 0x7fff);
				else
					ok[0] &=
						same_half(got[r] >> h, half_toward(s, r));
			}
			fesetround(rounds[r]);
			sum = a + b;
			product = p * q;
			fesetround(FE_TONEAREST);
			ok[1] &= f_as(as_f(got[4 + r])) == f_as(sum);
			d = r ? got[10 + 2 * (r - 1)] | (u64)got[11 + 2 * (r - 1)] << 32
			      : 0;
			ok[4] &= !r || d_as(as_d(d)) == d_as(product);
		}
		ok[2] = f_as(as_f(got[8])) == product_flushed(as_f(x[2]), as_f(x[3]));
		for (int h = 0; h < 32; h += 16)
			ok[3] &= same_half(
				got[9] >> h, half_product_flushed(x[0] >> h & 0xffff,
						     x[1] >> h & 0xffff));
		for (int k = 0; k < 5; k++)
			if (!ok[k]) {
				print_message(
					"%s mode: item %u: %s (%08x %08x %08x %08x): "
					"%08x %08x %08x %08x | %08x %08x %08x %08x | "
					"%08x %08x\n",
					what, i, names[k], x[0], x[1], x[2], x[3], got[0],
					got[1], got[2], got[3], got[4], got[5], got[6],
					got[7], got[8], got[9]);
				bad++;
				return;
			}
	}
}

static void check_builtins(const struct sg_image *image, struct sg_code *code,
	const char *what, const char *target)
{
	bool gfx942 = !strcmp(target, "gfx942"), gfx12 = !strcmp(target, "gfx1201");
	const struct {
		const char *kernel;
		bool there;
	} all[] = {{"k_fp8", gfx942 || gfx12}, {"k_smfmac", gfx942}, {"k_swmmac", gfx12},
		{"k_to_lds", gfx942 || !strcmp(target, "gfx90a")}, {"k_mode", true}};

	for (size_t i = 0; i < 5 && strstr(what, "clang-22"); i++)
		if (!sg_image_symbol(image, all[i].kernel) == all[i].there) {
			print_message("%s: %s is %sthere\n", what, all[i].kernel,
				all[i].there ? "not " : "");
			bad++;
		}
	check_fp8(image, code, what, gfx942);
	check_smfmac(image, code, what);
	check_swmmac(image, code, what);
	check_to_lds(image, code, what);
	check_mode(image, code, what);
}

static const char *source(char path[512])
{
	const char *dir = getenv("RCK_SOURCE_DIR");

	snprintf(path, 512, "%s/tests/unit/softgpu/isa-kernels.hip", dir ? dir : ".");
	return path;
}

static void *read_all(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	void *p = NULL;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	p = malloc(*size + 1);
	if (p && fread(p, 1, *size, f) != *size) {
		free(p);
		p = NULL;
	}
	fclose(f);
	return p;
}

/* false: there is no such compiler. */
static bool check(
	const char *llvm, const char *target, const char *level, const char *extra)
{
	char dir[] = "/tmp/rck-isa-XXXXXX", cmd[1400], path[512], clang[64], what[96];
	struct sg_image *image = NULL;
	struct sg_code *code = NULL;
	struct rck_diag diag = {0};
	struct sg_fault fault;
	size_t size = 0;
	void *elf;

	snprintf(clang, sizeof(clang), "/usr/lib/llvm-%s/bin/clang", llvm);
	snprintf(what, sizeof(what), "clang-%s %s %s%s", llvm, target, level, extra);
	if (access(clang, X_OK))
		return false;
	assert_non_null(mkdtemp(dir));
	snprintf(cmd, sizeof(cmd),
		"%s -x hip --cuda-device-only --no-gpu-bundle-output -nogpulib -nogpuinc "
		"-ffp-contract=off --offload-arch=%s %s %s -w '%s' -o %s/k.co",
		clang, target, level, extra, source(path), dir);
	if (system(cmd)) {
		print_message("%s: does not compile\n", what);
		bad++;
		return true;
	}
	/* None of these kernels does what the sanitizer looks for. */
	if (!strcmp(level, "-O2")) {
		snprintf(path, sizeof(path), "%s/findings", dir);
		setenv("RCK_SOFT_SANITIZE", path, 1);
	}
	snprintf(path, sizeof(path), "%s/k.co", dir);
	elf = read_all(path, &size);
	assert_non_null(elf);
	assert_int_equal(sg_image_load(elf, size, NULL, &image, &diag), 0);
	if (sg_code_open("k.co", target, image->base, image->size, NULL, &code, &fault)) {
		print_message("%s: skipped: %s\n", what, fault.text);
	} else {
		check_functions(image, code, what);
		check_reduce(image, code, what);
		check_atomics(image, code, what);
		check_lanes(image, code, what);
		check_turns(image, code, what);
		check_builtins(image, code, what, target);
	}
	unsetenv("RCK_SOFT_SANITIZE");
	if (code) { /* a race is in the one, the other waits for long */
		check_tickets(image, code, what);
		check_sleeper(image, code, what);
	}
	snprintf(cmd, sizeof(cmd), "test ! -s %s/findings || { cat %s/findings; false; }",
		dir, dir);
	bad += system(cmd) != 0;
	sg_code_close(code);
	sg_image_unload(image);
	free(elf);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return !system(cmd);
}

static void run(const char *target)
{
	static const char *const all[] = {"-O0", "-O1", "-O2", "-O3"}, *const few[] = {
									       "-O0",
									       "-O2"};
	const char *const *levels = getenv("RCK_TEST_LONG") ? all : few;
	size_t n = getenv("RCK_TEST_LONG") ? 4 : 2;
	bool any = false;

	bad = 0;
	for (u32 i = 0; i < ITEMS * IN; i++)
		input[i] = random_word();
	for (size_t i = 0; i < n; i++)
		any |= check("22", target, levels[i], "");
	if (!strcmp(target, "gfx1030") || !strcmp(target, "gfx90a"))
		for (size_t i = 0; i < n; i++)
			any |= check("15", target, levels[i], " -DOLD_CLANG");
	if (!strcmp(target, "gfx1030"))
		any |= check("22", target, "-O2", " -mwavefrontsize64");
	assert_int_equal(bad, 0);
	if (!any) {
		print_message("no clang-22 or clang-15\n");
		skip();
	}
}

static void test_gfx1030(void **state)
{
	(void)state;
	run("gfx1030");
}

static void test_gfx1100(void **state)
{
	(void)state;
	run("gfx1100");
}

static void test_gfx1201(void **state)
{
	(void)state;
	run("gfx1201");
}

static void test_gfx90a(void **state)
{
	(void)state;
	run("gfx90a");
}

static void test_gfx942(void **state)
{
	(void)state;
	run("gfx942");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gfx1030),
		cmocka_unit_test(test_gfx1100),
		cmocka_unit_test(test_gfx1201),
		cmocka_unit_test(test_gfx90a),
		cmocka_unit_test(test_gfx942),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
