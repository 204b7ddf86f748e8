/* MIOpen's kernel databases: each row is bytes of its own. */
#include "container/kdb-wal.h"
#include "container/walk.h"
#include "util/cleanup.h"

#include <errno.h>
#include <stdlib.h>

static enum rck_step kdb_step(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_part part = {.place = RCK_PLACE_DEVICE, .container = "kdb"};
	struct rck_kdb *k = &frame->u.kdb;
	struct rck_entry e = {0};
	struct rck_diag diag = {0};
	int err;

	if (k->log_unseen) {
		k->log_unseen = false;
		rck_walk_name(file, frame, "", 0);
		return rck_walk_say(file, frame, RCK_ITEM_NOTE, frame->slice, NULL, 0,
			"in WAL mode: kernels that only its -wal file has are not seen "
			"here");
	}
	err = rck_kdb_next(k, rck_walk_limit(file), file->opt.verify, &e, &diag);
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

/*
 * A database in WAL mode is read from a copy with its log in it. The log is the file
 * beside it; where there is none SQLite's last user has closed it, and the database is
 * whole.
 */
static enum rck_step push_wal(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes **out)
{
	const char *path =
		!parent && !file->base_depth ? rck_bytes_path(file->bytes) : NULL;
	_cleanup_free_ char *real = path ? realpath(path, NULL) : NULL;
	_cleanup_free_ char *wal_path = real ? rck_xasprintf("%s-wal", real) : NULL;
	struct rck_bytes *wal = NULL;
	struct rck_slice log = {0};
	struct rck_diag diag = {0};
	int err = 0;

	if (wal_path)
		err = rck_walk_open_other(file, NULL, wal_path, &wal, &diag);
	if (err && err != -ENOENT)
		return rck_walk_incomplete(file, NULL, s, NULL, err,
			"Make the -wal file beside the database readable, or close what "
			"uses the database.",
			"kernels may be in its write-ahead log '%.*s': %s", 80,
			strrchr(wal_path, '/') ? strrchr(wal_path, '/') + 1 : wal_path,
			diag.msg);
	if (wal)
		log = rck_bytes_slice(wal);
	err = rck_kdb_apply_wal(s, log, out, &diag);
	if (!err && wal && rck_bytes_check(wal, true, &diag)) {
		rck_bytes_unref(*out);
		err = diag.code;
	}
	rck_bytes_unref(wal);
	if (err)
		return rck_walk_diag(file, parent, RCK_ITEM_ERROR, s, NULL, &diag);
	return RCK_STEP_MORE;
}

enum rck_step rck_walk_push_kdb(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes *bytes)
{
	struct rck_bytes *copy = NULL;
	struct rck_diag diag = {0};
	enum rck_step step;
	struct rck_frame *f;

	if (rck_kdb_in_wal_mode(s)) {
		step = push_wal(file, parent, s, &copy);
		if (step != RCK_STEP_MORE)
			return step;
		s = rck_bytes_slice(copy);
	}
	f = rck_walk_push(file, parent, &kdb_frame, s, copy ? copy : bytes, true);
	rck_bytes_unref(copy);
	if (!f)
		return RCK_STEP_ITEM;
	if (!rck_kdb_open(&f->u.kdb, s, &diag)) {
		f->u.kdb.log_unseen = copy && (parent || !rck_bytes_path(file->bytes));
		return RCK_STEP_MORE;
	}
	rck_walk_diag(file, f, RCK_ITEM_ERROR, s, NULL, &diag);
	return rck_walk_refuse(file);
}
