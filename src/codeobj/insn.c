#include "codeobj/insn.h"
#include "util/pool.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A mnemonic, or with '*' at the end what it begins with. The first that fits. */
struct shape {
	const char *name;
	enum rck_op op;
};

static const struct shape shapes[] = {
	{"s_mov_b32", RCK_OP_MOV},
	{"s_mov_b64", RCK_OP_MOV},
	{"v_mov_b32*", RCK_OP_MOV},
	{"v_mov_b64*", RCK_OP_MOV},
	{"s_getpc_b64", RCK_OP_GETPC},
	{"s_add_u32", RCK_OP_ADD},
	{"s_add_co_u32", RCK_OP_ADD},
	{"s_add_i32", RCK_OP_ADD},
	{"s_add_co_i32", RCK_OP_ADD},
	{"s_add_u64", RCK_OP_ADD},
	{"s_add_nc_u64", RCK_OP_ADD},
	{"s_addc_u32", RCK_OP_ADDC},
	{"s_add_co_ci_u32", RCK_OP_ADDC},
	{"s_sub_u32", RCK_OP_SUB},
	{"s_sub_co_u32", RCK_OP_SUB},
	{"s_sext_i32_i16", RCK_OP_SEXT16},
	{"s_cmp_*", RCK_OP_COMPARE},
	{"s_cmpk_*", RCK_OP_COMPARE},
	{"s_bitcmp*", RCK_OP_TEST},
	{"s_cselect_b*", RCK_OP_SELECT},
	{"v_cndmask_b32*", RCK_OP_VSELECT},
	{"s_load_*", RCK_OP_LOAD},
	{"global_load_lds*", RCK_OP_OTHER},
	{"global_load_*", RCK_OP_LOAD},
	{"flat_load_*", RCK_OP_LOAD},
	{"v_readlane_b32*", RCK_OP_READLANE},
	{"v_writelane_b32*", RCK_OP_WRITELANE},
	{"v_readfirstlane_b32*", RCK_OP_READFIRSTLANE},
	{"v_add_co_u32*", RCK_OP_VADD},
	{"v_add_co_ci_u32*", RCK_OP_VADDC},
	{"v_addc_co_u32*", RCK_OP_VADDC},
	{"v_addc_u32*", RCK_OP_VADDC},
	{"v_lshl_add_u64*", RCK_OP_VADD64},
	{"v_cmp*", RCK_OP_TEST},
	{"s_swappc_b64", RCK_OP_CALL},
	{"s_swap_pc_i64", RCK_OP_CALL},
	{"s_call_b64", RCK_OP_CALL_HERE},
	{"s_call_i64", RCK_OP_CALL_HERE},
	{"s_setpc_b64", RCK_OP_JUMP_TO},
	{"s_set_pc_i64", RCK_OP_JUMP_TO},
	{"s_rfe_b64", RCK_OP_END},
	{"s_endpgm*", RCK_OP_END},
	{"s_branch", RCK_OP_BRANCH},
	{"s_cbranch_*", RCK_OP_BRANCH_IF},
	{"s_subvector_loop_*", RCK_OP_BRANCH_IF},
	{"s_nop", RCK_OP_NOTHING},
	{"s_waitcnt*", RCK_OP_NOTHING},
	{"s_wait_*", RCK_OP_NOTHING},
	{"s_barrier*", RCK_OP_NOTHING},
	{"s_sleep*", RCK_OP_NOTHING},
	{"s_delay_alu", RCK_OP_NOTHING},
	{"s_clause", RCK_OP_NOTHING},
	{"s_sendmsg", RCK_OP_NOTHING},
	{"s_sendmsghalt", RCK_OP_NOTHING},
	{"s_trap", RCK_OP_NOTHING},
	{"s_code_end", RCK_OP_END},
	{"s_inst_prefetch", RCK_OP_NOTHING},
	{"s_set_inst_prefetch_distance", RCK_OP_NOTHING},
	{"s_setprio*", RCK_OP_NOTHING},
	{"s_icache_inv", RCK_OP_NOTHING},
	{"s_dcache_*", RCK_OP_NOTHING},
	{"s_setreg_*", RCK_OP_STORE},
	{"s_store_*", RCK_OP_STORE},
	{"s_buffer_store_*", RCK_OP_STORE},
	{"buffer_store_*", RCK_OP_STORE},
	{"tbuffer_store_*", RCK_OP_STORE},
	{"global_store_*", RCK_OP_STORE},
	{"flat_store_*", RCK_OP_STORE},
	{"scratch_store_*", RCK_OP_STORE},
	{"ds_write*", RCK_OP_STORE},
	{"ds_store*", RCK_OP_STORE},
	{"exp", RCK_OP_STORE},
};

