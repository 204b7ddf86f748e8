/* A code object: opened, read whole, closed. Its strings and arrays live in one arena. */
#include "codeobj/private.h"
#include "container/bytes.h"
#include "util/range.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* What an object's strings and arrays may take: real ones take about as much as their
   notes, and notes that repeat themselves (V2's aliases) shall not take much more. */
#define ARENA_LEAST (64u << 20)
#define ARENA_MOST  (512u << 20)

static size_t arena_limit(uint64_t size)
{
	return size > (ARENA_MOST - ARENA_LEAST) / 16 ? ARENA_MOST
						      : ARENA_LEAST + (size_t)size * 16;
}

enum {                      /* note types, by owner (LLVM AMDGPUUsage, "Note Records") */
	NT_HSA_VERSION = 1, /* "AMD" */
	NT_HSA_ISA = 3,     /* "AMD" */
	NT_HSA_METADATA = 10, /* "AMD" */
	NT_HSA_ISA_NAME = 11, /* "AMD" */
	NT_PAL_METADATA = 12, /* "AMD", legacy */
	NT_METADATA = 32,     /* "AMDGPU" */
};

int rck_no_memory(struct rck_diag *diag)
{
	return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE,
		"no memory, or metadata that becomes more than its size explains");
}

struct rck_kernel *rck_code_object_add_kernel(
	struct rck_code_object *co, struct rck_diag *diag)
{
	struct rck_parse *p = rck_parse_of(co);
	struct rck_kernel *k;
	size_t cap;

	if (co->n_kernels == RCK_KERNELS_MAX) {
		rck_fail(diag, -E2BIG, RCK_OFFSET_NONE,
			"more than %u kernels in one code object", RCK_KERNELS_MAX);
		return NULL;
	}
	if (co->n_kernels == p->kernels_cap) {
		cap = p->kernels_cap ? p->kernels_cap * 2 : 64;
		k = realloc(co->kernels, cap * sizeof(*k));
		if (!k) {
			rck_no_memory(diag);
			return NULL;
		}
		co->kernels = k;
		p->kernels_cap = cap;
	}
	k = &co->kernels[co->n_kernels++];
	memset(k, 0, sizeof(*k));
	k->object = co;
	k->unit = co->n_metadata_notes - 1;
	return k;
}

void rck_code_object_add_note(
	struct rck_code_object *co, int code, uint64_t offset, const char *fmt, ...)
{
	struct rck_diag *d;
	va_list ap;

	if (co->n_notes == RCK_NOTES_MAX)
		return;
	if (!co->notes)
		co->notes =
			rck_arena_alloc(co->arena, RCK_NOTES_MAX * sizeof(*co->notes));
	if (!co->notes)
		return;
	d = &co->notes[co->n_notes++];
	d->code = code;
	d->offset = rck_elf_offset(&rck_parse_of(co)->elf, offset);
	va_start(ap, fmt);
	vsnprintf(d->msg, sizeof(d->msg), fmt, ap);
	va_end(ap);
	if (co->n_notes == RCK_NOTES_MAX)
		snprintf(d->msg, sizeof(d->msg), "more oddities than are listed");
}

void rck_text_add(struct rck_text *t, const char *s, size_t len)
{
	size_t room = sizeof(t->buf) - 4 - t->len;

	if (t->full)
		return;
	t->full = len > room;
	if (len > room)
		len = room;
	if (len) /* s may be NULL: an empty string of msgpack's */
		memcpy(t->buf + t->len, s, len);
	t->len += len;
	if (t->full) {
		memcpy(t->buf + t->len, "...", 3);
		t->len += 3;
	}
}

