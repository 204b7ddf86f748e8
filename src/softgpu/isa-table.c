/*
 * The table of operations: what the files lane-*.c and ops-*.c put into their linker
 * sections, found by name. Mnemonics that gfx11 and gfx12 renamed lead to the first name.
 */
#include "softgpu/code.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct sg_op *const __start_sg_ops[];
extern const struct sg_op *const __stop_sg_ops[];

#define HASH 8192 /* a power of two, several times the number of operations */

static const struct sg_op *table[HASH], *mode_table[HASH];
static pthread_once_t once = PTHREAD_ONCE_INIT;
const struct sg_lane_build *sg_lane = &sg_lane_plain;

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 16777619u;
	return h ^ h >> 15;
}

/* Where the name is, or where it would go. */
static const struct sg_op **place(const struct sg_op **t, const char *name)
{
	uint32_t h = hash(name) & (HASH - 1);

	while (t[h] && strcmp(t[h]->name, name))
		h = (h + 1) & (HASH - 1);
	return &t[h];
}

static void fill(void)
{
	const char *want = getenv("RCK_SOFT_SIMD");

	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		sg_lane = &sg_lane_avx512;
	else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		sg_lane = &sg_lane_avx2;
	if (want && !strcmp(want, "avx2") && sg_lane == &sg_lane_avx512)
		sg_lane = &sg_lane_avx2;
	if (want && !strcmp(want, "plain"))
		sg_lane = &sg_lane_plain;
	for (const struct sg_op *const *p = sg_lane->first; p < sg_lane->last; p++)
		*place(table, (*p)->name) = *p;
	for (const struct sg_op *const *p = __start_sg_ops; p < __stop_sg_ops; p++)
		*place(table, (*p)->name) = *p;
	for (const struct sg_op *const *p = sg_lane_mode.first; p < sg_lane_mode.last;
		p++)
		*place(mode_table, (*p)->name) = *p;
}

const struct sg_op *sg_op_find(const char *name)
{
	pthread_once(&once, fill);
	return *place(table, name);
}

sg_lane_fn sg_op_mode_lane(const char *name)
{
	const struct sg_op *op;

	pthread_once(&once, fill);
	op = *place(mode_table, name);
	return op ? op->lane : NULL;
}

const char *sg_simd_name(void)
{
	sg_op_find("");
	return sg_lane->name;
}

/* The operation at place i of the table, for lists; NULL at the end or in a gap. */
const struct sg_op *sg_op_at(unsigned int i)
{
	pthread_once(&once, fill);
	return i < HASH ? table[i] : NULL;
}

