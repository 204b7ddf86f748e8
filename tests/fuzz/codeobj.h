/* What the code object targets share: everything that can be asked of an object, asked.
 */
#pragma once

#include "codeobj/codeobj.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Reads every string and number, so that a sanitizer sees each of them. */
static inline void ask_string(const char *s)
{
	static volatile size_t sink;

	if (s)
		sink += strlen(s);
}

static inline void ask_kernel(const struct rck_kernel *k)
{
	struct rck_value v;

	ask_string(rck_kernel_name(k));
	ask_string(rck_kernel_symbol(k));
	ask_string(rck_kernel_demangled(k));
	for (int f = 0; f < RCK_FACT_COUNT_; f++)
		if (!rck_kernel_fact(k, f, &v))
			ask_string(v.string);
	for (size_t i = 0; i < rck_kernel_arg_count(k); i++) {
		const struct rck_arg *a = rck_kernel_arg(k, i);

		ask_string(a->name);
		ask_string(a->type_name);
		ask_string(a->value_kind);
		ask_string(a->address_space);
		ask_string(a->access);
	}
	for (size_t i = 0; i < k->n_extra; i++) {
		ask_string(k->extra[i].key);
		ask_string(k->extra[i].value);
	}
	ask_string(k->language);
	ask_string(k->kind);
}

static inline void ask_object(const uint8_t *data, size_t size)
{
	const struct rck_function *f;
	struct rck_code_object *co;
	struct rck_diag diag;
	size_t n;

	if (rck_code_object_open_mem(data, size, &co, &diag)) {
		if (!diag.code || !*diag.msg)
			abort(); /* an error without a reason */
		return;
	}
	ask_string(rck_code_object_target(co));
	ask_string(co->md_target);
	for (size_t i = 0; i < rck_code_object_note_count(co); i++)
		ask_string(rck_code_object_note(co, i)->msg);
	for (size_t i = 0; i < rck_code_object_kernel_count(co); i++)
		ask_kernel(rck_code_object_kernel(co, i));
	f = rck_code_object_functions(co, &n);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = rck_code_object_at(co, f[i].address, 1);

		ask_string(f[i].name);
		if (p && p != data + f[i].offset)
			abort(); /* address and offset must be the same place */
	}
	rck_code_object_close(co);
}

/* A code object of that ABI version whose PT_NOTE holds data as it is. */
static inline void ask_notes(
	uint8_t abi, const void *head, size_t head_size, const uint8_t *data, size_t size)
{
	size_t at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	uint8_t *elf = calloc(1, at + head_size + size);
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
				EV_CURRENT, 64, abi},
		.e_type = ET_DYN,
		.e_machine = 224,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_flags = 0x3f,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1};
	Elf64_Phdr p = {.p_type = PT_NOTE,
		.p_offset = at,
		.p_filesz = head_size + size,
		.p_align = 4};

	if (!elf)
		abort();
	memcpy(elf, &h, sizeof(h));
	memcpy(elf + sizeof(h), &p, sizeof(p));
	memcpy(elf + at, head, head_size);
	memcpy(elf + at + head_size, data, size);
	ask_object(elf, at + head_size + size);
	free(elf);
}
