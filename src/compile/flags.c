#include "compile/private.h"
#include "util/cleanup.h"
#include "util/strbuf.h"

#include <libgen.h>
#include <string.h>

static bool given(const struct rck_compile_job *job, const char *prefix)
{
	for (const char *const *o = job->options; o && *o; o++)
		if (!strncmp(*o, prefix, strlen(prefix)))
			return true;
	return false;
}

/* Headers and device libraries of this ROCm, for a clang that has no driver to find them.
 */
static void add_rocm(const struct rck_compiler *c, const struct rck_compile_job *job,
	struct rck_strv *flags)
{
	const char *headers = rck_rocm_path(c->rocm, RCK_ROCM_HEADERS);
	const char *libs = rck_rocm_path(c->rocm, RCK_ROCM_DEVICE_LIBS);
	_cleanup_free_ char *copy = headers ? rck_xstrdup(headers) : NULL;

	if (headers && !given(job, "--rocm-path="))
		rck_strv_addf(flags, "--rocm-path=%s", dirname(copy));
	if (libs && !given(job, "--rocm-device-lib-path="))
		rck_strv_addf(flags, "--rocm-device-lib-path=%s", libs);
}

/* What a user's HIP source needs in comgr, which brings neither clang's headers nor the
   runtime's. */
static void add_comgr_includes(const struct rck_compiler *c,
	const struct rck_compile_job *job, const char *source_path,
	struct rck_strv *flags)
{
	_cleanup_free_ char *copy = rck_xstrdup(source_path);

	rck_strv_addf(flags, "-I%s", dirname(copy));
	if (rck_rocm_is_foreign(c->rocm))
		rck_strv_addf(flags, "--sysroot=%s", rck_rocm_dir(c->rocm));
	add_rocm(c, job, flags);
	if (c->resource_dir) {
		rck_strv_add(flags, "-resource-dir");
		rck_strv_add(flags, c->resource_dir);
	}
}

void rck_compile_flags(const struct rck_compiler *c, const struct rck_compile_job *job,
	unsigned version, const char *source_path, struct rck_strv *flags)
{
	if (c->kind != RCK_COMPILER_COMGR) {
		rck_strv_add(flags, "-x");
		rck_strv_add(flags, "hip");
		/* without -c hipcc adds the libraries of a link */
		rck_strv_add(flags, "-c");
		rck_strv_addf(flags, "--offload-arch=%s", job->target);
		rck_strv_add(flags, "--cuda-device-only");
		rck_strv_add(flags, "--no-gpu-bundle-output");
		if (c->kind == RCK_COMPILER_CLANG && !rck_rocm_is_foreign(c->rocm))
			add_rocm(c, job, flags);
		if (c->lld_dir)
			rck_strv_addf(flags, "-B%s", c->lld_dir);
	} else if (!job->bundled) {
		add_comgr_includes(c, job, source_path, flags);
	}
	if (job->bundled) {
		rck_strv_add(flags, "-std=c++17");
		rck_strv_add(flags, "-ffp-contract=off");
		rck_strv_add(flags, "-nogpuinc");
	}
	if (job->level != RCK_LEVEL_DEFAULT)
		rck_strv_addf(flags, "-%s", rck_level_name(job->level));
	if (version)
		rck_strv_addf(flags, "-mcode-object-version=%u", version);
	rck_strv_add_all(flags, job->options);
}
