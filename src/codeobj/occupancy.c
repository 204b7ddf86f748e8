/*
 * Theoretical occupancy: how many waves of a kernel one SIMD can hold, and what keeps it
 * from holding more. The numbers of each target and the rules are those of LLVM 22's
 * AMDGPU backend (AMDGPUBaseInfo.cpp, AMDGPUSubtarget.cpp, AMDGPU.td), and a test holds
 * the result to clang's kernel-resource-usage remark for each of them. Registers are
 * taken as the descriptor allocates them, which is what the hardware does.
 */
#include "codeobj/private.h"

#include <string.h>

struct family {
	const char *const *processors;
	unsigned waves;          /* a SIMD holds at most */
	unsigned vgprs, granule; /* of a SIMD a lane; allocated in steps; wave64 */
	unsigned encoding;       /* VGPRs that a step of the descriptor's field means */
	unsigned lds;            /* bytes of a CU */
	uint8_t sgprs;           /* which of sgpr_steps, or NO_LIMIT */
	bool wave32; /* vgprs, granule and encoding double in wave32, and CUs come in
			pairs */
	bool single; /* wave32, but CUs of four SIMDs that do not pair */
};

enum { SI, VI, NO_LIMIT };

#define LIST(...)                                                                        \
	(const char *const[])                                                            \
	{                                                                                \
		__VA_ARGS__, NULL                                                        \
	}

static const struct family families[] = {
	{LIST("gfx600", "gfx601", "gfx602"), 10, 256, 4, 4, 32 << 10, SI},
	{LIST("gfx700", "gfx701", "gfx702", "gfx703", "gfx704", "gfx705"), 10, 256, 4, 4,
		64 << 10, SI},
	{LIST("gfx801", "gfx802", "gfx803", "gfx805", "gfx810", "gfx900", "gfx902",
		 "gfx904", "gfx906", "gfx908", "gfx909", "gfx90c", "gfx9-generic"),
		10, 256, 4, 4, 64 << 10, VI},
	/* one file of 512 holds vector and accumulation registers */
	{LIST("gfx90a", "gfx940", "gfx941", "gfx942", "gfx9-4-generic"), 8, 512, 8, 8,
		64 << 10, VI},
	{LIST("gfx950"), 8, 512, 8, 8, 160 << 10, VI},
	{LIST("gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx10-1-generic"), 20, 512, 4,
		4, 64 << 10, NO_LIMIT, true},
	{LIST("gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036",
		 "gfx10-3-generic", "gfx1102", "gfx1103", "gfx1150", "gfx1152", "gfx1153",
		 "gfx11-generic"),
		16, 512, 8, 4, 64 << 10, NO_LIMIT, true},
	{LIST("gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201", "gfx12-generic"), 16,
		768, 12, 4, 64 << 10, NO_LIMIT, true},
	{LIST("gfx1250", "gfx1251"), 16, 512, 8, 8, 320 << 10, NO_LIMIT, true, true},
};

/* At most so many SGPRs a wave for so many waves; the rest hold one wave fewer. */
static const struct {
	struct {
		unsigned sgprs, waves;
	} steps[6];
	unsigned rest;
} sgpr_steps[] = {
	[SI] = {{{48, 10}, {56, 9}, {64, 8}, {72, 7}, {80, 6}}, 5},
	[VI] = {{{80, 10}, {88, 9}, {100, 8}}, 7},
};

enum {
	RSRC1_VGPR_MASK = 0x3f,
	RSRC1_SGPR_SHIFT = 6,
	RSRC1_SGPR_MASK = 0xf,
	RSRC1_WGP_MODE = 1 << 29, /* gfx10 and later */
	SIMDS = 4,                /* a CU has; in gfx10 and later two CUs together */
	WORKGROUP_MAX = 1024,
};

static const struct family *find_family(const char *processor)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		for (const char *const *p = families[i].processors; *p; p++)
			if (!strcmp(*p, processor))
				return &families[i];
	return NULL;
}

