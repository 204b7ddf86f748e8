#include "make.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/rocmcheck-bytes-XXXXXX";

static char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static const char *make_file(const char *name, size_t size)
{
	const char *path = path_of(name);
	FILE *f = fopen(path, "wb");

	for (size_t i = 0; i < size; i++)
		putc((int)(i % 251) + 1, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

static void expect_refused(const char *path, int code, const char *msg)
{
	struct rck_bytes *b;
	struct rck_diag diag;

	assert_int_equal(rck_bytes_map(path, &b, &diag), code);
	assert_null(b);
	assert_string_equal(diag.msg, msg);
}

static void test_refused(void **state)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	/* without O_NONBLOCK this one would wait for a writer */
	assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
	expect_refused(path_of("fifo"), -EINVAL, "not a regular file but a FIFO");
	memcpy(un.sun_path, path_of("socket"), strlen(path_of("socket")) + 1);
	assert_int_equal(bind(s, (struct sockaddr *)&un, sizeof(un)), 0);
	expect_refused(path_of("socket"), -EINVAL, "not a regular file but a socket");
	close(s);
	expect_refused("/dev/zero", -EINVAL, "not a regular file but a character device");
	expect_refused(dir, -EISDIR, "is a directory");
	expect_refused(
		path_of("nothing"), -ENOENT, "cannot open: No such file or directory");
}

static void test_empty(void **state)
{
	struct rck_bytes *b;

	assert_int_equal(rck_bytes_map(make_file("empty", 0), &b, NULL), 0);
	assert_int_equal(rck_bytes_slice(b).size, 0);
	assert_int_equal(rck_bytes_check(b, true, NULL), 0);
	rck_bytes_unref(b);
}

/* Reads a file that loses its tail: zeros, and an error, but no SIGBUS. */
static bool shrink(const char *path, size_t size, size_t to)
{
	struct rck_bytes *b;
	struct rck_diag diag;
	struct rck_slice s;
	uint64_t sum = 0;
	bool good;

	if (rck_bytes_map(path, &b, NULL))
		return false;
	s = rck_bytes_slice(b);
	good = s.size == size && !rck_bytes_check(b, true, &diag) &&
	       !truncate(path, (off_t)to);
	for (uint64_t i = 0; i < s.size; i++)
		sum += s.data[i];
	good = good && sum > 0 && s.data[s.size - 1] == 0 &&
	       rck_bytes_check(b, false, &diag) == -EIO &&
	       !strcmp(diag.msg,
		       "the file shrank or could not be read while it was being read");
	rck_bytes_unref(b);
	return good;
}

static void test_shrinks(void **state)
{
	rck_bytes_guard(); /* cmocka sets a handler of its own for every test */
	assert_true(shrink(make_file("shrinks", 1 << 20), 1 << 20, 5000));
	/* and again: the guard of the first one is used anew */
	assert_true(shrink(make_file("shrinks", 1 << 20), 1 << 20, 4096));
}

static void *shrink_often(void *arg)
{
	char path[256];

	for (int i = 0; i < 20; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/thread-%d", dir, *(int *)arg);
		f = fopen(path, "wb");
		for (int k = 0; k < 65536; k++)
			putc(1, f);
		fclose(f);
		if (!shrink(path, 65536, 4096))
			return arg;
	}
	return NULL;
}

static void test_shrinks_in_threads(void **state)
{
	pthread_t threads[4];
	int numbers[4];

	rck_bytes_guard();
	for (int i = 0; i < 4; i++) {
		numbers[i] = i;
		assert_int_equal(
			pthread_create(&threads[i], NULL, shrink_often, &numbers[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
}

static void test_written_to(void **state)
{
	const char *path = make_file("written", 10000);
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 12345}};
	struct rck_bytes *b;
	struct rck_diag diag;

	assert_int_equal(rck_bytes_map(path, &b, NULL), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(rck_bytes_check(b, false, NULL), 0);
	assert_int_equal(rck_bytes_check(b, true, &diag), -EIO);
	rck_bytes_unref(b);

	/* a new file of that name does not touch the old one's mapping */
	assert_int_equal(rck_bytes_map(path, &b, NULL), 0);
	assert_int_equal(unlink(path_of("written")), 0);
	make_file("written", 10);
	assert_int_equal(rck_bytes_check(b, true, &diag), 0);
	rck_bytes_unref(b);
}

/* A fault that is not in a mapping of ours still ends the process, as it would have. */
static void test_foreign_fault(void **state)
{
	struct rck_bytes *b;
	pid_t pid;
	int status;

	assert_int_equal(rck_bytes_map(make_file("ours", 100), &b, NULL), 0);
	signal(SIGBUS, SIG_DFL);
	rck_bytes_guard();
	pid = fork();
	if (!pid) {
		int fd = open(make_file("theirs", 8192), O_RDWR);
		volatile char *p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);

		if (p == MAP_FAILED || ftruncate(fd, 0))
			_exit(1);
		_exit(p[5000]);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
	rck_bytes_unref(b);
}

/* What the whole walk says of a file that shrinks between two parts. */
static void test_walk_says_so(void **state)
{
	static const struct bundle_entry e[] = {{"hip-amdgcn-amd-amdhsa--gfx906", 100},
		{"hip-amdgcn-amd-amdhsa--gfx908", 100}};
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	const char *path = path_of("bundle");
	struct rck_file *file;
	struct rck_item item;
	FILE *f = fopen(path, "wb");

	rck_bytes_guard();
	put_bundle(&sb, e, 2, 65536);
	assert_int_equal(fwrite(sb.buf, 1, sb.len, f), sb.len);
	fclose(f);
	assert_int_equal(rck_file_open(path, NULL, &file, NULL), 0);
	assert_int_equal(rck_file_next(file, &item, NULL), 1);
	assert_int_equal(item.kind, RCK_ITEM_CODE_OBJECT);
	assert_int_equal(truncate(path, 4096), 0);
	assert_int_equal(rck_file_next(file, &item, NULL), 1);
	assert_int_equal(item.kind, RCK_ITEM_ERROR);
	assert_int_equal(item.diag.code, -EIO);
	assert_int_equal(rck_file_next(file, &item, NULL), 0);
	rck_file_close(file);
}

static void test_kept_items(void **state)
{
	static const struct bundle_entry e[] = {{"hip-amdgcn-amd-amdhsa--gfx906", 100},
		{"hip-amdgcn-amd-amdhsa--gfx908", 100}};
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	const char *path = path_of("kept");
	struct rck_item item, *kept;
	struct rck_file *file;
	FILE *f = fopen(path, "wb");

	put_bundle(&sb, e, 2, 4096);
	assert_int_equal(fwrite(sb.buf, 1, sb.len, f), sb.len);
	fclose(f);
	assert_int_equal(rck_file_open(path, NULL, &file, NULL), 0);
	assert_int_equal(rck_file_next(file, &item, NULL), 1);
	kept = rck_item_keep(&item);
	while (rck_file_next(file, &item, NULL))
		;
	rck_file_close(file);
	/* strings and bytes outlive the file */
	assert_string_equal(kept->where, "hip-amdgcn-amd-amdhsa--gfx906");
	assert_string_equal(kept->target, "gfx906");
	assert_string_equal(kept->entry_id, "hip-amdgcn-amd-amdhsa--gfx906");
	assert_memory_equal(kept->data, sb.buf + 4096, 100);
	rck_item_drop(kept);
	rck_item_drop(NULL);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char *command = rck_xasprintf("rm -rf '%s'", dir);
	int status = system(command);

	free(command);
	return status;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_shrinks),
		cmocka_unit_test(test_shrinks_in_threads),
		cmocka_unit_test(test_written_to),
		cmocka_unit_test(test_foreign_fault),
		cmocka_unit_test(test_walk_says_so),
		cmocka_unit_test(test_kept_items),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
