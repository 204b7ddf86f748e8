/* What the files of memory operations share. */
#pragma once

#include <string.h>

#include "softgpu/decode.h"

enum sg_space { SG_GLOBAL, SG_FLAT, SG_SCRATCH, SG_BUFFER, SG_LDS };

/* How an element lies in memory and in registers. */
enum sg_elem {
	SG_E_U8,
	SG_E_I8,
	SG_E_U16,
	SG_E_I16,
	SG_E_B32,
	SG_E_B64,
	SG_E_B96,
	SG_E_B128,
	SG_E_D16_U8, /* into the low half, the rest stays */
	SG_E_D16_I8,
	SG_E_D16_B16,
	SG_E_D16HI_U8,
	SG_E_D16HI_I8,
	SG_E_D16HI_B16, /* as a store: the upper half's 16 bits */
	SG_E_HI_B8,     /* store only: bits 16..23 */
};

enum sg_dir { SG_LOAD, SG_STORE, SG_ATOMIC };

/* op->arg of a memory operation. */
#define SG_MEM(SPACE, DIR, ELEM) ((SPACE) | (DIR) << 4 | (ELEM) << 8)
#define SG_MEM_SPACE(op)         ((enum sg_space)((op)->arg & 15))
#define SG_MEM_DIR(op)           ((enum sg_dir)((op)->arg >> 4 & 15))
#define SG_MEM_ELEM(op)          ((enum sg_elem)((op)->arg >> 8 & 255))
#define SG_MEM_TYPED(op)         ((op)->arg >> 24) /* ops-typed.c's */
#define SG_MEM_ATOMIC(op)        ((enum sg_atomic)((op)->arg >> 16))

enum sg_atomic {
	SG_A_NONE,
	SG_A_SWAP,
	SG_A_CMPSWAP,
	SG_A_ADD,
	SG_A_SUB,
	SG_A_RSUB,
	SG_A_SMIN,
	SG_A_UMIN,
	SG_A_SMAX,
	SG_A_UMAX,
	SG_A_AND,
	SG_A_OR,
	SG_A_XOR,
	SG_A_MSKOR,
	SG_A_INC,
	SG_A_DEC,
	SG_A_FADD,
	SG_A_FMIN,
	SG_A_FMAX,
	SG_A_FCMPSWAP,
	SG_A_PK_F16,
	SG_A_PK_BF16,
	SG_A_CSUB,
	SG_A_CONDSUB,
	SG_A_WRAP,
	SG_A_CONDXCHG,
};

/* Loads straight into LDS: by a modifier, or by their name. */
static inline bool sg_mem_to_lds(const struct sg_op *op, const struct sg_mods *m)
{
	return m->lds || strstr(op->name, "_load_lds_");
}

/* Where the sources of a memory instruction sit in in->src. */
enum { SG_M_ADDR, SG_M_DATA, SG_M_BASE, SG_M_OFF };

/* Bytes in memory, words in registers. */
static inline unsigned int sg_elem_bytes(enum sg_elem e)
{
	static const uint8_t n[] = {1, 1, 2, 2, 4, 8, 12, 16, 1, 1, 2, 1, 1, 2, 1};

	return n[e];
}

static inline unsigned int sg_elem_words(enum sg_elem e)
{
	return e < SG_E_B64 || e > SG_E_B128 ? 1 : (unsigned int)(e - SG_E_B64) + 2;
}

/* One lane's element at p into its registers d[0], d[st], ... */
static inline void sg_elem_load(enum sg_elem e, const uint8_t *p, uint32_t *d, size_t st)
{
	uint16_t h;
	uint32_t x;

	switch (e) {
	case SG_E_U8:
		*d = *p;
		break;
	case SG_E_I8:
		*d = (uint32_t)(int8_t)*p;
		break;
	case SG_E_U16:
		memcpy(&h, p, 2);
		*d = h;
		break;
	case SG_E_I16:
		memcpy(&h, p, 2);
		*d = (uint32_t)(int16_t)h;
		break;
	case SG_E_D16_U8:
		*d = (*d & 0xffff0000) | *p;
		break;
	case SG_E_D16_I8:
		*d = (*d & 0xffff0000) | (uint16_t)(int8_t)*p;
		break;
	case SG_E_D16_B16:
		memcpy(&h, p, 2);
		*d = (*d & 0xffff0000) | h;
		break;
	case SG_E_D16HI_U8:
		*d = (*d & 0xffff) | (uint32_t)*p << 16;
		break;
	case SG_E_D16HI_I8:
		*d = (*d & 0xffff) | (uint32_t)(int8_t)*p << 16;
		break;
	case SG_E_D16HI_B16:
		memcpy(&h, p, 2);
		*d = (*d & 0xffff) | (uint32_t)h << 16;
		break;
	case SG_E_B64: {
		uint64_t u;

		memcpy(&u, p, 8); /* at once: other threads may write it */
		d[0] = (uint32_t)u;
		d[st] = (uint32_t)(u >> 32);
		break;
	}
	default:
		for (unsigned int k = 0; k < sg_elem_words(e); k++) {
			memcpy(&x, p + 4 * k, 4);
			d[k * st] = x;
		}
	}
}