static const char *const two_results[] = {"v_add_co_", "v_sub_co_", "v_subrev_co_",
	"v_addc_co_", "v_subb_co_", "v_add_co_ci_", "v_sub_co_ci_", "v_add_u32_",
	"v_addc_u32_", "v_sub_u32_", "v_subb_u32_", "v_add_i32_", "v_div_scale_",
	"v_mad_u64_u32", "v_mad_i64_i32", "v_mad_co_"};

/* How one vector register is put away and brought back: on the stack, in an AGPR. */
static const struct {
	const char *name;
	bool reload;
	uint8_t data; /* the operand */
} spills[] = {
	{"buffer_store_dword", false, 0},
	{"buffer_store_b32", false, 0},
	{"scratch_store_dword", false, 1},
	{"scratch_store_b32", false, 1},
	{"v_accvgpr_write_b32", false, 1},
	{"v_accvgpr_write", false, 1},
	{"buffer_load_dword", true, 0},
	{"buffer_load_b32", true, 0},
	{"scratch_load_dword", true, 0},
	{"scratch_load_b32", true, 0},
	{"v_accvgpr_read_b32", true, 0},
	{"v_accvgpr_read", true, 0},
};

static void read_spill(struct rck_insn *in, const char *name, size_t len)
{
	in->spill = in->reload = false;
	in->slot = 0;
	for (size_t i = 0; i < sizeof(spills) / sizeof(spills[0]); i++) {
		if (strlen(spills[i].name) != len || memcmp(spills[i].name, name, len))
			continue;
		in->spill = !spills[i].reload;
		in->reload = spills[i].reload;
		in->data = spills[i].data;
		in->slot = 1;
	}
}

static bool starts_with_one(const char *text, const char *const *starts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(text, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static enum rck_op op_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const char *s = shapes[i].name;
		size_t n = strlen(s);

		if (s[n - 1] == '*' ? len >= n - 1 && !memcmp(s, name, n - 1)
				    : len == n && !memcmp(s, name, n))
			return shapes[i].op;
	}
	return RCK_OP_OTHER;
}

/* "s_load_dwordx2", "s_load_b64", "global_load_ushort", ... -> bytes */
static uint8_t load_width(const char *name, size_t len)
{
	static const struct {
		const char *end;
		uint8_t width;
	} ends[] = {{"_dword", 4}, {"_dwordx2", 8}, {"_dwordx3", 12}, {"_dwordx4", 16},
		{"_dwordx8", 32}, {"_dwordx16", 64}, {"_b32", 4}, {"_b64", 8},
		{"_b96", 12}, {"_b128", 16}, {"_b256", 32}, {"_b512", 64}, {"byte", 1},
		{"short", 2}, {"_u8", 1}, {"_i8", 1}, {"_u16", 2}, {"_i16", 2},
		{"_d16", 2}, {"_d16_hi", 2}, {"_b16", 2}};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i].end);

		if (len > n && !memcmp(name + len - n, ends[i].end, n))
			return ends[i].width;
	}
	return 0;
}

