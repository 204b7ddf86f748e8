/* Files and items: what is opened, what is kept, what is dropped. */
#include "container/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void options_fill(struct rck_options *to, const struct rck_options *from)
{
	*to = (struct rck_options){.size = sizeof(*to)};
	if (from)
		memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
	if (!to->max_depth)
		to->max_depth = RCK_DEPTH_DEFAULT;
	if (!to->max_inflated)
		to->max_inflated = RCK_INFLATED_DEFAULT;
	if (!to->max_total)
		to->max_total = RCK_TOTAL_DEFAULT;
}

/* A file over bytes, whose reference it takes, also when it fails. */
static int file_new(struct rck_bytes *bytes, const char *name,
	const struct rck_options *options, struct rck_file **out, struct rck_diag *diag)
{
	struct rck_file *f = calloc(1, sizeof(*f));

	if (f && name)
		f->path = strdup(name);
	if (!f || (name && !f->path)) {
		free(f);
		rck_bytes_unref(bytes);
		return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE, "out of memory");
	}
	f->bytes = bytes;
	f->slice = rck_bytes_slice(bytes);
	f->budget = &f->own;
	f->where = f->id = f->target = (struct rck_strbuf)RCK_STRBUF_INIT;
	options_fill(&f->opt, options);
	*out = f;
	return 0;
}

int rck_file_open(const char *path, const struct rck_options *options,
	struct rck_file **out, struct rck_diag *diag)
{
	struct rck_bytes *bytes;
	int err;

	*out = NULL;
	err = rck_bytes_map(path, &bytes, diag);
	return err ? err : file_new(bytes, path, options, out, diag);
}

int rck_file_open_mem(const void *data, size_t size, const char *name,
	const struct rck_options *options, struct rck_file **out, struct rck_diag *diag)
{
	struct rck_bytes *bytes;

	*out = NULL;
	if (rck_bytes_borrow(data, size, &bytes))
		return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE, "out of memory");
	return file_new(bytes, name, options, out, diag);
}

int rck_file_open_item(struct rck_file *file, const struct rck_item *item,
	struct rck_file **out, struct rck_diag *diag)
{
	struct rck_options opt = file->opt;
	struct rck_file *f;
	int err;

	*out = NULL;
	if (!item->data || !item->bytes)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE, "an item without bytes");
	opt.keep_compressed = false;
	err = file_new(rck_bytes_ref(item->bytes), file->path, &opt, &f, diag);
	if (err)
		return err;
	f->slice = (struct rck_slice){item->data, item->size, item->offset};
	f->budget = file->budget;
	f->index = item->index;
	f->base_depth = item->depth;
	rck_strbuf_adds(&f->where, item->where);
	f->base_where = f->where.len;
	if (item->offset == RCK_OFFSET_NONE)
		f->inside = "an inflated container";
	*out = f;
	return 0;
}

void rck_file_close(struct rck_file *file)
{
	if (!file)
		return;
	while (file->top)
		rck_walk_pop(file);
	rck_inflater_release(&file->inflater);
	rck_strbuf_release(&file->where);
	rck_strbuf_release(&file->id);
	rck_strbuf_release(&file->target);
	rck_bytes_unref(file->bytes);
	free(file->path);
	free(file);
}

const char *rck_file_path(const struct rck_file *file)
{
	return file->path;
}

uint64_t rck_file_size(const struct rck_file *file)
{
	return file->slice.size;
}

static const char *copy(char **at, const char *s)
{
	char *to = *at;
	size_t n;

	if (!s)
		return NULL;
	n = strlen(s) + 1;
	memcpy(to, s, n);
	*at += n;
	return to;
}

struct rck_item *rck_item_keep(const struct rck_item *item)
{
	const char *strings[] = {
		item->where, item->container, item->entry_id, item->target};
	size_t size = sizeof(*item);
	struct rck_item *kept;
	char *at;

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		size += strings[i] ? strlen(strings[i]) + 1 : 0;
	kept = malloc(size);
	if (!kept)
		return NULL;
	*kept = *item;
	at = (char *)(kept + 1);
	kept->where = copy(&at, item->where);
	kept->container = copy(&at, item->container);
	kept->entry_id = copy(&at, item->entry_id);
	kept->target = copy(&at, item->target);
	if (kept->bytes)
		rck_bytes_ref(kept->bytes);
	return kept;
}

void rck_item_drop(struct rck_item *item)
{
	if (!item)
		return;
	rck_bytes_unref(item->bytes);
	free(item);
}
