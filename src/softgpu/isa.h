/*
 * The interpreter's own data: operations, decoded instructions, waves, groups. Private to
 * src/softgpu.
 *
 * An operation's signature is a string "results:sources" of one letter an operand:
 *   f d h y   float of 32, 64, 16 bits, bfloat16     u U w   unsigned 32, 64, 16 bits
 *   i I s     signed 32, 64, 16 bits                 b B x   bits: 32, 64, 16
 *   m         lane mask (one SGPR, or two in wave64)  p q v   two f16, two i16, two bf16
 *   P Q       two f32, two b32 (an aligned pair)      t e     96 and 128 bits
 *   O S T     256, 512, 1024 bits                     g       f32, or f16 by op_sel_hi
 *   k         a number in the instruction             j       branch distance in words
 * The type is the operation's, since the disassembler's text does not tell it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/exec.h"

#define SG_LANES_MAX 64
#define SG_VGPRS     256
#define SG_ROWS      512 /* v0..v255, then a0..a255 */
#define SG_DST_MAX   2
#define SG_SRC_MAX   4
#define SG_UNSET     UINT32_MAX

/* SGPR slots are the encoding's numbers (gfx10), so that pairs are neighbours. */
enum {
	SG_S_FLAT_SCRATCH = 102, /* gfx9: s102:s103 */
	SG_S_VCC = 106,
	SG_S_TTMP = 108,
	SG_S_M0 = 124,
	SG_S_NULL = 125, /* reads 0; results for it go to SG_S_DUMP */
	SG_S_EXEC = 126,
	SG_S_DUMP = 200,    /* 32 words */
	SG_S_FLAT_LO = 240, /* gfx10: written by s_setreg only */
	SG_S_SCC = 253,
	SG_S_SLOTS = 256,
};

enum sg_gen { SG_GEN_90A, SG_GEN_940, SG_GEN_10, SG_GEN_11, SG_GEN_12 };

struct sg_inst;
struct sg_wave;
struct sg_text;
struct sg_program;

/* Executes and returns the next instruction; NULL stops the wave (w->state says why). */
typedef const struct sg_inst *(*sg_exec_fn)(struct sg_wave *w, const struct sg_inst *in);

/*
 * 32 lanes of one operation: d, a, b, c are rows of 32-bit words, the upper words of
 * wider operands st words behind; em is ~0 for each lane that is on. Returns a lane mask
 * where the operation has one (also of lanes that are off; the caller masks it).
 */
typedef uint32_t (*sg_lane_fn)(uint32_t *d, const uint32_t *a, const uint32_t *b,
	const uint32_t *c, const uint32_t *em, size_t st);

/* Checks and completes a decoded instruction; NULL when fine, else what is refused. */
typedef const char *(*sg_bind_fn)(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in);

enum {
	SG_OP_TIE = 1 << 0,   /* the result is also the last source (fmac) */
	SG_OP_FMODS = 1 << 1, /* neg and abs act on 'b' sources as on floats (cndmask) */
	SG_OP_NOFLUSH = 1 << 2,   /* MODE's denormal bits do not touch it (moves) */
	SG_OP_KEEPHI = 1 << 4,    /* gfx9: a 16-bit result keeps the upper half */
	SG_OP_SAT = 1 << 5,       /* has a ".sat" twin for clamp */
	SG_OP_NOP = 1 << 6,       /* operands are not looked at */
	SG_OP_BRANCH = 1 << 7,    /* has a branch distance */
	SG_OP_END = 1 << 8,       /* control never falls through */
	SG_OP_MEM = 1 << 9,       /* memory: for the sanitizer and counts */
	SG_OP_NOCLAMP = 1 << 10,  /* float result without clamp/omod */
	SG_OP_VALU = 1 << 11,     /* exec'd with rows prepared by sg_src_row */
	SG_OP_NEG3 = 1 << 12,     /* integer packed: neg_lo means signed (dot4_i32_iu8) */
	SG_OP_BYTE_SRC = 1 << 13, /* byte_sel names the byte of the source */
	SG_OP_BYTE_DST = 1 << 14, /* byte_sel, or op_sel of gfx9, that of the result */
	SG_OP_WAIT = 1 << 15,     /* a wait: imm is a union sg_wait */
};

struct sg_op {
	const char *name, *sig;
	uint32_t flags;
	uint32_t arg;
	sg_lane_fn lane;
	sg_exec_fn exec;
	sg_bind_fn bind;
};

/* Puts an operation into the table (a linker section; see isa-table.c). */
#define SG_OP_ENTRY(ID, ...)                                                             \
	static const struct sg_op sg_op_##ID = __VA_ARGS__;                              \
	static const struct sg_op *const sg_ref_##ID                                     \
		__attribute__((section("sg_ops"), used)) = &sg_op_##ID

