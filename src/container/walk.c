/* Which format nests in which: frames, told apart by magic, never by a name. */
#include "container/walk.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/range.h"
#include "util/regular.h"

/* ---- items --------------------------------------------------------------------------
 */

static uint64_t offset_in(
	const struct rck_file *file, const struct rck_frame *frame, const uint8_t *data)
{
	return (uint64_t)(data -
			  rck_bytes_slice(frame ? frame->bytes : file->bytes).data);
}

static const char *keep(struct rck_strbuf *sb, const char *s, size_t len)
{
	rck_strbuf_reset(sb);
	rck_strbuf_add(sb, s, len);
	return sb->buf;
}

enum rck_step rck_walk_item(struct rck_file *file, const struct rck_frame *frame,
	enum rck_item_kind kind, const struct rck_part *part)
{
	struct rck_item *item = &file->item;

	*item = (struct rck_item){
		.kind = kind,
		.where = file->where.buf,
		.container = rck_magic_name(RCK_MAGIC_NONE),
		.offset = RCK_OFFSET_NONE,
		.index = file->index++,
		.diag = {.offset = RCK_OFFSET_NONE},
		.bytes = frame ? frame->bytes : file->bytes,
		.depth = frame ? frame->depth : file->base_depth,
	};
	file->items++;
	if (!part)
		return RCK_STEP_ITEM;
	if (part->container)
		item->container = part->container;
	if (part->id)
		item->entry_id = keep(&file->id, part->id, part->id_len);
	if (part->target && part->target_len)
		item->target = keep(&file->target, part->target, part->target_len);
	item->data = part->slice.size ? part->slice.data : NULL;
	item->size = part->slice.size;
	item->offset = part->slice.file_offset;
	return RCK_STEP_ITEM;
}

enum rck_step rck_walk_diag(struct rck_file *file, const struct rck_frame *frame,
	enum rck_item_kind kind, struct rck_slice base, const struct rck_part *part,
	const struct rck_diag *diag)
{
	struct rck_diag d = *diag;

	rck_walk_item(file, frame, kind, part);
	if (d.offset != RCK_OFFSET_NONE)
		d.offset += offset_in(file, frame, base.data);
	if (frame && frame->inside) {
		size_t n = strlen(d.msg);

		snprintf(d.msg + n, sizeof(d.msg) - n, " (in %s)", frame->inside);
	}
	file->item.diag = d;
	return RCK_STEP_ITEM;
}

enum rck_step rck_walk_say(struct rck_file *file, const struct rck_frame *frame,
	enum rck_item_kind kind, struct rck_slice base, const struct rck_part *part,
	int code, const char *fmt, ...)
{
	struct rck_diag d = {.code = code, .offset = frame ? 0 : RCK_OFFSET_NONE};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d.msg, sizeof(d.msg), fmt, ap);
	va_end(ap);
	return rck_walk_diag(file, frame, kind, base, part, &d);
}

enum rck_step rck_walk_incomplete(struct rck_file *file, const struct rck_frame *frame,
	struct rck_slice base, const struct rck_part *part, int code, const char *remedy,
	const char *fmt, ...)
{
	struct rck_diag d = {.code = code, .offset = frame ? 0 : RCK_OFFSET_NONE};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d.msg, sizeof(d.msg), fmt, ap);
	va_end(ap);
	rck_walk_diag(file, frame, RCK_ITEM_INCOMPLETE, base, part, &d);
	file->item.remedy = remedy;
	return RCK_STEP_ITEM;
}

/* ---- frames -------------------------------------------------------------------------
 */

static void name_reset(struct rck_file *file, const struct rck_frame *frame)
{
	file->where.len = frame ? frame->where_len : file->base_where;
	if (file->where.cap)
		file->where.buf[file->where.len] = 0;
}

void rck_walk_name(struct rck_file *file, const struct rck_frame *frame, const char *name,
	size_t len)
{
	name_reset(file, frame);
	if (file->where.len && len)
		rck_strbuf_addc(&file->where, '/');
	rck_strbuf_add(&file->where, name, len);
}

