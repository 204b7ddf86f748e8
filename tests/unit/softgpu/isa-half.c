/*
 * Operations of 16 bits on every operand there is. Of one source: all 65536. Of two: all
 * of one against edge values of the other, both ways; with "all" as argument all pairs
 * (suite heavy). Fused multiply-add: all of one, edges of the second, samples of the
 * third. References are doubles rounded by libgcc, or for all pairs floats rounded by the
 * CPU.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <immintrin.h>
#include <math.h>

#include "isa-machine.h"

static double number[65536]; /* what an f16 is worth */
static float number_f[65536];

static uint16_t half(double x)
{
	volatile _Float16 h = (_Float16)x;
	_Float16 g = h;
	uint16_t u;

	memcpy(&u, &g, 2);
	return u;
}

static bool is_nan(uint16_t x)
{
	return (x & 0x7fff) > 0x7c00;
}

static bool signalling(uint16_t x)
{
	return is_nan(x) && !(x & 0x200);
}

static const uint16_t edges[] = {0, 1, 2, 0x3ff, 0x400, 0x401, 0x7fff, 0x8000, 0x8001,
	0x83ff, 0x8400, 0xffff, 0x3bff, 0x3c00, 0x3c01, 0xbc00, 0x7bff, 0x7c00, 0x7c01,
	0x7e00, 0xfbff, 0xfc00, 0xfe00, 0x1400, 0x5800, 0x0f, 0x10, 0x11, 0xfff0, 0x8800,
	0x2e66, 0x6666, 0x3555};
#define EDGES (sizeof(edges) / sizeof(*edges))

/* ---- one source ---- */

static uint16_t clamped(double x, double lo, double hi)
{
	return (uint16_t)(int32_t)(x != x ? 0 : x < lo ? lo : x > hi ? hi : x);
}

static double fraction(double x)
{
	double r = x - floor(x);

	return r > 0x1.ffcp-1 ? 0x1.ffcp-1 : r;
}

static double mantissa(double x)
{
	int e;

	return x - x == 0 ? frexp(x, &e) : x;
}

static int exponent(double x)
{
	int e = 0;

	return x - x == 0 ? (frexp(x, &e), e) : 0;
}

/* h: the f16; x: its number; the result is an f16 (f) or a word (w). */
#define UNARY(X)                                                                         \
	X("v_sqrt_f16 v8, v0", 'f', half(sqrt(x)))                                       \
	X("v_rcp_f16 v8, v0", 'f', half(1 / x))                                          \
	X("v_rsq_f16 v8, v0", 'f', half(1 / sqrt(x)))                                    \
	X("v_exp_f16 v8, v0", 'f', half(exp2(x)))                                        \
	X("v_log_f16 v8, v0", 'f', half(log2(x)))                                        \
	X("v_floor_f16 v8, v0", 'f', half(floor(x)))                                     \
	X("v_ceil_f16 v8, v0", 'f', half(ceil(x)))                                       \
	X("v_trunc_f16 v8, v0", 'f', half(trunc(x)))                                     \
	X("v_rndne_f16 v8, v0", 'f', half(nearbyint(x)))                                 \
	X("v_fract_f16 v8, v0", 'f', half(fraction(x)))                                  \
	X("v_frexp_mant_f16 v8, v0", 'f', half(mantissa(x)))                             \
	X("v_frexp_exp_i16_f16 v8, v0", 'w', (uint16_t)exponent(x))                      \
	X("v_cvt_u16_f16 v8, v0", 'w', clamped(trunc(x), 0, 65535))                      \
	X("v_cvt_i16_f16 v8, v0", 'w', clamped(trunc(x), -32768, 32767))                 \
	X("v_cvt_norm_i16_f16 v8, v0", 'w',                                              \
		clamped(nearbyint(32767 * fmin(fmax(x, -1), 1)), -32767, 32767))         \
	X("v_cvt_norm_u16_f16 v8, v0", 'w',                                              \
		clamped(nearbyint(65535 * fmin(fmax(x, 0), 1)), 0, 65535))               \
	X("v_cvt_f16_u16 v8, v0", 'f', half(h))                                          \
	X("v_cvt_f16_i16 v8, v0", 'f', half((int16_t)h))                                 \
	X("v_mul_f16 v8, -v0, 1.0", 'f', half(-x))                                       \
	X("v_add_f16 v8, |v0|, 0", 'f', half(fabs(x)))                                   \
	X("v_not_b16 v8, v0", 'w', (uint16_t)~h)

