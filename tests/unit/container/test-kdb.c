#include "make.h"

#include "container/kdb-wal.h"
#include "util/range.h"

#ifdef HAVE_KDB
#include <bzlib.h>
#include <md5.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE                                                                            \
	"CREATE TABLE kern_db (id INTEGER PRIMARY KEY ASC, kernel_name TEXT NOT NULL,"   \
	" kernel_args TEXT NOT NULL, kernel_blob BLOB NOT NULL,"                         \
	" kernel_hash TEXT NOT NULL, uncompressed_size INT NOT NULL);"

struct row {
	const char *name;
	bool bz2, wrong_hash;
	long size_off; /* added to the size that is stated */
};

/* A database with one code object a row. */
static void put_kdb(
	struct rck_strbuf *sb, const char *schema, const struct row *rows, size_t n)
{
	_cleanup_strbuf_ struct rck_strbuf co = RCK_STRBUF_INIT;
	char packed[2048], hash[MD5_DIGEST_STRING_LENGTH];
	sqlite3_int64 size;
	unsigned char *bytes;
	sqlite3_stmt *insert;
	sqlite3 *db;

	put_code_object(&co, 300);
	MD5Data((const uint8_t *)co.buf, co.len, hash);
	assert_int_equal(sqlite3_open(":memory:", &db), 0);
	assert_int_equal(sqlite3_exec(db, schema, NULL, NULL, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		unsigned room = sizeof(packed);

		assert_int_equal(BZ2_bzBuffToBuffCompress(packed, &room, co.buf,
					 (unsigned)co.len, 9, 0, 0),
			0);
		assert_int_equal(
			sqlite3_prepare_v2(db,
				"INSERT INTO kern_db VALUES (NULL, ?, '', ?, ?, ?)", -1,
				&insert, NULL),
			0);
		sqlite3_bind_text(insert, 1, rows[i].name, -1, SQLITE_STATIC);
		if (rows[i].bz2)
			sqlite3_bind_blob(insert, 2, packed, (int)room, SQLITE_STATIC);
		else
			sqlite3_bind_blob(insert, 2, co.buf, (int)co.len, SQLITE_STATIC);
		sqlite3_bind_text(
			insert, 3, rows[i].wrong_hash ? "00" : hash, -1, SQLITE_STATIC);
		sqlite3_bind_int64(insert, 4, (long)co.len + rows[i].size_off);
		assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
		sqlite3_finalize(insert);
	}
	bytes = sqlite3_serialize(db, "main", &size, 0);
	put(sb, bytes, (size_t)size);
	sqlite3_free(bytes);
	sqlite3_close(db);
}

static void test_rows(void **state)
{
	static const struct row rows[] = {{"one.o", true}, {"two.o", false}};
	struct rck_options verify = {.size = sizeof(verify), .verify = true};
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	const char *expected =
		"code 'one.o' kdb size=300 at=-1\ncode 'two.o' kdb size=300 at=-1\n";

	put_kdb(&sb, TABLE, rows, 2);
	expect_walk(&sb, NULL, expected);
	expect_walk(&sb, &verify, expected);
}

static void test_bad_rows(void **state)
{
	static const struct row rows[] = {{"long.o", true, false, 10},
		{"short.o", true, false, -10}, {"negative.o", true, false, -1000},
		{"huge.o", true, false, 1l << 40}, {"hash.o", true, true},
		{"good.o", true}};
	struct rck_options verify = {.size = sizeof(verify), .verify = true};
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	char *got;

	put_kdb(&sb, TABLE, rows, 6);
	got = walk_mem(&sb, &verify);
	assert_non_null(strstr(got, "error 'long.o' file (-74) kernel's "));
	assert_non_null(strstr(got, "do not inflate to the 310 claimed"));
	assert_non_null(strstr(got, "do not inflate to the 290 claimed"));
	assert_non_null(
		strstr(got, "error 'negative.o' file (-22) row 2 holds no kernel"));
	assert_non_null(
		strstr(got, "error 'huge.o' file (-7) kernel inflates to 1099511628076 "
			    "bytes, over the limit of 4294967296"));
	assert_non_null(
		strstr(got, "error 'hash.o' file (-74) kernel's hash is 00, its bytes "));
	assert_non_null(strstr(got, "code 'good.o' kdb size=300"));
	free(got);
}

/* Databases that are none of MIOpen's, or only look like one. */
static void test_schemas(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	char *got;

	put_kdb(&sb, "CREATE TABLE songs (title TEXT);", NULL, 0);
	expect_walk(&sb, NULL,
		"error '' file (-2) an SQLite database without MIOpen's table kern_db "
		"at=-1\n");
	rck_strbuf_reset(&sb);
	/* a view that never ends is no table */
	put_kdb(&sb,
		"CREATE VIEW kern_db AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
		"SELECT x+1 "
		"FROM c) SELECT x AS kernel_name, x AS kernel_blob, x AS kernel_hash, x "
		"AS "
		"uncompressed_size FROM c;",
		NULL, 0);
	expect_walk(&sb, NULL,
		"error '' file (-2) an SQLite database without MIOpen's table kern_db "
		"at=-1\n");
	rck_strbuf_reset(&sb);
	put_kdb(&sb, "CREATE TABLE kern_db (kernel_name TEXT);", NULL, 0);
	expect_walk(&sb, NULL,
		"error '' file (-22) SQLite: no such column: kernel_blob at=-1\n");
	rck_strbuf_reset(&sb);
	put(&sb, "SQLite format 3", 16);
	got = walk_mem(&sb, NULL);
	assert_int_equal(strncmp(got, "error '' file (-22) SQLite: ", 28), 0);
	free(got);
}

/* ---- write-ahead logs */

static void execute(sqlite3 *db, const char *sql)
{
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void insert(sqlite3 *db, const char *name)
{
	_cleanup_strbuf_ struct rck_strbuf co = RCK_STRBUF_INIT;
	sqlite3_stmt *stmt;

	put_code_object(&co, 300);
	assert_int_equal(sqlite3_prepare_v2(db,
				 "INSERT INTO kern_db VALUES (NULL, ?, '', ?, '', 300)",
				 -1, &stmt, NULL),
		SQLITE_OK);
	sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_blob(stmt, 2, co.buf, (int)co.len, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_finalize(stmt);
}

static void read_file(const char *path, struct rck_strbuf *sb)
{
	char buf[4096];
	FILE *f = fopen(path, "re");
	size_t n;

	assert_non_null(f);
	rck_strbuf_reset(sb);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		put(sb, buf, n);
	fclose(f);
}

static void write_file(const char *path, const struct rck_strbuf *sb)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(sb->buf, 1, sb->len, f), sb->len);
	fclose(f);
}

/* A database with "old.o" in it, "new.o" and "newer.o" in its log, and as many pages in
 * between as make the log grow it. */
static void make_wal(const char *dir, struct rck_strbuf *db, struct rck_strbuf *wal)
{
	char *path = rck_xasprintf("%s/live.kdb", dir);
	char *log = rck_xasprintf("%s/live.kdb-wal", dir);
	char *shm = rck_xasprintf("%s/live.kdb-shm", dir);
	sqlite3 *live;

	assert_int_equal(sqlite3_open(path, &live), SQLITE_OK);
	execute(live, "PRAGMA page_size=1024; PRAGMA journal_mode=WAL;"
		      "PRAGMA wal_autocheckpoint=0;");
	execute(live, TABLE);
	insert(live, "old.o");
	execute(live, "PRAGMA wal_checkpoint(TRUNCATE);");
	insert(live, "new.o");
	execute(live, "CREATE TABLE filler (x); INSERT INTO filler VALUES "
		      "(randomblob(9000));");
	insert(live, "newer.o");
	read_file(path, db);
	read_file(log, wal);
	sqlite3_close(live);
	unlink(path);
	unlink(log);
	unlink(shm);
	free(path);
	free(log);
	free(shm);
}

static void expect_names(const char *path, const char *expected)
{
	_cleanup_strbuf_ struct rck_strbuf names = RCK_STRBUF_INIT;
	struct rck_options opt = {.size = sizeof(opt)};
	struct rck_file *file;
	struct rck_item item;

	assert_int_equal(rck_file_open(path, &opt, &file, NULL), 0);
	while (rck_file_next(file, &item, NULL) == 1)
		rck_strbuf_addf(&names, "%s ",
			item.kind == RCK_ITEM_CODE_OBJECT ? item.where : item.diag.msg);
	rck_file_close(file);
	assert_string_equal(names.buf, expected);
}

static void test_wal(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf db = RCK_STRBUF_INIT, wal = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf cut = RCK_STRBUF_INIT;
	char dir[] = "/tmp/rck-wal-XXXXXX";
	char *path, *log, *shm;

	assert_non_null(mkdtemp(dir));
	path = rck_xasprintf("%s/x.kdb", dir);
	log = rck_xasprintf("%s/x.kdb-wal", dir);
	shm = rck_xasprintf("%s/x.kdb-shm", dir);
	make_wal(dir, &db, &wal);
	write_file(path, &db);
	expect_names(path, "old.o ");
	write_file(log, &wal);
	expect_names(path, "old.o new.o newer.o ");
	assert_int_not_equal(access(shm, F_OK), 0); /* nothing is written beside it */
	read_file(log, &cut);
	assert_int_equal(cut.len, wal.len);
	assert_memory_equal(cut.buf, wal.buf, wal.len);

	/* the last transaction was cut, or its last page damaged: it never happened */
	cut.len = wal.len - 1;
	write_file(log, &cut);
	expect_names(path, "old.o new.o ");
	cut.len = wal.len;
	cut.buf[cut.len - 1] ^= 1;
	write_file(log, &cut);
	expect_names(path, "old.o new.o ");
	/* other salts: what is left of a log that was begun anew */
	memcpy(cut.buf, wal.buf, wal.len);
	cut.buf[32 + 8] ^= 1;
	write_file(log, &cut);
	expect_names(path, "old.o ");
	/* the header's checksum: no log at all */
	memcpy(cut.buf, wal.buf, wal.len);
	cut.buf[13] ^= 1;
	write_file(log, &cut);
	expect_names(path, "old.o ");
	rck_strbuf_reset(&cut);
	write_file(log, &cut);
	expect_names(path, "old.o ");

	/* through a link the log is still the database's own */
	{
		char *link = rck_xasprintf("%s/link", dir);

		write_file(log, &wal);
		assert_int_equal(symlink("x.kdb", link), 0);
		expect_names(link, "old.o new.o newer.o ");
		unlink(link);
		free(link);
	}
	/* from memory the log cannot be seen, and that is said */
	{
		char *got = walk_mem(&db, NULL);

		assert_string_equal(got,
			"note '' file (0) in WAL mode: kernels that only its -wal file "
			"has are not seen here at=0\ncode 'old.o' kdb size=300 at=-1\n");
		free(got);
	}
	/* a log that is there and cannot be read */
	unlink(log);
	assert_int_equal(mkdir(log, 0700), 0);
	expect_names(path,
		"kernels may be in its write-ahead log 'x.kdb-wal': is a directory ");
	rmdir(log);
	unlink(path);
	rmdir(dir);
	free(path);
	free(log);
	free(shm);
}

/* SQLite's checksum of a log (little-endian words), stored big-endian. */
static void sum_log(uint32_t s[2], const char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		s[0] += rck_le32(p + i) + s[1];
		s[1] += rck_le32(p + i + 4) + s[0];
	}
}