struct rck_frame *rck_walk_push(struct rck_file *file, struct rck_frame *parent,
	const struct rck_frame_type *type, struct rck_slice slice,
	struct rck_bytes *bytes, bool nests)
{
	unsigned depth = (parent ? parent->depth : file->base_depth) + nests;
	struct rck_frame *f;

	if (depth > file->opt.max_depth) {
		rck_walk_say(file, parent, RCK_ITEM_ERROR, slice, NULL, -E2BIG,
			"containers nested deeper than %u", file->opt.max_depth);
		return NULL;
	}
	f = calloc(1, sizeof(*f));
	if (!f) {
		rck_walk_say(file, parent, RCK_ITEM_ERROR, slice, NULL, -ENOMEM,
			"out of memory");
		return NULL;
	}
	f->type = type;
	f->parent = parent;
	f->slice = slice;
	f->bytes = rck_bytes_ref(bytes);
	f->credit = slice.size;
	f->depth = depth;
	f->where_len = file->where.len;
	f->inside = parent ? parent->inside : file->inside;
	file->top = f;
	return f;
}

void rck_walk_pop(struct rck_file *file)
{
	struct rck_frame *f = file->top;

	file->top = f->parent;
	if (f->type->close)
		f->type->close(f);
	rck_bytes_unref(f->bytes);
	free(f);
}

enum rck_step rck_walk_refuse(struct rck_file *file)
{
	struct rck_frame *parent = file->top->parent;

	/* an item's bytes outlive the step that gives it */
	file->item.bytes = parent ? parent->bytes : file->bytes;
	rck_walk_pop(file);
	return RCK_STEP_ITEM;
}

bool rck_walk_path(struct rck_file *file, const struct rck_frame *frame, const char *path,
	size_t len, struct rck_strbuf *full)
{
	const char *from = rck_bytes_path(frame->bytes);

	if (!from)
		from = file->path;
	return from && rck_regular_beside(from, path, len, full);
}

int rck_walk_open_other(struct rck_file *file, const struct rck_frame *frame,
	const char *path, struct rck_bytes **out, struct rck_diag *diag)
{
	int err;

	*out = NULL;
	if (atomic_fetch_add(&file->budget->other_files, 1) >= RCK_OTHER_FILES)
		return rck_fail(diag, -E2BIG, RCK_OFFSET_NONE,
			"not opened: more than %d other files", RCK_OTHER_FILES);
	err = rck_bytes_map(path, out, diag);
	if (err)
		return err;
	for (const struct rck_frame *f = frame; f; f = f->parent) {
		if (!rck_bytes_same_file(f->bytes, *out))
			continue;
		rck_bytes_unref(*out);
		*out = NULL;
		return rck_fail(diag, -ELOOP, RCK_OFFSET_NONE, "contains itself");
	}
	return 0;
}

uint64_t rck_walk_limit(const struct rck_file *file)
{
	uint64_t used = atomic_load(&file->budget->inflated);
	uint64_t left = used < file->opt.max_total ? file->opt.max_total - used : 0;

	return left < file->opt.max_inflated ? left : file->opt.max_inflated;
}

static enum rck_step single_step(struct rck_file *file, struct rck_frame *frame)
{
	if (frame->u.single.given)
		return RCK_STEP_DONE;
	frame->u.single.given = true;
	name_reset(file, frame);
	return rck_walk_part(file, frame, &frame->u.single.part);
}

static const struct rck_frame_type single_frame = {single_step, NULL};

enum rck_step rck_walk_push_single(struct rck_file *file, struct rck_frame *parent,
	struct rck_bytes *bytes, const struct rck_part *part, const char *inside,
	bool other)
{
	struct rck_frame *f =
		rck_walk_push(file, parent, &single_frame, part->slice, bytes, false);

	if (!f)
		return RCK_STEP_ITEM;
	f->u.single.part = *part;
	f->inside = inside;
	f->other = other;
	return RCK_STEP_MORE;
}

