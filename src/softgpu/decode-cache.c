/*
 * Programs: the instructions of one code object for one wave size, decoded when control
 * first reaches them and kept. A run of instructions lies in one array, so that the next
 * is in + 1; a run ends with a jump or with a link to the run that follows.
 */
#include "softgpu/decode.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "disasm/disasm.h"
#include "softgpu/code.h"
#include "util/range.h"

#define RUN_MAX    512
#define CHUNK_SIZE (1u << 16)
#define ROWS_HASH  1024

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(64) uint8_t data[];
};

struct row_entry {
	struct row_entry *next;
	uint64_t value;
	bool words; /* two words instead of rows */
	_Alignas(64) uint32_t data[];
};

struct sg_cache {
	pthread_mutex_t lock;
	struct rck_disasm *disasm;
	struct chunk *chunks;
	struct row_entry *rows[ROWS_HASH];
	const struct sg_inst **at; /* one a dword of the image */
	size_t at_bytes;
	uint32_t lines;
};

const char *const sg_exec_targets[] = {
	"gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", NULL};

static const struct {
	const char *prefix;
	enum sg_gen gen;
} gens[] = {
	{"gfx90a", SG_GEN_90A},
	{"gfx94", SG_GEN_940},
	{"gfx9-4-generic", SG_GEN_940},
	{"gfx103", SG_GEN_10},
	{"gfx10-3-generic", SG_GEN_10},
	{"gfx110", SG_GEN_11},
	{"gfx11-generic", SG_GEN_11},
	{"gfx120", SG_GEN_12},
	{"gfx12-generic", SG_GEN_12},
};

void *sg_program_alloc(struct sg_program *p, size_t size)
{
	struct sg_cache *c = p->cache;
	void *mem;

	size = (size + 63) & ~(size_t)63;
	if (!c->chunks || c->chunks->size - c->chunks->used < size) {
		size_t want = size > CHUNK_SIZE ? size : CHUNK_SIZE;
		struct chunk *n = aligned_alloc(64, (sizeof(*n) + want + 63) & ~63ul);

		if (!n)
			return NULL;
		n->next = c->chunks;
		n->used = 0;
		n->size = want;
		c->chunks = n;
	}
	mem = c->chunks->data + c->chunks->used;
	c->chunks->used += size;
	memset(mem, 0, size);
	return mem;
}

static const uint32_t *constant(struct sg_program *p, uint64_t value, bool words)
{
	struct row_entry *
		*head = &p->cache->rows[(value ^ value >> 32 ^ value >> 20) % ROWS_HASH],
	       *e;
	uint32_t n = words ? 2 : 2 * p->lanes;

	for (e = *head; e; e = e->next)
		if (e->value == value && e->words == words)
			return e->data;
	e = sg_program_alloc(p, sizeof(*e) + n * 4);
	if (!e)
		return NULL;
	e->value = value;
	e->words = words;
	for (uint32_t i = 0; i < n; i++)
		e->data[i] = (uint32_t)(i >= n / 2 ? value >> 32 : value);
	e->next = *head;
	*head = e;
	return e->data;
}

const uint32_t *sg_program_row(struct sg_program *p, uint64_t value)
{
	return constant(p, value, false);
}

const uint32_t *sg_program_words(struct sg_program *p, uint64_t value)
{
	return constant(p, value, true);
}

static const struct sg_inst *exec_illegal(struct sg_wave *w, const struct sg_inst *in)
{
	return sg_stop(w, in, SG_FAULT_ILLEGAL, 0, "%s", in->why);
}

static const struct sg_inst *exec_link(struct sg_wave *w, const struct sg_inst *in)
{
	struct sg_inst *self = (struct sg_inst *)in;

	if (!self->target)
		self->target =
			sg_program_at((struct sg_program *)w->p, (uint64_t)in->imm);
	return self->target;
}

const struct sg_op sg_op_link = {"", "", SG_OP_NOP | SG_OP_END, 0, NULL, exec_link, NULL};
const struct sg_op sg_op_illegal = {
	"", "", SG_OP_NOP | SG_OP_END, 0, NULL, exec_illegal, NULL};

static void make_illegal(
	struct sg_program *p, struct sg_inst *in, const char *text, const char *why)
{
	size_t n = strlen(text) + strlen(why) + 8;
	char *s = sg_program_alloc(p, n);

