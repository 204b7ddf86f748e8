#include "softgpu/loader.h"

#include "util/range.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define EM_AMDGPU_          224
#define OSABI_AMDGPU_HSA    64
#define STT_AMDGPU_KERNEL   10
#define DEFAULT_LIMIT       (UINT64_C(16) << 30)
#define PAGE                UINT64_C(4096)
#define MAX_PROGRAM_HEADERS 64

enum {
	R_AMDGPU_NONE = 0,
	R_AMDGPU_ABS32_LO = 1,
	R_AMDGPU_ABS32_HI = 2,
	R_AMDGPU_ABS64 = 3,
	R_AMDGPU_REL32 = 4,
	R_AMDGPU_REL64 = 5,
	R_AMDGPU_ABS32 = 6,
	R_AMDGPU_REL32_LO = 10,
	R_AMDGPU_REL32_HI = 11,
	R_AMDGPU_RELATIVE64 = 13,
};

struct load {
	const uint8_t *file;
	size_t size;
	const struct sg_load_options *options;
	struct rck_diag *diag;
	struct sg_image *image;

	Elf64_Phdr segments[MAX_PROGRAM_HEADERS];
	size_t n_segments;
	uint64_t lo, hi; /* virtual addresses of the file that the image covers */

	/* of the dynamic segment: virtual addresses, sizes in bytes */
	uint64_t symtab, strtab, strsz, hash, gnu_hash, rela, relasz;
	uint64_t n_dynsyms;
};

static int __attribute__((format(printf, 4, 5)))
fail(struct load *l, int code, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	if (l->diag) {
		l->diag->code = code;
		l->diag->offset = offset;
		va_start(ap, fmt);
		vsnprintf(l->diag->msg, sizeof l->diag->msg, fmt, ap);
		va_end(ap);
	}
	return code;
}

/* Pointer to [vaddr, vaddr + size) in the image, or NULL. */
static uint8_t *at(const struct load *l, uint64_t vaddr, uint64_t size)
{
	if (vaddr < l->lo || !rck_range_ok(vaddr - l->lo, size, l->hi - l->lo))
		return NULL;
	return l->image->base + (vaddr - l->lo);
}

/* A string of the image that ends inside it, or NULL. */
static const char *string_at(const struct load *l, uint64_t offset)
{
	const uint8_t *p;

	if (offset >= l->strsz)
		return NULL;
	p = at(l, l->strtab + offset, l->strsz - offset);
	if (!p || !memchr(p, 0, l->strsz - offset))
		return NULL;
	return (const char *)p;
}

static int read_header(struct load *l)
{
	const Elf64_Ehdr *e = (const void *)l->file;
	uint64_t phoff;
	unsigned int n;

	if (l->size < sizeof *e || memcmp(l->file, ELFMAG, SELFMAG) ||
		e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_ident[EI_DATA] != ELFDATA2LSB)
		return fail(l, -ENOEXEC, 0, "not a 64-bit little-endian ELF file");
	if (rck_le16(&e->e_machine) != EM_AMDGPU_)
		return fail(l, -ENOEXEC, offsetof(Elf64_Ehdr, e_machine),
			"machine %u is not AMDGPU (224)", rck_le16(&e->e_machine));
	if (e->e_ident[EI_OSABI] != OSABI_AMDGPU_HSA)
		return fail(l, -ENOTSUP, EI_OSABI, "OS ABI %u is not AMDGPU_HSA (64)",
			e->e_ident[EI_OSABI]);
	if (e->e_ident[EI_ABIVERSION] < 1 || e->e_ident[EI_ABIVERSION] > 4)
		return fail(l, -ENOTSUP, EI_ABIVERSION,
			"code object V%u is not implemented (V3 to V6 are)",
			e->e_ident[EI_ABIVERSION] + 2u);
	if (rck_le16(&e->e_type) != ET_DYN)
		return fail(l, -ENOEXEC, offsetof(Elf64_Ehdr, e_type),
			"not linked: ELF type %u, not a shared object",
			rck_le16(&e->e_type));

	l->image->abi_version = e->e_ident[EI_ABIVERSION];
	l->image->flags = rck_le32(&e->e_flags);
	phoff = rck_le64(&e->e_phoff);
	n = rck_le16(&e->e_phnum);
	if (rck_le16(&e->e_phentsize) != sizeof(Elf64_Phdr) || n > MAX_PROGRAM_HEADERS ||
		!rck_range_ok(phoff, n * sizeof(Elf64_Phdr), l->size))
		return fail(l, -EINVAL, offsetof(Elf64_Ehdr, e_phoff),
			"bad program headers: %u at 0x%llx", n,
			(unsigned long long)phoff);
	memcpy(l->segments, l->file + phoff, n * sizeof(Elf64_Phdr));
	l->n_segments = n;
	return 0;
}

