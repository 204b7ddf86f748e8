#include "teardown/preloads.h"
#include "container/container.h"
#include "util/cleanup.h"
#include "util/place.h"

#include <errno.h>
#include <limits.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rck_preloads_find(bool reorder, char **out, struct rck_diag *diag)
{
	_cleanup_free_ char *watch = rck_place_find(
		"teardown/rocmcheck-preload-watch.so", "rocmcheck-preload-watch.so");
	_cleanup_free_ char *order = rck_place_find(
		"teardown/rocmcheck-preload-order.so", "rocmcheck-preload-order.so");

	*out = NULL;
	if (!watch || (reorder && !order))
		return rck_fail(diag, -ENOENT, RCK_OFFSET_NONE,
			"the library to preload, rocmcheck-preload-%s.so, is not here",
			watch ? "order" : "watch");
	*out = reorder ? rck_xasprintf("%s:%s", order, watch) : rck_xstrdup(watch);
	return 0;
}

bool rck_preloads_parse(const char *line, struct rck_said *said)
{
	int text = 0, n;

	*said = (struct rck_said){0};
	n = sscanf(line, "%d %31s %n%ld %ld", &said->pid, said->event, &text, &said->a,
		&said->b);
	if (n < 2)
		return false;
	said->numbers = n - 2;
	said->path = line + text;
	return true;
}

void rck_preloads_keep_library(const char *path, char **hip, char **hsa)
{
	char **slot = strstr(path, "/libhsa-runtime64.so") ? hsa : hip;

	free(*slot);
	*slot = rck_xstrdup(path);
}

static void describe_library(struct rck_experiment *x, const char *path)
{
	char real[PATH_MAX], hash[SHA256_DIGEST_STRING_LENGTH];
	const char *version;

	if (!realpath(path, real))
		return;
	version = strstr(real, ".so.");
	rck_experiment_environment(
		x, "hip_version", "CLR version", version ? version + 4 : NULL);
	if (SHA256File(real, hash))
		rck_experiment_environment(x, "hip_sha256", "its SHA-256", hash);
}

void rck_preloads_describe_runtime(
	struct rck_experiment *x, const char *hip, const char *hsa)
{
	_cleanup_free_ char *soft = rck_place_find("softgpu", "softgpu");

	rck_experiment_environment(x, "hip", "HIP runtime", hip);
	if (hip)
		describe_library(x, hip);
	rck_experiment_environment(x, "hsa", "HSA runtime", hsa);
	if (!hsa)
		return;
	rck_experiment_environment(x, "device", "device",
		soft && !strncmp(hsa, soft, strlen(soft))
			? "soft (a stand-in HSA runtime; no GPU)"
			: "hip");
}
