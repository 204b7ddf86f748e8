/*
 * One small sample of each container, cut at every length and with every byte changed, in
 * process: no crash (built with sanitizers: no fault of any kind), no walk over two
 * seconds, and nothing that was cut is called whole.
 */
#include "make.h"

#include <dirent.h>
#include <time.h>

#define SLOWEST 2.0

struct tally {
	uint64_t whole; /* code objects that could be read */
	uint64_t
		doubts; /* errors, incomplete ones, code objects that could not be read */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void walk(struct rck_file *file, struct tally *t)
{
	struct rck_item item;

	while (rck_file_next(file, &item, NULL) == 1) {
		struct rck_code_object *co;
		struct rck_file *inner;
		struct rck_diag diag;

		if (item.kind == RCK_ITEM_COMPRESSED) {
			assert_int_equal(
				rck_file_open_item(file, &item, &inner, NULL), 0);
			walk(inner, t);
			rck_file_close(inner);
		} else if (item.kind == RCK_ITEM_CODE_OBJECT) {
			if (rck_code_object_open(file, &item, &co, &diag)) {
				assert_true(diag.code < 0 && diag.msg[0]);
				t->doubts++;
				continue;
			}
			t->whole++;
			rck_code_object_close(co);
		} else if (item.kind != RCK_ITEM_NOTE) {
			assert_true(item.diag.code < 0 && item.diag.msg[0]);
			t->doubts++;
		}
	}
}

static struct tally walk_bytes(
	const char *what, const uint8_t *data, size_t size, bool keep_compressed)
{
	/* a copy that is exactly as long, so that a sanitizer sees a read behind it */
	uint8_t *exact = malloc(size ? size : 1);
	struct rck_options opt = {
		.size = sizeof(opt), .keep_compressed = keep_compressed};
	struct rck_file *file;
	struct tally t = {0};
	double start = now();

	memcpy(exact, data, size);
	assert_int_equal(rck_file_open_mem(exact, size, NULL, &opt, &file, NULL), 0);
	walk(file, &t);
	rck_file_close(file);
	free(exact);
	if (now() - start > SLOWEST)
		fail_msg("%s: one walk took %.1f s", what, now() - start);
	return t;
}

static uint8_t *read_all(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(1 << 20);

	assert_non_null(f);
	*size = fread(data, 1, 1 << 20, f);
	assert_true(*size > 0 && *size < 1 << 20);
	fclose(f);
	return data;
}

/* Bytes at a sample's end that hold nothing: an archive's or a DLL's padding. */
static size_t padding_of(const char *name)
{
	return strstr(name, ".dll") ? 512 : 1;
}

static void damage(const char *dir, const char *name)
{
	char *path = rck_xasprintf("%s/%s", dir, name);
	struct tally sound, t;
	uint64_t unnoticed = 0;
	size_t size;
	uint8_t *data = read_all(path, &size);

	sound = walk_bytes(path, data, size, false);
	t = walk_bytes(path, data, size, true);
	assert_int_equal(sound.whole, t.whole);
	assert_int_equal(sound.doubts, t.doubts);
	assert_true(sound.whole || sound.doubts);

	for (size_t n = 0; n < size; n++) {
		t = walk_bytes(path, data, n, n % 2);
		if (t.whole >= sound.whole && !t.doubts && n + padding_of(name) < size)
			unnoticed++;
	}
	if (unnoticed)
		fail_msg("%s: cut at %llu of %zu lengths and nobody noticed", name,
			(unsigned long long)unnoticed, size);
	for (size_t i = 0; i < size; i++) {
		uint8_t was = data[i];

		data[i] = (uint8_t)~was;
		walk_bytes(path, data, size, i % 2);
		data[i] = was;
	}
	free(data);
	free(path);
}

static void test_damage(void **state)
{
	const char *fixtures = getenv("RCK_FIXTURES");
	struct dirent **names;
	char *dir;
	int n, done = 0;

	if (!fixtures)
		fail_msg("RCK_FIXTURES is not set");
	dir = rck_xasprintf("%s/small", fixtures);
	n = scandir(dir, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.' && !strstr(names[i]->d_name, ".lib")) {
			damage(dir, names[i]->d_name);
			done++;
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	free(dir);
	if (!done) {
		print_message("skip: no samples (clang-22 was not there): %s/skipped\n",
			fixtures);
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
