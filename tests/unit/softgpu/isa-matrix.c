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
AB(ab_16x8x, i + 16 * (k / 2), k % 2)
AB(ab_32x4x, i + 32 * (k / 2), k % 2)
AB(ab_32x16b, i + 32 * (k / 8), k % 8)
AB(ab_wmma12_64, i + 32 * (k / 8) + 16 * (k / 4 % 2), k % 4)
AB(ab_wmma12_64b, i + 32 * (k / 4 % 2) + 16 * (k / 8), k % 4)
AB(ab_wmma11, i, k)
AB(ab_wmma12, i + 16 * (k / 8), k % 8)
DD(d_16, j + 16 * (i / 4), i % 4)
DD(d_32, j + 32 * (i / 4 % 2), i / 8 * 4 + i % 4)
DD(d_4, j + 4 * b, i)
DD(d_f64, j + 16 * (i % 4), i / 4)
DD(d_wmma11, j + 16 * (i % 2), i / 2)
DD(d_wmma11_64, j + 16 * (i % 4), i / 4)
DD(d_wmma12, j + 16 * (i / 8), i % 8)
DD(d_wmma12_64, j + 32 * (i / 4 % 2) + 16 * (i / 8), i % 4)
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
	{"gfx942", "v_mfma_f32_16x16x8_xf32 v[64:67], v[0:1], v[16:17], v[32:35]", 64, 16,
		8, 1, 'f', 'f', ab_16x8x, d_16},
	{"gfx942", "v_mfma_f32_32x32x4_xf32 v[64:79], v[0:1], v[16:17], v[32:47]", 64, 32,
		4, 1, 'f', 'f', ab_32x4x, d_32},
	{"gfx942", "v_mfma_f32_16x16x32_fp8_fp8 v[64:67], v[0:1], v[16:17], v[32:35]", 64,
		16, 32, 1, '8', 'f', ab_16x32i, d_16},
	{"gfx942", "v_mfma_f32_32x32x16_bf8_bf8 v[64:79], v[0:1], v[16:17], v[32:47]", 64,
		32, 16, 1, '5', 'f', ab_32x16b, d_32},
	{"gfx1201", "v_wmma_f32_16x16x16_fp8_fp8 v[64:71], v[0:1], v[16:17], v[32:39]",
		32, 16, 16, 1, '8', 'f', ab_wmma12, d_wmma12},
	{"gfx1201", "v_wmma_f32_16x16x16_bf8_bf8 v[64:67], v0, v16, v[32:35]", 64, 16, 16,
		1, '5', 'f', ab_wmma12_64b, d_wmma12_64},
	{"gfx1201", "v_wmma_f32_16x16x16_f16 v[64:67], v[0:1], v[16:17], v[32:35]", 64,
		16, 16, 1, 'h', 'f', ab_wmma12_64, d_wmma12_64},
	{"gfx1201", "v_wmma_f16_16x16x16_f16 v[64:67], v[0:3], v[16:19], v[32:35]", 32,
		16, 16, 1, 'h', 'h', ab_wmma12, d_wmma12},
	{"gfx1201", "v_wmma_i32_16x16x16_iu4 v[64:67], v0, v16, v[32:35] neg_lo:[1,1,0]",
		64, 16, 16, 1, 'n', 'i', ab_wmma12, d_wmma12_64},
};

/* gfx94x has formats of 8 bits of its own: another bias. */
static bool fnuz;

