/* What parts of a ROCm are there, of which versions, and whether they go together. */
#include "buildsys/doctor.h"

#include "util/place.h"
#include "util/spawn.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	enum rck_rocm_part part;
	enum rck_health missing;
	const char *advice; /* when it is missing */
} parts[] = {
	{RCK_ROCM_HIP, RCK_HEALTH_ATTENTION,
		"Install libamdhip64 (Debian: libamdhip64-5) to launch kernels; inspect, "
		"lint and "
		"flags do not need it."},
	{RCK_ROCM_HSA, RCK_HEALTH_ATTENTION,
		"Install libhsa-runtime64-1; the software device brings its own."},
	{RCK_ROCM_COMGR, RCK_HEALTH_ATTENTION,
		"Install libamd-comgr2 (or 3) to compile in process and to disassemble."},
	{RCK_ROCM_HIPCC, RCK_HEALTH_OK, NULL},
	{RCK_ROCM_CLANG, RCK_HEALTH_OK, NULL},
	{RCK_ROCM_DEVICE_LIBS, RCK_HEALTH_OK, NULL},
	{RCK_ROCM_HEADERS, RCK_HEALTH_OK, NULL},
	{RCK_ROCM_HIPBLAS, RCK_HEALTH_OK, NULL},
	{RCK_ROCM_HIPBLAS_HEADERS, RCK_HEALTH_OK, NULL},
	{RCK_ROCM_HIPBLASLT, RCK_HEALTH_OK, NULL},
};

static void say_part(struct rck_doctor *d, size_t i)
{
	enum rck_rocm_part part = parts[i].part;
	const char *path = d->rocm ? rck_rocm_path(d->rocm, part) : NULL;
	const char *version = path ? rck_rocm_version(d->rocm, part) : NULL;
	const char *broken = d->rocm ? rck_rocm_broken(d->rocm, part) : NULL;

	if (!path && broken)
		rck_doctor_say(d, RCK_HEALTH_ATTENTION, rck_rocm_part_name(part),
			"Reinstall what it belongs to, or repair the link or the "
			"permissions.",
			"not usable: %s is a link that leads nowhere, or may not be read",
			broken);
	else if (path)
		rck_doctor_say(d, version ? RCK_HEALTH_OK : RCK_HEALTH_UNKNOWN,
			rck_rocm_part_name(part), NULL, "%s, %s",
			version ? version : "version not known", path);
	else
		rck_doctor_say(d, parts[i].missing, rck_rocm_part_name(part),
			parts[i].advice, "not installed");
}

static bool parse_version(const char *s, unsigned v[3])
{
	v[0] = v[1] = v[2] = 0;
	if (s && sscanf(s, "%u.%u.%u", &v[0], &v[1], &v[2]) >= 2)
		return true;
	v[0] = 0; /* "6" may be 6.0 or 6.4 */
	return false;
}

/* Parts that one release ships together but that differ in major or minor version. */
static void say_mixed(struct rck_doctor *d)
{
	static const enum rck_rocm_part same[] = {
		RCK_ROCM_HIP, RCK_ROCM_HIPCC, RCK_ROCM_HEADERS};
	unsigned first[3] = {0}, v[3];
	enum rck_rocm_part first_part = RCK_ROCM_HIP;

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		if (!rck_rocm_path(d->rocm, same[i]) ||
			!parse_version(rck_rocm_version(d->rocm, same[i]), v))
			continue;
		/* "5.2.21153" is 5.2: the third number is a build's */
		if (!first[0]) {
			memcpy(first, v, sizeof(first));
			first_part = same[i];
		} else if (v[0] != first[0] || v[1] != first[1]) {
			rck_doctor_say(d, RCK_HEALTH_ATTENTION, "mixed versions",
				"Use one release for compiler, headers and runtime, or "
				"know why "
				"not: --rocm DIR selects one.",
				"%s is %u.%u and %s is %u.%u",
				rck_rocm_part_name(first_part), first[0], first[1],
				rck_rocm_part_name(same[i]), v[0], v[1]);
		}
	}
}

void rck_doctor_parts(struct rck_doctor *d)
{
	if (!d->rocm) {
		rck_doctor_say(d, RCK_HEALTH_ATTENTION, "ROCm",
			"Install hipcc and libamdhip64-dev, or name another tree: --rocm "
			"DIR.",
			"nothing of it was found");
		return;
	}
	if (rck_rocm_dir(d->rocm))
		rck_doctor_say(d, RCK_HEALTH_OK, "ROCm root", NULL, "%s%s%s",
			rck_rocm_dir(d->rocm),
			rck_rocm_is_foreign(d->rocm) ? ", with a C library of its own: "
						     : "",
			rck_rocm_is_foreign(d->rocm) && rck_rocm_libc_version(d->rocm)
				? rck_rocm_libc_version(d->rocm)
				: "");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		say_part(d, i);
	say_mixed(d);
}

/* The value of a line "KEY value" in the helper's answer; NULL when it is not there. */
static char *answer(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!strncmp(p, key, n) && p[n] == ' ')
			return rck_xstrndup(p + n + 1, strcspn(p + n + 1, "\n"));
		if (!*p)
			break;
	}
	return NULL;
}

