/* Compiled without any header or device library, so by every clang. */
#define DEV static __attribute__((device))
#include "isa-functions.h"

#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 256))) void
#define LDS    __attribute__((shared))
#define LID    __builtin_amdgcn_workitem_id_x()
#define GRP    __builtin_amdgcn_workgroup_id_x()

#define K(NAME)                                                                          \
	KERNEL k_##NAME(const u32 *in, u32 *out, u32 n)                                  \
	{                                                                                \
		u32 i = GRP * 256 + LID, res[OUT] = {};                                  \
		if (i >= n)                                                              \
			return;                                                          \
		t_##NAME(in + i * IN, res);                                              \
		for (u32 k = 0; k < OUT; k++)                                            \
			out[i * OUT + k] = res[k];                                       \
	}
FUNCTIONS(K)

/* A sum over the workgroup in LDS; work-items beyond n leave before no barrier. */
KERNEL k_reduce(const u32 *in, u32 *out, u32 n)
{
	LDS u32 part[256];
	u32 i = GRP * 256 + LID;

	part[LID] = i < n ? in[i * IN] : 0;
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
	for (u32 s = 128; s; s >>= 1) {
		if (LID < s)
			part[LID] += part[LID + s];
		__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
		__builtin_amdgcn_s_barrier();
		__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
	}
	if (i < n)
		out[i * OUT] = part[0] + LID;
}

/* Waves of a group that end early do not hold the others' barrier. */
KERNEL k_early(const u32 *in, u32 *out, u32 n)
{
	LDS u32 cell[256];
	u32 i = GRP * 256 + LID;

	if (LID >= 128)
		return;
	cell[LID] = in[i * IN] ^ LID;
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
	if (i < n)
		out[i * OUT] = cell[127 - LID];
}

/*
 * Tickets from memory, given out through LDS. A barrier is missing behind the read of it,
 * and no hardware has shown that: a wave reads in LDS before another has come back from
 * memory (rocPRIM 6.4.3's adjacent_find).
 */
KERNEL k_tickets(const u32 *in, u32 *out, u32 n)
{
	LDS u32 shared;
	u32 i = GRP * 256 + LID, sum = 0, ticket;

	for (;;) {
		if (!LID)
			shared = __atomic_fetch_add(&out[GRP * 256 * OUT + 1], 1, __ATOMIC_RELAXED);
		__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
		__builtin_amdgcn_s_barrier();
		__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
		ticket = *(volatile u32 *)&shared;
		if (ticket >= 10)
			break;
		sum = sum * 3 + ticket + 1;
	}
	if (i < n)
		out[i * OUT] = sum;
}

