#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "assemble.h"
#include "codeobj/private.h"
#include "disasm/disasm.h"

static const char source[] = "s_load_dwordx2 s[8:9], s[4:5], 0x10\n"
			     "v_add_f32_e64 v1, -v2, |v3| clamp\n"
			     "v_fma_f32 v0, v1, v2, v3\n"
			     "s_mov_b32 s1, 0x12345678\n"
			     "global_load_dword v0, v1, s[2:3] offset:16\n"
			     "s_endpgm\n";

static const char *const expected[][2] = {
	{"s_load_dwordx2 s[8:9], s[4:5], 0x10", "s_load_b64 s[8:9], s[4:5], 0x10"},
	{"v_add_f32_e64 v1, -v2, |v3| clamp", NULL},
	{"v_fma_f32 v0, v1, v2, v3", NULL},
	{"s_mov_b32 s1, 0x12345678", NULL},
	{"global_load_dword v0, v1, s[2:3] offset:16",
		"global_load_b32 v0, v1, s[2:3] offset:16"},
	{"s_endpgm", NULL},
};

static void check(
	const char *cpu, const struct rck_disasm_options *o, const char *backend)
{
	struct rck_diag diag = {0};
	struct rck_disasm *d = NULL;
	size_t size = 0, off = 0, i = 0, len;
	unsigned char *code = asm_bytes(cpu, "", source, &size);
	char text[256];

	if (!code) {
		print_message("no clang that assembles for %s\n", cpu);
		skip();
	}
	if (rck_disasm_open(cpu, o, &d, &diag)) {
		print_message("%s\n", diag.msg);
		free(code);
		skip();
	}
	if (backend)
		assert_memory_equal(rck_disasm_backend(d), backend, strlen(backend));
	for (; i < 6 && off < size; i++) {
		int n = rck_disasm_next(
			d, code + off, size - off, off, text, sizeof(text), &len);

		assert_in_range(n, 4, 20);
		assert_int_equal(strlen(text), len);
		if (strcmp(text, expected[i][0]))
			assert_string_equal(
				text, expected[i][1] ? expected[i][1] : expected[i][0]);
		off += (size_t)n;
	}
	assert_int_equal(i, 6);
	/* The tail of the code cut short: an error, and nothing read behind it. */
	assert_int_equal(
		rck_disasm_next(d, code, 3, 0, text, sizeof(text), NULL), -ENODATA);
	assert_int_equal(
		rck_disasm_next(d, code, 4, 0, text, sizeof(text), NULL), -EILSEQ);
	assert_int_equal(rck_disasm_next(d, code, size, 0, text, 8, NULL), -ENOBUFS);
	rck_disasm_close(d);
	free(code);
}

static void test_comgr(void **state)
{
	const struct rck_disasm_options o = {.llvm = ""};

	(void)state;
	check("gfx1030", &o, "comgr ");
}

static void test_llvm(void **state)
{
	const struct rck_disasm_options o = {.comgr = ""};

	(void)state;
	check("gfx1030", &o, "libLLVM ");
	check("gfx90a", &o, "libLLVM ");
}

/* bookworm's comgr does not know gfx11 and later: libLLVM must take over. */
static void test_fallback(void **state)
{
	(void)state;
	check("gfx1100", NULL, NULL);
	check("gfx1201", NULL, NULL);
	check("gfx942", NULL, NULL);
}

static void test_target_id(void **state)
{
	static const char *const good[] = {
		"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "gfx90a:xnack-", "gfx90a"};
	static const char *const bad[] = {"", "gfx", "foo", "gfx90a:", "gfx90a:xnack",
		"gfx90a:+", "gfx00000000000000000000000000000000000"};
	struct rck_diag diag = {0};
	struct rck_disasm *d = NULL;
	int ret;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(rck_disasm_open(bad[i], NULL, &d, &diag), -EINVAL);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ret = rck_disasm_open(good[i], NULL, &d, &diag);
		if (ret == -ENOENT)
			skip();
		assert_int_equal(ret, 0);
		rck_disasm_close(d);
	}
	rck_disasm_close(NULL);
}

