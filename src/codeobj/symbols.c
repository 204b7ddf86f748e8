/*
 * Symbol tables, in place. A kernel's descriptor is found by the hash table that the
 * linker wrote (DT_GNU_HASH, DT_HASH), so that of a large .dynsym only what is asked for
 * is touched; tables without one (.symtab, relocatables) get an index on first use.
 */
#include "codeobj/private.h"
#include "util/range.h"

#include <errno.h>
#include <stdlib.h>

#define SYM sizeof(Elf64_Sym)

uint32_t rck_symbol_hash(uint32_t h, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = h * 33 + (uint8_t)s[i];
	return h;
}

/* The hash of DT_HASH (gABI, "Hash Table"). */
static uint32_t sysv_hash(const char *s, size_t len)
{
	uint32_t h = 0, g;

	for (size_t i = 0; i < len; i++) {
		h = (h << 4) + (uint8_t)s[i];
		g = h & 0xf0000000;
		h ^= g >> 24;
		h &= ~g;
	}
	return h;
}

/* A string table as far as its last NUL, so that every name in it ends. */
static void set_strings(struct rck_symtab *t, const uint8_t *data, uint64_t size)
{
	const uint8_t *end = size ? memrchr(data, 0, size) : NULL;

	t->strings = (const char *)data;
	t->strings_size = end ? (uint64_t)(end - data) + 1 : 0;
}

bool rck_symtab_get(const struct rck_symtab *t, uint64_t i, struct rck_symbol *out)
{
	const uint8_t *p;
	uint32_t name;

	if (i >= t->n)
		return false;
	p = t->syms + i * SYM;
	name = rck_le32(p);
	if (name >= t->strings_size)
		return false;
	out->name = t->strings + name;
	out->type = p[4] & 0xf;
	out->shndx = rck_le16(p + 6);
	out->value = rck_le64(p + 8);
	out->size = rck_le64(p + 16);
	return true;
}

/* The same when symbol i is called name[0..len); touches no more of the string than
   that. */
static bool get_if_named(const struct rck_symtab *t, uint64_t i, const char *name,
	size_t len, struct rck_symbol *out)
{
	const char *s;
	uint32_t at;

	if (i >= t->n)
		return false;
	at = rck_le32(t->syms + i * SYM);
	if (at >= t->strings_size || len >= t->strings_size - at)
		return false;
	s = t->strings + at;
	/* names of one library begin alike: the end tells them apart first */
	return !s[len] && !memcmp(s, name, len) && rck_symtab_get(t, i, out) &&
	       out->shndx != SHN_UNDEF;
}

/* Format: the GNU hash section as glibc and binutils have it; 64-bit Bloom words. */
static bool find_gnu(struct rck_symtab *t, const char *name, size_t len, uint32_t hash,
	struct rck_symbol *out)
{
	uint64_t word, i;
	uint32_t c;

	word = rck_le64(t->gnu_bloom + (uint64_t)(hash / 64 % t->gnu_n_bloom) * 8);
	if (!(word >> (hash % 64) & word >> ((hash >> t->gnu_shift) % 64) & 1))
		return false;
	i = rck_le32(t->gnu_buckets + (uint64_t)(hash % t->gnu_n_buckets) * 4);
	if (i < t->gnu_first)
		return false;
	for (; i - t->gnu_first < t->gnu_n_chain && t->steps; i++, t->steps--) {
		c = rck_le32(t->gnu_chain + (i - t->gnu_first) * 4);
		if (!((c ^ hash) >> 1) && get_if_named(t, i, name, len, out))
			return true;
		if (c & 1)
			break;
	}
	return false;
}

static bool find_sysv(
	struct rck_symtab *t, const char *name, size_t len, struct rck_symbol *out)
{
	uint32_t i;

	i = rck_le32(t->sysv_buckets +
		     (uint64_t)(sysv_hash(name, len) % t->sysv_n_buckets) * 4);
	for (; i && i < t->sysv_n_chain && t->steps; t->steps--) {
		if (get_if_named(t, i, name, len, out))
			return true;
		i = rck_le32(t->sysv_chain + (uint64_t)i * 4);
	}
	return false;
}