static void put_be32(struct rck_strbuf *sb, uint32_t v)
{
	for (int i = 3; i >= 0; i--)
		rck_strbuf_addc(sb, (char)(v >> 8 * i));
}

struct frame {
	uint32_t page, pages; /* pages: a commit's */
	char fill;
};

static void put_log(
	struct rck_strbuf *sb, uint32_t page_size, const struct frame *frames, size_t n)
{
	uint32_t s[2] = {0, 0};

	put_be32(sb, 0x377f0682);
	put_be32(sb, 3007000);
	put_be32(sb, page_size);
	for (uint32_t i = 0; i < 3; i++)
		put_be32(sb, i);
	sum_log(s, sb->buf, 24);
	put_be32(sb, s[0]);
	put_be32(sb, s[1]);
	for (size_t i = 0; i < n; i++) {
		_cleanup_strbuf_ struct rck_strbuf head = RCK_STRBUF_INIT;
		_cleanup_strbuf_ struct rck_strbuf page = RCK_STRBUF_INIT;

		put_be32(&head, frames[i].page);
		put_be32(&head, frames[i].pages);
		while (page.len < page_size)
			rck_strbuf_addc(&page, frames[i].fill);
		sum_log(s, head.buf, 8);
		sum_log(s, page.buf, page.len);
		put_be32(&head, 1); /* the header's salts */
		put_be32(&head, 2);
		put_be32(&head, s[0]);
		put_be32(&head, s[1]);
		put(sb, head.buf, head.len);
		put(sb, page.buf, page.len);
	}
}