/* The same without a name of its own, for tables that macros multiply. */
#define SG_OP_ANON(...)     SG_OP_ANON2(__COUNTER__, __VA_ARGS__)
#define SG_OP_ANON2(N, ...) SG_OP_ANON3(N, __VA_ARGS__)
#define SG_OP_ANON3(N, ...) SG_OP_ENTRY(n##N, __VA_ARGS__)

enum sg_kind { SG_K_NONE, SG_K_VGPR, SG_K_SGPR, SG_K_CONST };

/* in->imm of a wait: how many operations of each counter may be outstanding. */
#define SG_WAIT_ANY 0xff
union sg_wait {
	int64_t imm;
	struct {
		uint8_t load, lds, scalar, store;
	};
};

struct sg_src {
	/* SG_K_CONST: a row of equal words (VALU) or the words themselves (others). */
	const uint32_t *row;
	uint32_t off; /* SG_K_VGPR: word offset into w->v; SG_K_SGPR: slot */
	uint8_t kind;
	char type;
	uint8_t sel; /* SDWA: 0..3 byte, 4 low, 5 high half, 6 all */
	bool neg : 1, abs : 1, neg_hi : 1, sext : 1;
	bool hi : 1, hi_hi : 1; /* op_sel, op_sel_hi */
};

struct sg_dst {
	uint32_t off;
	uint8_t kind;
	char type;
};

enum sg_dpp { SG_DPP_NONE, SG_DPP_16, SG_DPP_8 };

/* What an instruction may carry behind its operands. */
struct sg_mods {
	uint8_t clamp, omod; /* omod: 0, 2, 4 (times), 1 (halved) */
	uint8_t op_sel, op_sel_hi, neg_lo, neg_hi;
	bool has_op_sel, has_op_sel_hi, has_neg;
	uint8_t dst_sel, dst_unused; /* SDWA; unused: 0 pad, 1 sext, 2 preserve */
	uint8_t src_sel[2];
	bool sdwa;
	uint8_t dpp;
	uint16_t dpp_ctrl;
	uint32_t dpp8; /* 8 x 3 bits */
	uint8_t row_mask, bank_mask;
	bool bound_ctrl, fi;
	int32_t offset, offset0, offset1;
	bool offen, idxen, glc, lds, gds, tfe, atomic_return;
	bool coherent; /* sc1 or a wide scope: an atomic load or store, it may be */
	uint8_t cbsz, abid, blgp;
	uint8_t index_key, byte_sel;
	bool has_byte_sel;
	uint8_t op_sel_n; /* how many were written */
	uint8_t neg;      /* of f64 MFMA */
	bool format;      /* buffers: written; then ops-typed.c's numbers */
	uint8_t format_data, format_num;
	bool m_seen; /* matrix modifiers were written */
};

/* What every execution reads comes first and fills one cache line. */
struct sg_inst {
	_Alignas(64) sg_exec_fn exec;
	struct sg_src src[SG_SRC_MAX];
	struct sg_dst dst[SG_DST_MAX];
	sg_lane_fn lane;
	const struct sg_op *op;
	int64_t imm;
	const struct sg_inst *volatile target;
	const struct sg_inst *pair; /* VOPD: the second half */
	const struct sg_mods *mods; /* never NULL */
	const char *why;            /* SG illegal: the reason */
	sg_lane_fn mode_lane;       /* for unusual MODEs */
	uint64_t pc;
	uint32_t line; /* index for counts */
	uint8_t size;  /* bytes of code */
	uint8_t nsrc, ndst;
	bool full;  /* VALU: needs the path with modifiers */
	bool signs; /* with full: they are neg and abs of whole registers, no others */
	bool half;  /* VALU: 16-bit result, merged into its register */
	bool wide;  /* VALU: two-word result */
	bool cmpx;  /* the mask also goes to exec */
	bool falsify;
	uint8_t san_class; /* sanitize-parts.h: 0 until the sanitizer has looked at it */
};

/* ---- running ---- */

enum sg_state {
	SG_RUN,
	SG_YIELD,   /* quantum used up */
	SG_SLEEP,   /* s_sleep: willing to wait */
	SG_BARRIER, /* waits */
	SG_DONE,
	SG_FAULTED,
};

struct sg_group;
struct sg_run;

struct sg_span {
	uint64_t lo, hi;
};