/*
 * An open-addressed table of symbol numbers + 1, at most half full; sized by the symbols
 * that are in the file. Names may share bytes, so what is hashed has a budget: a table
 * made to cost n times its strings is indexed in part.
 */
static bool build_index(struct rck_symtab *t)
{
	uint64_t slots = 16, budget = t->strings_size * 4 + 4096;
	struct rck_symbol s;
	uint32_t at;
	size_t len;

	if (t->n > UINT32_MAX / 4)
		return false;
	while (slots < t->n * 2)
		slots *= 2;
	t->index = calloc(slots, sizeof(*t->index));
	if (!t->index)
		return false;
	t->index_mask = (uint32_t)(slots - 1);
	for (uint64_t i = 1; i < t->n; i++) {
		if (!rck_symtab_get(t, i, &s) || s.shndx == SHN_UNDEF || !*s.name)
			continue;
		len = strlen(s.name);
		if (len > budget)
			break;
		budget -= len;
		at = rck_symbol_hash(RCK_SYMBOL_HASH, s.name, len);
		for (; t->index[at & t->index_mask] && t->steps; t->steps--)
			at++;
		if (!t->steps)
			break;
		t->index[at & t->index_mask] = (uint32_t)i + 1;
	}
	return true;
}

static bool find_indexed(struct rck_symtab *t, const char *name, size_t len,
	uint32_t hash, struct rck_symbol *out)
{
	uint32_t i;

	if (!t->index && !build_index(t))
		return false;
	for (; (i = t->index[hash++ & t->index_mask]) && t->steps; t->steps--)
		if (get_if_named(t, i - 1, name, len, out))
			return true;
	return false;
}

/* What all look-ups in one table may cost together. A chain that bites its tail, or a
   table made so that all names meet in one bucket, ends here: then nothing more is found.
 */
static uint64_t step_budget(uint64_t n)
{
	return n * 64 + (1 << 20);
}

static bool find_in(struct rck_symtab *t, const char *name, size_t len, uint32_t hash,
	struct rck_symbol *out)
{
	return t->gnu_buckets    ? find_gnu(t, name, len, hash, out)
	       : t->sysv_buckets ? find_sysv(t, name, len, out)
				 : find_indexed(t, name, len, hash, out);
}

static void read_gnu_hash(struct rck_symtab *t, const uint8_t *p, uint64_t avail)
{
	uint64_t at = 16, bloom, buckets;

	if (avail < at)
		return;
	t->gnu_n_buckets = rck_le32(p);
	t->gnu_first = rck_le32(p + 4);
	t->gnu_n_bloom = rck_le32(p + 8);
	t->gnu_shift = rck_le32(p + 12);
	bloom = (uint64_t)t->gnu_n_bloom * 8;
	buckets = (uint64_t)t->gnu_n_buckets * 4;
	if (!bloom || !buckets || t->gnu_shift > 31 ||
		!rck_range_ok(at, bloom + buckets, avail))
		return;
	t->gnu_bloom = p + at;
	t->gnu_chain = p + at + bloom + buckets;
	t->gnu_n_chain = (avail - at - bloom - buckets) / 4;
	t->gnu_buckets = p + at + bloom;
}

/* How many symbols .gnu.hash reaches: the end of the chain of its highest bucket. */
static uint64_t count_gnu(const struct rck_symtab *t)
{
	uint64_t last = 0;

	for (uint64_t i = 0; i < t->gnu_n_buckets; i++) {
		uint32_t b = rck_le32(t->gnu_buckets + i * 4);

		last = b > last ? b : last;
	}
	if (last < t->gnu_first)
		return t->gnu_first;
	while (last - t->gnu_first < t->gnu_n_chain &&
		!(rck_le32(t->gnu_chain + (last - t->gnu_first) * 4) & 1))
		last++;
	return last + 1;
}

