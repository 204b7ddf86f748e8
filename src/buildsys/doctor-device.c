/* The driver's side: what the kernel shows of AMD GPUs, and who may use them. */
#include "buildsys/doctor.h"

#include "util/cleanup.h"
#include "util/glob.h"
#include "util/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A key of a KFD topology file: "name value" lines (Linux, Documentation: kfd topology in
 * sysfs). */
static bool read_key(const char *path, const char *key, unsigned long long *value)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[256], name[64];
	unsigned long long v;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %llu", name, &v) == 2 && !strcmp(name, key)) {
			*value = v;
			return true;
		}
	return false;
}

/* io_links' flags: bit 2 no 32-bit atomics, bit 3 no 64-bit atomics (kfd_crat.h,
 * Linux 6.1). */
static bool lacks_atomics(const char *node)
{
	unsigned long long flags, to;
	bool lacks = false;
	glob_t g;

	if (rck_glob_below(node, "io_links/*/properties", &g))
		return false;
	for (size_t i = 0; i < g.gl_pathc; i++)
		if (read_key(g.gl_pathv[i], "flags", &flags) &&
			read_key(g.gl_pathv[i], "node_to", &to) && to == 0)
			lacks |= (flags & 0xc) != 0;
	globfree(&g);
	return lacks;
}

/* gfx_target_version 90402 is gfx942, 110000 gfx1100: major, two digits minor, two of
   stepping (the stepping in hexadecimal). */
static void say_gpu(struct rck_doctor *d, const char *node, unsigned long long version)
{
	unsigned major = (unsigned)(version / 10000),
		 minor = (unsigned)(version / 100 % 100),
		 step = (unsigned)(version % 100);
	const char *base = strrchr(node, '/') + 1;

	rck_doctor_say(d, RCK_HEALTH_OK, "GPU", NULL, "gfx%u%u%x (KFD node %s)", major,
		minor, step, base);
	if (lacks_atomics(node))
		rck_doctor_say(d, RCK_HEALTH_PROBLEM, "PCIe atomics",
			"Kernels that declare a hostcall buffer will not launch on it: "
			"use another "
			"slot, or device code without hostcall (rocmcheck lint).",
			"KFD node %s: the link from the CPU has no atomics", base);
	else
		rck_doctor_say(
			d, RCK_HEALTH_OK, "PCIe atomics", NULL, "KFD node %s: yes", base);
}

static unsigned say_gpus(struct rck_doctor *d)
{
	unsigned n = 0;
	glob_t g;

	if (rck_glob_below(d->root, "sys/class/kfd/kfd/topology/nodes/*", &g))
		return 0;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		_cleanup_free_ char *properties =
			rck_xasprintf("%s/properties", g.gl_pathv[i]);
		unsigned long long version = 0;

		if (read_key(properties, "gfx_target_version", &version) && version) {
			say_gpu(d, g.gl_pathv[i], version);
			n++;
		}
	}
	globfree(&g);
	return n;
}

static void say_permission(struct rck_doctor *d, const char *path)
{
	struct stat st;

	if (stat(path, &st)) {
		rck_doctor_say(d, RCK_HEALTH_PROBLEM, path + strlen(d->root),
			"Load the amdgpu driver; in a container pass the device in.",
			"not there");
	} else if (access(path, R_OK | W_OK)) {
		rck_doctor_say(d, RCK_HEALTH_PROBLEM, path + strlen(d->root),
			"Add the user to the file's group (render or video) and log in "
			"again.",
			"no permission to read and write (mode %04o, group %u)",
			(unsigned)st.st_mode & 07777, st.st_gid);
	} else {
		rck_doctor_say(d, RCK_HEALTH_OK, path + strlen(d->root), NULL,
			"readable and writable");
	}
}

static void say_render_nodes(struct rck_doctor *d)
{
	glob_t g;

	if (rck_glob_below(d->root, "dev/dri/renderD*", &g)) {
		rck_doctor_say(d, RCK_HEALTH_PROBLEM, "/dev/dri",
			"In a container pass the render nodes in.", "no render node");
		return;
	}
	for (size_t i = 0; i < g.gl_pathc; i++)
		say_permission(d, g.gl_pathv[i]);
	globfree(&g);
}

void rck_doctor_device(struct rck_doctor *d)
{
	_cleanup_free_ char *module = rck_xasprintf("%s/sys/module/amdgpu", d->root);
	_cleanup_free_ char *kfd = rck_xasprintf("%s/dev/kfd", d->root);
	bool driver = !access(module, F_OK);
	unsigned gpus = say_gpus(d);

	if (!gpus)
		rck_doctor_say(d, RCK_HEALTH_ATTENTION, "GPU",
			"Use --device soft for launches and experiments: no timings.",
			"no AMD GPU%s",
			driver ? " that computes, though the amdgpu driver is loaded"
			       : ": the amdgpu driver is not loaded");
	if (!gpus && !driver)
		return;
	say_permission(d, kfd);
	say_render_nodes(d);
}
