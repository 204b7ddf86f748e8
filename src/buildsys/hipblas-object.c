/* The generation that a built object imports: its undefined symbols, by libelf. */
#include "buildsys/hipblas.h"

#include "container/archive.h"
#include "container/bytes.h"
#include "container/sniff.h"
#include "util/cleanup.h"
#include "util/range.h"
#include "util/regular.h"
#include "util/strbuf.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

/* What is looked for, and who is told of it. */
struct search {
	bool defined; /* names that a file defines, or those that it leaves undefined */
	void (*each)(void *ctx, const char *name);
	void *ctx;
	struct rck_diag *diag;
};

static int each_name(
	const struct search *look, Elf *elf, const GElf_Shdr *sh, Elf_Data *data)
{
	for (size_t i = 0; i < data->d_size / sh->sh_entsize; i++) {
		GElf_Sym sym;
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym) ||
			(sym.st_shndx != SHN_UNDEF) != look->defined || !sym.st_name)
			continue;
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (!name)
			return rck_fail(look->diag, -EINVAL, sh->sh_offset,
				"the name of symbol %zu cannot be read: %s", i,
				elf_errmsg(-1));
		if (rck_blas_is_entry(name))
			look->each(look->ctx, name);
	}
	return 0;
}

/* A file that is cut must not look like one that imports nothing. */
static int each_table(
	const struct search *look, Elf *elf, struct rck_slice s, size_t *tables)
{
	Elf_Scn *scn = NULL;
	GElf_Ehdr header;
	size_t n;
	int err = 0;

	if (!gelf_getehdr(elf, &header) || elf_getshdrnum(elf, &n) ||
		(header.e_shoff && !n))
		return rck_fail(look->diag, -EINVAL, 0,
			"its ELF header or its section headers run over the end");
	while (!err && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data = NULL;

		if (!gelf_getshdr(scn, &sh))
			return rck_fail(look->diag, -EINVAL, header.e_shoff,
				"a section header cannot be read: %s", elf_errmsg(-1));
		if (sh.sh_type != SHT_DYNSYM && sh.sh_type != SHT_SYMTAB)
			continue;
		if (rck_range_ok(sh.sh_offset, sh.sh_size, s.size) && sh.sh_entsize)
			data = elf_getdata(scn, NULL);
		if (!data)
			return rck_fail(look->diag, -EINVAL, sh.sh_offset,
				"its symbol table cannot be read");
		++*tables;
		err = each_name(look, elf, &sh, data);
	}
	return err;
}

/* -ENOEXEC: it is no ELF file. */
static int each_of_elf(const struct search *look, struct rck_slice s, size_t *tables)
{
	Elf *elf;
	int err;

	if (s.size < SELFMAG || memcmp(s.data, ELFMAG, SELFMAG))
		return rck_fail(look->diag, -ENOEXEC, 0, "neither ELF nor an archive");
	elf_version(EV_CURRENT);
	/* libelf takes char *, but writes nothing to memory that is opened like this */
	elf = elf_memory((char *)(uintptr_t)s.data, s.size);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		err = rck_fail(look->diag, -EINVAL, 0, "its ELF header cannot be read");
	else
		err = each_table(look, elf, s, tables);
	elf_end(elf);
	return err;
}

/* A thin archive's member: a file beside it, or where its path says. */
static int each_elsewhere(const struct search *look, const char *archive,
	const struct rck_archive *a, const struct rck_entry *e, size_t *tables)
{
	_cleanup_strbuf_ struct rck_strbuf path = RCK_STRBUF_INIT;
	struct rck_bytes *bytes;
	int err;

	if (a->nested_origin != RCK_OFFSET_NONE)
		return rck_fail(look->diag, -ENOTSUP, RCK_OFFSET_NONE,
			"it is in an archive of its own, which is not read");
	if (!rck_regular_beside(archive, e->id, e->id_len, &path))
		return rck_fail(look->diag, -EINVAL, RCK_OFFSET_NONE,
			"its name is no path of a file");
	err = rck_bytes_map(path.buf, &bytes, look->diag);
	if (err)
		return err;
	err = each_of_elf(look, rck_bytes_slice(bytes), tables);
	if (!err)
		err = rck_bytes_check(bytes, true, look->diag);
	rck_bytes_unref(bytes);
	return err;
}