static bool open_dynamic(struct rck_symtab *t, const struct rck_elf *e)
{
	const uint8_t *d = e->slice.data + e->dynamic_offset, *p;
	uint64_t sym_avail = 0, str_avail = 0, avail, strings_size = UINT64_MAX, n;
	const uint8_t *strings = NULL;

	for (uint64_t at = 0; e->dynamic_size - at >= sizeof(Elf64_Dyn);
		at += sizeof(Elf64_Dyn)) {
		uint64_t tag = rck_le64(d + at), value = rck_le64(d + at + 8);

		if (tag == DT_NULL)
			break;
		if (tag == DT_STRSZ)
			strings_size = value;
		if (tag != DT_SYMTAB && tag != DT_STRTAB && tag != DT_HASH &&
			tag != DT_GNU_HASH)
			continue;
		p = rck_elf_at(e, value, &avail);
		if (!p)
			continue;
		if (tag == DT_SYMTAB) {
			t->syms = p;
			sym_avail = avail;
		} else if (tag == DT_STRTAB) {
			strings = p;
			str_avail = avail;
		} else if (tag == DT_GNU_HASH) {
			read_gnu_hash(t, p, avail);
		} else if (avail >= 8 && rck_le32(p) &&
			   rck_range_ok(8, ((uint64_t)rck_le32(p) + rck_le32(p + 4)) * 4,
				   avail)) {
			t->sysv_n_buckets = rck_le32(p);
			t->sysv_n_chain = rck_le32(p + 4);
			t->sysv_buckets = p + 8;
			t->sysv_chain = p + 8 + (uint64_t)t->sysv_n_buckets * 4;
		}
	}
	if (!t->syms || !strings)
		return false;
	set_strings(t, strings, strings_size < str_avail ? strings_size : str_avail);
	if (t->sysv_buckets)
		n = t->sysv_n_chain;
	else if (t->gnu_buckets)
		n = count_gnu(t);
	else
		return false;
	t->n = n < sym_avail / SYM ? n : sym_avail / SYM;
	t->steps = step_budget(t->n);
	return true;
}

/* The first section of a type as a symbol table. */
static bool open_section(struct rck_symtab *t, const struct rck_elf *e, uint32_t type)
{
	GElf_Shdr s, str;

	for (size_t i = 1; i < e->n_shdrs; i++) {
		if (!rck_elf_section(e, i, &s) || s.sh_type != type)
			continue;
		if (!rck_elf_section(e, s.sh_link, &str) ||
			!rck_range_ok(s.sh_offset, s.sh_size, e->slice.size) ||
			!rck_range_ok(str.sh_offset, str.sh_size, e->slice.size))
			continue;
		t->syms = e->slice.data + s.sh_offset;
		t->n = s.sh_size / SYM;
		t->steps = step_budget(t->n);
		set_strings(t, e->slice.data + str.sh_offset, str.sh_size);
		return true;
	}
	return false;
}

void rck_symbols_open(struct rck_symbols *s, const struct rck_elf *e)
{
	*s = (struct rck_symbols){0};
	s->has_dynamic = e->ehdr.e_type != ET_REL && e->dynamic_size &&
			 open_dynamic(&s->dynamic, e);
	if (!s->has_dynamic) {
		s->dynamic = (struct rck_symtab){0};
		s->has_dynamic = open_section(&s->dynamic, e, SHT_DYNSYM);
	}
}

void rck_symbols_close(struct rck_symbols *s)
{
	free(s->dynamic.index);
	free(s->full.index);
	*s = (struct rck_symbols){0};
}

static bool open_full(struct rck_symbols *s, const struct rck_elf *e)
{
	if (!s->tried_full)
		s->has_full = open_section(&s->full, e, SHT_SYMTAB);
	s->tried_full = true;
	return s->has_full;
}

bool rck_symbols_find(struct rck_symbols *s, const struct rck_elf *e, const char *name,
	size_t len, uint32_t hash, struct rck_symbol *out)
{
	return (s->has_dynamic && find_in(&s->dynamic, name, len, hash, out)) ||
	       (open_full(s, e) && find_in(&s->full, name, len, hash, out));
}

const struct rck_symtab *rck_symbols_table(struct rck_symbols *s, const struct rck_elf *e)
{
	return open_full(s, e) ? &s->full : s->has_dynamic ? &s->dynamic : NULL;
}

