/*
 * Metadata of V2: a YAML document in a note (LLVM 14's AMDGPUUsage, "Code Object V2
 * Metadata"; AMDGPUMetadata.h). What V3 and later call otherwise is given V3's names.
 */
#include "codeobj/private.h"

#include <errno.h>

#ifdef HAVE_LIBYAML
#include "util/range.h"

#include <stdlib.h>
#include <yaml.h>

/* libyaml makes some 100 bytes of each node; notes seen are of a few KiB. */
#define NOTE_BYTES_MAX (4u << 20)

struct reading {
	struct rck_code_object *co;
	yaml_document_t *doc;
	uint64_t offset; /* of the note, in the code object */
	struct rck_diag *diag;
};

enum kind { U64, U64X3, BOOL, STR };

struct field {
	const char *key;
	uint8_t kind;
	int8_t bit; /* RCK_MD, -1: none */
	uint16_t at;
};

#define FIELD(key, kind, bit, member)                                                    \
	{                                                                                \
		key, kind, bit, offsetof(struct rck_kernel, member)                      \
	}

/* The keys of a kernel, of its Attrs and of its CodeProps: no two are alike. */
static const struct field fields[] = {
	FIELD("Name", STR, -1, name),
	FIELD("Language", STR, RCK_MD_LANGUAGE, language),
	FIELD("ReqdWorkGroupSize", U64X3, RCK_MD_REQD_WORKGROUP, reqd_workgroup),
	FIELD("WorkGroupSizeHint", U64X3, RCK_MD_WORKGROUP_HINT, workgroup_hint),
	FIELD("VecTypeHint", STR, -1, vec_type_hint),
	FIELD("RuntimeHandle", STR, -1, device_enqueue_symbol),
	FIELD("KernargSegmentSize", U64, RCK_MD_KERNARG_SIZE, kernarg_size),
	FIELD("GroupSegmentFixedSize", U64, RCK_MD_LDS, lds),
	FIELD("PrivateSegmentFixedSize", U64, RCK_MD_SCRATCH, scratch),
	FIELD("KernargSegmentAlign", U64, RCK_MD_KERNARG_ALIGN, kernarg_align),
	FIELD("WavefrontSize", U64, RCK_MD_WAVEFRONT_SIZE, wavefront_size),
	FIELD("NumSGPRs", U64, RCK_MD_SGPR_COUNT, sgpr_count),
	FIELD("NumVGPRs", U64, RCK_MD_VGPR_COUNT, vgpr_count),
	FIELD("MaxFlatWorkGroupSize", U64, RCK_MD_MAX_WORKGROUP, max_workgroup),
	FIELD("IsDynamicCallStack", BOOL, RCK_MD_DYNAMIC_STACK, md_dynamic_stack),
	FIELD("NumSpilledSGPRs", U64, RCK_MD_SGPR_SPILLS, sgpr_spills),
	FIELD("NumSpilledVGPRs", U64, RCK_MD_VGPR_SPILLS, vgpr_spills),
};

/* Known, and of no use here. */
static const char *const ignored[] = {"SymbolName", "LanguageVersion",
	"FixedWorkGroupSize", "IsXNACKEnabled", "DebugProps", NULL};

static const struct {
	const char *key;
	uint16_t at;
} arg_strings[] = {
	{"Name", offsetof(struct rck_arg, name)},
	{"TypeName", offsetof(struct rck_arg, type_name)},
	{"AccQual", offsetof(struct rck_arg, access)},
	{"ActualAccQual", offsetof(struct rck_arg, access)},
};

static int bad(const struct reading *r, const yaml_node_t *n, const char *what)
{
	return rck_fail(r->diag, -EINVAL,
		rck_elf_offset(&rck_parse_of(r->co)->elf,
			r->offset + (n ? n->start_mark.index : 0)),
		"metadata: %s", what);
}

/* The text of a scalar, or NULL. It ends in a NUL, and none is inside. */
static const char *text_of(const yaml_node_t *n)
{
	if (!n || n->type != YAML_SCALAR_NODE ||
		strlen((const char *)n->data.scalar.value) != n->data.scalar.length)
		return NULL;
	return (const char *)n->data.scalar.value;
}

static bool number_of(const yaml_node_t *n, uint64_t *out)
{
	const char *s = text_of(n);
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*out = strtoull(s, &end, 0);
	return !*end && !errno;
}

/* "HiddenMultiGridSyncArg" -> "hidden_multigrid_sync_arg": V3's spelling. */
static size_t snake(const char *s, char *out, size_t size)
{
	static const char odd[] = "MultiGrid"; /* one word in V3 */
	size_t n = 0;

	for (const char *p = s; *p && n + 2 < size; p++) {
		bool inside = p - s >= 5 && !strncmp(p - 5, odd, sizeof(odd) - 1);

		if (*p >= 'A' && *p <= 'Z') {
			if (n && !inside)
				out[n++] = '_';
			out[n++] = (char)(*p + 32);
		} else {
			out[n++] = *p;
		}
	}
	return n;
}