/* Bytes that crash the libraries themselves must not reach them. */
static void test_crashing(void **state)
{
	static const struct {
		const char *target;
		uint32_t code[4];
	} bad[] = {
		{"gfx90a", {0x42304cf9, 0x42e7949b}},
		{"gfx90a", {0x20e5faf9, 0xb4943f4e}},
		{"gfx90a", {0xd3f4284f, 0x59633cff}},
		{"gfx942", {0xd1cc3c4f, 0x1295fe38}},
		{"gfx942", {0xd036d2ff, 0x4325fcec}},
		{"gfx1201", {0xbee552ff, 0xb2ec2d1e}},
		{"gfx1250", {0xcc3304f9, 0x19708a52}},
		{"gfx950", {0xd3ad0357, 0x0005edff}},
		{"gfx950", {0xd3ad036b, 0xdc8f62f4}},
		{"gfx803", {0xe8e62cea, 0xff59d4e9}},
		{"gfx90a", {0xe26041f8, 0xff4fa07e}},
		{"gfx942", {0xe9549087, 0xffc8b181}},
		{"gfx1030", {0x0bdff8f9, 0xd0f74017}},
	};
	struct rck_diag diag = {0};
	struct rck_disasm *d = NULL;
	uint64_t s = 88172645463325252ull;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (rck_disasm_open(bad[i].target, NULL, &d, &diag))
			continue;
		assert_int_equal(
			rck_disasm_next(d, bad[i].code, 16, 0, text, sizeof(text), NULL),
			-EILSEQ);
		/* and any other bytes: no crash */
		for (int r = 0; r < 20000; r++) {
			uint32_t code[4];

			for (int k = 0; k < 4; k++) {
				s ^= s << 13;
				s ^= s >> 7;
				s ^= s << 17;
				code[k] = (uint32_t)(s >> 16);
			}
			rck_disasm_next(d, code, 16, 0, text, sizeof(text), NULL);
		}
		rck_disasm_close(d);
	}
}

/* Whatever processor a file names, no library here complains of it or ends the process.
 */
static void test_processors(void **state)
{
	static const struct rck_disasm_options libs[] = {{.llvm = ""},
		{.comgr = "", .llvm = "libLLVM.so.22.1"},
		{.comgr = "", .llvm = "libLLVM-15.so.1"},
		{.comgr = "", .llvm = "libLLVM-14.so.1"}};
	static const char *const features[] = {"", ":xnack+", ":xnack-", ":sramecc+"};
	FILE *said = tmpfile();
	int err = dup(STDERR_FILENO);
	long opened = 0;

	(void)state;
	assert_non_null(said);
	assert_true(err >= 0 && dup2(fileno(said), STDERR_FILENO) >= 0);
	for (unsigned int n = 0; n < 0x100 * 4 * 4 * 2; n++) {
		const struct rck_target_info *t = rck_target_find(n & 0xff);
		struct rck_disasm_options o = libs[n >> 8 & 3];
		struct rck_diag diag = {0};
		struct rck_disasm *d;
		char id[64];

		o.wave64 = n >> 12;
		snprintf(id, sizeof(id), "%s%s", t ? t->name : "", features[n >> 10 & 3]);
		if (!t || rck_disasm_open(id, &o, &d, &diag))
			continue;
		opened++;
		rck_disasm_close(d);
	}
	dup2(err, STDERR_FILENO);
	close(err);
	assert_int_equal(lseek(fileno(said), 0, SEEK_END), 0);
	fclose(said);
	if (!opened)
		skip();
}

static void test_unknown(void **state)
{
	const struct rck_disasm_options none = {.comgr = "", .llvm = ""};
	struct rck_diag diag = {0};
	struct rck_disasm *d = NULL;
	int ret;

	(void)state;
	assert_int_equal(rck_disasm_open("gfx1030", &none, &d, &diag), -ENOENT);
	assert_non_null(strstr(diag.msg, "libLLVM"));
	ret = rck_disasm_open("gfx9999", NULL, &d, &diag);
	assert_true(ret == -ENOTSUP || ret == -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comgr),
		cmocka_unit_test(test_llvm),
		cmocka_unit_test(test_fallback),
		cmocka_unit_test(test_target_id),
		cmocka_unit_test(test_crashing),
		cmocka_unit_test(test_processors),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
