/* AOTriton's packs: inflated at once, then each kernel a part. */
#include "container/walk.h"

#include <errno.h>

static enum rck_step aks2_step(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_part part = {.place = RCK_PLACE_DEVICE, .container = "aks2"};
	struct rck_aks2 *a = &frame->u.aks2;
	struct rck_diag diag = {0};
	struct rck_entry e;
	int err = rck_aks2_next(a, &e, &diag);

	rck_walk_name(file, frame, "", 0);
	if (err < 0)
		return rck_walk_diag(
			file, frame, RCK_ITEM_ERROR, frame->slice, NULL, &diag);
	if (!err && a->empty) {
		unsigned n = a->empty;

		a->empty = 0;
		return rck_walk_say(file, frame, RCK_ITEM_NOTE, frame->slice, NULL, 0,
			"%u of %u kernels have no image: they were not compiled", n,
			a->kernels);
	}
	if (!err)
		return RCK_STEP_DONE;
	part.slice = e.slice;
	part.id = e.id;
	part.id_len = e.id_len;
	rck_walk_name(file, frame, e.id, e.id_len);
	return rck_walk_part(file, frame, &part);
}

static const struct rck_frame_type aks2_frame = {aks2_step, NULL};

enum rck_step rck_walk_push_aks2(
	struct rck_file *file, struct rck_frame *parent, struct rck_slice s)
{
	struct rck_bytes *bytes = NULL;
	struct rck_diag diag = {0};
	struct rck_frame *f;
	struct rck_aks2 a;
	int err = rck_aks2_open(&a, s, &diag);

	if (!err)
		err = rck_aks2_inflate(&a, rck_walk_limit(file), &bytes, &diag);
	if (err == -ENOTSUP)
		return rck_walk_incomplete(file, parent, s, NULL, err,
			"Build rocmcheck with liblzma, or check the code objects before "
			"they are packed.",
			"%s", diag.msg);
	if (err)
		return rck_walk_diag(file, parent, RCK_ITEM_ERROR, s, NULL, &diag);
	atomic_fetch_add(&file->budget->inflated, a.inflated);
	f = rck_walk_push(file, parent, &aks2_frame, a.content, bytes, true);
	if (f) {
		f->u.aks2 = a;
		f->inside = "the inflated pack";
	}
	rck_bytes_unref(bytes);
	return f ? RCK_STEP_MORE : RCK_STEP_ITEM;
}
