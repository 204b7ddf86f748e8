/*
 * Buffer accesses that convert: the format is in the instruction (tbuffer_*) or in the
 * descriptor (buffer_*_format_*), whose DST_SEL then counts too. Formats and their
 * fields: AMD's GCN3, Vega, RDNA2, RDNA3 and RDNA4 ISA guides, tables of buffer data
 * formats; names list fields from the highest bits down. A component that is not there is
 * 0, the fourth 1.
 *
 * What the guides do not settle is refused: stores of scaled formats and of 10- and
 * 11-bit floats, integers that do not fit what they are stored into, stores through a
 * DST_SEL other than the identity.
 */
#include "softgpu/ops-mem.h"

#include <math.h>
#include <stdio.h>

#include "softgpu/lane-float.h"

enum num { UNORM, SNORM, USCALED, SSCALED, UINT, SINT, OGL, FLOAT };

/* gfx9's numbers, all that its four bits can say; fields from the lowest bits up. */
static const struct layout {
	const char *name;
	uint8_t bits[4];
} layouts[] = {
	{"INVALID", {0}},
	{"8", {8}},
	{"16", {16}},
	{"8_8", {8, 8}},
	{"32", {32}},
	{"16_16", {16, 16}},
	{"10_11_11", {11, 11, 10}},
	{"11_11_10", {10, 11, 11}},
	{"10_10_10_2", {2, 10, 10, 10}},
	{"2_10_10_10", {10, 10, 10, 2}},
	{"8_8_8_8", {8, 8, 8, 8}},
	{"32_32", {32, 32}},
	{"16_16_16_16", {16, 16, 16, 16}},
	{"32_32_32", {32, 32, 32}},
	{"32_32_32_32", {32, 32, 32, 32}},
	{"RESERVED_15", {0}},
};

