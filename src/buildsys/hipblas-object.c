/* The generation that a built object imports: its undefined symbols, by libelf. */
#include "buildsys/hipblas.h"

#include "container/container.h"
#include "util/cleanup.h"
#include "util/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

/* Calls each() for the *Ex names that elf leaves undefined, or that it defines. */
static void each_name(
	Elf *elf, bool defined, void (*each)(void *ctx, const char *name), void *ctx)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) ||
			(sh.sh_type != SHT_DYNSYM && sh.sh_type != SHT_SYMTAB) ||
			!sh.sh_entsize || !(data = elf_getdata(scn, NULL)))
			continue;
		for (size_t i = 0; i < data->d_size / sh.sh_entsize; i++) {
			GElf_Sym sym;
			const char *name;

			if (!gelf_getsym(data, (int)i, &sym) ||
				(sym.st_shndx != SHN_UNDEF) != defined)
				continue;
			name = elf_strptr(elf, sh.sh_link, sym.st_name);
			if (name && rck_blas_is_entry(name))
				each(ctx, name);
		}
	}
}

/* Opens file and calls each_name() for it, or for every member of an archive. */
static int each_file(const char *file, bool defined,
	void (*each)(void *ctx, const char *name), void *ctx, struct rck_diag *diag)
{
	_cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf_Cmd cmd = ELF_C_READ_MMAP;
	Elf *outer, *elf;
	int ret = 0;

	if (fd < 0)
		return rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot open: %s",
			strerror(errno));
	elf_version(EV_CURRENT);
	outer = elf_begin(fd, cmd, NULL);
	if (!outer || (elf_kind(outer) != ELF_K_ELF && elf_kind(outer) != ELF_K_AR)) {
		ret = rck_fail(diag, -ENOEXEC, 0, "neither ELF nor an archive");
		goto out;
	}
	if (elf_kind(outer) == ELF_K_ELF) {
		each_name(outer, defined, each, ctx);
		goto out;
	}
	while (cmd != ELF_C_NULL && (elf = elf_begin(fd, cmd, outer))) {
		if (elf_kind(elf) == ELF_K_ELF)
			each_name(elf, defined, each, ctx);
		cmd = elf_next(elf);
		elf_end(elf);
	}
out:
	elf_end(outer);
	return ret;
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
	int err = each_file(file, defined, add_once, names, diag);

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