/* The runtime's libraries come from several folders: one process mixes releases. */
static void say_maps(struct rck_doctor *d, const char *text)
{
	static const char *const names[] = {
		"libamdhip64", "libhsa-runtime64", "libamd_comgr"};
	_cleanup_strbuf_ struct rck_strbuf list = RCK_STRBUF_INIT;
	char first[512] = "";
	bool mixed = false;

	for (const char *p = strstr(text, "map /"); p; p = strstr(p + 1, "map /")) {
		const char *path = p + 4;
		int n = (int)strcspn(path, "\n");
		const char *slash = memrchr(path, '/', (size_t)n);

		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			int folder = (int)(slash - path);

			if (strncmp(slash + 1, names[i], strlen(names[i])))
				continue;
			rck_strbuf_addf(&list, "%s%.*s", list.len ? ", " : "", n, path);
			if (!*first)
				snprintf(first, sizeof(first), "%.*s", folder, path);
			else
				mixed |= (int)strlen(first) != folder ||
					 strncmp(first, path, (size_t)folder);
		}
	}
	if (mixed)
		rck_doctor_say(d, RCK_HEALTH_ATTENTION, "mixed folders",
			"Look at LD_LIBRARY_PATH and the runtime's RUNPATH: one process "
			"should take "
			"all three from one release.",
			"one process gets %s", list.buf);
}

static void read_answers(struct rck_doctor *d, const char *text)
{
	char *error = answer(text, "error");
	char *runtime = answer(text, "runtime");
	char *devices = answer(text, "devices");
	char *failed = answer(text, "devices-error");
	char *name = answer(text, "device");

	if (error)
		rck_doctor_say(d, RCK_HEALTH_PROBLEM, "loading",
			"Install what is missing, or point LD_LIBRARY_PATH or --rocm at "
			"one complete "
			"release.",
			"the HIP runtime does not load: %s", error);
	if (runtime) {
		unsigned v = (unsigned)strtoul(runtime, NULL, 10);

		d->hip_version[0] = v / 10000000;
		d->hip_version[1] = v / 100000 % 100;
		d->hip_version[2] = v % 100000;
		rck_doctor_say(d, RCK_HEALTH_OK, "loading", NULL,
			"the HIP runtime loads and says %u.%u.%u", d->hip_version[0],
			d->hip_version[1], d->hip_version[2]);
	}
	say_maps(d, text);
	if (devices && atoi(devices) > 0) {
		rck_doctor_say(d, RCK_HEALTH_OK, "HIP devices", NULL,
			"%s, the first is %s", devices,
			name && *name ? name : "nameless");
	} else if (devices || failed) {
		rck_doctor_say(d, RCK_HEALTH_ATTENTION, "HIP devices",
			"Use --device soft: the same runtime over a software device, no "
			"timings.",
			"none: HIP answers %s", failed ? failed : "0 devices");
	}
	free(error);
	free(runtime);
	free(devices);
	free(failed);
	free(name);
}

void rck_doctor_loading(struct rck_doctor *d)
{
	const char *hip = d->rocm ? rck_rocm_path(d->rocm, RCK_ROCM_HIP) : NULL;
	char *helper;
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	_cleanup_strv_ struct rck_strv argv = {NULL, 0}, env = {NULL, 0};
	struct rck_spawn s = {.out = &out, .timeout = 30};
	_cleanup_strbuf_ struct rck_strbuf err = RCK_STRBUF_INIT;

	if (!hip)
		return;
	parse_version(rck_rocm_version(d->rocm, RCK_ROCM_HIP), d->hip_version);
	/* libamdhip64.so.5.2.21153: the file's name has the release's numbers */
	if (!d->load)
		return;
	helper = rck_place_find("buildsys/rocmcheck-loads", "rocmcheck-loads");
	if (!helper) {
		rck_doctor_say(d, RCK_HEALTH_UNKNOWN, "loading", "Reinstall rocmcheck.",
			"the helper rocmcheck-loads is missing");
		return;
	}
	rck_rocm_command(d->rocm, NULL, &argv, &env);
	rck_strv_add(&argv, helper);
	rck_strv_add(&argv, hip);
	free(helper);
	s.argv = rck_strv_list(&argv);
	s.env = rck_strv_list(&env);
	s.err = &err;
	if (rck_spawn_run(&s))
		rck_doctor_say(d, RCK_HEALTH_UNKNOWN, "loading", NULL,
			"the helper rocmcheck-loads could not be started");
	else if (s.timed_out)
		rck_doctor_say(d, RCK_HEALTH_PROBLEM, "loading",
			"Look at dmesg, and at the environment below.",
			"the HIP runtime did not answer within 30 s");
	else if (s.signal)
		rck_doctor_say(d, RCK_HEALTH_PROBLEM, "loading", NULL,
			"the HIP runtime crashed while it looked for devices (signal %d)",
			s.signal);
	read_answers(d, out.buf);
}
