#include "buildsys/hipblas.h"

#include "container/container.h"
#include "util/cleanup.h"
#include "util/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *rck_blas_generation_name(enum rck_blas_generation g)
{
	static const char *const names[] = {"none", "legacy", "current"};

	return names[g];
}

const char *rck_blas_verdict_text(enum rck_blas_verdict v, bool object)
{
	static const char *const texts[][2] = {
		[RCK_BLAS_UNUSED] = {"calls no *Ex entry point",
			"imports no *Ex entry point"},
		[RCK_BLAS_FITS] = {"will compile", "will link and load"},
		[RCK_BLAS_MIXES] = {"will compile, but mixes generations",
			"will link and load, but mixes generations"},
		[RCK_BLAS_BREAKS] = {"will not compile", "will not link or load"},
		[RCK_BLAS_UNSETTLED] = {"other errors come first", "cannot be told"},
	};

	return texts[v][object];
}

bool rck_blas_is_entry(const char *name)
{
	const char *ex;

	if (strncmp(name, "hipblas", 7))
		return false;
	ex = strstr(name, "Ex");
	return ex && (!ex[2] || ex[2] == '_' || !strncmp(ex + 2, "WithFlags", 9));
}

static bool is_plain(const char *name)
{
	return !strstr(name, "_v2") && !strstr(name, "_64");
}

static enum rck_blas_generation generation_of(const char *types)
{
	return strstr(types, "hipblasDatatype_t") ? RCK_BLAS_LEGACY
	       : strstr(types, "hipDataType")     ? RCK_BLAS_CURRENT
						  : RCK_BLAS_NONE;
}

static void add_entry(
	void *ctx, const struct rck_clang_place *at, const char *name, const char *types)
{
	struct rck_blas_header *h = ctx;

	(void)at;
	if (!rck_blas_is_entry(name))
		return;
	for (size_t i = 0; i < h->n; i++)
		if (!strcmp(h->entries[i].name, name))
			return;
	h->entries = rck_xrealloc(h->entries, (h->n + 1) * sizeof(*h->entries));
	h->entries[h->n++] =
		(struct rck_blas_entry){rck_xstrdup(name), generation_of(types)};
	h->plain += is_plain(name);
}

/* The first error, for a message. */
static void first_error(void *ctx, const struct rck_clang_place *at, const char *text)
{
	char **first = ctx;

	if (!*first)
		*first = rck_xasprintf("%s:%u: %s", at->file, at->line, text);
}

#define PROBE "rocmcheck-probe.cpp"

struct meaning {
	enum rck_blas_generation generation;
	bool differ;
};

static void take_meaning(
	void *ctx, const struct rck_clang_place *at, const char *name, const char *types)
{
	struct meaning *m = ctx;
	enum rck_blas_generation g = generation_of(types);

	if (strcmp(at->file, PROBE) || !rck_blas_is_entry(name) || !g)
		return;
	m->differ |= m->generation && m->generation != g;
	m->generation = g;
}

/* What the plain names mean: each is declared once more, and the compiler says with which
 * types. */
static enum rck_blas_generation meaning_of(struct rck_clang *c,
	const struct rck_strv *args, const struct rck_blas_header *h, const char *define)
{
	_cleanup_strv_ struct rck_strv all = {NULL, 0};
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	struct meaning m = {RCK_BLAS_NONE, false};
	struct rck_clang_unit *u;

	rck_strv_add_all(&all, rck_strv_list(args));
	rck_strv_add(&all, define);
	rck_strbuf_adds(&text, "#include <hipblas/hipblas.h>\n");
	for (size_t i = 0; i < h->n; i++)
		if (is_plain(h->entries[i].name))
			rck_strbuf_addf(&text, "extern \"C\" decltype(%s) %s;\n",
				h->entries[i].name, h->entries[i].name);
	if (rck_clang_parse(c, PROBE, text.buf, &all, &u, NULL))
		return RCK_BLAS_NONE;
	rck_clang_functions(u, false, take_meaning, &m);
	rck_clang_unit_close(u);
	return m.differ ? RCK_BLAS_NONE : m.generation;
}

int rck_blas_header_read(struct rck_clang *c, const struct rck_strv *args,
	struct rck_blas_header *h, struct rck_diag *diag)
{
	struct rck_clang_unit *u;
	char *error = NULL;
	int err;

	*h = (struct rck_blas_header){0};
	err = rck_clang_parse(c, PROBE, "#include <hipblas/hipblas.h>\n", args, &u, diag);
	if (err)
		return err;
	rck_clang_functions(u, false, add_entry, h);
	rck_clang_errors(u, first_error, &error);
	rck_clang_unit_close(u);
	if (!h->n)
		err = rck_fail(diag, -ENOENT, RCK_OFFSET_NONE,
			"no *Ex entry in hipblas/hipblas.h%s%s", error ? ": " : "",
			error ? error : "");
	free(error);
	if (err)
		return err;
	h->by_default = meaning_of(c, args, h, "-UHIPBLAS_V2");
	h->with_v2 = meaning_of(c, args, h, "-DHIPBLAS_V2");
	return 0;
}

void rck_blas_header_release(struct rck_blas_header *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->entries[i].name);
	free(h->entries);
	*h = (struct rck_blas_header){0};
}

