#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "buildsys/hipblas.h"
#include "util/spawn.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Two headers of our own in the forms of hipBLAS 2.x and 3.x. */
#define TYPES                                                                            \
	"typedef int hipblasStatus_t; typedef void *hipblasHandle_t;\n"                  \
	"enum hipDataType { HIP_R_32F }; enum hipblasComputeType_t { "                   \
	"HIPBLAS_COMPUTE_32F };\n"
static const char two[] = TYPES
	"enum hipblasDatatype_t { HIPBLAS_R_32F };\n"
	"extern \"C\" hipblasStatus_t hipblasGemmEx(hipblasHandle_t, hipblasDatatype_t, "
	"hipblasDatatype_t);\n"
	"extern \"C\" hipblasStatus_t hipblasGemmEx_v2(hipblasHandle_t, hipDataType, "
	"hipblasComputeType_t);\n"
	"extern \"C\" hipblasStatus_t hipblasGemmEx_64(hipblasHandle_t, "
	"hipblasDatatype_t, "
	"hipblasDatatype_t);\n"
	"#ifdef HIPBLAS_V2\n#define hipblasGemmEx hipblasGemmEx_v2\n#endif\n";
static const char three[] =
	TYPES "extern \"C\" hipblasStatus_t hipblasGemmEx(hipblasHandle_t, hipDataType, "
	      "hipblasComputeType_t);\n";

static const char current_source[] =
	"#include <hipblas/hipblas.h>\n"
	"int f(hipblasHandle_t h) {\n"
	"  int s = hipblasGemmEx(h, HIP_R_32F, HIPBLAS_COMPUTE_32F);\n"
	"  return s + hipblasGemmEx(h, HIP_R_32F, HIPBLAS_COMPUTE_32F);\n"
	"}\n";
static const char legacy_source[] =
	"#include <hipblas/hipblas.h>\n"
	"int f(hipblasHandle_t h) {\n"
	"  return hipblasGemmEx(h, HIPBLAS_R_32F, HIPBLAS_R_32F);\n"
	"}\n";
static const char mixed_source[] =
	"#include <hipblas/hipblas.h>\n"
	"int f(hipblasHandle_t h) {\n"
	"  return hipblasGemmEx(h, HIPBLAS_R_32F, HIPBLAS_R_32F) +\n"
	"    hipblasGemmEx_v2(h, HIP_R_32F, HIPBLAS_COMPUTE_32F);\n"
	"}\n";

static char root[] = "/tmp/rck-hipblas-XXXXXX";
static struct rck_clang *clang;

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int set_up(void **state)
{
	static const char *const dirs[] = {"2", "2/hipblas", "3", "3/hipblas"};
	struct rck_diag diag;
	char full[256];

	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(full, sizeof(full), "%s/%s", root, dirs[i]);
		if (mkdir(full, 0755))
			return -1;
	}
	put("2/hipblas/hipblas.h", two);
	put("3/hipblas/hipblas.h", three);
	put("current.cpp", current_source);
	put("legacy.cpp", legacy_source);
	put("mixed.cpp", mixed_source);
	put("broken.cpp", "#include <no-such-header.h>\n");
	return rck_clang_open(NULL, &clang, &diag);
}

static int tear_down(void **state)
{
	const char *argv[] = {"rm", "-rf", root, NULL};
	struct rck_spawn s = {.argv = argv};

	rck_clang_close(clang);
	return rck_spawn_run(&s);
}

static void read_source(const char *version, const char *name, const char *define,
	struct rck_blas_header *h, struct rck_blas_use *use)
{
	_cleanup_strv_ struct rck_strv args = {NULL, 0};
	struct rck_diag diag;
	char full[256];

	rck_strv_addf(&args, "-I%s/%s", root, version);
	assert_int_equal(rck_blas_header_read(clang, &args, h, &diag), 0);
	if (define)
		rck_strv_add(&args, define);
	snprintf(full, sizeof(full), "%s/%s", root, name);
	assert_int_equal(rck_blas_source_read(clang, h, full, &args, use, &diag), 0);
}

static void headers(void **state)
{
	struct rck_blas_header h;
	struct rck_blas_use use;

	read_source("2", "legacy.cpp", NULL, &h, &use);
	assert_int_equal(h.n, 3);
	assert_int_equal(h.plain, 1);
	assert_int_equal(h.by_default, RCK_BLAS_LEGACY);
	assert_int_equal(h.with_v2, RCK_BLAS_CURRENT);
	assert_int_equal(use.verdict, RCK_BLAS_FITS);
	assert_int_equal(use.written_for, RCK_BLAS_LEGACY);
	rck_blas_use_release(&use);
	rck_blas_header_release(&h);
	read_source("3", "current.cpp", NULL, &h, &use);
	assert_int_equal(h.by_default, RCK_BLAS_CURRENT);
	assert_int_equal(h.with_v2, RCK_BLAS_CURRENT);
	assert_int_equal(use.verdict, RCK_BLAS_FITS);
	assert_int_equal(use.n, 2);
	rck_blas_use_release(&use);
	rck_blas_header_release(&h);
}