	if (s)
		snprintf(s, n, "'%s': %s", text, why);
	in->why = s ? s : "out of memory";
	in->exec = exec_illegal;
	in->op = &sg_op_illegal;
}

/* The text of the instruction at pc; its size, or 0 with why. */
int sg_program_text(struct sg_program *p, uint64_t pc, char *text, size_t cap)
{
	uint64_t off = pc - (uint64_t)p->code->base;
	int n;

	if (pc & 3 || !rck_range_ok(off, 4, p->code->size))
		return -EFAULT;
	n = rck_disasm_next(p->cache->disasm, p->code->base + off, p->code->size - off,
		pc, text, cap, NULL);
	return n;
}

int sg_program_text_locked(struct sg_program *p, uint64_t pc, char *text, size_t cap)
{
	int n;

	pthread_mutex_lock(&p->cache->lock);
	n = sg_program_text(p, pc, text, cap);
	pthread_mutex_unlock(&p->cache->lock);
	return n;
}

static void publish(struct sg_cache *c, uint64_t dword, const struct sg_inst *in)
{
	if (in->op != &sg_op_link && !c->at[dword])
		__atomic_store_n(&c->at[dword], in, __ATOMIC_RELEASE);
}

static const struct sg_inst *decode_run(struct sg_program *p, uint64_t pc)
{
	struct sg_cache *c = p->cache;
	uint64_t base = (uint64_t)p->code->base, at = pc;
	struct sg_inst *tmp = aligned_alloc(64, RUN_MAX * sizeof(*tmp)), *run;
	uint64_t from[RUN_MAX]; /* where what was left out before it begins */
	unsigned int n = 0;
	bool end = false;

	if (!tmp)
		return NULL;
	from[0] = at;
	while (n < RUN_MAX - 1 && !end) {
		struct sg_inst *in = &tmp[n];
		char text[256] = "", why[96];
		uint64_t off = at - base;
		int size;

		if (n && rck_range_ok(off, 4, p->code->size) && c->at[off / 4])
			break; /* known from here: link */
		size = sg_program_text(p, at, text, sizeof(text));
		if (size < 0) {
			memset(in, 0, sizeof(*in));
			in->pc = at;
			snprintf(text, sizeof(text), ".long 0x%x",
				rck_range_ok(off, 4, p->code->size)
					? rck_le32(p->code->base + off)
					: 0);
			make_illegal(p, in, text,
				size == -EFAULT ? "outside of the code object"
						: "no instruction");
			size = 4;
			end = true;
		} else if (!sg_decode(p, text, at, (unsigned int)size, in, why)) {
			make_illegal(p, in, text, why);
			end = true;
		} else {
			end = in->op->flags & SG_OP_END;
		}
		at += (uint64_t)size;
		if (in->exec == sg_exec_nothing && size == 4 && !p->watched)
			continue;
		in->line = c->lines++;
		from[++n] = at;
	}
	if (!end) {
		memset(&tmp[n], 0, sizeof(*tmp));
		tmp[n].exec = exec_link;
		tmp[n].op = &sg_op_link;
		tmp[n].imm = (int64_t)at;
		tmp[n].pc = at;
		n++;
	}
	run = sg_program_alloc(p, n * sizeof(*run));
	if (run) {
		memcpy(run, tmp, n * sizeof(*run));
		for (unsigned int i = 0; i < n; i++)
			for (at = from[i]; at <= run[i].pc; at += 4)
				if (rck_range_ok(at - base, 4, p->code->size))
					publish(c, (at - base) / 4, &run[i]);
	}
	free(tmp);
	return run;
}

const struct sg_inst *sg_program_at(struct sg_program *p, uint64_t pc)
{
	static const struct sg_inst outside = {.exec = exec_illegal,
		.op = &sg_op_illegal,
		.why = "control left the code object"};
	struct sg_cache *c = p->cache;
	uint64_t off = pc - (uint64_t)p->code->base;
	const struct sg_inst *in;

	if (pc & 3 || !rck_range_ok(off, 4, p->code->size))
		return &outside;
	in = __atomic_load_n(&c->at[off / 4], __ATOMIC_ACQUIRE);
	if (in)
		return in;
	pthread_mutex_lock(&c->lock);
	in = c->at[off / 4];
	if (!in)
		in = decode_run(p, pc);
	pthread_mutex_unlock(&c->lock);
	return in ? in : &outside;
}

