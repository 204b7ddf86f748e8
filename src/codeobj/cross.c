/* What is said twice is held against each other: header, metadata, descriptors, names. */
#include "codeobj/private.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A target id in parts: "gfx90a:sramecc+:xnack-" -> "gfx90a", '+', '-'; 0: not stated. */
struct target_id {
	char processor[32];
	char sramecc, xnack;
};

/* Also the spelling of V2's time, "gfx902+xnack". */
static void parse_target(const char *s, struct target_id *t)
{
	size_t n = strcspn(s, ":+");
	const char *f;

	*t = (struct target_id){{0}};
	snprintf(t->processor, sizeof(t->processor), "%.*s", (int)n, s);
	f = strstr(s + n, "sramecc");
	if (f)
		t->sramecc = s[n] == '+' ? '+' : f[strlen("sramecc")];
	f = strstr(s + n, "xnack");
	if (f)
		t->xnack = s[n] == '+' ? '+' : f[strlen("xnack")];
}

/* The target id behind the four fields of a triple ("amdgcn-amd-amdhsa--gfx90a"), or s
   itself. Processors may contain '-', so it is counted from the left. */
static const char *behind_triple(const char *s)
{
	const char *p = s;

	if (strncmp(s, "amdgcn-", 7))
		return s;
	for (int i = 0; i < 4; i++) {
		p = strchr(p, '-');
		if (!p)
			return s;
		p++;
	}
	return p;
}

/* Two statements clash when both state a thing and it differs: "any" agrees with all. */
static bool targets_clash(const char *a, const char *b)
{
	struct target_id x, y;

	parse_target(a, &x);
	parse_target(b, &y);
	return strcmp(x.processor, y.processor) ||
	       (x.sramecc && y.sramecc && x.sramecc != y.sramecc) ||
	       (x.xnack && y.xnack && x.xnack != y.xnack);
}

/* amdhsa.version by code object version; V6 has V5's (seen with LLVM 18 to 22), and 1.3
   is proposed for it. */
static bool version_fits(const struct rck_code_object *co)
{
	unsigned minor = co->md_version[1];

	if (co->md_version[0] != 1)
		return false;
	switch (co->version) {
	case 2:
		return minor == 0;
	case 6:
		return minor == 2 || minor == 3;
	default:
		return minor == co->version - 3;
	}
}

static void check_header(struct rck_code_object *co)
{
	const struct rck_target_info *t = rck_target_find(co->e_flags & 0xff);

	if (co->osabi != ELFOSABI_AMDGPU_HSA)
		rck_code_object_add_note(co, -ENOEXEC, EI_OSABI,
			"OS ABI %u is not HSA: the HIP runtime does not load this",
			co->osabi);
	else if (!co->version)
		rck_code_object_add_note(co, -ENOTSUP, EI_ABIVERSION,
			"ABI version %u (code object V%u?) is not known to this version",
			co->abiversion, co->abiversion + 2);
	if (!t && !(co->e_flags & 0xff) && co->version != 2)
		rck_code_object_add_note(co, -EINVAL, offsetof(Elf64_Ehdr, e_flags),
			"e_flags name no processor");
	else if (!t && co->e_flags & 0xff)
		rck_code_object_add_note(co, -ENOTSUP, offsetof(Elf64_Ehdr, e_flags),
			"processor number 0x%02x in e_flags is not known to this version",
			co->e_flags & 0xff);
	if (t && t->features & RCK_TARGET_GENERIC && !co->generic_version)
		rck_code_object_add_note(co, -EINVAL, offsetof(Elf64_Ehdr, e_flags),
			"%s without a generic version in e_flags", t->name);
	if (co->n_metadata_notes && co->version && !version_fits(co))
		rck_code_object_add_note(co, -EINVAL, RCK_OFFSET_NONE,
			"metadata version %u.%u in a V%u code object", co->md_version[0],
			co->md_version[1], co->version);
	if (co->md_target && co->e_flags & 0xff &&
		targets_clash(behind_triple(co->md_target), co->target))
		rck_code_object_add_note(co, -EINVAL, RCK_OFFSET_NONE,
			"amdhsa.target says '%.80s', e_flags say '%s'", co->md_target,
			co->target);
}

/* V2 spelt some processors another way when xnack was on (LLVM 14's AMDGPUTargetID): a
   stepping more. */
