#include "launch/cases.h"

#include <math.h>

const struct rck_sizes rck_sizes_default = {
	.rows = 16, .hidden = 5120, .m = 96, .n = 80, .k = 112};

uint64_t rck_draw_u64(struct rck_draw *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

float rck_draw_f32(struct rck_draw *d, float low, float high)
{
	uint64_t u = rck_draw_u64(d);
	float v = low + (high - low) * ((float)(u >> 40) * 0x1p-24f);

	return u & 7 ? v : ldexpf(v, (int)(u >> 3 & 0xff) % 9 - 4);
}

static size_t rms_cases(
	const struct rck_bundled *k, const struct rck_sizes *s, struct rck_case *c)
{
	size_t n = 0;

	c[n++] = (struct rck_case){
		.name = "plain", .shape = {.rows = s->rows, .hidden = s->hidden}};
	c[n++] = (struct rck_case){.name = "residual",
		.shape = {.rows = s->rows, .hidden = s->hidden},
		.residual = true};
	c[n++] = (struct rck_case){.name = "gemma",
		.shape = {.rows = 5, .hidden = 2816},
		.residual = true,
		.gemma = true};
	c[n++] = (struct rck_case){.name = "odd size",
		.shape = {.rows = 3, .hidden = 257},
		.residual = true};
	c[n++] = (struct rck_case){
		.name = "one column", .shape = {.rows = 7, .hidden = 1}};
	c[n++] = (struct rck_case){.name = "zero rows",
		.shape = {.rows = 4, .hidden = 300},
		.input = RCK_INPUT_ZERO_ROWS};
	c[n++] = (struct rck_case){.name = "NaN and infinity",
		.shape = {.rows = 5, .hidden = 300},
		.input = RCK_INPUT_NAN_AND_INF};
	if (k->in == k->out)
		c[n++] = (struct rck_case){.name = "in place",
			.shape = {.rows = 3, .hidden = 1000},
			.in_place = true};
	return n;
}

static size_t gemm_cases(
	const struct rck_bundled *k, const struct rck_sizes *s, struct rck_case *c)
{
	const uint32_t batches = k->batched ? 3 : 1;
	size_t n = 0;

	c[n++] = (struct rck_case){.name = "plain",
		.shape = {.m = s->m, .n = s->n, .k = s->k},
		.alpha = 1.0f};
	c[n++] = (struct rck_case){.name = "A transposed",
		.shape = {.m = 33, .n = 17, .k = 65},
		.alpha = 0.75f,
		.beta = -0.5f,
		.trans_a = true,
		.padding = 3};
	c[n++] = (struct rck_case){.name = "B transposed",
		.shape = {.m = 17, .n = 31, .k = 50},
		.alpha = -1.25f,
		.beta = 1.0f,
		.trans_b = true,
		.padding = 1};
	c[n++] = (struct rck_case){.name = "both transposed",
		.shape = {.m = 15, .n = 49, .k = 16},
		.alpha = 1.0f,
		.trans_a = true,
		.trans_b = true,
		.padding = 5};
	c[n++] = (struct rck_case){
		.name = "one element", .shape = {.m = 1, .n = 1, .k = 1}, .alpha = 2.0f};
	c[n++] = (struct rck_case){
		.name = "long sum", .shape = {.m = 16, .n = 5, .k = 1000}, .alpha = 1.0f};
	c[n++] = (struct rck_case){.name = "empty sum",
		.shape = {.m = 9, .n = 9, .k = 0},
		.alpha = 1.0f,
		.beta = 0.5f};
	c[n++] = (struct rck_case){.name = "zero rows",
		.shape = {.m = 6, .n = 20, .k = 40},
		.input = RCK_INPUT_ZERO_ROWS,
		.alpha = 1.0f};
	c[n++] = (struct rck_case){.name = "NaN and infinity",
		.shape = {.m = 5, .n = 20, .k = 40},
		.input = RCK_INPUT_NAN_AND_INF,
		.alpha = 1.0f};
	for (size_t i = 0; i < n; i++) {
		c[i].shape.batches = batches;
		c[i].stride_padding = k->batched ? 7 : 0;
	}
	return n;
}

size_t rck_cases(const struct rck_bundled *k, const struct rck_sizes *sizes,
	struct rck_case *cases)
{
	return k->family == RCK_BUNDLED_RMSNORM ? rms_cases(k, sizes, cases)
						: gemm_cases(k, sizes, cases);
}