static const struct {
	const char *text;
	char type;
} unary[] = {
#define ROW(T, TYPE, E) {T, TYPE},
	UNARY(ROW)};

static uint16_t unary_ref(size_t i, uint16_t h)
{
	enum { FIRST = __COUNTER__ };
	double x = number[h];

	if (!strncmp(unary[i].text, "v_cvt_norm", 10) && x != x)
		return 0;
	switch (i) {
#define CASE(T, TYPE, E)                                                                 \
	case __COUNTER__ - FIRST - 1:                                                    \
		return E;
		UNARY(CASE)
	default:
		return 0;
	}
}

static bool agree(char type, uint16_t got, uint16_t want)
{
	return got == want || (type == 'f' && is_nan(got) && is_nan(want));
}

/* v_not_b16 and its like are of gfx11; not every name is of every target. */
static const char *target_for(const char *text)
{
	return strstr(text, "_b16 v8, v0") && !strstr(text, "shl") && !strstr(text, "shr")
		       ? "gfx1100"
		       : "gfx1030";
}

static void test_one(void **state)
{
	char why[96];

	(void)state;
	for (size_t u = 0; u < sizeof(unary) / sizeof(*unary); u++) {
		struct machine *m = machine_new(target_for(unary[u].text), 32);

		for (uint32_t base = 0; m && base < 65536; base += 32) {
			for (uint32_t i = 0; i < 32; i++)
				machine_v(m, 0)[i] = base + i;
			if (!machine_run(m, unary[u].text, why))
				fail_msg("%s: %s", unary[u].text, why);
			for (uint32_t i = 0; i < 32; i++) {
				uint16_t want = unary_ref(u, (uint16_t)(base + i));

				if (!agree(unary[u].type, (uint16_t)machine_v(m, 8)[i],
					    want))
					fail_msg("%s of %04x: %04x, not %04x",
						unary[u].text, base + i,
						machine_v(m, 8)[i] & 0xffff, want);
			}
		}
		if (m)
			machine_free(m);
	}
}

/* ---- two sources ---- */

static uint16_t least(uint16_t a, uint16_t b, bool most)
{
	if (signalling(a) || signalling(b))
		return 0x7e00;
	if (is_nan(a) || is_nan(b))
		return is_nan(a) ? b : a;
	if (number_f[a] == number_f[b])
		return most ? a & b : a | b; /* zeros: -0 is less */
	return (number_f[a] < number_f[b]) != most ? a : b;
}

