/* flags --hipblas: which generation of hipBLAS's *Ex entry points sources and objects are
 * for. */
#include "cmd/flags.h"

#include "buildsys/hipblas.h"
#include "cmd/cmd.h"
#include "container/bytes.h"
#include "container/sniff.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/msg.h"
#include "util/rocm.h"

#include <stdio.h>
#include <string.h>

struct blas {
	struct rck_rocm *rocm;
	struct rck_clang *clang;
	struct rck_blas_header header;
	bool has_header;
	struct rck_strv args; /* for the compiler */
	struct rck_strv exports;
	const char *library;
	bool has_exports;
	struct rck_json json;
	struct rck_strbuf text; /* what --format asks for */
};

/* 1: an object, a library or an archive of them; 0: a source; -errno. */
static int is_object(const char *path, struct rck_diag *diag)
{
	struct rck_bytes *bytes;
	enum rck_magic magic;
	int err = rck_bytes_map(path, &bytes, diag);

	if (err)
		return err;
	magic = rck_sniff(rck_bytes_slice(bytes));
	rck_bytes_unref(bytes);
	return magic == RCK_MAGIC_AMDGPU || magic == RCK_MAGIC_ELF ||
	       magic == RCK_MAGIC_ARCHIVE || magic == RCK_MAGIC_THIN_ARCHIVE;
}

/* What it takes to compile C++ of the host against this ROCm. */
static void compiler_args(struct blas *b, const struct rck_opt_list *flags)
{
	const char *include = rck_rocm_path(b->rocm, RCK_ROCM_HIPBLAS_HEADERS);

	rck_strv_add(&b->args, "-xc++");
	rck_strv_add(&b->args, "-std=c++17");
	rck_strv_add(&b->args, "-D__HIP_PLATFORM_AMD__");
	if (rck_rocm_is_foreign(b->rocm))
		rck_strv_addf(&b->args, "--sysroot=%s", rck_rocm_dir(b->rocm));
	else if (include && strcmp(include, "/usr/include"))
		rck_strv_addf(&b->args, "-I%s", include);
	for (size_t i = 0; i < flags->n; i++)
		rck_strv_add(&b->args, flags->items[i]);
}

static void say_header(struct blas *b)
{
	const struct rck_blas_header *h = &b->header;
	const char *version = rck_rocm_version(b->rocm, RCK_ROCM_HIPBLAS_HEADERS);

	rck_strbuf_addf(&b->text,
		"header: hipBLAS %s, %zu *Ex entry points: %s by default, %s with "
		"HIPBLAS_V2\n",
		version ? version : "of unknown version", h->plain,
		rck_blas_generation_name(h->by_default),
		rck_blas_generation_name(h->with_v2));
	rck_json_key(&b->json, "header");
	rck_json_object(&b->json);
	rck_json_kstr(&b->json, "version", version);
	rck_json_kstr(&b->json, "default", rck_blas_generation_name(h->by_default));
	rck_json_kstr(&b->json, "with_HIPBLAS_V2", rck_blas_generation_name(h->with_v2));
	rck_json_key(&b->json, "entries");
	rck_json_array(&b->json);
	for (size_t i = 0; i < h->n; i++) {
		rck_json_object(&b->json);
		rck_json_kstr(&b->json, "name", h->entries[i].name);
		rck_json_kstr(&b->json, "generation",
			rck_blas_generation_name(h->entries[i].generation));
		rck_json_object_end(&b->json);
	}
	rck_json_array_end(&b->json);
	rck_json_object_end(&b->json);
}

