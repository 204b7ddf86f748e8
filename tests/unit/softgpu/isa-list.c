/*
 * What the interpreter knows, as a list. `isa-list objects [-n EVERY] FILE...`: the share
 * of instructions known in the code objects of these files, by target, and what is not
 * known by how often it occurs. `isa-list mnemonics`: of the mnemonics that the
 * disassembler knows for each target, those that no encoding of is accepted.
 */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rocmcheck.h"
#include "softgpu/code.h"
#include "softgpu/exec.h"
#include "isa-list.h"

static struct sg_list lists[8];

static struct sg_list *list_of(const char *target)
{
	size_t i;

	for (i = 0; i < 8 && lists[i].target[0]; i++)
		if (!strcmp(lists[i].target, target))
			return &lists[i];
	if (i == 8)
		return NULL;
	snprintf(lists[i].target, sizeof(lists[i].target), "%s", target);
	return &lists[i];
}

static void count_section(struct sg_list *l, const uint8_t *base, size_t size)
{
	struct sg_code *code;
	struct sg_program *p;
	struct sg_fault fault;

	if (sg_code_open("corpus", l->target, base, size, NULL, &code, &fault)) {
		fprintf(stderr, "%s: %s\n", l->target, fault.text);
		return;
	}
	p = code->program[0][0] ? code->program[0][0] : code->program[1][0];
	for (size_t off = 0; off + 4 <= size;) {
		char text[256];
		int n = sg_program_text(
			p, (uint64_t)(uintptr_t)base + off, text, sizeof(text));

		if (n > 0 && strncmp(text, "s_code_end", 10) &&
			strncmp(text, "v_illegal", 9))
			sg_list_count(l, p, text, (unsigned int)n);
		off += n > 0 ? (size_t)n : 4;
	}
	sg_code_close(code);
}

static void count_object(const void *data, size_t size)
{
	struct rck_code_object *co;
	struct rck_diag diag;
	struct sg_list *l = NULL;
	char target[32];
	Elf_Scn *scn = NULL;
	Elf *e;

	if (rck_code_object_open_mem(data, size, &co, &diag))
		return;
	snprintf(target, sizeof(target), "%.*s",
		(int)strcspn(rck_code_object_target(co), ":"),
		rck_code_object_target(co));
	rck_code_object_close(co);
	for (size_t i = 0; sg_exec_targets[i]; i++)
		if (!strcmp(sg_exec_targets[i], target))
			l = list_of(target);
	e = l ? elf_memory((char *)(uintptr_t)data, size) : NULL;
	while (e && (scn = elf_nextscn(e, scn))) {
		GElf_Shdr h;

		if (gelf_getshdr(scn, &h) && h.sh_flags & SHF_EXECINSTR &&
			h.sh_type == SHT_PROGBITS && h.sh_offset <= size &&
			h.sh_size <= size - h.sh_offset)
			count_section(l, (const uint8_t *)data + h.sh_offset, h.sh_size);
	}
	elf_end(e);
}

static int objects(int argc, char **argv)
{
	unsigned int every = 1, seen = 0;
	struct rck_diag diag;

	elf_version(EV_CURRENT);
	for (int i = 2; i < argc; i++) {
		struct rck_file *f;
		struct rck_item item;

		if (!strcmp(argv[i], "-n") && i + 1 < argc) {
			every = (unsigned int)atoi(argv[++i]);
			continue;
		}
		if (rck_file_open(argv[i], NULL, &f, &diag)) {
			fprintf(stderr, "%s: %s\n", argv[i], diag.msg);
			return 2;
		}
		while (rck_file_next(f, &item, &diag) == 1)
			if (item.kind == RCK_ITEM_CODE_OBJECT && every &&
				seen++ % every == 0)
				count_object(item.data, item.size);
		rck_file_close(f);
	}
	for (size_t i = 0; i < 8 && lists[i].target[0]; i++)
		sg_list_print(&lists[i]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "objects"))
		return objects(argc, argv);
	if (argc == 2 && !strcmp(argv[1], "mnemonics")) {
		for (size_t i = 0; sg_exec_targets[i]; i++) {
			struct sg_list *l = list_of(sg_exec_targets[i]);

			sg_list_enumerate(l);
			sg_list_print(l);
		}
		return 0;
	}
	fprintf(stderr, "usage: %s objects [-n EVERY] FILE... | mnemonics\n", argv[0]);
	return 3;
}