/* ---- bundles ------------------------------------------------------------------------
 */

static bool starts(const char *s, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && !memcmp(s, with, n);
}

enum rck_place rck_walk_place_of(const struct rck_bundle_id *id)
{
	if (starts(id->kind, id->kind_len, "host") ||
		!(starts(id->triple, id->triple_len, "amdgcn") ||
			starts(id->triple, id->triple_len, "spirv") ||
			starts(id->triple, id->triple_len, "r600")))
		return RCK_PLACE_FOREIGN;
	return RCK_PLACE_DEVICE;
}

static enum rck_step bundle_step(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_part part = {.place = RCK_PLACE_DEVICE, .container = "bundle"};
	struct rck_diag diag = {0};
	struct rck_bundle_id id;
	struct rck_entry e;
	int err = rck_bundle_next(&frame->u.bundle, &e, &diag);

	name_reset(file, frame);
	if (err < 0)
		return rck_walk_diag(
			file, frame, RCK_ITEM_ERROR, frame->slice, NULL, &diag);
	if (!err)
		return RCK_STEP_DONE;
	part.slice = e.slice;
	part.id = e.id;
	part.id_len = e.id_len;
	if (rck_bundle_id_parse(e.id, e.id_len, &id)) {
		part.place = rck_walk_place_of(&id);
		part.target = id.target;
		part.target_len = id.target_len;
	}
	rck_walk_name(file, frame, e.id, e.id_len);
	if (!e.slice.size && part.place == RCK_PLACE_FOREIGN)
		return RCK_STEP_MORE;
	if (!e.slice.size)
		return rck_walk_say(file, frame, RCK_ITEM_NOTE, frame->slice, &part, 0,
			"the bundle's entry is empty");
	return rck_walk_part(file, frame, &part);
}

static const struct rck_frame_type bundle_frame = {bundle_step, NULL};

static enum rck_step push_bundle(
	struct rck_file *file, struct rck_frame *parent, struct rck_slice s)
{
	struct rck_frame *f =
		rck_walk_push(file, parent, &bundle_frame, s, parent->bytes, true);
	struct rck_diag diag = {0};

	if (!f)
		return RCK_STEP_ITEM;
	if (!rck_bundle_open(&f->u.bundle, s, &diag))
		return RCK_STEP_MORE;
	rck_walk_diag(file, f, RCK_ITEM_ERROR, s, NULL, &diag);
	return rck_walk_refuse(file);
}

/* ---- OffloadBinary ------------------------------------------------------------------
 */

static enum rck_step offload_step(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_part part = {
		.place = RCK_PLACE_FOREIGN, .container = "offload-binary"};
	struct rck_offload *o = &frame->u.offload;
	struct rck_diag diag = {0};
	struct rck_entry e;
	int err = rck_offload_next(o, &e, &diag);

	name_reset(file, frame);
	if (err < 0)
		return rck_walk_diag(
			file, frame, RCK_ITEM_ERROR, frame->slice, NULL, &diag);
	if (!err)
		return RCK_STEP_DONE;
	part.slice = e.slice;
	part.id = part.target = e.id;
	part.id_len = part.target_len = e.id_len;
	if (starts((const char *)o->triple.data, o->triple.size, "amdgcn") ||
		starts((const char *)o->triple.data, o->triple.size, "spirv"))
		part.place = RCK_PLACE_DEVICE;
	rck_walk_name(file, frame, e.id, e.id_len);
	if (e.slice.size)
		return rck_walk_part(file, frame, &part);
	if (part.place == RCK_PLACE_FOREIGN)
		return RCK_STEP_MORE;
	return rck_walk_incomplete(file, frame, frame->slice, &part, -ENODATA,
		"Check the file that holds the image.",
		"only a description of device code; its image is elsewhere");
}

static const struct rck_frame_type offload_frame = {offload_step, NULL};