static struct rck_blas_site *add_site(struct rck_blas_use *use, const char *file,
	unsigned line, unsigned column, const char *name)
{
	use->sites = rck_xrealloc(use->sites, (use->n + 1) * sizeof(*use->sites));
	use->sites[use->n] = (struct rck_blas_site){.file = rck_xstrdup(file),
		.line = line,
		.column = column,
		.name = rck_xstrdup(name)};
	return &use->sites[use->n++];
}

static void add_call(
	void *ctx, const struct rck_clang_place *at, const char *name, const char *types)
{
	if (rck_blas_is_entry(name))
		add_site(ctx, at->file, at->line, at->column, name)->generation =
			generation_of(types);
}

struct errors {
	struct rck_blas_use *use;
	const struct rck_blas_header *h;
};

/* The entry that an error names in quotes ("... call to 'hipblasGemmEx'"), or NULL. */
static const char *entry_in(const struct rck_blas_header *h, const char *text)
{
	for (const char *p = strchr(text, '\''); p; p = strchr(p + 1, '\''))
		for (size_t i = 0; i < h->n; i++) {
			size_t n = strlen(h->entries[i].name);

			if (!strncmp(p + 1, h->entries[i].name, n) && p[1 + n] == '\'')
				return h->entries[i].name;
		}
	return NULL;
}

/*
 * The word of the legacy generation that an error names in quotes, when the header knows
 * the current one alone and so does not know the word: free() it, or NULL.
 */
static char *legacy_word_in(const struct rck_blas_header *h, const char *text)
{
	static const char *const words[] = {"'HIPBLAS_R_", "'hipblasDatatype_t'"};

	for (size_t i = 0; i < 2 && h->by_default == RCK_BLAS_CURRENT; i++) {
		const char *at = strstr(text, words[i]);

		if (at)
			return rck_xstrndup(at + 1, strcspn(at + 1, "'"));
	}
	return NULL;
}

static void add_error(void *ctx, const struct rck_clang_place *at, const char *text)
{
	struct errors *e = ctx;
	_cleanup_free_ char *word = legacy_word_in(e->h, text);
	const char *name = entry_in(e->h, text);

	name = name ? name : word;
	if (name)
		add_site(e->use, at->file, at->line, at->column, name)->error =
			rck_xstrdup(text);
	else
		first_error(&e->use->other_error, at, text);
}

static int by_place(const void *a, const void *b)
{
	const struct rck_blas_site *x = a, *y = b;
	int file = strcmp(x->file, y->file);

	return file                 ? file
	       : x->line != y->line ? (x->line > y->line) - (x->line < y->line)
	       : x->column != y->column
		       ? (x->column > y->column) - (x->column < y->column)
		       : strcmp(x->name, y->name);
}

static void judge(struct rck_blas_use *use)
{
	bool legacy = false, current = false, error = false;

	for (size_t i = 0; i < use->n; i++) {
		legacy |= use->sites[i].generation == RCK_BLAS_LEGACY;
		current |= use->sites[i].generation == RCK_BLAS_CURRENT;
		error |= use->sites[i].error != NULL;
	}
	use->verdict = error               ? RCK_BLAS_BREAKS
		       : use->other_error  ? RCK_BLAS_UNSETTLED
		       : !use->n           ? RCK_BLAS_UNUSED
		       : legacy && current ? RCK_BLAS_MIXES
					   : RCK_BLAS_FITS;
	use->written_for = legacy == current ? RCK_BLAS_NONE
			   : legacy          ? RCK_BLAS_LEGACY
					     : RCK_BLAS_CURRENT;
}

static int read_once(struct rck_clang *c, const struct rck_blas_header *h,
	const char *file, const struct rck_strv *args, const char *define,
	struct rck_blas_use *use, struct rck_diag *diag)
{
	_cleanup_strv_ struct rck_strv all = {NULL, 0};
	struct errors e = {use, h};
	struct rck_clang_unit *u;
	int err;

	*use = (struct rck_blas_use){0};
	rck_strv_add_all(&all, rck_strv_list(args));
	rck_strv_add(&all, "-ferror-limit=0");
	if (define)
		rck_strv_add(&all, define);
	err = rck_clang_parse(c, file, NULL, &all, &u, diag);
	if (err)
		return err;
	rck_clang_functions(u, true, add_call, use);
	rck_clang_errors(u, add_error, &e);
	rck_clang_unit_close(u);
	if (use->n)
		qsort(use->sites, use->n, sizeof(*use->sites), by_place);
	judge(use);
	return 0;
}

int rck_blas_source_read(struct rck_clang *c, const struct rck_blas_header *h,
	const char *file, const struct rck_strv *args, struct rck_blas_use *use,
	struct rck_diag *diag)
{
	struct rck_blas_use other;
	int err = read_once(c, h, file, args, NULL, use, diag);

	if (err || use->verdict != RCK_BLAS_BREAKS)
		return err;
	/* which generation it was written for shows in the one under which it compiles */
	if (read_once(c, h, file, args, "-DHIPBLAS_V2", &other, NULL))
		return 0;
	if (other.verdict == RCK_BLAS_FITS) {
		use->written_for = other.written_for;
		use->v2_helps = true;
	} else if (h->by_default == RCK_BLAS_CURRENT) {
		use->written_for = RCK_BLAS_LEGACY;
	}
	rck_blas_use_release(&other);
	return 0;
}

void rck_blas_use_release(struct rck_blas_use *use)
{
	for (size_t i = 0; i < use->n; i++) {
		free(use->sites[i].file);
		free(use->sites[i].name);
		free(use->sites[i].error);
	}
	free(use->sites);
	free(use->other_error);
	*use = (struct rck_blas_use){0};
}
