/* A log over a small database: the first two bytes are its page size, the third says
 * whether the checksums are made right, without which no frame is looked at. */
#include "container.h"

#include "container/kdb-wal.h"

#include <stdlib.h>
#include <string.h>

#include "util/range.h"

#define FRAME 24

static uint32_t sums[2];

static void add(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 8 <= n; i += 8) {
		sums[0] += rck_le32(p + i) + sums[1];
		sums[1] += rck_le32(p + i + 4) + sums[0];
	}
}

static void store(uint8_t *p)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(sums[i / 4] >> (24 - i % 4 * 8));
}

static void mend(uint8_t *wal, size_t size, size_t page)
{
	static const uint8_t magic[] = {0x37, 0x7f, 6, 0x82};

	if (size < 32 || !page)
		return;
	memcpy(wal, magic, 4);
	for (int i = 0; i < 4; i++)
		wal[8 + i] = (uint8_t)(page >> (24 - 8 * i));
	sums[0] = sums[1] = 0;
	add(wal, 24);
	store(wal + 24);
	for (size_t at = 32; size - at >= FRAME + page; at += FRAME + page) {
		memcpy(wal + at + 8, wal + 16, 8);
		add(wal + at, 8);
		add(wal + at + FRAME, page);
		store(wal + at + 16);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t db[4096] = "SQLite format 3", *wal;
	struct rck_bytes *bytes;
	size_t page;

	if (size < 3)
		return 0;
	db[16] = data[0];
	db[17] = data[1];
	db[18] = db[19] = 2;
	page = (size_t)data[0] << 8 | data[1];
	wal = malloc(size);
	if (!wal || !rck_kdb_in_wal_mode(slice_of(db, sizeof(db))))
		abort();
	memcpy(wal, data + 3, size - 3);
	if (data[2] & 1)
		mend(wal, size - 3, page == 1 ? 65536 : page);
	if (!rck_kdb_apply_wal(
		    slice_of(db, sizeof(db)), slice_of(wal, size - 3), &bytes, NULL)) {
		if (rck_kdb_in_wal_mode(rck_bytes_slice(bytes)))
			abort();
		touch(rck_bytes_slice(bytes));
	}
	rck_bytes_unref(bytes);
	free(wal);
	return 0;
}