static enum rck_step push_offload(
	struct rck_file *file, struct rck_frame *parent, struct rck_slice s)
{
	struct rck_bytes *bytes = NULL;
	struct rck_diag diag = {0};
	struct rck_offload o;
	struct rck_frame *f;
	int err = rck_offload_open(&o, s, &diag);

	if (!err && o.inflated) {
		err = rck_offload_inflate(
			&o, &file->inflater, rck_walk_limit(file), &bytes, &diag);
		if (!err) {
			struct rck_slice whole = rck_bytes_slice(bytes);

			atomic_fetch_add(&file->budget->inflated, whole.size);
			err = rck_offload_open_inflated(&o, whole, &diag);
		}
	}
	if (err) {
		rck_bytes_unref(bytes);
		return rck_walk_diag(file, parent, RCK_ITEM_ERROR, s, NULL, &diag);
	}
	f = rck_walk_push(file, parent, &offload_frame, o.slice,
		bytes ? bytes : parent->bytes, true);
	if (f) {
		f->u.offload = o;
		if (bytes)
			f->inside = "the inflated OffloadBinary";
	}
	rck_bytes_unref(bytes);
	return f ? RCK_STEP_MORE : RCK_STEP_ITEM;
}

/* ---- records ------------------------------------------------------------------------
 */

static enum rck_step push_compressed(
	struct rck_file *file, struct rck_frame *parent, struct rck_slice s)
{
	struct rck_part part = {.slice = s, .container = rck_magic_name(RCK_MAGIC_CCOB)};
	struct rck_bytes *bytes;
	struct rck_diag diag = {0};
	enum rck_step step;
	struct rck_ccob c;
	int err;

	if (file->opt.keep_compressed)
		return rck_walk_item(file, parent, RCK_ITEM_COMPRESSED, &part);
	err = rck_ccob_parse(s, &c, &diag);
	if (!err)
		err = rck_ccob_inflate(&file->inflater, &c, rck_walk_limit(file),
			file->opt.verify, &bytes, &diag);
	if (err)
		return rck_walk_diag(file, parent, RCK_ITEM_ERROR, s, &part, &diag);
	atomic_fetch_add(&file->budget->inflated, c.inflated);
	step = rck_walk_push_records(file, parent, rck_bytes_slice(bytes), bytes, true);
	if (step == RCK_STEP_MORE)
		file->top->inside = "the inflated bundle";
	rck_bytes_unref(bytes);
	return step;
}

static enum rck_step records_end(
	struct rck_file *file, struct rck_frame *frame, const struct rck_record *r)
{
	struct rck_slice at = rck_subslice(frame->slice, r->skipped_at, 0);

	name_reset(file, frame);
	if (frame->u.records.n)
		return rck_walk_say(file, frame, RCK_ITEM_NOTE, at, NULL, 0,
			"%llu bytes behind the last bundle are no bundle",
			(unsigned long long)r->skipped);
	return rck_walk_say(file, frame, RCK_ITEM_ERROR, at, NULL, -EINVAL,
		"%llu bytes, and none of them starts a bundle",
		(unsigned long long)r->skipped);
}

static enum rck_step records_step(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_diag diag = {0};
	struct rck_record r;
	int err;

	if (frame->pending.magic) { /* the record behind a note */
		r = frame->pending;
		frame->pending.magic = RCK_MAGIC_NONE;
		err = 1;
	} else {
		err = rck_records_next(&frame->u.records, &r, &diag);
		if (err > 0 && r.skipped && r.magic == RCK_MAGIC_NONE)
			return records_end(file, frame, &r);
		if (err && frame->section)
			rck_walk_note_record(frame->parent, &r, frame->fatbin);
		if (err > 0 && r.skipped) {
			frame->pending = r;
			name_reset(file, frame);
			return rck_walk_say(file, frame, RCK_ITEM_NOTE,
				rck_subslice(frame->slice, r.skipped_at, 0), NULL, 0,
				"%llu bytes in front of a bundle are no bundle",
				(unsigned long long)r.skipped);
		}
	}
	if (!err)
		return RCK_STEP_DONE;
	name_reset(file, frame);
	if (r.index || frame->numbered)
		rck_strbuf_addf(&file->where, "[%llu]", (unsigned long long)r.index);
	if (err < 0)
		return rck_walk_diag(
			file, frame, RCK_ITEM_ERROR, frame->slice, NULL, &diag);
	if (r.slice.size > frame->credit)
		return RCK_STEP_DONE; /* cannot be: records do not overlap */
	frame->credit -= r.slice.size;
	switch (r.magic) {
	case RCK_MAGIC_CCOB:
		return push_compressed(file, frame, r.slice);
	case RCK_MAGIC_OFFLOAD:
		return push_offload(file, frame, r.slice);
	default:
		return push_bundle(file, frame, r.slice);
	}
}

