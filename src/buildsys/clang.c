#include "buildsys/clang.h"

#include "container/container.h"
#include "util/strbuf.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

/* clang-c: CXString.h, CXSourceLocation.h, Index.h of LLVM 15 to 22; unchanged between
 * them. */
struct cx_string {
	const void *data;
	unsigned flags;
};
struct cx_location {
	const void *ptr[2];
	unsigned data;
};
struct cx_cursor {
	int kind;
	int xdata;
	const void *data[3];
};
struct cx_type {
	int kind;
	void *data[2];
};
struct cx_unsaved {
	const char *name, *text;
	unsigned long len;
};
typedef int (*cx_visitor)(struct cx_cursor cursor, struct cx_cursor parent, void *ctx);

enum { /* CXCursorKind, CXChildVisitResult, CXDiagnosticSeverity, CXErrorCode */
	CURSOR_FUNCTION = 8,
	CURSOR_CALL = 103,
	VISIT_CONTINUE = 1,
	VISIT_RECURSE = 2,
	SEVERITY_ERROR = 3,
};

/* The functions that are taken from the library: X(return type, name, parameters). */
#define FUNCTIONS(X)                                                                     \
	X(void *, createIndex, (int, int))                                               \
	X(void, disposeIndex, (void *))                                                  \
	X(int, parseTranslationUnit2,                                                    \
		(void *, const char *, const char *const *, int, struct cx_unsaved *,    \
			unsigned, unsigned, void **))                                    \
	X(void, disposeTranslationUnit, (void *))                                        \
	X(unsigned, getNumDiagnostics, (void *))                                         \
	X(void *, getDiagnostic, (void *, unsigned))                                     \
	X(void, disposeDiagnostic, (void *))                                             \
	X(void *, getChildDiagnostics, (void *))                                         \
	X(unsigned, getNumDiagnosticsInSet, (void *))                                    \
	X(void *, getDiagnosticInSet, (void *, unsigned))                                \
	X(int, getDiagnosticSeverity, (void *))                                          \
	X(struct cx_string, getDiagnosticSpelling, (void *))                             \
	X(struct cx_location, getDiagnosticLocation, (void *))                           \
	X(void, getExpansionLocation,                                                    \
		(struct cx_location, void **, unsigned *, unsigned *, unsigned *))       \
	X(struct cx_string, getFileName, (void *))                                       \
	X(struct cx_cursor, getTranslationUnitCursor, (void *))                          \
	X(unsigned, visitChildren, (struct cx_cursor, cx_visitor, void *))               \
	X(int, getCursorKind, (struct cx_cursor))                                        \
	X(struct cx_cursor, getCursorReferenced, (struct cx_cursor))                     \
	X(struct cx_string, getCursorSpelling, (struct cx_cursor))                       \
	X(struct cx_location, getCursorLocation, (struct cx_cursor))                     \
	X(struct cx_type, getCursorType, (struct cx_cursor))                             \
	X(int, getNumArgTypes, (struct cx_type))                                         \
	X(struct cx_type, getArgType, (struct cx_type, unsigned))                        \
	X(struct cx_string, getTypeSpelling, (struct cx_type))                           \
	X(const char *, getCString, (struct cx_string))                                  \
	X(void, disposeString, (struct cx_string))                                       \
	X(struct cx_string, getClangVersion, (void))

struct rck_clang {
	void *lib;
	void *index;
	char *version;
#define DECLARE(ret, name, params) ret(*name) params;
	FUNCTIONS(DECLARE)
};

struct rck_clang_unit {
	struct rck_clang *c;
	void *unit;
};

static char *take_string(struct rck_clang *c, struct cx_string s)
{
	const char *text = c->getCString(s);
	char *copy = rck_xstrdup(text ? text : "");

	c->disposeString(s);
	return copy;
}