struct sg_wave {
	_Alignas(64) uint32_t s[SG_S_SLOTS];
	uint32_t em[SG_LANES_MAX];         /* exec as rows */
	uint32_t tmp[4][2 * SG_LANES_MAX]; /* sources made ready */
	uint32_t res[2 * SG_LANES_MAX];
	uint64_t addr[SG_LANES_MAX];
	uint32_t *v;
	uint32_t lanes;
	uint64_t lane_all; /* mask of all lanes */
	const struct sg_inst *ip;
	int64_t quantum;
	uint8_t *scratch; /* this wave's, lanes * scratch_lane bytes */
	uint32_t scratch_lane;
	uint32_t mode;
	bool fp_slow; /* MODE differs from round-to-nearest with denormals kept */
	enum sg_state state;
	uint32_t index;         /* in its group */
	struct sg_span span[4]; /* the last ranges that were found good */
	uint32_t span_next;
	uint32_t barrier_phase;
	bool released;      /* from a barrier, and has not waited for memory since */
	uint32_t gws_round; /* of the barrier over all groups that it waits at; 0: none */
	uint32_t schedule_mode;
	uint32_t gpr_idx; /* gfx9: s_set_gpr_idx_on's mask, 0 when off */
	uint64_t executed;
	struct sg_group *g;
	const struct sg_program *p;
};

struct sg_group {
	struct sg_run *run;
	uint32_t id[3];
	uint64_t index;
	uint8_t *lds;
	uint32_t lds_size;
	uint32_t nwaves, live;
	uint32_t arrived, phase; /* barrier */
	bool put_aside;          /* after all the turns that a group gets at first */
	struct sg_wave *waves;
	uint32_t *vgprs;
	uint8_t *scratch;
	struct sg_group *next;
	void *memory; /* of what the pointers above point to */
	size_t memory_size;
	struct sg_san_group *san; /* the sanitizer's shadow; NULL: it does not run */
};

struct sg_kernel {
	const struct sg_launch *launch;
	struct sg_program *program;
	const struct sg_inst *entry;
	uint32_t rsrc1, rsrc2, rsrc3;
	uint16_t properties;
	uint32_t lanes, nwaves, scratch_lane;
	uint32_t groups[3];
	uint64_t ngroups;
};

/* ---- shared by the files of the interpreter ---- */

static inline bool sg_wave64(const struct sg_wave *w)
{
	return w->lanes == 64;
}

static inline uint64_t sg_s64(const struct sg_wave *w, uint32_t slot)
{
	return w->s[slot] | (uint64_t)w->s[slot + 1] << 32;
}

static inline void sg_set_s64(struct sg_wave *w, uint32_t slot, uint64_t v)
{
	w->s[slot] = (uint32_t)v;
	w->s[slot + 1] = (uint32_t)(v >> 32);
}

static inline uint64_t sg_exec(const struct sg_wave *w)
{
	return sg_s64(w, SG_S_EXEC) & w->lane_all;
}

/* Words of an operand of this type; in masks' case for 64 lanes. */
unsigned int sg_type_words(char type);
bool sg_type_float(char type);
bool sg_type_half(char type);

/* Makes em follow exec. */
void sg_exec_changed(struct sg_wave *w);
void sg_mode_changed(struct sg_wave *w);

/* A lane mask from or to an SGPR slot. */
static inline uint64_t sg_mask_read(const struct sg_wave *w, const struct sg_src *s)
{
	if (s->kind == SG_K_CONST)
		return s->row[0] | (uint64_t)s->row[1] << 32;
	return sg_wave64(w) ? sg_s64(w, s->off) : w->s[s->off];
}

static inline void sg_mask_write(struct sg_wave *w, const struct sg_dst *d, uint64_t mask)
{
	w->s[d->off] = (uint32_t)mask;
	if (sg_wave64(w))
		w->s[d->off + 1] = (uint32_t)(mask >> 32);
	if (d->off == SG_S_EXEC)
		sg_exec_changed(w);
}

/* Source k as a row (two for 64 bits, lanes words apart), modifiers applied. */
const uint32_t *sg_src_row(struct sg_wave *w, const struct sg_inst *in, unsigned int k);
/*
 * A lane mask of source 0 as DPP moves its lanes: those that read 0 are off. *on loses
 * the lanes that the instruction leaves as they are.
 */
uint64_t sg_dpp_lanes(
	const struct sg_wave *w, const struct sg_inst *in, uint64_t lanes, uint64_t *on);
const struct sg_inst *sg_exec_valu(struct sg_wave *w, const struct sg_inst *in);
const struct sg_inst *sg_exec_nothing(struct sg_wave *w, const struct sg_inst *in);
const struct sg_inst *sg_exec_vopd(struct sg_wave *w, const struct sg_inst *in);

/*
 * Makes this thread's floating point do as MODE says for results of this type, until
 * sg_fp_leave gets what sg_fp_enter returned.
 */
unsigned int sg_fp_enter(const struct sg_wave *w, char type);
void sg_fp_leave(unsigned int csr);

