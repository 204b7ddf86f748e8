/*
 * Metadata of V3 and later: one msgpack map a note (LLVM AMDGPUUsage, "Code Object V3
 * Metadata" to V6; keys as in LLVM 22's AMDGPUMetadataVerifier.cpp). The root map is
 * entered by hand and each kernel unpacked alone, so that memory is bounded by the
 * largest kernel and stays in the cache.
 */
#include "codeobj/private.h"
#include "container/msgpack-scan.h"
#include "util/range.h"

#include <errno.h>
#include <msgpack.h>

/* msgpack-c makes 24 to 48 bytes of each byte: the cap bounds what one kernel takes. */
#define KERNEL_BYTES_MAX (2u << 20)
#define ZONE_CHUNK       (32u << 10)

enum kind { U64, U64X3, BOOL, STR, SKIP };

struct field {
	const char *key;
	uint8_t len, kind;
	int8_t bit; /* RCK_MD, -1: none */
	uint16_t at;
};

#define FIELD(key, kind, bit, member)                                                    \
	{                                                                                \
		key, sizeof(key) - 1, kind, bit, offsetof(struct rck_kernel, member)     \
	}

/* In the order in which LLVM writes them: by key. .name, .symbol and .args are apart. */
static const struct field kernel_fields[] = {
	FIELD(".agpr_count", U64, RCK_MD_AGPR_COUNT, agpr_count),
	FIELD(".args", SKIP, -1, args),
	FIELD(".device_enqueue_symbol", STR, -1, device_enqueue_symbol),
	FIELD(".group_segment_fixed_size", U64, RCK_MD_LDS, lds),
	FIELD(".kernarg_segment_align", U64, RCK_MD_KERNARG_ALIGN, kernarg_align),
	FIELD(".kernarg_segment_size", U64, RCK_MD_KERNARG_SIZE, kernarg_size),
	FIELD(".kind", STR, RCK_MD_KIND, kind),
	FIELD(".language", STR, RCK_MD_LANGUAGE, language),
	FIELD(".language_version", SKIP, -1, language),
	FIELD(".max_flat_workgroup_size", U64, RCK_MD_MAX_WORKGROUP, max_workgroup),
	FIELD(".name", STR, -1, name),
	FIELD(".private_segment_fixed_size", U64, RCK_MD_SCRATCH, scratch),
	FIELD(".reqd_workgroup_size", U64X3, RCK_MD_REQD_WORKGROUP, reqd_workgroup),
	FIELD(".sgpr_count", U64, RCK_MD_SGPR_COUNT, sgpr_count),
	FIELD(".sgpr_spill_count", U64, RCK_MD_SGPR_SPILLS, sgpr_spills),
	FIELD(".symbol", STR, -1, symbol),
	FIELD(".uniform_work_group_size", BOOL, RCK_MD_UNIFORM_WORKGROUP,
		uniform_workgroup),
	FIELD(".uses_dynamic_stack", BOOL, RCK_MD_DYNAMIC_STACK, md_dynamic_stack),
	FIELD(".vec_type_hint", STR, -1, vec_type_hint),
	FIELD(".vgpr_count", U64, RCK_MD_VGPR_COUNT, vgpr_count),
	FIELD(".vgpr_spill_count", U64, RCK_MD_VGPR_SPILLS, vgpr_spills),
	FIELD(".wavefront_size", U64, RCK_MD_WAVEFRONT_SIZE, wavefront_size),
	FIELD(".workgroup_processor_mode", BOOL, RCK_MD_WORKGROUP_PROCESSOR_MODE,
		workgroup_processor_mode),
	FIELD(".workgroup_size_hint", U64X3, RCK_MD_WORKGROUP_HINT, workgroup_hint),
};

enum arg_key {
	ARG_ACCESS,
	ARG_ACTUAL_ACCESS,
	ARG_ADDRESS_SPACE,
	ARG_NAME,
	ARG_OFFSET,
	ARG_SIZE,
	ARG_TYPE_NAME,
	ARG_VALUE_KIND,
	ARG_KEYS_,
};

