// The arithmetic of src/kernels' rms_norm<float, float, float> and gemm<float>, group for group, in
// OpenCL C: what another compiler makes of it for this CPU. Sizes are by argument there and here.
#define BLOCK 256
#define TILE 16

kernel void rms_norm(global float *out, const global float *x, const global float *weight,
	global float *residual, long hidden, float eps, int gemma)
{
	local float lds[BLOCK];
	const uint t = get_local_id(0);
	const long row = (long)get_group_id(0) * hidden;
	float sum = 0.0f;

	x += row;
	out += row;
	if (residual)
		residual += row;
	for (long i = t; i < hidden; i += BLOCK) {
		if (residual)
			residual[i] += x[i];
		const float v = residual ? residual[i] : x[i];
		sum += v * v;
	}
	lds[t] = sum;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint width = BLOCK / 2; width > 0; width /= 2) {
		if (t < width)
			lds[t] += lds[t + width];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	const float scale = rsqrt(lds[0] / (float)hidden + eps);

	for (long i = t; i < hidden; i += BLOCK) {
		const float w = weight[i];
		const float v = (residual ? residual[i] : x[i]) * scale;

		out[i] = v * (gemma ? 1.0f + w : w);
	}
}

static float at(const global float *data, long stride, uint rows, uint columns, int transposed,
	uint row, uint column)
{
	if (row >= rows || column >= columns)
		return 0.0f;
	return transposed ? data[column * stride + row] : data[row * stride + column];
}

kernel void gemm(global float *c, const global float *a, const global float *b, int m, int n, int k,
	long lda, long ldb, long ldc, float alpha, float beta, int trans_a, int trans_b)
{
	local float tile_a[TILE][TILE + 1];
	local float tile_b[TILE][TILE + 1];
	const uint x = get_local_id(0), y = get_local_id(1);
	const uint row = get_group_id(1) * TILE + y, column = get_group_id(0) * TILE + x;
	float sum = 0.0f;

	for (uint p = 0; p < (uint)k; p += TILE) {
		tile_a[y][x] = at(a, lda, m, k, trans_a, row, p + x);
		tile_b[y][x] = at(b, ldb, k, n, trans_b, p + y, column);
		barrier(CLK_LOCAL_MEM_FENCE);
		for (uint i = 0; i < TILE; i++)
			sum += tile_a[y][i] * tile_b[i][x];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (row >= (uint)m || column >= (uint)n)
		return;
	c[row * ldc + column] = alpha * sum + (beta != 0.0f ? beta * c[row * ldc + column] : 0);
}
