/* Host files: their sections, and what those that hold or name device code say. */
#include "container/walk.h"

#include <errno.h>

#include "util/range.h"

#define SHT_LLVM_OFFLOADING 0x6fff4c0b
#define RDC_PREFIX          RCK_BUNDLE_MAGIC

enum role { OTHER, FATBIN, WRAPPERS, RDC, OFFLOADING, KPACK_REF };

/*
 * Sections by name. PE images cut names to eight bytes. Sources: clang/lib/CodeGen/
 * CGCUDANV.cpp, clang/docs/ClangOffloadBundler.rst, llvm/Frontend/Offloading
 * (OffloadWrapper.cpp), rocm-kpack (kpack_transform.py, elf and coff).
 */
static const struct {
	const char *name;
	bool whole; /* else a prefix */
	enum role role;
} roles[] = {
	{".hip_fatbin", false, FATBIN},
	{".hip_fat", true, FATBIN},
	{".hipFatBinSegment", true, WRAPPERS},
	{".hipFatB", true, WRAPPERS},
	{RDC_PREFIX, false, RDC},
	{".llvm.offloading", false, OFFLOADING},
	{".llvm.of", true, OFFLOADING},
	{".rocm_kpack_ref", true, KPACK_REF},
	{".kpackrf", true, KPACK_REF},
};

static enum role role_of(const struct rck_entry *e)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		size_t n = strlen(roles[i].name);

		if (e->id_len >= n && (e->id_len == n || !roles[i].whole) &&
			!memcmp(e->id, roles[i].name, n))
			return roles[i].role;
	}
	return OTHER;
}

static enum rck_step rdc_section(
	struct rck_file *file, struct rck_frame *frame, const struct rck_entry *e)
{
	struct rck_part part = {
		.slice = e->slice,
		.place = RCK_PLACE_DEVICE,
		.container = frame->u.sections.is_elf ? "elf" : "pe",
		.id = e->id + strlen(RDC_PREFIX),
		.id_len = e->id_len - strlen(RDC_PREFIX),
	};
	struct rck_bundle_id id;

	if (rck_bundle_id_parse(part.id, part.id_len, &id)) {
		part.place = rck_walk_place_of(&id);
		part.target = id.target;
		part.target_len = id.target_len;
	}
	return part.place == RCK_PLACE_FOREIGN ? RCK_STEP_MORE
					       : rck_walk_part(file, frame, &part);
}

static enum rck_step push_records(struct rck_file *file, struct rck_frame *frame,
	const struct rck_entry *e, bool fatbin)
{
	enum rck_step step;

	if (e->slice.size > frame->credit)
		return rck_walk_say(file, frame, RCK_ITEM_ERROR, e->slice, NULL, -EINVAL,
			"this section and those before it are longer than the file: "
			"they overlap");
	frame->credit -= e->slice.size;
	step = rck_walk_push_records(file, frame, e->slice, frame->bytes, false);
	if (step == RCK_STEP_MORE) {
		file->top->section = true;
		file->top->fatbin = fatbin;
		file->top->numbered = true;
	}
	return step;
}

/* A host file stripped of its section headers keeps its bundles all the same. */
static enum rck_step push_scattered(struct rck_file *file, struct rck_frame *frame)
{
	enum rck_step step =
		rck_walk_push_records(file, frame, frame->slice, frame->bytes, false);

	if (step == RCK_STEP_MORE) {
		rck_records_open_scattered(&file->top->u.records, frame->slice);
		file->top->numbered = true;
	}
	return step;
}

static enum rck_step section(
	struct rck_file *file, struct rck_frame *frame, const struct rck_entry *e)
{
	struct rck_sections *x = &frame->u.sections;
	struct rck_part part = {.slice = e->slice,
		.place = RCK_PLACE_SECTION,
		.container = x->is_elf ? "elf" : "pe"};
	enum role role = role_of(e);
	enum rck_magic magic;

	if (x->is_elf && x->u.elf.type == SHT_LLVM_OFFLOADING)
		role = OFFLOADING;
	rck_walk_name(file, frame, e->id, e->id_len);
	switch (role) {
	case FATBIN:
		x->fatbin = true;
		return push_records(file, frame, e, true);
	case WRAPPERS:
		return rck_walk_read_wrappers(file, frame, e);
	case RDC:
		return rdc_section(file, frame, e);
	case OFFLOADING:
		return push_records(file, frame, e, false);
	case KPACK_REF:
		x->kref = e->slice;
		return RCK_STEP_MORE;
	case OTHER:
		break;
	}
	magic = rck_sniff(e->slice);
	if (rck_magic_is_record(magic, e->slice, true))
		return push_records(file, frame, e, false);
	if (magic == RCK_MAGIC_AMDGPU)
		return rck_walk_part(file, frame, &part);
	return RCK_STEP_MORE;
}

/* Wrappers against what was found, once all sections were seen. */
static enum rck_step judge(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_sections *x = &frame->u.sections;
	struct rck_slice s = rck_subslice(frame->slice, 0, 0);

	rck_walk_name(file, frame, "", 0);
	if (x->judged)
		return rck_walk_judge_wrappers(file, frame);
	x->judged = true;
	if (x->is_elf && !x->u.elf.n)
		return push_scattered(file, frame);
	if (x->kref.size)
		return rck_walk_push_kpack_ref(file, frame, x->kref);
	if (x->wrappers.hipk)
		return rck_walk_incomplete(file, frame, s, NULL, -ENODATA,
			"Check the .kpack archives that belong to the file.",
			"device code is external (kpack), but nothing says where: no "
			".rocm_kpack_ref");
	return RCK_STEP_MORE;
}

static enum rck_step sections_step(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_sections *x = &frame->u.sections;
	struct rck_diag diag = {0};
	struct rck_entry e;
	int err = x->is_elf ? rck_host_elf_next(&x->u.elf, &e, &diag)
			    : rck_pe_next(&x->u.pe, &e, &diag);

	if (err > 0)
		return section(file, frame, &e);
	if (!err)
		return judge(file, frame);
	rck_walk_name(file, frame, "", 0);
	return rck_walk_diag(file, frame, RCK_ITEM_ERROR, frame->slice, NULL, &diag);
}

static void sections_close(struct rck_frame *frame)
{
	rck_walk_drop_wrappers(frame);
	if (frame->u.sections.is_elf)
		rck_host_elf_close(&frame->u.sections.u.elf);
}

static const struct rck_frame_type sections_frame = {sections_step, sections_close};

enum rck_step rck_walk_push_sections(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes *bytes, bool is_elf)
{
	struct rck_frame *f =
		rck_walk_push(file, parent, &sections_frame, s, bytes, true);
	struct rck_diag diag = {0};
	struct rck_sections *x;
	int err;

	if (!f)
		return RCK_STEP_ITEM;
	x = &f->u.sections;
	x->is_elf = is_elf;
	x->items_before = file->items;
	err = is_elf ? rck_host_elf_open(&x->u.elf, s, &diag)
		     : rck_pe_open(&x->u.pe, s, &diag);
	if (!err)
		return RCK_STEP_MORE;
	rck_walk_diag(file, f, RCK_ITEM_ERROR, s, NULL, &diag);
	return rck_walk_refuse(file);
}
