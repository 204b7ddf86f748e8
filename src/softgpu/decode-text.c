/* The disassembler's text into tokens: registers, numbers, modifiers. */
#include "softgpu/decode.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint16_t slot, count;
} slots[] = {
	{"vcc", SG_S_VCC, 2},
	{"vcc_lo", SG_S_VCC, 1},
	{"vcc_hi", SG_S_VCC + 1, 1},
	{"exec", SG_S_EXEC, 2},
	{"exec_lo", SG_S_EXEC, 1},
	{"exec_hi", SG_S_EXEC + 1, 1},
	{"m0", SG_S_M0, 1},
	{"null", SG_S_NULL, 1},
	{"scc", SG_S_SCC, 1},
	{"src_scc", SG_S_SCC, 1},
	{"flat_scratch", SG_S_FLAT_SCRATCH, 2},
	{"flat_scratch_lo", SG_S_FLAT_SCRATCH, 1},
	{"flat_scratch_hi", SG_S_FLAT_SCRATCH + 1, 1},
	{"xnack_mask", 104, 2},
	{"xnack_mask_lo", 104, 1},
	{"xnack_mask_hi", 105, 1},
};

/*
 * The apertures are ours to choose: 64-bit addresses whose upper word is 1<<16 (LDS) or
 * 2<<16 (scratch), as gfx9 and later have them.
 */
static const struct {
	const char *name;
	uint64_t value;
} values[] = {
	{"src_shared_base", 1ull << 48},
	{"src_shared_limit", (1ull << 48) | 0xffffffff},
	{"src_private_base", 2ull << 48},
	{"src_private_limit", (2ull << 48) | 0xffffffff},
	{"src_shared_base_lo", 0},
	{"src_private_base_lo", 0},
	{"shared_base", 1ull << 48},
	{"private_base", 2ull << 48},
};

static bool parse_registers(const char *s, struct sg_token *t)
{
	char *end;
	unsigned long first, last;
	uint32_t base = 0;

	if (!strncmp(s, "ttmp", 4)) {
		t->kind = SG_T_SGPR;
		base = SG_S_TTMP;
		s += 4;
	} else if (*s == 'v' || *s == 'a' || *s == 's') {
		t->kind = *s == 'v' ? SG_T_VGPR : *s == 'a' ? SG_T_AGPR : SG_T_SGPR;
		s++;
	} else {
		return false;
	}
	if (*s == '[') {
		first = strtoul(s + 1, &end, 10);
		last = first;
		if (*end == ':')
			last = strtoul(end + 1, &end, 10);
		if (*end != ']' || last < first)
			return false;
		end++;
	} else if (isdigit((unsigned char)*s)) {
		first = last = strtoul(s, &end, 10);
	} else {
		return false;
	}
	if (!strcmp(end, ".l") || !strcmp(end, ".h")) {
		t->half = end[1] == 'l' ? 1 : 2;
		end += 2;
	}
	if (*end || last >= (t->kind == SG_T_SGPR ? 128 : SG_VGPRS))
		return false;
	t->index = base + (uint32_t)first;
	t->count = (uint32_t)(last - first + 1);
	return true;
}

static bool parse_number(const char *s, struct sg_token *t)
{
	char *end;

	if (!strncmp(s, "0x", 2) || !strncmp(s, "-0x", 3)) {
		bool minus = *s == '-';

		t->kind = SG_T_INT;
		t->literal = true;
		t->value = (int64_t)strtoull(s + minus, &end, 16);
		if (minus)
			t->value = -t->value;
		return !*end;
	}
	if (!isdigit((unsigned char)*s) && !(*s == '-' && isdigit((unsigned char)s[1])))
		return false;
	if (strpbrk(s, ".e")) {
		t->kind = SG_T_FLOAT;
		t->real = strtod(s, &end);
		return !*end;
	}
	t->kind = SG_T_INT;
	t->value = strtoll(s, &end, 10);
	return !*end;
}