static int32_t limited(int32_t x, int32_t lo, int32_t hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/* a and b are the bits; F(x) an f16's number; R(x) rounds to f16. */
#define BINARY(X)                                                                        \
	X(add, "v_add_f16", "v8, v0, v2", 'f', R(F(a) + F(b)))                           \
	X(sub, "v_sub_f16", "v8, v0, v2", 'f', R(F(a) - F(b)))                           \
	X(mul, "v_mul_f16", "v8, v0, v2", 'f', R(F(a) * F(b)))                           \
	X(min, "v_min_f16", "v8, v0, v2", 'f', least(a, b, false))                       \
	X(max, "v_max_f16", "v8, v0, v2", 'f', least(a, b, true))                        \
	X(lt, "v_cmp_lt_f16", "vcc, v0, v2", 'm', F(a) < F(b))                           \
	X(le, "v_cmp_le_f16", "vcc, v0, v2", 'm', F(a) <= F(b))                          \
	X(eq, "v_cmp_eq_f16", "vcc, v0, v2", 'm', F(a) == F(b))                          \
	X(nlg, "v_cmp_nlg_f16", "vcc, v0, v2", 'm', !(F(a) < F(b) || F(a) > F(b)))       \
	X(o, "v_cmp_o_f16", "vcc, v0, v2", 'm', !is_nan(a) && !is_nan(b))                \
	X(addu, "v_add_nc_u16", "v8, v0, v2", 'w', a + b)                                \
	X(subu, "v_sub_nc_u16", "v8, v0, v2", 'w', a - b)                                \
	X(addus, "v_add_nc_u16", "v8, v0, v2 clamp", 'w', limited(a + b, 0, 65535))      \
	X(subus, "v_sub_nc_u16", "v8, v0, v2 clamp", 'w', limited(a - b, 0, 65535))      \
	X(addis, "v_add_nc_i16", "v8, v0, v2 clamp", 'w',                                \
		limited((int16_t)a + (int16_t)b, -32768, 32767))                         \
	X(subis, "v_sub_nc_i16", "v8, v0, v2 clamp", 'w',                                \
		limited((int16_t)a - (int16_t)b, -32768, 32767))                         \
	X(mulu, "v_mul_lo_u16", "v8, v0, v2", 'w', (uint32_t)a *b)                       \
	X(mini, "v_min_i16", "v8, v0, v2", 'w', (int16_t)a < (int16_t)b ? a : b)         \
	X(maxi, "v_max_i16", "v8, v0, v2", 'w', (int16_t)a < (int16_t)b ? b : a)         \
	X(minu, "v_min_u16", "v8, v0, v2", 'w', a < b ? a : b)                           \
	X(maxu, "v_max_u16", "v8, v0, v2", 'w', a < b ? b : a)                           \
	X(shl, "v_lshlrev_b16", "v8, v0, v2", 'w', b << (a & 15))                        \
	X(shr, "v_lshrrev_b16", "v8, v0, v2", 'w', b >> (a & 15))                        \
	X(sar, "v_ashrrev_i16", "v8, v0, v2", 'w', (int16_t)b >> (a & 15))               \
	X(lti, "v_cmp_lt_i16", "vcc, v0, v2", 'm', (int16_t)a < (int16_t)b)              \
	X(ltu, "v_cmp_lt_u16", "vcc, v0, v2", 'm', a < b)                                \
	X(ldexp, "v_ldexp_f16", "v8, v0, v2", 'f',                                       \
		R(ldexp(F(a), limited((int16_t)b, -100, 100))))

/* 64 pairs at a time: a with 64 b in a row, by doubles; then by floats and the CPU. */
typedef void (*ref_fn)(uint16_t a, uint16_t b0, uint16_t out[64]);
#define F(x) number[x]
#define R(x) half(x)
#define SLOW(N, NAME, ARGS, TYPE, E)                                                     \
	static void slow_##N(uint16_t a, uint16_t b0, uint16_t out[64])                  \
	{                                                                                \
		for (uint32_t i = 0; i < 64; i++) {                                      \
			uint16_t b = (uint16_t)(b0 + i);                                 \
			out[i] = (uint16_t)(E);                                          \
		}                                                                        \
	}
BINARY(SLOW)
#undef F
#undef R
#define F(x) number_f[x]
#define R(x) _cvtss_sh(x, 0)
#ifdef __clang__
#define FAST_CODE target("avx2,f16c")
#else
#define FAST_CODE target("avx2,f16c"), optimize("O3")
#endif
#define FAST(N, NAME, ARGS, TYPE, E)                                                     \
	__attribute__((FAST_CODE)) static void fast_##N(                                 \
		uint16_t a, uint16_t b0, uint16_t out[64])                               \
	{                                                                                \
		for (uint32_t i = 0; i < 64; i++) {                                      \
			uint16_t b = (uint16_t)(b0 + i);                                 \
			out[i] = (uint16_t)(E);                                          \
		}                                                                        \
	}
