/*
 * 8-bit floats against a reference that knows them only as lists of 256 numbers: what a
 * byte is worth, which number of the list is nearest, and for stochastic rounding between
 * which two a value lies and how far along.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa-fp8.h"
#include "isa-machine.h"

static struct machine *machine_for(const struct format *f)
{
	struct machine *m = machine_new(f->target, f->lanes);

	if (!m)
		print_message("%s: no disassembler\n", f->target);
	return m;
}

static void put_mode(struct machine *m, bool ovfl)
{
	m->w->mode = 0xf0 | (ovfl ? 1u << 23 : 0);
	sg_mode_changed(m->w);
}

static void run(struct machine *m, const char *fmt, ...)
{
	char text[128], why[96] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!machine_run(m, text, why))
		fail_msg("'%s': %s", text, why);
}

static float get_f(struct machine *m, uint32_t reg, uint32_t i)
{
	float f;

	memcpy(&f, &machine_v(m, reg)[i], 4);
	return f;
}

static bool same(double a, double b)
{
	return a == b ? !!signbit(a) == !!signbit(b) : a != a && b != b;
}

/* Every byte, in every place that a source may name. */
static void test_decode(void **state)
{
	static const char *const places[2][4] = {
		{"_sdwa v8, v0 src0_sel:BYTE_0", "_sdwa v8, v0 src0_sel:BYTE_1",
			"_sdwa v8, v0 src0_sel:BYTE_2", "_sdwa v8, v0 src0_sel:BYTE_3"},
		{" v8, v0", "_e64 v8, v0 byte_sel:1", "_e64 v8, v0 byte_sel:2",
			"_e64 v8, v0 byte_sel:3"}};

	(void)state;
	for (size_t t = 0; t < 4; t++) {
		const struct format *f = &formats[t];
		struct machine *m = machine_for(f);

		for (uint32_t base = 0; m && base < 256; base += m->lanes)
			for (int k = 0; k < 4; k++) {
				for (uint32_t i = 0; i < m->lanes; i++) {
					machine_v(m, 0)[i] = rnd();
					((uint8_t *)&machine_v(m, 0)[i])[k] =
						(uint8_t)(base + i);
				}
				run(m, "v_cvt_f32_%s%s", f->name, places[!f->fnuz][k]);
				for (uint32_t i = 0; i < m->lanes; i++)
					if (!same(get_f(m, 8, i), value(f, base + i)))
						fail_msg("%s %s %02x: %a", f->target,
							f->name, base + i,
							get_f(m, 8, i));
				if (k & 1)
					continue;
				if (f->fnuz)
					run(m,
						"v_cvt_pk_f32_%s_sdwa v[8:9], v0 "
						"src0_sel:WORD_%d",
						f->name, k / 2);
				else
					run(m,
						"v_cvt_pk_f32_%s_e64 v[8:9], v0 "
						"op_sel:[%d,0]",
						f->name, k / 2);
				for (uint32_t i = 0; i < m->lanes; i++) {
					uint32_t w = machine_v(m, 0)[i] >> 8 * k;

					assert_true(
						same(get_f(m, 8, i), value(f, w & 255)));
					assert_true(same(
						get_f(m, 9, i), value(f, w >> 8 & 255)));
				}
			}
		if (m)
			machine_free(m);
	}
}

/* A float of number n of a run: all upper halves, each with some lower ones. */
static float sample(uint32_t n)
{
	static const uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
	uint32_t u = n << 16 | (rnd() % 3 ? low[rnd() % 6] : rnd() & 0xffff);
	float f;

	memcpy(&f, &u, 4);
	return f;
}

/* A value at, below or above a number of the list, or halfway between two. */
static float boundary(const struct format *f)
{
	unsigned int k = rnd() % largest(f);
	double v = rnd() % 2 ? value(f, k) : (value(f, k) + value(f, k + 1)) / 2;
	float x = (float)v;

	if (rnd() % 8 == 0)
		x = (float)(value(f, largest(f)) * (1 + rnd() % 64 / 512.0));
	if (rnd() % 3)
		x = nextafterf(x, rnd() % 2 ? INFINITY : 0);
	return rnd() % 2 ? -x : x;
}

static void test_encode(void **state)
{
	(void)state;
	for (size_t t = 0; t < 4; t++) {
		const struct format *f = &formats[t];
		struct machine *m = machine_for(f);

		for (uint32_t n = 0; m && n < 65536 * 2; n += m->lanes) {
			bool high = n / m->lanes % 2, ovfl = n / m->lanes / 2 % 2;
			uint32_t old[64];

			put_mode(m, ovfl);
			for (uint32_t i = 0; i < m->lanes; i++) {
				float a = sample(n + i), b = boundary(f);

				memcpy(&machine_v(m, 0)[i], &a, 4);
				memcpy(&machine_v(m, 2)[i], &b, 4);
				old[i] = machine_v(m, 8)[i] = rnd();
			}
			run(m, "v_cvt_pk_%s_f32 v8, -v0, v2%s", f->name,
				high ? " op_sel:[0,0,1]" : "");
			for (uint32_t i = 0; i < m->lanes; i++) {
				uint32_t want = nearest(f, -get_f(m, 0, i), ovfl) |
						nearest(f, get_f(m, 2, i), ovfl) << 8;

				want = high ? (old[i] & 0xffff) | want << 16
					    : (old[i] & 0xffff0000) | want;
				if (machine_v(m, 8)[i] != want)
					fail_msg("%s %s of %a %a: %08x, not %08x",
						f->target, f->name, -get_f(m, 0, i),
						get_f(m, 2, i), machine_v(m, 8)[i], want);
			}
		}
		if (m)
			machine_free(m);
	}
}