void rck_symbol_place(const struct rck_elf *e, const struct rck_symbol *sym,
	uint64_t *address, uint64_t *offset)
{
	const uint8_t *p;
	uint64_t avail;
	GElf_Shdr s;

	*address = sym->value;
	*offset = RCK_OFFSET_NONE;
	if (e->ehdr.e_type == ET_REL) {
		if (!rck_elf_section(e, sym->shndx, &s) || s.sh_type == SHT_NOBITS ||
			!rck_range_ok(s.sh_offset, s.sh_size, e->slice.size) ||
			sym->value > s.sh_size)
			return;
		*address = *offset = s.sh_offset + sym->value;
	} else {
		p = rck_elf_at(e, sym->value, &avail);
		if (p)
			*offset = (uint64_t)(p - e->slice.data);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct rck_function *x = a, *y = b;

	return x->address != y->address ? (x->address > y->address ? 1 : -1)
					: strcmp(x->name, y->name);
}

/* A function of hand-written assembly may state no size: it reaches to the next one, or
   to the end of its segment. */
static uint64_t room_at(const struct rck_elf *e, uint64_t address)
{
	uint64_t avail;
	GElf_Shdr s;

	if (!rck_elf_at(e, address, &avail))
		return 0;
	/* a relocatable's file goes on behind the section */
	for (size_t i = 1; e->ehdr.e_type == ET_REL && i < e->n_shdrs; i++)
		if (rck_elf_section(e, i, &s) && s.sh_type == SHT_PROGBITS &&
			address >= s.sh_offset && address - s.sh_offset < s.sh_size &&
			s.sh_size - (address - s.sh_offset) < avail)
			avail = s.sh_size - (address - s.sh_offset);
	return avail;
}

static void fill_sizes(struct rck_parse *p)
{
	uint64_t avail;

	for (size_t i = 0; i < p->n_functions; i++) {
		struct rck_function *f = &p->functions[i];
		size_t next = i + 1;

		if (f->size)
			continue;
		avail = room_at(&p->elf, f->address);
		while (next < p->n_functions && p->functions[next].address == f->address)
			next++;
		if (next < p->n_functions &&
			p->functions[next].address - f->address < avail)
			avail = p->functions[next].address - f->address;
		f->size = avail;
	}
}

const struct rck_function *rck_code_object_functions(
	struct rck_code_object *co, size_t *n)
{
	struct rck_parse *p = rck_parse_of(co);
	const struct rck_symtab *t;
	struct rck_symbol s;
	size_t count = 0;

	if (!p->tried_functions) {
		p->tried_functions = true;
		t = rck_symbols_table(&p->symbols, &p->elf);
		for (uint64_t i = 0; t && i < t->n; i++)
			count += (t->syms[i * SYM + 4] & 0xf) == STT_FUNC ||
				 (t->syms[i * SYM + 4] & 0xf) == RCK_STT_KERNEL_V2;
		p->functions =
			count ? rck_arena_alloc(co->arena, count * sizeof(*p->functions))
			      : NULL;
		for (uint64_t i = 0; p->functions && i < t->n; i++) {
			struct rck_function *f = &p->functions[p->n_functions];

			if (!rck_symtab_get(t, i, &s) || s.shndx == SHN_UNDEF ||
				(s.type != STT_FUNC && s.type != RCK_STT_KERNEL_V2))
				continue;
			rck_symbol_place(&p->elf, &s, &f->address, &f->offset);
			f->name = s.name;
			f->size = s.size;
			p->n_functions += f->offset != RCK_OFFSET_NONE;
		}
		if (p->n_functions)
			qsort(p->functions, p->n_functions, sizeof(*p->functions),
				by_address);
		fill_sizes(p);
	}
	*n = p->n_functions;
	return p->n_functions ? p->functions : NULL;
}

const uint8_t *rck_code_object_at(
	const struct rck_code_object *co, uint64_t address, uint64_t size)
{
	uint64_t avail;
	const uint8_t *p = rck_elf_at(&rck_parse_of(co)->elf, address, &avail);

	return p && size <= avail ? p : NULL;
}