/* What the image covers, checked against the file and the limit. */
static int measure(struct load *l)
{
	uint64_t limit =
		l->options && l->options->limit ? l->options->limit : DEFAULT_LIMIT;

	l->lo = UINT64_MAX;
	for (size_t i = 0; i < l->n_segments; i++) {
		const Elf64_Phdr *p = &l->segments[i];
		if (p->p_type != PT_LOAD || !p->p_memsz)
			continue;
		if (!rck_range_ok(p->p_offset, p->p_filesz, l->size) ||
			p->p_filesz > p->p_memsz)
			return fail(l, -EINVAL, p->p_offset,
				"segment %zu lies outside the file", i);
		if (!rck_range_ok(p->p_vaddr, p->p_memsz, UINT64_MAX - PAGE))
			return fail(l, -EINVAL, p->p_offset,
				"segment %zu wraps around the address space", i);
		if (p->p_vaddr < l->lo)
			l->lo = p->p_vaddr & ~(PAGE - 1);
		if (p->p_vaddr + p->p_memsz > l->hi)
			l->hi = p->p_vaddr + p->p_memsz;
	}
	if (l->lo >= l->hi)
		return fail(l, -EINVAL, offsetof(Elf64_Ehdr, e_phoff),
			"nothing to load: no segment");
	l->hi = rck_align_up(l->hi, PAGE);
	if (l->hi - l->lo > limit)
		return fail(l, -ENOMEM, offsetof(Elf64_Ehdr, e_phoff),
			"the image needs 0x%llx bytes, more than the device has",
			(unsigned long long)(l->hi - l->lo));
	return 0;
}

static int map(struct load *l)
{
	void *base = mmap(NULL, l->hi - l->lo, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return fail(l, -ENOMEM, RCK_OFFSET_NONE, "no memory for the image");
	l->image->base = base;
	l->image->size = l->hi - l->lo;
	l->image->bias = (uint64_t)(uintptr_t)base - l->lo;
	for (size_t i = 0; i < l->n_segments; i++) {
		const Elf64_Phdr *p = &l->segments[i];
		if (p->p_type == PT_LOAD && p->p_memsz)
			memcpy(l->image->base + (p->p_vaddr - l->lo),
				l->file + p->p_offset, p->p_filesz);
	}
	return 0;
}

static int read_dynamic(struct load *l)
{
	const Elf64_Phdr *p = NULL;
	const uint8_t *d;
	const struct {
		int64_t tag;
		uint64_t *value;
	} wanted[] = {
		{DT_SYMTAB, &l->symtab},
		{DT_STRTAB, &l->strtab},
		{DT_STRSZ, &l->strsz},
		{DT_HASH, &l->hash},
		{DT_GNU_HASH, &l->gnu_hash},
		{DT_RELA, &l->rela},
		{DT_RELASZ, &l->relasz},
	};

	for (size_t i = 0; i < l->n_segments; i++)
		if (l->segments[i].p_type == PT_DYNAMIC)
			p = &l->segments[i];
	if (!p)
		return fail(
			l, -EINVAL, offsetof(Elf64_Ehdr, e_phoff), "no dynamic segment");
	d = at(l, p->p_vaddr, p->p_memsz);
	if (!d)
		return fail(l, -EINVAL, p->p_offset,
			"the dynamic segment lies outside the image");
	for (uint64_t i = 0; i + 16 <= p->p_memsz; i += 16) {
		int64_t tag = (int64_t)rck_le64(d + i);
		if (tag == DT_NULL)
			break;
		for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++)
			if (wanted[w].tag == tag)
				*wanted[w].value = rck_le64(d + i + 8);
	}
	if (l->symtab && !at(l, l->strtab, l->strsz))
		return fail(l, -EINVAL, p->p_offset,
			"the string table lies outside the image");
	return 0;
}

