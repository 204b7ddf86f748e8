#include "container/records.h"

#include <errno.h>

#include "container/bundle.h"
#include "container/ccob.h"
#include "container/offload-binary.h"
#include "util/range.h"

void rck_records_open(struct rck_records *r, struct rck_slice s)
{
	/* records are 8-aligned (OffloadBinary) or better where linkers put them */
	*r = (struct rck_records){.slice = s, .step = 8};
}

void rck_records_open_scattered(struct rck_records *r, struct rck_slice s)
{
	*r = (struct rck_records){.slice = s, .step = 4096, .scattered = true};
}

static struct rck_slice rest(const struct rck_records *r, uint64_t at)
{
	return rck_subslice(r->slice, at, r->slice.size - at);
}

static uint64_t skip_zeros(struct rck_slice s, uint64_t at)
{
	static const uint8_t zeros[4096];

	while (s.size - at >= sizeof(zeros) && !memcmp(s.data + at, zeros, sizeof(zeros)))
		at += sizeof(zeros);
	while (at < s.size && !s.data[at])
		at++;
	return at;
}

/* The next place at or behind at where a plausible record starts, or the end. */
static uint64_t search(const struct rck_records *r, uint64_t at)
{
	const struct rck_slice s = r->slice;

	for (at = rck_align_up(at, r->step); at < s.size && s.size - at >= 4;
		at += r->step) {
		uint32_t word = rck_le32(s.data + at);

		/* "__CL", "CCOB", 10 FF 10 AD: most places end here */
		if (word != 0x4c435f5f && word != 0x424f4343 && word != 0xad10ff10)
			continue;
		if (rck_magic_is_record(rck_sniff(rest(r, at)), rest(r, at), true))
			return at;
	}
	return s.size;
}

static int extent(enum rck_magic magic, struct rck_slice s, uint64_t *size, bool *damaged,
	struct rck_diag *diag)
{
	struct rck_offload o;
	struct rck_ccob c;
	int err;

	switch (magic) {
	case RCK_MAGIC_CCOB:
		err = rck_ccob_parse(s, &c, diag);
		return err ? err : rck_ccob_extent(&c, size, diag);
	case RCK_MAGIC_OFFLOAD:
		err = rck_offload_open(&o, s, diag);
		*size = o.size;
		return err;
	default:
		*damaged = !rck_bundle_extent(s, size);
		return 0;
	}
}

int rck_records_next(struct rck_records *r, struct rck_record *out, struct rck_diag *diag)
{
	const struct rck_slice s = r->slice;
	uint64_t from = r->at, at, size;
	int err;

	*out = (struct rck_record){.index = r->n};
	if (r->searching) {
		at = search(r, from);
	} else {
		at = from = skip_zeros(s, from);
		if (at < s.size &&
			!rck_magic_is_record(rck_sniff(rest(r, at)), rest(r, at), false))
			at = search(r, at);
		out->skipped = r->scattered ? 0 : at - from;
		out->skipped_at = from;
	}
	r->at = at;
	r->searching = false;
	if (at == s.size) {
		out->slice = rck_subslice(s, at, 0);
		return out->skipped ? 1 : 0;
	}

	r->n++;
	out->slice = rck_subslice(s, at, 0);
	out->magic = rck_sniff(rest(r, at));
	err = extent(out->magic, rest(r, at), &size, &r->searching, diag);
	if (err) {
		if (diag && diag->offset != RCK_OFFSET_NONE)
			diag->offset += at;
		r->at = at + 4;
		r->searching = true;
		return err;
	}
	out->slice = rck_subslice(s, at, size);
	r->at = at + size;
	return 1;
}