static int intern(const struct reading *r, const yaml_node_t *n, bool spell, int *hidden,
	const char **out)
{
	const char *s = text_of(n);
	char buf[128];

	if (!s)
		return bad(r, n, "an argument's key has a value that is not a string");
	*out = spell ? rck_code_object_intern(
			       r->co, buf, snake(s, buf, sizeof(buf)), hidden)
		     : rck_code_object_intern(r->co, s, strlen(s), hidden);
	return *out ? 0 : rck_no_memory(r->diag);
}

static int read_arg(const struct reading *r, struct rck_kernel *k, struct rck_arg *arg,
	const yaml_node_t *n, uint64_t *end)
{
	uint64_t align = 1;
	int err = 0, hidden = -1;

	if (!n || n->type != YAML_MAPPING_NODE)
		return bad(r, n, "an argument is not a map");
	for (yaml_node_pair_t *p = n->data.mapping.pairs.start;
		p < n->data.mapping.pairs.top && !err; p++) {
		const char *key = text_of(yaml_document_get_node(r->doc, p->key));
		yaml_node_t *v = yaml_document_get_node(r->doc, p->value);

		if (!key)
			return bad(r, n, "an argument's key is not a string");
		for (size_t i = 0; i < sizeof(arg_strings) / sizeof(*arg_strings); i++)
			if (!err && !strcmp(key, arg_strings[i].key))
				err = intern(r, v, false, NULL,
					(const char **)((char *)arg + arg_strings[i].at));
		if (!err && !strcmp(key, "ValueKind"))
			err = intern(r, v, true, &hidden, &arg->value_kind);
		if (!err && !strcmp(key, "AddrSpaceQual"))
			err = intern(r, v, true, NULL, &arg->address_space);
		if (!err && ((!strcmp(key, "Size") && !number_of(v, &arg->size)) ||
				    (!strcmp(key, "Align") && !number_of(v, &align))))
			err = bad(r, v, "an argument's size is not a number");
	}
	if (err)
		return err;
	if (!arg->value_kind)
		return bad(r, n, "an argument has no ValueKind");
	arg->hidden = hidden >= 0;
	if (arg->hidden)
		k->hidden |= 1u << hidden;
	/* V2 states no offsets: arguments follow each other, aligned */
	if (!align || align & (align - 1) || align > 4096)
		align = 1;
	arg->offset = rck_align_up(*end, align);
	*end = arg->size > UINT32_MAX ? arg->offset : arg->offset + arg->size;
	return 0;
}

static int read_args(const struct reading *r, struct rck_kernel *k, const yaml_node_t *n)
{
	uint64_t end = 0;
	size_t count;
	int err = 0;

	if (!n || n->type != YAML_SEQUENCE_NODE)
		return bad(r, n, "Args is not a list");
	if (k->args)
		return bad(r, n, "Args is there twice");
	count = (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
	k->args = rck_arena_alloc(r->co->arena, count * sizeof(*k->args));
	if (!k->args)
		return rck_no_memory(r->diag);
	for (; k->n_args < count && !err; k->n_args++)
		err = read_arg(r, k, &k->args[k->n_args],
			yaml_document_get_node(
				r->doc, n->data.sequence.items.start[k->n_args]),
			&end);
	return err;
}

static bool set_field(const struct reading *r, struct rck_kernel *k,
	const struct field *f, const yaml_node_t *v)
{
	const char *s = text_of(v);
	void *at = (char *)k + f->at;

	switch ((enum kind)f->kind) {
	case U64:
		return number_of(v, at);
	case BOOL:
		*(bool *)at = s && !strcmp(s, "true");
		return s && (!strcmp(s, "true") || !strcmp(s, "false"));
	case STR:
		if (s)
			*(const char **)at =
				rck_arena_strndup(r->co->arena, s, strlen(s));
		return s && *(const char **)at;
	case U64X3:
		if (!v || v->type != YAML_SEQUENCE_NODE ||
			v->data.sequence.items.top - v->data.sequence.items.start != 3)
			return false;
		for (int i = 0; i < 3; i++)
			if (!number_of(yaml_document_get_node(
					       r->doc, v->data.sequence.items.start[i]),
				    (uint64_t *)at + i))
				return false;
		return true;
	}
	return false;
}

static int add_extra(const struct reading *r, struct rck_kernel *k, const char *key,
	const yaml_node_t *v, size_t room)
{
	const char *s = text_of(v);
	struct rck_text text = {0};
	struct rck_pair *p;

	if (!k->extra)
		k->extra = rck_arena_alloc(r->co->arena, room * sizeof(*k->extra));
	if (!k->extra)
		return rck_no_memory(r->diag);
	if (!s)
		s = v && v->type == YAML_SEQUENCE_NODE ? "[...]" : "{...}";
	rck_text_add(&text, s, strlen(s));
	p = &k->extra[k->n_extra];
	p->key = rck_code_object_intern(r->co, key, strlen(key), NULL);
	p->value = rck_code_object_intern(r->co, text.buf, text.len, NULL);
	if (!p->key || !p->value)
		return rck_no_memory(r->diag);
	k->n_extra++;
	return 0;
}

static bool is_ignored(const char *key)
{
	for (const char *const *p = ignored; *p; p++)
		if (!strcmp(key, *p))
			return true;
	return false;
}

static const struct field *find_field(const char *key)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!strcmp(fields[i].key, key))
			return &fields[i];
	return NULL;
}

