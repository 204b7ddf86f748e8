/* Scalar loads, from memory or through a buffer descriptor. */
#include "softgpu/ops-mem.h"

static char dst_type(unsigned int words)
{
	return words == 1   ? 'b'
	       : words == 2 ? 'B'
	       : words == 3 ? 't'
	       : words == 4 ? 'e'
	       : words == 8 ? 'O'
			    : 'S';
}

/* op->arg: words (0: an element smaller than a dword), buffer << 8, element << 16. */
static const char *bind_smem(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	unsigned int words = in->op->arg & 255 ? in->op->arg & 255 : 1;
	bool buffer = in->op->arg >> 8 & 1;
	const char *why = NULL;
	struct sg_token base;

	if (t->nops != 3)
		return "an unexpected number of operands";
	if (t->mods.tfe || t->mods.lds || t->mods.gds || t->mods.offen || t->mods.idxen ||
		t->mods.clamp || t->mods.dpp || t->mods.sdwa)
		return "modifiers of other operations";
	base = t->ops[1];
	if (t->ops[0].kind != SG_T_SGPR || base.kind != SG_T_SGPR)
		return "operands that are no scalar registers";
	if (!sg_bind_dst(p, &t->ops[0], dst_type(words), &in->dst[0], &why) ||
		!sg_bind_src(p, &base, buffer ? 'e' : 'B', false, &in->src[0], &why))
		return why;
	if (in->src[0].kind != SG_K_SGPR)
		return "a base that is no register";
	in->ndst = 1;
	in->imm = t->mods.offset;
	if (t->ops[2].kind == SG_T_INT) {
		int64_t v = t->ops[2].value;

		/* gfx12 prints a negative 24-bit offset with a minus, older text in 32
		 * bits. */
		in->imm += v > INT32_MAX ? (int32_t)v : v;
		in->nsrc = 1;
		return NULL;
	}
	in->nsrc = 2;
	return sg_bind_src(p, &t->ops[2], 'u', false, &in->src[1], &why) ? NULL : why;
}

static const struct sg_inst *smem(struct sg_wave *w, const struct sg_inst *in)
{
	unsigned int words = in->op->arg & 255;
	const uint32_t *r = sg_sp(w, in, 0);
	uint64_t off = (uint64_t)in->imm + (in->nsrc > 1 ? *sg_sp(w, in, 1) : 0), base,
		 addr;
	enum sg_elem e = (enum sg_elem)(in->op->arg >> 16);
	unsigned int bytes = words ? 4 * words : sg_elem_bytes(e);
	uint32_t tmp[16] = {0};

	base = r[0] | (uint64_t)r[1] << 32;
	if (in->op->arg >> 8 & 1) {
		uint64_t size = r[2], stride = r[1] >> 16 & 0x3fff;

		base &= (1ull << 48) - 1;
		size *= stride ? stride : 1;
		if (base >> 47)
			base |= 0xffffull << 48;
		if (off > size)
			bytes = 0;
		else if (bytes > size - off)
			bytes = (unsigned int)(size - off);
	}
	addr = base + off;
	if (words)
		addr &= ~3ull;
	if (bytes && !sg_range(w, addr, bytes)) {
		char where[100];

		sg_near_block(w, addr, where, sizeof(where));
		return sg_stop(w, in, SG_FAULT_MEMORY, addr,
			"scalar load of %u bytes at 0x%llx: %s", bytes,
			(unsigned long long)addr, where);
	}
	if (!words) {
		if (bytes)
			sg_elem_load(e, (const uint8_t *)(uintptr_t)addr, tmp, 1);
		words = 1;
	} else if (bytes == 8) {
		uint64_t u = __atomic_load_n(
			(const uint64_t *)(uintptr_t)addr, __ATOMIC_RELAXED);

		memcpy(tmp, &u, 8);
	} else {
		memcpy(tmp, (const void *)(uintptr_t)addr, bytes);
	}
	memcpy(w->s + in->dst[0].off, tmp, 4ul * words);
	if (in->dst[0].off <= SG_S_EXEC + 1 && in->dst[0].off + words > SG_S_EXEC)
		sg_exec_changed(w);
	return in + 1;
}

#define LOAD(OLD, NEW, WORDS)                                                            \
	SG_OP_ANON({"s_load_" OLD, "", SG_OP_MEM, WORDS, NULL, smem, bind_smem});        \
	SG_OP_ANON({"s_load_" NEW, "", SG_OP_MEM, WORDS, NULL, smem, bind_smem});        \
	SG_OP_ANON({"s_buffer_load_" OLD, "", SG_OP_MEM, (WORDS) | 256, NULL, smem,      \
		bind_smem});                                                             \
	SG_OP_ANON({"s_buffer_load_" NEW, "", SG_OP_MEM, (WORDS) | 256, NULL, smem,      \
		bind_smem});
#define SMALL(NAME, E)                                                                   \
	SG_OP_ANON({"s_load_" NAME, "", SG_OP_MEM, (E) << 16, NULL, smem, bind_smem});   \
	SG_OP_ANON({"s_buffer_load_" NAME, "", SG_OP_MEM, (E) << 16 | 256, NULL, smem,   \
		bind_smem});
LOAD("dword", "b32", 1)
LOAD("dwordx2", "b64", 2)
LOAD("dwordx3", "b96", 3)
LOAD("dwordx4", "b128", 4)
LOAD("dwordx8", "b256", 8)
LOAD("dwordx16", "b512", 16)
SMALL("u8", SG_E_U8)
SMALL("i8", SG_E_I8)
SMALL("u16", SG_E_U16)
SMALL("i16", SG_E_I16)
