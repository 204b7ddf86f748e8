/* Compares and classes: a lane mask each. v_cmpx_* are these with exec as a result. */
#include "softgpu/lane.h"

/* The class bits of V_CMP_CLASS: sNaN qNaN -inf -norm -denorm -0 +0 +denorm +norm +inf.
 */
static inline uint32_t class_of(uint64_t bits, int mant, int exp)
{
	uint64_t m = bits & ((1ull << mant) - 1), e = bits >> mant & ((1ull << exp) - 1);
	bool neg = bits >> (mant + exp) & 1, max = e == (1ull << exp) - 1;

	if (max && m)
		return m >> (mant - 1) ? 2 : 1;
	if (max)
		return neg ? 1 << 2 : 1 << 9;
	if (e)
		return neg ? 1 << 3 : 1 << 8;
	if (m)
		return neg ? 1 << 4 : 1 << 7;
	return neg ? 1 << 5 : 1 << 6;
}

/* clang-format off */
#define CMP_INT(T) \
	CMP(v_cmp_f_##T, IT(T), IT(T), 0) \
	CMP(v_cmp_lt_##T, IT(T), IT(T), a < b) \
	CMP(v_cmp_eq_##T, IT(T), IT(T), a == b) \
	CMP(v_cmp_le_##T, IT(T), IT(T), a <= b) \
	CMP(v_cmp_gt_##T, IT(T), IT(T), a > b) \
	CMP(v_cmp_ne_##T, IT(T), IT(T), a != b) \
	CMP(v_cmp_ge_##T, IT(T), IT(T), a >= b) \
	CMP(v_cmp_t_##T, IT(T), IT(T), 1)
#define CMP_FLOAT(T) \
	CMP(v_cmp_f_##T, IT(T), IT(T), 0) \
	CMP(v_cmp_lt_##T, IT(T), IT(T), a < b) \
	CMP(v_cmp_eq_##T, IT(T), IT(T), a == b) \
	CMP(v_cmp_le_##T, IT(T), IT(T), a <= b) \
	CMP(v_cmp_gt_##T, IT(T), IT(T), a > b) \
	CMP(v_cmp_lg_##T, IT(T), IT(T), a < b || a > b) \
	CMP(v_cmp_ge_##T, IT(T), IT(T), a >= b) \
	CMP(v_cmp_o_##T, IT(T), IT(T), a == a && b == b) \
	CMP(v_cmp_u_##T, IT(T), IT(T), a != a || b != b) \
	CMP(v_cmp_nge_##T, IT(T), IT(T), !(a >= b)) \
	CMP(v_cmp_nlg_##T, IT(T), IT(T), !(a < b || a > b)) \
	CMP(v_cmp_ngt_##T, IT(T), IT(T), !(a > b)) \
	CMP(v_cmp_nle_##T, IT(T), IT(T), !(a <= b)) \
	CMP(v_cmp_neq_##T, IT(T), IT(T), a != b) \
	CMP(v_cmp_nlt_##T, IT(T), IT(T), !(a < b)) \
	CMP(v_cmp_tru_##T, IT(T), IT(T), 1)
#define IT_i16 s
#define IT_u16 w
#define IT_i32 i
#define IT_u32 u
#define IT_i64 I
#define IT_u64 U
#define IT_f16 h
#define IT_f32 f
#define IT_f64 d
#undef CMP
#define CMP(NAME, TA, TB, COND) CMP_(NAME, TA, TB, COND)
#define IT(T) IT_##T
#define CMP_(NAME, TA, TB, COND) \
	static uint32_t NAME##_lane(LANE_ARGS) \
	{ \
		uint32_t m[32]; \
		for (int i = 0; i < 32; i++) { \
			SG_CAT(C_, TA) a = SG_CAT(L_, TA)(pa); \
			SG_CAT(C_, TB) b = SG_CAT(L_, TB)(pb); \
			(void)a; \
			(void)b; \
			m[i] = (COND) ? ~0u : 0; \
		} \
		return lane_mask(m); \
	} \
	LANE_ENTRY(NAME, "m:" SG_STR(TA) SG_STR(TB), 0)

CMP_INT(i16)
CMP_INT(u16)
CMP_INT(i32)
CMP_INT(u32)
CMP_INT(i64)
CMP_INT(u64)
CMP_FLOAT(f16)
CMP_FLOAT(f32)
CMP_FLOAT(f64)

CMP_(v_cmp_class_f32, f, u, class_of(pa[i], 23, 8) & b)
CMP_(v_cmp_class_f64, d, u, class_of(LD2(pa), 52, 11) & b)
CMP_(v_cmp_class_f16, h, u, class_of((uint16_t)pa[i], 10, 5) & b)
/* clang-format on */