/* A kernel's map, or one of the maps in it (Attrs, CodeProps: inner). */
static int read_map(
	const struct reading *r, struct rck_kernel *k, const yaml_node_t *n, bool inner)
{
	const yaml_node_pair_t *p, *top;
	int err = 0;

	if (!n || n->type != YAML_MAPPING_NODE)
		return bad(r, n,
			inner ? "Attrs or CodeProps is not a map"
			      : "a kernel is not a map");
	top = n->data.mapping.pairs.top;
	for (p = n->data.mapping.pairs.start; p < top && !err; p++) {
		const char *key = text_of(yaml_document_get_node(r->doc, p->key));
		const yaml_node_t *v = yaml_document_get_node(r->doc, p->value);
		const struct field *f = key ? find_field(key) : NULL;

		if (!key)
			return bad(r, n, "a kernel's key is not a string");
		if (!inner && (!strcmp(key, "Attrs") || !strcmp(key, "CodeProps")))
			err = read_map(r, k, v, true);
		else if (!inner && !strcmp(key, "Args"))
			err = read_args(r, k, v);
		else if (f && set_field(r, k, f, v))
			k->stated |= f->bit >= 0 ? 1u << f->bit : 0;
		else if (f)
			rck_code_object_add_note(r->co, -EINVAL,
				r->offset + (v ? v->start_mark.index : 0),
				"metadata: %s of a kernel has a value of the wrong kind",
				f->key);
		else if (!inner && !is_ignored(key))
			err = add_extra(r, k, key, v, (size_t)(top - p));
	}
	return err;
}

static int read_kernels(const struct reading *r, const yaml_node_t *n)
{
	struct rck_kernel *k;
	int err;

	if (!n || n->type != YAML_SEQUENCE_NODE)
		return bad(r, n, "Kernels is not a list");
	for (yaml_node_item_t *i = n->data.sequence.items.start;
		i < n->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(r->doc, *i);

		k = rck_code_object_add_kernel(r->co, r->diag);
		if (!k)
			return r->diag->code;
		err = read_map(r, k, item, false);
		if (err)
			return err;
		if (!k->name)
			return bad(r, item, "a kernel has no Name");
		/* the code's own symbol stands at the descriptor: there is no ".kd" */
		k->symbol = k->name;
		/* written only when it is true */
		k->stated |= RCK_MD(DYNAMIC_STACK);
	}
	return 0;
}

static int read_printf(const struct reading *r, const yaml_node_t *n)
{
	size_t count;

	if (!n || n->type != YAML_SEQUENCE_NODE || r->co->n_printf)
		return 0;
	count = (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
	r->co->printf_formats =
		rck_arena_alloc(r->co->arena, count * sizeof(*r->co->printf_formats));
	if (!r->co->printf_formats)
		return rck_no_memory(r->diag);
	for (size_t i = 0; i < count; i++) {
		const char *s = text_of(
			yaml_document_get_node(r->doc, n->data.sequence.items.start[i]));

		s = s ? rck_arena_strndup(r->co->arena, s, strlen(s)) : NULL;
		if (s)
			r->co->printf_formats[r->co->n_printf++] = s;
	}
	return 0;
}

static int read_root(const struct reading *r)
{
	const yaml_node_t *root = yaml_document_get_root_node(r->doc);
	int err = 0;

	if (!root || root->type != YAML_MAPPING_NODE)
		return bad(r, root, "the root is not a map");
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start;
		p < root->data.mapping.pairs.top && !err; p++) {
		const char *key = text_of(yaml_document_get_node(r->doc, p->key));
		const yaml_node_t *v = yaml_document_get_node(r->doc, p->value);
		uint64_t part;

		if (!key)
			return bad(r, root, "a root key is not a string");
		if (!strcmp(key, "Kernels"))
			err = read_kernels(r, v);
		else if (!strcmp(key, "Printf"))
			err = read_printf(r, v);
		else if (!strcmp(key, "Version") && v && v->type == YAML_SEQUENCE_NODE)
			for (int i = 0;
				i < 2 && i < v->data.sequence.items.top -
							 v->data.sequence.items.start;
				i++)
				if (number_of(yaml_document_get_node(r->doc,
						      v->data.sequence.items.start[i]),
					    &part))
					r->co->md_version[i] = (unsigned)part;
	}
	return err;
}