static void test_stochastic(void **state)
{
	static const char *const places[2][4] = {
		{"", " op_sel:[0,0,1,0]", " op_sel:[0,0,0,1]", " op_sel:[0,0,1,1]"},
		{"", " byte_sel:1", " byte_sel:2", " byte_sel:3"}};

	(void)state;
	for (size_t t = 0; t < 4; t++) {
		const struct format *f = &formats[t];
		struct machine *m = machine_for(f);

		for (uint32_t n = 0; m && n < 65536; n += m->lanes) {
			uint32_t old[64], k = n / m->lanes % 4;
			bool ovfl = n / m->lanes / 4 % 2;

			put_mode(m, ovfl);
			for (uint32_t i = 0; i < m->lanes; i++) {
				float a = rnd() % 2 ? sample(n + i) : boundary(f);

				memcpy(&machine_v(m, 0)[i], &a, 4);
				machine_v(m, 2)[i] = rnd() % 8   ? rnd()
						     : rnd() % 2 ? ~0u
								 : 0;
				old[i] = machine_v(m, 8)[i] = rnd();
			}
			run(m, "v_cvt_sr_%s_f32 v8, |v0|, v2%s", f->name,
				places[!f->fnuz][k]);
			for (uint32_t i = 0; i < m->lanes; i++) {
				uint32_t want = stochastic(f, fabsf(get_f(m, 0, i)),
					machine_v(m, 2)[i], ovfl);

				want = (old[i] & ~(255u << 8 * k)) | want << 8 * k;
				if (machine_v(m, 8)[i] != want)
					fail_msg("%s %s of %a seed %08x: %08x, not %08x",
						f->target, f->name, get_f(m, 0, i),
						machine_v(m, 2)[i], machine_v(m, 8)[i],
						want);
			}
		}
		if (m)
			machine_free(m);
	}
}

/* Small whole numbers, so that the order of summing does not matter. */
static void test_dot(void **state)
{
	static const char *const names[] = {"fp8", "bf8"};
	struct machine *m = machine_new("gfx1201", 32);

	(void)state;
	if (!m)
		skip();
	for (unsigned int r = 0; r < 200; r++) {
		const struct format *fa = &formats[2 + (r & 1)],
				    *fb = &formats[2 + (r >> 1 & 1)];

		for (uint32_t i = 0; i < 32; i++) {
			float c = (float)(int)(rnd() % 200) - 100;

			machine_v(m, 0)[i] = machine_v(m, 2)[i] = 0;
			memcpy(&machine_v(m, 4)[i], &c, 4);
			for (int k = 0; k < 4; k++) {
				((uint8_t *)&machine_v(m, 0)[i])[k] = (uint8_t)nearest(
					fa, (float)(int)(rnd() % 9) - 4, 0);
				((uint8_t *)&machine_v(m, 2)[i])[k] = (uint8_t)nearest(
					fb, (float)(int)(rnd() % 9) - 4, 0);
			}
		}
		run(m, "v_dot4_f32_%s_%s v8, v0, v2, v4", names[r & 1],
			names[r >> 1 & 1]);
		for (uint32_t i = 0; i < 32; i++) {
			double want = get_f(m, 4, i);

			for (int k = 0; k < 4; k++)
				want += value(fa, machine_v(m, 0)[i] >> 8 * k & 255) *
					value(fb, machine_v(m, 2)[i] >> 8 * k & 255);
			assert_true(get_f(m, 8, i) == want);
		}
	}
	machine_free(m);
}

static void test_refused(void **state)
{
	static const char *const text[] = {"v_cvt_f32_fp8_e64 v8, v0 byte_sel:4",
		"v_add_f32_e64 v8, v0, v2 byte_sel:1", "v_cvt_sr_fp8_f32 v8, v0, -v2",
		"v_cvt_sr_fp8_f32 v8, v0, v2 op_sel:[1,0,0,0]",
		"v_cvt_sr_fp8_f32 v8, v0, v2 clamp",
		"v_cvt_pk_fp8_f32 v8, v0, v2 op_sel:[1,0,0]",
		"v_cvt_pk_fp8_f32 v8, v0, v2 mul:2",
		"v_add_f32_e64 v8, v0, v2 op_sel:[0,0,1]"};
	struct machine *m = machine_new("gfx942", 64);
	const char *accepted;

	(void)state;
	if (!m)
		skip();
	accepted = machine_accepts(m, text, sizeof(text) / sizeof(*text), 8);
	if (accepted)
		fail_msg("'%s' was accepted", accepted);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_encode),
		cmocka_unit_test(test_stochastic),
		cmocka_unit_test(test_dot),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