static const struct {
	const char *key;
	size_t len;
} arg_keys[ARG_KEYS_] = {
	[ARG_ACCESS] = {".access", 7},
	[ARG_ACTUAL_ACCESS] = {".actual_access", 14},
	[ARG_ADDRESS_SPACE] = {".address_space", 14},
	[ARG_NAME] = {".name", 5},
	[ARG_OFFSET] = {".offset", 7},
	[ARG_SIZE] = {".size", 5},
	[ARG_TYPE_NAME] = {".type_name", 10},
	[ARG_VALUE_KIND] = {".value_kind", 11},
};

#define N_FIELDS (sizeof(kernel_fields) / sizeof(*kernel_fields))

static bool is_str(const msgpack_object *o, const char *s, size_t len)
{
	return o->type == MSGPACK_OBJECT_STR && o->via.str.size == len &&
	       !memcmp(o->via.str.ptr, s, len);
}

/* Maps come sorted by key: the search goes on where the last one ended. */
static const struct field *find_field(const msgpack_object *key, size_t *from)
{
	for (size_t n = 0; n < N_FIELDS; n++) {
		const struct field *f = &kernel_fields[*from];

		*from = *from + 1 == N_FIELDS ? 0 : *from + 1;
		if (is_str(key, f->key, f->len))
			return f;
	}
	return NULL;
}

static enum arg_key find_arg_key(const msgpack_object *key, unsigned *from)
{
	for (unsigned n = 0; n < ARG_KEYS_; n++) {
		unsigned i = *from;

		*from = i + 1 == ARG_KEYS_ ? 0 : i + 1;
		if (is_str(key, arg_keys[i].key, arg_keys[i].len))
			return i;
	}
	return ARG_KEYS_;
}

/* A short rendering of any value, for keys that this version does not know. */
static void add_text(struct rck_text *t, const msgpack_object *o)
{
	const msgpack_object_array *a = &o->via.array;
	const msgpack_object_map *m = &o->via.map;

	switch (o->type) {
	case MSGPACK_OBJECT_STR:
		rck_text_add(t, o->via.str.ptr, o->via.str.size);
		break;
	case MSGPACK_OBJECT_BOOLEAN:
		rck_text_addf(t, "%s", o->via.boolean ? "true" : "false");
		break;
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
		rck_text_addf(t, "%llu", (unsigned long long)o->via.u64);
		break;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER:
		rck_text_addf(t, "%lld", (long long)o->via.i64);
		break;
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64:
		rck_text_addf(t, "%g", o->via.f64);
		break;
	case MSGPACK_OBJECT_ARRAY:
		rck_text_add(t, "[", 1);
		for (uint32_t i = 0; i < a->size && !t->full; i++) {
			if (i)
				rck_text_add(t, ", ", 2);
			add_text(t, &a->ptr[i]);
		}
		rck_text_add(t, "]", 1);
		break;
	case MSGPACK_OBJECT_MAP:
		rck_text_add(t, "{", 1);
		for (uint32_t i = 0; i < m->size && !t->full; i++) {
			if (i)
				rck_text_add(t, ", ", 2);
			add_text(t, &m->ptr[i].key);
			rck_text_add(t, ": ", 2);
			add_text(t, &m->ptr[i].val);
		}
		rck_text_add(t, "}", 1);
		break;
	case MSGPACK_OBJECT_NIL:
		rck_text_addf(t, "null");
		break;
	default:
		rck_text_addf(t, "(%u bytes)", o->via.bin.size);
	}
}

static int add_extra(struct rck_code_object *co, struct rck_kernel *k,
	const msgpack_object_kv *kv, size_t room, struct rck_diag *diag)
{
	struct rck_text key = {0}, value = {0};
	struct rck_pair *p;

	if (!k->extra)
		k->extra = rck_arena_alloc(co->arena, room * sizeof(*k->extra));
	if (!k->extra)
		return rck_no_memory(diag);
	add_text(&key, &kv->key);
	add_text(&value, &kv->val);
	p = &k->extra[k->n_extra];
	p->key = rck_code_object_intern(co, key.buf, key.len, NULL);
	p->value = rck_code_object_intern(co, value.buf, value.len, NULL);
	if (!p->key || !p->value)
		return rck_no_memory(diag);
	k->n_extra++;
	return 0;
}

/* A reading of one kernel: where its map is, for diags. */
struct reading {
	struct rck_code_object *co;
	uint64_t offset; /* of the map in the code object */
	struct rck_diag *diag;
};

