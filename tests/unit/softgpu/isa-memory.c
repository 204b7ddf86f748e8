/* Loads that go straight into LDS, and buffer accesses that convert: what arrives where.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "isa-machine.h"

static uint32_t memory[4096];

static void run(struct machine *m, const char *text)
{
	char why[96] = "";

	if (!machine_run(m, text, why))
		fail_msg("'%s': %s", text, why);
}

static void put64(struct machine *m, uint32_t reg, uint32_t lane, uint64_t v)
{
	machine_v(m, reg)[lane] = (uint32_t)v;
	machine_v(m, reg + 1)[lane] = (uint32_t)(v >> 32);
}

static struct machine *fresh(const char *target)
{
	struct machine *m = machine_new(target, 64);

	if (!m)
		return NULL;
	for (size_t i = 0; i < 4096; i++)
		memory[i] = rnd();
	for (size_t i = 0; i < 4096; i++)
		m->group.lds[i] = (uint8_t)rnd();
	return m;
}

/* The dword that a load of this width makes of bytes at p. */
static uint32_t loaded(const uint8_t *p, const char *width)
{
	uint16_t h;
	uint32_t x;

	memcpy(&h, p, 2);
	memcpy(&x, p, 4);
	return !strcmp(width, "ubyte")    ? *p
	       : !strcmp(width, "sbyte")  ? (uint32_t)(int8_t)*p
	       : !strcmp(width, "ushort") ? h
	       : !strcmp(width, "sshort") ? (uint32_t)(int16_t)h
					  : x;
}

static const char *const widths[] = {"ubyte", "sbyte", "ushort", "sshort", "dword"};

static void check_lds(struct machine *m, const uint8_t *before, uint32_t at,
	uint64_t exec, const uint32_t want[64], const char *text)
{
	uint8_t expected[4096];

	memcpy(expected, before, sizeof(expected));
	for (uint32_t i = 0; i < 64; i++)
		if (exec >> i & 1 && at + 4 * i <= 4092)
			memcpy(expected + at + 4 * i, &want[i], 4);
	if (memcmp(m->group.lds, expected, sizeof(expected)))
		fail_msg("%s: LDS is not as it should be", text);
}

static void test_global(void **state)
{
	struct machine *m = fresh("gfx942");
	uint8_t before[4096];

	(void)state;
	if (!m)
		skip();
	for (unsigned int r = 0; r < 200; r++) {
		const char *width = widths[r % 5];
		bool scalar = r & 1;
		uint32_t offset = rnd() % 16 * 4, want[64], at;
		uint64_t exec = rnd() | (uint64_t)rnd() << 32;
		char text[96];

		m->w->s[SG_S_M0] = r % 7 ? rnd() % 900 * 4 : 4096 - 32;
		at = m->w->s[SG_S_M0] + offset;
		sg_set_s64(m->w, 4, (uint64_t)(uintptr_t)memory);
		for (uint32_t i = 0; i < 64; i++) {
			uint32_t to = rnd() % 16000 & ~3u;

			if (scalar)
				machine_v(m, 2)[i] = to;
			else
				put64(m, 2, i, (uint64_t)(uintptr_t)memory + to);
			want[i] = loaded((uint8_t *)memory + to + offset, width);
		}
		memcpy(before, m->group.lds, sizeof(before));
		machine_exec(m, exec);
		snprintf(text, sizeof(text), "global_load_lds_%s %s offset:%u", width,
			scalar ? "v2, s[4:5]" : "v[2:3], off", offset);
		run(m, text);
		check_lds(m, before, at, exec, want, text);
	}
	machine_free(m);
}

