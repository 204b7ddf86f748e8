/*
 * Matrix operations against plain loops, with the places of elements written out for each
 * shape as AMD's ISA guides draw them. Small whole numbers, so that no order of summing
 * matters.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa-machine.h"

/* Where A's (row i, k) is; B's (column i, k) too: lane and element of it. */
typedef void (*ab_fn)(int i, int k, int block, int *lane, int *element);
/* Where D's (row i, column j) is: lane and register. */
typedef void (*d_fn)(int i, int j, int block, int *lane, int *reg);

/* clang-format off */
#define AB(N, L, E) static void N(int i, int k, int b, int *lane, int *element) \
	{ (void)i; (void)k; (void)b; *lane = (L); *element = (E); }
#define DD(N, L, R) static void N(int i, int j, int b, int *lane, int *reg) \
	{ (void)i; (void)j; (void)b; *lane = (L); *reg = (R); }
AB(ab_16x4, i + 16 * k, 0)
AB(ab_32x2, i + 32 * k, 0)
AB(ab_4x1, i + 4 * b, 0)
AB(ab_32x8h, i + 32 * (k / 4), k % 4)
AB(ab_16x16h, i + 16 * (k / 4), k % 4)
AB(ab_16x16i, i + 16 * (k / 4), k % 4)
AB(ab_16x32i, i + 16 * (k / 8), k % 8)
AB(ab_wmma11, i, k)
AB(ab_wmma12, i + 16 * (k / 8), k % 8)
DD(d_16, j + 16 * (i / 4), i % 4)
DD(d_32, j + 32 * (i / 4 % 2), i / 8 * 4 + i % 4)
DD(d_4, j + 4 * b, i)
DD(d_f64, j + 16 * (i % 4), i / 4)
DD(d_wmma11, j + 16 * (i % 2), i / 2)
DD(d_wmma11_64, j + 16 * (i % 4), i / 4)
DD(d_wmma12, j + 16 * (i / 8), i % 8)
/* clang-format on */

static const struct shape {
	const char *target, *text;
	int lanes, n, k, blocks;
	char a, d;
	ab_fn ab;
	d_fn dd;
} shapes[] = {
	{"gfx90a", "v_mfma_f32_16x16x4f32 v[64:67], v0, v16, v[32:35]", 64, 16, 4, 1, 'f',
		'f', ab_16x4, d_16},
	{"gfx90a", "v_mfma_f32_32x32x2f32 a[0:15], v0, v16, v[32:47]", 64, 32, 2, 1, 'f',
		'f', ab_32x2, d_32},
	{"gfx90a", "v_mfma_f32_4x4x1f32 v[64:67], v0, v16, v[32:35]", 64, 4, 1, 16, 'f',
		'f', ab_4x1, d_4},
	{"gfx90a", "v_mfma_f32_32x32x8f16 v[64:79], v[0:1], v[16:17], v[32:47]", 64, 32,
		8, 1, 'h', 'f', ab_32x8h, d_32},
	{"gfx90a", "v_mfma_f32_16x16x16f16 v[64:67], v[0:1], v[16:17], v[32:35]", 64, 16,
		16, 1, 'h', 'f', ab_16x16h, d_16},
	{"gfx90a", "v_mfma_f32_16x16x16bf16_1k v[64:67], v[0:1], v[16:17], v[32:35]", 64,
		16, 16, 1, 'y', 'f', ab_16x16h, d_16},
	{"gfx90a", "v_mfma_i32_16x16x16i8 v[64:67], v0, v16, v[32:35]", 64, 16, 16, 1,
		'i', 'i', ab_16x16i, d_16},
	{"gfx90a", "v_mfma_f64_16x16x4f64 v[64:71], v[0:1], v[16:17], v[32:39]", 64, 16,
		4, 1, 'd', 'd', ab_16x4, d_f64},
	{"gfx942", "v_mfma_i32_16x16x32_i8 v[64:67], v[0:1], v[16:17], v[32:35]", 64, 16,
		32, 1, 'i', 'i', ab_16x32i, d_16},
	{"gfx942", "v_mfma_f32_32x32x8_f16 v[64:79], v[0:1], v[16:17], v[32:47]", 64, 32,
		8, 1, 'h', 'f', ab_32x8h, d_32},
	{"gfx1100", "v_wmma_f32_16x16x16_f16 v[64:71], v[0:7], v[16:23], v[32:39]", 32,
		16, 16, 1, 'h', 'f', ab_wmma11, d_wmma11},
	{"gfx1100", "v_wmma_f32_16x16x16_bf16 v[64:71], v[0:7], v[16:23], v[32:39]", 32,
		16, 16, 1, 'y', 'f', ab_wmma11, d_wmma11},
	{"gfx1100",
		"v_wmma_i32_16x16x16_iu8 v[64:71], v[0:3], v[16:19], v[32:39] "
		"neg_lo:[1,1,0]",
		32, 16, 16, 1, 'i', 'i', ab_wmma11, d_wmma11},
	{"gfx1100", "v_wmma_f32_16x16x16_f16 v[64:67], v[0:7], v[16:23], v[32:35]", 64,
		16, 16, 1, 'h', 'f', ab_wmma11, d_wmma11_64},
	{"gfx1201", "v_wmma_f32_16x16x16_f16 v[64:71], v[0:3], v[16:19], v[32:39]", 32,
		16, 16, 1, 'h', 'f', ab_wmma12, d_wmma12},
	{"gfx1201",
		"v_wmma_i32_16x16x16_iu8 v[64:71], v[0:1], v[16:17], v[32:39] "
		"neg_lo:[1,1,0]",
		32, 16, 16, 1, 'i', 'i', ab_wmma12, d_wmma12},
};