/* out[0..7] of the first work-item collect; the order does not matter. */
KERNEL k_atomics(const u32 *in, u32 *out, u32 n)
{
	LDS u32 low, high;
	LDS u64 sum;
	u32 i = GRP * 256 + LID;

	if (!LID) {
		low = ~0u;
		high = 0;
		sum = 0;
	}
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
	if (i < n) {
		u32 x = in[i * IN], old;
		u64 *o64 = (u64 *)(out + 8);

		__atomic_fetch_add(&out[0], x, __ATOMIC_RELAXED);
		__atomic_fetch_xor(&out[1], x, __ATOMIC_RELAXED);
		__atomic_fetch_or(&out[2], x & 0x0f0f0f0f, __ATOMIC_RELAXED);
		__atomic_fetch_and(&out[3], x | 0x0ff00000, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&out[4], x * 3, __ATOMIC_SEQ_CST);
		old = __atomic_load_n(&out[5], __ATOMIC_RELAXED); /* a compare-and-swap loop: the largest */
		do {
			if (old >= x)
				break;
		} while (!__atomic_compare_exchange_n(&out[5], &old, x, false,
			__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
		__atomic_fetch_add(&o64[0], (u64)x * x, __ATOMIC_RELAXED);
		__atomic_fetch_xor(&o64[1], (u64)x << 17, __ATOMIC_RELAXED);
		__atomic_fetch_min(&low, x, __ATOMIC_RELAXED);
		__atomic_fetch_max(&high, x, __ATOMIC_RELAXED);
		__atomic_fetch_add(&sum, (u64)x, __ATOMIC_RELAXED);
	}
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
	if (!LID) {
		__atomic_fetch_add(&out[6], low ^ high, __ATOMIC_RELAXED);
		__atomic_fetch_add((u64 *)(out + 12), sum, __ATOMIC_RELAXED);
	}
}

/* Across lanes. out[0] and out[1] must not depend on the wave's size. */
KERNEL k_lanes(const u32 *in, u32 *out, u32 n)
{
	u32 i = GRP * 256 + LID, x = in[i * IN], lane;
	u32 lo = __builtin_amdgcn_mbcnt_lo(~0u, 0);

	lane = __builtin_amdgcn_mbcnt_hi(~0u, lo);
	out[i * OUT] = (u32)__builtin_amdgcn_ds_bpermute((int)((lane ^ 5) * 4), (int)x);
	out[i * OUT + 1] = (u32)__builtin_amdgcn_mov_dpp((int)x, 0xb1, 0xf, 0xf, true);
	out[i * OUT + 2] = (u32)__builtin_amdgcn_update_dpp((int)77, (int)x, 0x111, 0xf, 0xf, false);
	out[i * OUT + 3] = (u32)__builtin_amdgcn_mov_dpp((int)x, 0x141, 0xf, 0xf, true);
	out[i * OUT + 4] = (u32)__builtin_amdgcn_ds_swizzle((int)x, 0x041f);
	out[i * OUT + 5] = lane & 31;
	out[i * OUT + 6] = (u32)__builtin_amdgcn_readlane((int)x, 3);
	out[i * OUT + 7] = (u32)__builtin_amdgcn_ds_permute((int)((lane ^ 9) * 4), (int)x);
}

/* A ticket lock between workgroups: each waits for its turn. */
KERNEL k_turns(const u32 *in, u32 *out, u32 n)
{
	if (LID)
		return;
	while (__atomic_load_n(&out[0], __ATOMIC_ACQUIRE) != GRP)
		__builtin_amdgcn_s_sleep(1);
	out[1] = out[1] * 3 + GRP;
	__atomic_store_n(&out[0], GRP + 1, __ATOMIC_RELEASE);
}

/* Many spin for one that sleeps often: each of its sleeps must not cost all their turns. */
KERNEL k_sleeper(const u32 *in, u32 *out, u32 n)
{
	u32 i = GRP * 256 + LID;

	if (GRP == 0) {
		for (u32 k = 0; k < 500; k++)
			__builtin_amdgcn_s_sleep(63);
		if (!LID)
			__atomic_store_n(&out[1], 1, __ATOMIC_RELEASE);
	} else {
		while (!__atomic_load_n(&out[1], __ATOMIC_ACQUIRE))
			;
	}
	if (i < n)
		out[i * OUT] = in[i * IN];
}

/* ---- what only some targets have, by clang's builtins ---- */

#if defined(__gfx942__) || defined(__gfx1201__)
KERNEL k_fp8(const u32 *in, u32 *out, u32 n)
{
	typedef float f2 __attribute__((ext_vector_type(2)));
	u32 i = GRP * 256 + LID;
	const u32 *x = in + i * IN;
	f2 pair;
	int w;

	if (i >= n)
		return;
	w = __builtin_amdgcn_cvt_pk_fp8_f32(as_f(x[0]), as_f(x[1]), 0, false);
	w = __builtin_amdgcn_cvt_pk_fp8_f32(as_f(x[2]), as_f(x[3]), w, true);
	out[i * OUT] = (u32)w;
	w = __builtin_amdgcn_cvt_pk_bf8_f32(as_f(x[0]), as_f(x[1]), 0, false);
	w = __builtin_amdgcn_cvt_pk_bf8_f32(as_f(x[2]), as_f(x[3]), w, true);
	out[i * OUT + 1] = (u32)w;
	w = __builtin_amdgcn_cvt_sr_fp8_f32(as_f(x[0]), (int)x[4], w, 2);
	w = __builtin_amdgcn_cvt_sr_bf8_f32(as_f(x[1]), (int)x[5], w, 1);
	out[i * OUT + 2] = (u32)w;
	out[i * OUT + 3] = f_as(__builtin_amdgcn_cvt_f32_fp8((int)x[6], 1));
	out[i * OUT + 4] = f_as(__builtin_amdgcn_cvt_f32_bf8((int)x[6], 3));
	pair = __builtin_amdgcn_cvt_pk_f32_fp8((int)x[7], true);
	out[i * OUT + 5] = f_as(pair.x);
	out[i * OUT + 6] = f_as(pair.y);
	pair = __builtin_amdgcn_cvt_pk_f32_bf8((int)x[7], false);
	out[i * OUT + 7] = f_as(pair.x);
	out[i * OUT + 8] = f_as(pair.y);
}
#endif

/* Whole numbers from -3 to 4, so that nothing is rounded. */
#define SMALL(X, E) ((_Float16)(float)((int)((X) >> 4 * (E) & 7) - 3))

#ifdef __gfx942__
KERNEL k_smfmac(const u32 *in, u32 *out, u32 n)
{
	typedef _Float16 h4 __attribute__((ext_vector_type(4)));
	typedef _Float16 h8 __attribute__((ext_vector_type(8)));
	typedef float f4 __attribute__((ext_vector_type(4)));
	u32 i = GRP * 256 + LID;
	const u32 *x = in + i * IN;
	h4 a;
	h8 b;
	f4 c;

	for (int e = 0; e < 4; e++) {
		a[e] = SMALL(x[0], e);
		c[e] = (float)SMALL(x[2], e);
	}
	for (int e = 0; e < 8; e++)
		b[e] = SMALL(x[1], e);
	c = __builtin_amdgcn_smfmac_f32_16x16x32_f16(a, b, c, (int)x[3], 0, 1);
	for (u32 e = 0; e < 4; e++)
		out[i * OUT + e] = f_as(c[e]);
}
#endif

#if defined(__gfx1201__) && !defined(WAVE64)
KERNEL k_swmmac(const u32 *in, u32 *out, u32 n)
{
	typedef _Float16 h8 __attribute__((ext_vector_type(8)));
	typedef _Float16 h16 __attribute__((ext_vector_type(16)));
	typedef float f8 __attribute__((ext_vector_type(8)));
	u32 i = GRP * 256 + LID;
	const u32 *x = in + i * IN;
	h8 a;
	h16 b;
	f8 c;

	for (int e = 0; e < 8; e++) {
		a[e] = SMALL(x[0], e);
		b[e] = SMALL(x[1], e);
		b[e + 8] = SMALL(x[2], e);
		c[e] = (float)SMALL(x[4], e);
	}
	c = __builtin_amdgcn_swmmac_f32_16x16x32_f16_w32(a, b, c, (short)x[3]);
	for (u32 e = 0; e < 8; e++)
		out[i * OUT + e] = f_as(c[e]);
}
#endif

#if (defined(__gfx90a__) || defined(__gfx942__)) && !defined(OLD_CLANG)
KERNEL k_to_lds(const u32 *in, u32 *out, u32 n)
{
	LDS u32 cell[512];
	u32 i = GRP * 256 + LID, first = (u32)__builtin_amdgcn_readfirstlane((int)LID);
	__amdgpu_buffer_rsrc_t r =
		__builtin_amdgcn_make_buffer_rsrc((void *)in, 0, (int)(n * IN * 4), 0x20000);

	__builtin_amdgcn_global_load_lds(
		(__attribute__((address_space(1))) void *)(in + i * IN + 1),
		(__attribute__((address_space(3))) void *)(cell + first), 4, 0, 0);
	__builtin_amdgcn_raw_ptr_buffer_load_lds(r,
		(__attribute__((address_space(3))) void *)(cell + 256 + first), 1,
		(int)(i * IN * 4), 4, 0, 0);
	__builtin_amdgcn_s_waitcnt(0);
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
	out[i * OUT] = cell[255 - LID];
	out[i * OUT + 1] = cell[511 - LID];
}
#endif

#ifndef OLD_CLANG
/* One piece of code: nothing may come between. Register 1 is MODE. */
#define WITH_MODE(VALUE, RES, TEXT, A, B)                                                \
	asm volatile("s_setreg_imm32_b32 hwreg(1, 0, 8), %3\n\t" TEXT " %0, %1, %2\n\t"  \
		     "s_setreg_imm32_b32 hwreg(1, 0, 8), 0xf0"                           \
		     : "=&v"(RES) : "v"(A), "v"(B), "i"(VALUE))

/* Sums and products of each rounding, then without denormals. */
KERNEL k_mode(const u32 *in, u32 *out, u32 n)
{
	u32 i = GRP * 256 + LID, r;
	const u32 *x = in + i * IN;
	u64 p, a = x[4] | (u64)x[5] << 32, b = x[6] | (u64)x[7] << 32;

	if (i >= n)
		return;
#define ROUND(K)                                                                         \
	WITH_MODE(0xf0 | (K) * 5, r, "v_pk_add_f16", x[0], x[1]);                        \
	out[i * OUT + K] = r;                                                            \
	WITH_MODE(0xf0 | (K) * 5, r, "v_add_f32_e64", x[2], x[3]);                       \
	out[i * OUT + 4 + K] = r;
	ROUND(0)
	ROUND(1)
	ROUND(2)
	ROUND(3)
	WITH_MODE(0, r, "v_mul_f32_e64", x[2], x[3]);
	out[i * OUT + 8] = r;
	WITH_MODE(0, r, "v_pk_mul_f16", x[0], x[1]);
	out[i * OUT + 9] = r;
#define ROUND64(K)                                                                       \
	WITH_MODE(0xf0 | (K) * 5, p, "v_mul_f64", a, b);                                 \
	put64(out + i * OUT + 10 + 2 * (K - 1), p);
	ROUND64(1)
	ROUND64(2)
	ROUND64(3)
}
#endif