static const char *const num_names[] = {
	"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "SNORM_OGL", "FLOAT"};

/*
 * gfx10's and gfx11's one number for both: layouts in their order, each with a row of
 * number formats (bits by enum num).
 */
#define ALL6 0x3f
#define ALL7 0xbf
#define F32S 0xb0
struct group {
	uint8_t layout, nums;
};
static const struct group gfx10[] = {{1, ALL6}, {2, ALL7}, {3, ALL6}, {4, F32S},
	{5, ALL7}, {6, ALL7}, {7, ALL7}, {8, ALL6}, {9, ALL6}, {10, ALL6}, {11, F32S},
	{12, ALL7}, {13, F32S}, {14, F32S}, {0, 0}};
static const struct group gfx11[] = {{1, ALL6}, {2, ALL7}, {3, ALL6}, {4, F32S},
	{5, ALL7}, {6, 0x80}, {7, 0x80}, {8, 0x33}, {9, ALL6}, {10, ALL6}, {11, F32S},
	{12, ALL7}, {13, F32S}, {14, F32S}, {0, 0}};

struct format {
	uint8_t layout, num;
};

static struct format unified(unsigned int n, enum sg_gen gen)
{
	static const struct format none = {0, 0};
	const struct group *g = gen >= SG_GEN_11 ? gfx11 : gfx10;

	for (unsigned int at = 1; g->layout; g++)
		for (unsigned int k = 0; k < 8; k++)
			if (g->nums >> k & 1 && at++ == n)
				return (struct format){g->layout, (uint8_t)k};
	return none;
}

/* op->arg above the fields of ops-mem.h. */
#define TYPED(COMPS, D16, HI, OWN)                                                       \
	((uint32_t)(COMPS) << 24 | (uint32_t)(D16) << 27 | (uint32_t)(HI) << 28 |        \
		(uint32_t)(OWN) << 29)
#define COMPS(op) ((op)->arg >> 24 & 7)
#define D16(op)   ((op)->arg >> 27 & 1)
#define HI(op)    ((op)->arg >> 28 & 1) /* d16: into, or from, the upper half */
#define OWN(op)   ((op)->arg >> 29 & 1) /* the instruction has a format of its own */

static int find(
	const char *const *names, size_t stride, size_t n, const char *s, size_t len)
{
	for (size_t i = 0; i < n; i++) {
		const char *name =
			*(const char *const *)((const char *)names + i * stride);

		if (strlen(name) == len && !strncmp(name, s, len))
			return (int)i;
	}
	return -1;
}

/* "[BUF_FMT_16_16_FLOAT]", "[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_UINT]", or a number. */
static bool parse_format(const char *s, enum sg_gen gen, struct format *f)
{
	static const char unified_[] = "BUF_FMT_", data[] = "BUF_DATA_FORMAT_",
			  num[] = "BUF_NUM_FORMAT_";
	const size_t nl = sizeof(layouts) / sizeof(*layouts);
	int layout = 1, number = UNORM; /* what is not said is BUF_FMT_8_UNORM */
	unsigned int n;

	if (sscanf(s, "%u", &n) == 1) {
		if (gen >= SG_GEN_10) {
			*f = unified(n, gen);
		} else { /* data format, then number format << 4 */
			f->layout = n & 15;
			f->num = n >> 4 & 7;
		}
		return layouts[f->layout].bits[0] != 0;
	}
	for (s++; *s && *s != ']';) {
		size_t len = strcspn(s, ",]");

		if (!strncmp(s, unified_, sizeof(unified_) - 1)) {
			const char *name = s + sizeof(unified_) - 1;
			size_t cut = len - (sizeof(unified_) - 1);

			while (cut && name[cut - 1] != '_')
				cut--;
			if (!cut)
				return false;
			layout = find(
				&layouts[0].name, sizeof(*layouts), nl, name, cut - 1);
			number = find(num_names, sizeof(*num_names), 8, name + cut,
				len - (sizeof(unified_) - 1) - cut);
		} else if (!strncmp(s, data, sizeof(data) - 1)) {
			layout = find(&layouts[0].name, sizeof(*layouts), nl,
				s + sizeof(data) - 1, len - (sizeof(data) - 1));
		} else if (!strncmp(s, num, sizeof(num) - 1)) {
			number = find(num_names, sizeof(*num_names), 8,
				s + sizeof(num) - 1, len - (sizeof(num) - 1));
		} else {
			return false;
		}
		s += len + (s[len] == ',');
	}
	if (layout < 0 || !layouts[layout].bits[0] || number < 0)
		return false;
	f->layout = (uint8_t)layout;
	f->num = (uint8_t)number;
	return true;
}

static const char *bind_typed(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	struct sg_mods *m = (struct sg_mods *)(uintptr_t)in->mods; /* this one's own */
	const char *s = strstr(t->rest, "format:"), *why;
	struct format f = {1, UNORM};

	if (t->mods.lds)
		return "a load straight into LDS that converts";
	if (t->mods.format != (s != NULL) || (s && !OWN(in->op)))
		return "format";
	if (s && !parse_format(s + 7, p->gen, &f))
		return "a buffer format that is not known";
	why = sg_bind_mem(p, t, in);
	m->format_data = f.layout;
	m->format_num = f.num;
	return why;
}

/* ---- numbers ---- */

/* A small float of 5 bits of exponent without a sign. */
static float small_float(uint32_t x, unsigned int bits)
{
	return sg_h2f((uint16_t)(x << (15 - bits)));
}

static int32_t extended(uint32_t x, unsigned int bits)
{
	return (int32_t)(x << (32 - bits)) >> (32 - bits);
}

static bool is_int(unsigned int num)
{
	return num == UINT || num == SINT;
}

/* A field as the register gets it: an integer, or an f32's bits. */
static uint32_t widened(uint32_t x, unsigned int bits, unsigned int num)
{
	double top = (double)((1ull << (num == SNORM ? bits - 1 : bits)) - 1);
	double v;

	switch (num) {
	case UINT:
		return x;
	case SINT:
		return (uint32_t)extended(x, bits);
	case FLOAT:
		return bits == 32   ? x
		       : bits == 16 ? sg_f_bits(sg_h2f((uint16_t)x))
				    : sg_f_bits(small_float(x, bits));
	case UNORM:
		v = x / top;
		break;
	case SNORM:
		v = extended(x, bits) / top;
		v = v < -1 ? -1 : v;
		break;
	case USCALED:
		v = x;
		break;
	default:
		v = extended(x, bits);
	}
	return sg_f_bits((float)v);
}

/* The other way; false: it has no settled meaning. */
static bool narrowed(uint32_t x, unsigned int bits, unsigned int num, uint32_t *out)
{
	uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
	double v = sg_bits_f(x);

	switch (num) {
	case UINT:
		*out = x;
		return x <= mask;
	case SINT:
		*out = x & mask;
		return extended(x & mask, bits) == (int32_t)x;
	case FLOAT:
		*out = bits == 32 ? x : sg_f2h((float)v);
		return bits == 32 || bits == 16;
	case UNORM:
		v = v > 0 ? v < 1 ? v : 1 : 0; /* NaN gives 0 */
		*out = (uint32_t)roundeven(v * mask);
		return true;
	case SNORM:
		v = v != v ? 0 : v > -1 ? v < 1 ? v : 1 : -1;
		*out = (uint32_t)(int32_t)roundeven(v * (mask >> 1)) & mask;
		return true;
	default:
		return false;
	}
}

/* ---- execution ---- */

static struct format format_of(const struct sg_wave *w, const struct sg_inst *in)
{
	uint32_t word3 = sg_sp(w, in, SG_M_BASE)[3];
	struct format f = {in->mods->format_data, in->mods->format_num};

	if (OWN(in->op))
		return f;
	if (w->p->gen >= SG_GEN_10)
		return unified(
			word3 >> 12 & (w->p->gen >= SG_GEN_11 ? 63 : 127), w->p->gen);
	f.num = word3 >> 12 & 7;
	f.layout = word3 >> 15 & 15;
	return f;
}

static unsigned int total_bits(struct format f)
{
	const uint8_t *b = layouts[f.layout].bits;

	return b[0] + b[1] + b[2] + b[3];
}

/* The fields of an element in memory, from the lowest bits. */
static void get_fields(struct format f, const uint8_t *p, uint32_t v[4])
{
	const uint8_t *bits = layouts[f.layout].bits;
	unsigned __int128 x = 0;
	unsigned int at = 0;

	memcpy(&x, p, total_bits(f) / 8);
	for (int k = 0; k < 4; k++) {
		v[k] = bits[k] ? widened((uint32_t)((x >> at) & ((1ull << bits[k]) - 1)),
					 bits[k], f.num)
		       : k < 3 ? 0
		       : is_int(f.num) ? 1
				       : 0x3f800000;
		at += bits[k];
	}
}

static bool put_fields(
	struct format f, uint8_t *p, const uint32_t v[4], unsigned int comps)
{
	const uint8_t *bits = layouts[f.layout].bits;
	unsigned __int128 x = 0;
	unsigned int at = 0;

	for (unsigned int k = 0; k < 4; k++) {
		uint32_t field = 0;

		if (bits[k] && k < comps && !narrowed(v[k], bits[k], f.num, &field))
			return false;
		x |= (unsigned __int128)field << at;
		at += bits[k];
	}
	memcpy(p, &x, total_bits(f) / 8);
	return true;
}

/* DST_SEL: 0, 1, or one of the components. */
static void select_fields(uint32_t sel, unsigned int num, uint32_t v[4])
{
	uint32_t old[4];

	memcpy(old, v, sizeof(old));
	for (int k = 0; k < 4; k++) {
		uint32_t s = sel >> 3 * k & 7;

		v[k] = s >= 4 ? old[s - 4] : s != 1 ? 0 : is_int(num) ? 1 : 0x3f800000;
	}
}

static void load_lane(struct sg_wave *w, const struct sg_inst *in, struct format f,
	unsigned int i, const uint8_t *p)
{
	uint32_t v[4], *d = w->v + in->dst[0].off + i;
	unsigned int n = w->lanes;

	get_fields(f, p, v);
	if (!OWN(in->op))
		select_fields(sg_sp(w, in, SG_M_BASE)[3] & 0xfff, f.num, v);
	for (unsigned int k = 0; k < COMPS(in->op); k++) {
		uint32_t h = is_int(f.num) ? v[k] & 0xffff : sg_f2h(sg_bits_f(v[k]));

		if (!D16(in->op))
			d[k * n] = v[k];
		else if (HI(in->op) || k & 1)
			d[k / 2 * n] = (d[k / 2 * n] & 0xffff) | h << 16;
		else
			d[k / 2 * n] = (d[k / 2 * n] & 0xffff0000) | h;
	}
}

static bool store_lane(struct sg_wave *w, const struct sg_inst *in, struct format f,
	unsigned int i, uint8_t *p)
{
	const uint32_t *s = w->v + in->src[SG_M_DATA].off + i;
	uint32_t v[4] = {0};

	for (unsigned int k = 0; k < COMPS(in->op); k++) {
		uint32_t h = s[(D16(in->op) ? k / 2 : k) * w->lanes];

		if (!D16(in->op)) {
			v[k] = h;
			continue;
		}
		h = HI(in->op) || k & 1 ? h >> 16 : h & 0xffff;
		v[k] = f.num == SINT   ? (uint32_t)(int16_t)h
		       : f.num == UINT ? h
				       : sg_f_bits(sg_h2f((uint16_t)h));
	}
	return put_fields(f, p, v, COMPS(in->op));
}

static const struct sg_inst *exec_typed(struct sg_wave *w, const struct sg_inst *in)
{
	static const uint8_t zero[16];
	const uint32_t *r = sg_sp(w, in, SG_M_BASE);
	struct format f = format_of(w, in);
	unsigned int bytes = total_bits(f) / 8;
	bool load = SG_MEM_DIR(in->op) == SG_LOAD, scratch;
	uint64_t none;

	if (!bytes || f.num == OGL ||
		(f.num == FLOAT && layouts[f.layout].bits[0] == 8) ||
		(f.num != FLOAT && !is_int(f.num) && layouts[f.layout].bits[0] == 32))
		return sg_stop(
			w, in, SG_FAULT_ILLEGAL, 0, "a buffer format that is not there");
	if (D16(in->op) && is_int(f.num) && layouts[f.layout].bits[0] > 16)
		return sg_stop(w, in, SG_FAULT_ILLEGAL, 0,
			"32-bit integers in 16-bit registers");
	if (!load && !OWN(in->op) && (r[3] & 0xfff) != 0xfac)
		return sg_stop(w, in, SG_FAULT_ILLEGAL, 0,
			"a store with components changed about");
	if (!sg_buffer_address_of(w, in, bytes, &scratch, &none))
		return sg_stop(
			w, in, SG_FAULT_ILLEGAL, 0, "a swizzled buffer that converts");
	for (unsigned int i = 0; i < w->lanes; i++) {
		uint8_t *p = (uint8_t *)(uintptr_t)w->addr[i];
		bool there = w->addr[i] != SG_OUT_OF_RANGE;

		if (!w->em[i])
			continue;
		if (there && !sg_range(w, w->addr[i], bytes))
			return sg_memory_fault(w, in, w->addr[i], i);
		if (load)
			load_lane(w, in, f, i, there ? p : zero);
		else if (there && !store_lane(w, in, f, i, p))
			return sg_stop(w, in, SG_FAULT_ILLEGAL, 0,
				"a store of lane %u that its format does not settle", i);
	}
	return in + 1;
}

/* ---- the table ---- */

#define ENTRY(NAME, DIR, ELEM, FLAGS)                                                    \
	SG_OP_ANON({NAME, "", SG_OP_MEM, SG_MEM(SG_BUFFER, DIR, ELEM) | (FLAGS), NULL,   \
		exec_typed, bind_typed});
#define BOTH(P, T, L, S, ELEM, FLAGS)                                                    \
	ENTRY(P L T, SG_LOAD, ELEM, FLAGS)                                               \
	ENTRY(P S T, SG_STORE, ELEM, FLAGS)
#define FOUR(P, OWN, L, S)                                                               \
	BOTH(P, "x", L "format_", S "format_", SG_E_B32, TYPED(1, 0, 0, OWN))            \
	BOTH(P, "xy", L "format_", S "format_", SG_E_B64, TYPED(2, 0, 0, OWN))           \
	BOTH(P, "xyz", L "format_", S "format_", SG_E_B96, TYPED(3, 0, 0, OWN))          \
	BOTH(P, "xyzw", L "format_", S "format_", SG_E_B128, TYPED(4, 0, 0, OWN))
/* gfx11 says d16 before format. */
#define FOUR16(P, OWN, L, S)                                                             \
	BOTH(P, "x", L, S, SG_E_B32, TYPED(1, 1, 0, OWN))                                \
	BOTH(P, "xy", L, S, SG_E_B32, TYPED(2, 1, 0, OWN))                               \
	BOTH(P, "xyz", L, S, SG_E_B64, TYPED(3, 1, 0, OWN))                              \
	BOTH(P, "xyzw", L, S, SG_E_B64, TYPED(4, 1, 0, OWN))
FOUR("buffer_", 0, "load_", "store_")
FOUR("tbuffer_", 1, "load_", "store_")
FOUR16("buffer_", 0, "load_format_d16_", "store_format_d16_")
FOUR16("buffer_", 0, "load_d16_format_", "store_d16_format_")
FOUR16("tbuffer_", 1, "load_format_d16_", "store_format_d16_")
FOUR16("tbuffer_", 1, "load_d16_format_", "store_d16_format_")
BOTH("buffer_", "x", "load_format_d16_hi_", "store_format_d16_hi_", SG_E_B32,
	TYPED(1, 1, 1, 0))
BOTH("buffer_", "x", "load_d16_hi_format_", "store_d16_hi_format_", SG_E_B32,
	TYPED(1, 1, 1, 0))
