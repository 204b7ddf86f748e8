#include "kernels/table.h"

#include <string.h>

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static const struct rck_bundled_arg rms_args[] = {
	{"out", RCK_BUNDLED_BUFFER},
	{"x", RCK_BUNDLED_BUFFER},
	{"weight", RCK_BUNDLED_BUFFER},
	{"residual", RCK_BUNDLED_BUFFER},
	{"hidden", RCK_BUNDLED_I64},
	{"eps", RCK_BUNDLED_F32},
	{"gemma", RCK_BUNDLED_I32},
};

/* The plain form ends before the strides. */
static const struct rck_bundled_arg gemm_args[] = {
	{"c", RCK_BUNDLED_BUFFER},
	{"a", RCK_BUNDLED_BUFFER},
	{"b", RCK_BUNDLED_BUFFER},
	{"m", RCK_BUNDLED_I32},
	{"n", RCK_BUNDLED_I32},
	{"k", RCK_BUNDLED_I32},
	{"lda", RCK_BUNDLED_I64},
	{"ldb", RCK_BUNDLED_I64},
	{"ldc", RCK_BUNDLED_I64},
	{"alpha", RCK_BUNDLED_F32},
	{"beta", RCK_BUNDLED_F32},
	{"trans_a", RCK_BUNDLED_I32},
	{"trans_b", RCK_BUNDLED_I32},
	{"stride_a", RCK_BUNDLED_I64},
	{"stride_b", RCK_BUNDLED_I64},
	{"stride_c", RCK_BUNDLED_I64},
};
#define N_STRIDES 3

#define F32  RCK_ELEM_F32
#define BF16 RCK_ELEM_BF16

#define RMS(tin, tout, tres, text, mangled)                                              \
	{                                                                                \
		.name = "rms_norm<" text ">", .symbol = mangled,                         \
		.source = "rmsnorm.hip", .family = RCK_BUNDLED_RMSNORM, .in = tin,       \
		.out = tout, .res = tres, .args = rms_args, .n_args = LENGTH(rms_args),  \
		.block = {256, 1, 1}, .lds = 256 * 4, .grid = "rows x 1 x 1"             \
	}

#define GEMM(elem, form, text, is_batched, mangled)                                      \
	{                                                                                \
		.name = form "<" text ">", .symbol = mangled, .source = "gemm.hip",      \
		.family = RCK_BUNDLED_GEMM, .in = elem, .out = elem, .res = elem,        \
		.batched = is_batched, .args = gemm_args,                                \
		.n_args = LENGTH(gemm_args) - (is_batched ? 0 : N_STRIDES),              \
		.block = {16, 16, 1}, .lds = 2 * 16 * 17 * 4,                            \
		.grid = "ceil(n/16) x ceil(m/16) x batches"                              \
	}

const struct rck_bundled rck_bundled_kernels[] = {
	RMS(F32, F32, F32, "f32,f32,f32", "_Z8rms_normIfffEvPT0_PKT_S4_PT1_lfi"),
	RMS(F32, F32, BF16, "f32,f32,bf16", "_Z8rms_normIff4bf16EvPT0_PKT_S5_PT1_lfi"),
	RMS(F32, BF16, F32, "f32,bf16,f32", "_Z8rms_normIf4bf16fEvPT0_PKT_S5_PT1_lfi"),
	RMS(F32, BF16, BF16, "f32,bf16,bf16",
		"_Z8rms_normIf4bf16S0_EvPT0_PKT_S5_PT1_lfi"),
	RMS(BF16, F32, F32, "bf16,f32,f32", "_Z8rms_normI4bf16ffEvPT0_PKT_S5_PT1_lfi"),
	RMS(BF16, F32, BF16, "bf16,f32,bf16",
		"_Z8rms_normI4bf16fS0_EvPT0_PKT_S5_PT1_lfi"),
	RMS(BF16, BF16, F32, "bf16,bf16,f32",
		"_Z8rms_normI4bf16S0_fEvPT0_PKT_S5_PT1_lfi"),
	RMS(BF16, BF16, BF16, "bf16,bf16,bf16",
		"_Z8rms_normI4bf16S0_S0_EvPT0_PKT_S5_PT1_lfi"),
	GEMM(F32, "gemm", "f32", false, "_Z4gemmIfEvPT_PKS0_S3_iiilllffii"),
	GEMM(BF16, "gemm", "bf16", false, "_Z4gemmI4bf16EvPT_PKS1_S4_iiilllffii"),
	GEMM(F32, "gemm_strided_batched", "f32", true,
		"_Z20gemm_strided_batchedIfEvPT_PKS0_S3_iiilllffiilll"),
	GEMM(BF16, "gemm_strided_batched", "bf16", true,
		"_Z20gemm_strided_batchedI4bf16EvPT_PKS1_S4_iiilllffiilll"),
};
const size_t rck_bundled_count = LENGTH(rck_bundled_kernels);

size_t rck_bundled_arg_size(enum rck_bundled_arg_type type)
{
	return type == RCK_BUNDLED_BUFFER || type == RCK_BUNDLED_I64 ? 8 : 4;
}

const struct rck_bundled *rck_bundled_find(const char *symbol)
{
	for (size_t i = 0; i < rck_bundled_count; i++)
		if (!strcmp(rck_bundled_kernels[i].symbol, symbol))
			return &rck_bundled_kernels[i];
	return NULL;
}

static uint32_t tiles(uint32_t n)
{
	return n / 16 + (n % 16 != 0);
}

void rck_bundled_grid(const struct rck_bundled *k, const struct rck_bundled_shape *shape,
	uint32_t grid[3])
{
	const bool gemm = k->family == RCK_BUNDLED_GEMM;

	grid[0] = gemm ? tiles(shape->n) : shape->rows;
	grid[1] = gemm ? tiles(shape->m) : 1;
	grid[2] = gemm ? shape->batches : 1;
}