static int bad(const struct reading *r, const char *what)
{
	return rck_fail(r->diag, -EINVAL,
		rck_elf_offset(&rck_parse_of(r->co)->elf, r->offset), "metadata: %s",
		what);
}

static int set_string(const struct reading *r, const msgpack_object *o, const char **out)
{
	if (o->type != MSGPACK_OBJECT_STR)
		return bad(r, "an argument's key has a value that is not a string");
	*out = rck_code_object_intern(r->co, o->via.str.ptr, o->via.str.size, NULL);
	return *out ? 0 : rck_no_memory(r->diag);
}

static int set_number(const struct reading *r, const msgpack_object *o, uint64_t *out)
{
	if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
		return bad(r, "an argument's offset or size is not a number");
	*out = o->via.u64;
	return 0;
}

static int read_arg(const struct reading *r, struct rck_kernel *k, struct rck_arg *arg,
	const msgpack_object *o)
{
	unsigned from = 0;
	int err = 0, hidden;

	if (o->type != MSGPACK_OBJECT_MAP)
		return bad(r, "an argument is not a map");
	for (uint32_t i = 0; i < o->via.map.size && !err; i++) {
		const msgpack_object *v = &o->via.map.ptr[i].val;

		switch (find_arg_key(&o->via.map.ptr[i].key, &from)) {
		case ARG_NAME:
			err = set_string(r, v, &arg->name);
			break;
		case ARG_TYPE_NAME:
			err = set_string(r, v, &arg->type_name);
			break;
		case ARG_ADDRESS_SPACE:
			err = set_string(r, v, &arg->address_space);
			break;
		case ARG_ACCESS:
			if (!arg->access)
				err = set_string(r, v, &arg->access);
			break;
		case ARG_ACTUAL_ACCESS:
			err = set_string(r, v, &arg->access);
			break;
		case ARG_OFFSET:
			err = set_number(r, v, &arg->offset);
			break;
		case ARG_SIZE:
			err = set_number(r, v, &arg->size);
			break;
		case ARG_VALUE_KIND:
			if (v->type != MSGPACK_OBJECT_STR)
				return bad(
					r, "an argument's .value_kind is not a string");
			arg->value_kind = rck_code_object_intern(
				r->co, v->via.str.ptr, v->via.str.size, &hidden);
			if (!arg->value_kind)
				return rck_no_memory(r->diag);
			if (hidden >= 0)
				k->hidden |= 1u << hidden;
			arg->hidden = hidden >= 0;
			break;
		default: /* .is_const, .pointee_align, ... */
			break;
		}
	}
	if (!err && !arg->value_kind)
		return bad(r, "an argument has no .value_kind");
	return err;
}

static int read_args(
	const struct reading *r, struct rck_kernel *k, const msgpack_object *o)
{
	int err = 0;

	if (o->type != MSGPACK_OBJECT_ARRAY)
		return bad(r, ".args is not an array");
	if (k->args)
		return bad(r, ".args is there twice");
	k->args = rck_arena_alloc(r->co->arena, o->via.array.size * sizeof(*k->args));
	if (!k->args)
		return rck_no_memory(r->diag);
	for (; k->n_args < o->via.array.size && !err; k->n_args++)
		err = read_arg(r, k, &k->args[k->n_args], &o->via.array.ptr[k->n_args]);
	return err;
}

/* Stores a value of the kind that its key asks for; false: it is of another kind. */
static bool set_field(const struct reading *r, struct rck_kernel *k,
	const struct field *f, const msgpack_object *v)
{
	void *at = (char *)k + f->at;
	uint64_t *three = at;

	switch ((enum kind)f->kind) {
	case U64:
		*(uint64_t *)at = v->via.u64;
		return v->type == MSGPACK_OBJECT_POSITIVE_INTEGER;
	case BOOL:
		/* LLVM's verifier takes 0 and 1 as well */
		*(bool *)at = v->type == MSGPACK_OBJECT_BOOLEAN ? v->via.boolean
								: v->via.u64 != 0;
		return v->type == MSGPACK_OBJECT_BOOLEAN ||
		       v->type == MSGPACK_OBJECT_POSITIVE_INTEGER;
	case U64X3:
		if (v->type != MSGPACK_OBJECT_ARRAY || v->via.array.size != 3)
			return false;
		for (int i = 0; i < 3; i++) {
			if (v->via.array.ptr[i].type != MSGPACK_OBJECT_POSITIVE_INTEGER)
				return false;
			three[i] = v->via.array.ptr[i].via.u64;
		}
		return true;
	case STR:
		if (v->type != MSGPACK_OBJECT_STR)
			return false;
		*(const char **)at =
			rck_arena_strndup(r->co->arena, v->via.str.ptr, v->via.str.size);
		return *(const char **)at;
	case SKIP:
		return true;
	}
	return false;
}

