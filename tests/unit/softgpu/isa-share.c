/*
 * The share of instructions known in real code objects: libspfft's and hipBLASLt's of
 * Debian, which are not part of this tree (RCK_SHARED, or ../shared beside it).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softgpu/code.h"

struct share {
	unsigned long total, known;
	char first[160];
};

static void count_section(
	const char *target, const void *base, size_t size, struct share *s)
{
	struct sg_code *code;
	struct sg_program *p;
	struct sg_fault fault;

	if (sg_code_open("corpus", target, base, size, NULL, &code, &fault)) {
		print_message("%s: %s\n", target, fault.text);
		return;
	}
	p = code->program[0][0] ? code->program[0][0] : code->program[1][0];
	for (size_t off = 0; off + 4 <= size;) {
		char text[256], why[96];
		struct sg_inst in;
		int n = sg_program_text(
			p, (uint64_t)(uintptr_t)code->base + off, text, sizeof(text));

		if (n < 0) { /* padding between functions */
			off += 4;
			continue;
		}
		if (strncmp(text, "s_code_end", 10)) {
			s->total++;
			if (sg_decode(p, text, off, (unsigned int)n, &in, why))
				s->known++;
			else if (!s->first[0])
				snprintf(s->first, sizeof(s->first), "%.80s: %.70s", text,
					why);
		}
		off += (size_t)n;
	}
	sg_code_close(code);
}

static void count_file(const char *path, const char *target, struct share *s)
{
	int fd = open(path, O_RDONLY);
	Elf *e = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *scn = NULL;

	while (e && (scn = elf_nextscn(e, scn))) {
		GElf_Shdr h;
		Elf_Data *d;

		if (!gelf_getshdr(scn, &h) || !(h.sh_flags & SHF_EXECINSTR) ||
			h.sh_type != SHT_PROGBITS)
			continue;
		d = elf_getdata(scn, NULL);
		if (d && d->d_buf)
			count_section(target, d->d_buf, d->d_size, s);
	}
	elf_end(e);
	if (fd >= 0)
		close(fd);
}

static void test_corpus(void **state)
{
	static const struct {
		const char *file, *target;
	} files[] = {
		{"extop_gfx90a.co", "gfx90a"},
		{"rdc_gfx942_binary_search.hsaco", "gfx942"},
	};
	static const char *const bundled[] = {"gfx1030", "gfx1100", "gfx90a"};
	const char *shared = getenv("RCK_SHARED"), *src = getenv("RCK_SOURCE_DIR");
	char dir[256], path[512], cmd[1024], tmp[] = "/tmp/rck-share-XXXXXX";
	bool all = true;

	(void)state;
	if (shared)
		snprintf(dir, sizeof(dir), "%s/corpus", shared);
	else
		snprintf(dir, sizeof(dir), "%s/../shared/corpus", src ? src : ".");
	if (access(dir, R_OK)) {
		print_message("no corpus at %s\n", dir);
		skip();
	}
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct share s = {0};

		snprintf(path, sizeof(path), "%s/%s", dir, files[i].file);
		count_file(path, files[i].target, &s);
		print_message("%s %s: %lu of %lu known %s\n", files[i].target,
			files[i].file, s.known, s.total, s.first);
		all &= s.known == s.total;
	}
	assert_non_null(mkdtemp(tmp));
	snprintf(cmd, sizeof(cmd),
		"cd %s && cp '%s/libspfft-sid.so' x && llvm-objdump-22 --offloading x "
		">/dev/null 2>&1",
		tmp, dir);
	if (!system(cmd))
		for (size_t t = 0; t < 3; t++) {
			struct share s = {0};

			/* the largest few: all fifty take minutes in a slow disassembler
			 */
			for (int i = 0; i < 2; i++) {
				snprintf(path, sizeof(path),
					"%s/x.%d.hipv4-amdgcn-amd-amdhsa--%s", tmp, i,
					bundled[t]);
				count_file(path, bundled[t], &s);
			}
			print_message("%s libspfft: %lu of %lu known %s\n", bundled[t],
				s.known, s.total, s.first);
			all &= s.known == s.total && s.total;
		}
	snprintf(cmd, sizeof(cmd), "rm -rf %s", tmp);
	assert_int_equal(system(cmd), 0);
	assert_true(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