static uint32_t small_float(char type, int value)
{
	int mant = type == '8' ? 3 : 2, e = 0, v = value < 0 ? -value : value;

	if (!value)
		return 0;
	while (v >> (e + 1))
		e++;
	return (value < 0 ? 0x80u : 0) |
	       (uint32_t)(e + (type == '8' ? 7 : 15) + fnuz) << mant |
	       (uint32_t)((v << mant >> e) & ((1 << mant) - 1));
}

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
	case '8':
	case '5':
		put(m, reg, lane, e, 'i', (int)small_float(type, value));
		return;
	case 'n':
		v += e / 8 * (int)m->lanes;
		*v = (*v & ~(15u << 4 * (e % 8))) | ((uint32_t)value & 15) << 4 * (e % 8);
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
	if (type == 'h') {
		_Float16 h;

		memcpy(&h, (char *)(v + e / 2 * (int)m->lanes) + 2 * (e % 2), 2);
		return (int)(float)h;
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
	fnuz = !strcmp(s->target, "gfx942");
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

/* ---- sparse: of each four of k two are stored, and two bits each say which ---- */

/* clang-format off */
/* Element x (0 or 1) of group g of four: lane, element; the bit of its index's pair. */
#define SP(N, L, E, BIT) static void N(int i, int g, int *lane, int *element, int *bit) \
	{ *lane = (L); *element = (E); *bit = (BIT); }
SP(sp_16h, i + 16 * (g / 2), 2 * (g % 2), 4 * (g % 2))
SP(sp_32h, i + 32 * (g / 2), 2 * (g % 2), 4 * (g % 2))
SP(sp_16b, i + 16 * (g / 4), 2 * (g % 4), 4 * (g % 4))
SP(sp_32b, i + 32 * (g / 4), 2 * (g % 4), 4 * (g % 4))
SP(sp_w32h, i + 16 * (g / 2 % 2), 4 * (g / 4) + 2 * (g % 2), 8 * (g / 4) + 4 * (g % 2))
SP(sp_w32n, i + 16 * (g / 8), 2 * (g % 8), 4 * (g % 8))
SP(sp_w64b, i + 32 * (g / 2 % 2) + 16 * (g / 4), 2 * (g % 2), 4 * (g % 2))
SP(sp_w64n, i + 32 * (g / 4 % 2) + 16 * (g / 8), 2 * (g % 4), 4 * (g % 4))
AB(b_16h, i + 16 * (k / 8), k % 8)
AB(b_32h, i + 32 * (k / 8), k % 8)
AB(b_16b, i + 16 * (k / 16), k % 16)
AB(b_32b, i + 32 * (k / 16), k % 16)
AB(b_w32h, i + 16 * (k / 8 % 2), 8 * (k / 16) + k % 8)
AB(b_w32n, i + 16 * (k / 32), k % 32)
AB(b_w64b, i + 32 * (k / 8 % 2) + 16 * (k / 16), k % 8)
AB(b_w64n, i + 32 * (k / 16 % 2) + 16 * (k / 32), k % 16)
/* clang-format on */

/* D and C in v64, A in v0, B in v16, indices in v32; set: bits below the used ones. */
static const struct sparse {
	const char *target, *text;
	int lanes, n, k, set;
	char a, b, d;
	void (*sp)(int, int, int *, int *, int *);
	ab_fn bb;
	d_fn dd;
} sparse[] = {
	{"gfx942", "v_smfmac_f32_16x16x32_f16 v[64:67], v[0:1], v[16:19], v32", 64, 16,
		32, 0, 'h', 'h', 'f', sp_16h, b_16h, d_16},
	{"gfx942", "v_smfmac_f32_16x16x32_f16 v[64:67], v[0:1], v[16:19], v32 abid:3", 64,
		16, 32, 24, 'h', 'h', 'f', sp_16h, b_16h, d_16},
	{"gfx942",
		"v_smfmac_f32_16x16x32_f16 v[64:67], v[0:1], v[16:19], v32 cbsz:1 abid:3",
		64, 16, 32, 0, 'h', 'h', 'f', sp_16h, b_16h, d_16},
	{"gfx942", "v_smfmac_f32_32x32x16_bf16 v[64:79], v[0:1], v[16:19], v32 abid:1",
		64, 32, 16, 8, 'y', 'y', 'f', sp_32h, b_32h, d_32},
	{"gfx942", "v_smfmac_i32_16x16x64_i8 v[64:67], v[0:1], v[16:19], v32 abid:1", 64,
		16, 64, 16, 'i', 'i', 'i', sp_16b, b_16b, d_16},
	{"gfx942", "v_smfmac_i32_32x32x32_i8 v[64:79], v[0:1], v[16:19], v32", 64, 32, 32,
		0, 'i', 'i', 'i', sp_32b, b_32b, d_32},
	{"gfx942", "v_smfmac_f32_16x16x64_fp8_bf8 v[64:67], v[0:1], v[16:19], v32", 64,
		16, 64, 0, '8', '5', 'f', sp_16b, b_16b, d_16},
	{"gfx942", "v_smfmac_f32_32x32x32_bf8_fp8 v[64:79], v[0:1], v[16:19], v32 abid:1",
		64, 32, 32, 16, '5', '8', 'f', sp_32b, b_32b, d_32},
	{"gfx1201",
		"v_swmmac_f32_16x16x32_f16 v[64:71], v[0:3], v[16:23], v32 index_key:1",
		32, 16, 32, 16, 'h', 'h', 'f', sp_w32h, b_w32h, d_wmma12},
	{"gfx1201",
		"v_swmmac_f32_16x16x32_bf16 v[64:67], v[0:1], v[16:19], v32 index_key:3",
		64, 16, 32, 24, 'y', 'y', 'f', sp_16h, b_16h, d_wmma12_64},
	{"gfx1201", "v_swmmac_f16_16x16x32_f16 v[64:67], v[0:3], v[16:23], v32", 32, 16,
		32, 0, 'h', 'h', 'h', sp_w32h, b_w32h, d_wmma12},
	{"gfx1201",
		"v_swmmac_i32_16x16x32_iu8 v[64:71], v[0:1], v[16:19], v32 "
		"neg_lo:[1,1,0]",
		32, 16, 32, 0, 'i', 'i', 'i', sp_16b, b_16b, d_wmma12},
	{"gfx1201",
		"v_swmmac_i32_16x16x32_iu8 v[64:67], v0, v[16:17], v32 neg_lo:[1,1,0] "
		"index_key:2",
		64, 16, 32, 16, 'i', 'i', 'i', sp_w64b, b_w64b, d_wmma12_64},
	{"gfx1201",
		"v_swmmac_i32_16x16x32_iu4 v[64:71], v0, v[16:17], v32 neg_lo:[1,1,0] "
		"index_key:1",
		32, 16, 32, 16, 'n', 'n', 'i', sp_16b, b_16b, d_wmma12},
	{"gfx1201", "v_swmmac_i32_16x16x32_iu4 v[64:67], v0, v16, v32 neg_lo:[1,1,0]", 64,
		16, 32, 0, 'n', 'n', 'i', sp_16b, b_w64b, d_wmma12_64},
	{"gfx1201",
		"v_swmmac_i32_16x16x64_iu4 v[64:71], v[0:1], v[16:19], v32 "
		"neg_lo:[1,1,0]",
		32, 16, 64, 0, 'n', 'n', 'i', sp_w32n, b_w32n, d_wmma12},
	{"gfx1201",
		"v_swmmac_i32_16x16x64_iu4 v[64:67], v0, v[16:17], v32 neg_lo:[1,1,0]",
		64, 16, 64, 0, 'n', 'n', 'i', sp_w64n, b_w64n, d_wmma12_64},
	{"gfx1201", "v_swmmac_f32_16x16x32_fp8_bf8 v[64:71], v[0:1], v[16:19], v32", 32,
		16, 32, 0, '8', '5', 'f', sp_16b, b_16b, d_wmma12},
	{"gfx1201",
		"v_swmmac_f32_16x16x32_bf8_fp8 v[64:67], v0, v[16:17], v32 index_key:1",
		64, 16, 32, 8, '5', '8', 'f', sp_w64b, b_w64b, d_wmma12_64},
};

static void check_sparse(const struct sparse *s)
{
	static int a[32][16][2], at[32][16][2], b[64][32], c[32][32];
	struct machine *m = machine_new(s->target, (uint32_t)s->lanes);
	int lane, e, bit;
	char why[96];

	if (!m) {
		print_message("%s: no disassembler\n", s->target);
		return;
	}
	fnuz = !strcmp(s->target, "gfx942");
	for (int i = 0; i < s->n; i++) {
		for (int g = 0; g < s->k / 4; g++)
			for (int x = 0; x < 2; x++) {
				uint32_t *v;

				a[i][g][x] = (int)(rnd() % 15) - 7;
				at[i][g][x] = (int)(rnd() % 4);
				s->sp(i, g, &lane, &e, &bit);
				put(m, 0, lane, e + x, s->a, a[i][g][x]);
				v = machine_v(m, 32) + lane;
				bit += s->set + 2 * x;
				*v = (*v & ~(3u << bit)) | (uint32_t)at[i][g][x] << bit;
			}
		for (int k = 0; k < s->k; k++) {
			b[k][i] = (int)(rnd() % 15) - 7;
			s->bb(i, k, 0, &lane, &e);
			put(m, 16, lane, e, s->b, b[k][i]);
		}
		for (int j = 0; j < s->n; j++) {
			c[i][j] = (int)(rnd() % 99) - 49;
			s->dd(i, j, 0, &lane, &e);
			put(m, 64, lane, e, s->d == 'i' ? 'w' : s->d, c[i][j]);
		}
	}
	if (!machine_run(m, s->text, why))
		fail_msg("%s %s: %s", s->target, s->text, why);
	for (int i = 0; i < s->n; i++)
		for (int j = 0; j < s->n; j++) {
			int want = c[i][j], got;

			for (int g = 0; g < s->k / 4; g++)
				for (int x = 0; x < 2; x++)
					want += a[i][g][x] * b[4 * g + at[i][g][x]][j];
			s->dd(i, j, 0, &lane, &e);
			got = get(m, 64, lane, e, s->d);
			if (got != want)
				fail_msg("%s %s: (%d,%d): %d, not %d", s->target, s->text,
					i, j, got, want);
		}
	machine_free(m);
}

static void test_sparse(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sparse) / sizeof(*sparse); i++)
		check_sparse(&sparse[i]);
}

