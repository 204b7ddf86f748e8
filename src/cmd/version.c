#include "cmd/commands.h"
#include "util/rocm.h"

#include <stdio.h>

#ifdef HAVE_LIBDW
#define WITH_LIBDW "+libdw"
#else
#define WITH_LIBDW "-libdw"
#endif
#ifdef HAVE_LIBYAML
#define WITH_LIBYAML "+libyaml"
#else
#define WITH_LIBYAML "-libyaml"
#endif
#ifdef HAVE_KDB
#define WITH_KDB "+kdb"
#else
#define WITH_KDB "-kdb"
#endif
#ifdef HAVE_LZMA
#define WITH_LZMA "+lzma"
#else
#define WITH_LZMA "-lzma"
#endif
#ifdef HAVE_COMGR_HEADERS
#define WITH_COMGR "+comgr"
#else
#define WITH_COMGR "-comgr"
#endif
#ifdef HAVE_HIP_HEADERS
#define WITH_HIP "+hip"
#else
#define WITH_HIP "-hip"
#endif

/* The machine's own ROCm, part by part. */
static void print_rocm(void)
{
	struct rck_diag diag;
	struct rck_rocm *r;

	if (rck_rocm_open(NULL, &r, &diag))
		return;
	for (int i = 0; i < RCK_ROCM_PARTS; i++) {
		const char *path = rck_rocm_path(r, i);
		const char *version = rck_rocm_version(r, i);

		printf("%s: %s%s%s%s\n", rck_rocm_part_name(i), path ? path : "not found",
			version ? " (" : "", version ? version : "", version ? ")" : "");
	}
	rck_rocm_close(r);
}

int rck_print_version(void)
{
	printf("rocmcheck %s\nfeatures: %s %s %s %s %s %s\n", RCK_VERSION, WITH_LIBDW,
		WITH_LIBYAML, WITH_KDB, WITH_LZMA, WITH_COMGR, WITH_HIP);
	print_rocm();
	return RCK_EXIT_CLEAN;
}