/* Newest first: the last in the order of names with numbers. */
static void *open_newest(void)
{
	static const char *const patterns[] = {"/opt/rocm/lib/llvm/lib/libclang.so*",
		"/opt/rocm/llvm/lib/libclang.so*",
		"/usr/lib/llvm-[0-9]*/lib/libclang.so.1",
		"/usr/lib/llvm-[0-9]*/lib/libclang-[0-9]*.so.1",
		"/usr/lib/*/libclang-[0-9]*.so.[0-9]*", "/usr/lib64/libclang.so.[0-9]*"};
	void *lib = NULL;

	for (size_t p = 0; !lib && p < sizeof(patterns) / sizeof(*patterns); p++) {
		glob_t g;

		if (glob(patterns[p], 0, NULL, &g))
			continue;
		for (size_t i = g.gl_pathc; !lib && i-- > 0;)
			lib = dlopen(g.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
		globfree(&g);
	}
	return lib ? lib : dlopen("libclang.so.1", RTLD_NOW | RTLD_LOCAL);
}

int rck_clang_open(const char *path, struct rck_clang **out, struct rck_diag *diag)
{
	struct rck_clang *c = rck_xcalloc(1, sizeof(*c));
	const char *missing = NULL;

	*out = NULL;
	c->lib = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : open_newest();
	if (!c->lib) {
		free(c);
		return rck_fail(diag, -ENOENT, RCK_OFFSET_NONE,
			"no libclang: install libclang1-15 or newer");
	}
#define FIND(ret, name, params)                                                          \
	*(void **)&c->name = dlsym(c->lib, "clang_" #name);                              \
	if (!c->name)                                                                    \
		missing = #name;
	FUNCTIONS(FIND)
	if (missing) {
		dlclose(c->lib);
		free(c);
		return rck_fail(diag, -ENOENT, RCK_OFFSET_NONE, "libclang lacks clang_%s",
			missing);
	}
	c->index = c->createIndex(0, 0);
	c->version = take_string(c, c->getClangVersion());
	*out = c;
	return 0;
}

void rck_clang_close(struct rck_clang *c)
{
	if (!c)
		return;
	c->disposeIndex(c->index);
	free(c->version);
	/* the library stays: LLVM's own destructors do not like to run twice */
	free(c);
}

const char *rck_clang_version(const struct rck_clang *c)
{
	return c->version;
}

int rck_clang_parse(struct rck_clang *c, const char *file, const char *text,
	const struct rck_strv *args, struct rck_clang_unit **out, struct rck_diag *diag)
{
	struct cx_unsaved unsaved = {file, text, text ? strlen(text) : 0};
	void *unit = NULL;
	int err =
		c->parseTranslationUnit2(c->index, file, (const char *const *)args->items,
			(int)args->n, text ? &unsaved : NULL, text ? 1 : 0, 0, &unit);

	*out = NULL;
	if (err || !unit)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"libclang cannot parse it (error %d)", err);
	*out = rck_xcalloc(1, sizeof(**out));
	**out = (struct rck_clang_unit){c, unit};
	return 0;
}

void rck_clang_unit_close(struct rck_clang_unit *u)
{
	if (!u)
		return;
	u->c->disposeTranslationUnit(u->unit);
	free(u);
}

/* file of place is to be freed by the caller. */
static char *place_of(
	struct rck_clang *c, struct cx_location location, struct rck_clang_place *place)
{
	void *file = NULL;
	char *name;

	c->getExpansionLocation(location, &file, &place->line, &place->column, NULL);
	name = file ? take_string(c, c->getFileName(file)) : rck_xstrdup("");
	place->file = name;
	return name;
}

/* An error's text and, where there is one, its first note: "candidate function not
 * viable: ...". */
static char *text_of(struct rck_clang *c, void *diagnostic)
{
	char *text = take_string(c, c->getDiagnosticSpelling(diagnostic));
	void *notes = c->getChildDiagnostics(diagnostic);
	char *both, *note;

	if (!notes || !c->getNumDiagnosticsInSet(notes))
		return text;
	note = take_string(c, c->getDiagnosticSpelling(c->getDiagnosticInSet(notes, 0)));
	both = rck_xasprintf("%s: %s", text, note);
	free(note);
	free(text);
	return both;
}

void rck_clang_errors(struct rck_clang_unit *u,
	void (*each)(void *ctx, const struct rck_clang_place *at, const char *text),
	void *ctx)
{
	struct rck_clang *c = u->c;

	for (unsigned i = 0; i < c->getNumDiagnostics(u->unit); i++) {
		void *d = c->getDiagnostic(u->unit, i);

		if (c->getDiagnosticSeverity(d) >= SEVERITY_ERROR) {
			struct rck_clang_place at;
			char *file = place_of(c, c->getDiagnosticLocation(d), &at);
			char *text = text_of(c, d);

			each(ctx, &at, text);
			free(text);
			free(file);
		}
		c->disposeDiagnostic(d);
	}
}

struct visit {
	struct rck_clang *c;
	bool calls;
	void (*each)(void *ctx, const struct rck_clang_place *at, const char *name,
		const char *types);
	void *ctx;
};

static void tell(struct visit *v, struct cx_cursor at, struct cx_cursor function)
{
	struct rck_clang *c = v->c;
	_cleanup_strbuf_ struct rck_strbuf types = RCK_STRBUF_INIT;
	struct cx_type type = c->getCursorType(function);
	struct rck_clang_place place;
	char *file, *name;
	int n = c->getNumArgTypes(type);

	for (int i = 0; i < n; i++) {
		char *t = take_string(
			c, c->getTypeSpelling(c->getArgType(type, (unsigned)i)));

		rck_strbuf_addf(&types, "%s%s", i ? "," : "", t);
		free(t);
	}
	name = take_string(c, c->getCursorSpelling(function));
	file = place_of(c, c->getCursorLocation(at), &place);
	v->each(v->ctx, &place, name, types.buf);
	free(file);
	free(name);
}

static int visitor(struct cx_cursor cursor, struct cx_cursor parent, void *ctx)
{
	struct visit *v = ctx;
	int kind = v->c->getCursorKind(cursor);

	(void)parent;
	if (!v->calls && kind == CURSOR_FUNCTION) {
		tell(v, cursor, cursor);
		return VISIT_CONTINUE;
	}
	if (v->calls && kind == CURSOR_CALL) {
		struct cx_cursor callee = v->c->getCursorReferenced(cursor);

		if (v->c->getCursorKind(callee) == CURSOR_FUNCTION)
			tell(v, cursor, callee);
	}
	return VISIT_RECURSE;
}

void rck_clang_functions(struct rck_clang_unit *u, bool calls,
	void (*each)(void *ctx, const struct rck_clang_place *at, const char *name,
		const char *types),
	void *ctx)
{
	struct visit v = {u->c, calls, each, ctx};

	u->c->visitChildren(u->c->getTranslationUnitCursor(u->unit), visitor, &v);
}
