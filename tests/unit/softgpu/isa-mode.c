/*
 * MODE: rounding, denormals and FP16_OVFL of f16, f32 and f64 operations, against sums in
 * 113 bits with a remainder's sign, rounded here by hand. Every combination of the bits.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "isa-machine.h"

typedef unsigned __int128 uwide;

/* A number and the sign of what it lacks. */
struct num {
	__float128 v;
	int tail;
};

struct form {
	int mant, emin,
		emax; /* bits of fraction, exponents of the smallest and largest */
	int width;
};

static const struct form F16 = {10, -14, 15, 16}, F32 = {23, -126, 127, 32},
			 F64 = {52, -1022, 1023, 64};

static const struct form *form(char type)
{
	return type == 'f' ? &F32 : type == 'd' ? &F64 : &F16;
}

static bool is_nan(__float128 v)
{
	return v != v;
}

static bool is_inf(__float128 v)
{
	return v == v && v - v != 0;
}

static bool minus(__float128 v)
{
	uwide u;

	memcpy(&u, &v, 16);
	return u >> 127;
}

static __float128 scale(__float128 v, int by)
{
	while (by > 0) {
		v *= 2;
		by--;
	}
	while (by < 0) {
		v /= 2;
		by++;
	}
	return v;
}

static __float128 decode(uint64_t bits, char type, uint32_t mode)
{
	const struct form *f = form(type);
	uint64_t m = bits & ((1ull << f->mant) - 1);
	int ebits = f->width - 1 - f->mant,
	    e = (int)(bits >> f->mant) & ((1 << ebits) - 1);
	bool sign = bits >> (f->width - 1) & 1, keep = mode >> (type == 'f' ? 4 : 6) & 1;
	__float128 v;

	if (e == (1 << ebits) - 1)
		v = m ? (__float128)NAN : (__float128)INFINITY;
	else if (!e)
		v = keep ? scale((__float128)m, f->emin - f->mant) : 0;
	else
		v = scale((__float128)(m | 1ull << f->mant), e - f->emax - f->mant);
	return sign ? -v : v;
}

static uint64_t rounded(uwide sig, int shift, int tail, bool neg, unsigned int round)
{
	uwide kept, rest, half;

	/* a remainder below the last bit: between two steps of it */
	sig <<= 2;
	sig = tail > 0 ? sig + 1 : tail < 0 ? sig - 1 : sig;
	shift += 2;
	if (shift > 120)
		shift = 120;
	kept = sig >> shift;
	rest = sig & (((uwide)1 << shift) - 1);
	half = (uwide)1 << (shift - 1);
	if (round == 0)
		kept += rest > half || (rest == half && kept & 1);
	else if (rest && ((round == 1 && !neg) || (round == 2 && neg)))
		kept++;
	return (uint64_t)kept;
}

static uint64_t encode(struct num n, char type, uint32_t mode)
{
	const struct form *f = form(type);
	unsigned int round = mode >> (type == 'f' ? 0 : 2) & 3;
	bool flush = !(mode >> (type == 'f' ? 5 : 7) & 1);
	bool ovfl = type == 'h' && mode >> 23 & 1, neg = minus(n.v), tiny;
	uint64_t sign = neg ? 1ull << (f->width - 1) : 0, r;
	uint64_t inf = (((1ull << (f->width - 1)) - 1) >> f->mant) << f->mant;
	__float128 a = neg ? -n.v : n.v;
	uwide bits, sig;
	int e, tail = neg ? -n.tail : n.tail, shift;

	if (is_nan(n.v))
		return inf | 1ull << (f->mant - 1);
	if (is_inf(n.v))
		return sign | inf;
	if (a == 0)
		return sign;
	memcpy(&bits, &a, 16);
	e = (int)(bits >> 112 & 0x7fff) - 16383;
	sig = (bits & (((uwide)1 << 112) - 1)) | (uwide)1 << 112;
	shift = 112 - f->mant;
	tiny = e < f->emin - 1 ||
	       (e == f->emin - 1 &&
		       !(rounded(sig, shift, tail, neg, round) >> (f->mant + 1)));
	if (tiny && flush)
		return sign;
	if (e < f->emin)
		shift += f->emin - e;
	r = rounded(sig, shift > 118 ? 118 : shift, tail, neg, round);
	if (e >= f->emin)
		r += (uint64_t)(e - f->emin) << f->mant;
	if (r >= inf)
		r = ovfl || round == 3 || (round == 1 && neg) || (round == 2 && !neg)
			    ? inf - 1
			    : inf;
	return sign | r;
}