/* What a document may have of what libyaml's time is quadratic in: LLVM writes five
   levels, and no anchors and directives at all. */
enum { DEPTH_MAX = 32, ANCHORS_MAX = 256, DIRECTIVES_MAX = 16 };

static int yaml_error(const struct reading *r, const yaml_parser_t *p)
{
	if (p->error == YAML_MEMORY_ERROR)
		return rck_no_memory(r->diag);
	return rck_fail(r->diag, -EINVAL,
		rck_elf_offset(
			&rck_parse_of(r->co)->elf, r->offset + p->problem_mark.index),
		"metadata: %s", p->problem ? p->problem : "not YAML");
}

static const char *event_anchor(const yaml_event_t *e)
{
	const yaml_char_t *a =
		e->type == YAML_SCALAR_EVENT           ? e->data.scalar.anchor
		: e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.anchor
		: e->type == YAML_MAPPING_START_EVENT  ? e->data.mapping_start.anchor
						       : NULL;

	return (const char *)a;
}

/* Holds the first document to the limits, by its events, before it is loaded. */
static int scan_events(const struct reading *r, yaml_parser_t *p)
{
	int depth = 0, anchors = 0, type = 0;
	yaml_event_t e;

	while (type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT) {
		if (!yaml_parser_parse(p, &e))
			return yaml_error(r, p);
		type = e.type;
		depth += type == YAML_SEQUENCE_START_EVENT ||
			 type == YAML_MAPPING_START_EVENT;
		depth -=
			type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
		anchors += event_anchor(&e) != NULL;
		yaml_event_delete(&e);
		if (depth > DEPTH_MAX || anchors > ANCHORS_MAX)
			return rck_fail(r->diag, -E2BIG,
				rck_elf_offset(&rck_parse_of(r->co)->elf,
					r->offset + p->mark.index),
				"metadata: more than %d levels or %d anchors", DEPTH_MAX,
				ANCHORS_MAX);
	}
	return 0;
}

static size_t count_directives(const char *s, size_t size)
{
	size_t n = 0;

	for (const char *p = s; (p = memchr(p, '%', size - (size_t)(p - s))); p++)
		n += p == s || p[-1] == '\n' || p[-1] == '\r';
	return n;
}

static int scan(const struct reading *r, const char *text, size_t size)
{
	yaml_parser_t parser;
	int err;

	if (size > NOTE_BYTES_MAX || count_directives(text, size) > DIRECTIVES_MAX)
		return rck_fail(r->diag, -E2BIG,
			rck_elf_offset(&rck_parse_of(r->co)->elf, r->offset),
			"metadata: more than %u bytes or %d directives", NOTE_BYTES_MAX,
			DIRECTIVES_MAX);
	if (!yaml_parser_initialize(&parser))
		return rck_no_memory(r->diag);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	err = scan_events(r, &parser);
	yaml_parser_delete(&parser);
	return err;
}

int rck_metadata_v2_read(
	struct rck_code_object *co, const struct rck_note *n, struct rck_diag *diag)
{
	/* LLVM counts a NUL behind the text, older writers padded with more */
	size_t size = strnlen((const char *)n->desc, n->desc_size);
	yaml_document_t doc;
	struct reading r = {co, &doc, n->offset, diag};
	yaml_parser_t parser;
	int err;

	err = scan(&r, (const char *)n->desc, size);
	if (err)
		return err;
	if (!yaml_parser_initialize(&parser))
		return rck_no_memory(diag);
	yaml_parser_set_input_string(&parser, n->desc, size);
	if (yaml_parser_load(&parser, &doc)) {
		err = read_root(&r);
		yaml_document_delete(&doc);
	} else {
		err = yaml_error(&r, &parser);
	}
	yaml_parser_delete(&parser);
	return err;
}

#else

int rck_metadata_v2_read(
	struct rck_code_object *co, const struct rck_note *n, struct rck_diag *diag)
{
	return rck_fail(diag, -ENOTSUP, rck_elf_offset(&rck_parse_of(co)->elf, n->offset),
		"metadata of code object V2 is YAML, and libyaml is not built in");
}

#endif
