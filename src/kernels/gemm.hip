/*
 * C = alpha * op(A) * op(B) + beta * C, all row-major, sums in f32.
 *
 * op(A) is M x K and op(B) K x N; with trans_a (trans_b) the matrix in memory is the
 * transposed one, and lda (ldb) its row length. A block of 16 x 16 threads computes a
 * tile of C, one element a thread, in steps of 16 along K through LDS. With beta == 0
 * C is only written. Any M, N and K: what lies outside counts as zero.
 */
#include "device.h"

constexpr unsigned TILE = 16;

template <typename T> struct matrix {
	const T *data;
	int64 stride;
	int rows, columns; /* of op(), not of memory */
	int transposed;
};

template <typename T> DEVICE inline float at(const matrix<T> &m, unsigned row, unsigned column)
{
	if (row >= (unsigned)m.rows || column >= (unsigned)m.columns)
		return 0.0f;
	return to_f32(m.transposed ? m.data[column * m.stride + row]
				   : m.data[row * m.stride + column]);
}

/* One element of op(A) * op(B): row of the block's row tile, column of its column tile.
 */
template <typename T>
DEVICE inline float dot(const matrix<T> &a, const matrix<T> &b, unsigned row, unsigned column)
{
	static SHARED float tile_a[TILE][TILE + 1];
	static SHARED float tile_b[TILE][TILE + 1];
	const unsigned x = thread_x(), y = thread_y();
	float sum = 0.0f;

	for (unsigned k = 0; k < (unsigned)a.columns; k += TILE) {
		tile_a[y][x] = at(a, row, k + x);
		tile_b[y][x] = at(b, k + y, column);
		block_barrier();
		for (unsigned i = 0; i < TILE; i++)
			sum += tile_a[y][i] * tile_b[i][x];
		block_barrier();
	}
	return sum;
}

template <typename T>
DEVICE inline void gemm_tile(T *c, const matrix<T> &a, const matrix<T> &b, int64 ldc,
	float alpha, float beta)
{
	const unsigned row = block_y() * TILE + thread_y();
	const unsigned column = block_x() * TILE + thread_x();
	float v = alpha * dot(a, b, row, column);

	if (row >= (unsigned)a.rows || column >= (unsigned)b.columns)
		return;
	if (beta != 0.0f)
		v += beta * to_f32(c[row * ldc + column]);
	c[row * ldc + column] = round_to<T>::from(v);
}

template <typename T>
GLOBAL void gemm(T *c, const T *a, const T *b, int m, int n, int k, int64 lda, int64 ldb,
	int64 ldc, float alpha, float beta, int trans_a, int trans_b)
{
	gemm_tile(c, matrix<T>{a, lda, m, k, trans_a}, matrix<T>{b, ldb, k, n, trans_b}, ldc,
		alpha, beta);
}

/* One product a block_z; strides are in elements. */
template <typename T>
GLOBAL void gemm_strided_batched(T *c, const T *a, const T *b, int m, int n, int k,
	int64 lda, int64 ldb, int64 ldc, float alpha, float beta, int trans_a, int trans_b,
	int64 stride_a, int64 stride_b, int64 stride_c)
{
	const int64 z = block_z();

	gemm_tile(c + z * stride_c, matrix<T>{a + z * stride_a, lda, m, k, trans_a},
		matrix<T>{b + z * stride_b, ldb, k, n, trans_b}, ldc, alpha, beta);
}

#define INSTANCE(T)                                                                      \
	template GLOBAL void gemm<T>(T *, const T *, const T *, int, int, int, int64, int64, \
		int64, float, float, int, int);                                          \
	template GLOBAL void gemm_strided_batched<T>(T *, const T *, const T *, int, int, int, \
		int64, int64, int64, float, float, int, int, int64, int64, int64);

INSTANCE(float)
INSTANCE(bf16)
