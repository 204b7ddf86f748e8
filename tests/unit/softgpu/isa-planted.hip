/* Kernels with one planted defect each, and the same without it. */
typedef unsigned int u32;
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 256))) void
#define LDS    __attribute__((shared))
#define LID    __builtin_amdgcn_workitem_id_x()
#define GRP    __builtin_amdgcn_workgroup_id_x()

static __attribute__((device)) inline void barrier()
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
	__builtin_amdgcn_s_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* Lines that a finding must name are marked by the defect's name. */
KERNEL k_clean(const u32 *in, u32 *out)
{
	LDS u32 cell[256];

	cell[LID] = in[GRP * 256 + LID];
	barrier();
	out[GRP * 256 + LID] = cell[255 - LID];
}

KERNEL k_lds_race(const u32 *in, u32 *out)
{
	LDS volatile u32 cell[256];

	cell[LID] = 0;
	barrier();
	cell[LID] = in[GRP * 256 + LID]; /* k_lds_race */
	out[GRP * 256 + LID] = cell[255 - LID]; /* k_lds_race */
}

KERNEL k_lds_uninit(const u32 *in, u32 *out)
{
	LDS volatile u32 cell[256];

	if (LID != 7)
		cell[LID] = in[GRP * 256 + LID];
	barrier();
	out[GRP * 256 + LID] = cell[255 - LID]; /* k_lds_uninit */
}

KERNEL k_lds_overrun(const u32 *in, u32 *out)
{
	LDS volatile u32 cell[256];

	cell[LID] = 0;
	barrier();
	cell[LID + in[0]] = LID; /* k_lds_overrun; in[0] is 1 */
	barrier();
	out[GRP * 256 + LID] = cell[255];
}

KERNEL k_global_race(const u32 *in, u32 *out)
{
	out[LID] = in[GRP * 256 + LID]; /* k_global_race: every workgroup the same place */
}

/* An inlined function's line, and the line that it was inlined at. */
static __attribute__((device, always_inline)) inline void put(u32 *p, u32 v)
{
	*p = v; /* k_global_overrun */
}

KERNEL k_global_overrun(const u32 *in, u32 *out)
{
	put(&out[GRP * 256 + LID + in[0]], LID); /* k_global_overrun */
}