/* DT_GNU_HASH knows no count: the last chain's end is one past the last symbol. */
static int count_gnu_hash(struct load *l)
{
	const uint8_t *h = at(l, l->gnu_hash, 16), *buckets, *chain;
	uint32_t n_buckets, first, bloom, last = 0;
	uint64_t chain_at;

	if (!h)
		return fail(l, -EINVAL, RCK_OFFSET_NONE,
			"the hash table lies outside the image");
	n_buckets = rck_le32(h), first = rck_le32(h + 4), bloom = rck_le32(h + 8);
	buckets = at(l, l->gnu_hash, 16 + bloom * UINT64_C(8) + n_buckets * UINT64_C(4));
	if (!buckets)
		return fail(l, -EINVAL, RCK_OFFSET_NONE,
			"the hash table's buckets lie outside the image");
	buckets += 16 + bloom * UINT64_C(8);
	for (uint32_t i = 0; i < n_buckets; i++)
		if (rck_le32(buckets + i * 4) > last)
			last = rck_le32(buckets + i * 4);
	l->n_dynsyms = first;
	if (!last)
		return 0;
	if (last < first)
		return fail(l, -EINVAL, RCK_OFFSET_NONE,
			"the hash table names symbol %u before its first, %u", last,
			first);
	chain_at = l->gnu_hash + 16 + bloom * UINT64_C(8) + n_buckets * UINT64_C(4);
	for (;; last++) {
		chain = at(l, chain_at + (last - first) * UINT64_C(4), 4);
		if (!chain)
			return fail(l, -EINVAL, RCK_OFFSET_NONE,
				"the hash table's chain has no end");
		if (rck_le32(chain) & 1)
			break;
	}
	l->n_dynsyms = last + UINT64_C(1);
	return 0;
}

static int count_symbols(struct load *l)
{
	const uint8_t *h;
	int r;

	if (!l->symtab)
		return 0;
	if (l->hash) {
		h = at(l, l->hash, 8);
		if (!h)
			return fail(l, -EINVAL, RCK_OFFSET_NONE,
				"the hash table lies outside the image");
		l->n_dynsyms = rck_le32(h + 4);
	} else if (l->gnu_hash) {
		r = count_gnu_hash(l);
		if (r)
			return r;
	}
	if (!at(l, l->symtab, l->n_dynsyms * sizeof(Elf64_Sym)))
		return fail(l, -EINVAL, RCK_OFFSET_NONE,
			"the symbol table of %llu symbols lies outside the image",
			(unsigned long long)l->n_dynsyms);
	return 0;
}

static void dynsym(const struct load *l, uint64_t i, Elf64_Sym *out)
{
	memcpy(out, at(l, l->symtab + i * sizeof *out, sizeof *out), sizeof *out);
}

static bool is_writable(const struct load *l, uint64_t vaddr)
{
	for (size_t i = 0; i < l->n_segments; i++) {
		const Elf64_Phdr *p = &l->segments[i];
		if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr &&
			vaddr - p->p_vaddr < p->p_memsz)
			return p->p_flags & PF_W;
	}
	return false;
}

static bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n > m && !strcmp(s + n - m, suffix);
}

void sg_descriptor_read(const void *bytes, struct sg_descriptor *out)
{
	const uint8_t *b = bytes;

	*out = (struct sg_descriptor){
		.group_segment_size = rck_le32(b),
		.private_segment_size = rck_le32(b + 4),
		.kernarg_size = rck_le32(b + 8),
		.entry_offset = (int64_t)rck_le64(b + 16),
		.rsrc3 = rck_le32(b + 44),
		.rsrc1 = rck_le32(b + 48),
		.rsrc2 = rck_le32(b + 52),
		.properties = rck_le16(b + 56),
		.preload = rck_le16(b + 58),
	};
}

