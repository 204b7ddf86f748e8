/* Assembled functions, each with one way of calling, or of reaching the arguments. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../disasm/assemble.h"
#include "codeobj/flow.h"

#include <limits.h>

/* Everything stands in one section: f at 0, then g at AT_G. */
#define AT_G "s_nop 0\n.p2align 9\ng:\ns_setpc_b64 s[30:31]\n"

static const struct {
	const char *what, *source;
	const char *cpu;
	bool kernel;
	unsigned pointer;
	/* expected */
	size_t calls, indirect;
	int64_t delta; /* of s[8:9] at the first call; LLONG_MIN: not the pointer */
	int64_t used;  /* an offset that is read; LLONG_MIN: none is */
	bool escapes;
} cases[] = {
	{"a direct call",
		"s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 508\ns_addc_u32 s5, s5, 0\n"
		"s_swappc_b64 s[30:31], s[4:5]\ns_endpgm\n",
		"gfx90a", true, 6, 1, 0, LLONG_MIN, LLONG_MIN, false},
	{"a call through spilled scalars, put away on the stack and brought back",
		"s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 508\ns_addc_u32 s5, s5, 0\n"
		"v_writelane_b32 v40, s4, 3\nv_writelane_b32 v40, s5, 4\n"
		"buffer_store_dword v40, off, s[0:3], s33 offset:128\n"
		"v_writelane_b32 v40, s6, 3\n"
		"s_mov_b32 s4, 0\n"
		"s_cbranch_scc0 1f\n"
		"s_nop 0\n"
		"1: buffer_load_dword v41, off, s[0:3], s33 offset:128\n"
		"v_readlane_b32 s10, v41, 3\nv_readlane_b32 s11, v41, 4\n"
		"s_swappc_b64 s[30:31], s[10:11]\ns_endpgm\n",
		"gfx90a", true, 6, 1, 0, LLONG_MIN, LLONG_MIN, false},
	{"the same register used for something else meanwhile",
		"s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 508\ns_addc_u32 s5, s5, 0\n"
		"v_writelane_b32 v40, s4, 3\nv_writelane_b32 v40, s5, 4\n"
		"v_mov_b32 v40, 0\n"
		"v_readlane_b32 s10, v40, 3\nv_readlane_b32 s11, v40, 4\n"
		"s_swappc_b64 s[30:31], s[10:11]\ns_endpgm\n",
		"gfx90a", true, 6, 0, 1, LLONG_MIN, LLONG_MIN, false},
	{"a pointer from an argument",
		"s_load_dwordx2 s[4:5], s[6:7], 0x8\ns_waitcnt lgkmcnt(0)\n"
		"s_swappc_b64 s[30:31], s[4:5]\ns_endpgm\n",
		"gfx90a", true, 6, 0, 1, LLONG_MIN, 8, false},
	{"two ways that agree",
		"s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 508\ns_addc_u32 s5, s5, 0\n"
		"s_cbranch_scc0 1f\ns_mov_b64 s[10:11], s[4:5]\ns_branch 2f\n"
		"1: s_mov_b64 s[10:11], s[4:5]\n"
		"2: s_swappc_b64 s[30:31], s[10:11]\ns_endpgm\n",
		"gfx90a", true, 6, 1, 0, LLONG_MIN, LLONG_MIN, false},
	{"two ways that do not",
		"s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 508\ns_addc_u32 s5, s5, 0\n"
		"s_cbranch_scc0 1f\ns_mov_b64 s[10:11], s[4:5]\ns_branch 2f\n"
		"1: s_mov_b64 s[10:11], 0\n"
		"2: s_swappc_b64 s[30:31], s[10:11]\ns_endpgm\n",
		"gfx90a", true, 6, 0, 1, LLONG_MIN, LLONG_MIN, false},
	{"a tail call and a return",
		"s_cbranch_scc0 1f\ns_setpc_b64 s[30:31]\n"
		"1: s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 500\ns_addc_u32 s5, s5, 0\n"
		"s_setpc_b64 s[4:5]\n",
		"gfx90a", false, 8, 1, 0, 0, LLONG_MIN, false},
	{"the implicit arguments given on",
		"s_add_u32 s8, s6, 0x48\ns_addc_u32 s9, s7, 0\n"
		"s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 496\ns_addc_u32 s5, s5, 0\n"
		"s_swappc_b64 s[30:31], s[4:5]\ns_endpgm\n",
		"gfx90a", true, 6, 1, 0, 0x48, LLONG_MIN, false},
	{"the buffer's address, loaded for its own sake",
		"s_load_dwordx2 s[4:5], s[8:9], 0x50\ns_setpc_b64 s[30:31]\n", "gfx90a",
		false, 8, 0, 0, LLONG_MIN, 80, false},
	{"loaded with others and not used",
		"s_load_dwordx4 s[4:7], s[8:9], 0x48\ns_mov_b32 s4, 0\n"
		"s_setpc_b64 s[30:31]\n",
		"gfx90a", false, 8, 0, 0, LLONG_MIN, LLONG_MIN, false},
	{"loaded with others and used",
		"s_load_dwordx4 s[4:7], s[8:9], 0x48\ns_waitcnt lgkmcnt(0)\n"
		"s_mov_b32 s20, s6\nv_mov_b32 v0, s20\nv_add_u32 v1, v0, v0\n"
		"s_setpc_b64 s[30:31]\n",
		"gfx90a", false, 8, 0, 0, LLONG_MIN, 80, false},
	{"by a vector load",
		"v_mov_b32 v0, 0\nglobal_load_dwordx2 v[2:3], v0, s[8:9] offset:80\n"
		"s_setpc_b64 s[30:31]\n",
		"gfx90a", false, 8, 0, 0, LLONG_MIN, 80, false},
	{"by an address in vector registers",
		"v_mov_b32 v0, s8\nv_mov_b32 v1, s9\n"
		"v_add_co_u32 v0, vcc, 0x50, v0\nv_addc_co_u32 v1, vcc, 0, v1, vcc\n"
		"flat_load_dwordx2 v[2:3], v[0:1]\ns_setpc_b64 s[30:31]\n",
		"gfx90a", false, 8, 0, 0, LLONG_MIN, 80, false},
	{"the pointer stored away",
		"v_mov_b32 v2, s8\nv_mov_b32 v3, s9\nflat_store_dwordx2 v[0:1], v[2:3]\n"
		"s_setpc_b64 s[30:31]\n",
		"gfx90a", false, 8, 0, 0, LLONG_MIN, LLONG_MIN, true},
	{"an offset chosen by a comparison of constants",
		"s_movk_i32 s20, 0\ns_mov_b32 s16, 500\ns_mov_b32 s17, 0x1f4\n"
		"s_cmp_lt_i32 s16, s17\ns_mov_b32 s18, 80\ns_mov_b32 s19, 24\n"
		"s_cselect_b32 s20, s19, s18\n"
		"s_add_u32 s4, s8, s20\ns_addc_u32 s5, s9, 0\n"
		"s_load_dwordx2 s[4:5], s[4:5], 0x0\ns_setpc_b64 s[30:31]\n",
		"gfx90a", false, 8, 0, 0, LLONG_MIN, 80, false},
	{"the sign of a half, extended",
		"s_mov_b32 s20, 0x18000\ns_sext_i32_i16 s16, s20\ns_mov_b32 s17, 0\n"
		"s_cmp_lt_i32 s16, s17\ns_mov_b32 s18, 80\ns_mov_b32 s19, 24\n"
		"s_cselect_b32 s20, s18, s19\n"
		"s_add_u32 s4, s8, s20\ns_addc_u32 s5, s9, 0\n"
		"s_load_dwordx2 s[4:5], s[4:5], 0x0\ns_setpc_b64 s[30:31]\n",
		"gfx90a", false, 8, 0, 0, LLONG_MIN, 80, false},
	{"vector registers that a callee sees, and may change",
		"v_mov_b32 v20, s8\nv_mov_b32 v21, s9\n"
		"s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 500\ns_addc_u32 s5, s5, 0\n"
		"s_swappc_b64 s[30:31], s[4:5]\n"
		"flat_load_dwordx2 v[2:3], v[20:21]\ns_endpgm\n",
		"gfx90a", false, 8, 1, 0, 0, LLONG_MIN, true},
	{"and those that it keeps",
		"v_mov_b32 v40, s8\nv_mov_b32 v41, s9\n"
		"s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 500\ns_addc_u32 s5, s5, 0\n"
		"s_swappc_b64 s[30:31], s[4:5]\n"
		"flat_load_dwordx2 v[2:3], v[40:41]\ns_endpgm\n",
		"gfx90a", false, 8, 1, 0, 0, 0, false},
	{"the spellings of gfx11",
		"s_load_b64 s[4:5], s[8:9], 0x50\nscratch_store_b32 off, v40, s33\n"
		"s_setpc_b64 s[30:31]\n",
		"gfx1100", false, 8, 0, 0, LLONG_MIN, 80, false},
	{"the spellings of gfx12",
		"s_getpc_b64 s[4:5]\ns_sext_i32_i16 s5, s5\ns_add_co_u32 s4, s4, 508\n"
		"s_add_co_ci_u32 s5, s5, 0\ns_swappc_b64 s[30:31], s[4:5]\ns_endpgm\n",
		"gfx1200", true, 6, 1, 0, LLONG_MIN, LLONG_MIN, false},
};