/* Members that are no ELF files import nothing that the linker would see. */
static int each_member(const struct search *look, const char *file, struct rck_slice s)
{
	struct rck_archive a;
	struct rck_entry e;
	size_t tables = 0;
	int err = rck_archive_open(&a, s, look->diag);

	while (!err && (err = rck_archive_next(&a, &e, look->diag)) > 0) {
		err = a.elsewhere ? each_elsewhere(look, file, &a, &e, &tables)
				  : each_of_elf(look, e.slice, &tables);
		if (err == -ENOEXEC) {
			err = 0;
		} else if (err) {
			struct rck_diag inner = *look->diag;

			rck_fail(look->diag, err, RCK_OFFSET_NONE, "member '%.*s': %s",
				(int)(e.id_len < 80 ? e.id_len : 80), e.id, inner.msg);
		}
	}
	return err;
}

/* Calls each() for the *Ex names of file, or of every member of an archive. */
static int each_file(const char *file, const struct search *look)
{
	struct rck_bytes *bytes;
	enum rck_magic magic;
	struct rck_slice s;
	size_t tables = 0;
	int err = rck_bytes_map(file, &bytes, look->diag);

	if (err)
		return err;
	s = rck_bytes_slice(bytes);
	magic = rck_sniff(s);
	if (magic == RCK_MAGIC_ARCHIVE || magic == RCK_MAGIC_THIN_ARCHIVE) {
		err = each_member(look, file, s);
	} else {
		err = each_of_elf(look, s, &tables);
		if (!err && !tables)
			err = rck_fail(look->diag, -ENODATA, RCK_OFFSET_NONE,
				"it has no symbol table: what it imports cannot be told");
	}
	if (!err)
		err = rck_bytes_check(bytes, true, look->diag);
	rck_bytes_unref(bytes);
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_once(void *ctx, const char *name)
{
	struct rck_strv *v = ctx;

	for (size_t i = 0; i < v->n; i++)
		if (!strcmp(v->items[i], name))
			return;
	rck_strv_add(v, name);
}

static int names_of(
	const char *file, bool defined, struct rck_strv *names, struct rck_diag *diag)
{
	const struct search look = {defined, add_once, names, diag};
	int err = each_file(file, &look);

	if (!err && names->n)
		qsort(names->items, names->n, sizeof(*names->items), by_name);
	return err;
}

int rck_blas_exports_read(
	const char *file, struct rck_strv *exports, struct rck_diag *diag)
{
	return names_of(file, true, exports, diag);
}

static bool contains(const struct rck_strv *v, const char *name)
{
	return v->n && bsearch(&name, v->items, v->n, sizeof(*v->items), by_name);
}

/* hipBLAS 2.x exports both generations; a plain name is then the legacy one. Without the
   library _v2 still tells, a plain name does not. */
static enum rck_blas_generation generation_of(
	const char *name, const struct rck_strv *exports)
{
	bool two = false;

	if (strstr(name, "_v2"))
		return RCK_BLAS_CURRENT;
	if (!exports)
		return RCK_BLAS_NONE;
	for (size_t i = 0; i < exports->n; i++)
		two |= strstr(exports->items[i], "_v2") != NULL;
	return two ? RCK_BLAS_LEGACY : RCK_BLAS_CURRENT;
}

int rck_blas_object_read(const char *file, const struct rck_strv *exports,
	struct rck_blas_use *use, struct rck_diag *diag)
{
	_cleanup_strv_ struct rck_strv names = {NULL, 0};
	bool legacy = false, current = false, missing = false;
	int err = names_of(file, false, &names, diag);

	*use = (struct rck_blas_use){0};
	if (err)
		return err;
	use->sites = rck_xcalloc(names.n, sizeof(*use->sites));
	for (size_t i = 0; i < names.n; i++) {
		struct rck_blas_site *s = &use->sites[use->n++];

		s->file = rck_xstrdup(file);
		s->name = rck_xstrdup(names.items[i]);
		s->generation = generation_of(s->name, exports);
		legacy |= s->generation == RCK_BLAS_LEGACY;
		current |= s->generation == RCK_BLAS_CURRENT;
		if (exports && !contains(exports, s->name)) {
			s->error = rck_xstrdup(
				"the installed libhipblas does not export it");
			missing = true;
		}
	}
	use->written_for = legacy == current ? RCK_BLAS_NONE
			   : legacy          ? RCK_BLAS_LEGACY
					     : RCK_BLAS_CURRENT;
	use->verdict = !use->n             ? RCK_BLAS_UNUSED
		       : missing           ? RCK_BLAS_BREAKS
		       : legacy && current ? RCK_BLAS_MIXES
		       : !exports          ? RCK_BLAS_UNSETTLED
					   : RCK_BLAS_FITS;
	return 0;
}