/* One operand; the caller's copy is changed. */
static bool parse_operand(char *s, struct sg_token *t)
{
	size_t n = strlen(s);

	memset(t, 0, sizeof(*t));
	memcpy(t->word, s, n < sizeof(t->word) ? n : sizeof(t->word) - 1);
	if (!strncmp(s, "sext(", 5) && s[n - 1] == ')') {
		t->sext = true;
		s[n - 1] = '\0';
		s += 5;
		n = strlen(s);
	}
	if (!strncmp(s, "neg(", 4) && s[n - 1] == ')') {
		t->neg = true;
		s[n - 1] = '\0';
		s += 4;
		n = strlen(s);
	} else if (*s == '-' && !isdigit((unsigned char)s[1])) {
		t->neg = true;
		s++;
		n--;
	}
	if (n > 2 && *s == '|' && s[n - 1] == '|') {
		t->abs = true;
		s[n - 1] = '\0';
		s++;
	}
	for (size_t i = 0; i < 2; i++) {
		static const char *const lit[] = {"lit(", "lit64("};
		size_t l = strlen(lit[i]);

		n = strlen(s);
		if (!strncmp(s, lit[i], l) && s[n - 1] == ')') {
			s[n - 1] = '\0';
			s += l;
			t->literal = true;
		}
	}
	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++)
		if (!strcmp(s, slots[i].name)) {
			t->kind = SG_T_SGPR;
			t->index = slots[i].slot;
			t->count = slots[i].count;
			return true;
		}
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		if (!strcmp(s, values[i].name)) {
			t->kind = SG_T_VALUE;
			t->value = (int64_t)values[i].value;
			return true;
		}
	if (!strcmp(s, "off")) {
		t->kind = SG_T_OFF;
		return true;
	}
	if (parse_registers(s, t) || parse_number(s, t))
		return true;
	t->kind = SG_T_WORD;
	return true;
}

/* ---- modifiers ---- */

enum mod_kind {
	M_FLAG,   /* a word that sets a bool to 1 */
	M_IGNORE, /* changes caching or scheduling only */
	M_U8,     /* name:number into a byte */
	M_I32,
	M_BITS, /* name:[a,b,c] into a byte */
	M_SEL,  /* SDWA selector */
	M_UNUSED,
	M_DPP,  /* name:number, or a word: a DPP control */
	M_BYTE, /* 0 to 3 */
	M_TH,
	M_SWIZZLE,
};

#define OFF(m) offsetof(struct sg_mods, m)
static const struct {
	const char *name;
	enum mod_kind kind;
	uint16_t off;
	uint16_t arg;
} mods[] = {
	{"offset", M_SWIZZLE, OFF(offset), 0},
	{"offset0", M_I32, OFF(offset0), 0},
	{"offset1", M_I32, OFF(offset1), 0},
	{"clamp", M_FLAG, OFF(clamp), 0},
	{"mul", M_U8, OFF(omod), 0},
	{"div", M_U8, OFF(omod), 1},
	{"op_sel", M_BITS, OFF(op_sel), OFF(has_op_sel)},
	{"op_sel_hi", M_BITS, OFF(op_sel_hi), OFF(has_op_sel_hi)},
	{"neg_lo", M_BITS, OFF(neg_lo), OFF(has_neg)},
	{"neg_hi", M_BITS, OFF(neg_hi), OFF(has_neg)},
	{"byte_sel", M_BYTE, OFF(byte_sel), OFF(has_byte_sel)},
	{"index_key", M_U8, OFF(index_key), 0},
	{"offen", M_FLAG, OFF(offen), 0},
	{"idxen", M_FLAG, OFF(idxen), 0},
	{"glc", M_FLAG, OFF(glc), 0},
	{"sc0", M_FLAG, OFF(glc), 0},
	{"slc", M_IGNORE, 0, 0},
	{"dlc", M_IGNORE, 0, 0},
	{"sc1", M_FLAG, OFF(coherent), 0},
	{"scc", M_IGNORE, 0, 0},
	{"nt", M_IGNORE, 0, 0},
	{"scope", M_FLAG, OFF(coherent), 0},
	{"nv", M_IGNORE, 0, 0},
	{"th", M_TH, 0, 0},
	{"lds", M_FLAG, OFF(lds), 0},
	{"format", M_FLAG, OFF(format), 0},
	{"gds", M_FLAG, OFF(gds), 0},
	{"tfe", M_FLAG, OFF(tfe), 0},
	{"lwe", M_FLAG, OFF(tfe), 0},
	{"dst_sel", M_SEL, OFF(dst_sel), 0},
	{"src0_sel", M_SEL, OFF(src_sel[0]), 0},
	{"src1_sel", M_SEL, OFF(src_sel[1]), 0},
	{"dst_unused", M_UNUSED, OFF(dst_unused), 0},
	{"quad_perm", M_DPP, 0, 0},
	{"row_shl", M_DPP, 0, 0x100},
	{"row_shr", M_DPP, 0, 0x110},
	{"row_ror", M_DPP, 0, 0x120},
	{"wave_shl", M_DPP, 0, 0x12f},
	{"wave_rol", M_DPP, 0, 0x133},
	{"wave_shr", M_DPP, 0, 0x137},
	{"wave_ror", M_DPP, 0, 0x13b},
	{"row_mirror", M_DPP, 0, 0x140},
	{"row_half_mirror", M_DPP, 0, 0x141},
	{"row_bcast", M_DPP, 0, 0x142},
	{"row_newbcast", M_DPP, 0, 0x150},
	{"row_share", M_DPP, 0, 0x150},
	{"row_xmask", M_DPP, 0, 0x160},
	{"dpp8", M_DPP, 0, 0},
	{"row_mask", M_U8, OFF(row_mask), 0},
	{"bank_mask", M_U8, OFF(bank_mask), 0},
	{"bound_ctrl", M_FLAG, OFF(bound_ctrl), 0},
	{"fi", M_FLAG, OFF(fi), 0},
	{"cbsz", M_U8, OFF(cbsz), 0},
	{"abid", M_U8, OFF(abid), 0},
	{"blgp", M_U8, OFF(blgp), 0},
	{"neg", M_BITS, OFF(neg), OFF(m_seen)},
	{"wait_exp", M_IGNORE, 0, 0},
	{"wait_vdst", M_IGNORE, 0, 0},
	{"wait_va_vdst", M_IGNORE, 0, 0},
	{"wait_vm_vsrc", M_IGNORE, 0, 0},
};