/* Name and symbol, each from the other where one is missing. */
static int finish_names(const struct reading *r, struct rck_kernel *k)
{
	size_t len;
	char *s;

	if (!k->name && !k->symbol)
		return bad(r, "a kernel has neither .name nor .symbol");
	if (!k->name) {
		len = strlen(k->symbol);
		if (len > 3 && !strcmp(k->symbol + len - 3, ".kd"))
			len -= 3;
		k->name = rck_arena_strndup(r->co->arena, k->symbol, len);
	} else if (!k->symbol) {
		len = strlen(k->name);
		s = rck_arena_alloc(r->co->arena, len + 4);
		if (s) {
			memcpy(s, k->name, len);
			memcpy(s + len, ".kd", 4);
		}
		k->symbol = s;
	}
	return k->name && k->symbol ? 0 : rck_no_memory(r->diag);
}

static int read_kernel(const struct reading *r, const msgpack_object *o)
{
	struct rck_kernel *k;
	size_t from = 0;
	int err;

	if (o->type != MSGPACK_OBJECT_MAP)
		return bad(r, "a kernel is not a map");
	k = rck_code_object_add_kernel(r->co, r->diag);
	if (!k)
		return r->diag->code;
	for (uint32_t i = 0; i < o->via.map.size; i++) {
		const msgpack_object_kv *kv = &o->via.map.ptr[i];
		const struct field *f = find_field(&kv->key, &from);

		if (!f) {
			err = add_extra(r->co, k, kv, o->via.map.size - i, r->diag);
			if (err)
				return err;
		} else if (is_str(&kv->key, ".args", 5)) {
			err = read_args(r, k, &kv->val);
			if (err)
				return err;
		} else if (!set_field(r, k, f, &kv->val)) {
			rck_code_object_add_note(r->co, -EINVAL, r->offset,
				"metadata: %s of a kernel has a value of the wrong kind",
				f->key);
		} else if (f->bit >= 0) {
			k->stated |= 1u << f->bit;
		}
	}
	return finish_names(r, k);
}

static msgpack_zone *zone_of(struct rck_code_object *co)
{
	struct rck_parse *p = rck_parse_of(co);

	if (p->zone)
		msgpack_zone_clear(p->zone);
	else
		p->zone = msgpack_zone_new(ZONE_CHUNK);
	return p->zone;
}

void rck_metadata_release(struct rck_code_object *co)
{
	struct rck_parse *p = rck_parse_of(co);

	if (p->zone)
		msgpack_zone_free(p->zone);
	p->zone = NULL;
}

/* Unpacks the object at n->desc[*at] into the shared zone. */
static int unpack(struct rck_code_object *co, const struct rck_note *n, uint64_t *at,
	msgpack_object *o, struct rck_diag *diag)
{
	msgpack_zone *zone = zone_of(co);
	uint64_t offset = rck_elf_offset(&rck_parse_of(co)->elf, n->offset + *at), end;
	size_t off = 0;
	int err;

	if (!zone)
		return rck_no_memory(diag);
	err = rck_msgpack_scan_end(n->desc + *at, n->desc_size - *at, &end, diag);
	if (err) {
		diag->offset += offset;
		return err;
	}
	if (end > KERNEL_BYTES_MAX)
		return rck_fail(diag, -E2BIG, offset,
			"metadata: an entry of %llu bytes (at most %u are read)",
			(unsigned long long)end, KERNEL_BYTES_MAX);
	switch (msgpack_unpack((const char *)n->desc + *at, end, &off, zone, o)) {
	case MSGPACK_UNPACK_SUCCESS:
	case MSGPACK_UNPACK_EXTRA_BYTES:
		*at += end;
		return 0;
	case MSGPACK_UNPACK_NOMEM_ERROR:
		return rck_no_memory(diag);
	default:
		return rck_fail(diag, -EINVAL, offset, "metadata: not msgpack");
	}
}

