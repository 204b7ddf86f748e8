/*
 * The target id from e_flags. Numbers: LLVM 22's llvm/BinaryFormat/ELF.h
 * (EF_AMDGPU_MACH_*), LLVM main's additions of 2026 (0x50, 0x5b to 0x5e), gfx940 from
 * LLVM 15's header and gfx941 from LLVM 17's (both reserved since). Which processor has
 * xnack and sramecc: LLVM's AMDGPUUsage, "AMDGPU Processors", target features supported.
 */
#include "codeobj/private.h"

#include <stdio.h>
#include <string.h>

enum { X = RCK_TARGET_XNACK, S = RCK_TARGET_SRAMECC, G = RCK_TARGET_GENERIC };

static const struct rck_target_info targets[] = {
	{0x20, "gfx600", 0},
	{0x21, "gfx601", 0},
	{0x22, "gfx700", 0},
	{0x23, "gfx701", 0},
	{0x24, "gfx702", 0},
	{0x25, "gfx703", 0},
	{0x26, "gfx704", 0},
	{0x28, "gfx801", X},
	{0x29, "gfx802", 0},
	{0x2a, "gfx803", 0},
	{0x2b, "gfx810", X},
	{0x2c, "gfx900", X},
	{0x2d, "gfx902", X},
	{0x2e, "gfx904", X},
	{0x2f, "gfx906", X | S},
	{0x30, "gfx908", X | S},
	{0x31, "gfx909", X},
	{0x32, "gfx90c", X},
	{0x33, "gfx1010", X},
	{0x34, "gfx1011", X},
	{0x35, "gfx1012", X},
	{0x36, "gfx1030", 0},
	{0x37, "gfx1031", 0},
	{0x38, "gfx1032", 0},
	{0x39, "gfx1033", 0},
	{0x3a, "gfx602", 0},
	{0x3b, "gfx705", 0},
	{0x3c, "gfx805", 0},
	{0x3d, "gfx1035", 0},
	{0x3e, "gfx1034", 0},
	{0x3f, "gfx90a", X | S},
	{0x40, "gfx940", X | S},
	{0x41, "gfx1100", 0},
	{0x42, "gfx1013", X},
	{0x43, "gfx1150", 0},
	{0x44, "gfx1103", 0},
	{0x45, "gfx1036", 0},
	{0x46, "gfx1101", 0},
	{0x47, "gfx1102", 0},
	{0x48, "gfx1200", 0},
	{0x49, "gfx1250", 0},
	{0x4a, "gfx1151", 0},
	{0x4b, "gfx941", X | S},
	{0x4c, "gfx942", X | S},
	{0x4e, "gfx1201", 0},
	{0x4f, "gfx950", X | S},
	{0x50, "gfx1310", 0},
	{0x51, "gfx9-generic", X | G},
	{0x52, "gfx10-1-generic", X | G},
	{0x53, "gfx10-3-generic", G},
	{0x54, "gfx11-generic", G},
	{0x55, "gfx1152", 0},
	{0x58, "gfx1153", 0},
	{0x59, "gfx12-generic", G},
	{0x5a, "gfx1251", 0},
	{0x5b, "gfx12-5-generic", G},
	{0x5c, "gfx1172", 0},
	{0x5d, "gfx1170", 0},
	{0x5e, "gfx1171", 0},
	{0x5f, "gfx9-4-generic", X | S | G},
};

const struct rck_target_info *rck_target_find(unsigned mach)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (targets[i].mach == mach)
			return &targets[i];
	return NULL;
}

/* "", "-" or "+": what e_flags say of a feature. V3: one bit, and no "any"; V4 and later:
   two bits (0 not supported, 1 any, 2 off, 3 on). */
static const char *feature(const struct rck_code_object *co, bool supported,
	unsigned bit_v3, unsigned shift_v4)
{
	static const char *const v4[] = {"", "", "-", "+"};

	if (co->osabi == 64 && co->version >= 4)
		return v4[co->e_flags >> shift_v4 & 3];
	if (co->e_flags & bit_v3)
		return "+";
	return supported && co->version == 3 ? "-" : "";
}

void rck_target_decode(struct rck_code_object *co)
{
	unsigned mach = co->e_flags & 0xff;
	const struct rck_target_info *t = rck_target_find(mach);
	const char *sramecc, *xnack;

	if (t)
		snprintf(co->processor, sizeof(co->processor), "%s", t->name);
	else
		snprintf(co->processor, sizeof(co->processor), "gfx?(0x%02x)", mach);
	sramecc = feature(co, t && t->features & S, 0x200, 10);
	xnack = feature(co, t && t->features & X, 0x100, 8);
	snprintf(co->target, sizeof(co->target), "%s%s%s%s%s", co->processor,
		*sramecc ? ":sramecc" : "", sramecc, *xnack ? ":xnack" : "", xnack);
	if (co->version >= 6)
		co->generic_version = co->e_flags >> 24;
}
