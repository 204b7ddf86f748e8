/*
 * Kernel descriptors. V3 and later: 64 bytes at the symbol "<kernel>.kd" (LLVM's
 * AMDHSAKernelDescriptor.h and AMDGPUUsage, "Kernel Descriptor"). V2: 256 bytes of
 * amd_kernel_code_t at the kernel's own symbol (ROCR-Runtime's amd_hsa_kernel_code.h,
 * LLVM 14's AMDKernelCodeT.h). All little-endian.
 */
#include "codeobj/private.h"
#include "util/range.h"

#include <errno.h>

enum {
	PROPERTY_WAVEFRONT32 = 1 << 10,
	PROPERTY_DYNAMIC_STACK = 1 << 11,
	PROPERTY_DYNAMIC_STACK_V2 = 1 << 20,
};

void rck_descriptor_decode(struct rck_descriptor *d, const uint8_t *p, int64_t *entry)
{
	d->group_segment_fixed_size = rck_le32(p);
	d->private_segment_fixed_size = rck_le32(p + 4);
	d->kernarg_size = rck_le32(p + 8);
	*entry = (int64_t)rck_le64(p + 16);
	d->rsrc3 = rck_le32(p + 44);
	d->rsrc1 = rck_le32(p + 48);
	d->rsrc2 = rck_le32(p + 52);
	d->properties = rck_le16(p + 56);
	d->uses_dynamic_stack = d->properties & PROPERTY_DYNAMIC_STACK;
	d->wavefront32 = d->properties & PROPERTY_WAVEFRONT32;
}

void rck_descriptor_decode_v2(struct rck_descriptor *d, const uint8_t *p, int64_t *entry)
{
	uint64_t kernarg = rck_le64(p + 72);

	*entry = (int64_t)rck_le64(p + 16);
	d->rsrc1 = rck_le32(p + 48);
	d->rsrc2 = rck_le32(p + 52);
	d->rsrc3 = 0;
	d->properties = rck_le32(p + 56);
	d->private_segment_fixed_size = rck_le32(p + 60);
	d->group_segment_fixed_size = rck_le32(p + 64);
	d->kernarg_size = kernarg > UINT32_MAX ? UINT32_MAX : (uint32_t)kernarg;
	d->uses_dynamic_stack = d->properties & PROPERTY_DYNAMIC_STACK_V2;
	d->wavefront32 = p[103] == 5; /* log2 of the lanes */
}

/* The descriptor of one kernel: its bytes by the symbol, its code by its entry. */
static void read_one(struct rck_code_object *co, struct rck_kernel *k)
{
	bool v2 = co->version == 2;
	uint64_t size = v2 ? RCK_DESCRIPTOR_V2_SIZE : RCK_DESCRIPTOR_SIZE;
	struct rck_parse *parse = rck_parse_of(co);
	size_t len = strlen(k->symbol), name_len = len;
	struct rck_symbol s, code;
	const uint8_t *p;
	uint64_t address, offset, avail;
	uint32_t name_hash, hash;
	int64_t entry;

	if (!v2 && len > 3 && !strcmp(k->symbol + len - 3, ".kd"))
		name_len -= 3;
	name_hash = rck_symbol_hash(RCK_SYMBOL_HASH, k->symbol, name_len);
	hash = rck_symbol_hash(name_hash, k->symbol + name_len, len - name_len);
	if (!rck_symbols_find(&parse->symbols, &parse->elf, k->symbol, len, hash, &s))
		return;
	rck_symbol_place(&parse->elf, &s, &address, &offset);
	p = offset == RCK_OFFSET_NONE ? NULL : rck_elf_at(&parse->elf, address, &avail);
	if (!p || avail < size)
		return;
	k->kd.found = true;
	k->kd.offset = offset;
	k->kd.entry = RCK_OFFSET_NONE;
	(v2 ? rck_descriptor_decode_v2 : rck_descriptor_decode)(&k->kd, p, &entry);
	if (v2 || co->e_type != ET_REL) {
		k->kd.entry_address = address + (uint64_t)entry;
		p = rck_elf_at(&parse->elf, k->kd.entry_address, &avail);
		if (p)
			k->kd.entry = (uint64_t)(p - co->slice.data);
	}
	if (v2) {
		/* the kernel's symbol covers descriptor and code */
		k->kd.code_size = s.size > (uint64_t)entry ? s.size - (uint64_t)entry : 0;
		return;
	}
	if (name_len == len ||
		!rck_symbols_find(&parse->symbols, &parse->elf, k->symbol, name_len,
			name_hash, &code) ||
		code.type != STT_FUNC)
		return;
	k->kd.code_size = code.size;
	/* a relocatable's entry is still a relocation: take the function's place */
	if (co->e_type == ET_REL)
		rck_symbol_place(&parse->elf, &code, &k->kd.entry_address, &k->kd.entry);
}

void rck_descriptor_read_all(struct rck_code_object *co)
{
	for (size_t i = 0; i < co->n_kernels; i++)
		read_one(co, &co->kernels[i]);
}
