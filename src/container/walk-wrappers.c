/* What a host file registers with HIP when it is loaded, against the bundles it holds. */
#include "container/elf-pointers.h"
#include "container/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/range.h"

/* __CudaFatBinaryWrapper (CLR, hipamd/src/hip_platform.cpp), in host order: u32 magic,
 * u32 version, pointer to the bundle, pointer of no use. */
#define WRAPPER      24
#define POINTER      8
#define WRAPPER_HIPF 0x48495046u
#define WRAPPER_HIPK 0x4b504948u

static enum rck_step no_memory(
	struct rck_file *file, struct rck_frame *frame, struct rck_slice s)
{
	return rck_walk_say(
		file, frame, RCK_ITEM_ERROR, s, NULL, -ENOMEM, "out of memory");
}

/* Where the wrappers of a section lead: one target each, also of those that are no HIPF;
 * NULL: no memory. */
static uint64_t *find_targets(struct rck_sections *x, const struct rck_entry *e, size_t n)
{
	uint64_t *targets = malloc(n * sizeof(*targets));

	if (!targets)
		return NULL;
	if (x->is_elf)
		rck_elf_pointers(&x->u.elf, e->index, POINTER, WRAPPER, targets, n);
	for (size_t i = 0; !x->is_elf && i < n; i++)
		targets[i] = RCK_OFFSET_NONE;
	return targets;
}

enum rck_step rck_walk_read_wrappers(
	struct rck_file *file, struct rck_frame *frame, const struct rck_entry *e)
{
	struct rck_wrappers *w = &frame->u.sections.wrappers;
	const size_t n = e->slice.size / WRAPPER;
	struct rck_wrapper *items;
	uint64_t *targets;

	if (!n)
		return RCK_STEP_MORE;
	items = realloc(w->items, (w->n_items + n) * sizeof(*items));
	w->items = items ? items : w->items;
	targets = items ? find_targets(&frame->u.sections, e, n) : NULL;
	if (!targets)
		return no_memory(file, frame, rck_subslice(e->slice, 0, 0));
	for (size_t i = 0; i < n; i++) {
		struct rck_slice s = rck_subslice(e->slice, i * WRAPPER, WRAPPER);
		uint32_t magic = rck_le32(s.data);

		if (magic == WRAPPER_HIPF) {
			w->hipf++;
			w->lost += targets[i] == RCK_OFFSET_NONE;
			w->items[w->n_items++] = (struct rck_wrapper){
				targets[i], (uint64_t)(s.data - frame->slice.data)};
		} else if (magic == WRAPPER_HIPK) {
			w->hipk++;
		} else if (magic) { /* zeros: a linker's padding */
			free(targets);
			return rck_walk_say(file, frame, RCK_ITEM_NOTE, s, NULL, 0,
				"fat binary wrapper with magic 0x%08x, neither HIPF nor "
				"HIPK",
				magic);
		}
	}
	free(targets);
	return RCK_STEP_MORE;
}

void rck_walk_note_record(
	struct rck_frame *frame, const struct rck_record *r, bool fatbin)
{
	struct rck_wrappers *w = &frame->u.sections.wrappers;

	w->bundles += fatbin;
	if (w->n_records == w->cap_records) {
		size_t cap = w->cap_records ? w->cap_records * 2 : 16;
		struct rck_found *records = realloc(w->records, cap * sizeof(*records));

		if (!records) {
			w->lost++; /* compared by number, then */
			return;
		}
		w->records = records;
		w->cap_records = cap;
	}
	w->records[w->n_records++] =
		(struct rck_found){(uint64_t)(r->slice.data - frame->slice.data), fatbin};
}

/* Of wrappers and of records alike: by the offset that stands first in both. */
static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A record that a wrapper leads to and no section's name or first bytes did. */
static enum rck_step push_elsewhere(
	struct rck_file *file, struct rck_frame *frame, const struct rck_wrapper *w)
{
	struct rck_slice rest =
		rck_subslice(frame->slice, w->target, frame->slice.size - w->target);
	enum rck_magic magic = rck_sniff(rest);
	struct rck_diag diag = {0};
	struct rck_records records;
	struct rck_record r;
	char name[24];
	int err = 0;