/* The first byte of each page of a database of two, "ab", with a log; or the error. */
static void expect_pages(
	uint32_t page_size, const struct frame *frames, size_t n, const char *expected)
{
	_cleanup_strbuf_ struct rck_strbuf log = RCK_STRBUF_INIT, got = RCK_STRBUF_INIT;
	uint8_t db[1024] = {0};
	struct rck_bytes *bytes;
	struct rck_diag diag;
	struct rck_slice s;

	memset(db, 'a', 512);
	memset(db + 512, 'b', 512);
	db[16] = 2; /* pages of 512 bytes */
	db[17] = 0;
	db[18] = db[19] = 2;
	put_log(&log, page_size, frames, n);
	if (rck_kdb_apply_wal((struct rck_slice){db, sizeof(db), 0}, slice_of(&log),
		    &bytes, &diag)) {
		assert_string_equal(diag.msg, expected);
		assert_null(bytes);
		return;
	}
	s = rck_bytes_slice(bytes);
	for (uint64_t at = 0; at < s.size; at += 512)
		rck_strbuf_addc(&got, s.data[at] ? (char)s.data[at] : '0');
	assert_string_equal(got.buf, expected);
	assert_false(rck_kdb_in_wal_mode(s));
	rck_bytes_unref(bytes);
}

