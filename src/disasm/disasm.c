#include "disasm/disasm.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/backend.h"
#include "util/range.h"

#define LITERAL 0xff /* as an operand: the word behind the instruction */

struct rck_disasm {
	const struct rck_disasm_backend *backend;
	void *state;
	char name[32];
	/* the generations that the traps below belong to */
	bool sdwa, gfx8_9, gfx950, gfx12, gfx125;
};

static int diag_set(struct rck_diag *diag, int code, const char *fmt, const char *arg)
{
	if (diag) {
		diag->code = code;
		diag->offset = RCK_OFFSET_NONE;
		snprintf(diag->msg, sizeof(diag->msg), fmt, arg);
	}
	return code;
}

/* Splits "gfx90a:sramecc+:xnack-" into the spellings that the libraries want. */
static int target_parse(const char *id, bool wave64, struct rck_disasm_target *t)
{
	static const char triple[] = "amdgcn-amd-amdhsa-";
	size_t n, used = 0;

	if (!strncmp(id, triple, sizeof(triple) - 1)) {
		id += sizeof(triple) - 1;
		id += *id == '-';
	}
	n = strcspn(id, ":");
	if (n < 4 || n >= sizeof(t->processor) || strncmp(id, "gfx", 3))
		return -EINVAL;
	snprintf(t->processor, sizeof(t->processor), "%.*s", (int)n, id);
	/*
	 * comgr gets no features: xnack and sramecc change no encoding, and comgr 2.4
	 * makes an unterminated string of "gfx90a:xnack-" that LLVM then warns about on
	 * stderr.
	 */
	snprintf(t->isa, sizeof(t->isa), "%s-%s", triple, t->processor);
	t->features[0] = '\0';
	for (id += n; *id == ':'; id += n) {
		id++;
		n = strcspn(id, ":");
		if (n < 2 || (id[n - 1] != '+' && id[n - 1] != '-') ||
			used + n + 2 > sizeof(t->features))
			return -EINVAL;
		used += (size_t)snprintf(t->features + used, sizeof(t->features) - used,
			"%s%c%.*s", used ? "," : "", id[n - 1], (int)n - 1, id);
	}
	/* Targets before gfx10 have waves of 64 only, and their feature is always on. */
	if (wave64 && strlen(t->processor) >= 7)
		snprintf(t->features + used, sizeof(t->features) - used,
			"%s-wavefrontsize32,+wavefrontsize64", used ? "," : "");
	return 0;
}

/* Tries the names of one backend; notes in tried the libraries that do not know t. */
static int backend_open(struct rck_disasm *d, const struct rck_disasm_backend *b,
	const char *path, const struct rck_disasm_target *t)
{
	const char *const one[] = {path, NULL};
	const char *const *names = path ? one : b->names;
	int ret = -ENOENT;

	if (path && !*path)
		return -ENOENT;
	for (; *names; names++) {
		void *lib = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
		int err;

		if (!lib)
			continue;
		err = b->open(lib, *names, t, d->name, &d->state);
		if (!err || err == -ENOMEM) {
			d->backend = b;
			return err;
		}
		ret = err;
	}
	return ret;
}

/* LLVM disassembles nothing before gfx8, and ends the process that asks for it. */
static bool is_disassembled(const struct rck_disasm_target *t)
{
	return strlen(t->processor) > 6 || t->processor[3] >= '8';
}

int rck_disasm_open(const char *target_id, const struct rck_disasm_options *options,
	struct rck_disasm **out, struct rck_diag *diag)
{
	/* LLVM's registration of targets is not safe against itself. */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const struct rck_disasm_options none;
	const struct rck_disasm_options *o = options ? options : &none;
	struct rck_disasm_target t;
	struct rck_disasm *d;
	int comgr, llvm = -ENOENT;

	if (target_parse(target_id, o->wave64, &t))
		return diag_set(
			diag, -EINVAL, "'%.64s' is no AMDGPU target id", target_id);
	if (!is_disassembled(&t))
		return diag_set(diag, -ENOTSUP,
			"neither libamd_comgr nor libLLVM disassembles %.64s", t.isa);
	d = calloc(1, sizeof(*d));
	if (!d)
		return diag_set(diag, -ENOMEM, "out of memory%s", "");
	pthread_mutex_lock(&lock);
	comgr = backend_open(d, &rck_disasm_comgr, o->comgr, &t);
	if (comgr)
		llvm = backend_open(d, &rck_disasm_llvm, o->llvm, &t);
	pthread_mutex_unlock(&lock);
	if (!comgr || !llvm) {
		d->gfx8_9 = !strncmp(t.processor, "gfx8", 4) ||
			    !strncmp(t.processor, "gfx9", 4);
		d->gfx12 = !strncmp(t.processor, "gfx12", 5);
		d->gfx125 = !strncmp(t.processor, "gfx125", 6);
		d->gfx950 = !strcmp(t.processor, "gfx950");
		d->sdwa = d->gfx8_9 || !strncmp(t.processor, "gfx10", 5);
		*out = d;
		return 0;
	}
	free(d);
	if (comgr == -ENOENT && llvm == -ENOENT)
		return diag_set(diag, -ENOENT,
			"no disassembler: neither libamd_comgr nor libLLVM can be "
			"opened%s",
			"");
	return diag_set(diag, comgr == -ENOMEM || llvm == -ENOMEM ? -ENOMEM : -ENOTSUP,
		"no disassembler here knows %.64s (libamd_comgr and libLLVM were tried)",
		t.isa);
}