/* Sums: what 113 bits lose has a sign. Small enough values for no overflow here. */
static struct num plus(__float128 a, __float128 b)
{
	__float128 s = a + b, t = s - a, err = (a - (s - t)) + (b - t);
	struct num n = {s, is_nan(err) ? 0 : (err > 0) - (err < 0)};

	return n;
}

static struct num exact(__float128 v)
{
	struct num n = {v, 0};

	return n;
}

/* An exact zero of two numbers that cancel is +0, but -0 when rounding down. */
static struct num sum(__float128 a, __float128 b, unsigned int round)
{
	struct num n = plus(a, b);

	if (n.v == 0 && (a != 0 || minus(a) != minus(b)))
		n.v = round == 2 ? -(__float128)0 : (__float128)0;
	return n;
}

static struct num quotient(__float128 a, __float128 b)
{
	return exact(a / b); /* a f16 of it is settled long before 113 bits */
}

/*
 * An operation's sources are a, b, c by their types; R is the rounding of its result (so
 * that zeros have their sign). p: two f16 a register, the same in both halves.
 */
#define OPS(X)                                                                           \
	X("v_add_f16 v8, v0, v2", "h:hh", sum(a, b, R))                                  \
	X("v_sub_f16 v8, v0, v2", "h:hh", sum(a, -b, R))                                 \
	X("v_mul_f16 v8, v0, v2", "h:hh", exact(a *b))                                   \
	X("v_fma_f16 v8, v0, v2, v4", "h:hhh", sum(a *b, c, R))                          \
	X("v_fma_f16 v8, -v0, |v2|, v4", "h:hhh", sum(-a *(minus(b) ? -b : b), c, R))    \
	X("v_rcp_f16 v8, v0", "h:h", quotient(1, a))                                     \
	X("v_cvt_f16_f32 v8, v0", "h:f", exact(a))                                       \
	X("v_ldexp_f16 v8, v0, v2", "h:hs", exact(scale(a, (int)b)))                     \
	X("v_pk_add_f16 v8, v0, v2", "p:pp", sum(a, b, R))                               \
	X("v_pk_mul_f16 v8, v0, v2", "p:pp", exact(a *b))                                \
	X("v_pk_fma_f16 v8, v0, v2, v4", "p:ppp", sum(a *b, c, R))                       \
	X("v_fma_mixlo_f16 v8, v0, v2, v4", "h:fff", sum(a *b, c, R))                    \
	X("v_add_f32 v8, v0, v2", "f:ff", sum(a, b, R))                                  \
	X("v_sub_f32 v8, v0, v2", "f:ff", sum(a, -b, R))                                 \
	X("v_mul_f32 v8, v0, v2", "f:ff", exact(a *b))                                   \
	X("v_fma_f32 v8, v0, v2, v4", "f:fff", sum(a *b, c, R))                          \
	X("v_cvt_f32_f64 v8, v[0:1]", "f:d", exact(a))                                   \
	X("v_cvt_f32_f16 v8, v0", "f:h", exact(a))                                       \
	X("v_cvt_f32_i32 v8, v0", "f:i", exact(a))                                       \
	X("v_cvt_f32_u32 v8, v0", "f:u", exact(a))                                       \
	X("v_ldexp_f32 v8, v0, v2", "f:fs", exact(scale(a, (int)b)))                     \
	X("v_fma_mix_f32 v8, v0, v2, v4", "f:fff", sum(a *b, c, R))                      \
	X("v_add_f64 v[8:9], v[0:1], v[2:3]", "d:dd", sum(a, b, R))                      \
	X("v_mul_f64 v[8:9], v[0:1], v[2:3]", "d:dd", exact(a *b))                       \
	X("v_fma_f64 v[8:9], v[0:1], v[2:3], v[4:5]", "d:ddd", sum(a *b, c, R))          \
	X("v_cvt_f64_f32 v[8:9], v0", "d:f", exact(a))                                   \
	X("v_ldexp_f64 v[8:9], v[0:1], v2", "d:ds", exact(scale(a, (int)b)))