/* ---- modifiers: the same as without, of registers changed beforehand ---- */

static void random_floats(struct machine *m, uint32_t reg, uint32_t n)
{
	for (uint32_t i = 0; i < n * m->lanes; i++) {
		float f = (float)(int)(rnd() % 31) - 15;

		memcpy(&machine_v(m, reg)[i], &f, 4);
	}
}

static void same_rows(
	struct machine *m, uint32_t x, uint32_t y, uint32_t n, const char *what)
{
	char why[96] = "";

	if (memcmp(machine_v(m, x), machine_v(m, y), 4ul * n * m->lanes))
		fail_msg("%s differs %s", what, why);
}

static void must(struct machine *m, const char *fmt, ...)
{
	char text[160], why[96];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!machine_run(m, text, why))
		fail_msg("%s: %s", text, why);
}

static void test_modifiers(void **state)
{
	static const int first[8] = {0, 0, 32, 16, 0, 16, 32, 48},
			 period[8] = {64, 32, 32, 64, 16, 16, 16, 16};
	struct machine *m = machine_new("gfx90a", 64);
	double d;

	(void)state;
	if (!m)
		skip();
	for (uint32_t b = 0; b < 8; b++) { /* BLGP: another lane of B */
		random_floats(m, 0, 48);
		for (uint32_t i = 0; i < 64; i++)
			machine_v(m, 17)[i] =
				machine_v(m, 16)[(i % period[b] + first[b]) % 64];
		must(m, "v_mfma_f32_16x16x1f32 v[64:79], v0, v16, v[32:47] blgp:%u", b);
		must(m, "v_mfma_f32_16x16x1f32 v[80:95], v0, v17, v[32:47]");
		same_rows(m, 64, 80, 16, "blgp");
	}
	for (uint32_t cbsz = 1; cbsz < 5; cbsz++) /* CBSZ: one block of a group of A's */
		for (uint32_t abid = 0; abid < 1u << cbsz; abid++) {
			uint32_t group = 4u << cbsz;

			random_floats(m, 0, 48);
			for (uint32_t i = 0; i < 64; i++)
				machine_v(m, 1)[i] = machine_v(
					m, 0)[i / group * group + abid * 4 + i % 4];
			must(m,
				"v_mfma_f32_4x4x1f32 v[64:67], v0, v16, v[32:35] cbsz:%u "
				"abid:%u",
				cbsz, abid);
			must(m, "v_mfma_f32_4x4x1f32 v[80:83], v1, v16, v[32:35]");
			same_rows(m, 64, 80, 4, "cbsz");
		}
	machine_free(m);
	m = machine_new("gfx942", 64);
	for (uint32_t neg = 0; neg < 8; neg++) {
		static const uint32_t regs[3] = {0, 16, 32}, words[3] = {2, 2, 8};

		for (uint32_t k = 0; k < 3; k++)
			for (uint32_t i = 0; i < words[k] / 2 * 64; i++) {
				uint32_t r = regs[k] + i / 64 * 2, l = i % 64;
				uint64_t u;

				d = (double)rnd() - 0x1p31;
				memcpy(&u, &d, 8);
				machine_v(m, r)[l] = machine_v(m, r + 8)[l] = (uint32_t)u;
				u >>= 32;
				machine_v(m, r + 1)[l] = (uint32_t)u;
				machine_v(m, r + 9)[l] =
					(uint32_t)u ^ (neg >> k & 1 ? 1u << 31 : 0);
			}
		must(m,
			"v_mfma_f64_16x16x4_f64 v[64:71], v[0:1], v[16:17], v[32:39] "
			"neg:[%u,%u,%u]",
			neg & 1, neg >> 1 & 1, neg >> 2 & 1);
		must(m, "v_mfma_f64_16x16x4_f64 v[80:87], v[8:9], v[24:25], v[40:47]");
		same_rows(m, 64, 80, 8, "neg");
	}
	machine_free(m);
}