BINARY(FAST)

static const struct {
	const char *name, *args;
	char type;
	ref_fn slow, fast;
} binary[] = {
#define BROW(N, NAME, ARGS, TYPE, E) {NAME, ARGS, TYPE, slow_##N, fast_##N},
	BINARY(BROW)};

static struct sg_inst *decoded(struct machine *m, const char *text)
{
	struct sg_inst *in = sg_program_alloc(m->p, 2 * sizeof(*in));
	char why[96];

	if (!sg_decode(m->p, text, (uint64_t)(uintptr_t)m->code->base, 4, in, why))
		fail_msg("%s: %s", text, why);
	return in;
}

/* One a and 64 b; swapped: the other way round is asked of the reference's order. */
static void check64(struct machine *m, const struct sg_inst *in, size_t k, ref_fn ref,
	uint16_t a, uint16_t b0)
{
	uint32_t *got = machine_v(m, 8), *row = machine_v(m, 2);
	uint16_t want[64];

	for (uint32_t i = 0; i < 64; i++)
		row[i] = (uint16_t)(b0 + i);
	in->exec(m->w, in);
	ref(a, b0, want);
	for (uint32_t i = 0; i < 64; i++) {
		uint16_t g = binary[k].type == 'm'
				     ? (uint16_t)(sg_s64(m->w, SG_S_VCC) >> i & 1)
				     : (uint16_t)got[i];

		if (!agree(binary[k].type, g, want[i]))
			fail_msg("%s of %04x %04x: %04x, not %04x", binary[k].name, a,
				(uint16_t)(b0 + i), g, want[i]);
	}
}

static void put_a(struct machine *m, uint16_t a)
{
	for (uint32_t i = 0; i < 64; i++)
		machine_v(m, 0)[i] = a;
}

static char **named; /* operations to take through all pairs; none: each */

static bool is_named(const char *name)
{
	for (char **n = named; n && *n; n++)
		if (!strcmp(*n, name))
			return true;
	return !named || !*named;
}

static void two(bool all)
{
	struct machine *m = machine_new("gfx1030", 64);
	size_t done = 0;

	if (!m)
		skip();
	for (size_t k = 0; k < sizeof(binary) / sizeof(*binary); k++) {
		char text[96];
		const struct sg_inst *in;

		if (all && !is_named(binary[k].name))
			continue;
		done++;
		snprintf(text, sizeof(text), "%s %s", binary[k].name, binary[k].args);
		in = decoded(m, text);
		for (size_t e = 0; e < EDGES; e++) {
			put_a(m, edges[e]);
			for (uint32_t b = 0; b < 65536; b += 64)
				check64(m, in, k, binary[k].slow, edges[e], (uint16_t)b);
		}
		for (uint32_t a = 0; a < 65536; a++) { /* the other way: edges among 64 */
			put_a(m, (uint16_t)a);
			for (size_t e = a % 3; e < EDGES; e += 8)
				check64(m, in, k, binary[k].fast, (uint16_t)a,
					(uint16_t)(edges[e] - 2));
		}
		for (uint32_t a = 0; all && a < 65536; a++) {
			put_a(m, (uint16_t)a);
			for (uint32_t b = 0; b < 65536; b += 64)
				check64(m, in, k, binary[k].fast, (uint16_t)a,
					(uint16_t)b);
		}
		if (all)
			print_message("%s: all 2^32 pairs\n", text);
	}
	assert_true(done > 0);
	machine_free(m);
}

static void test_two(void **state)
{
	(void)state;
	two(false);
}

static void test_all(void **state)
{
	(void)state;
	two(true);
}

/* ---- fma: the product has 22 bits, the sum with a third f16 fits 113 ---- */