static inline void sg_elem_store(enum sg_elem e, uint8_t *p, const uint32_t *s, size_t st)
{
	uint16_t h;

	switch (e) {
	case SG_E_U8:
	case SG_E_I8:
		*p = (uint8_t)*s;
		break;
	case SG_E_HI_B8:
		*p = (uint8_t)(*s >> 16);
		break;
	case SG_E_U16:
	case SG_E_I16:
		h = (uint16_t)*s;
		memcpy(p, &h, 2);
		break;
	case SG_E_D16HI_B16:
		h = (uint16_t)(*s >> 16);
		memcpy(p, &h, 2);
		break;
	case SG_E_B64: {
		uint64_t u = s[0] | (uint64_t)s[st] << 32;

		memcpy(p, &u, 8);
		break;
	}
	default:
		for (unsigned int k = 0; k < sg_elem_words(e); k++)
			memcpy(p + 4 * k, &s[k * st], 4);
	}
}

/*
 * An atomic of 4 or 8 bytes at p; returns the old value. shared: other threads may touch
 * p at the same time (not so in LDS and scratch). b is the compare value.
 */
uint64_t sg_atomic_do(enum sg_atomic a, unsigned int bytes, void *p, uint64_t v,
	uint64_t b, bool shared);

/* Parts of flat accesses that fall into the apertures. */
bool sg_lds_lane(struct sg_wave *w, const struct sg_inst *in, uint64_t off,
	unsigned int size, uint8_t **p);

/* ---- LDS ---- */

enum ds_form {
	DS_READ,
	DS_WRITE,
	DS_READ2,
	DS_WRITE2,
	DS_RMW,      /* addr, data */
	DS_CMP,      /* addr, compare, data */
	DS_CMPSTORE, /* addr, data, compare: gfx11's order */
	DS_XCHG2,    /* two exchanges */
	DS_ADDTID_R,
	DS_ADDTID_W,
};

/* op->arg: form, element << 8, atomic << 16, returns << 24, offset scale 64 << 25. */
#define DS(FORM, E, A, RTN, ST64)                                                        \
	((uint32_t)(FORM) | (uint32_t)(E) << 8 | (uint32_t)(A) << 16 |                   \
		(uint32_t)(RTN) << 24 | (uint32_t)(ST64) << 25)
#define DS_FORM(op)   ((enum ds_form)((op)->arg & 255))
#define DS_ELEM(op)   ((enum sg_elem)((op)->arg >> 8 & 255))
#define DS_ATOMIC(op) ((enum sg_atomic)((op)->arg >> 16 & 255))
#define DS_RTN(op)    ((op)->arg >> 24 & 1)
#define DS_ST64(op)   ((op)->arg >> 25 & 1)

/* The byte offset of the first or second part of an access with two. */
uint64_t sg_ds_offset2(const struct sg_inst *in, int which);
/* The lane that lane i of ds_bpermute_b32 reads. */
unsigned int sg_bpermute_from(
	const struct sg_wave *w, const struct sg_inst *in, unsigned int i);

/*
 * Fills w->addr for a buffer access of the lanes that are on; lanes out of the buffer's
 * range get SG_OUT_OF_RANGE. False: the descriptor is of another kind than plain memory,
 * *scratch that of the wave's scratch, at *offset bytes of a lane.
 */
#define SG_OUT_OF_RANGE UINT64_MAX
bool sg_buffer_address(
	struct sg_wave *w, const struct sg_inst *in, bool *scratch, uint64_t *offset);
/* The same for elements of another size than the operation's registers. */
bool sg_buffer_address_of(struct sg_wave *w, const struct sg_inst *in, unsigned int bytes,
	bool *scratch, uint64_t *offset);
/* Stops the wave: nothing is allocated at addr. */
const struct sg_inst *sg_memory_fault(
	struct sg_wave *w, const struct sg_inst *in, uint64_t addr, unsigned int lane);
/* Binds any of SG_MEM's operations. */
const char *sg_bind_mem(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in);

/* Scratch: one lane's bytes are dealt out by dwords over the lanes. */
static inline uint8_t *sg_scratch_at(
	const struct sg_wave *w, uint32_t off, unsigned int lane)
{
	return w->scratch + ((uint64_t)(off >> 2) * w->lanes + lane) * 4 + (off & 3);
}