static int add_kernel(struct load *l, struct sg_symbol *s, const Elf64_Sym *sym)
{
	const uint8_t *d = at(l, sym->st_value, SG_DESCRIPTOR_SIZE);
	uint64_t entry;

	if (!d || sym->st_value % 8)
		return fail(l, -EINVAL, RCK_OFFSET_NONE,
			"the descriptor of '%.100s' lies outside the image or is not "
			"aligned",
			s->name);
	sg_descriptor_read(d, &s->descriptor);
	entry = sym->st_value + (uint64_t)s->descriptor.entry_offset;
	if (!at(l, entry, 4) || entry % 4)
		return fail(l, -EINVAL, RCK_OFFSET_NONE,
			"the entry of '%.100s' lies outside the image", s->name);
	s->kind = SG_SYMBOL_KERNEL;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(
		((const struct sg_symbol *)a)->name, ((const struct sg_symbol *)b)->name);
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = (*(struct sg_symbol *const *)a)->address;
	uint64_t y = (*(struct sg_symbol *const *)b)->address;

	return x < y ? -1 : x > y;
}

static char *copy_without_kd(const char *name)
{
	return strndup(name, strlen(name) - 3);
}

static int index_symbols(struct load *l)
{
	struct sg_image *image = l->image;

	qsort(image->symbols, image->n_symbols, sizeof *image->symbols, compare_names);
	image->kernels = calloc(image->n_symbols + 1, sizeof *image->kernels);
	if (!image->kernels)
		return fail(l, -ENOMEM, RCK_OFFSET_NONE, "no memory for the symbols");
	for (size_t i = 0; i < image->n_symbols; i++) {
		struct sg_symbol *s = &image->symbols[i];
		if (s->kind != SG_SYMBOL_KERNEL)
			continue;
		image->kernels[image->n_kernels++] = s;
		s->kernel = copy_without_kd(s->name);
		if (!s->kernel)
			return fail(
				l, -ENOMEM, RCK_OFFSET_NONE, "no memory for the symbols");
	}
	qsort(image->kernels, image->n_kernels, sizeof *image->kernels,
		compare_addresses);
	return 0;
}

static int read_symbols(struct load *l)
{
	struct sg_image *image = l->image;
	int r;

	if (!l->n_dynsyms)
		return 0;
	/* a kernel could overwrite the image's own string table */
	image->names = malloc(l->strsz + 1);
	image->symbols = calloc(l->n_dynsyms, sizeof *image->symbols);
	if (!image->symbols || !image->names)
		return fail(l, -ENOMEM, RCK_OFFSET_NONE, "no memory for the symbols");
	if (l->strsz)
		memcpy(image->names, at(l, l->strtab, l->strsz), l->strsz);
	for (uint64_t i = 1; i < l->n_dynsyms; i++) {
		struct sg_symbol *s = &image->symbols[image->n_symbols];
		Elf64_Sym sym;
		unsigned int type;

		dynsym(l, i, &sym);
		type = ELF64_ST_TYPE(sym.st_info);
		if (sym.st_shndx == SHN_UNDEF ||
			ELF64_ST_BIND(sym.st_info) == STB_LOCAL ||
			(type != STT_OBJECT && type != STT_AMDGPU_KERNEL))
			continue;
		s->name = string_at(l, sym.st_name) ? image->names + sym.st_name : NULL;
		if (!s->name)
			return fail(l, -EINVAL, RCK_OFFSET_NONE,
				"symbol %llu has no name inside the string table",
				(unsigned long long)i);
		if (!at(l, sym.st_value, sym.st_size))
			return fail(l, -EINVAL, RCK_OFFSET_NONE,
				"symbol '%.100s' lies outside the image", s->name);
		s->kind = SG_SYMBOL_VARIABLE;
		s->address = sym.st_value + image->bias;
		s->size = sym.st_size;
		s->is_weak = ELF64_ST_BIND(sym.st_info) == STB_WEAK;
		s->is_const = !is_writable(l, sym.st_value);
		if (sym.st_size == SG_DESCRIPTOR_SIZE && ends_with(s->name, ".kd")) {
			r = add_kernel(l, s, &sym);
			if (r)
				return r;
		}
		image->n_symbols++;
	}
	return index_symbols(l);
}

