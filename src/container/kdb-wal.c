#include "container/kdb-wal.h"

#include <endian.h>
#include <errno.h>

#include "util/range.h"

#define DB_HEADER  100
#define WAL_HEADER 32
#define WAL_FRAME  24          /* bytes in front of each page */
#define WAL_MAGIC  0x377f0682u /* the low bit: checksums over big-endian words */

/* Offsets in the database's header: page size, and the versions that a writer and a
 * reader must know: 1 a rollback journal, 2 a log. */
#define DB_PAGE  16
#define DB_WRITE 18
#define DB_READ  19

struct sum {
	uint32_t a, b;
};

struct wal {
	struct rck_slice slice;
	uint64_t page; /* bytes */
	bool big;
	struct sum sum; /* up to where it was read */
};

static uint32_t be32(const uint8_t *p)
{
	return be32toh(rck_le32(p));
}

bool rck_kdb_in_wal_mode(struct rck_slice db)
{
	return db.size >= DB_HEADER && (db.data[DB_WRITE] == 2 || db.data[DB_READ] == 2);
}

/* n is a multiple of 8 */
static void add(struct wal *w, const uint8_t *p, uint64_t n)
{
	for (const uint8_t *end = p + n; p < end; p += 8) {
		w->sum.a += (w->big ? be32(p) : rck_le32(p)) + w->sum.b;
		w->sum.b += (w->big ? be32(p + 4) : rck_le32(p + 4)) + w->sum.a;
	}
}

static bool sum_is(const struct wal *w, const uint8_t *p)
{
	return w->sum.a == be32(p) && w->sum.b == be32(p + 4);
}

/* False: the log holds nothing, as SQLite sees it. */
static bool wal_open(struct wal *w, struct rck_slice s)
{
	*w = (struct wal){.slice = s};
	if (s.size < WAL_HEADER || (be32(s.data) & ~1u) != WAL_MAGIC)
		return false;
	w->big = be32(s.data) & 1;
	w->page = be32(s.data + 8);
	add(w, s.data, 24);
	return sum_is(w, s.data + 24);
}

/* The frame at offset at, or NULL: the log's end. */
static const uint8_t *frame_at(struct wal *w, uint64_t at)
{
	const uint8_t *f = w->slice.data + at;

	if (!rck_range_ok(at, WAL_FRAME + w->page, w->slice.size) ||
		memcmp(f + 8, w->slice.data + 16, 8) != 0 || !be32(f))
		return NULL;
	add(w, f, 8);
	add(w, f + WAL_FRAME, w->page);
	return sum_is(w, f + 16) ? f : NULL;
}

/* How far the log reaches with its last commit, and how many pages there are then; 0:
 * nowhere. */
static uint64_t find_commit(struct wal *w, uint64_t *pages)
{
	uint64_t end = 0;
	const uint8_t *f;

	for (uint64_t at = WAL_HEADER; (f = frame_at(w, at));) {
		at += WAL_FRAME + w->page;
		if (be32(f + 4)) {
			*pages = be32(f + 4);
			end = at;
		}
	}
	return end;
}

static uint64_t page_size(struct rck_slice db)
{
	unsigned n = (unsigned)db.data[DB_PAGE] << 8 | db.data[DB_PAGE + 1];

	return n == 1 ? 65536 : n;
}

int rck_kdb_apply_wal(struct rck_slice db, struct rck_slice wal, struct rck_bytes **out,
	struct rck_diag *diag)
{
	uint64_t page = page_size(db), pages = 0, end = 0, size = db.size;
	struct wal w;
	uint8_t *copy;

	*out = NULL;
	if (wal_open(&w, wal)) {
		if (w.page != page || page < 512 || (page & (page - 1)))
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"its -wal has pages of %llu bytes, the database of %llu",
				(unsigned long long)w.page, (unsigned long long)page);
		end = find_commit(&w, &pages);
	}
	if (end) {
		if (pages > db.size / page + wal.size / page)
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"its -wal claims %llu pages, more than both files hold",
				(unsigned long long)pages);
		size = pages * page;
	}
	if (rck_bytes_alloc(size, out, &copy))
		return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE,
			"no memory for a copy of %llu bytes", (unsigned long long)size);
	memcpy(copy, db.data, db.size < size ? db.size : size);
	if (db.size < size)
		memset(copy + db.size, 0, size - db.size);
	for (uint64_t at = WAL_HEADER; at < end; at += WAL_FRAME + page) {
		uint64_t number = be32(wal.data + at);

		if (number <= pages)
			memcpy(copy + (number - 1) * page, wal.data + at + WAL_FRAME,
				page);
	}
	/* sqlite3_deserialize(): "the application can set [them] to 1" */
	if (size >= DB_HEADER)
		copy[DB_WRITE] = copy[DB_READ] = 1;
	return 0;
}
