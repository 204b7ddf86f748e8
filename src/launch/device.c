#include "container/container.h"
#include "launch/child.h"
#include "launch/launch.h"
#include "util/cleanup.h"
#include "util/place.h"
#include "util/strbuf.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *line, const char *key)
{
	const char *s = json_string_value(json_object_get(line, key));

	return s ? s : "";
}

/* Asks through one HIP runtime. front: NULL, or the stand-in's folder. Fills *count. */
static int query(const struct rck_rocm *r, const char *front, const char *soft_target,
	struct rck_device *out, long long *count, struct rck_diag *diag)
{
	struct rck_child c = {.rocm = r, .front = front, .soft_target = soft_target};
	const json_t *line = NULL;
	int err;

	rck_strv_add(&c.options, "--query");
	err = rck_child_run(&c, diag);
	for (size_t i = 0; i < json_array_size(c.lines); i++)
		if (!strcmp(text_of(json_array_get(c.lines, i), "event"), "device"))
			line = json_array_get(c.lines, i);
	if (!err && !line)
		err = rck_fail(
			diag, -EIO, RCK_OFFSET_NONE, "the launcher told of no device");
	if (!err) {
		int v = (int)json_integer_value(json_object_get(line, "hip_version"));

		*count = json_integer_value(json_object_get(line, "count"));
		*out = (struct rck_device){
			.kind = front ? RCK_DEVICE_SOFT : RCK_DEVICE_HIP,
			.front = front ? rck_xstrdup(front) : NULL,
			.soft_target = soft_target ? rck_xstrdup(soft_target) : NULL,
			.name = rck_xstrdup(text_of(line, "name")),
			.target = rck_xstrdup(text_of(line, "target")),
			.hip = rck_xstrdup(text_of(line, "hip")),
			.hip_version = v,
			.hip_version_text = rck_xasprintf(
				"%d.%d.%d", v / 10000000, v / 100000 % 100, v % 100000),
			.hsa = rck_xstrdup(text_of(line, "hsa")),
		};
	}
	rck_child_release(&c);
	return err;
}

/* A GPU: HIP's own device through the HSA runtime that belongs to it. */
static int find_gpu(
	const struct rck_rocm *r, struct rck_device *out, struct rck_diag *diag)
{
	long long count = 0;
	int err = query(r, NULL, NULL, out, &count, diag);

	if (err)
		return err;
	if (count > 0)
		return 0;
	rck_device_release(out);
	return rck_fail(
		diag, -ENODEV, RCK_OFFSET_NONE, "HIP finds no AMD GPU on this machine");
}

static int find_soft(const struct rck_rocm *r, const char *target, struct rck_device *out,
	struct rck_diag *diag)
{
	/* its features are the card's own */
	_cleanup_free_ char *processor =
		target ? rck_xstrndup(target, strcspn(target, ":")) : NULL;
	_cleanup_free_ char *found = rck_place_find("softgpu", "softgpu");
	_cleanup_free_ char *front = found ? realpath(found, NULL) : NULL;
	_cleanup_free_ char *library =
		front ? rck_xasprintf("%s/libhsa-runtime64.so.1", front) : NULL;
	long long count = 0;
	int err;

	if (!library || access(library, R_OK))
		return rck_fail(diag, -ENODEV, RCK_OFFSET_NONE,
			"this rocmcheck was built without the software device");
	err = query(r, front, processor, out, &count, diag);
	if (err)
		return err;
	if (count > 0 && *out->target)
		return 0;
	rck_device_release(out);
	return rck_fail(diag, -ENODEV, RCK_OFFSET_NONE,
		"there is no software device '%s'", processor ? processor : "(default)");
}

int rck_device_find(const struct rck_rocm *r, enum rck_device_kind kind,
	const char *soft_target, struct rck_device *out, struct rck_diag *diag)
{
	int err = -ENODEV;

	*out = (struct rck_device){0};
	if (!rck_rocm_path(r, RCK_ROCM_HIP))
		return rck_fail(diag, -ENODEV, RCK_OFFSET_NONE,
			"no HIP runtime (libamdhip64.so.7, .so.6 or .so.5) found");
	if (kind != RCK_DEVICE_SOFT)
		err = find_gpu(r, out, diag);
	if (kind == RCK_DEVICE_SOFT || (kind == RCK_DEVICE_AUTO && err == -ENODEV))
		err = find_soft(r, soft_target, out, diag);
	return err;
}

void rck_device_release(struct rck_device *d)
{
	free(d->front);
	free(d->soft_target);
	free(d->name);
	free(d->target);
	free(d->hip);
	free(d->hip_version_text);
	free(d->hsa);
	*d = (struct rck_device){0};
}

bool rck_device_runs(const struct rck_device *d, const char *target)
{
	const size_t n = strcspn(target, ":");
	_cleanup_strv_ struct rck_strv features = {NULL, 0};

	if (strcspn(d->target, ":") != n || strncmp(d->target, target, n))
		return false;
	rck_strv_split(&features, target + n, ":");
	for (size_t i = 0; i < features.n; i++) {
		const char *f = features.items[i];
		const char *own = strstr(d->target, f);

		/* "xnack-" asked for and not had; a device without the feature has none
		 */
		if (!own && strncmp(f + strlen(f) - 1, "-", 1))
			return false;
		if (!own) {
			_cleanup_free_ char *on =
				rck_xasprintf(":%.*s+", (int)strlen(f) - 1, f);

			if (strstr(d->target, on))
				return false;
		}
	}
	return true;
}
