/* What each SIMD build offers besides its operations. */
#include "softgpu/lane.h"

extern const struct sg_op *const SG_CAT(__start_sg_lane_, SG_LANE)[];
extern const struct sg_op *const SG_CAT(__stop_sg_lane_, SG_LANE)[];

static void expand(uint32_t bits, uint32_t *row)
{
	lane_expand(bits, row);
}

static void splat(uint32_t value, uint32_t *row)
{
	lane_splat(value, row);
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

static void scan(
	const uint64_t *addr, const uint32_t *em, unsigned int n, struct sg_scan *out)
{
	uint64_t lo = UINT64_MAX, hi = 0, line = 0, same = 0, first, zero;
	uint64_t on = lane_mask(em) | (n > 32 ? (uint64_t)lane_mask(em + 32) << 32 : 0);

	if (!on) {
		*out = (struct sg_scan){.lo = 1};
		return;
	}
	first = addr[__builtin_ctzll(on)];
	zero = first - 4 * (uint64_t)__builtin_ctzll(on);
	for (unsigned int h = 0; h < n; h += 32) {
		const uint64_t *a = addr + h, row = zero + 4 * h;
		const uint32_t *e = em + h;

		LANES_ROLLED
		for (int i = 0; i < 32; i++) {
			uint64_t m = (uint64_t)(int64_t)(int32_t)e[i];

			line |= (a[i] ^ (row + 4 * (uint64_t)i)) & m;
			same |= (a[i] ^ first) & m;
		}
	}
	if (!line || !same) {
		lo = first;
		hi = addr[63 - __builtin_clzll(on)];
	}
	for (unsigned int h = 0; line && same && h < n; h += 32) {
		const uint64_t *a = addr + h;
		const uint32_t *e = em + h;

		LANES_ROLLED
		for (int i = 0; i < 32; i++) {
			uint64_t m = (uint64_t)(int64_t)(int32_t)e[i];

			lo = (a[i] | ~m) < lo ? a[i] | ~m : lo;
			hi = (a[i] & m) > hi ? a[i] & m : hi;
		}
	}
	*out = (struct sg_scan){lo, hi, line, same, first, zero};
}

static void offsets(uint32_t *off, const uint64_t *addr, uint64_t base, unsigned int n)
{
	for (unsigned int h = 0; h < n; h += 32, off += 32, addr += 32)
		LANES off[i] = (uint32_t)(addr[i] - base);
}

/*
 * Memory by blocks of 16 lanes, which are one register of AVX-512: matrices in LDS often
 * have tiles as wide. A block's dwords lie in a row, are one and the same, or each apart.
 */
#define BLOCK       16
#define BLOCK_LANES LANES_FREE LANES_ROLLED for (int i = 0; i < BLOCK; i++)

/* The lanes of a block that are on. */
static inline uint32_t block_mask(const uint32_t *em)
{
	uint32_t m = 0;
#if defined(__AVX512F__)
	m = _mm512_movepi32_mask(_mm512_loadu_si512(em));
#else
	for (int i = 0; i < BLOCK; i += 4)
		m |= (uint32_t)_mm_movemask_ps(_mm_loadu_ps((const float *)em + i)) << i;
#endif
	return m;
}

static inline bool block_any(const uint32_t *row)
{
#if defined(__AVX512F__)
	__m512i x = _mm512_loadu_si512(row);

	return _mm512_test_epi32_mask(x, x);
#else
	__m128i x = _mm_setzero_si128();

	for (int i = 0; i < BLOCK; i += 4)
		x = _mm_or_si128(x, _mm_loadu_si128((const __m128i *)(row + i)));
	return _mm_movemask_epi8(_mm_cmpeq_epi32(x, _mm_setzero_si128())) != 0xffff;
#endif
}

static inline void block_merge(uint32_t *d, const uint32_t *r, const uint32_t *em)
{
	BLOCK_LANES d[i] = (r[i] & em[i]) | (d[i] & ~em[i]);
}

/* A row of words at p for the lanes that are on; no other word is touched. */
static inline void block_load(uint32_t *d, const uint32_t *p, const uint32_t *em)
{
#if defined(__AVX512F__)
	_mm512_storeu_si512(d, _mm512_mask_loadu_epi32(_mm512_loadu_si512(d),
				       (__mmask16)block_mask(em), p));
#elif defined(__AVX2__)
	for (int i = 0; i < BLOCK; i += 8) {
		__m256i on = _mm256_loadu_si256((const __m256i *)(em + i));
		__m256i x = _mm256_maskload_epi32((const int *)p + i, on);
		__m256i old = _mm256_loadu_si256((const __m256i *)(d + i));

		_mm256_storeu_si256((__m256i *)(d + i), _mm256_blendv_epi8(old, x, on));
	}
#else
	for (int i = 0; i < BLOCK; i++)
		if (em[i])
			memcpy(&d[i], &p[i], 4);
#endif
}

static inline void block_store(uint32_t *p, const uint32_t *s, const uint32_t *em)
{
#if defined(__AVX512F__)
	_mm512_mask_storeu_epi32(p, (__mmask16)block_mask(em), _mm512_loadu_si512(s));
#elif defined(__AVX2__)
	for (int i = 0; i < BLOCK; i += 8)
		_mm256_maskstore_epi32((int *)p + i,
			_mm256_loadu_si256((const __m256i *)(em + i)),
			_mm256_loadu_si256((const __m256i *)(s + i)));
#else
	for (int i = 0; i < BLOCK; i++)
		if (em[i])
			memcpy(&p[i], &s[i], 4);
#endif
}

static void load_line(uint32_t *d, const void *p, const uint32_t *em, unsigned int n)
{
	for (unsigned int h = 0; h < n; h += BLOCK)
		block_load(d + h, (const uint32_t *)p + h, em + h);
}

static void store_line(void *p, const uint32_t *s, const uint32_t *em, unsigned int n)
{
	for (unsigned int h = 0; h < n; h += BLOCK)
		block_store((uint32_t *)p + h, s + h, em + h);
}

enum shape { SHAPE_NONE, SHAPE_LINE, SHAPE_SAME, SHAPE_EACH, SHAPE_BAD };

struct block {
	enum shape shape;
	int64_t at;            /* LINE: of lane 0, were it on; SAME: of all; bytes */
	uint32_t index[BLOCK]; /* EACH: dwords */
};

static const uint32_t steps[BLOCK] = {
	0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60};

/* How the dwords at off + plus lie; BAD: one is misaligned or beyond size. */
static inline enum shape block_shape(struct block *b, const uint32_t *off, uint32_t plus,
	const uint32_t *em, uint32_t size, unsigned int words)
{
	const uint32_t on = block_mask(em), end = size - 4 * words;
	uint32_t f, l, first, row, lo, hi, line[BLOCK], same[BLOCK], bad[BLOCK];

	b->at = 0;
	if (!on)
		return SHAPE_NONE;
	f = (uint32_t)__builtin_ctz(on);
	l = 31 - (uint32_t)__builtin_clz(on);
	first = off[f];
	row = first - 4 * f;
	lo = first + plus;
	hi = off[l] + plus;
	BLOCK_LANES
	{
		line[i] = (off[i] - row - steps[i]) & em[i];
		same[i] = (off[i] - first) & em[i];
	}
	if (words == 1 && !block_any(line)) {
		b->at = (int64_t)lo - 4 * (int64_t)f;
		return lo & 3 || lo > hi || hi > end ? SHAPE_BAD : SHAPE_LINE;
	}
	if (!block_any(same)) {
		b->at = lo;
		return lo & 3 || lo > end ? SHAPE_BAD : SHAPE_SAME;
	}
	BLOCK_LANES
	{
		uint32_t o = (off[i] + plus) & em[i];

		bad[i] = (o & 3) | (o > end ? 1u : 0u);
		b->index[i] = o >> 2;
	}
	return block_any(bad) ? SHAPE_BAD : SHAPE_EACH;
}

/* Rows of four lanes from their words, and back; a lane's words lie in one register. */
static inline void transpose4(__m128i r[4])
{
	__m128i a = _mm_unpacklo_epi32(r[0], r[1]), b = _mm_unpacklo_epi32(r[2], r[3]);
	__m128i c = _mm_unpackhi_epi32(r[0], r[1]), d = _mm_unpackhi_epi32(r[2], r[3]);

	r[0] = _mm_unpacklo_epi64(a, b);
	r[1] = _mm_unpackhi_epi64(a, b);
	r[2] = _mm_unpacklo_epi64(c, d);
	r[3] = _mm_unpackhi_epi64(c, d);
}

/* Pairs and quads are loaded and stored at once: other threads may do the same. */
static inline void block_load_each(uint32_t *d, unsigned int words, const uint32_t *s,
	const uint32_t *index, const uint32_t *em, unsigned int n)
{
	uint32_t row[4][BLOCK];

	for (int i = 0; i < BLOCK; i += 4) {
		__m128i r[4];

		if (words == 1 || words == 3) {
			for (unsigned int k = 0; k < words; k++)
				for (int j = i; j < i + 4; j++)
					row[k][j] = s[index[j] + k];
			continue;
		}
		for (int j = 0; j < 4; j++) {
			const void *p = s + index[i + j];

			r[j] = words == 2 ? _mm_loadl_epi64(p) : _mm_loadu_si128(p);
		}
		transpose4(r);
		for (unsigned int k = 0; k < words; k++)
			_mm_storeu_si128((__m128i *)&row[k][i], r[k]);
	}
	for (unsigned int k = 0; k < words; k++)
		block_merge(d + k * n, row[k], em);
}

/* Lane by lane: where two have one address the higher lane's value stays. */
static inline void block_store_each(uint32_t *d, const uint32_t *index, const uint32_t *s,
	unsigned int words, const uint32_t *em, unsigned int n)
{
	for (int i = 0; i < BLOCK; i += 4) {
		__m128i r[4] = {0};

		if (words == 1 || words == 3) {
			for (int j = i; j < i + 4; j++)
				for (unsigned int k = 0; em[j] && k < words; k++)
					d[index[j] + k] = s[k * n + (unsigned int)j];
			continue;
		}
		for (unsigned int k = 0; k < words; k++)
			r[k] = _mm_loadu_si128((const __m128i *)(s + k * n + i));
		transpose4(r);
		for (int j = 0; j < 4; j++) {
			void *p = d + index[i + j];

			if (em[i + j] && words == 2)
				_mm_storel_epi64(p, r[j]);
			else if (em[i + j])
				_mm_storeu_si128(p, r[j]);
		}
	}
}

/* The blocks of n lanes, all before any is moved; false: one is bad. */
static inline bool blocks(struct block *b, uint64_t size, unsigned int words,
	const uint32_t *off, uint32_t plus, const uint32_t *em, unsigned int n)
{
	if (size < 4ull * words || size > INT32_MAX)
		return false;
	for (unsigned int h = 0; h < n; h += BLOCK, b++) {
		b->shape = block_shape(b, off + h, plus, em + h, (uint32_t)size, words);
		if (b->shape == SHAPE_BAD)
			return false;
	}
	return true;
}

static const uint32_t index_same[BLOCK];

static bool gather(uint32_t *d, unsigned int words, const void *base, uint64_t size,
	const uint32_t *off, uint32_t plus, const uint32_t *em, unsigned int n)
{
	struct block all[SG_LANES_MAX / BLOCK], *b = all;

	if (!blocks(all, size, words, off, plus, em, n))
		return false;
	for (unsigned int h = 0; h < n; h += BLOCK, b++) {
		const uint32_t *from = (const void *)((uintptr_t)base + (uint64_t)b->at);
		uint32_t one[BLOCK];

		if (b->shape == SHAPE_LINE) {
			block_load(d + h, from, em + h);
		} else if (b->shape == SHAPE_SAME && words == 1) {
			BLOCK_LANES one[i] = *from;
			block_merge(d + h, one, em + h);
		} else if (b->shape == SHAPE_SAME) {
			block_load_each(d + h, words, from, index_same, em + h, n);
		} else if (b->shape == SHAPE_EACH) {
			block_load_each(d + h, words, base, b->index, em + h, n);
		}
	}
	return true;
}

static bool scatter(void *base, uint64_t size, const uint32_t *off, uint32_t plus,
	const uint32_t *s, unsigned int words, const uint32_t *em, unsigned int n)
{
	struct block all[SG_LANES_MAX / BLOCK], *b = all;

	if (!blocks(all, size, words, off, plus, em, n))
		return false;
	for (unsigned int h = 0; h < n; h += BLOCK, b++) {
		uint32_t *to = (void *)((uintptr_t)base + (uint64_t)b->at);

		if (b->shape == SHAPE_LINE)
			block_store(to, s + h, em + h);
		else if (b->shape == SHAPE_SAME)
			block_store_each(to, index_same, s + h, words, em + h, n);
		else if (b->shape == SHAPE_EACH)
			block_store_each(base, b->index, s + h, words, em + h, n);
	}
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
	splat, merge16, merge, address, scan, load_line, store_line, gather, scatter,
	offsets, matrix};