static int read_kernels(struct rck_code_object *co, const struct rck_note *n,
	uint64_t *at, struct rck_diag *diag)
{
	struct reading r = {co, n->offset + *at, diag};
	msgpack_object o;
	uint64_t count;
	int err;

	if (rck_msgpack_enter(n->desc, n->desc_size, at, false, &count))
		return bad(&r, "amdhsa.kernels is not an array");
	while (count--) {
		r.offset = n->offset + *at;
		err = unpack(co, n, at, &o, diag);
		if (!err)
			err = read_kernel(&r, &o);
		if (err)
			return err;
	}
	return 0;
}

static int read_printf(
	struct rck_code_object *co, const msgpack_object *o, struct rck_diag *diag)
{
	const msgpack_object_array *a = &o->via.array;
	const char **list;

	if (o->type != MSGPACK_OBJECT_ARRAY)
		return 0;
	list = rck_arena_alloc(co->arena, (co->n_printf + a->size) * sizeof(*list));
	if (!list)
		return rck_no_memory(diag);
	if (co->n_printf)
		memcpy(list, co->printf_formats, co->n_printf * sizeof(*list));
	co->printf_formats = list;
	for (uint32_t i = 0; i < a->size; i++) {
		const msgpack_object *s = &a->ptr[i];

		if (s->type != MSGPACK_OBJECT_STR)
			continue;
		list[co->n_printf] =
			rck_arena_strndup(co->arena, s->via.str.ptr, s->via.str.size);
		if (!list[co->n_printf])
			return rck_no_memory(diag);
		co->n_printf++;
	}
	return 0;
}

/* One pair of the root map, amdhsa.kernels excepted. */
static int read_root(struct rck_code_object *co, const char *key, size_t len,
	const msgpack_object *v, struct rck_diag *diag)
{
	const msgpack_object_array *a = &v->via.array;

	if (len == 14 && !memcmp(key, "amdhsa.version", 14)) {
		if (v->type == MSGPACK_OBJECT_ARRAY && a->size == 2 &&
			a->ptr[0].type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
			a->ptr[1].type == MSGPACK_OBJECT_POSITIVE_INTEGER) {
			co->md_version[0] = (unsigned)a->ptr[0].via.u64;
			co->md_version[1] = (unsigned)a->ptr[1].via.u64;
		}
	} else if (len == 13 && !memcmp(key, "amdhsa.target", 13)) {
		if (v->type == MSGPACK_OBJECT_STR && !co->md_target) {
			co->md_target = rck_arena_strndup(
				co->arena, v->via.str.ptr, v->via.str.size);
			if (!co->md_target)
				return rck_no_memory(diag);
		}
	} else if (len == 13 && !memcmp(key, "amdhsa.printf", 13)) {
		return read_printf(co, v, diag);
	}
	return 0;
}

int rck_metadata_read(
	struct rck_code_object *co, const struct rck_note *n, struct rck_diag *diag)
{
	struct reading r = {co, n->offset, diag};
	uint64_t at = 0, count, key_len;
	msgpack_object o;
	const char *key;
	int err = 0;

	if (rck_msgpack_enter(n->desc, n->desc_size, &at, true, &count))
		return bad(&r, "the root is not a map");
	while (count-- && !err) {
		r.offset = n->offset + at;
		err = unpack(co, n, &at, &o, diag);
		if (err)
			break;
		if (o.type != MSGPACK_OBJECT_STR)
			return bad(&r, "a root key is not a string");
		/* in the note itself, so it outlives the zone */
		key = o.via.str.ptr;
		key_len = o.via.str.size;
		if (key_len == 14 && !memcmp(key, "amdhsa.kernels", 14)) {
			err = read_kernels(co, n, &at, diag);
			continue;
		}
		err = unpack(co, n, &at, &o, diag);
		if (!err)
			err = read_root(co, key, key_len, &o, diag);
	}
	return err;
}
