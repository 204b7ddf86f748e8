/* Control: branches, calls, barriers, messages, hardware registers, time. */
#include "softgpu/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct sg_inst *sg_exec_nothing(struct sg_wave *w, const struct sg_inst *in)
{
	(void)w;
	return in + 1;
}

static const struct sg_inst *pause_wave(
	struct sg_wave *w, const struct sg_inst *at, enum sg_state state)
{
	w->ip = at;
	w->state = state;
	return NULL;
}

static const struct sg_inst *jump(struct sg_wave *w, const struct sg_inst *target)
{
	if (--w->quantum < 0)
		return pause_wave(w, target, SG_YIELD);
	return target;
}

static const struct sg_inst *taken(struct sg_wave *w, const struct sg_inst *in)
{
	struct sg_inst *self = (struct sg_inst *)in;

	if (__builtin_expect(!self->target, 0))
		self->target = sg_program_at((struct sg_program *)w->p,
			in->pc + 4 + (uint64_t)((int64_t)(int16_t)in->imm * 4));
	return jump(w, in->target);
}

#define NOP(ID, NAME)                                                                    \
	SG_OP_ENTRY(ID, {NAME, "", SG_OP_NOP, 0, NULL, sg_exec_nothing, NULL})
/* Ordering, caches and prefetch: every access here is done at once and in order. */
#define WAIT(ID, NAME)                                                                   \
	SG_OP_ENTRY(                                                                     \
		ID, {NAME, "", SG_OP_NOP | SG_OP_WAIT, 0, NULL, sg_exec_nothing, NULL})
WAIT(waitcnt, "s_waitcnt");
WAIT(waitcnt_vs, "s_waitcnt_vscnt");
WAIT(waitcnt_vm, "s_waitcnt_vmcnt");
WAIT(waitcnt_exp, "s_waitcnt_expcnt");
WAIT(waitcnt_lgkm, "s_waitcnt_lgkmcnt");
NOP(waitcnt_dep, "s_waitcnt_depctr");
WAIT(wait_idle, "s_wait_idle");
NOP(wait_event, "s_wait_event");
WAIT(wait_loadcnt, "s_wait_loadcnt");
WAIT(wait_storecnt, "s_wait_storecnt");
WAIT(wait_samplecnt, "s_wait_samplecnt");
WAIT(wait_bvhcnt, "s_wait_bvhcnt");
WAIT(wait_expcnt, "s_wait_expcnt");
WAIT(wait_dscnt, "s_wait_dscnt");
WAIT(wait_kmcnt, "s_wait_kmcnt");
WAIT(wait_ld_ds, "s_wait_loadcnt_dscnt");
WAIT(wait_st_ds, "s_wait_storecnt_dscnt");
NOP(wait_alu, "s_wait_alu");
NOP(nop, "s_nop");
NOP(vnop, "v_nop");
NOP(clause, "s_clause");
NOP(delay, "s_delay_alu");
NOP(prefetch, "s_inst_prefetch");
NOP(prefetch2, "s_set_inst_prefetch_distance");
NOP(prefetch_i, "s_prefetch_inst");
NOP(prefetch_ip, "s_prefetch_inst_pc_rel");
NOP(prefetch_d, "s_prefetch_data");
NOP(prefetch_dp, "s_prefetch_data_pc_rel");
NOP(prefetch_b, "s_buffer_prefetch_data");
NOP(setprio, "s_setprio");
NOP(icache, "s_icache_inv");
NOP(dcache_inv, "s_dcache_inv");
NOP(dcache_invv, "s_dcache_inv_vol");
NOP(dcache_wb, "s_dcache_wb");
NOP(dcache_wbv, "s_dcache_wb_vol");
NOP(gl0, "buffer_gl0_inv");
NOP(gl1, "buffer_gl1_inv");
NOP(wbinvl1, "buffer_wbinvl1");
NOP(wbinvl1v, "buffer_wbinvl1_vol");
NOP(wbl2, "buffer_wbl2");
NOP(invl2, "buffer_invl2");
NOP(binv, "buffer_inv");
NOP(global_inv, "global_inv");
NOP(global_wb, "global_wb");
NOP(global_wbinv, "global_wbinv");
NOP(ttrace, "s_ttracedata");
NOP(ttrace_imm, "s_ttracedata_imm");
NOP(version, "s_version");
NOP(sethalt0, "s_incperflevel");
NOP(sethalt1, "s_decperflevel");
NOP(ds_nop, "ds_nop");
NOP(wakeup, "s_wakeup");
NOP(gl1_inv, "s_gl1_inv");
NOP(fprefetch, "flat_prefetch_b8");
NOP(gprefetch, "global_prefetch_b8");
NOP(clrexcp, "v_clrexcp");