void rck_text_addf(struct rck_text *t, const char *fmt, ...)
{
	char buf[64];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (n > 0)
		rck_text_add(
			t, buf, (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}

static const char *const hidden_names[RCK_HIDDEN_COUNT_] = {
	[RCK_HIDDEN_BLOCK_COUNT_X] = "hidden_block_count_x",
	[RCK_HIDDEN_BLOCK_COUNT_Y] = "hidden_block_count_y",
	[RCK_HIDDEN_BLOCK_COUNT_Z] = "hidden_block_count_z",
	[RCK_HIDDEN_GROUP_SIZE_X] = "hidden_group_size_x",
	[RCK_HIDDEN_GROUP_SIZE_Y] = "hidden_group_size_y",
	[RCK_HIDDEN_GROUP_SIZE_Z] = "hidden_group_size_z",
	[RCK_HIDDEN_REMAINDER_X] = "hidden_remainder_x",
	[RCK_HIDDEN_REMAINDER_Y] = "hidden_remainder_y",
	[RCK_HIDDEN_REMAINDER_Z] = "hidden_remainder_z",
	[RCK_HIDDEN_GLOBAL_OFFSET_X] = "hidden_global_offset_x",
	[RCK_HIDDEN_GLOBAL_OFFSET_Y] = "hidden_global_offset_y",
	[RCK_HIDDEN_GLOBAL_OFFSET_Z] = "hidden_global_offset_z",
	[RCK_HIDDEN_GRID_DIMS] = "hidden_grid_dims",
	[RCK_HIDDEN_NONE] = "hidden_none",
	[RCK_HIDDEN_PRINTF_BUFFER] = "hidden_printf_buffer",
	[RCK_HIDDEN_HOSTCALL_BUFFER] = "hidden_hostcall_buffer",
	[RCK_HIDDEN_MULTIGRID_SYNC_ARG] = "hidden_multigrid_sync_arg",
	[RCK_HIDDEN_HEAP_V1] = "hidden_heap_v1",
	[RCK_HIDDEN_DEFAULT_QUEUE] = "hidden_default_queue",
	[RCK_HIDDEN_COMPLETION_ACTION] = "hidden_completion_action",
	[RCK_HIDDEN_DYNAMIC_LDS_SIZE] = "hidden_dynamic_lds_size",
	[RCK_HIDDEN_PRIVATE_BASE] = "hidden_private_base",
	[RCK_HIDDEN_SHARED_BASE] = "hidden_shared_base",
	[RCK_HIDDEN_QUEUE_PTR] = "hidden_queue_ptr",
	[RCK_HIDDEN_UNKNOWN] = "hidden_unknown",
};

const char *rck_hidden_name(enum rck_hidden h)
{
	return hidden_names[h];
}

static int find_hidden(const char *s, size_t len)
{
	if (len < 7 || memcmp(s, "hidden_", 7))
		return -1;
	for (int i = 0; i < RCK_HIDDEN_UNKNOWN; i++)
		if (strlen(hidden_names[i]) == len && !memcmp(hidden_names[i], s, len))
			return i;
	return RCK_HIDDEN_UNKNOWN;
}

const char *rck_code_object_intern(
	struct rck_code_object *co, const char *s, size_t len, int *hidden)
{
	struct rck_parse *p = rck_parse_of(co);
	uint32_t hash = rck_symbol_hash(RCK_SYMBOL_HASH, s, len);
	struct rck_intern *e = &p->interned[(hash ^ hash >> 11) & (RCK_INTERN_SLOTS - 1)];

	if (!e->s || e->hash != hash || e->len != len || memcmp(e->s, s, len)) {
		const char *copy = rck_arena_strndup(co->arena, s, len);

		if (!copy)
			return NULL;
		*e = (struct rck_intern){copy, (uint32_t)len, hash, find_hidden(s, len)};
	}
	if (hidden)
		*hidden = e->hidden;
	return e->s;
}

static bool owner_is(const struct rck_note *n, const char *owner)
{
	return n->owner_len == strlen(owner) && !memcmp(n->owner, owner, n->owner_len);
}

static int read_note(void *arg, const struct rck_note *n, struct rck_diag *diag)
{
	struct rck_code_object *co = arg;
	struct rck_parse *p = rck_parse_of(co);

	if (owner_is(n, "AMDGPU") && n->type == NT_METADATA) {
		co->n_metadata_notes++;
		return rck_metadata_read(co, n, diag);
	}
	if (!owner_is(n, "AMD"))
		return 0;
	switch (n->type) {
	case NT_HSA_ISA:
		/* u16 vendor and architecture name sizes, u32 major, minor, stepping */
		if (n->desc_size >= 16 && !p->n_isa++)
			for (int i = 0; i < 3; i++)
				p->isa_version[i] = rck_le32(n->desc + 4 + 4 * i);
		break;
	case NT_HSA_ISA_NAME:
		p->isa_name = rck_arena_strndup(co->arena, (const char *)n->desc,
			strnlen((const char *)n->desc, n->desc_size));
		if (!p->isa_name)
			return rck_no_memory(diag);
		break;
	case NT_HSA_METADATA:
		co->n_metadata_notes++;
		return rck_metadata_v2_read(co, n, diag);
	}
	return 0;
}

static int by_symbol(const void *a, const void *b)
{
	const struct rck_kernel *x = *(struct rck_kernel *const *)a;
	const struct rck_kernel *y = *(struct rck_kernel *const *)b;
	int order = strcmp(x->symbol, y->symbol);

	return order ? order : (x > y) - (x < y);
}

/* Drops kernels whose symbol came before: notes of relocatables that were linked twice.
   By sorting, since names can be chosen to meet in any hash table. */
static int drop_duplicates(struct rck_code_object *co, struct rck_diag *diag)
{
	size_t kept = 0, dropped = 0;
	struct rck_kernel **order;

	if (co->n_kernels < 2)
		return 0;
	order = malloc(co->n_kernels * sizeof(*order));
	if (!order)
		return rck_no_memory(diag);
	for (size_t i = 0; i < co->n_kernels; i++)
		order[i] = &co->kernels[i];
	qsort(order, co->n_kernels, sizeof(*order), by_symbol);
	for (size_t i = 1; i < co->n_kernels; i++)
		if (!strcmp(order[i - 1]->symbol, order[i]->symbol))
			dropped++;
	if (dropped) {
		/* a symbol of NULL marks the later ones, which stand behind the first */
		for (size_t i = co->n_kernels - 1; i; i--)
			if (!strcmp(order[i - 1]->symbol, order[i]->symbol)) {
				rck_code_object_add_note(co, -EEXIST, RCK_OFFSET_NONE,
					"the metadata describes a kernel twice: %.150s",
					order[i]->symbol);
				order[i]->symbol = NULL;
			}
		for (size_t i = 0; i < co->n_kernels; i++)
			if (co->kernels[i].symbol)
				co->kernels[kept++] = co->kernels[i];
		co->n_kernels = kept;
	}
	free(order);
	return 0;
}

/* Symbols that may be a kernel's descriptor: 64 bytes of data, and with by_name only
   those that are called like one; without it no name is touched. V2: by the symbol's
   type. */
static uint64_t count_descriptors(
	const struct rck_symtab *t, unsigned version, bool by_name, const char **last)
{
	struct rck_symbol s;
	uint64_t n = 0;
	size_t len;

	for (uint64_t i = 0; i < t->n; i++) {
		const uint8_t *sym = t->syms + i * sizeof(Elf64_Sym);
		unsigned type = sym[4] & 0xf;

		if (!rck_le16(sym + 6) ||
			(version == 2 ? type != RCK_STT_KERNEL_V2
				      : type != STT_OBJECT ||
						rck_le64(sym + 16) !=
							RCK_DESCRIPTOR_SIZE))
			continue;
		if (by_name) {
			if (!rck_symtab_get(t, i, &s))
				continue;
			/* names may share bytes: of each only so much is looked at */
			len = strnlen(s.name, 1 << 16);
			if (version != 2 && (len <= 3 || strcmp(s.name + len - 3, ".kd")))
				continue;
			*last = s.name;
		}
		n++;
	}
	return n;
}

/* Kernel descriptors that no metadata speaks of: such kernels would go unseen. */
static int check_all_described(struct rck_code_object *co, struct rck_diag *diag)
{
	struct rck_parse *p = rck_parse_of(co);
	const struct rck_symtab *t = p->symbols.has_dynamic
					     ? &p->symbols.dynamic
					     : rck_symbols_table(&p->symbols, &p->elf);
	uint64_t there, found = 0;
	const char *last = "";

	if (!t || co->osabi != ELFOSABI_AMDGPU_HSA)
		return 0;
	for (size_t i = 0; i < co->n_kernels; i++)
		found += co->kernels[i].kd.found;
	if (count_descriptors(t, co->version, false, NULL) <= found)
		return 0;
	there = count_descriptors(t, co->version, true, &last);
	if (there <= found)
		return 0;
	return rck_fail(diag, -ENODATA, rck_elf_offset(&p->elf, 0),
		"%llu of %llu kernel descriptors have no metadata (perhaps %.100s)",
		(unsigned long long)(there - found), (unsigned long long)there, last);
}

static void read_header(struct rck_code_object *co)
{
	const GElf_Ehdr *h = &rck_parse_of(co)->elf.ehdr;

	co->osabi = h->e_ident[EI_OSABI];
	co->abiversion = h->e_ident[EI_ABIVERSION];
	co->e_type = h->e_type;
	co->e_flags = h->e_flags;
	co->machine = h->e_machine;
	if (co->osabi == ELFOSABI_AMDGPU_HSA && co->abiversion <= 4)
		co->version = co->abiversion + 2;
	rck_target_decode(co);
}

/* The three flags (design: "Facts about a kernel"). */
static void judge_flags(struct rck_kernel *k)
{
	bool stated = k->stated & RCK_MD(DYNAMIC_STACK);
	unsigned version = k->object->version;

	k->declares_hostcall = k->hidden >> RCK_HIDDEN_HOSTCALL_BUFFER & 1;
	k->declares_heap = k->hidden >> RCK_HIDDEN_HEAP_V1 & 1;
	if ((stated && k->md_dynamic_stack) || (k->kd.found && k->kd.uses_dynamic_stack))
		k->dynamic_stack = RCK_YES;
	else if ((version == 3 || version == 4) && k->scratch >= 16384)
		k->dynamic_stack =
			RCK_POSSIBLE; /* what LLVM assumes of a call not seen */
	k->dynamic_stack_disagrees =
		stated && k->kd.found && k->md_dynamic_stack != k->kd.uses_dynamic_stack;
}

static int read_all(struct rck_code_object *co, struct rck_diag *diag)
{
	struct rck_parse *p = rck_parse_of(co);
	int err;

	err = rck_elf_open(&p->elf, co->slice, co->arena, diag);
	if (err)
		return err;
	read_header(co);
	err = rck_elf_each_note(&p->elf, read_note, co, diag);
	rck_metadata_release(co);
	if (!err)
		err = drop_duplicates(co, diag);
	if (err)
		return err;
	rck_symbols_open(&p->symbols, &p->elf);
	rck_descriptor_read_all(co);
	err = check_all_described(co, diag);
	if (err)
		return err;
	for (size_t i = 0; i < co->n_kernels; i++)
		judge_flags(&co->kernels[i]);
	rck_cross_check(co);
	rck_occupancy_judge(co);
	rck_cause_judge(co);
	return 0;
}

static int open_slice(
	struct rck_slice s, struct rck_code_object **out, struct rck_diag *diag)
{
	struct rck_code_object *co = calloc(1, sizeof(*co));
	struct rck_diag own;
	int err;

	if (!diag)
		diag = &own;
	*diag = (struct rck_diag){.offset = RCK_OFFSET_NONE};
	if (!co)
		return rck_no_memory(diag);
	co->slice = s;
	co->arena = rck_arena_new(arena_limit(s.size));
	co->priv = calloc(1, sizeof(struct rck_parse));
	err = co->arena && co->priv ? read_all(co, diag) : rck_no_memory(diag);
	if (err) {
		rck_code_object_close(co);
		return err;
	}
	*out = co;
	return 0;
}

int rck_code_object_open_mem(const void *data, size_t size, struct rck_code_object **out,
	struct rck_diag *diag)
{
	return open_slice((struct rck_slice){data, size, 0}, out, diag);
}

int rck_code_object_open(struct rck_file *file, const struct rck_item *item,
	struct rck_code_object **out, struct rck_diag *diag)
{
	struct rck_code_object *co;
	const char *path = NULL;
	int err;

	if (item->kind != RCK_ITEM_CODE_OBJECT)
		return rck_fail(diag, -EINVAL, item->offset, "not a code object");
	err = open_slice(
		(struct rck_slice){item->data, item->size, item->offset}, &co, diag);
	if (item->bytes) {
		/* a file that changed below us reads as zeros: whatever came of that, the
		   change is what is wrong */
		int changed = rck_bytes_check(item->bytes, false, diag);

		if (changed) {
			if (!err)
				rck_code_object_close(co);
			return changed;
		}
	}
	if (err)
		return err;
	co->bytes = item->bytes ? rck_bytes_ref(item->bytes) : NULL;
	/* a file's own name speaks of a bare code object only */
	if (file && item->where && !*item->where)
		path = rck_file_path(file);
	rck_cross_check_claim(co, item->target, path);
	*out = co;
	return 0;
}

void rck_code_object_close(struct rck_code_object *co)
{
	struct rck_parse *p;

	if (!co)
		return;
	p = rck_parse_of(co);
	if (p) {
		rck_metadata_release(co);
		rck_symbols_close(&p->symbols);
		rck_elf_close(&p->elf);
		free(p);
	}
	free(co->kernels);
	rck_arena_free(co->arena);
	rck_bytes_unref(co->bytes);
	free(co);
}

unsigned rck_code_object_version(const struct rck_code_object *co)
{
	return co->version;
}

const char *rck_code_object_target(const struct rck_code_object *co)
{
	return co->target;
}

size_t rck_code_object_kernel_count(const struct rck_code_object *co)
{
	return co->n_kernels;
}

const struct rck_kernel *rck_code_object_kernel(
	const struct rck_code_object *co, size_t i)
{
	return i < co->n_kernels ? &co->kernels[i] : NULL;
}

size_t rck_code_object_note_count(const struct rck_code_object *co)
{
	return co->n_notes;
}

const struct rck_diag *rck_code_object_note(const struct rck_code_object *co, size_t i)
{
	return i < co->n_notes ? &co->notes[i] : NULL;
}

const char *rck_version(void)
{
	return RCK_VERSION;
}
