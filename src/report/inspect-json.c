#include "report/inspect-json.h"

#include <string.h>

static const char *const source_names[] = {
	[RCK_SOURCE_METADATA] = "metadata",
	[RCK_SOURCE_DESCRIPTOR] = "descriptor",
	[RCK_SOURCE_BOTH] = "both",
	[RCK_SOURCE_DERIVED] = "derived",
};

static const char *const kind_names[] = {
	[RCK_ITEM_INCOMPLETE] = "incomplete",
	[RCK_ITEM_ERROR] = "error",
	[RCK_ITEM_NOTE] = "note",
};

/* Facts whose source is told. */
static const enum rck_fact flag_facts[] = {
	RCK_FACT_DECLARES_HOSTCALL,
	RCK_FACT_DECLARES_HEAP,
	RCK_FACT_DYNAMIC_STACK,
};

/* Opens a record; in lines it says what it is and of which file. */
static void open_record(struct rck_json *j, struct rck_strbuf *out,
	enum rck_json_form form, const char *type, const struct rck_json_place *place)
{
	rck_json_init(j, out, 0);
	rck_json_object(j);
	if (form != RCK_JSON_LINES)
		return;
	rck_json_kstr(j, "type", type);
	if (place)
		rck_json_kstr(j, "file", place->path);
}

static void close_record(struct rck_json *j, enum rck_json_form form)
{
	rck_json_object_end(j);
	if (form == RCK_JSON_LINES)
		rck_strbuf_addc(j->out, '\n');
}

static void add_offset(struct rck_json *j, uint64_t offset)
{
	rck_json_key(j, "offset");
	if (offset == RCK_OFFSET_NONE)
		rck_json_null(j);
	else
		rck_json_u64(j, offset);
}

void rck_inspect_json_object(struct rck_strbuf *out, enum rck_json_form form,
	const struct rck_json_place *place, const struct rck_item *item,
	const struct rck_code_object *co)
{
	struct rck_json j;

	open_record(&j, out, form, "code_object", place);
	rck_json_kstr(&j, "where", place->where);
	rck_json_kstr(&j, "container", item->container);
	rck_json_kstr(&j, "entry", item->entry_id);
	rck_json_kstr(&j, "claimed_target", item->target);
	rck_json_kstr(&j, "target", rck_code_object_target(co));
	rck_json_ku64(&j, "version", rck_code_object_version(co));
	rck_json_ku64(&j, "abi_version", co->abiversion);
	rck_json_ku64(&j, "generic_version", co->generic_version);
	add_offset(&j, item->offset);
	rck_json_ku64(&j, "size", item->size);
	rck_json_ku64(&j, "kernel_count", rck_code_object_kernel_count(co));
	rck_json_key(&j, "notes");
	rck_json_array(&j);
	for (size_t i = 0; i < rck_code_object_note_count(co); i++) {
		const struct rck_diag *note = rck_code_object_note(co, i);

		rck_json_object(&j);
		add_offset(&j, note->offset);
		rck_json_kstr(&j, "message", note->msg);
		rck_json_object_end(&j);
	}
	rck_json_array_end(&j);
	if (form == RCK_JSON_LINES) {
		close_record(&j, form);
	} else {
		rck_json_key(&j, "kernels");
		rck_strbuf_addc(out, '[');
	}
}

void rck_inspect_json_object_end(struct rck_strbuf *out, enum rck_json_form form)
{
	if (form == RCK_JSON_DOCUMENT)
		rck_strbuf_adds(out, "]}");
}

static void add_value(struct rck_json *j, const struct rck_value *v)
{
	if (!v->known)
		rck_json_null(j);
	else if (v->type == RCK_VALUE_STRING)
		rck_json_str(j, v->string);
	else if (v->type == RCK_VALUE_BOOL)
		rck_json_bool(j, v->number);
	else
		rck_json_u64(j, v->number);
}