/* "s_cmp_lt_i32": the relation is what stands between the last two underscores. */
static void read_compare(struct rck_insn *in, const char *name, size_t len)
{
	static const char *const names[] = {"eq", "lg", "gt", "ge", "lt", "le"};
	const char *end = name + len, *p = memchr(name + 2, '_', len - 2);

	in->compare = RCK_NO_COMPARE;
	if (!p || end - p < 5)
		return;
	for (uint8_t i = 0; i < 6; i++)
		if (!memcmp(p + 1, names[i], 2))
			in->compare = i;
	in->is_signed = p[4] == 'i';
	if (end[-1] == '4' || p[4] == 'f') /* 64 bits; floating point */
		in->compare = RCK_NO_COMPARE;
}

/* "s4", "s[4:5]", "v[0:1]" */
static bool read_register(struct rck_operand *o, const char *p, size_t len)
{
	char *end;
	unsigned long first, last;

	if (len < 2 || (*p != 's' && *p != 'v'))
		return false;
	if (p[1] == '[') {
		first = last = strtoul(p + 2, &end, 10);
		if (*end == ':')
			last = strtoul(end + 1, &end, 10);
		if (*end++ != ']')
			return false;
	} else if (isdigit((unsigned char)p[1])) {
		first = last = strtoul(p + 1, &end, 10);
	} else {
		return false;
	}
	if (end > p + len || (end < p + len && isalnum((unsigned char)*end)) ||
		last < first || last > 255)
		return false;
	o->kind = *p == 's' ? RCK_OPERAND_SGPR : RCK_OPERAND_VGPR;
	o->first = (uint16_t)first;
	o->count = (uint8_t)(last - first + 1);
	return true;
}

/* "12", "-1", "0xffff", "lit(0xffffffff)"; not "1.0" */
static bool read_number(struct rck_operand *o, const char *p, size_t len)
{
	char *end;

	if (len > 4 && !memcmp(p, "lit(", 4))
		p += 4;
	if (!isdigit((unsigned char)*p) && *p != '-')
		return false;
	o->number = *p == '-' ? strtoll(p, &end, 0) : (int64_t)strtoull(p, &end, 0);
	if (*end == '.')
		return false;
	o->kind = RCK_OPERAND_NUMBER;
	return true;
}

static void read_operand(struct rck_insn *in, const char *p, size_t len)
{
	struct rck_operand *o;
	const char *offset = memmem(p, len, "offset:", 7);

	if (offset)
		in->offset = strtoll(offset + 7, NULL, 0);
	if (!len || offset == p || in->n == RCK_OPERANDS)
		return;
	if (in->slot && in->n != in->data)
		in->slot = in->slot * 31 + rck_hash_bytes(p, strcspn(p, " ,"));
	o = &in->operands[in->n++];
	if (!read_register(o, p, len) && !read_number(o, p, len))
		o->kind = RCK_OPERAND_OTHER;
}

void rck_insn_parse(struct rck_insn *in, const char *text)
{
	size_t len = strcspn(text, " \t");
	const char *p = text + len, *end;

	in->n = 0;
	in->offset = 0;
	memset(in->operands, 0, sizeof(in->operands));
	in->op = (uint8_t)op_of(text, len);
	in->scalar = text[0] == 's' && text[1] == '_';
	in->width = in->op == RCK_OP_LOAD ? load_width(text, len) : 0;
	read_spill(in, text, len);
	if (in->op == RCK_OP_COMPARE)
		read_compare(in, text, len);
	for (; *p; p = *end ? end + 1 : end) {
		int depth = 0;

		p += strspn(p, " \t");
		for (end = p; *end && (*end != ',' || depth); end++)
			depth += (*end == '[' || *end == '(') -
				 (*end == ']' || *end == ')');
		read_operand(in, p, (size_t)(end - p));
	}
	if (in->slot)
		in->slot = (in->slot * 31 + (uint64_t)in->offset) | 1;
	/* the forms without a carry have three operands */
	in->dest2 = in->n >= 4 && starts_with_one(text, two_results,
					  sizeof(two_results) / sizeof(two_results[0]));
}

uint64_t rck_insn_target(const struct rck_insn *in)
{
	const struct rck_operand *o = &in->operands[in->n ? in->n - 1 : 0];

	return in->address + 4 + (uint64_t)((int64_t)(int16_t)o->number * 4);
}