/* What rounding says: xf32 has 10 bits of fraction, gfx90a's f16 no denormals. */
static void test_precision(void **state)
{
	struct machine *m = machine_new("gfx942", 64);
	float one = 1, x = 1 + 0x1p-10f + 0x1p-11f, y = 1 + 0x1p-11f, got;

	(void)state;
	if (!m)
		skip();
	memset(machine_v(m, 0), 0, 48 * 64 * 4);
	memcpy(&machine_v(m, 0)[0], &x, 4); /* A(0,0) */
	memcpy(&machine_v(m, 0)[1], &y, 4); /* A(1,0) */
	memcpy(&machine_v(m, 16)[0], &one, 4);
	must(m, "v_mfma_f32_16x16x8_xf32 v[64:67], v[0:1], v[16:17], 0");
	memcpy(&got, &machine_v(m, 64)[0], 4);
	assert_true(got == 1 + 0x1p-9f);
	memcpy(&got, &machine_v(m, 65)[0], 4);
	assert_true(got == 1);
	machine_free(m);
	for (int old = 0; old < 2; old++) {
		m = machine_new(old ? "gfx90a" : "gfx942", 64);
		memset(machine_v(m, 0), 0, 48 * 64 * 4);
		machine_v(m, 0)[0] = 0x0001; /* the smallest f16, times one */
		machine_v(m, 16)[0] = 0x3c00;
		must(m, "v_mfma_f32_16x16x16%s v[64:67], v[0:1], v[16:17], 0",
			old ? "f16" : "_f16");
		memcpy(&got, &machine_v(m, 64)[0], 4);
		assert_true(got == (old ? 0 : 0x1p-24f));
		machine_free(m);
	}
}