static const char *without_xnack(const char *isa)
{
	static const char *const pairs[][2] = {{"gfx901", "gfx900"}, {"gfx903", "gfx902"},
		{"gfx905", "gfx904"}, {"gfx907", "gfx906"}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (!strcmp(isa, pairs[i][0]))
			return pairs[i][1];
	return isa;
}

/* V2 names its target in notes; e_flags were often 0, and then the note is all there is.
   gfxMmS: major in decimal, minor and stepping a digit each, stepping in hexadecimal. */
static void check_isa_notes(struct rck_code_object *co)
{
	const struct rck_parse *p = rck_parse_of(co);
	const char *isa, *name = p->isa_name ? behind_triple(p->isa_name) : "";
	char buf[sizeof(co->processor)];

	if (co->version != 2)
		return;
	snprintf(buf, sizeof(buf), "gfx%u%u%x", p->isa_version[0], p->isa_version[1],
		p->isa_version[2]);
	isa = without_xnack(buf);
	if (p->n_isa && !(co->e_flags & 0xff)) {
		snprintf(co->processor, sizeof(co->processor), "%s", isa);
		snprintf(co->target, sizeof(co->target), "%s", isa);
		rck_code_object_add_note(co, -EINVAL, offsetof(Elf64_Ehdr, e_flags),
			"e_flags name no processor; the ISA note says %s", isa);
	} else if (p->n_isa && strcmp(isa, co->processor)) {
		rck_code_object_add_note(co, -EINVAL, offsetof(Elf64_Ehdr, e_flags),
			"the ISA note says %s, e_flags say %s", isa, co->processor);
	}
	if (!strncmp(name, "gfx", 3) && targets_clash(without_xnack(name), co->target))
		rck_code_object_add_note(co, -EINVAL, offsetof(Elf64_Ehdr, e_flags),
			"the ISA name note says '%.80s', e_flags say '%s'", p->isa_name,
			co->target);
}

/* Disagreements of metadata and descriptor: a note a kind, with the first kernel. */
static const struct check {
	enum rck_fact fact;
	const char *what;
} checks[] = {
	{RCK_FACT_LDS, "LDS"},
	{RCK_FACT_SCRATCH, "scratch"},
	{RCK_FACT_KERNARG_SIZE, "kernarg size"},
	{RCK_FACT_WAVEFRONT_SIZE, "wavefront size"},
	{RCK_FACT_DYNAMIC_STACK, "dynamic stack"},
};

static uint64_t descriptor_says(const struct rck_kernel *k, enum rck_fact fact)
{
	switch (fact) {
	case RCK_FACT_LDS:
		return k->kd.group_segment_fixed_size;
	case RCK_FACT_SCRATCH:
		return k->kd.private_segment_fixed_size;
	case RCK_FACT_KERNARG_SIZE:
		return k->kd.kernarg_size;
	case RCK_FACT_WAVEFRONT_SIZE:
		return k->kd.wavefront32 ? 32 : 64;
	default:
		return k->kd.uses_dynamic_stack;
	}
}

/* "kernel 'x'" or "kernel 'x' and 7 more" */
static void subject(char *buf, size_t size, const struct rck_kernel *first, size_t n)
{
	if (n > 1)
		snprintf(buf, size, "kernel '%.80s' and %zu more", first->name, n - 1);
	else
		snprintf(buf, size, "kernel '%.80s'", first->name);
}

static void check_kernels(struct rck_code_object *co)
{
	const struct rck_kernel *first;
	struct rck_value v;
	char who[128];
	uint64_t md;
	size_t n;

	for (size_t c = 0; c < sizeof(checks) / sizeof(*checks); c++) {
		first = NULL;
		for (size_t i = n = 0; i < co->n_kernels; i++) {
			rck_kernel_fact(&co->kernels[i], checks[c].fact, &v);
			if (!v.disagrees)
				continue;
			if (!n++)
				first = &co->kernels[i];
		}
		if (!n)
			continue;
		rck_kernel_fact(first, checks[c].fact, &v);
		md = checks[c].fact == RCK_FACT_DYNAMIC_STACK ? first->md_dynamic_stack
							      : v.number;
		subject(who, sizeof(who), first, n);
		rck_code_object_add_note(co, -EINVAL, first->kd.offset,
			"%s: the metadata says %s %llu, the descriptor %llu", who,
			checks[c].what, (unsigned long long)md,
			(unsigned long long)descriptor_says(first, checks[c].fact));
	}
	first = NULL;
	for (size_t i = n = 0; i < co->n_kernels; i++)
		if (!co->kernels[i].kd.found && !n++)
			first = &co->kernels[i];
	if (n) {
		subject(who, sizeof(who), first, n);
		rck_code_object_add_note(co, -ENODATA, RCK_OFFSET_NONE,
			"%s: no kernel descriptor is found", who);
	}
}

void rck_cross_check(struct rck_code_object *co)
{
	check_isa_notes(co);
	check_header(co);
	check_kernels(co);
}

/*
 * A file name's words that look like a processor: "gfx90a", "gfx8". What is longer or
 * goes on with letters ("gfxstuff", "gfx8dummy") is no claim. True when one is a prefix
 * of the processor or there is none.
 */
static bool name_fits(
	const char *name, const char *processor, const char **claim, size_t *len)
{
	bool fits = false, any = false;

	for (const char *p = name; (p = strstr(p, "gfx")); p += 3) {
		size_t n = 3;

		while (isdigit((unsigned char)p[n]))
			n++;
		if (n == 3)
			continue;
		if (p[n] >= 'a' && p[n] <= 'c')
			n++;
		if (isalnum((unsigned char)p[n]))
			continue;
		any = true;
		*claim = p;
		*len = n;
		fits |= !strncmp(p, processor, n);
	}
	return fits || !any;
}

void rck_cross_check_claim(
	struct rck_code_object *co, const char *claim, const char *path)
{
	const char *slash, *word = NULL;
	size_t len = 0;

	if (claim && targets_clash(claim, co->target))
		rck_code_object_add_note(co, -EINVAL, offsetof(Elf64_Ehdr, e_flags),
			"its container says '%.60s', e_flags say '%s'", claim,
			co->target);
	if (!path)
		return;
	slash = strrchr(path, '/');
	if (!name_fits(slash ? slash + 1 : path, co->processor, &word, &len))
		rck_code_object_add_note(co, -EINVAL, offsetof(Elf64_Ehdr, e_flags),
			"the file's name says '%.*s', e_flags say '%s'", (int)len, word,
			co->target);
}