static void current_on_two(void **state)
{
	struct rck_blas_header h;
	struct rck_blas_use use;

	read_source("2", "current.cpp", NULL, &h, &use);
	assert_int_equal(use.verdict, RCK_BLAS_BREAKS);
	assert_int_equal(use.written_for, RCK_BLAS_CURRENT);
	assert_true(use.v2_helps);
	assert_int_equal(use.n, 2);
	assert_int_equal(use.sites[0].line, 3);
	assert_int_equal(use.sites[1].line, 4);
	assert_non_null(strstr(use.sites[0].error, "hipblasDatatype_t"));
	rck_blas_use_release(&use);
	rck_blas_header_release(&h);
	read_source("2", "current.cpp", "-DHIPBLAS_V2", &h, &use);
	assert_int_equal(use.verdict, RCK_BLAS_FITS);
	assert_int_equal(use.written_for, RCK_BLAS_CURRENT);
	assert_string_equal(use.sites[0].name, "hipblasGemmEx_v2");
	rck_blas_use_release(&use);
	rck_blas_header_release(&h);
}

static void legacy_on_three(void **state)
{
	struct rck_blas_header h;
	struct rck_blas_use use;

	read_source("3", "legacy.cpp", NULL, &h, &use);
	/* HIPBLAS_R_32F itself is gone there: the compiler complains about that name */
	assert_int_equal(use.verdict, RCK_BLAS_BREAKS);
	assert_int_equal(use.written_for, RCK_BLAS_LEGACY);
	assert_false(use.v2_helps);
	assert_string_equal(use.sites[0].name, "HIPBLAS_R_32F");
	assert_int_equal(use.sites[0].line, 3);
	rck_blas_use_release(&use);
	rck_blas_header_release(&h);
}

static void mixed(void **state)
{
	struct rck_blas_header h;
	struct rck_blas_use use;

	read_source("2", "mixed.cpp", NULL, &h, &use);
	assert_int_equal(use.verdict, RCK_BLAS_MIXES);
	assert_int_equal(use.n, 2);
	rck_blas_use_release(&use);
	rck_blas_header_release(&h);
}

static void unrelated_errors(void **state)
{
	struct rck_blas_header h;
	struct rck_blas_use use;

	read_source("2", "broken.cpp", NULL, &h, &use);
	assert_int_equal(use.verdict, RCK_BLAS_UNSETTLED);
	assert_non_null(strstr(use.other_error, "no-such-header.h"));
	rck_blas_use_release(&use);
	rck_blas_header_release(&h);
}

static void objects(void **state)
{
	_cleanup_strv_ struct rck_strv exports = {NULL, 0};
	struct rck_blas_use use;
	struct rck_diag diag;
	char command[512], full[256];
	const char *argv[] = {"sh", "-c", command, NULL};
	struct rck_spawn s = {.argv = argv};

	snprintf(command, sizeof(command),
		"cd %s && echo 'int hipblasGemmEx(void),hipblasGemmEx_v2(void);"
		"int f(void){return hipblasGemmEx()+hipblasGemmEx_v2();}' >o.c && "
		"echo 'int hipblasGemmEx(void){return 0;}int "
		"hipblasGemmEx_v2(void){return 0;}' "
		">l.c && ${CC:-cc} -c o.c && ${CC:-cc} -shared -nostdlib -fPIC -o l.so "
		"l.c && "
		"ar rc o.a o.o",
		root);
	assert_int_equal(rck_spawn_run(&s), 0);
	assert_int_equal(s.status, 0);
	snprintf(full, sizeof(full), "%s/l.so", root);
	assert_int_equal(rck_blas_exports_read(full, &exports, &diag), 0);
	assert_int_equal(exports.n, 2);
	for (int archive = 0; archive < 2; archive++) {
		snprintf(full, sizeof(full), "%s/o.%s", root, archive ? "a" : "o");
		assert_int_equal(rck_blas_object_read(full, &exports, &use, &diag), 0);
		assert_int_equal(use.verdict, RCK_BLAS_MIXES);
		rck_blas_use_release(&use);
	}
	/* a library of 3.x lacks the _v2 names */
	rck_strv_release(&exports);
	rck_strv_add(&exports, "hipblasGemmEx");
	assert_int_equal(rck_blas_object_read(full, &exports, &use, &diag), 0);
	assert_int_equal(use.verdict, RCK_BLAS_BREAKS);
	rck_blas_use_release(&use);
}

static void names(void **state)
{
	assert_true(rck_blas_is_entry("hipblasGemmEx"));
	assert_true(rck_blas_is_entry("hipblasGemmStridedBatchedEx_v2_64"));
	assert_true(rck_blas_is_entry("hipblasGemmExWithFlags"));
	assert_false(rck_blas_is_entry("hipblasSgemm"));
	assert_false(rck_blas_is_entry("cublasGemmEx"));
	assert_false(rck_blas_is_entry("hipblasExplode"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(headers),
		cmocka_unit_test(current_on_two),
		cmocka_unit_test(legacy_on_three),
		cmocka_unit_test(mixed),
		cmocka_unit_test(unrelated_errors),
		cmocka_unit_test(objects),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
