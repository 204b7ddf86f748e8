/*
 * Each planted defect is named with its kernel and source line, at every level and by
 * both compilers' debug information, and the clean kernel is not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softgpu/code.h"
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

/* What a run of the kernel said: findings into text, the fault. */
static void run(const struct sg_image *image, struct sg_code *code, const char *name,
	char text[8192], struct sg_fault *fault)
{
	const struct sg_symbol *sym = sg_image_symbol(image, name);
	uint64_t args[16] = {(uint64_t)(uintptr_t)input, (uint64_t)(uintptr_t)output};
	char path[] = "/tmp/rck-san-XXXXXX";
	int fd = mkstemp(path);
	struct sg_launch l = {
		.code = code, .kernel = name, .range = range, .range_ctx = args};
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
	sg_exec_run(&l, fault);
	unsetenv("RCK_SOFT_SANITIZE");
	f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, 8191, f)] = '\0';
	fclose(f);
	unlink(path);
}

/* Every line of text is a finding of this rule. */
static void expect_only(const char *name, const char *rule, const char *text)
{
	char head[64];

	snprintf(head, sizeof(head), "sanitize: [%s] kernel '", rule);
	if (!*text)
		fail_msg("%s: expected [%s], got nothing", name, rule);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		if (strncmp(line, head, strlen(head)) ||
			strncmp(line + strlen(head), name, strlen(name)))
			fail_msg("%s: expected [%s] alone, got:\n%s", name, rule, text);
}

/* Each line of the source that is marked by name is named by text. */
static void expect_lines(const char *name, const char *text)
{
	const char *src = getenv("RCK_SOURCE_DIR");
	char path[1100], line[256], want[64];
	unsigned int n = 0, marked = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/unit/softgpu/isa-planted.hip",
		src ? src : ".");
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *mark = strstr(line, "/* ");

		n++;
		if (!mark || strncmp(mark + 3, name, strlen(name)))
			continue;
		marked++;
		snprintf(want, sizeof(want), "isa-planted.hip:%u", n);
		if (!strstr(text, want))
			fail_msg("%s: no %s in '%s'", name, want, text);
	}
	fclose(f);
	assert_true(marked);
}

static bool load(const char *command, struct sg_image **image, struct sg_code **code)
{
	char dir[] = "/tmp/rck-isa-XXXXXX", cmd[1200], path[64];
	const char *src = getenv("RCK_SOURCE_DIR");
	struct sg_code_options options = {0};
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
	/* the image has what it needs */
	memset(elf, 0, (size_t)size);
	free(elf);
	options.elf = (*image)->elf;
	options.elf_size = (*image)->elf_size;
	options.bias = (*image)->bias;
	assert_int_equal(sg_code_open("k", "gfx1030", (*image)->base, (*image)->size,
				 &options, code, &fault),
		0);
	return true;
}

/* comgr reads the debug information. */
static bool lines_known(const struct sg_image *image, struct sg_code *code)
{
	const struct sg_symbol *s = image->kernels[0];
	uint64_t entry = s->address + (uint64_t)s->descriptor.entry_offset;
	bool known = false;
	char text[400];

	for (unsigned int i = 0; i < 64 && !known; i++)
		known = sg_code_line(code, entry + 4 * i, text, sizeof(text));
	return known;
}

static void planted(const char *compiler, const char *level, bool debug)
{
	static const struct {
		const char *kernel, *rule;
	} defects[] = {{"k_lds_race", "lds-race"}, {"k_lds_uninit", "uninitialized-lds"},
		{"k_lds_overrun", "lds-out-of-bounds"}, {"k_global_race", "global-race"}};
	struct sg_image *image;
	struct sg_code *code;
	struct sg_fault fault;
	char command[400], text[8192];

	snprintf(command, sizeof(command),
		"%s --no-gpu-bundle-output -x hip -nogpulib -nogpuinc "
		"--offload-arch=gfx1030 %s %s isa-planted.hip",
		compiler, level, debug ? "-g" : "");
	if (!load(command, &image, &code)) {
		print_message("'%s' cannot compile for gfx1030\n", compiler);
		skip();
	}
	assert_int_equal(!!image->elf, debug);
	if (debug && !lines_known(image, code)) {
		print_message("no comgr to read source lines by\n");
		sg_code_close(code);
		sg_image_unload(image);
		skip();
	}
	run(image, code, "k_clean", text, &fault);
	assert_int_equal(fault.kind, SG_FAULT_NONE);
	assert_string_equal(text, "");
	for (size_t i = 0; i < sizeof(defects) / sizeof(*defects); i++) {
		run(image, code, defects[i].kernel, text, &fault);
		assert_int_equal(fault.kind, SG_FAULT_NONE);
		expect_only(defects[i].kernel, defects[i].rule, text);
		if (debug)
			expect_lines(defects[i].kernel, text);
		else
			assert_null(strstr(text, ".hip"));
	}
	run(image, code, "k_global_overrun", text, &fault);
	assert_int_equal(fault.kind, SG_FAULT_MEMORY);
	if (!strstr(fault.text, "kernel 'k_global_overrun' stopped at +0x") ||
		!strstr(fault.text, "0 bytes past the end of a block of 2048"))
		fail_msg("%s", fault.text);
	if (debug)
		expect_lines("k_global_overrun", fault.text);
	sg_code_close(code);
	sg_image_unload(image);
}

#define CLANG15 "/usr/lib/llvm-15/bin/clang --cuda-device-only"
#define CLANG22 "/usr/lib/llvm-22/bin/clang --offload-device-only"

static void test_15_O0(void **state)
{
	(void)state;
	planted(CLANG15, "-O0", true);
}

static void test_15_O1(void **state)
{
	(void)state;
	planted(CLANG15, "-O1", true);
}

static void test_22_O0(void **state)
{
	(void)state;
	planted(CLANG22, "-O0", true);
}

static void test_22_O1(void **state)
{
	(void)state;
	planted(CLANG22, "-O1", true);
}

static void test_no_debug(void **state)
{
	(void)state;
	planted(CLANG22, "-O2", false);
}

static void test_assembled(void **state)
{
	struct sg_image *image;
	struct sg_code *code;
	struct sg_fault fault;
	char text[8192];

	(void)state;
	if (!load("/usr/lib/llvm-22/bin/clang -target amdgcn-amd-amdhsa -mcpu=gfx1030 "
		  "isa-planted.s",
		    &image, &code))
		skip();
	run(image, code, "nowait", text, &fault);
	expect_only("nowait", "missing-wait", text);
	run(image, code, "unset", text, &fault);
	expect_only("unset", "uninitialized-register", text);
	run(image, code, "calls", text, &fault);
	assert_int_equal(fault.kind, SG_FAULT_MEMORY);
	if (!strstr(fault.text, "kernel 'calls' stopped at -0xf8: global_store_dword"))
		fail_msg("%s", fault.text);
	sg_code_close(code);
	sg_image_unload(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_15_O0),
		cmocka_unit_test(test_15_O1),
		cmocka_unit_test(test_22_O0),
		cmocka_unit_test(test_22_O1),
		cmocka_unit_test(test_no_debug),
		cmocka_unit_test(test_assembled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
