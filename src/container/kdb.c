#include "container/kdb.h"

#include <errno.h>

#ifdef HAVE_KDB
#include <bzlib.h>
#include <limits.h>
#include <md5.h>
#include <sqlite3.h>
#include <string.h>
#include <strings.h>

/* A step of SQLite's machine is some tens of nanoseconds; a row takes some twenty. What
 * takes more than this is a schema built to run for ever. */
#define STEPS_A_ROW 1000000

static int too_long(void *unused)
{
	(void)unused;
	return 1;
}

static int refuse(struct rck_kdb *k, struct rck_diag *diag)
{
	return rck_fail(
		diag, -EINVAL, RCK_OFFSET_NONE, "SQLite: %s", sqlite3_errmsg(k->db));
}

int rck_kdb_open(struct rck_kdb *k, struct rck_slice s, struct rck_diag *diag)
{
	static const char select[] =
		"SELECT kernel_name, kernel_blob, kernel_hash, uncompressed_size"
		" FROM kern_db ORDER BY rowid";
	int found = 0;

	*k = (struct rck_kdb){0};
	if (sqlite3_open_v2(":memory:", &k->db, SQLITE_OPEN_READWRITE, NULL))
		return rck_fail(
			diag, -ENOMEM, RCK_OFFSET_NONE, "SQLite cannot be opened");
	/* over the bytes in place: READONLY keeps SQLite from writing to them */
	if (sqlite3_deserialize(k->db, "main", (unsigned char *)s.data,
		    (sqlite3_int64)s.size, (sqlite3_int64)s.size,
		    SQLITE_DESERIALIZE_READONLY))
		return refuse(k, diag);
	sqlite3_limit(
		k->db, SQLITE_LIMIT_LENGTH, s.size < INT_MAX ? (int)s.size : INT_MAX);
	sqlite3_db_config(k->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(k->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(k->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(k->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_progress_handler(k->db, STEPS_A_ROW, too_long, NULL);

	if (sqlite3_prepare_v2(k->db,
		    "SELECT 1 FROM sqlite_schema WHERE type='table' AND name='kern_db'",
		    -1, &k->rows, NULL))
		return refuse(k, diag);
	found = sqlite3_step(k->rows);
	if (found != SQLITE_ROW && found != SQLITE_DONE)
		return refuse(k, diag);
	sqlite3_finalize(k->rows);
	k->rows = NULL;
	if (found == SQLITE_DONE)
		return rck_fail(diag, -ENOENT, RCK_OFFSET_NONE,
			"an SQLite database without MIOpen's table kern_db");
	if (sqlite3_prepare_v2(k->db, select, -1, &k->rows, NULL))
		return refuse(k, diag);
	return 0;
}

static int inflate_bz2(const char *blob, unsigned size, uint64_t inflated, uint64_t limit,
	struct rck_bytes **out, struct rck_diag *diag)
{
	bz_stream z = {0};
	uint64_t left = inflated;
	uint8_t *data;
	int err;

	if (inflated > limit)
		return rck_fail(diag, -E2BIG, RCK_OFFSET_NONE,
			"kernel inflates to %llu bytes, over the limit of %llu",
			(unsigned long long)inflated, (unsigned long long)limit);
	if (rck_bytes_alloc(inflated, out, &data))
		return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE,
			"no memory for %llu inflated bytes",
			(unsigned long long)inflated);
	err = BZ2_bzDecompressInit(&z, 0, 0);
	z.next_in = (char *)blob;
	z.avail_in = size;
	z.next_out = (char *)data;
	while (err == BZ_OK) {
		if (!z.avail_out && left) {
			z.avail_out = left < UINT_MAX ? (unsigned)left : UINT_MAX;
			left -= z.avail_out;
		}
		/* BZ_OK with nothing left to read or to write into: no progress */
		if (!z.avail_out || !z.avail_in) {
			unsigned in = z.avail_in, room = z.avail_out;

			err = BZ2_bzDecompress(&z);
			if (err == BZ_OK && z.avail_in == in && z.avail_out == room)
				break;
			continue;
		}
		err = BZ2_bzDecompress(&z);
	}
	left += z.avail_out;
	BZ2_bzDecompressEnd(&z);
	if (err == BZ_STREAM_END && !left)
		return 0;
	rck_bytes_unref(*out);
	*out = NULL;
	return rck_fail(diag, -EBADMSG, RCK_OFFSET_NONE,
		"kernel's %u bytes of bzip2 do not inflate to the %llu claimed", size,
		(unsigned long long)inflated);
}

static int check_hash(struct rck_slice s, const char *hash, struct rck_diag *diag)
{
	char have[MD5_DIGEST_STRING_LENGTH];

	if (hash && MD5Data(s.data, s.size, have) && !strcasecmp(hash, have))
		return 0;
	return rck_fail(diag, -EBADMSG, RCK_OFFSET_NONE,
		"kernel's hash is %.32s, its bytes have %s", hash ? hash : "missing",
		have);
}

int rck_kdb_next(struct rck_kdb *k, uint64_t limit, bool verify, struct rck_entry *entry,
	struct rck_diag *diag)
{
	sqlite3_int64 inflated;
	const char *blob;
	uint8_t *copy;
	int err, size;

	rck_bytes_unref(k->bytes);
	k->bytes = NULL;
	if (!k->rows)
		return 0;
	sqlite3_progress_handler(k->db, STEPS_A_ROW, too_long, NULL);
	err = sqlite3_step(k->rows);
	if (err != SQLITE_ROW) {
		if (err != SQLITE_DONE)
			refuse(k, diag);
		sqlite3_finalize(k->rows);
		k->rows = NULL;
		return err == SQLITE_DONE ? 0 : -EINVAL;
	}
	*entry = (struct rck_entry){.index = k->index++};
	entry->id = (const char *)sqlite3_column_text(k->rows, 0);
	entry->id_len = entry->id ? (size_t)sqlite3_column_bytes(k->rows, 0) : 0;
	blob = sqlite3_column_blob(k->rows, 1);
	size = sqlite3_column_bytes(k->rows, 1);
	inflated = sqlite3_column_int64(k->rows, 3);
	if (!blob || size <= 0 || inflated < 0)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"row %llu holds no kernel", (unsigned long long)entry->index);
	if (size > 3 && !memcmp(blob, "BZh", 3)) {
		err = inflate_bz2(
			blob, (unsigned)size, (uint64_t)inflated, limit, &k->bytes, diag);
		if (err)
			return err;
	} else {
		if (rck_bytes_alloc((uint64_t)size, &k->bytes, &copy))
			return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE, "out of memory");
		memcpy(copy, blob, (size_t)size);
	}
	entry->slice = rck_bytes_slice(k->bytes);
	if (verify) {
		err = check_hash(entry->slice,
			(const char *)sqlite3_column_text(k->rows, 2), diag);
		if (err)
			return err;
	}
	return 1;
}

void rck_kdb_close(struct rck_kdb *k)
{
	rck_bytes_unref(k->bytes);
	sqlite3_finalize(k->rows);
	sqlite3_close(k->db);
}

#else

int rck_kdb_open(struct rck_kdb *k, struct rck_slice s, struct rck_diag *diag)
{
	*k = (struct rck_kdb){0};
	return rck_fail(diag, -ENOTSUP, RCK_OFFSET_NONE,
		"an SQLite database: built without sqlite3 and bz2, so it cannot be "
		"read");
}

int rck_kdb_next(struct rck_kdb *k, uint64_t limit, bool verify, struct rck_entry *entry,
	struct rck_diag *diag)
{
	return 0;
}

void rck_kdb_close(struct rck_kdb *k)
{
}

#endif
