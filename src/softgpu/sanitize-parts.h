/*
 * The sanitizer, inside: what its files share. A launch has one struct sg_san, a
 * workgroup one struct sg_san_group, which only the thread that runs the group touches;
 * the shadow of global memory is shared and locked by page.
 */
#pragma once

#include "softgpu/ops-mem.h"
#include "softgpu/sanitize.h"

enum sg_san_kind {
	SAN_RACE_LDS,
	SAN_RACE_GLOBAL,
	SAN_RACE_LAUNCH,
	SAN_UNINIT_LDS,
	SAN_UNINIT_REGISTER,
	SAN_UNINIT_SCRATCH,
	SAN_BOUNDS_LDS,
	SAN_WAIT,
	SAN_KINDS,
};

/* Where a value that nothing wrote was first read: a register's number, or an offset. */
struct sg_san_origin {
	const struct sg_inst *in; /* NULL: here */
	uint32_t at;
	uint8_t kind; /* SAN_UNINIT_*; what `at` counts in */
	bool scalar;  /* a register: scalar */
};

/* Who touched a dword last, by writing and by reading: see sanitize-race.c. */
struct sg_san_cell {
	uint64_t write, read;
	uint32_t write_pc, read_pc; /* from the code object's beginning */
};

struct sg_san_wave {
	uint64_t undef[SG_ROWS]; /* lanes of a vector register that hold nothing */
	struct sg_san_origin from[SG_ROWS];
	uint32_t sundef[SG_S_SLOTS]; /* bits of a scalar register that hold nothing */
	struct sg_san_origin sfrom[SG_S_SLOTS];
	uint64_t *scratch; /* the same of scratch, a mask of lanes a dword */
	struct sg_san_origin *scratch_from;
	uint32_t scratch_dwords;
	/* memory operations that have still to fill a register */
	uint8_t pending[SG_ROWS];
	uint32_t order[SG_ROWS]; /* of the operation among those of its counter */
	uint16_t waiting[SG_ROWS];
	unsigned int n_waiting;
	bool spending[SG_S_SLOTS];
	bool any_spending;
	uint32_t issued[2]; /* by counter: SAN_VM, SAN_LGKM */
};

struct sg_san_group {
	struct sg_san_wave *waves;
	uint32_t nwaves, dwords;
	struct sg_san_cell *lds,
		*lds_by_byte; /* the latter instead, once there is need */
	uint8_t *lds_bytes; /* of each dword of LDS the bytes that were written: 4 bits */
	struct sg_san_origin *lds_from;
	uint32_t more_phases; /* barriers that a last wave went through alone */
	bool atomics; /* it has used atomics on global memory: see sanitize-race.c */
};

struct sg_san_pages;

struct sg_san {
	FILE *out;
	const struct sg_run *run;
	struct sg_san *next; /* sanitize-race.c: among the launches that run */
	struct sg_san_pages *pages;
	struct sg_san_seen *seen;
	pthread_mutex_t lock; /* of seen and out */
	unsigned int n_seen, left_out;
};

/* One step, as the files pass it on. */
struct sg_san_step {
	struct sg_san *s;
	struct sg_wave *w;
	const struct sg_inst *in;
	struct sg_san_group *g;
	struct sg_san_wave *v;
};

static inline uint32_t sg_san_row(const struct sg_wave *w, uint32_t off)
{
	return off / w->lanes;
}

static inline bool sg_san_wide_mask(const struct sg_wave *w)
{
	return w->lanes == 64;
}

/* ---- sanitize-report.c ---- */

/* One line, unless this kind was reported of this instruction before. */
void sg_san_report(const struct sg_san_step *t, enum sg_san_kind kind, const char *fmt,
	...) __attribute__((format(printf, 3, 4)));
/* The same of a value that nothing wrote: what held it and how it is used. */
void sg_san_report_undef(const struct sg_san_step *t, const char *use, uint64_t lanes,
	const struct sg_san_origin *from);

/* ---- sanitize-race.c ---- */

