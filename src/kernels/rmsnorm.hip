/*
 * RMS norm of rows: out = x * (1 / sqrt(mean(x^2) + eps)) * weight.
 *
 * One block of 256 threads a row. With a residual, x + residual (rounded to Tres) takes
 * x's place and is stored back. gemma: the weights are offsets from one. out may be x,
 * where Tin and Tout are the same type.
 */
#include "device.h"

constexpr unsigned BLOCK = 256;

/* The value of one element, which the first pass has to store where there is a residual.
 */
template <typename Tin, typename Tres>
DEVICE inline float load(const Tin *x, const Tres *residual, int64 i)
{
	return residual ? to_f32(residual[i]) : to_f32(x[i]);
}

template <typename Tin, typename Tres>
DEVICE inline void add_residual(const Tin *x, Tres *residual, int64 i)
{
	residual[i] = round_to<Tres>::from(to_f32(x[i]) + to_f32(residual[i]));
}

/* The sum of one value a thread, by a tree in LDS. */
DEVICE inline float block_sum(float v, float *lds)
{
	const unsigned t = thread_x();

	lds[t] = v;
	block_barrier();
	for (unsigned width = BLOCK / 2; width > 0; width /= 2) {
		if (t < width)
			lds[t] += lds[t + width];
		block_barrier();
	}
	return lds[0];
}

template <typename Tin, typename Tout, typename Tres>
GLOBAL void rms_norm(Tout *out, const Tin *x, const Tin *weight, Tres *residual,
	int64 hidden, float eps, int gemma)
{
	static SHARED float lds[BLOCK];
	const int64 row = (int64)block_x() * hidden;
	float sum = 0.0f;

	x += row;
	out += row;
	if (residual)
		residual += row;
	for (int64 i = thread_x(); i < hidden; i += BLOCK) {
		if (residual)
			add_residual(x, residual, i);
		const float v = load(x, residual, i);
		sum += v * v;
	}
	const float scale =
		__ocml_rsqrt_f32(block_sum(sum, lds) / (float)hidden + eps);

	for (int64 i = thread_x(); i < hidden; i += BLOCK) {
		const float w = to_f32(weight[i]);
		const float v = load(x, residual, i) * scale;

		out[i] = round_to<Tout>::from(v * (gemma ? 1.0f + w : w));
	}
}

#define INSTANCE(Tin, Tout, Tres)                                                        \
	template GLOBAL void rms_norm<Tin, Tout, Tres>(                                  \
		Tout *, const Tin *, const Tin *, Tres *, int64, float, int);

INSTANCE(float, float, float)
INSTANCE(float, float, bf16)
INSTANCE(float, bf16, float)
INSTANCE(float, bf16, bf16)
INSTANCE(bf16, float, float)
INSTANCE(bf16, float, bf16)
INSTANCE(bf16, bf16, float)
INSTANCE(bf16, bf16, bf16)