/* The scalar source k: its first word's address, and its value. */
static inline const uint32_t *sg_sp(
	const struct sg_wave *w, const struct sg_inst *in, unsigned int k)
{
	return in->src[k].kind == SG_K_CONST ? in->src[k].row : w->s + in->src[k].off;
}

static inline uint64_t sg_sp64(
	const struct sg_wave *w, const struct sg_inst *in, unsigned int k)
{
	const uint32_t *p = sg_sp(w, in, k);

	return p[0] | (uint64_t)p[1] << 32;
}

/* Stops the wave and the launch; always returns NULL. address 0: none. */
const struct sg_inst *sg_stop(struct sg_wave *w, const struct sg_inst *in,
	enum sg_fault_kind kind, uint64_t address, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Whether [addr, addr + size) may be accessed; remembers the last ranges. */
bool sg_range_slow(struct sg_wave *w, uint64_t addr, uint64_t size);
static inline bool sg_range(struct sg_wave *w, uint64_t addr, uint64_t size)
{
	for (int i = 0; i < 4; i++)
		if (addr >= w->span[i].lo && addr < w->span[i].hi &&
			size <= w->span[i].hi - addr)
			return true;
	return sg_range_slow(w, addr, size);
}

/* For a fault's text: how addr, where nothing may be accessed, lies to the block before.
 */
void sg_near_block(struct sg_wave *w, uint64_t addr, char *text, size_t cap);

/* The decoded instruction at an address; never NULL once decoded (may be an illegal one).
 */
const struct sg_inst *sg_program_at(struct sg_program *p, uint64_t pc);

/* The table: by its name, aliases resolved; NULL when unknown. */
const struct sg_op *sg_op_find(const char *name);
/* The lane loop of a vector operation in the build for unusual MODEs, or NULL. */
sg_lane_fn sg_op_mode_lane(const char *name);
const char *sg_simd_name(void);

/* What is known of the addresses of the lanes that are on. */
struct sg_scan {
	uint64_t lo, hi; /* lowest and highest; lo > hi: no lane is on */
	uint64_t line;   /* 0: each is a dword behind the lane before */
	uint64_t same;   /* 0: they are one address */
	uint64_t first;  /* of the lowest lane that is on */
	uint64_t zero;   /* with line 0: where lane 0 is, or would be */
};

/* Lane code of the build that suits this CPU. n is 32 or 64 lanes. */
struct sg_lane_build {
	const char *name;
	const struct sg_op *const *first, *const *last;
	void (*expand)(uint32_t bits, uint32_t *row); /* mask to row */
	void (*splat)(uint32_t value, uint32_t *row); /* 32 words */
	void (*merge16)(uint32_t *d, const uint32_t *r, const uint32_t *em, int mode);
	void (*merge)(uint32_t *d, const uint32_t *r, const uint32_t *em, unsigned int n);
	/* addr = v (+ hi << 32 unless NULL) + base */
	void (*address)(uint64_t *addr, const uint32_t *v, const uint32_t *hi,
		uint64_t base, unsigned int n);
	void (*scan)(const uint64_t *addr, const uint32_t *em, unsigned int n,
		struct sg_scan *out);
	/* Rows of dwords as they lie in memory, of which only what is on is touched. */
	void (*load_line)(uint32_t *d, const void *p, const uint32_t *em, unsigned int n);
	void (*store_line)(
		void *p, const uint32_t *s, const uint32_t *em, unsigned int n);
	/*
	 * Dwords at base + off for lanes that are on, all within size and aligned; else
	 * false and nothing done. Rows of d (of s) lie n words apart.
	 */
	bool (*gather)(uint32_t *d, unsigned int words, const void *base, uint64_t size,
		const uint32_t *off, uint32_t plus, const uint32_t *em, unsigned int n);
	bool (*scatter)(void *base, uint64_t size, const uint32_t *off, uint32_t plus,
		const uint32_t *s, unsigned int words, const uint32_t *em,
		unsigned int n);
	void (*offsets)(
		uint32_t *off, const uint64_t *addr, uint64_t base, unsigned int n);
	/*
	 * c[m][n] += a[m][stored] times rows of b: element x of a row of a meets row
	 * at[m][x] of b; one fused multiply-add after the other, x ascending.
	 */
	void (*matrix)(float *c, const float *a, const uint8_t *at, const float *b,
		unsigned int m, unsigned int n, unsigned int stored);
};
extern const struct sg_lane_build sg_lane_plain, sg_lane_avx2, sg_lane_avx512,
	sg_lane_mode;
extern const struct sg_lane_build *sg_lane;
enum { SG_MERGE_ZERO, SG_MERGE_LOW, SG_MERGE_HIGH };
