/* MIOpen's kernel databases: each row is bytes of its own. */
#include "container/walk.h"

static enum rck_step kdb_step(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_part part = {.place = RCK_PLACE_DEVICE, .container = "kdb"};
	struct rck_kdb *k = &frame->u.kdb;
	struct rck_entry e = {0};
	struct rck_diag diag = {0};
	int err = rck_kdb_next(k, rck_walk_limit(file), file->opt.verify, &e, &diag);

	if (!err)
		return RCK_STEP_DONE;
	rck_walk_name(file, frame, e.id ? e.id : "", e.id_len);
	if (err < 0)
		return rck_walk_diag(
			file, frame, RCK_ITEM_ERROR, frame->slice, NULL, &diag);
	atomic_fetch_add(&file->budget->inflated, e.slice.size);
	part.slice = e.slice;
	part.id = e.id;
	part.id_len = e.id_len;
	return rck_walk_push_single(
		file, frame, k->bytes, &part, "the inflated kernel", false);
}

static void kdb_close(struct rck_frame *frame)
{
	rck_kdb_close(&frame->u.kdb);
}

static const struct rck_frame_type kdb_frame = {kdb_step, kdb_close};

enum rck_step rck_walk_push_kdb(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes *bytes)
{
	struct rck_frame *f = rck_walk_push(file, parent, &kdb_frame, s, bytes, true);
	struct rck_diag diag = {0};

	if (!f)
		return RCK_STEP_ITEM;
	if (!rck_kdb_open(&f->u.kdb, s, &diag))
		return RCK_STEP_MORE;
	rck_walk_diag(file, f, RCK_ITEM_ERROR, s, NULL, &diag);
	return rck_walk_refuse(file);
}