#define EXPECT(page_size, expected, ...)                                                 \
	expect_pages(page_size, (const struct frame[]){__VA_ARGS__},                     \
		sizeof((const struct frame[]){__VA_ARGS__}) / sizeof(struct frame),      \
		expected)

static void test_wal_frames(void **state)
{
	EXPECT(512, "ab", {1, 0, 'x'}); /* never committed */
	EXPECT(512, "ax", {2, 2, 'x'});
	EXPECT(512, "axy", {2, 0, 'x'}, {3, 3, 'y'}); /* grows */
	EXPECT(512, "a", {2, 0, 'x'}, {1, 1, 'a'});   /* shrinks: page 2 is no more */
	EXPECT(512, "ay", {2, 2, 'x'}, {2, 2, 'y'});  /* the last one counts */
	EXPECT(512, "ax", {2, 2, 'x'}, {1, 0, 'z'});  /* behind the last commit */
	EXPECT(512, "ax0", {2, 3, 'x'});              /* a page that nobody wrote */
	EXPECT(512, "ab", {0, 2, 'x'}, {2, 2, 'y'});  /* there is no page 0 */
	EXPECT(512, "its -wal claims 99 pages, more than both files hold", {2, 99, 'x'});
	EXPECT(1024, "its -wal has pages of 1024 bytes, the database of 512",
		{2, 2, 'x'});
}
#else
static void test_rows(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put(&sb, "SQLite format 3", 16);
	expect_walk(&sb, NULL,
		"error '' file (-95) an SQLite database: built without sqlite3 and bz2, "
		"so it "
		"cannot be read at=-1\n");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
#ifdef HAVE_KDB
		cmocka_unit_test(test_bad_rows),
		cmocka_unit_test(test_schemas),
		cmocka_unit_test(test_wal),
		cmocka_unit_test(test_wal_frames),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