static void test_fma(void **state)
{
	struct machine *m = machine_new("gfx1030", 32);
	const struct sg_inst *in;

	(void)state;
	if (!m)
		skip();
	in = decoded(m, "v_fma_f16 v8, v0, v2, v4");
	for (size_t e = 0; e < EDGES; e++)
		for (uint32_t base = 0; base < 65536; base += 32) {
			for (uint32_t i = 0; i < 32; i++) {
				machine_v(m, 0)[i] = base + i;
				machine_v(m, 2)[i] = edges[e];
				machine_v(m, 4)[i] =
					rnd() % 3 ? rnd() & 0xffff : edges[rnd() % EDGES];
			}
			in->exec(m->w, in);
			for (uint32_t i = 0; i < 32; i++) {
				uint16_t c = (uint16_t)machine_v(m, 4)[i];
				__float128 s =
					(__float128)number[base + i] * number[edges[e]] +
					number[c];
				_Float16 h = (_Float16)s;
				uint16_t want, got = (uint16_t)machine_v(m, 8)[i];

				memcpy(&want, &h, 2);
				if (!agree('f', got, want))
					fail_msg("fma of %04x %04x %04x: %04x, not %04x",
						base + i, edges[e], c, got, want);
			}
		}
	machine_free(m);
}

/* Division as LLVM spells it for f16: by rcp in f32 and div_fixup, all by edges. */
static void test_division(void **state)
{
	static const char *const steps[] = {"v_cvt_f32_f16 v10, v0",
		"v_cvt_f32_f16 v11, v2", "v_rcp_f32 v12, v11", "v_mul_f32 v13, v10, v12",
		"v_fma_f32 v14, -v11, v13, v10", "v_fma_f32 v13, v14, v12, v13",
		"v_fma_f32 v14, -v11, v13, v10", "v_mul_f32 v14, v14, v12",
		"v_and_b32 v14, 0xff800000, v14", "v_add_f32 v13, v14, v13",
		"v_cvt_f16_f32 v13, v13", "v_div_fixup_f16 v8, v13, v2, v0"};
	struct machine *m = machine_new("gfx1030", 32);
	const struct sg_inst *in[12];

	(void)state;
	if (!m)
		skip();
	for (size_t k = 0; k < 12; k++)
		in[k] = decoded(m, steps[k]);
	for (size_t e = 0; e < 2 * EDGES; e++)
		for (uint32_t base = 0; base < 65536; base += 32) {
			for (uint32_t i = 0; i < 32; i++) {
				machine_v(m, 0)[i] =
					e < EDGES ? base + i : edges[e - EDGES];
				machine_v(m, 2)[i] = e < EDGES ? edges[e] : base + i;
			}
			for (size_t k = 0; k < 12; k++)
				in[k]->exec(m->w, in[k]);
			for (uint32_t i = 0; i < 32; i++) {
				uint16_t a = (uint16_t)machine_v(m, 0)[i],
					 b = (uint16_t)machine_v(m, 2)[i];
				uint16_t want = half(number[a] / number[b]);

				if (!agree('f', (uint16_t)machine_v(m, 8)[i], want))
					fail_msg("%04x / %04x: %04x, not %04x", a, b,
						machine_v(m, 8)[i] & 0xffff, want);
			}
		}
	machine_free(m);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_fma),
		cmocka_unit_test(test_division),
	};
	const struct CMUnitTest all[] = {cmocka_unit_test(test_all)};

	for (uint32_t h = 0; h < 65536; h++) {
		uint16_t u = (uint16_t)h;
		_Float16 f;

		memcpy(&f, &u, 2);
		number[h] = (double)f;
		number_f[h] = (float)f;
	}
	if (argc > 1 && !strcmp(argv[1], "all")) {
		named = argv + 2;
		if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("f16c")) {
			printf("no AVX2 or F16C\n");
			return 77;
		}
		return cmocka_run_group_tests_name("all pairs", all, NULL, NULL);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
