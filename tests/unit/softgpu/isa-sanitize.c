/* Each planted defect is named by the sanitizer, and the clean kernel is not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softgpu/exec.h"
#include "softgpu/loader.h"

static uint32_t input[1024], output[512 + 1];

static int range(void *ctx, uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	const uint64_t *args = ctx;
	const struct {
		const void *p;
		size_t size;
	} blocks[] = {{input, sizeof(input)}, {output, 512 * 4}, {args, 16 * 8}};

	for (size_t i = 0; i < 3; i++) {
		*lo = (uint64_t)(uintptr_t)blocks[i].p;
		*hi = *lo + blocks[i].size;
		if (addr >= *lo && addr < *hi)
			return 0;
	}
	return -14;
}

static void run(const struct sg_image *image, struct sg_code *code, const char *name,
	const char *expected)
{
	const struct sg_symbol *sym = sg_image_symbol(image, name);
	uint64_t args[16] = {(uint64_t)(uintptr_t)input, (uint64_t)(uintptr_t)output};
	char path[] = "/tmp/rck-san-XXXXXX", text[4096] = "";
	int fd = mkstemp(path);
	struct sg_launch l = {
		.code = code, .kernel = name, .range = range, .range_ctx = args};
	struct sg_fault fault;
	FILE *f;

	assert_true(fd >= 0);
	close(fd);
	assert_non_null(sym);
	memset(output, 0, sizeof(output));
	for (int i = 0; i < 1024; i++)
		input[i] = 1;
	l.packet.workgroup_size[0] = 256;
	l.packet.workgroup_size[1] = l.packet.workgroup_size[2] = 1;
	l.packet.grid_size[0] = strncmp(name, "k_", 2) ? 256 : 512;
	l.packet.grid_size[1] = l.packet.grid_size[2] = 1;
	l.packet.group_segment_size = sym->descriptor.group_segment_size;
	l.packet.private_segment_size = sym->descriptor.private_segment_size;
	l.packet.kernel_object = sym->address;
	l.packet.kernarg_address = (uint64_t)(uintptr_t)args;
	setenv("RCK_SOFT_SANITIZE", path, 1);
	sg_exec_run(&l, &fault);
	unsetenv("RCK_SOFT_SANITIZE");
	f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	unlink(path);
	if (expected && !strncmp(expected, "fault", 5)) {
		if (fault.kind != SG_FAULT_MEMORY ||
			!strstr(fault.text, "no allocation there"))
			fail_msg("%s: %s", name, fault.text);
		return;
	}
	assert_int_equal(fault.kind, SG_FAULT_NONE);
	if (expected ? !strstr(text, expected) : text[0])
		fail_msg("%s: expected %s, got:\n%s", name,
			expected ? expected : "nothing", text);
	/* and nothing else */
	if (expected && strstr(strstr(text, expected) + 1, "sanitize: [") &&
		!strstr(strstr(text, expected) + 1, expected))
		fail_msg("%s: more than %s:\n%s", name, expected, text);
}

static bool load(const char *command, struct sg_image **image, struct sg_code **code)
{
	char dir[] = "/tmp/rck-isa-XXXXXX", cmd[1200], path[64];
	const char *src = getenv("RCK_SOURCE_DIR");
	struct rck_diag diag;
	struct sg_fault fault;
	char *elf;
	long size;
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(cmd, sizeof(cmd),
		"cd '%s/tests/unit/softgpu' && %s -o %s/k.co 2>/dev/null",
		src ? src : ".", command, dir);
	if (system(cmd)) {
		rmdir(dir);
		return false;
	}
	snprintf(path, sizeof(path), "%s/k.co", dir);
	f = fopen(path, "rb");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	elf = malloc((size_t)size);
	assert_int_equal(fread(elf, 1, (size_t)size, f), size);
	fclose(f);
	unlink(path);
	rmdir(dir);
	assert_int_equal(sg_image_load(elf, (size_t)size, NULL, image, &diag), 0);
	free(elf);
	assert_int_equal(sg_code_open("k", "gfx1030", (*image)->base, (*image)->size,
				 NULL, code, &fault),
		0);
	return true;
}

static void test_planted(void **state)
{
	struct sg_image *image;
	struct sg_code *code;

	(void)state;
	if (!load("/usr/lib/llvm-22/bin/clang -x hip --offload-device-only "
		  "--no-gpu-bundle-output "
		  "-nogpulib -nogpuinc --offload-arch=gfx1030 -O2 isa-planted.hip",
		    &image, &code))
		skip();
	run(image, code, "k_clean", NULL);
	run(image, code, "k_lds_race", "[lds-race]");
	run(image, code, "k_lds_uninit", "[uninitialized-lds]");
	run(image, code, "k_lds_overrun", "[lds-out-of-bounds]");
	run(image, code, "k_global_race", "[global-race]");
	run(image, code, "k_global_overrun", "fault");
	sg_code_close(code);
	sg_image_unload(image);
}

static void test_registers(void **state)
{
	struct sg_image *image;
	struct sg_code *code;

	(void)state;
	if (!load("/usr/lib/llvm-22/bin/clang -target amdgcn-amd-amdhsa -mcpu=gfx1030 "
		  "isa-planted.s",
		    &image, &code))
		skip();
	run(image, code, "nowait", "[missing-wait]");
	run(image, code, "unset", "[uninitialized-register]");
	sg_code_close(code);
	sg_image_unload(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