/* The address that symbol i stands for in a relocation; 0 for a weak one undefined. */
static int symbol_value(struct load *l, uint64_t i, uint64_t offset, uint64_t *out)
{
	const struct sg_load_options *o = l->options;
	const char *name;
	Elf64_Sym sym;

	*out = 0;
	if (!i)
		return 0;
	if (i >= l->n_dynsyms)
		return fail(l, -EINVAL, offset, "a relocation names symbol %llu of %llu",
			(unsigned long long)i, (unsigned long long)l->n_dynsyms);
	dynsym(l, i, &sym);
	if (sym.st_shndx != SHN_UNDEF) {
		*out = sym.st_value + l->image->bias;
		return 0;
	}
	name = string_at(l, sym.st_name);
	if (name && o && o->resolve)
		*out = o->resolve(o->resolve_ctx, name);
	if (!*out && ELF64_ST_BIND(sym.st_info) != STB_WEAK)
		return fail(l, -ENOENT, offset, "undefined symbol '%.100s'",
			name ? name : "?");
	return 0;
}

static int relocate_one(struct load *l, const Elf64_Rela *rela, uint64_t offset)
{
	unsigned int type = ELF64_R_TYPE(rela->r_info);
	unsigned int width = type == R_AMDGPU_ABS64 || type == R_AMDGPU_REL64 ||
					     type == R_AMDGPU_RELATIVE64
				     ? 8
				     : 4;
	uint64_t place = rela->r_offset + l->image->bias, value;
	uint8_t *p = at(l, rela->r_offset, width);
	int r;

	if (type == R_AMDGPU_NONE)
		return 0;
	if (!p)
		return fail(l, -EINVAL, offset,
			"a relocation writes at 0x%llx, outside the image",
			(unsigned long long)rela->r_offset);
	if (type == R_AMDGPU_RELATIVE64) {
		value = l->image->bias;
	} else {
		r = symbol_value(l, ELF64_R_SYM(rela->r_info), offset, &value);
		if (r)
			return r;
	}
	value += (uint64_t)rela->r_addend;
	switch (type) {
	case R_AMDGPU_RELATIVE64:
	case R_AMDGPU_ABS64:
	case R_AMDGPU_ABS32:
	case R_AMDGPU_ABS32_LO:
		break;
	case R_AMDGPU_ABS32_HI:
		value >>= 32;
		break;
	case R_AMDGPU_REL64:
	case R_AMDGPU_REL32:
	case R_AMDGPU_REL32_LO:
		value -= place;
		break;
	case R_AMDGPU_REL32_HI:
		value = (value - place) >> 32;
		break;
	default:
		return fail(l, -ENOTSUP, offset, "relocation type %u is not implemented",
			type);
	}
	memcpy(p, &value, width);
	return 0;
}

static int relocate(struct load *l)
{
	int r;

	if (!l->rela || !l->relasz)
		return 0;
	if (!at(l, l->rela, l->relasz))
		return fail(l, -EINVAL, RCK_OFFSET_NONE,
			"the relocations lie outside the image");
	for (uint64_t i = 0; i + sizeof(Elf64_Rela) <= l->relasz;
		i += sizeof(Elf64_Rela)) {
		Elf64_Rela rela;

		memcpy(&rela, at(l, l->rela + i, sizeof rela), sizeof rela);
		r = relocate_one(l, &rela, RCK_OFFSET_NONE);
		if (r)
			return r;
	}
	return 0;
}

static bool has_line_table(const struct load *l)
{
	const Elf64_Ehdr *e = (const void *)l->file;
	uint64_t shoff = rck_le64(&e->e_shoff), names;
	unsigned int n = rck_le16(&e->e_shnum), index = rck_le16(&e->e_shstrndx);
	Elf64_Shdr s;

	if (!shoff || index >= n || rck_le16(&e->e_shentsize) != sizeof s ||
		!rck_range_ok(shoff, n * sizeof s, l->size))
		return false;
	memcpy(&s, l->file + shoff + index * sizeof s, sizeof s);
	names = s.sh_offset;
	if (!rck_range_ok(names, s.sh_size, l->size))
		return false;
	for (unsigned int i = 0; i < n; i++) {
		static const char wanted[] = ".debug_line";

		memcpy(&s, l->file + shoff + i * sizeof s, sizeof s);
		if (rck_range_ok(names, s.sh_name, l->size) &&
			rck_range_ok(names + s.sh_name, sizeof wanted, l->size) &&
			!memcmp(l->file + names + s.sh_name, wanted, sizeof wanted))
			return true;
	}
	return false;
}