#define BRANCH(NAME, COND)                                                               \
	static const struct sg_inst *NAME##_exec(                                        \
		struct sg_wave *w, const struct sg_inst *in)                             \
	{                                                                                \
		return (COND) ? taken(w, in) : in + 1;                                   \
	}                                                                                \
	SG_OP_ENTRY(NAME, {#NAME, ":j", SG_OP_BRANCH, 0, NULL, NAME##_exec, NULL})

static inline bool vccz(const struct sg_wave *w)
{
	return sg_wave64(w) ? !sg_s64(w, SG_S_VCC) : !w->s[SG_S_VCC];
}

static const struct sg_inst *branch_exec(struct sg_wave *w, const struct sg_inst *in)
{
	return taken(w, in);
}
SG_OP_ENTRY(s_branch,
	{"s_branch", ":j", SG_OP_BRANCH | SG_OP_END, 0, NULL, branch_exec, NULL});
BRANCH(s_cbranch_scc0, !w->s[SG_S_SCC]);
BRANCH(s_cbranch_scc1, w->s[SG_S_SCC]);
BRANCH(s_cbranch_vccz, vccz(w));
BRANCH(s_cbranch_vccnz, !vccz(w));
BRANCH(s_cbranch_execz, !sg_exec(w));
BRANCH(s_cbranch_execnz, sg_exec(w));
BRANCH(s_cbranch_cdbgsys, false);
BRANCH(s_cbranch_cdbguser, false);

static const struct sg_inst *setpc(struct sg_wave *w, const struct sg_inst *in)
{
	return jump(w, sg_program_at((struct sg_program *)w->p, sg_sp64(w, in, 0)));
}

static const struct sg_inst *swappc(struct sg_wave *w, const struct sg_inst *in)
{
	uint64_t to = sg_sp64(w, in, 0);

	sg_set_s64(w, in->dst[0].off, in->pc + in->size);
	return jump(w, sg_program_at((struct sg_program *)w->p, to));
}

static const struct sg_inst *getpc(struct sg_wave *w, const struct sg_inst *in)
{
	sg_set_s64(w, in->dst[0].off, in->pc + in->size);
	return in + 1;
}

static const struct sg_inst *call(struct sg_wave *w, const struct sg_inst *in)
{
	sg_set_s64(w, in->dst[0].off, in->pc + 4);
	return taken(w, in);
}

SG_OP_ENTRY(setpc, {"s_setpc_b64", ":B", SG_OP_END, 0, NULL, setpc, NULL});
SG_OP_ENTRY(swappc, {"s_swappc_b64", "B:B", SG_OP_END, 0, NULL, swappc, NULL});
SG_OP_ENTRY(getpc, {"s_getpc_b64", "B:", 0, 0, NULL, getpc, NULL});
SG_OP_ENTRY(call, {"s_call_b64", "B:j", SG_OP_BRANCH | SG_OP_END, 0, NULL, call, NULL});

static const struct sg_inst *endpgm(struct sg_wave *w, const struct sg_inst *in)
{
	return pause_wave(w, in, SG_DONE);
}

static const struct sg_inst *barrier(struct sg_wave *w, const struct sg_inst *in)
{
	if (w->g->live == 1)
		return in + 1;
	w->g->arrived++;
	w->barrier_phase = w->g->phase;
	return pause_wave(w, in + 1, SG_BARRIER);
}

/* gfx12 has the barrier in two: signal, then wait. Only the workgroup's own (-1) exists.
 */
static const char *bind_barrier(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	int64_t v = t->nops ? (int16_t)t->ops[0].value : 0;

	(void)p;
	if (t->nops != 1 || t->ops[0].kind != SG_T_INT || v != -1)
		return "a barrier other than the workgroup's";
	in->imm = v;
	return NULL;
}

static const struct sg_inst *barrier_signal(struct sg_wave *w, const struct sg_inst *in)
{
	if (in->op->arg)
		w->s[SG_S_SCC] = w->g->arrived == 0;
	w->barrier_phase = w->g->phase;
	w->g->arrived++;
	return in + 1;
}

static const struct sg_inst *barrier_wait(struct sg_wave *w, const struct sg_inst *in)
{
	if (w->g->live == 1)
		w->g->arrived = 0;
	else if (w->barrier_phase == w->g->phase)
		return pause_wave(w, in + 1, SG_BARRIER);
	return in + 1;
}

static const struct sg_inst *sleep_exec(struct sg_wave *w, const struct sg_inst *in)
{
	return pause_wave(w, in + 1, SG_SLEEP);
}

static const struct sg_inst *trap(struct sg_wave *w, const struct sg_inst *in)
{
	if (in->imm == 3) /* the debugger's breakpoint: goes on without one */
		return in + 1;
	return sg_stop(w, in, SG_FAULT_TRAP, 0,
		"s_trap %d: the kernel stopped itself (abort, a failed assert, "
		"unreachable code)",
		(int)in->imm);
}

static const struct sg_inst *halt(struct sg_wave *w, const struct sg_inst *in)
{
	if (!(in->imm & 1))
		return in + 1;
	return sg_stop(w, in, SG_FAULT_TRAP, 0, "s_sethalt: the kernel halted itself");
}

SG_OP_ENTRY(endpgm, {"s_endpgm", "", SG_OP_NOP | SG_OP_END, 0, NULL, endpgm, NULL});
SG_OP_ENTRY(
	endpgm_s, {"s_endpgm_saved", "", SG_OP_NOP | SG_OP_END, 0, NULL, endpgm, NULL});
SG_OP_ENTRY(barrier, {"s_barrier", "", SG_OP_NOP, 0, NULL, barrier, NULL});
SG_OP_ENTRY(bsig, {"s_barrier_signal", "", 0, 0, NULL, barrier_signal, bind_barrier});
SG_OP_ENTRY(bsigf,
	{"s_barrier_signal_isfirst", "", 0, 1, NULL, barrier_signal, bind_barrier});
SG_OP_ENTRY(bwait, {"s_barrier_wait", "", 0, 0, NULL, barrier_wait, bind_barrier});
SG_OP_ENTRY(sleep, {"s_sleep", "", SG_OP_NOP, 0, NULL, sleep_exec, NULL});
SG_OP_ENTRY(sleepv, {"s_sleep_var", "", SG_OP_NOP, 0, NULL, sleep_exec, NULL});
SG_OP_ENTRY(trap, {"s_trap", ":k", 0, 0, NULL, trap, NULL});
SG_OP_ENTRY(halt, {"s_sethalt", ":k", 0, 0, NULL, halt, NULL});

/* ---- messages ---- */

static const char *bind_sendmsg(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	static const char *const quiet[] = {"MSG_DEALLOC_VGPRS", "MSG_SAVEWAVE",
		"MSG_STALL_WAVE_GEN", "MSG_HALT_WAVES", "MSG_ORDERED_PS_DONE"};

	(void)p;
	if (strstr(t->rest, "MSG_INTERRUPT")) {
		in->imm = 1;
		return NULL;
	}
	for (size_t i = 0; i < sizeof(quiet) / sizeof(*quiet); i++)
		if (strstr(t->rest, quiet[i]))
			return NULL;
	return "a message of graphics";
}

void sg_interrupt(struct sg_wave *w);

static const struct sg_inst *sendmsg(struct sg_wave *w, const struct sg_inst *in)
{
	if (in->imm)
		sg_interrupt(w);
	return in + 1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t sg_realtime(const struct sg_wave *w);

static const char *bind_msg_rtn(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	const char *why = NULL;

	in->imm = strstr(t->rest, "GET_REALTIME") ? 1 : 0;
	in->ndst = 1;
	if (!t->nops || !sg_bind_dst(p, &t->ops[0], in->op->arg == 2 ? 'B' : 'b',
				&in->dst[0], &why))
		return why ? why : "operands";
	if (!in->imm && !strstr(t->rest, "GET_DOORBELL") && !strstr(t->rest, "GET_TBA") &&
		!strstr(t->rest, "GET_DDID") && !strstr(t->rest, "GET_TMA"))
		return "a message that returns nothing known";
	return NULL;
}

static const struct sg_inst *msg_rtn(struct sg_wave *w, const struct sg_inst *in)
{
	uint64_t v = in->imm ? sg_realtime(w) : 0;

	w->s[in->dst[0].off] = (uint32_t)v;
	if (in->op->arg == 2)
		w->s[in->dst[0].off + 1] = (uint32_t)(v >> 32);
	return in + 1;
}

SG_OP_ENTRY(sendmsg, {"s_sendmsg", "", 0, 0, NULL, sendmsg, bind_sendmsg});
SG_OP_ENTRY(msgrtn32, {"s_sendmsg_rtn_b32", "", 0, 1, NULL, msg_rtn, bind_msg_rtn});
SG_OP_ENTRY(msgrtn64, {"s_sendmsg_rtn_b64", "", 0, 2, NULL, msg_rtn, bind_msg_rtn});

static const struct sg_inst *memtime(struct sg_wave *w, const struct sg_inst *in)
{
	sg_set_s64(w, in->dst[0].off, in->op->arg ? sg_realtime(w) : now_ns());
	return in + 1;
}

SG_OP_ENTRY(memtime, {"s_memtime", "B:", 0, 0, NULL, memtime, NULL});
SG_OP_ENTRY(memrealtime, {"s_memrealtime", "B:", 0, 1, NULL, memtime, NULL});

/* ---- hardware registers ---- */

enum hwreg {
	HW_MODE,
	HW_STATUS,
	HW_MEM_BASES,
	HW_FLAT_LO,
	HW_FLAT_HI,
	HW_CYCLES,
	HW_CYCLES_HI,
	HW_ZERO, /* identities of hardware parts: there is one of each */
	HW_SCHED,
	HW_TRAPSTS,
};

static const struct {
	const char *name;
	enum hwreg reg;
} hwregs[] = {
	{"HW_REG_MODE", HW_MODE},
	{"HW_REG_WAVE_MODE", HW_MODE},
	{"HW_REG_STATUS", HW_STATUS},
	{"HW_REG_SH_MEM_BASES", HW_MEM_BASES},
	{"HW_REG_FLAT_SCR_LO", HW_FLAT_LO},
	{"HW_REG_FLAT_SCR_HI", HW_FLAT_HI},
	{"20", HW_FLAT_LO},
	{"21", HW_FLAT_HI},
	{"HW_REG_SHADER_CYCLES", HW_CYCLES},
	{"HW_REG_SHADER_CYCLES_LO", HW_CYCLES},
	{"HW_REG_SHADER_CYCLES_HI", HW_CYCLES_HI},
	{"HW_REG_HW_ID", HW_ZERO},
	{"HW_REG_HW_ID1", HW_ZERO},
	{"HW_REG_HW_ID2", HW_ZERO},
	{"HW_REG_XCC_ID", HW_ZERO},
	{"HW_REG_IB_STS", HW_ZERO},
	{"HW_REG_IB_STS2", HW_ZERO},
	{"HW_REG_WAVE_HW_ID1", HW_ZERO},
	{"HW_REG_WAVE_HW_ID2", HW_ZERO},
	{"HW_REG_WAVE_SCHED_MODE", HW_SCHED},
	{"HW_REG_TRAPSTS", HW_TRAPSTS},
};

/* imm: register, then offset << 8, then size << 16. */
static const char *bind_hwreg(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	bool set = in->op->arg;
	const struct sg_token *r, *v;
	const char *why = NULL;
	char name[64];
	unsigned int off = 0, size = 32, i;
	int n;

	if (t->nops != 2)
		return "operands";
	r = &t->ops[set ? 0 : 1];
	v = &t->ops[set ? 1 : 0];
	n = sscanf(r->word, "hwreg(%40[A-Z_0-9a-z], %u, %u)", name, &off, &size);
	if (n == 1)
		n = 3;
	if (n != 3 || off > 31 || size > 32 - off || !size)
		return "a hardware register of an odd kind";
	for (i = 0; i < sizeof(hwregs) / sizeof(*hwregs); i++)
		if (!strcmp(hwregs[i].name, name))
			break;
	if (i == sizeof(hwregs) / sizeof(*hwregs))
		return "a hardware register that is not there";
	if (set && hwregs[i].reg != HW_MODE && hwregs[i].reg != HW_FLAT_LO &&
		hwregs[i].reg != HW_FLAT_HI && hwregs[i].reg != HW_SCHED &&
		hwregs[i].reg != HW_TRAPSTS)
		return "a hardware register that cannot be written";
	in->imm = (int64_t)(hwregs[i].reg | off << 8 | size << 16);
	if (set) {
		in->nsrc = 1;
		sg_bind_src(p, v, 'b', false, &in->src[0], &why);
	} else {
		in->ndst = 1;
		sg_bind_dst(p, v, 'b', &in->dst[0], &why);
	}
	return why;
}

static uint32_t hwreg_get(const struct sg_wave *w, enum hwreg reg)
{
	switch (reg) {
	case HW_MODE:
		return w->mode;
	case HW_MEM_BASES:
		return 0x00010002; /* the apertures' upper 16 bits: LDS, scratch */
	case HW_FLAT_LO:
		return w->s[SG_S_FLAT_LO];
	case HW_FLAT_HI:
		return w->s[SG_S_FLAT_LO + 1];
	case HW_CYCLES:
		return (uint32_t)now_ns();
	case HW_CYCLES_HI:
		return (uint32_t)(now_ns() >> 32);
	case HW_SCHED:
		return w->schedule_mode;
	case HW_STATUS:
		return w->s[SG_S_SCC];
	default:
		return 0;
	}
}

static const struct sg_inst *getreg(struct sg_wave *w, const struct sg_inst *in)
{
	uint32_t off = in->imm >> 8 & 255, size = in->imm >> 16 & 255;
	uint32_t v = hwreg_get(w, in->imm & 255) >> off;

	w->s[in->dst[0].off] = size == 32 ? v : v & ((1u << size) - 1);
	return in + 1;
}

static const struct sg_inst *setreg(struct sg_wave *w, const struct sg_inst *in)
{
	uint32_t off = in->imm >> 8 & 255, size = in->imm >> 16 & 255;
	uint32_t mask = (size == 32 ? UINT32_MAX : (1u << size) - 1) << off;
	uint32_t v =
		(hwreg_get(w, in->imm & 255) & ~mask) | (*sg_sp(w, in, 0) << off & mask);

	switch ((enum hwreg)(in->imm & 255)) {
	case HW_MODE:
		w->mode = v;
		sg_mode_changed(w);
		break;
	case HW_FLAT_LO:
		w->s[SG_S_FLAT_LO] = v;
		break;
	case HW_FLAT_HI:
		w->s[SG_S_FLAT_LO + 1] = v;
		break;
	case HW_SCHED:
		w->schedule_mode = v;
		break;
	default:
		break;
	}
	return in + 1;
}

static const struct sg_inst *fp_mode(struct sg_wave *w, const struct sg_inst *in)
{
	uint32_t shift = in->op->arg;

	w->mode = (w->mode & ~(15u << shift)) | ((uint32_t)in->imm & 15) << shift;
	sg_mode_changed(w);
	return in + 1;
}

SG_OP_ENTRY(getreg, {"s_getreg_b32", "", 0, 0, NULL, getreg, bind_hwreg});
SG_OP_ENTRY(setreg, {"s_setreg_b32", "", 0, 1, NULL, setreg, bind_hwreg});
SG_OP_ENTRY(setregi, {"s_setreg_imm32_b32", "", 0, 1, NULL, setreg, bind_hwreg});
SG_OP_ENTRY(roundm, {"s_round_mode", ":k", 0, 0, NULL, fp_mode, NULL});
SG_OP_ENTRY(denormm, {"s_denorm_mode", ":k", 0, 4, NULL, fp_mode, NULL});

/* ---- gfx9's register indexing ---- */

static const char *bind_gpr_idx(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
	const char *why = NULL;
	const struct sg_token *mask = &t->ops[in->op->arg ? 0 : 1];

	if (t->nops != (in->op->arg ? 1 : 2))
		return "operands";
	if (mask->kind == SG_T_INT) {
		in->imm = mask->value & 15;
	} else {
		for (int k = 0; k < 4; k++)
			if (strstr(mask->word, names[k]))
				in->imm |= 1 << k;
	}
	if (in->op->arg)
		return NULL;
	in->nsrc = 1;
	return sg_bind_src(p, &t->ops[0], 'b', false, &in->src[0], &why) ? NULL : why;
}

static const struct sg_inst *gpr_idx(struct sg_wave *w, const struct sg_inst *in)
{
	if (!in->op->arg)
		w->s[SG_S_M0] = (w->s[SG_S_M0] & ~0xf0ffu) | (*sg_sp(w, in, 0) & 255);
	w->s[SG_S_M0] = (w->s[SG_S_M0] & ~0xf000u) | (uint32_t)in->imm << 12;
	w->gpr_idx = (uint32_t)in->imm;
	sg_mode_changed(w);
	return in + 1;
}

static const struct sg_inst *gpr_idx_off(struct sg_wave *w, const struct sg_inst *in)
{
	w->gpr_idx = 0;
	sg_mode_changed(w);
	return in + 1;
}

static const struct sg_inst *gpr_idx_idx(struct sg_wave *w, const struct sg_inst *in)
{
	w->s[SG_S_M0] = (w->s[SG_S_M0] & ~255u) | (*sg_sp(w, in, 0) & 255);
	return in + 1;
}

SG_OP_ENTRY(gpridxon, {"s_set_gpr_idx_on", "", 0, 0, NULL, gpr_idx, bind_gpr_idx});
SG_OP_ENTRY(gpridxmode, {"s_set_gpr_idx_mode", "", 0, 1, NULL, gpr_idx, bind_gpr_idx});
SG_OP_ENTRY(gpridxoff, {"s_set_gpr_idx_off", "", SG_OP_NOP, 0, NULL, gpr_idx_off, NULL});
SG_OP_ENTRY(gpridxidx, {"s_set_gpr_idx_idx", ":b", 0, 0, NULL, gpr_idx_idx, NULL});
