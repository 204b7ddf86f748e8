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