static void test_buffer(void **state)
{
	struct machine *m = fresh("gfx90a");
	uint8_t before[4096];

	(void)state;
	if (!m)
		skip();
	for (unsigned int r = 0; r < 200; r++) {
		const char *width = widths[r % 5];
		uint32_t offset = rnd() % 64 * 4, want[64], at, soffset = rnd() % 32 * 4;
		uint64_t exec = rnd() | (uint64_t)rnd() << 32,
			 base = (uint64_t)(uintptr_t)memory;
		char text[96];

		m->w->s[SG_S_M0] = rnd() % 700 * 4;
		at = m->w->s[SG_S_M0] + offset;
		m->w->s[8] = (uint32_t)base;
		m->w->s[9] = (uint32_t)(base >> 32) & 0xffff;
		m->w->s[10] = 12000; /* beyond it: zeros */
		m->w->s[11] = 0x00020000;
		m->w->s[3] = soffset;
		for (uint32_t i = 0; i < 64; i++) {
			uint32_t to = rnd() % 14000 & ~3u;

			machine_v(m, 0)[i] = to;
			want[i] = to + offset + 4 > 12000
					  ? 0
					  : loaded((uint8_t *)memory + to + offset +
							    soffset,
						    width);
			if (strcmp(width, "dword") && to + offset < 12000)
				machine_v(m, 0)[i] = 0;
			if (strcmp(width, "dword") && to + offset < 12000)
				want[i] = loaded(
					(uint8_t *)memory + offset + soffset, width);
		}
		memcpy(before, m->group.lds, sizeof(before));
		machine_exec(m, exec);
		snprintf(text, sizeof(text),
			"buffer_load_%s v0, s[8:11], s3 offen offset:%u lds", width,
			offset);
		run(m, text);
		check_lds(m, before, at, exec, want, text);
	}
	machine_free(m);
}

/* Exchanges in LDS that look at what is there. */
static void test_exchanges(void **state)
{
	struct machine *m = fresh("gfx90a");

	(void)state;
	if (!m)
		skip();
	for (int r = 0; r < 100; r++) {
		uint64_t old[64];

		for (uint32_t i = 0; i < 64; i++) {
			machine_v(m, 0)[i] = i * 8;
			machine_v(m, 2)[i] = rnd() >> rnd() % 32;
			machine_v(m, 3)[i] = rnd();
			memcpy(&old[i], m->group.lds + 8 * i, 8);
		}
		run(m, "ds_wrap_rtn_b32 v8, v0, v2, v3");
		for (uint32_t i = 0; i < 64; i++) {
			uint32_t was = (uint32_t)old[i], by = machine_v(m, 2)[i], now;

			memcpy(&now, m->group.lds + 8 * i, 4);
			assert_int_equal(machine_v(m, 8)[i], was);
			assert_int_equal(
				now, was >= by ? was - by : was + machine_v(m, 3)[i]);
			memcpy(&old[i], m->group.lds + 8 * i, 8);
		}
		run(m, "ds_condxchg32_rtn_b64 v[8:9], v0, v[2:3]");
		for (uint32_t i = 0; i < 64; i++) {
			uint32_t now[2];

			memcpy(now, m->group.lds + 8 * i, 8);
			for (uint32_t k = 0; k < 2; k++) {
				uint32_t was = (uint32_t)(old[i] >> 32 * k),
					 d = machine_v(m, 2 + k)[i];

				assert_int_equal(machine_v(m, 8 + k)[i], was);
				assert_int_equal(now[k], d >> 31 ? d & 0x7fffffff : was);
			}
		}
	}
	machine_free(m);
}

/* Registers whose numbers m0 moves: the source's and the result's apart. */
static void test_moved(void **state)
{
	struct machine *m = machine_new("gfx1030", 32);
	uint32_t was[32];

	(void)state;
	if (!m)
		skip();
	m->w->s[SG_S_M0] = 3 | 5 << 16;
	memcpy(was, machine_v(m, 13), sizeof(was));
	run(m, "v_movrelsd_2_b32 v20, v10");
	assert_memory_equal(machine_v(m, 25), was, sizeof(was));
	m->w->s[23] = 77;
	run(m, "s_movrelsd_2_b32 s30, s20");
	assert_int_equal(m->w->s[35], 77);
	machine_free(m);
}

/* ---- formats: fields from the lowest bits, and what a field is worth ---- */