/* The source lines of a kernel are looked up when the program's own bytes may be gone. */
static int keep_file(struct load *l)
{
	if (!has_line_table(l))
		return 0;
	l->image->elf = malloc(l->size);
	if (!l->image->elf)
		return fail(l, -ENOMEM, RCK_OFFSET_NONE, "no memory for the file");
	memcpy(l->image->elf, l->file, l->size);
	l->image->elf_size = l->size;
	return 0;
}

int sg_image_load(const void *elf, size_t size, const struct sg_load_options *options,
	struct sg_image **out, struct rck_diag *diag)
{
	static int (*const steps[])(struct load *) = {read_header, measure, map,
		read_dynamic, count_symbols, relocate, read_symbols, keep_file};
	struct load l = {.file = elf, .size = size, .options = options, .diag = diag};
	int r = 0;

	*out = NULL;
	l.image = calloc(1, sizeof *l.image);
	if (!l.image)
		return fail(&l, -ENOMEM, RCK_OFFSET_NONE, "no memory");
	for (size_t i = 0; !r && i < sizeof steps / sizeof *steps; i++)
		r = steps[i](&l);
	if (r) {
		sg_image_unload(l.image);
		return r;
	}
	*out = l.image;
	return 0;
}

void sg_image_unload(struct sg_image *image)
{
	if (!image)
		return;
	if (image->base)
		munmap(image->base, image->size);
	for (size_t i = 0; i < image->n_kernels; i++)
		free((char *)(uintptr_t)image->kernels[i]->kernel);
	free(image->symbols);
	free(image->kernels);
	free(image->names);
	free(image->elf);
	free(image);
}

static int compare_kernel_name(const void *key, const void *symbol)
{
	const char *name = key;
	const struct sg_symbol *s = symbol;
	size_t n = strlen(name);
	int r = strncmp(name, s->name, n);

	return r ? r : strcmp(".kd", s->name + n);
}

static int compare_name(const void *key, const void *symbol)
{
	return strcmp(key, ((const struct sg_symbol *)symbol)->name);
}

const struct sg_symbol *sg_image_symbol(const struct sg_image *image, const char *name)
{
	const struct sg_symbol *s;

	if (!image->n_symbols)
		return NULL;
	s = bsearch(name, image->symbols, image->n_symbols, sizeof *s, compare_name);
	if (!s)
		s = bsearch(name, image->symbols, image->n_symbols, sizeof *s,
			compare_kernel_name);
	return s;
}

static int compare_address(const void *key, const void *symbol)
{
	uint64_t x = *(const uint64_t *)key;
	uint64_t y = (*(struct sg_symbol *const *)symbol)->address;

	return x < y ? -1 : x > y;
}

const struct sg_symbol *sg_image_kernel_at(const struct sg_image *image, uint64_t address)
{
	struct sg_symbol *const *s = NULL;

	if (image->n_kernels)
		s = bsearch(&address, image->kernels, image->n_kernels, sizeof *s,
			compare_address);
	return s ? *s : NULL;
}

size_t sg_elf_size(const void *p, size_t limit)
{
	const uint8_t *b = p;
	const Elf64_Ehdr *e = p;
	uint64_t end, shoff, phoff;

	if (limit < sizeof *e || memcmp(b, ELFMAG, SELFMAG) || b[EI_CLASS] != ELFCLASS64)
		return 0;
	shoff = rck_le64(&e->e_shoff);
	phoff = rck_le64(&e->e_phoff);
	end = sizeof *e;
	if (rck_range_ok(
		    shoff, (uint64_t)rck_le16(&e->e_shnum) * sizeof(Elf64_Shdr), limit) &&
		shoff)
		end = shoff + (uint64_t)rck_le16(&e->e_shnum) * sizeof(Elf64_Shdr);
	for (unsigned int i = 0; i < rck_le16(&e->e_phnum); i++) {
		uint64_t at = phoff + i * sizeof(Elf64_Phdr), off, size;

		if (!rck_range_ok(at, sizeof(Elf64_Phdr), limit))
			break;
		off = rck_le64(b + at + offsetof(Elf64_Phdr, p_offset));
		size = rck_le64(b + at + offsetof(Elf64_Phdr, p_filesz));
		if (rck_range_ok(off, size, limit) && off + size > end)
			end = off + size;
	}
	return end;
}
