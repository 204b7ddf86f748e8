/* kpack archives, and what a host binary's reference leads to. */
#include "container/walk.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>

#include "util/glob.h"
#include "util/range.h"

#define GFXARCH "@GFXARCH@"

/* ---- archives -----------------------------------------------------------------------
 */

static enum rck_step kpack_step(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_part part = {.place = RCK_PLACE_DEVICE, .container = "kpack"};
	struct rck_kpack *k = &frame->u.kpack.k;
	struct rck_bytes *bytes;
	struct rck_diag diag = {0};
	enum rck_step step;
	struct rck_entry e;
	int err = rck_kpack_next(k, &e, &diag);

	rck_walk_name(file, frame, "", 0);
	if (err < 0)
		return rck_walk_diag(
			file, frame, RCK_ITEM_ERROR, frame->slice, NULL, &diag);
	if (!err)
		return RCK_STEP_DONE;
	if (frame->u.kpack.ref) {
		if (!rck_kpack_ref_is(&frame->u.kpack.ref->ref, e.id, e.id_len))
			return RCK_STEP_MORE;
		frame->u.kpack.ref->found++;
	}
	part.slice = e.slice;
	part.id = e.id;
	part.id_len = e.id_len;
	part.target = k->arch_name;
	part.target_len = k->arch_len;
	rck_walk_name(file, frame, e.id, e.id_len);
	rck_strbuf_addc(&file->where, '/');
	rck_strbuf_add(&file->where, k->arch_name, k->arch_len);
	if (!k->compressed)
		return rck_walk_part(file, frame, &part);

	err = rck_inflate(&file->inflater, "kpack's kernel", RCK_CCOB_ZSTD,
		(struct rck_slice){0}, e.slice, k->original, rck_walk_limit(file), &bytes,
		&diag);
	if (err)
		return rck_walk_diag(file, frame, RCK_ITEM_ERROR, e.slice, &part, &diag);
	atomic_fetch_add(&file->budget->inflated, k->original);
	part.slice = rck_bytes_slice(bytes);
	step = rck_walk_push_single(
		file, frame, bytes, &part, "the inflated kernel", false);
	rck_bytes_unref(bytes);
	return step;
}

static void kpack_close(struct rck_frame *frame)
{
	rck_kpack_close(&frame->u.kpack.k);
}

static const struct rck_frame_type kpack_frame = {kpack_step, kpack_close};

enum rck_step rck_walk_push_kpack(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes *bytes)
{
	struct rck_frame *f = rck_walk_push(file, parent, &kpack_frame, s, bytes, true);
	struct rck_diag diag = {0};

	if (!f)
		return RCK_STEP_ITEM;
	if (!rck_kpack_open(&f->u.kpack.k, s, &diag))
		return RCK_STEP_MORE;
	rck_walk_diag(file, f, RCK_ITEM_ERROR, s, NULL, &diag);
	return rck_walk_refuse(file);
}

/* ---- references ---------------------------------------------------------------------
 */

/* Adds a path to a glob pattern: only @GFXARCH@ matches anything but itself. */
static void add_pattern(struct rck_strbuf *sb, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (len - i >= strlen(GFXARCH) &&
			!memcmp(s + i, GFXARCH, strlen(GFXARCH))) {
			rck_strbuf_addc(sb, '*');
			i += strlen(GFXARCH) - 1;
			continue;
		}
		rck_glob_add_literal(sb, s + i, 1);
	}
}

/* What is there for a search path: in the folders the caller names, else beside the
 * binary. The folders hold the path's last part. */
static void find_files(struct rck_file *file, struct rck_frame *frame, const char *path,
	size_t len, glob_t *found)
{
	const char *last = memrchr(path, '/', len), *dir = file->opt.kpack_path;
	size_t last_len = len;
	_cleanup_strbuf_ struct rck_strbuf pattern = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf full = RCK_STRBUF_INIT;

	if (last) {
		last++;
		last_len = (size_t)(path + len - last);
	} else {
		last = path;
	}
	while (dir && *dir) {
		const char *colon = strchrnul(dir, ':');

		rck_strbuf_reset(&pattern);
		add_pattern(&pattern, dir, (size_t)(colon - dir));
		rck_strbuf_addc(&pattern, '/');
		add_pattern(&pattern, last, last_len);
		if (colon != dir && !glob(pattern.buf, 0, NULL, found))
			return;
		globfree(found);
		dir = *colon ? colon + 1 : colon;
	}
	if (!rck_walk_path(file, frame, path, len, &full))
		return;
	rck_strbuf_reset(&pattern);
	add_pattern(&pattern, full.buf, full.len);
	glob(pattern.buf, 0, NULL, found);
}