static const struct field_format {
	const char *name;
	int bits[4];
	const char *nums; /* n unorm, s snorm, U uscaled, I sscaled, u uint, i sint, f
			     float */
	int gfx9, gfx10, gfx11; /* data format; the first of its numbers; 0: not there */
} field_formats[] = {
	{"8", {8}, "nsUIui", 1, 1, 1},
	{"16", {16}, "nsUIuif", 2, 7, 7},
	{"8_8", {8, 8}, "nsUIui", 3, 14, 14},
	{"32", {32}, "uif", 4, 20, 20},
	{"16_16", {16, 16}, "nsUIuif", 5, 23, 23},
	{"10_11_11", {11, 11, 10}, "nsUIuif", 6, 30, 0},
	{"2_10_10_10", {10, 10, 10, 2}, "nsUIui", 9, 50, 36},
	{"8_8_8_8", {8, 8, 8, 8}, "nsUIui", 10, 56, 42},
	{"32_32", {32, 32}, "uif", 11, 62, 48},
	{"16_16_16_16", {16, 16, 16, 16}, "nsUIuif", 12, 65, 51},
	{"32_32_32", {32, 32, 32}, "uif", 13, 72, 58},
	{"32_32_32_32", {32, 32, 32, 32}, "uif", 14, 75, 61},
};

static const char *num_name(char c)
{
	switch (c) {
	case 'n':
		return "UNORM";
	case 's':
		return "SNORM";
	case 'U':
		return "USCALED";
	case 'I':
		return "SSCALED";
	case 'u':
		return "UINT";
	case 'i':
		return "SINT";
	default:
		return "FLOAT";
	}
}

static uint64_t bits_at(const uint8_t *p, int from, int n)
{
	uint64_t r = 0;

	for (int k = 0; k < n; k++)
		r |= (uint64_t)(p[(from + k) / 8] >> (from + k) % 8 & 1) << k;
	return r;
}

static double field_value(uint64_t x, int bits, char num)
{
	int64_t s = x >> (bits - 1) & 1 ? (int64_t)x - (1ll << bits) : (int64_t)x;
	int mant = bits == 16 ? 10 : bits > 5 ? bits - 5 : 0, e = (int)(x >> mant) & 31;
	uint64_t m = x & ((1ull << mant) - 1);
	double v;

	switch (num) {
	case 'n':
		return (double)x / (double)((1ull << bits) - 1);
	case 's':
		v = (double)s / (double)((1ull << (bits - 1)) - 1);
		return v < -1 ? -1 : v;
	case 'u':
	case 'U':
		return (double)x;
	case 'i':
	case 'I':
		return (double)s;
	default:
		if (e == 31)
			v = m ? NAN : INFINITY;
		else if (e)
			v = ldexp(1 + ldexp((double)m, -mant), e - 15);
		else
			v = ldexp((double)m, -14 - mant);
		return bits == 16 && x >> 15 ? -v : v;
	}
}

/* What a register holds of component k. */
static uint32_t component(const struct field_format *f, char num, const uint8_t *p, int k)
{
	bool whole = num == 'u' || num == 'i';
	int from = 0;
	float v;
	uint32_t u;

	for (int j = 0; j < k; j++)
		from += f->bits[j];
	if (!f->bits[k])
		return k < 3 ? 0 : whole ? 1 : 0x3f800000;
	if (f->bits[k] == 32)
		return (uint32_t)bits_at(p, from, 32);
	v = (float)field_value(bits_at(p, from, f->bits[k]), f->bits[k], num);
	memcpy(&u, &v, 4);
	return whole ? (uint32_t)(int32_t)v : u;
}

static bool same_float(uint32_t a, uint32_t b)
{
	return a == b || ((a & 0x7fffffff) > 0x7f800000 && (b & 0x7fffffff) > 0x7f800000);
}

/* One load of a format by either way: named in the text, or a number in the descriptor.
 */
static void check_format(
	struct machine *m, const struct field_format *f, const char *num, int gen)
{
	static const char comps[][5] = {"x", "xy", "xyz", "xyzw"};
	static const char order[] = "nsUIui?f"; /* gfx9's number formats */
	int first = gen == 9    ? f->gfx9
		    : gen == 10 ? f->gfx10
				: f->gfx11,
	    n = (int)(rnd() % 4);
	uint32_t word3 = 0xfac; /* components in their order */
	char text[160];

