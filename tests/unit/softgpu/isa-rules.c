/*
 * The sanitizer's rules, one a row: instructions as text, run one by one, and the finding
 * that must come of them, or none. A row that must be quiet is a trap that real code
 * sets: an idiom of a compiler's that looks like a defect.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa-machine.h"
#include "softgpu/sanitize.h"

#define LINES 8

/*
 * "1:" in front runs it in wave 1 of two; "barrier" is one that both waves went through.
 * s0..s15 and v0 hold something at the start: s[0:1] memory, v0 0. finding: the rule and,
 * after a blank, what the line must say besides; NULL: nothing may be found.
 */
struct rule {
	const char *what, *target;
	uint32_t lanes;
	const char *lines[LINES], *finding;
};

#define WAIT "s_waitcnt vmcnt(0) lgkmcnt(0)"

/* clang-format off */
static const struct rule rules[] = {
	/* waits */
	{"a load and its wait", "gfx1030", 32,
		{"global_load_dword v1, v0, s[0:1]", "s_waitcnt vmcnt(0)", "v_add_nc_u32 v2, v1, v1"}, NULL},
	{"a load without", "gfx1030", 32,
		{"global_load_dword v1, v0, s[0:1]", "v_add_nc_u32 v2, v1, v1"}, "missing-wait v1 is used"},
	{"a result on a load's", "gfx1030", 32,
		{"global_load_dword v1, v0, s[0:1]", "v_mov_b32_e32 v1, 0"}, "missing-wait v1 is overwritten"},
	{"the first of two", "gfx1030", 32,
		{"global_load_dword v1, v0, s[0:1]", "global_load_dword v2, v0, s[0:1]", "s_waitcnt vmcnt(1)",
			"v_mov_b32_e32 v3, v1"}, NULL},
	{"the second of two", "gfx1030", 32,
		{"global_load_dword v1, v0, s[0:1]", "global_load_dword v2, v0, s[0:1]", "s_waitcnt vmcnt(1)",
			"v_mov_b32_e32 v3, v2"}, "missing-wait v2"},
	{"gfx9 counts stores with loads", "gfx90a", 64,
		{"global_load_dword v1, v0, s[0:1]", "global_store_dword v0, v0, s[0:1]", "s_waitcnt vmcnt(1)",
			"v_mov_b32_e32 v3, v1"}, NULL},
	{"gfx10 does not", "gfx1030", 32,
		{"global_load_dword v1, v0, s[0:1]", "global_store_dword v0, v0, s[0:1]", "s_waitcnt vmcnt(1)",
			"v_mov_b32_e32 v3, v1"}, "missing-wait v1"},
	{"the crossbar counts with LDS", "gfx1030", 32,
		{"ds_read_b32 v1, v0", "ds_bpermute_b32 v2, v0, v0", "s_waitcnt lgkmcnt(1)", "v_mov_b32_e32 v3, v1"}, NULL},
	{"LDS by the other counter", "gfx1030", 32,
		{"ds_read_b32 v1, v0", "s_waitcnt vmcnt(0)", "v_mov_b32_e32 v3, v1"}, "missing-wait v1"},
	{"a flat load by either counter", "gfx1030", 32,
		{"v_mov_b32_e32 v2, s0", "v_mov_b32_e32 v3, s1", "flat_load_dword v1, v[2:3]", "s_waitcnt lgkmcnt(0)",
			"v_mov_b32_e32 v4, v1"}, NULL},
	{"a store's counter is no load's", "gfx1030", 32,
		{"global_load_dword v1, v0, s[0:1]", "s_waitcnt_vscnt null, 0x0", "v_mov_b32_e32 v3, v1"}, "missing-wait v1"},
	{"a scalar load", "gfx1030", 32,
		{"s_load_dword s20, s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "s_add_u32 s21, s20, s20"}, NULL},
	{"a scalar load without a wait", "gfx1030", 32,
		{"s_load_dword s20, s[0:1], 0x0", "s_add_u32 s21, s20, s20"}, "missing-wait s20"},
	{"scalar loads have no order", "gfx1030", 32,
		{"s_load_dword s20, s[0:1], 0x0", "s_load_dword s21, s[0:1], 0x0", "s_waitcnt lgkmcnt(1)",
			"s_mov_b32 s22, s20"}, "missing-wait s20"},
	{"halves of one register, in order", "gfx1030", 32,
		{"global_load_short_d16 v1, v0, s[0:1]", "global_load_short_d16_hi v1, v0, s[0:1]", "s_waitcnt vmcnt(0)",
			"global_store_dword v0, v1, s[0:1]"}, NULL},
	{"gfx11: no load's wait", "gfx1100", 32,
		{"global_load_b32 v1, v0, s[0:1]", "s_waitcnt_depctr 0xfff", "v_mov_b32_e32 v2, v1"}, "missing-wait v1"},
	{"gfx11: counts apart", "gfx1100", 32,
		{"ds_load_b32 v1, v0", "global_load_b32 v2, v0, s[0:1]", "s_waitcnt vmcnt(0)", "v_mov_b32_e32 v3, v2"}, NULL},
	{"gfx12: loads", "gfx1201", 32,
		{"global_load_b32 v1, v0, s[0:1]", "s_wait_loadcnt 0x0", "v_mov_b32_e32 v2, v1"}, NULL},
	{"gfx12: both counts in one, the load", "gfx1201", 32,
		{"global_load_b32 v1, v0, s[0:1]", "ds_load_b32 v2, v0", "s_wait_loadcnt_dscnt 0x1", "v_mov_b32_e32 v3, v1"}, NULL},
	{"gfx12: both counts in one, the other", "gfx1201", 32,
		{"global_load_b32 v1, v0, s[0:1]", "ds_load_b32 v2, v0", "s_wait_loadcnt_dscnt 0x1", "v_mov_b32_e32 v3, v2"},
		"missing-wait v2"},
	{"gfx12: scalar", "gfx1201", 32,
		{"s_load_b32 s20, s[0:1], 0x0", "s_wait_kmcnt 0x0", "s_mov_b32 s21, s20"}, NULL},
	{"gfx12: LDS' count is not the scalar one", "gfx1201", 32,
		{"s_load_b32 s20, s[0:1], 0x0", "s_wait_dscnt 0x0", "s_mov_b32 s21, s20"}, "missing-wait s20"},
	/* vector registers */
	{"stored", "gfx1030", 32,
		{"v_add_nc_u32 v1, v9, v0", "global_store_dword v0, v1, s[0:1]"}, "uninitialized-register nothing wrote v9"},
	{"an address", "gfx1030", 32,
		{"global_load_dword v1, v9, s[0:1]"}, "uninitialized-register v9, which is an address"},
	{"moved alone", "gfx1030", 32, {"v_mov_b32_e32 v1, v9", "v_mov_b32_e32 v2, v1"}, NULL},
	{"not chosen", "gfx1030", 32,
		{"s_mov_b32 vcc_lo, -1", "v_cndmask_b32_e32 v1, v9, v0, vcc_lo", "global_store_dword v0, v1, s[0:1]"}, NULL},
	{"chosen", "gfx1030", 32,
		{"s_mov_b32 vcc_lo, 0xfffffffb", "v_cndmask_b32_e32 v1, v9, v0, vcc_lo", "global_store_dword v0, v1, s[0:1]"},
		"uninitialized-register in lane 2"},
	{"lanes that are off", "gfx1030", 32,
		{"s_mov_b32 exec_lo, 1", "v_mov_b32_e32 v1, 0", "global_store_dword v0, v1, s[0:1]"}, NULL},
	{"more lanes than were written", "gfx1030", 32,
		{"s_mov_b32 exec_lo, 1", "v_mov_b32_e32 v1, 0", "s_mov_b32 exec_lo, 3", "global_store_dword v0, v1, s[0:1]"},
		"uninitialized-register in lane 1"},
	{"DPP that reads 0", "gfx1030", 32,
		{"v_mov_b32_dpp v1, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", "global_store_dword v0, v1, s[0:1]"}, NULL},
	{"DPP that leaves lanes", "gfx1030", 32,
		{"v_mov_b32_dpp v1, v0 row_shr:1 row_mask:0xf bank_mask:0xf", "global_store_dword v0, v1, s[0:1]"},
		"uninitialized-register in lane 0"},
	{"a permutation of what is on", "gfx1030", 32,
		{"ds_bpermute_b32 v1, v0, v0", WAIT, "global_store_dword v0, v1, s[0:1]"}, NULL},
	{"a permutation of nothing", "gfx1030", 32,
		{"ds_bpermute_b32 v1, v0, v9", WAIT, "global_store_dword v0, v1, s[0:1]"}, "uninitialized-register nothing wrote v9"},
	{"a half of a register", "gfx1100", 32,
		{"v_mov_b16_e32 v1.l, 0", "global_store_b16 v0, v1, s[0:1]"}, NULL},
	{"padding of a structure", "gfx1030", 32,
		{"v_mov_b32_e32 v4, 0", "global_store_dwordx2 v0, v[4:5], s[0:1]"}, NULL},
	{"both halves of a pair", "gfx1100", 32,
		{"v_dual_mov_b32 v1, v9 :: v_dual_mov_b32 v2, v0", "global_store_b32 v0, v2, s[0:1]"}, NULL},
	/* scalar registers */
	{"a base", "gfx1030", 32, {"global_load_dword v1, v0, s[20:21]"}, "uninitialized-register which is an address"},
	{"saved and restored", "gfx1030", 32,
		{"v_writelane_b32 v5, s20, 3", "v_readlane_b32 s20, v5, 3", "s_mov_b32 s22, s20"}, NULL},
	{"restored and used", "gfx1030", 32,
		{"v_writelane_b32 v5, s20, 3", "v_readlane_b32 s22, v5, 3", "v_mov_b32_e32 v1, s22",
			"global_store_dword v0, v1, s[0:1]"}, "uninitialized-register nothing wrote s20"},
	{"bits of a mask that nobody looks at", "gfx1030", 32,
		{"s_mov_b32 exec_lo, 0xff", "s_andn2_b32 s22, s20, exec_lo", "s_and_b32 s23, s2, exec_lo", "s_or_b32 s22, s22, s23",
			"s_and_saveexec_b32 s24, s22"}, NULL},
	{"bits of a mask that exec takes", "gfx1030", 32,
		{"s_mov_b32 exec_lo, 0xff", "s_and_saveexec_b32 s24, s20"}, "uninitialized-register made the mask of lanes"},
	{"a comparison of nothing", "gfx1030", 32,
		{"v_cmp_eq_u32_e32 vcc_lo, 0, v9", "s_and_saveexec_b32 s24, vcc_lo"}, "uninitialized-register nothing wrote v9"},
	{"a branch", "gfx1030", 32, {"s_cmp_eq_u32 s20, 0", "s_cbranch_scc1 0"}, "uninitialized-register nothing wrote s20"},
	{"a branch on what is known", "gfx1030", 32, {"s_cmp_eq_u32 s2, 0", "s_cbranch_scc1 0"}, NULL},
	{"a mask of 64", "gfx90a", 64,
		{"s_mov_b64 exec, 0xff", "s_andn2_b64 s[22:23], s[20:21], exec", "s_and_b64 vcc, exec, s[22:23]", "s_cbranch_vccnz 0"}, NULL},
	{"a carry", "gfx1030", 32,
		{"s_add_u32 s22, s20, s2", "s_addc_u32 s23, s3, 0", "v_mov_b32_e32 v1, s23", "global_store_dword v0, v1, s[0:1]"},
		"uninitialized-register nothing wrote"},
	/* scratch */
	{"scratch that nothing wrote", "gfx1030", 32,
		{"scratch_load_dword v1, off, off offset:16", WAIT, "global_store_dword v0, v1, s[0:1]"},
		"uninitialized-scratch scratch offset 0x10"},
	{"scratch", "gfx1030", 32,
		{"scratch_store_dword off, v0, off offset:16", "scratch_load_dword v1, off, off offset:16", WAIT,
			"global_store_dword v0, v1, s[0:1]"}, NULL},
	{"scratch by bytes", "gfx1030", 32,
		{"scratch_store_byte off, v0, off offset:17", "scratch_load_ubyte v1, off, off offset:17", WAIT,
			"global_store_byte v0, v1, s[0:1]"}, NULL},
	{"a register saved to scratch", "gfx1030", 32,
		{"scratch_store_dword off, v9, off offset:16", "scratch_load_dword v9, off, off offset:16", WAIT}, NULL},
	{"a saved register that is used", "gfx1030", 32,
		{"scratch_store_dword off, v9, off offset:16", "scratch_load_dword v8, off, off offset:16", WAIT,
			"global_store_dword v0, v8, s[0:1]"}, "uninitialized-register nothing wrote v9"},
	/* LDS */
	{"LDS that nothing wrote", "gfx1030", 32,
		{"ds_read_b32 v1, v0 offset:8", WAIT, "global_store_dword v0, v1, s[0:1]"}, "uninitialized-lds LDS offset 0x8"},
	{"LDS read ahead and not used", "gfx1030", 32,
		{"ds_read_b32 v1, v0", WAIT, "v_cndmask_b32_e64 v1, v0, v1, 0", "global_store_dword v0, v1, s[0:1]"}, NULL},
	{"LDS", "gfx1030", 32,
		{"ds_write_b32 v0, v0", "ds_read_b32 v1, v0", WAIT, "global_store_dword v0, v1, s[0:1]"}, NULL},
	{"a byte of LDS", "gfx1030", 32,
		{"ds_write_b8 v0, v0 offset:3", "ds_read_u8 v1, v0 offset:3", WAIT, "global_store_byte v0, v1, s[0:1]"}, NULL},
	{"the byte beside it", "gfx1030", 32,
		{"ds_write_b8 v0, v0 offset:3", "ds_read_u8 v1, v0 offset:2", WAIT, "global_store_byte v0, v1, s[0:1]"},
		"uninitialized-lds"},
	{"a byte and padding", "gfx1030", 32,
		{"ds_write_b8 v0, v0", "ds_read_b32 v1, v0", WAIT, "global_store_dword v0, v1, s[0:1]"}, NULL},
	{"nothing, by way of LDS", "gfx1030", 32,
		{"ds_write_b32 v0, v9", "ds_read_b32 v1, v0", WAIT, "global_store_dword v0, v1, s[0:1]"},
		"uninitialized-register nothing wrote v9"},
	{"beyond LDS", "gfx1030", 32, {"ds_write_b32 v0, v0 offset:4096"}, "lds-out-of-bounds offset 0x1000"},
	/* races */
	{"one dword", "gfx1030", 32, {"0:ds_write_b32 v0, v0", "1:ds_write_b32 v0, v0"}, "lds-race wave 0 touched it"},
	{"a barrier between", "gfx1030", 32, {"0:ds_write_b32 v0, v0", "barrier", "1:ds_write_b32 v0, v0"}, NULL},
	{"reads", "gfx1030", 32,
		{"0:ds_write_b32 v0, v0", "barrier", "0:ds_read_b32 v1, v0", "1:ds_read_b32 v1, v0"}, NULL},
	{"a write after both have read", "gfx1030", 32,
		{"0:ds_write_b32 v0, v0", "barrier", "0:ds_read_b32 v1, v0", "1:ds_read_b32 v1, v0", "1:ds_write_b32 v0, v0"},
		"lds-race"},
	{"bytes of one dword", "gfx1030", 32,
		{"0:ds_write_b8 v0, v0", "1:ds_write_b8 v0, v0 offset:1", "0:ds_read_u8 v1, v0"}, NULL},
	{"one byte", "gfx1030", 32, {"0:ds_write_b16 v0, v0", "1:ds_write_b8 v0, v0 offset:1"}, "lds-race offset 0x1"},
	{"atomics", "gfx1030", 32, {"0:ds_add_u32 v0, v0", "1:ds_add_u32 v0, v0"}, NULL},
	{"a plain read of atomics", "gfx1030", 32, {"0:ds_add_u32 v0, v0", "1:ds_read_b32 v1, v0"}, "lds-race"},
	{"lanes of one wave", "gfx1030", 32, {"0:ds_write_b32 v0, v0", "0:ds_read_b32 v1, v0"}, NULL},
	{"global memory", "gfx1030", 32,
		{"0:global_store_dword v0, v0, s[0:1]", "1:global_load_dword v1, v0, s[0:1]"}, "global-race wave 0 touched it"},
	{"global memory, bytes", "gfx1030", 32,
		{"0:global_store_byte v0, v0, s[0:1]", "1:global_store_byte v0, v0, s[0:1] offset:1"}, NULL},
};
/* clang-format on */

static uint32_t memory[64];

static int range(void *ctx, uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	(void)ctx;
	*lo = (uint64_t)(uintptr_t)memory;
	*hi = *lo + sizeof(memory);
	return addr >= *lo && addr < *hi ? 0 : -14;
}

static struct sg_wave *waves_begin(struct machine *m)
{
	struct sg_wave *waves = aligned_alloc(64, 2 * sizeof(*waves));

	assert_non_null(waves);
	m->run.k.rsrc2 = 16 << 1; /* user registers */
	m->run.k.scratch_lane = 64;
	m->launch.range = range;
	m->group.nwaves = m->group.live = 2;
	for (uint32_t i = 0; i < 2; i++) {
		waves[i] = *m->w;
		waves[i].index = i;
		waves[i].v = aligned_alloc(64, SG_ROWS * 64 * 4);
		waves[i].scratch = calloc(64, 64);
		waves[i].scratch_lane = 64;
		memset(waves[i].v, 0, SG_ROWS * 64 * 4);
		sg_set_s64(&waves[i], 0, (uint64_t)(uintptr_t)memory);
	}
	return waves;
}

static void run_rule(const struct rule *r)
{
	struct machine *m = machine_new(r->target, r->lanes);
	struct sg_wave *waves;
	struct sg_san *san;
	char *text = NULL, why[96];
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(m);
	assert_non_null(out);
	waves = waves_begin(m);
	san = sg_san_new(out, m->group.run);
	assert_non_null(san);
	sg_san_group_begin(&m->group);
	for (int i = 0; i < LINES && r->lines[i]; i++) {
		const char *line = r->lines[i];
		struct sg_inst *in = sg_program_alloc(m->p, 2 * sizeof(*in));
		struct sg_wave *w = &waves[line[0] == '1' && line[1] == ':'];

		if (!strcmp(line, "barrier")) {
			m->group.phase++;
			continue;
		}
		/* places differ, or only the first finding of a kind would be told */
		if (!sg_decode(m->p, line[1] == ':' ? line + 2 : line,
			    (uint64_t)(uintptr_t)m->code->base + 4 * (uint64_t)i, 4, in,
			    why))
			fail_msg("%s: '%s': %s", r->what, line, why);
		sg_san_step(san, w, in);
		in->exec(w, in);
	}
	sg_san_group_end(&m->group);
	sg_san_free(san);
	fclose(out);
	if (!r->finding) {
		if (size)
			fail_msg("%s (%s): %s", r->what, r->target, text);
	} else {
		const char *rest = strchr(r->finding, ' ');
		size_t n = rest ? (size_t)(rest - r->finding) : strlen(r->finding);

		if (size < n + 12 || strncmp(text, "sanitize: [", 11) ||
			strncmp(text + 11, r->finding, n) || text[11 + n] != ']' ||
			(rest && !strstr(text, rest + 1)) ||
			strchr(text, '\n') != text + size - 1)
			fail_msg("%s (%s): expected one [%s], got '%s'", r->what,
				r->target, r->finding, text);
	}
	for (int i = 0; i < 2; i++) {
		free(waves[i].v);
		free(waves[i].scratch);
	}
	free(waves);
	free(text);
	machine_free(m);
}

static void test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		struct machine *m = machine_new(rules[i].target, rules[i].lanes);

		if (!m) {
			print_message("%s: no disassembler knows it\n", rules[i].target);
			skip();
		}
		machine_free(m);
		run_rule(&rules[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
