/*
 * What the bundled kernels need of HIP, from the compiler's own builtins: no include
 * path, no host part. Compile with -ffp-contract=off: the error bounds count roundings.
 */
#pragma once

#define GLOBAL __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))

typedef __INT64_TYPE__ int64;

/* The upper half of an f32. */
struct bf16 {
	unsigned short bits;
};

/* 1 / sqrt(x), within one unit in the last place: from the device libraries. */
extern "C" DEVICE float __ocml_rsqrt_f32(float x);

DEVICE inline float to_f32(float v)
{
	return v;
}

DEVICE inline float to_f32(bf16 v)
{
	return __builtin_bit_cast(float, (unsigned)v.bits << 16);
}

template <typename T> struct round_to;

template <> struct round_to<float> {
	static DEVICE inline float from(float v)
	{
		return v;
	}
};

template <> struct round_to<bf16> {
	/* to nearest, ties to even; a NaN stays one */
	static DEVICE inline bf16 from(float v)
	{
		unsigned u = __builtin_bit_cast(unsigned, v);

		if (v != v)
			return bf16{(unsigned short)(u >> 16 | 0x40)};
		return bf16{(unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16)};
	}
};

DEVICE inline unsigned thread_x()
{
	return __builtin_amdgcn_workitem_id_x();
}

DEVICE inline unsigned thread_y()
{
	return __builtin_amdgcn_workitem_id_y();
}

DEVICE inline unsigned block_x()
{
	return __builtin_amdgcn_workgroup_id_x();
}

DEVICE inline unsigned block_y()
{
	return __builtin_amdgcn_workgroup_id_y();
}

DEVICE inline unsigned block_z()
{
	return __builtin_amdgcn_workgroup_id_z();
}

/* All threads of the block meet, and their writes to LDS can be seen. */
DEVICE inline void block_barrier()
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