static enum rck_step open_kpack(
	struct rck_file *file, struct rck_frame *frame, const char *path)
{
	struct rck_bytes *bytes;
	struct rck_diag diag = {0};
	enum rck_step step;
	int err = rck_walk_open_other(file, frame, path, &bytes, &diag);
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct rck_slice s;

	rck_walk_name(file, frame, base, strlen(base));
	if (err)
		return rck_walk_say(file, frame, RCK_ITEM_ERROR,
			rck_subslice(frame->slice, 0, 0), NULL, err, "kpack '%s': %s",
			path, diag.msg);
	s = rck_bytes_slice(bytes);
	s.file_offset = RCK_OFFSET_NONE;
	step = rck_walk_push_kpack(file, frame, s, bytes);
	if (step == RCK_STEP_MORE) {
		file->top->u.kpack.ref = &frame->u.ref;
		file->top->inside = "the kpack";
		file->top->other = true;
	}
	rck_bytes_unref(bytes);
	return step;
}

static const char kpack_remedy[] = "Put the .kpack archive where the file looks for it, "
				   "or name its folder with --kpack-path.";

static enum rck_step ref_end(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_walk_ref *r = &frame->u.ref;
	struct rck_slice s = rck_subslice(frame->slice, 0, 0);
	const char *path = NULL;
	size_t len = 0;

	rck_walk_name(file, frame, "", 0);
	if (r->found || r->told)
		return RCK_STEP_DONE;
	r->told = true;
	if (r->opened)
		return rck_walk_incomplete(file, frame, s, NULL, -ENOENT, kpack_remedy,
			"device code is external (kpack), and the kpacks that were found "
			"have none for '%.*s'",
			(int)(r->ref.name_len < 80 ? r->ref.name_len : 80), r->ref.name);
	rck_kpack_ref_path(&r->ref, 0, &path, &len);
	return rck_walk_incomplete(file, frame, s, NULL, -ENOENT, kpack_remedy,
		"device code is external (kpack), and no '%.*s' is there",
		(int)(len < 120 ? len : 120), path ? path : "");
}

static enum rck_step ref_step(struct rck_file *file, struct rck_frame *frame)
{
	struct rck_walk_ref *r = &frame->u.ref;
	const char *path;
	size_t len;

	if (r->next < r->files.gl_pathc) {
		r->opened++;
		return open_kpack(file, frame, r->files.gl_pathv[r->next++]);
	}
	globfree(&r->files);
	r->files = (glob_t){0};
	r->next = 0;
	/* search paths are alternatives: the first that leads to the code is enough */
	if (r->found || !rck_kpack_ref_path(&r->ref, r->path++, &path, &len))
		return ref_end(file, frame);
	if (path && len && len < 4096 && !memchr(path, 0, len))
		find_files(file, frame, path, len, &r->files);
	return RCK_STEP_MORE;
}

static void ref_close(struct rck_frame *frame)
{
	globfree(&frame->u.ref.files);
	rck_kpack_ref_close(&frame->u.ref.ref);
}

static const struct rck_frame_type ref_frame = {ref_step, ref_close};

enum rck_step rck_walk_push_kpack_ref(
	struct rck_file *file, struct rck_frame *parent, struct rck_slice s)
{
	struct rck_frame *f =
		rck_walk_push(file, parent, &ref_frame, s, parent->bytes, true);
	struct rck_diag diag = {0};

	if (!f)
		return RCK_STEP_ITEM;
	if (!rck_kpack_ref_open(&f->u.ref.ref, s, &diag))
		return RCK_STEP_MORE;
	rck_walk_diag(file, f, RCK_ITEM_ERROR, s, NULL, &diag);
	return rck_walk_refuse(file);
}