/* A whole number as element e of a lane in the registers from reg on. */
static void put(struct machine *m, int reg, int lane, int e, char type, int value)
{
	uint32_t *v = machine_v(m, (uint32_t)reg) + lane, u;
	double d = value;
	float f = (float)value;
	_Float16 h = (_Float16)value;
	uint16_t x;

	switch (type) {
	case 'd':
		v += 2 * e * (int)m->lanes;
		memcpy(v, &d, 4);
		memcpy(v + m->lanes, (char *)&d + 4, 4);
		return;
	case 'f':
		memcpy(v + e * (int)m->lanes, &f, 4);
		return;
	case 'i': /* bytes in A and B; words are put as 'w' */
		v += e / 4 * (int)m->lanes;
		*v = (*v & ~(0xffu << 8 * (e % 4))) | (uint32_t)(uint8_t)value
							      << 8 * (e % 4);
		return;
	case 'w':
		v[e * (int)m->lanes] = (uint32_t)value;
		return;
	default:
		memcpy(&x, &h, 2);
		memcpy(&u, &f, 4);
		u = type == 'y' ? u >> 16 : x;
		v += e / 2 * (int)m->lanes;
		*v = (*v & ~(0xffffu << 16 * (e % 2))) | u << 16 * (e % 2);
	}
}

static int get(struct machine *m, int reg, int lane, int e, char type)
{
	uint32_t *v = machine_v(m, (uint32_t)reg) + lane;
	double d;
	float f;

	if (type == 'd') {
		v += 2 * e * (int)m->lanes;
		memcpy(&d, v, 4);
		memcpy((char *)&d + 4, v + m->lanes, 4);
		return (int)d;
	}
	v += e * (int)m->lanes;
	memcpy(&f, v, 4);
	return type == 'f' ? (int)f : (int)*v;
}

static void check(const struct shape *s)
{
	static int a[16][32][32], b[16][32][32], c[16][32][32];
	struct machine *m = machine_new(s->target, (uint32_t)s->lanes);
	int to = strstr(s->text, " a[") ? SG_VGPRS : 64, lane, e;
	char why[96];

	if (!m) {
		print_message("%s: no disassembler\n", s->target);
		return;
	}
	for (int blk = 0; blk < s->blocks; blk++)
		for (int i = 0; i < s->n; i++)
			for (int k = 0; k < 32; k++) {
				a[blk][i][k] = (int)(rnd() % 15) - 7;
				b[blk][i][k] = (int)(rnd() % 15) - 7;
				c[blk][i][k] = (int)(rnd() % 99) - 49;
				if (k < s->k) {
					s->ab(i, k, blk, &lane, &e);
					put(m, 0, lane, e, s->a, a[blk][i][k]);
					put(m, 16, lane, e, s->a, b[blk][i][k]);
					if (!strncmp(s->target, "gfx11",
						    5)) /* both halves have it */
						for (int l = lane; l < s->lanes;
							l += 16) {
							put(m, 0, l, e, s->a,
								a[blk][i][k]);
							put(m, 16, l, e, s->a,
								b[blk][i][k]);
						}
				}
				if (k < s->n) {
					s->dd(i, k, blk, &lane, &e);
					put(m, 32, lane, e, s->d == 'i' ? 'w' : s->d,
						c[blk][i][k]);
				}
			}
	if (!machine_run(m, s->text, why))
		fail_msg("%s %s: %s", s->target, s->text, why);
	for (int blk = 0; blk < s->blocks; blk++)
		for (int i = 0; i < s->n; i++)
			for (int j = 0; j < s->n; j++) {
				int want = c[blk][i][j], got;

				for (int k = 0; k < s->k; k++)
					want += a[blk][i][k] * b[blk][j][k];
				s->dd(i, j, blk, &lane, &e);
				got = get(m, to, lane, e, s->d);
				if (got != want)
					fail_msg("%s %s: block %d (%d,%d): %d, not %d",
						s->target, s->text, blk, i, j, got, want);
			}
	machine_free(m);
}

static void test_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		check(&shapes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
