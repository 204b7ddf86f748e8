/*
 * The sanitizer: its shadows' lives, and what each operation is to it. Beside the run it
 * keeps who touched each dword of LDS and global memory (sanitize-race.c), which
 * registers, scratch and LDS hold something (sanitize-regs.c, sanitize-memory.c), and
 * which registers a load has still to fill (sanitize-wait.c).
 */
#include "softgpu/sanitize-parts.h"

#include <stdlib.h>

struct sg_san *sg_san_new(FILE *out, const struct sg_run *run)
{
	struct sg_san *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->out = out;
	s->run = run;
	s->pages = sg_san_pages_new();
	if (!s->pages) {
		free(s);
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	sg_san_launch_begin(s);
	return s;
}

void sg_san_free(struct sg_san *s)
{
	if (!s)
		return;
	sg_san_launch_end(s);
	if (s->left_out)
		fprintf(s->out, "sanitize: %u findings more, at other places\n",
			s->left_out);
	sg_san_pages_free(s->pages);
	pthread_mutex_destroy(&s->lock);
	free(s->seen);
	free(s);
}

/* ---- a group's shadow ---- */

static void group_free(struct sg_san_group *g)
{
	for (uint32_t i = 0; g->waves && i < g->nwaves; i++) {
		free(g->waves[i].scratch);
		free(g->waves[i].scratch_from);
	}
	free(g->waves);
	free(g->lds);
	free(g->lds_by_byte);
	free(g->lds_bytes);
	free(g->lds_from);
	free(g);
}

/* What the launch puts into registers holds something; all else does not. */
static bool wave_begin(const struct sg_kernel *k, struct sg_san_wave *v)
{
	enum sg_gen gen = k->program->gen;
	/* work-item numbers: one register, or up to three on gfx10 */
	uint32_t rows = gen == SG_GEN_10 ? 1 + (k->rsrc2 >> 11 & 3) : 1;
	uint32_t scalars = k->rsrc2 >> 1 & 31;

	if (gen < SG_GEN_12) /* workgroup numbers and info, the wave's scratch offset */
		scalars +=
			(uint32_t)__builtin_popcount(k->rsrc2 >> 7 & 15) + (k->rsrc2 & 1);
	memset(v->undef, 0xff, sizeof(v->undef));
	memset(v->undef, 0, rows * sizeof(v->undef[0]));
	memset(v->sundef, 0, sizeof(v->sundef));
	/* from s102 on there are registers of a kind of their own */
	for (uint32_t s = scalars; s < SG_S_FLAT_SCRATCH; s++)
		v->sundef[s] = UINT32_MAX;
	v->scratch_dwords = k->scratch_lane / 4;
	v->scratch = malloc((v->scratch_dwords + 1) * sizeof(*v->scratch));
	v->scratch_from = calloc(v->scratch_dwords + 1, sizeof(*v->scratch_from));
	if (!v->scratch || !v->scratch_from)
		return false;
	memset(v->scratch, 0xff, (v->scratch_dwords + 1) * sizeof(*v->scratch));
	return true;
}

void sg_san_group_begin(struct sg_group *group)
{
	const struct sg_kernel *k = &group->run->k;
	struct sg_san_group *g = calloc(1, sizeof(*g));

	if (!g)
		return;
	g->nwaves = group->nwaves;
	g->dwords = group->lds_size / 4;
	g->waves = calloc(g->nwaves, sizeof(*g->waves));
	g->lds = calloc(g->dwords + 1, sizeof(*g->lds));
	g->lds_bytes = calloc(g->dwords + 1, sizeof(*g->lds_bytes));
	g->lds_from = calloc(g->dwords + 1, sizeof(*g->lds_from));
	if (!g->waves || !g->lds || !g->lds_bytes || !g->lds_from) {
		group_free(g);
		return;
	}
	for (uint32_t i = 0; i < g->nwaves; i++)
		if (!wave_begin(k, &g->waves[i])) {
			group_free(g);
			return;
		}
	group->san = g;
}

void sg_san_group_end(struct sg_group *group)
{
	if (group->san)
		group_free(group->san);
	group->san = NULL;
}

/* ---- classes ---- */

/* By the name's beginning; the first row that fits counts. */
static const struct {
	const char *prefix;
	enum san_class class;
} classes[] = {
	{"v_cndmask_", SAN_C_CNDMASK},
	{"v_mad_u64_u32", SAN_C_LOW_FIRST},
	{"v_mad_i64_i32", SAN_C_LOW_FIRST},
	{"v_lshlrev_b64", SAN_C_LOW_FIRST},
	{"v_lshl_add_u64", SAN_C_LOW_FIRST},
	{"v_add_u64", SAN_C_LOW_FIRST},
	{"v_sub_u64", SAN_C_LOW_FIRST},
	{"v_mov_b64", SAN_C_LOW_FIRST},
	{"v_pk_mov_b32", SAN_C_LOW_FIRST},
	{"v_pk_add_f32", SAN_C_LOW_FIRST},
	{"v_pk_mul_f32", SAN_C_LOW_FIRST},
	{"v_pk_fma_f32", SAN_C_LOW_FIRST},
	{"v_readlane_", SAN_C_READLANE},
	{"v_readfirstlane_", SAN_C_READFIRST},
	{"v_writelane_", SAN_C_WRITELANE},
	{"v_permlane", SAN_C_DEFINES},
	{"v_swap_", SAN_C_SWAP},
	{"v_movrel", SAN_C_INDEXED},
	{"s_barrier_signal", SAN_C_NONE},
	{"s_barrier", SAN_C_BARRIER},
	{"s_cbranch_scc", SAN_C_BRANCH_SCC},
	{"s_cbranch_vcc", SAN_C_BRANCH_VCC},
	{"s_setpc_", SAN_C_JUMP},
	{"s_swappc_", SAN_C_JUMP},
	{"s_sendmsg", SAN_C_MESSAGE},
	{"s_memtime", SAN_C_MESSAGE},
	{"s_memrealtime", SAN_C_MESSAGE},
	{"ds_gws_", SAN_C_GWS},
	{"ds_append", SAN_C_APPEND},
	{"ds_consume", SAN_C_APPEND},
	{"ds_bpermute_", SAN_C_CROSS},
	{"ds_permute_", SAN_C_CROSS},
	{"ds_swizzle_", SAN_C_CROSS},
	{"ds_nop", SAN_C_NONE},
	{"ds_", SAN_C_LDS},
	{"s_load_", SAN_C_SMEM},
	{"s_buffer_load_", SAN_C_SMEM},
	{"buffer_gl", SAN_C_CACHE},
	{"buffer_inv", SAN_C_CACHE},
	{"buffer_wb", SAN_C_CACHE},
	{"global_inv", SAN_C_CACHE},
	{"global_wb", SAN_C_CACHE},
	{"s_andn2_", SAN_C_ANDN2},
	{"s_andn1_", SAN_C_ANDN1},
	{"s_orn2_", SAN_C_ORN2},
	{"s_orn1_", SAN_C_ORN1},
	{"s_and_", SAN_C_AND},
	{"s_nand_", SAN_C_AND},
	{"s_or_", SAN_C_OR},
	{"s_nor_", SAN_C_OR},
	{"s_xor_", SAN_C_XOR},
	{"s_xnor_", SAN_C_XOR},
	{"s_not_", SAN_C_XOR},
	{"s_mov_", SAN_C_COPY},
	{"s_cselect_", SAN_C_SELECT},
	{"s_cmov", SAN_C_CMOV},
	{"s_lshl_", SAN_C_SHL},
	{"s_lshr_", SAN_C_SHR},
	{"s_cmp", SAN_C_COMPARE},
	{"s_bitcmp", SAN_C_COMPARE},
	/* without SCC, before their kin with it */
	{"s_add_u64", SAN_C_SALU},
	{"s_sub_u64", SAN_C_SALU},
	{"s_add_f", SAN_C_SALU},
	{"s_sub_f", SAN_C_SALU},
	{"s_min_num", SAN_C_SALU},
	{"s_max_num", SAN_C_SALU},
	{"s_min_f", SAN_C_SALU},
	{"s_max_f", SAN_C_SALU},
	{"s_add", SAN_C_ARITH},
	{"s_sub", SAN_C_ARITH},
	{"s_min_", SAN_C_ARITH},
	{"s_max_", SAN_C_ARITH},
	{"s_abs", SAN_C_ARITH},
	{"s_ashr_", SAN_C_ARITH},
	{"s_bfe_", SAN_C_ARITH},
	{"s_bcnt", SAN_C_ARITH},
	{"s_wqm_", SAN_C_ARITH},
	{"s_quadmask_", SAN_C_ARITH},
	{"s_lshl1", SAN_C_ARITH},
	{"s_lshl2", SAN_C_ARITH},
	{"s_lshl3", SAN_C_ARITH},
	{"s_lshl4", SAN_C_ARITH},
	{"s_", SAN_C_SALU},
};

static uint8_t classify(const struct sg_op *op)
{
	if (op->flags & SG_OP_WAIT)
		return SAN_C_WAIT;
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (!strncmp(op->name, classes[i].prefix, strlen(classes[i].prefix)) &&
			(classes[i].class < SAN_C_SALU || !(op->flags & SG_OP_NOP)))
			return (uint8_t)classes[i].class;
	if (op->flags & SG_OP_VALU)
		return SAN_C_VALU;
	if (op->flags & SG_OP_MEM)
		return SAN_C_VMEM;
	return op->flags & SG_OP_NOP ? SAN_C_NONE : SAN_C_DEFINES; /* matrices */
}

static uint8_t class_of(const struct sg_inst *in)
{
	uint8_t c = __atomic_load_n(&in->san_class, __ATOMIC_RELAXED);

	if (c == SAN_C_NEW) {
		c = classify(in->op);
		__atomic_store_n(&((struct sg_inst *)in)->san_class, c, __ATOMIC_RELAXED);
	}
	return c;
}

/* ---- a step ---- */

static void step(const struct sg_san_step *t, uint8_t class)
{
	switch (class) {
	case SAN_C_NONE:
		break;
	case SAN_C_WAIT:
		sg_san_wait(t);
		break;
	case SAN_C_BARRIER:
		/* it lets the last wave go on without a new phase of the group */
		t->g->more_phases += t->w->g->live == 1;
		break;
	case SAN_C_BRANCH_SCC:
		sg_san_branch(t, SG_S_SCC, "the condition of a branch");
		break;
	case SAN_C_BRANCH_VCC:
		sg_san_branch(t, SG_S_VCC, "the condition of a branch");
		break;
	case SAN_C_JUMP:
		sg_san_check_pending(t, true);
		sg_san_need(t, 0, "the address of a jump");
		if (t->in->ndst)
			sg_san_define(t, &t->in->dst[0], 0);
		break;
	case SAN_C_LDS:
		sg_san_step_lds(t);
		break;
	case SAN_C_CROSS:
		sg_san_step_cross(t);
		break;
	case SAN_C_APPEND:
		sg_san_step_append(t);
		break;
	case SAN_C_GWS: /* a barrier over all groups */
		t->g->atomics = true;
		sg_san_issue(t, SAN_BY_LGKM, NULL);
		break;
	case SAN_C_VMEM:
		sg_san_step_vmem(t);
		break;
	case SAN_C_SMEM:
		sg_san_step_smem(t);
		break;
	case SAN_C_CACHE:
		sg_san_issue(t, SAN_BY_VM, NULL);
		break;
	case SAN_C_MESSAGE:
		if (t->in->ndst)
			sg_san_define(t, &t->in->dst[0], 0);
		sg_san_issue_scalar(t, NULL);
		break;
	default:
		if (class >= SAN_C_SALU)
			sg_san_step_salu(t, class);
		else
			sg_san_step_valu(t, class);
	}
}

/* Both halves read before either writes: the second sees what the first found. */
static void step_pair(struct sg_san_step *t)
{
	const struct sg_inst *x = t->in->pair, *y = x + 1;
	uint32_t row = sg_san_row(t->w, x->dst[0].off);
	uint64_t before = t->v->undef[row], after;
	struct sg_san_origin from = t->v->from[row], from_after;

	t->in = x;
	step(t, class_of(x));
	after = t->v->undef[row];
	from_after = t->v->from[row];
	t->v->undef[row] = before;
	t->v->from[row] = from;
	t->in = y;
	step(t, class_of(y));
	t->v->undef[row] = after;
	t->v->from[row] = from_after;
}

void sg_san_step(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in)
{
	struct sg_san_step t = {s, w, in, w->g->san, NULL};

	if (!t.g)
		return;
	t.v = &t.g->waves[w->index];
	if (in->exec == sg_exec_vopd)
		step_pair(&t);
	else
		step(&t, class_of(in));
}