	if (!first)
		return;
	for (uint32_t i = 0; i < m->lanes; i++)
		machine_v(m, 0)[i] = rnd() % 1000 * 4;
	if (gen == 9)
		word3 |= (uint32_t)first << 15 | (uint32_t)(strchr(order, *num) - order)
							 << 12;
	else
		word3 |= (uint32_t)(first + (num - f->nums)) << 12 | 3u << 28;
	m->w->s[11] = word3;
	if (rnd() & 1)
		snprintf(text, sizeof(text),
			"buffer_load_format_%s v[8:%d], v0, s[8:11], s3 offen", comps[n],
			8 + n);
	else if (gen == 9)
		snprintf(text, sizeof(text),
			"tbuffer_load_format_%s v[8:%d], v0, s[8:11], s3 "
			"format:[BUF_DATA_FORMAT_%s,BUF_NUM_FORMAT_%s] offen",
			comps[n], 8 + n, f->name, num_name(*num));
	else
		snprintf(text, sizeof(text),
			"tbuffer_load_format_%s v[8:%d], v0, s[8:11], s3 "
			"format:[BUF_FMT_%s_%s] offen",
			comps[n], 8 + n, f->name, num_name(*num));
	run(m, text);
	for (uint32_t i = 0; i < m->lanes; i++)
		for (int k = 0; k <= n; k++) {
			const uint8_t *p = (uint8_t *)memory + machine_v(m, 0)[i];
			uint32_t want = component(f, *num, p, k);
			uint32_t got = machine_v(m, 8 + (uint32_t)k)[i];

			if (!same_float(got, want))
				fail_msg("gfx%d %s (%s %s), %d: %08x, not %08x", gen,
					text, f->name, num_name(*num), k, got, want);
		}
}

static void formats_of(const char *target, int gen)
{
	struct machine *m = machine_new(target, gen == 9 ? 64 : 32);
	uint64_t base = (uint64_t)(uintptr_t)memory;

	if (!m) {
		print_message("%s: no disassembler\n", target);
		return;
	}
	for (size_t i = 0; i < 4096; i++)
		memory[i] = rnd();
	m->w->s[8] = (uint32_t)base;
	m->w->s[9] = (uint32_t)(base >> 32) & 0xffff;
	m->w->s[10] = sizeof(memory);
	m->w->s[3] = 0;
	for (int r = 0; r < 40; r++)
		for (size_t t = 0; t < sizeof(field_formats) / sizeof(*field_formats);
			t++)
			for (const char *num = field_formats[t].nums; *num; num++)
				check_format(m, &field_formats[t], num, gen);
	machine_free(m);
}

static void test_formats(void **state)
{
	(void)state;
	formats_of("gfx90a", 9);
	formats_of("gfx1030", 10);
	formats_of("gfx1100", 11);
}

/* What was loaded is stored as it was. */
static void test_stores(void **state)
{
	static const struct {
		const char *name;
		size_t size;
	} stored[] = {{"8_8_8_8_UNORM", 4}, {"8_8_8_8_SNORM", 4}, {"16_16_SNORM", 4},
		{"16_16_16_16_FLOAT", 8}, {"2_10_10_10_UNORM", 4},
		{"32_32_32_32_FLOAT", 16}, {"8_8_UINT", 2}, {"16_16_SINT", 4}};
	static uint32_t copy[4096];
	struct machine *m = machine_new("gfx1030", 32);
	uint64_t base = (uint64_t)(uintptr_t)memory, to = (uint64_t)(uintptr_t)copy;
	char text[160], why[96];

	(void)state;
	if (!m)
		skip();
	m->w->s[8] = (uint32_t)base;
	m->w->s[9] = (uint32_t)(base >> 32) & 0xffff;
	m->w->s[12] = (uint32_t)to;
	m->w->s[13] = (uint32_t)(to >> 32) & 0xffff;
	m->w->s[10] = m->w->s[14] = sizeof(memory);
	m->w->s[11] = m->w->s[15] = 0xfac | 3u << 28;
	m->w->s[3] = 0;
	for (uint32_t i = 0; i < 32; i++)
		machine_v(m, 0)[i] = i * 16;
	for (int r = 0; r < 400; r++) {
		for (size_t i = 0; i < 4096; i++) {
			/* not the lowest snorm, which is the next one's equal, nor NaNs
			 */
			memory[i] = rnd() | 0x01010101;
			if (r % 8 == 3)
				memory[i] &= 0xbfffbfff;
			copy[i] = 0;
		}
		snprintf(text, sizeof(text),
			"tbuffer_load_format_xyzw v[8:11], v0, s[8:11], s3 "
			"format:[BUF_FMT_%s] offen",
			stored[r % 8].name);
		run(m, text);
		snprintf(text, sizeof(text),
			"tbuffer_store_format_xyzw v[8:11], v0, s[12:15], s3 "
			"format:[BUF_FMT_%s] offen",
			stored[r % 8].name);
		run(m, text);
		for (uint32_t i = 0; i < 32; i++)
			if (memcmp((uint8_t *)memory + 16 * i, (uint8_t *)copy + 16 * i,
				    stored[r % 8].size))
				fail_msg("%s: lane %u is not stored as it was loaded",
					stored[r % 8].name, i);
	}
	/* an integer that does not fit stops the wave */
	machine_v(m, 8)[3] = 256;
	assert_false(machine_run(m,
		"tbuffer_store_format_x v8, v0, s[12:15], s3 format:[BUF_FMT_8_UINT] "
		"offen",
		why));
	machine_free(m);
}