static void test_refused(void **state)
{
	static const char *const text[][2] = {
		{"gfx90a", "v_mfma_f32_4x4x1f32 v[64:67], v0, v16, v[32:35] cbsz:5"},
		{"gfx90a",
			"v_mfma_f32_4x4x1f32 v[64:67], v0, v16, v[32:35] cbsz:1 abid:2"},
		{"gfx90a", "v_mfma_f32_4x4x1f32 v[64:67], v0, v16, v[32:35] clamp"},
		{"gfx90a", "v_smfmac_f32_16x16x32_f16 v[64:67], v[0:1], v[16:19], v32"},
		{"gfx942", "v_smfmac_f32_16x16x32_f16 v[64:67], v[0:1], v[16:19], s32"},
		{"gfx942", "v_smfmac_f32_16x16x32_f16 v[64:67], v[0:1], v[16:19], v32 "
			   "abid:4"},
		{"gfx942", "v_smfmac_f32_16x16x32_f16 v[64:67], v[0:1], v[16:19], v32 "
			   "blgp:1"},
		{"gfx942", "v_mfma_f32_16x16x32_fp8_fp8 v[64:67], v[0:1], v[16:17], "
			   "v[32:35] "
			   "blgp:1"},
		{"gfx1201", "v_swmmac_f32_16x16x32_f16 v[64:71], v[0:3], v[16:23], v32 "
			    "index_key:2"},
		{"gfx1201", "v_wmma_f32_16x16x16_fp8_fp8 v[64:71], v[0:1], v[16:17], "
			    "v[32:39] "
			    "neg_lo:[1,0,0]"},
		{"gfx1100", "v_wmma_f32_16x16x16_fp8_fp8 v[64:71], v[0:1], v[16:17], "
			    "v[32:39]"},
	};
	char why[96];

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
		bool nine = !strncmp(text[i][0], "gfx9", 4);
		struct machine *m = machine_new(text[i][0], nine ? 64 : 32);
		struct sg_inst in;

		if (m && sg_decode(m->p, text[i][1], 0, 8, &in, why))
			fail_msg("'%s' was accepted", text[i][1]);
		if (m)
			machine_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_modifiers),
		cmocka_unit_test(test_precision),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