	snprintf(name, sizeof(name), "@0x%llx", (unsigned long long)w->target);
	rck_walk_name(file, frame, name, strlen(name));
	if (rck_magic_is_record(magic, rest, false)) {
		rck_records_open(&records, rest);
		err = rck_records_next(&records, &r, &diag);
	}
	if (err < 0)
		return rck_walk_diag(file, frame, RCK_ITEM_ERROR, rest, NULL, &diag);
	if (!err)
		return rck_walk_incomplete(file, frame, rck_subslice(rest, 0, 0), NULL,
			-ENODATA,
			"Check a copy of the file whose device code was not taken out.",
			"the fat binary wrapper at offset 0x%llx leads here, and no "
			"bundle stands here",
			(unsigned long long)w->at);
	if (r.slice.size > frame->credit)
		return rck_walk_say(file, frame, RCK_ITEM_ERROR, rest, NULL, -EINVAL,
			"this bundle and the parts before it are longer than the file: "
			"they overlap");
	frame->credit -= r.slice.size;
	return rck_walk_push_records(file, frame, r.slice, frame->bytes, false);
}

/* The next wrapper that leads to no record that was found. */
static enum rck_step judge_next(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_wrappers *w = &frame->u.sections.wrappers;
	uint64_t target = w->items[w->next].target;
	const struct rck_found *found;

	if (target == RCK_OFFSET_NONE ||
		(w->next && target == w->items[w->next - 1].target)) {
		w->next++;
		return RCK_STEP_MORE;
	}
	w->next++;
	found = w->n_records ? bsearch(&target, w->records, w->n_records, sizeof(*found),
				       compare)
			     : NULL;
	if (!found)
		return push_elsewhere(file, frame, &w->items[w->next - 1]);
	w->named += found->fatbin;
	return RCK_STEP_MORE;
}

/* Where it is not known what a wrapper leads to, numbers are all there is. */
static enum rck_step judge_numbers(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_sections *x = &frame->u.sections;
	struct rck_wrappers *w = &x->wrappers;
	struct rck_slice s = rck_subslice(frame->slice, 0, 0);

	/* an unlinked -fgpu-rdc object: a wrapper, and bitcode instead of bundles */
	if (w->hipf == w->bundles || (!x->fatbin && file->items > x->items_before))
		return RCK_STEP_DONE;
	if (!w->bundles && file->items == x->items_before)
		return rck_walk_incomplete(file, frame, s, NULL, -ENODATA,
			"Check the linked program or library that the file becomes part "
			"of.",
			"registers %llu fat binaries with HIP, but holds none",
			(unsigned long long)w->hipf);
	return rck_walk_say(file, frame, RCK_ITEM_NOTE, s, NULL, 0,
		"registers %llu fat binaries with HIP, but holds %llu bundles",
		(unsigned long long)w->hipf, (unsigned long long)w->bundles);
}

enum rck_step rck_walk_judge_wrappers(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_wrappers *w = &frame->u.sections.wrappers;

	if (!w->n_items || w->judged)
		return RCK_STEP_DONE;
	if (!w->next) {
		qsort(w->items, w->n_items, sizeof(*w->items), compare);
		if (w->n_records)
			qsort(w->records, w->n_records, sizeof(*w->records), compare);
	}
	if (w->next < w->n_items)
		return judge_next(file, frame);
	w->judged = true;
	if (w->lost)
		return judge_numbers(file, frame);
	if (w->named >= w->bundles)
		return RCK_STEP_DONE;
	return rck_walk_say(file, frame, RCK_ITEM_NOTE, rck_subslice(frame->slice, 0, 0),
		NULL, 0,
		"of %llu bundles in .hip_fatbin %llu are registered by no wrapper: HIP "
		"does not see them",
		(unsigned long long)w->bundles,
		(unsigned long long)(w->bundles - w->named));
}

void rck_walk_drop_wrappers(struct rck_frame *frame)
{
	free(frame->u.sections.wrappers.items);
	free(frame->u.sections.wrappers.records);
}