static const struct rck_frame_type records_frame = {records_step, NULL};

enum rck_step rck_walk_push_records(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes *bytes, bool nests)
{
	struct rck_frame *f =
		rck_walk_push(file, parent, &records_frame, s, bytes, nests);

	if (!f)
		return RCK_STEP_ITEM;
	rck_records_open(&f->u.records, s);
	return RCK_STEP_MORE;
}

/* ---- parts --------------------------------------------------------------------------
 */

static bool contains(struct rck_slice s, const char *text)
{
	return memmem(s.data, s.size, text, strlen(text));
}

/*
 * A bitcode module's symbol table keeps its triple in plain bytes (llvm/Object/
 * IRSymtab.h). Without one it cannot be told whose module it is: then it is taken for
 * device code, so that nothing is called clean that was not read.
 */
static bool bitcode_is_foreign(struct rck_slice s)
{
	return !contains(s, "amdgcn") && !contains(s, "spirv64-amd") &&
	       (contains(s, "x86_64-") || contains(s, "aarch64-") ||
		       contains(s, "nvptx64-"));
}

static enum rck_step not_readable(struct rck_file *file, const struct rck_frame *frame,
	const struct rck_part *part, enum rck_magic magic)
{
	static const struct {
		const char *why, *remedy;
	} kinds[RCK_MAGIC_COUNT_] = {
		[RCK_MAGIC_BITCODE] = {"LLVM bitcode, not linked into a code object yet",
			"Check the linked program or library: its device code is made by "
			"the link (-fgpu-rdc)."},
		[RCK_MAGIC_SPIRV] = {"SPIR-V, which becomes a code object at run time "
				     "only",
			"Build for the targets by name as well, and check those: nothing "
			"is known of SPIR-V before the runtime compiles it."},
	};

	if (part->place == RCK_PLACE_FOREIGN)
		return RCK_STEP_MORE;
	if (magic == RCK_MAGIC_BITCODE && part->place == RCK_PLACE_MEMBER &&
		bitcode_is_foreign(part->slice))
		return RCK_STEP_MORE;
	return rck_walk_incomplete(file, frame, part->slice, part, -ENODATA,
		kinds[magic].remedy, "%s: it states no facts about kernels",
		kinds[magic].why);
}

static enum rck_step unknown(struct rck_file *file, const struct rck_frame *frame,
	const struct rck_part *part, enum rck_magic magic)
{
	if (part->place == RCK_PLACE_DEVICE)
		return rck_walk_say(file, frame, RCK_ITEM_ERROR, part->slice, part,
			-ENOEXEC, "device code that is %s", rck_magic_text(magic));
	if (part->place != RCK_PLACE_TOP)
		return RCK_STEP_MORE;
	if (!part->slice.size)
		return rck_walk_say(file, frame, RCK_ITEM_ERROR, part->slice, part,
			-ENOEXEC, "an empty file");
	return rck_walk_say(file, frame, RCK_ITEM_ERROR, part->slice, part, -ENOEXEC,
		"not a file that can hold device code (no known magic)");
}

enum rck_step rck_walk_part(
	struct rck_file *file, struct rck_frame *frame, const struct rck_part *part)
{
	struct rck_bytes *bytes = frame ? frame->bytes : file->bytes;
	struct rck_slice s = part->slice;
	enum rck_magic magic = rck_sniff(s);