static bool parse_list(const char *s, unsigned int *v, unsigned int *n, unsigned int max)
{
	char *end;

	if (*s++ != '[')
		return false;
	for (*n = 0; *n < max;) {
		v[(*n)++] = (unsigned int)strtoul(s, &end, 0);
		if (end == s)
			return false;
		s = end + strspn(end, " ");
		if (*s == ']')
			return !s[1];
		if (*s++ != ',')
			return false;
	}
	return false;
}

static int parse_sel(const char *s)
{
	static const char *const names[] = {
		"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};

	for (int i = 0; i < 7; i++)
		if (!strcmp(s, names[i]))
			return i;
	return -1;
}

static bool parse_dpp(struct sg_mods *m, const char *name, uint16_t base, const char *arg)
{
	unsigned int v[8], n, k;

	if (!strcmp(name, "dpp8")) {
		m->dpp = SG_DPP_8;
		if (!parse_list(arg, v, &n, 8) || n != 8)
			return false;
		for (k = 0; k < 8; k++)
			m->dpp8 |= (v[k] & 7) << 3 * k;
		return true;
	}
	m->dpp = SG_DPP_16;
	m->dpp_ctrl = base;
	if (!strcmp(name, "quad_perm")) {
		if (!parse_list(arg, v, &n, 4) || n != 4)
			return false;
		for (k = 0; k < 4; k++)
			m->dpp_ctrl |= (uint16_t)((v[k] & 3) << 2 * k);
		return true;
	}
	k = (unsigned int)strtoul(arg, NULL, 0);
	if (!strcmp(name, "row_bcast")) {
		m->dpp_ctrl = k == 15 ? 0x142 : 0x143;
		return k == 15 || k == 31;
	}
	if (!strncmp(name, "wave_", 5))
		m->dpp_ctrl = (uint16_t)(base + 1); /* 0x130, 0x134, 0x138, 0x13c */
	else if (base < 0x140 || base >= 0x150)
		m->dpp_ctrl = (uint16_t)(base + k);
	return k < 16;
}

static bool parse_swizzle(const char *arg, int32_t *out)
{
	unsigned int v[4] = {0};
	char mask[8] = "";

	/* LLVM writes the patterns of ds_swizzle_b32 by name. */
	if (sscanf(arg, "swizzle(QUAD_PERM,%u,%u,%u,%u)", v, v + 1, v + 2, v + 3) == 4) {
		*out = (int32_t)(0x8000 | v[0] | v[1] << 2 | v[2] << 4 | v[3] << 6);
	} else if (sscanf(arg, "swizzle(SWAP,%u)", v) == 1) {
		*out = (int32_t)(v[0] << 10 | 0x1f);
	} else if (sscanf(arg, "swizzle(REVERSE,%u)", v) == 1) {
		*out = (int32_t)((v[0] - 1) << 10 | 0x1f);
	} else if (sscanf(arg, "swizzle(BROADCAST,%u,%u)", v, v + 1) == 2) {
		*out = (int32_t)(v[1] << 5 | (0x1f & ~(v[0] - 1)));
	} else if (sscanf(arg, "swizzle(ROTATE,%u,%u)", v, v + 1) == 2) {
		*out = (int32_t)(0xc000 | v[0] << 10 | v[1] << 5);
	} else if (sscanf(arg, "swizzle(BITMASK_PERM,\"%5[01pi]\")", mask) == 1) {
		uint32_t and_ = 0, or_ = 0, xor_ = 0;

		for (int k = 0; k < 5; k++) {
			uint32_t bit = 1u << (4 - k);

			and_ |= mask[k] == 'p' || mask[k] == 'i' ? bit : 0;
			or_ |= mask[k] == '1' ? bit : 0;
			xor_ |= mask[k] == 'i' ? bit : 0;
		}
		*out = (int32_t)(and_ | or_ << 5 | xor_ << 10);
	} else {
		return false;
	}
	return true;
}

static bool parse_mod(char *s, struct sg_mods *m)
{
	char *arg = strchr(s, ':');
	uint8_t *base = (uint8_t *)m;
	unsigned int v[8], n;

	if (arg)
		*arg++ = '\0';
	else
		arg = s + strlen(s);
	for (size_t i = 0; i < sizeof(mods) / sizeof(*mods); i++) {
		uint8_t *at = base + mods[i].off;

		if (strcmp(s, mods[i].name))
			continue;
		switch (mods[i].kind) {
		case M_FLAG:
			*at = 1;
			return true;
		case M_IGNORE:
			return true;
		case M_BYTE:
			*at = (uint8_t)strtoul(arg, NULL, 0);
			base[mods[i].arg] = 1;
			return *at < 4;
		case M_U8:
			if (!strcmp(s, "blgp") || !strcmp(s, "cbsz") ||
				!strcmp(s, "abid"))
				m->m_seen = true;
			*at = (uint8_t)strtoul(arg, NULL, 0);
			if (mods[i].arg) /* div:2 */
				*at = 1;
			return true;
		case M_SWIZZLE:
			if (parse_swizzle(arg, &m->offset))
				return true;
			/* fall through */
		case M_I32: {
			char *end;
			int32_t x = (int32_t)strtol(arg, &end, 0);

			memcpy(at, &x, 4);
			return end != arg && !*end;
		}
		case M_BITS:
			if (!parse_list(arg, v, &n, 4))
				return false;
			for (unsigned int k = 0; k < n; k++)
				*at |= (uint8_t)((v[k] & 1) << k);
			base[mods[i].arg] = 1;
			if (mods[i].off == OFF(op_sel))
				m->op_sel_n = (uint8_t)n;
			return true;
		case M_SEL: {
			int sel = parse_sel(arg);

			if (sel < 0)
				return false;
			*at = (uint8_t)sel;
			m->sdwa = true;
			return true;
		}
		case M_UNUSED:
			*at = !strcmp(arg, "UNUSED_PAD")    ? 0
			      : !strcmp(arg, "UNUSED_SEXT") ? 1
							    : 2;
			return true;
		case M_DPP:
			return parse_dpp(m, s, mods[i].arg, arg);
		case M_TH:
			if (strstr(arg, "ATOMIC_RETURN"))
				m->atomic_return = true;
			return true;
		}
	}
	return false;
}

/* The end of the item at s: the next blank or comma outside of brackets. */
static char *item_end(char *s)
{
	int depth = 0;

	for (; *s; s++) {
		if (*s == '(' || *s == '[')
			depth++;
		else if (*s == ')' || *s == ']')
			depth--;
		else if (!depth && (*s == ',' || *s == ' '))
			break;
	}
	return s;
}

static bool is_modifier(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_0123456789");

	if (s[n] == ':')
		return true;
	for (size_t i = 0; i < sizeof(mods) / sizeof(*mods); i++)
		if (!strcmp(s, mods[i].name) && mods[i].kind != M_DPP && strcmp(s, "scc"))
			return true;
	return false;
}

static void split_suffix(struct sg_text *t)
{
	static const char *const all[] = {
		"_e64_dpp8", "_e64_dpp", "_dpp8", "_dpp", "_sdwa", "_e64", "_e32", NULL};
	size_t n = strlen(t->name);

	for (int i = 0; all[i]; i++) {
		size_t l = strlen(all[i]);

		if (n > l && !strcmp(t->name + n - l, all[i])) {
			snprintf(t->suffix, sizeof(t->suffix), "%s", all[i] + 1);
			t->name[n - l] = '\0';
			return;
		}
	}
}

bool sg_text_parse(const char *text, enum sg_gen gen, struct sg_text *t, char why[96])
{
	char buf[256], *s, *end;
	bool operands = true;
	size_t n = strcspn(text, " \t");

	(void)gen;
	memset(t, 0, sizeof(*t));
	t->mods.row_mask = t->mods.bank_mask = 0xf;
	t->mods.src_sel[0] = t->mods.src_sel[1] = t->mods.dst_sel = 6;
	if (n >= sizeof(t->name) || strlen(text) >= sizeof(buf)) {
		snprintf(why, 96, "text too long");
		return false;
	}
	memcpy(t->name, text, n);
	split_suffix(t);
	snprintf(buf, sizeof(buf), "%s", text + n);
	s = buf + strspn(buf, " \t");
	snprintf(t->rest, sizeof(t->rest), "%.*s", (int)sizeof(t->rest) - 1, s);
	while (*s) {
		char sep;

		end = item_end(s);
		sep = *end;
		*end = '\0';
		if (operands && is_modifier(s))
			operands = false;
		if (operands) {
			if (t->nops == SG_TEXT_OPS ||
				!parse_operand(s, &t->ops[t->nops])) {
				snprintf(why, 96, "operand '%.60s'", s);
				return false;
			}
			t->nops++;
			if (sep != ',')
				operands = false;
		} else if (!parse_mod(s, &t->mods)) {
			snprintf(why, 96, "modifier '%.60s'", s);
			return false;
		}
		if (!sep)
			break;
		s = end + 1;
		s += strspn(s, " \t,");
	}
	return true;
}

/* ---- waits ---- */

/* The number in "name(N)"; SG_WAIT_ANY when it is not there. */
static uint8_t named_count(const char *text, const char *name)
{
	const char *p = strstr(text, name);
	size_t n = strlen(name);

	return p && p[n] == '(' ? (uint8_t)strtoul(p + n + 1, NULL, 10) : SG_WAIT_ANY;
}

int64_t sg_text_wait(const char *text)
{
	enum { LOAD = 1, LDS = 2, SCALAR = 4, STORE = 8 };
	static const struct {
		const char *name;
		uint8_t counts; /* of the number's low bits */
		uint8_t high;   /* of those above bit 8 */
	} forms[] = {
		{"s_waitcnt", LOAD | LDS | SCALAR, 0}, /* as a bare number: 0 alone */
		{"s_waitcnt_vmcnt", LOAD, 0},
		{"s_waitcnt_vscnt", STORE, 0},
		{"s_waitcnt_lgkmcnt", LDS | SCALAR, 0},
		{"s_wait_loadcnt", LOAD, 0},
		{"s_wait_storecnt", STORE, 0},
		{"s_wait_dscnt", LDS, 0},
		{"s_wait_kmcnt", SCALAR, 0},
		{"s_wait_loadcnt_dscnt", LDS, LOAD},
		{"s_wait_storecnt_dscnt", LDS, STORE},
		{"s_wait_idle", LOAD | LDS | SCALAR | STORE, 0},
	};
	union sg_wait w = {.load = SG_WAIT_ANY,
		.lds = SG_WAIT_ANY,
		.scalar = SG_WAIT_ANY,
		.store = SG_WAIT_ANY};
	uint8_t *const fields[] = {&w.load, &w.lds, &w.scalar, &w.store};
	size_t n = strcspn(text, " \t");
	const char *operand = text + n, *comma = strchr(operand, ',');
	unsigned long value = strtoul(comma ? comma + 1 : operand, NULL, 0);

	if (strstr(operand, "cnt(")) {
		w.load = named_count(operand, "vmcnt");
		w.lds = w.scalar = named_count(operand, "lgkmcnt");
		return w.imm;
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (strlen(forms[i].name) != n || strncmp(text, forms[i].name, n) ||
			(!i && value))
			continue;
		for (int f = 0; f < 4; f++) {
			if (forms[i].counts >> f & 1)
				*fields[f] = (uint8_t)(value & 63);
			if (forms[i].high >> f & 1)
				*fields[f] = (uint8_t)(value >> 8 & 63);
		}
	}
	return w.imm;
}