/*
 * A source of gfx950's v_mfma_*_f8f6f4 is a VGPR tuple of a size that its format decides,
 * cbsz for the first and blgp for the second (as llvm-mc 22 encodes them): 8 registers
 * for fp8 and bf8, 6 for fp6 and bf6, 4 for fp4. One that is none, or leaves the register
 * file, crashes LLVM.
 */
static bool is_f8f6f4_tuple(uint32_t src, uint32_t format)
{
	uint32_t size = format < 2 ? 8 : format < 4 ? 6 : 4;

	return (src & 0x1ff) >= 0x100 && (src & 0xff) + size <= 256;
}

/* v_wmma_*_f8f6f4 of gfx1250 crashes LLVM where a source is no VGPR. */
static bool is_wmma_without_vgprs(const struct rck_disasm *d, uint32_t w0, uint32_t w1)
{
	return d->gfx125 && w0 >> 16 == 0xcc33 && !(w1 & 0x100 && w1 >> 9 & 0x100);
}

/* The scales of a v_mfma_scale_* or v_wmma_scale*, which go before the instruction. */
static bool is_scale(const struct rck_disasm *d, uint32_t w0)
{
	uint32_t op = w0 >> 16;

	return d->gfx125 ? op == 0xcc35 || op == 0xcc3a : d->gfx950 && op == 0xd3ac;
}

/*
 * Encodings with fields that mean nothing, on which the libraries crash instead of
 * failing (comgr 2.4 and LLVM 22.1 were seen to): SDWA selectors 7 and dst_unused 3; on
 * gfx8 and gfx9 a literal as buffer offset, as source of VOP3 and VOP3P or as the result
 * of a VOP3 compare; on gfx12 one as the barrier of a SOP1. Field places: AMD's Vega and
 * RDNA2 ISA guides, "Microcode formats"; gfx12's operations: those of all 128 on which
 * llvm-mc 22 crashed.
 */
static bool encoding_crashes(const struct rck_disasm *d, uint32_t w0, uint32_t w1)
{
	uint32_t top = w0 >> 24, op = w0 >> 8 & 0xff;
	bool vop1 = w0 >> 25 == 0x3f, vopc = w0 >> 25 == 0x3e;

	if (d->sdwa && !(w0 >> 31) && (w0 & 0x1ff) == 0xf9) {
		if ((w1 >> 16 & 7) == 7 || (!vop1 && (w1 >> 24 & 7) == 7))
			return true;
		return !vopc && ((w1 >> 8 & 7) == 7 || (w1 >> 11 & 3) == 3);
	}
	if (d->gfx12 && w0 >> 23 == 0x17d && (w0 & 0xff) == LITERAL)
		return (op >= 0x4e && op <= 0x52) || op == 0x57;
	if (!d->gfx8_9)
		return is_wmma_without_vgprs(d, w0, w1);
	if ((top >= 0xe0 && top <= 0xe3) || (top >= 0xe8 && top <= 0xeb))
		return w1 >> 24 == LITERAL;
	if (w0 >> 26 != 0x34)
		return false;
	if (top == 0xd0 && (w0 & 0xff) == LITERAL)
		return true;
	if (d->gfx950 && (w0 >> 16 == 0xd3ad || w0 >> 16 == 0xd3ae) &&
		!(is_f8f6f4_tuple(w1, w0 >> 8 & 7) && is_f8f6f4_tuple(w1 >> 9, w1 >> 29)))
		return true;
	return (w1 & 0x1ff) == LITERAL || (w1 >> 9 & 0x1ff) == LITERAL ||
	       (w1 >> 18 & 0x1ff) == LITERAL;
}

int rck_disasm_next(struct rck_disasm *d, const void *code, size_t avail, uint64_t pc,
	char *text, size_t text_cap, size_t *len)
{
	const uint8_t *bytes = code;
	char raw[RCK_DISASM_TEXT_MAX], *s = raw, *end;
	int n;

	if (avail < 4)
		return -ENODATA;
	if (avail >= 8 && encoding_crashes(d, rck_le32(bytes), rck_le32(bytes + 4)))
		return -EILSEQ;
	if (avail >= 16 && is_scale(d, rck_le32(bytes)) &&
		encoding_crashes(d, rck_le32(bytes + 8), rck_le32(bytes + 12)))
		return -EILSEQ;
	n = d->backend->next(d->state, code, avail, pc, raw);
	if (n < 0)
		return n;
	s += strspn(s, " \t\n");
	end = strstr(s, "//");
	if (!end)
		end = s + strlen(s);
	while (end > s && strchr(" \t\n", end[-1]))
		end--;
	*end = '\0';
	/* LLVM 21 and later give a zero word this name instead of failing. */
	if (!*s || !strncmp(s, "v_illegal", 9))
		return -EILSEQ;
	if ((size_t)(end - s) >= text_cap)
		return -ENOBUFS;
	memcpy(text, s, (size_t)(end - s) + 1);
	if (len)
		*len = (size_t)(end - s);
	return n;
}

const char *rck_disasm_backend(const struct rck_disasm *d)
{
	return d->name;
}

void rck_disasm_close(struct rck_disasm *d)
{
	if (!d)
		return;
	d->backend->close(d->state);
	free(d);
}
