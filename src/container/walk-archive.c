/* Archives: members in place, and those that are other files. */
#include "container/walk.h"

#include <errno.h>

#include "util/range.h"

/* The member whose header is at origin in an archive: what "/123:456" points at. */
static int member_at(
	struct rck_slice s, uint64_t origin, struct rck_slice *out, struct rck_diag *diag)
{
	struct rck_archive a;
	struct rck_entry e;

	if (rck_sniff(s) != RCK_MAGIC_ARCHIVE || rck_archive_open(&a, s, diag))
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"is not the archive that "
			"it is said to be");
	(void)rck_archive_next(&a, &e, NULL); /* the tables stand in front of it */
	a.at = origin;
	if (rck_archive_next(&a, &e, diag) != 1)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"has no member at offset %llu", (unsigned long long)origin);
	*out = e.slice;
	return 0;
}

static enum rck_step member_elsewhere(
	struct rck_file *file, struct rck_frame *frame, const struct rck_entry *e)
{
	struct rck_part part = {.place = RCK_PLACE_MEMBER, .container = "archive"};
	struct rck_archive *a = &frame->u.archive;
	struct rck_bytes *bytes = NULL;
	struct rck_diag diag = {0};
	enum rck_step step;
	_cleanup_strbuf_ struct rck_strbuf path = RCK_STRBUF_INIT;
	int err;

	if (rck_walk_path(file, frame, e->id, e->id_len, &path))
		err = rck_walk_open_other(file, frame, path.buf, &bytes, &diag);
	else
		err = rck_fail(&diag, -ENOENT, RCK_OFFSET_NONE,
			"it is another file, and there is no folder to look in");

	if (!err) {
		part.slice = rck_bytes_slice(bytes);
		if (a->nested_origin != RCK_OFFSET_NONE)
			err = member_at(part.slice, a->nested_origin, &part.slice, &diag);
	}
	if (err) {
		part.slice = e->slice;
		rck_walk_say(file, frame, RCK_ITEM_ERROR, e->slice, &part, diag.code,
			"thin archive's member: %s", diag.msg);
		step = RCK_STEP_ITEM;
	} else {
		part.slice.file_offset = RCK_OFFSET_NONE;
		step = rck_walk_push_single(
			file, frame, bytes, &part, "the thin archive's member", true);
	}
	rck_bytes_unref(bytes);
	return step;
}

static enum rck_step archive_step(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_part part = {.place = RCK_PLACE_MEMBER, .container = "archive"};
	struct rck_diag diag = {0};
	struct rck_entry e;
	int err = rck_archive_next(&frame->u.archive, &e, &diag);

	if (!err)
		return RCK_STEP_DONE;
	rck_walk_name(file, frame, err < 0 ? "" : e.id, err < 0 ? 0 : e.id_len);
	if (err < 0)
		return rck_walk_diag(
			file, frame, RCK_ITEM_ERROR, frame->slice, NULL, &diag);
	if (frame->u.archive.elsewhere)
		return member_elsewhere(file, frame, &e);
	part.slice = e.slice;
	part.id = e.id;
	part.id_len = e.id_len;
	return rck_walk_part(file, frame, &part);
}

static const struct rck_frame_type archive_frame = {archive_step, NULL};

enum rck_step rck_walk_push_archive(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes *bytes)
{
	struct rck_frame *f = rck_walk_push(file, parent, &archive_frame, s, bytes, true);
	struct rck_diag diag = {0};

	if (!f)
		return RCK_STEP_ITEM;
	if (!rck_archive_open(&f->u.archive, s, &diag))
		return RCK_STEP_MORE;
	rck_walk_diag(file, f, RCK_ITEM_ERROR, s, NULL, &diag);
	return rck_walk_refuse(file);
}