/* Halves, two a register; and components that the descriptor changes about. */
static void test_selected(void **state)
{
	struct machine *m = machine_new("gfx1030", 32);
	uint64_t base = (uint64_t)(uintptr_t)memory;

	(void)state;
	if (!m)
		skip();
	for (size_t i = 0; i < 4096; i++)
		memory[i] = rnd() & 0xbfffbfff;
	m->w->s[8] = (uint32_t)base;
	m->w->s[9] = (uint32_t)(base >> 32) & 0xffff;
	m->w->s[10] = sizeof(memory);
	m->w->s[3] = 0;
	for (uint32_t i = 0; i < 32; i++)
		machine_v(m, 0)[i] = i * 16;
	m->w->s[11] = 0xfac | 3u << 28;
	run(m, "tbuffer_load_format_d16_xyz v[12:13], v0, s[8:11], s3 "
	       "format:[BUF_FMT_16_16_16_16_FLOAT] offen");
	for (uint32_t i = 0; i < 32; i++) {
		assert_int_equal(machine_v(m, 12)[i], memory[4 * i]);
		assert_int_equal(
			machine_v(m, 13)[i] & 0xffff, memory[4 * i + 1] & 0xffff);
	}
	/* G, R, one, zero of 16_16_UNORM */
	m->w->s[11] = 5 | 4 << 3 | 1 << 6 | 0 << 9 | 23 << 12 | 3u << 28;
	run(m, "buffer_load_format_xyzw v[8:11], v0, s[8:11], s3 offen");
	for (uint32_t i = 0; i < 32; i++) {
		float want[4] = {(float)((memory[4 * i] >> 16) / 65535.0),
			(float)((memory[4 * i] & 0xffff) / 65535.0), 1, 0};

		for (uint32_t k = 0; k < 4; k++)
			assert_memory_equal(&machine_v(m, 8 + k)[i], &want[k], 4);
	}
	machine_free(m);
}

static void test_refused(void **state)
{
	static const char *const text[] = {
		"buffer_load_dwordx2 v0, s[8:11], s3 offen lds",
		"buffer_load_dword v1, v0, s[8:11], s3 offen lds",
		"buffer_store_dword v1, v0, s[8:11], s3 offen lds",
		"global_load_lds_dword v1, v[2:3], off",
		"buffer_load_dword v1, off, s[8:11], s3 format:[BUF_FMT_8_UINT]",
		"tbuffer_load_format_x v1, off, s[8:11], s3 format:[BUF_NUM_FORMAT_ODD]",
		"buffer_load_format_x v1, off, s[8:11], s3 format:[BUF_DATA_FORMAT_8]",
		"v_add_f32 v0, v1, v2 format:3"};
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
		cmocka_unit_test(test_global),
		cmocka_unit_test(test_buffer),
		cmocka_unit_test(test_exchanges),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_stores),
		cmocka_unit_test(test_selected),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