static const struct {
	const char *text, *sig;
} ops[] = {
#define ROW(T, S, E) {T, S},
	OPS(ROW)};

static struct num result(
	size_t i, __float128 a, __float128 b, __float128 c, unsigned int R)
{
	enum { FIRST = __COUNTER__ };

	switch (i) {
#define CASE(T, S, E)                                                                    \
	case __COUNTER__ - FIRST - 1:                                                    \
		return E;
		OPS(CASE)
	default:
		return exact(0);
	}
}

/* Bits of this type, many of them near the ends of its range or of each other. */
static uint64_t operand(char type)
{
	const struct form *f = form(type);
	uint64_t r = rnd() | (uint64_t)rnd() << 32, one;

	if (type == 'i' || type == 'u')
		return rnd() >> rnd() % 32;
	if (type == 's')
		return (uint32_t)((int32_t)(rnd() % 61) - 30) & 0xffffffff;
	if (f->width < 64)
		r &= (1ull << f->width) - 1;
	one = (uint64_t)f->emax << f->mant;
	switch (rnd() % 6) {
	case 0: /* denormal or next to it */
		return (r & ((2ull << f->mant) - 1)) |
		       (r >> (f->width - 1) << (f->width - 1));
	case 1: /* few bits: ties */
		return r & ~((1ull << f->mant / 2) - 1);
	case 2: /* near one */
		return one ^ (r & ((4ull << f->mant) - 1)) ^
		       (r >> (f->width - 1) << (f->width - 1));
	case 3: /* the square root of the smallest */
		return (one / 2 + (r & ((4ull << f->mant) - 1))) |
		       (r >> (f->width - 1) << (f->width - 1));
	case 4:
		return rnd() % 4 ? r : (r >> (f->width - 1) << (f->width - 1));
	default:
		return r;
	}
}

static __float128 source(uint64_t bits, char type, uint32_t mode)
{
	switch (type) {
	case 'i':
		return (int32_t)bits;
	case 'u':
		return (uint32_t)bits;
	case 's':
		return (int16_t)bits;
	default:
		return decode(bits, type, mode);
	}
}

static bool agree(uint64_t got, uint64_t want, char type)
{
	const struct form *f = form(type);
	uint64_t all = f->width == 64 ? ~0ull : (1ull << f->width) - 1;
	uint64_t inf = ((all >> 1) >> f->mant) << f->mant;

	got &= all;
	return got == want || ((got & (all >> 1)) > inf && (want & (all >> 1)) > inf);
}

static void check(struct machine *m, size_t op, uint32_t mode)
{
	const char *sig = ops[op].sig, *src = strchr(sig, ':') + 1;
	char out = sig[0] == 'p' ? 'h' : sig[0], why[96];
	uint64_t in[3][32] = {{0}};

	for (int k = 0; k < 3 && src[k]; k++)
		for (uint32_t i = 0; i < 32; i++) {
			char t = src[k] == 'p' ? 'h' : src[k];

			in[k][i] = operand(t);
			if (src[k] == 'p')
				in[k][i] |= in[k][i] << 16;
			machine_v(m, 2 * (uint32_t)k)[i] = (uint32_t)in[k][i];
			machine_v(m, 2 * (uint32_t)k + 1)[i] = (uint32_t)(in[k][i] >> 32);
		}
	m->w->mode = mode;
	sg_mode_changed(m->w);
	if (!machine_run(m, ops[op].text, why))
		fail_msg("%s, MODE %x: %s", ops[op].text, mode, why);
	for (uint32_t i = 0; i < 32; i++) {
		__float128 s[3] = {0};
		uint64_t want,
			got = machine_v(m, 8)[i] | (uint64_t)machine_v(m, 9)[i] << 32;

		for (int k = 0; k < 3 && src[k]; k++)
			s[k] = source(src[k] == 'p' ? in[k][i] & 0xffff : in[k][i],
				src[k] == 'p' ? 'h' : src[k], mode);
		want = encode(
			result(op, s[0], s[1], s[2], mode >> (out == 'f' ? 0 : 2) & 3),
			out, mode);
		if (!agree(got, want, out) ||
			(sig[0] == 'p' && !agree(got >> 16, want, out)))
			fail_msg("%s, MODE %06x, of %llx %llx %llx: %llx, not %llx",
				ops[op].text, mode, (unsigned long long)in[0][i],
				(unsigned long long)in[1][i],
				(unsigned long long)in[2][i], (unsigned long long)got,
				(unsigned long long)want);
	}
}