static bool no_load(void *user, uint64_t address, size_t n, uint32_t *out)
{
	return false;
}

static bool is_g(void *user, uint64_t address)
{
	return address == 0x1000 + 512;
}

static bool has(const struct rck_flow *f, int64_t offset)
{
	for (size_t i = 0; i < f->n_used; i++)
		if (f->used[i] == offset)
			return true;
	return false;
}

static void check(size_t i, const unsigned char *code, size_t size, struct rck_disasm *d)
{
	struct rck_flow_input in = {
		.code = code,
		.size = size < 512 ? size : 512,
		.address = 0x1000,
		.kernel = cases[i].kernel,
		.pointer = cases[i].pointer,
		.disasm = d,
		.load = no_load,
		.is_function = is_g,
	};
	struct rck_flow f;

	rck_flow_run(&in, &f);
	if (f.gave_up)
		fail_msg("%s: gave up: %s", cases[i].what, f.gave_up);
	if (f.n_calls != cases[i].calls || f.indirect != cases[i].indirect ||
		f.escapes != cases[i].escapes)
		fail_msg("%s: %zu calls, %zu indirect, escapes %d", cases[i].what,
			f.n_calls, f.indirect, f.escapes);
	if (f.n_calls && f.calls[0].target != 512)
		fail_msg("%s: calls %#llx", cases[i].what,
			(unsigned long long)f.calls[0].target);
	if (f.n_calls &&
		(f.calls[0].pointer != (cases[i].delta != LLONG_MIN) ||
			(f.calls[0].pointer && f.calls[0].delta != cases[i].delta)))
		fail_msg("%s: the pointer that is given on", cases[i].what);
	if (cases[i].used == LLONG_MIN ? f.n_used > 0 : !has(&f, cases[i].used))
		fail_msg("%s: %zu offsets used, the first %lld", cases[i].what, f.n_used,
			f.n_used ? (long long)f.used[0] : 0ll);
	rck_flow_free(&f);
}

static void test_cases(void **state)
{
	size_t done = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rck_disasm *d;
		struct rck_diag diag;
		char source[2048];
		size_t size = 0;
		unsigned char *code;

		snprintf(source, sizeof(source), "f:\n%s" AT_G, cases[i].source);
		code = asm_bytes(cases[i].cpu, "", source, &size);
		if (!code || rck_disasm_open(cases[i].cpu, NULL, &d, &diag)) {
			print_message("skipped: %s: %s\n", cases[i].what,
				code ? diag.msg : "no assembler for it");
			free(code);
			continue;
		}
		check(i, code, size, d);
		rck_disasm_close(d);
		free(code);
		done++;
	}
	if (!done)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