struct sg_san_pages *sg_san_pages_new(void);
void sg_san_pages_free(struct sg_san_pages *p);
/* Between the two a launch is held against the others that run. */
void sg_san_launch_begin(struct sg_san *s);
void sg_san_launch_end(struct sg_san *s);
void sg_san_touch_lds(const struct sg_san_step *t, uint32_t off, unsigned int bytes,
	bool write, bool atomic, unsigned int lane);
/* w->addr has the addresses of the lanes of on. */
void sg_san_touch_global(const struct sg_san_step *t, uint64_t on, unsigned int bytes,
	bool write, bool atomic);

/* ---- sanitize-wait.c ---- */

enum { SAN_VM, SAN_LGKM };
enum { SAN_BY_VM = 1, SAN_BY_LGKM = 2 };

/* An operation that the counter counts; it fills dst (NULL: nothing, or not registers).
 */
void sg_san_issue(
	const struct sg_san_step *t, unsigned int counters, const struct sg_dst *dst);
void sg_san_issue_scalar(const struct sg_san_step *t, const struct sg_dst *dst);
void sg_san_wait(const struct sg_san_step *t);
/* Sources, and results of what is no memory operation, are there. */
void sg_san_check_pending(const struct sg_san_step *t, bool results);

/* ---- sanitize-regs.c ---- */

/* Lanes of source k (of word `word`, or of any: -1) that hold nothing; *from says why. */
uint64_t sg_san_source(const struct sg_san_step *t, unsigned int k, int word,
	struct sg_san_origin *from);
/* Rows of a result: undef of their lanes in on, the others stay. */
void sg_san_result(const struct sg_san_step *t, const struct sg_dst *d, unsigned int word,
	uint64_t on, uint64_t undef, const struct sg_san_origin *from);
void sg_san_define(const struct sg_san_step *t, const struct sg_dst *d, uint64_t on);
/* Reports the lanes of exec in which source k is used and holds nothing. */
void sg_san_need(const struct sg_san_step *t, unsigned int k, const char *use);
void sg_san_need_data(const struct sg_san_step *t, unsigned int k);
void sg_san_step_valu(const struct sg_san_step *t, uint8_t class);
void sg_san_step_salu(const struct sg_san_step *t, uint8_t class);
void sg_san_branch(const struct sg_san_step *t, uint32_t slot, const char *what);

/* ---- sanitize-memory.c ---- */

void sg_san_step_vmem(const struct sg_san_step *t);
void sg_san_step_lds(const struct sg_san_step *t);
void sg_san_step_cross(const struct sg_san_step *t);
void sg_san_step_append(const struct sg_san_step *t);
void sg_san_step_smem(const struct sg_san_step *t);

/* What an operation is to the sanitizer: see the table in sanitize.c. */
enum san_class {
	SAN_C_NEW, /* not looked at yet */
	SAN_C_NONE,
	SAN_C_VALU,
	SAN_C_CNDMASK,
	SAN_C_LOW_FIRST, /* the low word of the result is of the sources' low words */
	SAN_C_READLANE,
	SAN_C_READFIRST,
	SAN_C_WRITELANE,
	SAN_C_DEFINES, /* results hold something, whatever the sources */
	SAN_C_SWAP,
	SAN_C_INDEXED, /* m0 chooses registers */
	SAN_C_WAIT,
	SAN_C_BARRIER,
	SAN_C_BRANCH_SCC,
	SAN_C_BRANCH_VCC,
	SAN_C_JUMP,
	SAN_C_LDS,
	SAN_C_CROSS,
	SAN_C_APPEND,
	SAN_C_GWS,
	SAN_C_VMEM,
	SAN_C_SMEM,
	SAN_C_CACHE,
	SAN_C_MESSAGE,
	/* scalar: what becomes of bits that hold nothing */
	SAN_C_SALU,  /* SCC stays */
	SAN_C_ARITH, /* SCC is set */
	SAN_C_AND,
	SAN_C_OR,
	SAN_C_XOR, /* also not */
	SAN_C_COPY,
	SAN_C_ANDN2,
	SAN_C_ORN2,
	SAN_C_ANDN1,
	SAN_C_ORN1,
	SAN_C_SELECT,
	SAN_C_CMOV,
	SAN_C_SHL,
	SAN_C_SHR,
	SAN_C_COMPARE, /* no result but SCC */
};