	if (frame) {
		if (s.size > frame->credit)
			return rck_walk_say(file, frame, RCK_ITEM_ERROR, s, part, -EINVAL,
				"this and the parts before it are longer than what holds "
				"them: they overlap");
		frame->credit -= s.size;
	}
	switch (magic) {
	case RCK_MAGIC_AMDGPU:
		return rck_walk_item(file, frame, RCK_ITEM_CODE_OBJECT, part);
	case RCK_MAGIC_BUNDLE:
	case RCK_MAGIC_CCOB:
	case RCK_MAGIC_OFFLOAD:
		return rck_walk_push_records(file, frame, s, bytes, false);
	case RCK_MAGIC_BITCODE:
	case RCK_MAGIC_SPIRV:
		return not_readable(file, frame, part, magic);
	case RCK_MAGIC_ELF:
		if (part->place == RCK_PLACE_DEVICE)
			break;
		return rck_walk_push_sections(file, frame, s, bytes, true);
	case RCK_MAGIC_PE:
	case RCK_MAGIC_COFF:
		if (part->place == RCK_PLACE_DEVICE)
			break;
		return rck_walk_push_sections(file, frame, s, bytes, false);
	case RCK_MAGIC_ARCHIVE:
	case RCK_MAGIC_THIN_ARCHIVE:
		return rck_walk_push_archive(file, frame, s, bytes);
	case RCK_MAGIC_KPACK:
		return rck_walk_push_kpack(file, frame, s, bytes);
	case RCK_MAGIC_AKS2:
		return rck_walk_push_aks2(file, frame, s);
	case RCK_MAGIC_SQLITE:
		return rck_walk_push_kdb(file, frame, s, bytes);
	default:
		break;
	}
	return unknown(file, frame, part, magic);
}

/* ---- the file -----------------------------------------------------------------------
 */

static enum rck_step start(struct rck_file *file)
{
	struct rck_part part = {.slice = file->slice, .place = RCK_PLACE_TOP};

	file->started = true;
	return rck_walk_part(file, NULL, &part);
}

/* A file that changed under the walk: said once, in front of the end. */
static enum rck_step check_changed(struct rck_file *file, bool settled)
{
	struct rck_diag diag;

	if (file->told_changed || !rck_bytes_check(file->bytes, settled, &diag))
		return RCK_STEP_MORE;
	while (file->top)
		rck_walk_pop(file);
	file->told_changed = true;
	name_reset(file, NULL);
	rck_walk_item(file, NULL, RCK_ITEM_ERROR, NULL);
	file->item.diag = diag;
	return RCK_STEP_ITEM;
}

/* The top frame is through; if it had a file of its own, that must have stayed as it was.
 */
static enum rck_step end(struct rck_file *file)
{
	struct rck_frame *f = file->top;
	struct rck_diag diag;

	if (!f->other || !rck_bytes_check(f->bytes, true, &diag)) {
		rck_walk_pop(file);
		return RCK_STEP_MORE;
	}
	name_reset(file, f);
	rck_walk_item(file, f, RCK_ITEM_ERROR, NULL);
	file->item.diag = diag;
	return rck_walk_refuse(file);
}

int rck_file_next(struct rck_file *file, struct rck_item *item, struct rck_diag *diag)
{
	enum rck_step step = RCK_STEP_MORE;

	(void)diag; /* the walk goes on behind everything it cannot read */
	while (step != RCK_STEP_ITEM) {
		if (!file->started) {
			step = start(file);
		} else if (file->top) {
			step = file->top->type->step(file, file->top);
			if (step == RCK_STEP_DONE)
				step = end(file);
		} else {
			step = check_changed(file, true);
			if (step != RCK_STEP_ITEM)
				return 0;
			break;
		}
		if (check_changed(file, false) == RCK_STEP_ITEM)
			break;
	}
	*item = file->item;
	return 1;
}
