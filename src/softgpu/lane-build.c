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

const struct sg_lane_build SG_CAT(sg_lane_, SG_LANE) = {SG_STR(SG_LANE),
	SG_CAT(__start_sg_lane_, SG_LANE), SG_CAT(__stop_sg_lane_, SG_LANE), expand,
	splat, merge16};
