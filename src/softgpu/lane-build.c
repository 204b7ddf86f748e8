/* What each SIMD build offers besides its operations. */
#include "softgpu/lane.h"

extern const struct sg_op *const SG_CAT(__start_sg_lane_, SG_LANE)[];
extern const struct sg_op *const SG_CAT(__stop_sg_lane_, SG_LANE)[];

static void expand(uint32_t bits, uint32_t *row)
{
	for (uint32_t i = 0; i < 32; i++)
		row[i] = -(bits >> i & 1);
}

static void splat(uint32_t value, uint32_t *row)
{
	for (uint32_t i = 0; i < 32; i++)
		row[i] = value;
}

static void merge16(uint32_t *d, const uint32_t *r, const uint32_t *em, int mode)
{
	const uint32_t keep = mode == SG_MERGE_ZERO  ? 0
			      : mode == SG_MERGE_LOW ? 0xffff0000
						     : 0xffff;
	const int shift = mode == SG_MERGE_HIGH ? 16 : 0;

	for (int i = 0; i < 32; i++) {
		uint32_t v = (d[i] & keep) | r[i] << shift;

		d[i] = (v & em[i]) | (d[i] & ~em[i]);
	}
}

static void merge(uint32_t *d, const uint32_t *r, const uint32_t *em, unsigned int n)
{
	for (unsigned int h = 0; h < n; h += 32, d += 32, r += 32, em += 32)
		LANES d[i] = (r[i] & em[i]) | (d[i] & ~em[i]);
}

static void address(uint64_t *addr, const uint32_t *v, const uint32_t *hi, uint64_t base,
	unsigned int n)
{
	for (unsigned int h = 0; h < n; h += 32, addr += 32, v += 32) {
		if (!hi) {
			LANES addr[i] = v[i] + base;
			continue;
		}
		LANES addr[i] = (v[i] | (uint64_t)hi[i] << 32) + base;
		hi += 32;
	}
}

static void scan(const uint64_t *addr, const uint32_t *em, uint64_t step, unsigned int n,
	struct sg_scan *out)
{
	uint64_t lo = UINT64_MAX, hi = 0, line = 0, same = 0, first, next = addr[0];
	unsigned int f = 0;

	while (f < n - 1 && !em[f])
		f++;
	first = addr[f];
	for (unsigned int h = 0; h < n; h += 32, addr += 32, em += 32, next += 32 * step)
		for (int i = 0; i < 32; i++) {
			uint64_t m = (uint64_t)(int64_t)(int32_t)em[i], a = addr[i];

			lo = (a | ~m) < lo ? a | ~m : lo;
			hi = (a & m) > hi ? a & m : hi;
			line |= (a ^ (next + step * (uint32_t)i)) | ~m;
			same |= (a ^ first) & m;
		}
	out->lo = lo;
	out->hi = hi;
	out->line = line;
	out->same = same;
	out->first = first;
}

static void offsets(uint32_t *off, const uint64_t *addr, uint64_t base, unsigned int n)
{
	for (unsigned int h = 0; h < n; h += 32, off += 32, addr += 32)
		LANES off[i] = (uint32_t)(addr[i] - base);
}

/* Indices of dwords, 0 for lanes that are off; false when one does not fit. */
static bool indices(int32_t *idx, unsigned int words, uint64_t size, const uint32_t *off,
	uint32_t plus, const uint32_t *em, unsigned int n)
{
	uint32_t bad = 0, end;

	if (size < 4ull * words || size > INT32_MAX)
		return false;
	end = (uint32_t)size - 4 * words;
	for (unsigned int h = 0; h < n; h += 32, idx += 32, off += 32, em += 32)
		LANES_FREE
	for (int i = 0; i < 32; i++) {
		uint32_t o = (off[i] + plus) & em[i];

		bad |= (o & 3) | (o > end ? 1u : 0u);
		idx[i] = (int32_t)(o >> 2);
	}
	return !bad;
}

/* Pairs are loaded at once: other threads may write them. */
static bool gather2(uint32_t *d, const void *base, const int32_t *idx, const uint32_t *em,
	unsigned int n)
{
	const uint64_t *s = base;
	int32_t odd = (int32_t)((uintptr_t)base >> 2 & 1);

	for (unsigned int i = 0; i < n; i++)
		odd |= idx[i];
	if (odd & 1)
		return false;
	for (unsigned int h = 0; h < n; h += 32, d += 32, idx += 32, em += 32)
		LANES
		{
			uint64_t x = s[idx[i] >> 1];

			d[i] = ((uint32_t)x & em[i]) | (d[i] & ~em[i]);
			d[i + n] = ((uint32_t)(x >> 32) & em[i]) | (d[i + n] & ~em[i]);
		}
	return true;
}

static bool gather(uint32_t *d, unsigned int words, const void *base, uint64_t size,
	const uint32_t *off, uint32_t plus, const uint32_t *em, unsigned int n)
{
	const uint32_t *s = base;
	int32_t idx[SG_LANES_MAX];

	if (!indices(idx, words, size, off, plus, em, n))
		return false;
	if (words == 2)
		return gather2(d, base, idx, em, n);
	for (unsigned int h = 0; h < n; h += 16) {
		const int32_t *x = idx + h, x0 = x[0];
		int32_t line = 0, same = 0;

		LANES_ROLLED
		for (int j = 0; j < 16; j++) {
			line |= x[j] - x0 - j;
			same |= x[j] - x0;
		}
		for (unsigned int k = 0; k < words; k++) {
			const uint32_t *from = s + x0 + k, *e = em + h;
			uint32_t *to = d + k * n + h, one[16];

			/* 16 in a row, 16 times one, or each its own: a gather is
			 * slowest. */
			if (!same)
				LANES_ROLLED
			for (int j = 0; j < 16; j++)
				one[j] = *from;
			else if (line) for (int j = 0; j < 16; j++) one[j] =
				s[x[j] + (int32_t)k];
			if (!same || line)
				from = one;
			LANES_FREE
			for (int j = 0; j < 16; j++)
				to[j] = (from[j] & e[j]) | (to[j] & ~e[j]);
		}
	}
	return true;
}

static bool scatter(void *base, uint64_t size, const uint32_t *off, uint32_t plus,
	const uint32_t *s, unsigned int words, const uint32_t *em, unsigned int n)
{
	uint32_t *d = base;
	int32_t idx[SG_LANES_MAX];

	if (!indices(idx, words, size, off, plus, em, n))
		return false;
	/* Lane by lane: where two have one address the higher lane's value stays. */
	for (unsigned int i = 0; i < n; i++)
		if (em[i])
			for (unsigned int k = 0; k < words; k++)
				d[idx[i] + (int32_t)k] = s[k * n + i];
	return true;
}

static void matrix(float *c, const float *a, const uint8_t *at, const float *b,
	unsigned int m, unsigned int n, unsigned int stored)
{
	for (unsigned int i = 0; i < m; i++, c += n)
		for (unsigned int x = 0; x < stored; x++, a++, at++) {
			const float *row = b + *at * n, v = *a;

			LANES_FREE
			for (unsigned int j = 0; j < n; j++)
				c[j] = fmaf(v, row[j], c[j]);
		}
}

const struct sg_lane_build SG_CAT(sg_lane_, SG_LANE) = {SG_STR(SG_LANE),
	SG_CAT(__start_sg_lane_, SG_LANE), SG_CAT(__stop_sg_lane_, SG_LANE), expand,
	splat, merge16, merge, address, scan, gather, scatter, offsets, matrix};
