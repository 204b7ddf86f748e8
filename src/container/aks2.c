#include "container/aks2.h"

#include <errno.h>

#include "util/range.h"

#ifdef HAVE_LZMA
#include <lzma.h>
#endif

#define HEADER 16
#define ENTRY  20 /* in front of a name */

int rck_aks2_open(struct rck_aks2 *a, struct rck_slice s, struct rck_diag *diag)
{
	if (s.size < HEADER || memcmp(s.data, "AKS2", 4) != 0)
		return rck_fail(diag, -EINVAL, 0, "AOTriton pack's header cut short");
	*a = (struct rck_aks2){
		.packed = rck_subslice(s, HEADER, s.size - HEADER),
		.inflated = rck_le32(s.data + 4),
		.kernels = rck_le32(s.data + 8),
		.directory = rck_le32(s.data + 12),
	};
	if (a->directory > a->inflated || a->kernels > a->directory / (ENTRY + 1))
		return rck_fail(diag, -EINVAL, 4,
			"AOTriton pack claims %u kernels in a directory of %llu of its "
			"%llu bytes",
			a->kernels, (unsigned long long)a->directory,
			(unsigned long long)a->inflated);
	return 0;
}

#ifdef HAVE_LZMA
/* What xz -9 needs to inflate, and some; a dictionary may claim up to 4 GiB. */
#define MEMORY (256u << 20)

static int inflate_xz(struct rck_slice in, uint8_t *data, uint64_t size)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret err = lzma_stream_decoder(&z, MEMORY, 0);

	z.next_in = in.data;
	z.avail_in = in.size;
	z.next_out = data;
	z.avail_out = size;
	while (err == LZMA_OK)
		err = lzma_code(&z, LZMA_FINISH);
	lzma_end(&z);
	if (err == LZMA_MEM_ERROR)
		return -ENOMEM;
	if (err == LZMA_MEMLIMIT_ERROR)
		return -E2BIG;
	return err == LZMA_STREAM_END && !z.avail_out ? 0 : -EBADMSG;
}

int rck_aks2_inflate(
	struct rck_aks2 *a, uint64_t limit, struct rck_bytes **out, struct rck_diag *diag)
{
	uint8_t *data;
	int err;

	*out = NULL;
	if (a->inflated > limit)
		return rck_fail(diag, -E2BIG, 0,
			"AOTriton pack inflates to %llu bytes, over the limit of %llu",
			(unsigned long long)a->inflated, (unsigned long long)limit);
	if (rck_bytes_alloc(a->inflated, out, &data))
		return rck_fail(diag, -ENOMEM, 0, "no memory for %llu inflated bytes",
			(unsigned long long)a->inflated);
	err = inflate_xz(a->packed, data, a->inflated);
	if (!err) {
		a->content = rck_bytes_slice(*out);
		return 0;
	}
	rck_bytes_unref(*out);
	*out = NULL;
	if (err == -EBADMSG)
		return rck_fail(diag, err, HEADER,
			"AOTriton pack's xz stream does not inflate to the %llu bytes "
			"claimed",
			(unsigned long long)a->inflated);
	return rck_fail(diag, err, HEADER, "AOTriton pack's xz stream needs more memory");
}
#else
int rck_aks2_inflate(
	struct rck_aks2 *a, uint64_t limit, struct rck_bytes **out, struct rck_diag *diag)
{
	*out = NULL;
	return rck_fail(diag, -ENOTSUP, 0,
		"an AOTriton pack: built without liblzma, so it cannot be read");
}
#endif

static int bad_directory(struct rck_aks2 *a, struct rck_diag *diag, const char *what)
{
	uint32_t index = a->index;

	a->index = a->kernels;
	return rck_fail(
		diag, -EINVAL, a->at, "AOTriton pack's kernel %u: %s", index, what);
}

int rck_aks2_next(struct rck_aks2 *a, struct rck_entry *entry, struct rck_diag *diag)
{
	const uint64_t images = a->inflated - a->directory;

	while (a->index < a->kernels) {
		const uint8_t *e = a->content.data + a->at;
		uint64_t offset, size, name;

		if (!rck_range_ok(a->at, ENTRY, a->directory))
			return bad_directory(a, diag, "the directory ends before it");
		offset = rck_le32(e + 8);
		size = rck_le32(e + 12);
		name = rck_le32(e + 16);
		if (!name || !rck_range_ok(a->at + ENTRY, name, a->directory))
			return bad_directory(a, diag, "its name leaves the directory");
		*entry = (struct rck_entry){
			.id = (const char *)e + ENTRY,
			.id_len = strnlen((const char *)e + ENTRY, name),
			.index = a->index,
		};
		if (!rck_range_ok(offset, size, images))
			return bad_directory(a, diag, "its image leaves the pack");
		entry->slice = rck_subslice(a->content, a->directory + offset, size);
		a->at += ENTRY + name;
		a->index++;
		if (size)
			return 1;
		a->empty++;
	}
	return 0;
}