static void say_library(struct blas *b)
{
	size_t v2 = 0;

	for (size_t i = 0; i < b->exports.n; i++)
		v2 += strstr(b->exports.items[i], "_v2") != NULL;
	rck_strbuf_addf(&b->text, "library: %s exports %zu *Ex names, %zu of them _v2\n",
		b->library, b->exports.n, v2);
	rck_json_key(&b->json, "library");
	rck_json_object(&b->json);
	rck_json_kstr(&b->json, "path", b->library);
	rck_json_key(&b->json, "exports");
	rck_json_array(&b->json);
	for (size_t i = 0; i < b->exports.n; i++)
		rck_json_str(&b->json, b->exports.items[i]);
	rck_json_array_end(&b->json);
	rck_json_object_end(&b->json);
}

static const char *remedy(
	const struct blas *b, const struct rck_blas_use *use, bool object)
{
	if (object)
		return use->verdict == RCK_BLAS_BREAKS
			       ? "Build it against the headers of the library that it "
				 "will run with."
			       : "Build all objects of a program with the same setting "
				 "of HIPBLAS_V2.";
	if (use->v2_helps)
		return "Define HIPBLAS_V2 before the include, guarded: #ifndef "
		       "HIPBLAS_V2, #define "
		       "HIPBLAS_V2, #endif.";
	if (use->verdict == RCK_BLAS_MIXES)
		return "Use one generation: define HIPBLAS_V2 and call the plain names "
		       "alone.";
	return b->header.by_default == RCK_BLAS_CURRENT
		       ? "Port it to hipDataType and hipblasComputeType_t: this header "
			 "has no legacy form."
		       : "Look at the compiler's errors below.";
}

static void say_sites(struct blas *b, const struct rck_blas_use *use)
{
	rck_json_key(&b->json, "sites");
	rck_json_array(&b->json);
	for (size_t i = 0; i < use->n; i++) {
		const struct rck_blas_site *s = &use->sites[i];

		rck_strbuf_adds(&b->text, "  ");
		if (s->line) {
			rck_strbuf_add_masked(&b->text, s->file, strlen(s->file));
			rck_strbuf_addf(&b->text, ":%u:%u: ", s->line, s->column);
		}
		rck_strbuf_add_masked(&b->text, s->name, strlen(s->name));
		if (s->error) {
			rck_strbuf_adds(&b->text, ": ");
			rck_strbuf_add_masked(&b->text, s->error, strlen(s->error));
		} else {
			rck_strbuf_addf(&b->text, ": %s",
				rck_blas_generation_name(s->generation));
		}
		rck_strbuf_addc(&b->text, '\n');
		rck_json_object(&b->json);
		rck_json_kstr(&b->json, "file", s->file);
		rck_json_ku64(&b->json, "line", s->line);
		rck_json_ku64(&b->json, "column", s->column);
		rck_json_kstr(&b->json, "name", s->name);
		rck_json_kstr(
			&b->json, "generation", rck_blas_generation_name(s->generation));
		rck_json_kstr(&b->json, "error", s->error);
		rck_json_object_end(&b->json);
	}
	rck_json_array_end(&b->json);
}

static int say_use(
	struct blas *b, const char *file, const struct rck_blas_use *use, bool object)
{
	bool bad = use->verdict == RCK_BLAS_BREAKS || use->verdict == RCK_BLAS_MIXES;

	rck_strbuf_add_masked(&b->text, file, strlen(file));
	rck_strbuf_addf(&b->text, ": %s", rck_blas_verdict_text(use->verdict, object));
	if (use->written_for)
		rck_strbuf_addf(&b->text, ": %s for the %s generation, %zu %s",
			object ? "built" : "written",
			rck_blas_generation_name(use->written_for), use->n,
			object        ? "imports"
			: use->n == 1 ? "call site"
				      : "call sites");
	rck_strbuf_addc(&b->text, '\n');
	rck_json_object(&b->json);
	rck_json_kstr(&b->json, "file", file);
	rck_json_kstr(&b->json, "kind", object ? "object" : "source");
	rck_json_kstr(&b->json, "verdict", rck_blas_verdict_text(use->verdict, object));
	rck_json_kstr(
		&b->json, "written_for", rck_blas_generation_name(use->written_for));
	rck_json_kstr(&b->json, "remedy", bad ? remedy(b, use, object) : NULL);
	say_sites(b, use);
	rck_json_object_end(&b->json);
	if (bad)
		rck_strbuf_addf(&b->text, "  -> %s\n", remedy(b, use, object));
	if (use->verdict != RCK_BLAS_UNSETTLED)
		return bad ? RCK_EXIT_FINDINGS : RCK_EXIT_CLEAN;
	if (use->other_error)
		rck_error("'%s' cannot be judged: %s", file, use->other_error);
	else
		rck_error("'%s' cannot be judged: no libhipblas to hold its imports to",
			file);
	return RCK_EXIT_TROUBLE;
}