static unsigned round_up_div(unsigned a, unsigned b)
{
	return (a + b - 1) / b;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* What waves of a work-group share: a CU, or two of them in work-group processor mode. */
struct share {
	unsigned simds, slots, lds, barriers;
};

static bool pairs_cus(const struct rck_kernel *k, const struct family *f)
{
	if (!f->wave32 || f->single)
		return false;
	if (k->stated & RCK_MD(WORKGROUP_PROCESSOR_MODE))
		return k->workgroup_processor_mode;
	return !k->kd.found || k->kd.rsrc1 & RSRC1_WGP_MODE;
}

static struct share share_of(const struct rck_kernel *k, const struct family *f)
{
	struct share s = {SIMDS, SIMDS * f->waves, f->lds, 16};

	if (pairs_cus(k, f)) {
		s.lds *= 2;
		s.barriers = 32;
	} else if (f->wave32 && !f->single) {
		s.simds = SIMDS / 2;
		s.slots /= 2;
	}
	return s;
}

/* Work-groups of so many waves that fit, by wave slots, barriers and LDS. */
static unsigned groups(const struct share *s, unsigned waves, unsigned by_lds)
{
	unsigned n = s->slots / waves;

	if (waves > 1) /* one wave alone needs no barrier */
		n = least(n, s->barriers);
	n = least(n, by_lds);
	return n ? n : 1;
}

/*
 * The most waves a SIMD that some allowed work-group size reaches. Sizes from min to max
 * work-items; by_lds: groups that the LDS has room for.
 */
static unsigned by_workgroup(
	const struct share *s, unsigned wave, unsigned min, unsigned max, unsigned by_lds)
{
	unsigned small = round_up_div(min, wave), large = round_up_div(max, wave);
	unsigned n = groups(s, small, by_lds), waves = n * small;
	unsigned other = groups(s, large, by_lds) * large, spare;

	if (other >= waves) {
		waves = other;
	} else {
		/* as many groups of a size in between may fill more slots */
		spare = (s->slots - waves) / n;
		waves += n * least(spare, large - small);
	}
	return round_up_div(waves, s->simds);
}

/* VGPRs used, as the metadata says; 0: it does not. */
static unsigned vgprs_used(const struct rck_kernel *k)
{
	return k->stated & RCK_MD(VGPR_COUNT) && k->vgpr_count < 4096
		       ? (unsigned)k->vgpr_count
		       : 0;
}

/* VGPRs allocated, as the descriptor says. */
static unsigned vgprs_of(const struct rck_kernel *k, const struct family *f, bool wave32)
{
	unsigned step = f->encoding << (wave32 && f->wave32);

	return k->kd.found ? ((k->kd.rsrc1 & RSRC1_VGPR_MASK) + 1) * step : vgprs_used(k);
}

/* The metadata's count where the descriptor's rounding leaves it possible. */
static unsigned sgprs_of(const struct rck_kernel *k)
{
	unsigned stated = k->stated & RCK_MD(SGPR_COUNT) && k->sgpr_count < 4096
				  ? (unsigned)k->sgpr_count
				  : 0;
	unsigned step;

	if (!k->kd.found)
		return stated;
	step = k->kd.rsrc1 >> RSRC1_SGPR_SHIFT & RSRC1_SGPR_MASK;
	return stated > step * 8 ? stated : (step + 1) * 8;
}

static unsigned by_sgprs(const struct family *f, unsigned sgprs)
{
	if (f->sgprs == NO_LIMIT)
		return f->waves;
	for (size_t i = 0; i < 6 && sgpr_steps[f->sgprs].steps[i].sgprs; i++)
		if (sgprs <= sgpr_steps[f->sgprs].steps[i].sgprs)
			return sgpr_steps[f->sgprs].steps[i].waves;
	return sgpr_steps[f->sgprs].rest;
}

static unsigned by_vgprs(const struct family *f, bool wave32, unsigned vgprs)
{
	bool twice = wave32 && f->wave32;
	unsigned granule = f->granule << twice, total = f->vgprs << twice, n;

	vgprs = round_up_div(vgprs ? vgprs : 1, granule) * granule;
	n = total / vgprs;
	return n ? n : 1;
}

/* The smallest and largest work-group that it may be launched with, in work-items. */
static void workgroup_of(const struct rck_kernel *k, unsigned *min, unsigned *max)
{
	uint64_t n = 1;

	*min = 1;
	*max = k->stated & RCK_MD(MAX_WORKGROUP) && k->max_workgroup &&
			       k->max_workgroup < WORKGROUP_MAX
		       ? (unsigned)k->max_workgroup
		       : WORKGROUP_MAX;
	if (!(k->stated & RCK_MD(REQD_WORKGROUP)))
		return;
	for (int i = 0; i < 3; i++) {
		if (!k->reqd_workgroup[i] || k->reqd_workgroup[i] > WORKGROUP_MAX)
			return;
		n *= k->reqd_workgroup[i];
	}
	if (n <= WORKGROUP_MAX)
		*min = *max = (unsigned)n;
}

static void judge(struct rck_kernel *k, const struct family *f)
{
	unsigned min, max, wave, by_size, by_lds, lds_groups, vgprs, sgprs, used, n;
	struct rck_value v;
	struct share s = share_of(k, f);

	rck_kernel_fact(k, RCK_FACT_WAVEFRONT_SIZE, &v);
	wave = v.known && v.number == 32 ? 32 : 64;
	workgroup_of(k, &min, &max);
	by_size = least(by_workgroup(&s, wave, min, max, s.slots), f->waves);
	rck_kernel_fact(k, RCK_FACT_LDS, &v);
	lds_groups = v.known && v.number ? (unsigned)(s.lds / v.number) : s.slots;
	by_lds = lds_groups
			 ? least(by_workgroup(&s, wave, min, max, lds_groups), f->waves)
			 : 1;
	vgprs = least(by_vgprs(f, wave == 32, vgprs_of(k, f, wave == 32)), f->waves);
	sgprs = least(by_sgprs(f, sgprs_of(k)), f->waves);

	n = least(least(vgprs, sgprs), by_lds);
	k->occupancy = n;
	/* Where LDS or the work-group leaves few waves, or the source asks for few, LLVM
	   allocates more registers than are used: those are not what limits. */
	used = vgprs_used(k);
	if (n == f->waves)
		k->occupancy_limit = "none";
	else if (used && by_vgprs(f, wave == 32, used) <= n)
		k->occupancy_limit = "vgpr";
	else if (n == by_lds)
		k->occupancy_limit = n < by_size ? "lds" : "workgroup";
	else
		k->occupancy_limit = n == vgprs ? "vgpr" : "sgpr";
}

void rck_occupancy_judge(struct rck_code_object *co)
{
	const struct family *f = find_family(co->processor);

	for (size_t i = 0; f && i < co->n_kernels; i++)
		judge(&co->kernels[i], f);
}
