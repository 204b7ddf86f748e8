#include "container/container.h"
#include "launch/probe.h"
#include "util/cleanup.h"
#include "util/place.h"
#include "util/strbuf.h"

#include <errno.h>
#include <string.h>

int rck_probe_command(const struct rck_rocm *r, const char *front, struct rck_strv *argv,
	struct rck_strv *env, struct rck_diag *diag)
{
	const char *hip = rck_rocm_path(r, RCK_ROCM_HIP);
	const char *soname = hip ? strstr(hip, "libamdhip64.so.") : NULL;
	_cleanup_free_ char *in_build = NULL;
	_cleanup_free_ char *path = NULL;

	*diag = (struct rck_diag){.code = -ENOENT, .offset = RCK_OFFSET_NONE};
	if (!soname) {
		snprintf(diag->msg, sizeof(diag->msg),
			"no HIP runtime (libamdhip64) found");
		return -ENOENT;
	}
	soname += strlen("libamdhip64.so.");
	in_build = rck_xasprintf("launch/rocmcheck-probe-%s", soname);
	path = rck_place_find(in_build, in_build + strlen("launch/"));
	if (!path)
		return rck_fail(diag, -ENOENT, RCK_OFFSET_NONE,
			"no probe for libamdhip64.so.%s: this rocmcheck was built "
			"without "
			"HIP headers",
			soname);
	rck_rocm_command(r, front, argv, env);
	rck_strv_add(argv, path);
	return 0;
}
