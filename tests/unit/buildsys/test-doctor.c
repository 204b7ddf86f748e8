#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "buildsys/doctor.h"
#include "util/spawn.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/rck-doctor-XXXXXX";

/* Writes root/path, making its folders. */
static void put(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static const struct rck_doctor_line *find(const struct rck_doctor *d, const char *topic)
{
	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->lines[i].topic, topic))
			return &d->lines[i];
	return NULL;
}

static int make_root(void **state)
{
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	const char *argv[] = {"rm", "-rf", root, NULL};
	struct rck_spawn s = {.argv = argv};

	return rck_spawn_run(&s);
}

static void nothing_installed(void **state)
{
	struct rck_doctor d = {.root = root};

	rck_doctor_run(&d);
	assert_int_equal(find(&d, "ROCm")->health, RCK_HEALTH_ATTENTION);
	assert_string_equal(
		find(&d, "GPU")->text, "no AMD GPU: the amdgpu driver is not loaded");
	assert_null(find(&d, "teardown race"));
	rck_doctor_release(&d);
}

#define NODE "sys/class/kfd/kfd/topology/nodes/1/"

static void a_card_without_atomics(void **state)
{
	struct rck_doctor d = {.root = root};

	put("sys/module/amdgpu/version", "6.8.5\n");
	put("dev/kfd", "");
	put("dev/dri/renderD128", "");
	put("sys/class/kfd/kfd/topology/nodes/0/properties", "gfx_target_version 0\n");
	put(NODE "properties", "simd_count 192\ngfx_target_version 110000\n");
	put(NODE "io_links/0/properties", "type 2\nnode_from 1\nnode_to 0\nflags 13\n");
	rck_doctor_device(&d);
	assert_string_equal(find(&d, "GPU")->text, "gfx1100 (KFD node 1)");
	assert_int_equal(find(&d, "PCIe atomics")->health, RCK_HEALTH_PROBLEM);
	assert_int_equal(find(&d, "/dev/kfd")->health, RCK_HEALTH_OK);
	assert_int_equal(find(&d, "/dev/dri/renderD128")->health, RCK_HEALTH_OK);
	rck_doctor_release(&d);

	put(NODE "properties", "gfx_target_version 90010\n");
	put(NODE "io_links/0/properties", "node_from 1\nnode_to 0\nflags 1\n");
	d = (struct rck_doctor){.root = root};
	rck_doctor_device(&d);
	assert_string_equal(find(&d, "GPU")->text, "gfx90a (KFD node 1)");
	assert_int_equal(find(&d, "PCIe atomics")->health, RCK_HEALTH_OK);
	rck_doctor_release(&d);
}

static void race_by_version(void **state)
{
	static const struct {
		unsigned v[3];
		enum rck_health health;
	} rows[] = {
		{{5, 2, 21153}, RCK_HEALTH_OK},
		{{6, 1, 40093}, RCK_HEALTH_OK},
		{{6, 2, 41133}, RCK_HEALTH_ATTENTION},
		{{7, 0, 51831}, RCK_HEALTH_ATTENTION},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rck_doctor d = {.root = ""};

		memcpy(d.hip_version, rows[i].v, sizeof(d.hip_version));
		rck_doctor_teardown(&d);
		assert_int_equal(find(&d, "teardown race")->health, rows[i].health);
		rck_doctor_release(&d);
	}
}

static void library_that_does_not_load(void **state)
{
	struct rck_doctor d = {.root = root, .load = true};
	struct rck_diag diag;
	char dir[300];

	put("rocm/lib/libamdhip64.so.6", "not a library\n");
	snprintf(dir, sizeof(dir), "%s/rocm", root);
	assert_int_equal(rck_rocm_open(dir, &d.rocm, &diag), 0);
	rck_doctor_loading(&d);
	assert_int_equal(find(&d, "loading")->health, RCK_HEALTH_PROBLEM);
	assert_non_null(strstr(find(&d, "loading")->text, "does not load"));
	rck_doctor_release(&d);
	rck_rocm_close(d.rocm);
}

static void environment(void **state)
{
	struct rck_doctor d = {.root = root};
	bool seen = false;

	setenv("HSA_OVERRIDE_GFX_VERSION", "10.3.0", 1);
	rck_doctor_environment(&d);
	for (size_t i = 0; i < d.n; i++)
		seen |= strstr(d.lines[i].text, "one target pass for another") != NULL;
	assert_true(seen);
	unsetenv("HSA_OVERRIDE_GFX_VERSION");
	rck_doctor_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_installed),
		cmocka_unit_test(a_card_without_atomics),
		cmocka_unit_test(race_by_version),
		cmocka_unit_test(library_that_does_not_load),
		cmocka_unit_test(environment),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