static void test_modes(void **state)
{
	struct machine *m = machine_new("gfx1030", 32);

	(void)state;
	if (!m)
		skip();
	for (size_t op = 0; op < sizeof(ops) / sizeof(*ops); op++)
		for (uint32_t mode = 0; mode < 512; mode++)
			for (int r = 0; r < 2; r++)
				check(m, op, (mode & 255) | (mode >> 8) << 23);
	print_message("%zu operations in 512 MODEs, %s\n", sizeof(ops) / sizeof(*ops),
		sg_simd_name());
	machine_free(m);
}

/* Each f16 there is, by each rounding, from the floats around and between. */
static void test_convert_exhaustive(void **state)
{
	struct machine *m = machine_new("gfx1030", 32);
	char why[96];

	(void)state;
	if (!m)
		skip();
	for (uint32_t mode = 0; mode < 16; mode++) {
		m->w->mode =
			(mode & 3) << 2 | (mode >> 2 & 1) << 7 | 0x70 | (mode >> 3) << 23;
		sg_mode_changed(m->w);
		for (uint32_t h = 0; h < 65536; h += 8) {
			for (uint32_t i = 0; i < 32; i++) {
				uint32_t u = h + i / 4;
				__float128 v = decode(u, 'h', 0xf0);
				float f = (float)v;

				if (i % 4 == 1)
					f = nextafterf(f, 0);
				if (i % 4 == 2)
					f = nextafterf(f, INFINITY);
				if (i % 4 == 3)
					f = (float)((v + decode(u + 1, 'h', 0xf0)) / 2);
				memcpy(&machine_v(m, 0)[i], &f, 4);
			}
			assert_true(machine_run(m, "v_cvt_f16_f32 v8, v0", why));
			assert_true(
				machine_run(m, "v_cvt_pkrtz_f16_f32 v9, v0, v0", why));
			for (uint32_t i = 0; i < 32; i++) {
				struct num n = exact(
					decode(machine_v(m, 0)[i], 'f', m->w->mode));
				uint64_t want = encode(n, 'h', m->w->mode);
				uint64_t rtz = encode(n, 'h', (m->w->mode & 0x80) | 12);

				if (!agree(machine_v(m, 8)[i], want, 'h') ||
					!agree(machine_v(m, 9)[i] >> 16, rtz, 'h'))
					fail_msg("MODE %x of %08x: %04x %04x, not %04x "
						 "%04x",
						m->w->mode, machine_v(m, 0)[i],
						machine_v(m, 8)[i] & 0xffff,
						machine_v(m, 9)[i] >> 16, (unsigned)want,
						(unsigned)rtz);
			}
		}
	}
	machine_free(m);
}

/* Bytes of numbers are rounded as MODE says, too. */
static void test_bytes(void **state)
{
	struct machine *m = machine_new("gfx1030", 32);
	char why[96];

	(void)state;
	if (!m)
		skip();
	for (uint32_t round = 0; round < 4; round++)
		for (int r = 0; r < 200; r++) {
			m->w->mode = 0xf0 | round;
			sg_mode_changed(m->w);
			for (uint32_t i = 0; i < 32; i++) {
				float f = (float)(int)(rnd() % 1200 - 100) / 4;

				memcpy(&machine_v(m, 0)[i], &f, 4);
			}
			assert_true(machine_run(m, "v_cvt_pk_u8_f32 v8, v0, 1, v2", why));
			for (uint32_t i = 0; i < 32; i++) {
				float f;
				double x;

				memcpy(&f, &machine_v(m, 0)[i], 4);
				x = round == 0   ? nearbyint((double)f)
				    : round == 1 ? ceil((double)f)
				    : round == 2 ? floor((double)f)
						 : trunc((double)f);
				x = x < 0 ? 0 : x > 255 ? 255 : x;
				assert_int_equal(machine_v(m, 8)[i],
					(machine_v(m, 2)[i] & ~0xff00u) | (uint32_t)x
										  << 8);
			}
		}
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_convert_exhaustive),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