static void add_facts(struct rck_json *j, const struct rck_kernel *k)
{
	struct rck_value v[RCK_FACT_COUNT_];

	for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++) {
		rck_kernel_fact(k, f, &v[f]);
		rck_json_key(j, rck_fact_info(f)->key);
		add_value(j, &v[f]);
	}
	rck_json_key(j, "sources");
	rck_json_object(j);
	for (size_t i = 0; i < sizeof(flag_facts) / sizeof(*flag_facts); i++)
		rck_json_kstr(j, rck_fact_info(flag_facts[i])->key,
			source_names[v[flag_facts[i]].source]);
	rck_json_object_end(j);
	rck_json_key(j, "disagreements");
	rck_json_array(j);
	for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++)
		if (v[f].disagrees)
			rck_json_str(j, rck_fact_info(f)->key);
	rck_json_array_end(j);
}

static void add_triple(struct rck_json *j, const char *key, const uint64_t *xyz)
{
	rck_json_key(j, key);
	rck_json_array(j);
	for (int i = 0; i < 3; i++)
		rck_json_u64(j, xyz[i]);
	rck_json_array_end(j);
}

static void add_args(struct rck_json *j, const struct rck_kernel *k)
{
	rck_json_key(j, "args");
	rck_json_array(j);
	for (size_t i = 0; i < k->n_args; i++) {
		const struct rck_arg *a = &k->args[i];

		rck_json_object(j);
		rck_json_ku64(j, "offset", a->offset);
		rck_json_ku64(j, "size", a->size);
		rck_json_kstr(j, "value_kind", a->value_kind);
		rck_json_kbool(j, "hidden", a->hidden);
		rck_json_kstr(j, "name", a->name);
		rck_json_kstr(j, "type_name", a->type_name);
		rck_json_kstr(j, "address_space", a->address_space);
		rck_json_kstr(j, "access", a->access);
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
}

void rck_inspect_json_kernel(struct rck_strbuf *out, enum rck_json_form form,
	const struct rck_json_place *place, const struct rck_kernel *k, size_t nth,
	bool args)
{
	struct rck_json j;

	if (form == RCK_JSON_DOCUMENT)
		rck_strbuf_adds(out, nth ? ",\n" : "\n");
	open_record(&j, out, form, "kernel", place);
	if (form == RCK_JSON_LINES) {
		rck_json_kstr(&j, "where", place->where);
		rck_json_kstr(&j, "target", rck_code_object_target(k->object));
		rck_json_ku64(&j, "version", rck_code_object_version(k->object));
	}
	rck_json_kstr(&j, "name", rck_kernel_name(k));
	rck_json_kstr(&j, "demangled", rck_kernel_demangled(k));
	rck_json_kstr(&j, "symbol", rck_kernel_symbol(k));
	rck_json_kbool(&j, "flagged", rck_kernel_flagged(k));
	add_facts(&j, k);
	if (k->stated & RCK_MD(REQD_WORKGROUP))
		add_triple(&j, "reqd_workgroup_size", k->reqd_workgroup);
	if (k->stated & RCK_MD(WORKGROUP_HINT))
		add_triple(&j, "workgroup_size_hint", k->workgroup_hint);
	if (k->n_extra) {
		rck_json_key(&j, "unknown_keys");
		rck_json_object(&j);
		for (size_t i = 0; i < k->n_extra; i++)
			rck_json_kstr(&j, k->extra[i].key, k->extra[i].value);
		rck_json_object_end(&j);
	}
	if (args)
		add_args(&j, k);
	close_record(&j, form);
}

void rck_inspect_json_start(
	struct rck_inspect_json *r, enum rck_json_form form, struct rck_strbuf *out)
{
	struct rck_json j;

	*r = (struct rck_inspect_json){.form = form,
		.out = out,
		.problems = RCK_STRBUF_INIT,
		.extracted = RCK_STRBUF_INIT};
	open_record(&j, out, form, "start", NULL);
	rck_json_ku64(&j, "schema", RCK_INSPECT_SCHEMA);
	rck_json_kstr(&j, "tool", "rocmcheck");
	rck_json_kstr(&j, "version", rck_version());
	rck_json_kstr(&j, "command", "inspect");
	if (form == RCK_JSON_LINES) {
		close_record(&j, form);
	} else {
		rck_json_key(&j, "files");
		rck_strbuf_addc(out, '[');
	}
}

void rck_inspect_json_file(struct rck_inspect_json *r, const char *path, uint64_t size)
{
	struct rck_json_place place = {path, ""};
	struct rck_json j;

	if (r->form == RCK_JSON_DOCUMENT)
		rck_strbuf_adds(r->out, r->n_files ? ",\n" : "\n");
	r->n_files++;
	r->n_objects = r->n_problems = r->n_extracted = 0;
	open_record(&j, r->out, r->form, "file", &place);
	if (r->form == RCK_JSON_DOCUMENT)
		rck_json_kstr(&j, "file", path);
	rck_json_ku64(&j, "size", size);
	if (r->form == RCK_JSON_LINES) {
		close_record(&j, r->form);
	} else {
		rck_json_key(&j, "code_objects");
		rck_strbuf_addc(r->out, '[');
	}
}

void rck_inspect_json_next_object(struct rck_inspect_json *r)
{
	if (r->form == RCK_JSON_DOCUMENT)
		rck_strbuf_adds(r->out, r->n_objects ? ",\n" : "\n");
	r->n_objects++;
}

/* Where a record goes that a document keeps in an array behind the code objects. */
static struct rck_strbuf *aside(
	struct rck_inspect_json *r, struct rck_strbuf *array, uint64_t *n)
{
	if (r->form == RCK_JSON_LINES)
		return r->out;
	rck_strbuf_adds(array, (*n)++ ? ",\n" : "\n");
	return array;
}

void rck_inspect_json_problem(struct rck_inspect_json *r,
	const struct rck_json_place *place, enum rck_item_kind kind,
	const struct rck_diag *diag, const char *remedy)
{
	struct rck_json j;

	open_record(
		&j, aside(r, &r->problems, &r->n_problems), r->form, "problem", place);
	rck_json_kstr(&j, "where", place->where);
	rck_json_kstr(&j, "kind", kind_names[kind]);
	add_offset(&j, diag->offset);
	rck_json_kstr(&j, "message", diag->msg);
	if (remedy)
		rck_json_kstr(&j, "remedy", remedy);
	close_record(&j, r->form);
}

void rck_inspect_json_extracted(
	struct rck_inspect_json *r, const struct rck_json_place *place, const char *to)
{
	struct rck_json j;

	open_record(&j, aside(r, &r->extracted, &r->n_extracted), r->form, "extracted",
		place);
	rck_json_kstr(&j, "where", place->where);
	rck_json_kstr(&j, "to", to);
	close_record(&j, r->form);
}

static void add_array(struct rck_strbuf *out, const char *key, struct rck_strbuf *array)
{
	rck_strbuf_addf(out, ",\"%s\":[", key);
	rck_strbuf_add(out, array->buf, array->len);
	rck_strbuf_adds(out, "]");
	rck_strbuf_reset(array);
}

void rck_inspect_json_file_end(
	struct rck_inspect_json *r, const char *path, const struct rck_summary *s)
{
	struct rck_json_place place = {path, ""};
	struct rck_json j;

	if (r->form == RCK_JSON_DOCUMENT) {
		rck_strbuf_adds(r->out, "]");
		add_array(r->out, "problems", &r->problems);
		add_array(r->out, "extracted", &r->extracted);
		rck_strbuf_adds(r->out, ",\"summary\":");
	}
	open_record(&j, r->out, r->form, "file_summary", &place);
	rck_summary_json(s, &j);
	close_record(&j, r->form);
	if (r->form == RCK_JSON_DOCUMENT)
		rck_strbuf_adds(r->out, "}");
}

void rck_inspect_json_finish(struct rck_inspect_json *r, const struct rck_summary *s)
{
	struct rck_json j;

	if (r->form == RCK_JSON_DOCUMENT)
		rck_strbuf_adds(r->out, "],\n\"summary\":");
	open_record(&j, r->out, r->form, "summary", NULL);
	rck_summary_json(s, &j);
	close_record(&j, r->form);
	if (r->form == RCK_JSON_DOCUMENT)
		rck_strbuf_adds(r->out, "}\n");
	rck_strbuf_release(&r->problems);
	rck_strbuf_release(&r->extracted);
}