static const char *const names[][2] = {
	{"v_add_nc_u32", "v_add_u32"},
	{"v_sub_nc_u32", "v_sub_u32"},
	{"v_subrev_nc_u32", "v_subrev_u32"},
	{"v_add_nc_i32", "v_add_i32"},
	{"v_sub_nc_i32", "v_sub_i32"},
	{"v_add_nc_u16", "v_add_u16"},
	{"v_sub_nc_u16", "v_sub_u16"},
	{"v_add_nc_i16", "v_add_i16"},
	{"v_sub_nc_i16", "v_sub_i16"},
	{"v_add_nc_u64", "v_add_u64"},
	{"v_sub_nc_u64", "v_sub_u64"},
	{"v_mad_co_u64_u32", "v_mad_u64_u32"},
	{"v_mad_co_i64_i32", "v_mad_i64_i32"},
	{"v_exp_legacy_f32", "v_exp_f32"},
	{"v_log_legacy_f32", "v_log_f32"},
	{"v_mul_lo_i32", "v_mul_lo_u32"},
	{"v_add_co_ci_u32", "v_addc_co_u32"},
	{"v_sub_co_ci_u32", "v_subb_co_u32"},
	{"v_subrev_co_ci_u32", "v_subbrev_co_u32"},
	{"v_clz_i32_u32", "v_ffbh_u32"},
	{"v_ctz_i32_b32", "v_ffbl_b32"},
	{"v_cls_i32", "v_ffbh_i32"},
	{"v_cvt_pk_rtz_f16_f32", "v_cvt_pkrtz_f16_f32"},
	{"v_cvt_pk_norm_i16_f32", "v_cvt_pknorm_i16_f32"},
	{"v_cvt_pk_norm_u16_f32", "v_cvt_pknorm_u16_f32"},
	{"v_cvt_pk_norm_i16_f16", "v_cvt_pknorm_i16_f16"},
	{"v_cvt_pk_norm_u16_f16", "v_cvt_pknorm_u16_f16"},
	{"v_mul_dx9_zero_f32", "v_mul_legacy_f32"},
	{"v_fma_dx9_zero_f32", "v_fma_legacy_f32"},
	{"v_fmac_dx9_zero_f32", "v_fmac_legacy_f32"},
	{"v_dot2acc_f32_f16", "v_dot2c_f32_f16"},
	{"v_dot2acc_f32_bf16", "v_dot2c_f32_bf16"},
	{"s_and_not1_b32", "s_andn2_b32"},
	{"s_and_not1_b64", "s_andn2_b64"},
	{"s_or_not1_b32", "s_orn2_b32"},
	{"s_or_not1_b64", "s_orn2_b64"},
	{"s_and_not1_saveexec_b32", "s_andn2_saveexec_b32"},
	{"s_and_not1_saveexec_b64", "s_andn2_saveexec_b64"},
	{"s_or_not1_saveexec_b32", "s_orn2_saveexec_b32"},
	{"s_or_not1_saveexec_b64", "s_orn2_saveexec_b64"},
	{"s_and_not0_saveexec_b32", "s_andn1_saveexec_b32"},
	{"s_and_not0_saveexec_b64", "s_andn1_saveexec_b64"},
	{"s_or_not0_saveexec_b32", "s_orn1_saveexec_b32"},
	{"s_or_not0_saveexec_b64", "s_orn1_saveexec_b64"},
	{"s_and_not1_wrexec_b32", "s_andn2_wrexec_b32"},
	{"s_and_not1_wrexec_b64", "s_andn2_wrexec_b64"},
	{"s_and_not0_wrexec_b32", "s_andn1_wrexec_b32"},
	{"s_and_not0_wrexec_b64", "s_andn1_wrexec_b64"},
	{"s_ctz_i32_b32", "s_ff1_i32_b32"},
	{"s_ctz_i32_b64", "s_ff1_i32_b64"},
	{"s_clz_i32_u32", "s_flbit_i32_b32"},
	{"s_clz_i32_u64", "s_flbit_i32_b64"},
	{"s_cls_i32", "s_flbit_i32"},
	{"s_cls_i32_i64", "s_flbit_i32_i64"},
	{"s_add_co_u32", "s_add_u32"},
	{"s_sub_co_u32", "s_sub_u32"},
	{"s_add_co_i32", "s_add_i32"},
	{"s_sub_co_i32", "s_sub_i32"},
	{"s_add_co_ci_u32", "s_addc_u32"},
	{"s_sub_co_ci_u32", "s_subb_u32"},
	{"s_addk_co_i32", "s_addk_i32"},
	{"s_add_nc_u64", "s_add_u64"},
	{"s_sub_nc_u64", "s_sub_u64"},
	{"v_accvgpr_read_b32", "v_mov_b32"},
	{"v_accvgpr_mov_b32", "v_mov_b32"},
	{"v_accvgpr_write_b32", "v_mov_b32"},
};

const char *sg_alias(const char *name, enum sg_gen gen, char buf[48])
{
	static const char *const fp8[] = {"v_cvt_f32_fp8", "v_cvt_f32_bf8",
		"v_cvt_pk_f32_fp8", "v_cvt_pk_f32_bf8", "v_cvt_pk_fp8_f32",
		"v_cvt_pk_bf8_f32", "v_cvt_sr_fp8_f32", "v_cvt_sr_bf8_f32"};

	for (size_t i = 0; gen == SG_GEN_940 && i < sizeof(fp8) / sizeof(*fp8); i++)
		if (!strcmp(fp8[i], name)) {
			snprintf(buf, 48, "%s_fnuz", name);
			return buf;
		}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i][0], name))
			return names[i][1];
	if (!strncmp(name, "v_cmp_t_f", 9)) {
		snprintf(buf, 48, "v_cmp_tru_%s", name + 8);
		return buf;
	}
	return name;
}

unsigned int sg_type_words(char type)
{
	switch (type) {
	case 'd':
	case 'U':
	case 'I':
	case 'B':
	case 'P':
	case 'Q':
		return 2;
	case 't':
		return 3;
	case 'e':
		return 4;
	case 'O':
		return 8;
	case 'S':
		return 16;
	case 'T':
		return 32;
	default:
		return 1;
	}
}

bool sg_type_float(char type)
{
	return type && strchr("fdhpPg", type);
}

bool sg_type_half(char type)
{
	return type && strchr("hwsxy", type);
}