static int check_file(struct blas *b, const char *file)
{
	struct rck_blas_use use;
	struct rck_diag diag;
	int object = is_object(file, &diag);
	int status;

	if (object < 0) {
		rck_error_diag(file, &diag);
		return RCK_EXIT_TROUBLE;
	}
	if (!object && !b->has_header) {
		rck_error("'%s': there is no hipblas/hipblas.h to compile it against",
			file);
		return RCK_EXIT_TROUBLE;
	}
	if (object ? rck_blas_object_read(
			     file, b->has_exports ? &b->exports : NULL, &use, &diag)
		   : rck_blas_source_read(
			     b->clang, &b->header, file, &b->args, &use, &diag)) {
		rck_error_diag(file, &diag);
		return RCK_EXIT_TROUBLE;
	}
	status = say_use(b, file, &use, object);
	rck_blas_use_release(&use);
	return status;
}

/* The header and the library that are there; what is missing matters only to files that
 * need it. */
static int open_blas(struct blas *b, const struct rck_flags_hipblas *h)
{
	struct rck_diag diag;

	if (rck_rocm_open(h->rocm_dir, &b->rocm, &diag)) {
		rck_error_diag(h->rocm_dir, &diag);
		return RCK_EXIT_TROUBLE;
	}
	compiler_args(b, &h->compiler_flags);
	if (rck_clang_open(h->libclang, &b->clang, &diag))
		rck_notice("sources cannot be read: %s", diag.msg);
	else if (rck_blas_header_read(b->clang, &b->args, &b->header, &diag))
		rck_notice("sources cannot be read: %s", diag.msg);
	else
		b->has_header = true;
	b->library = h->library ? h->library : rck_rocm_path(b->rocm, RCK_ROCM_HIPBLAS);
	if (b->library) {
		if (rck_blas_exports_read(b->library, &b->exports, &diag)) {
			rck_error_diag(b->library, &diag);
			return RCK_EXIT_TROUBLE;
		}
		b->has_exports = true;
	}
	return RCK_EXIT_CLEAN;
}

int rck_flags_hipblas(const struct rck_gate *gate, const struct rck_flags_hipblas *h,
	int n, char **files, bool json)
{
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct blas b = {.text = RCK_STRBUF_INIT};
	int status;

	rck_json_init(&b.json, &out, 2);
	status = open_blas(&b, h);
	rck_json_object(&b.json);
	rck_json_ku64(&b.json, "schema", 1);
	if (b.has_header)
		say_header(&b);
	if (b.has_exports)
		say_library(&b);
	rck_json_key(&b.json, "files");
	rck_json_array(&b.json);
	for (int i = 0; i < n && b.rocm; i++)
		status = rck_exit_worse(status, check_file(&b, files[i]));
	rck_json_array_end(&b.json);
	rck_json_object_end(&b.json);
	rck_strbuf_addc(&out, '\n');
	status = rck_exit_worse(status, rck_gate_write(gate, json ? &out : &b.text));
	rck_strbuf_release(&b.text);
	rck_strv_release(&b.args);
	rck_strv_release(&b.exports);
	rck_blas_header_release(&b.header);
	rck_clang_close(b.clang);
	rck_rocm_close(b.rocm);
	return status;
}
