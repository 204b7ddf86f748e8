/* The arithmetic of atomics, on memory that other threads may touch or that is ours. */
#include "softgpu/ops-mem.h"

#include "softgpu/lane-float.h"

static uint64_t fmm(uint64_t o, uint64_t v, unsigned int bytes, bool max)
{
	double a = bytes == 4 ? (double)sg_bits_f((uint32_t)o) : sg_bits_d(o),
	       b = bytes == 4 ? (double)sg_bits_f((uint32_t)v) : sg_bits_d(v);

	if (a != a)
		return v;
	if (b != b)
		return o;
	return (max ? b > a : b < a) ? v : o;
}

static uint64_t pk_add(uint64_t o, uint64_t v, bool bf)
{
	uint32_t r = 0;

	for (int k = 0; k < 32; k += 16) {
		uint16_t x = (uint16_t)(o >> k), y = (uint16_t)(v >> k);
		uint16_t s = bf ? sg_f2bf(sg_bits_f((uint32_t)x << 16) +
					  sg_bits_f((uint32_t)y << 16))
				: sg_f2h(sg_h2f(x) + sg_h2f(y));

		r |= (uint32_t)s << k;
	}
	return r;
}

/* The new value for old o, data v, compare value b. */
static uint64_t apply(
	enum sg_atomic a, unsigned int bytes, uint64_t o, uint64_t v, uint64_t b)
{
	int64_t so = bytes == 4 ? (int32_t)o : (int64_t)o,
		sv = bytes == 4 ? (int32_t)v : (int64_t)v;

	switch (a) {
	case SG_A_SWAP:
		return v;
	case SG_A_CMPSWAP:
		return o == b ? v : o;
	case SG_A_ADD:
		return o + v;
	case SG_A_SUB:
		return o - v;
	case SG_A_RSUB:
		return v - o;
	case SG_A_SMIN:
		return sv < so ? v : o;
	case SG_A_UMIN:
		return v < o ? v : o;
	case SG_A_SMAX:
		return sv > so ? v : o;
	case SG_A_UMAX:
		return v > o ? v : o;
	case SG_A_AND:
		return o & v;
	case SG_A_OR:
		return o | v;
	case SG_A_XOR:
		return o ^ v;
	case SG_A_MSKOR: /* v: the mask to clear; b: the bits to set */
		return (o & ~v) | b;
	case SG_A_INC:
		return o >= v ? 0 : o + 1;
	case SG_A_DEC:
		return o == 0 || o > v ? v : o - 1;
	case SG_A_FADD:
		return bytes == 4 ? sg_f_bits(sg_bits_f((uint32_t)o) +
					      sg_bits_f((uint32_t)v))
				  : sg_d_bits(sg_bits_d(o) + sg_bits_d(v));
	case SG_A_FMIN:
		return fmm(o, v, bytes, false);
	case SG_A_FMAX:
		return fmm(o, v, bytes, true);
	case SG_A_FCMPSWAP:
		return (bytes == 4 ? sg_bits_f((uint32_t)o) == sg_bits_f((uint32_t)b)
				   : sg_bits_d(o) == sg_bits_d(b))
			       ? v
			       : o;
	case SG_A_PK_F16:
		return pk_add(o, v, false);
	case SG_A_PK_BF16:
		return pk_add(o, v, true);
	case SG_A_CSUB:
		return o < v ? 0 : o - v;
	case SG_A_CONDSUB:
		return o >= v ? o - v : o;
	case SG_A_WRAP:
		return o >= v ? o - v : o + b;
	case SG_A_CONDXCHG: /* each half whose sign says so */
		for (int k = 0; k < 64; k += 32)
			if (v >> (k + 31) & 1)
				o = (o & ~(0xffffffffull << k)) |
				    (v & 0x7fffffffull << k);
		return o;
	default:
		return o;
	}
}

static uint64_t shared32(enum sg_atomic a, uint32_t *p, uint32_t v, uint32_t b)
{
	uint32_t o, n;

	switch (a) { /* the CPU's own where it has them */
	case SG_A_ADD:
		return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
	case SG_A_SUB:
		return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);
	case SG_A_SWAP:
		return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
	default:
		break;
	}
	o = __atomic_load_n(p, __ATOMIC_SEQ_CST);
	do
		n = (uint32_t)apply(a, 4, o, v, b);
	while (!__atomic_compare_exchange_n(
		p, &o, n, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	return o;
}

static uint64_t shared64(enum sg_atomic a, uint64_t *p, uint64_t v, uint64_t b)
{
	uint64_t o, n;

	if (a == SG_A_ADD)
		return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
	if (a == SG_A_SWAP)
		return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
	o = __atomic_load_n(p, __ATOMIC_SEQ_CST);
	do
		n = apply(a, 8, o, v, b);
	while (!__atomic_compare_exchange_n(
		p, &o, n, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	return o;
}

uint64_t sg_atomic_do(enum sg_atomic a, unsigned int bytes, void *p, uint64_t v,
	uint64_t b, bool shared)
{
	uint32_t *p32 = p, o32;
	uint64_t *p64 = p, o64;

	if (shared)
		return bytes == 4 ? shared32(a, p32, (uint32_t)v, (uint32_t)b)
				  : shared64(a, p64, v, b);
	if (bytes == 4) {
		o32 = *p32;
		*p32 = (uint32_t)apply(a, 4, o32, v, b);
		return o32;
	}
	o64 = *p64;
	*p64 = apply(a, 8, o64, v, b);
	return o64;
}