static void program_free(struct sg_program *p)
{
	struct sg_cache *c = p ? p->cache : NULL;

	if (!p)
		return;
	if (c) {
		while (c->chunks) {
			struct chunk *n = c->chunks->next;

			free(c->chunks);
			c->chunks = n;
		}
		if (c->at)
			munmap(c->at, c->at_bytes);
		rck_disasm_close(c->disasm);
		pthread_mutex_destroy(&c->lock);
		free(c);
	}
	free(p);
}

static int program_new(struct sg_code *code, uint32_t lanes, struct sg_program **out,
	struct rck_diag *diag)
{
	struct sg_program *p = calloc(1, sizeof(*p));
	struct sg_cache *c = calloc(1, sizeof(*c));
	struct rck_disasm_options o = {
		.comgr = code->comgr, .llvm = code->llvm, .wave64 = lanes == 64};
	int ret = -ENOMEM;

	if (!p || !c) {
		free(p);
		free(c);
		return -ENOMEM;
	}
	p->cache = c;
	p->code = code;
	p->gen = code->gen;
	p->lanes = lanes;
	pthread_mutex_init(&c->lock, NULL);
	c->at_bytes = (code->size / 4 + 1) * sizeof(*c->at);
	c->at = mmap(NULL, c->at_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->at == MAP_FAILED)
		c->at = NULL;
	else
		ret = rck_disasm_open(code->target, &o, &c->disasm, diag);
	if (ret) {
		program_free(p);
		return ret;
	}
	*out = p;
	return 0;
}

int sg_code_program(struct sg_code *code, uint32_t lanes, bool watched,
	struct sg_program **out, struct rck_diag *diag)
{
	struct sg_program **slot = &code->program[lanes == 64][watched];
	int ret = 0;

	pthread_mutex_lock(&code->lock);
	if (!*slot)
		ret = program_new(code, lanes, slot, diag);
	if (!ret)
		(*slot)->watched = watched;
	*out = *slot;
	pthread_mutex_unlock(&code->lock);
	return ret;
}

int sg_code_open(const char *name, const char *target, const void *base, size_t size,
	const struct sg_code_options *options, struct sg_code **out,
	struct sg_fault *fault)
{
	struct sg_code *code = calloc(1, sizeof(*code));
	struct rck_diag diag = {0};
	struct sg_program *p;
	const char *gfx = strstr(target, "gfx");
	int ret = -ENOTSUP;

	memset(fault, 0, sizeof(*fault));
	fault->kind = SG_FAULT_LAUNCH;
	if (!code)
		return -ENOMEM;
	pthread_mutex_init(&code->lock, NULL);
	snprintf(diag.msg, sizeof(diag.msg), "target '%.64s' is not implemented", target);
	for (size_t i = 0; gfx && i < sizeof(gens) / sizeof(*gens); i++)
		if (!strncmp(gfx, gens[i].prefix, strlen(gens[i].prefix))) {
			code->gen = gens[i].gen;
			ret = 0;
		}
	if (ret)
		goto out;
	code->base = base;
	code->size = size;
	code->name = strdup(name ? name : "code object");
	code->target = strdup(target);
	if (options) {
		code->elf = options->elf;
		code->elf_size = options->elf_size;
		code->bias = options->bias;
	}
	if (options && options->comgr)
		code->comgr = strdup(options->comgr);
	if (options && options->llvm)
		code->llvm = strdup(options->llvm);
	ret = code->name && code->target ? 0 : -ENOMEM;
	/* Now, so that a missing disassembler is an error of loading. */
	if (!ret)
		ret = sg_code_program(
			code, code->gen <= SG_GEN_940 ? 64 : 32, false, &p, &diag);
out:
	if (ret) {
		snprintf(fault->text, sizeof(fault->text), "%s", diag.msg);
		sg_code_close(code);
		return ret;
	}
	fault->kind = SG_FAULT_NONE;
	*out = code;
	return 0;
}

void sg_code_close(struct sg_code *code)
{
	if (!code)
		return;
	for (int i = 0; i < 4; i++)
		program_free(code->program[i / 2][i % 2]);
	sg_source_close(code->source);
	pthread_mutex_destroy(&code->lock);
	free(code->name);
	free(code->target);
	free(code->comgr);
	free(code->llvm);
	free(code);
}
