/* Where the wrappers of real host files lead, whatever linked them. */
#include "make.h"

#include <gelf.h>
#include <unistd.h>

#include "container/elf-pointers.h"

static char *fixture(const char *name)
{
	const char *dir = getenv("RCK_FIXTURES");
	char *path;

	if (!dir)
		fail_msg("RCK_FIXTURES is not set");
	path = rck_xasprintf("%s/%s", dir, name);
	if (access(path, R_OK)) {
		print_message("not made: %s (see %s/skipped)\n", name, dir);
		free(path);
		return NULL;
	}
	return path;
}

/* Each wrapper leads to a bundle, no two to the same; known false: none leads anywhere.
 */
static void expect_targets(struct rck_bytes *bytes, size_t wrappers, bool known)
{
	struct rck_slice s = rck_bytes_slice(bytes);
	struct rck_host_elf elf;
	struct rck_entry e;
	size_t n = 0;

	assert_int_equal(rck_host_elf_open(&elf, s, NULL), 0);
	while (rck_host_elf_next(&elf, &e, NULL) == 1) {
		uint64_t targets[16];

		if (e.id_len != 17 || memcmp(e.id, ".hipFatBinSegment", 17) != 0)
			continue;
		assert_true(e.slice.size / 24 <= 16);
		rck_elf_pointers(&elf, e.index, 8, 24, targets, e.slice.size / 24);
		for (size_t i = 0; i < e.slice.size / 24; i++, n++) {
			if (!known) {
				assert_true(targets[i] == RCK_OFFSET_NONE);
				continue;
			}
			assert_true(targets[i] < s.size - 24);
			assert_true(!memcmp(s.data + targets[i], "CCOB", 4) ||
				    !memcmp(s.data + targets[i],
					    "__CLANG_OFFLOAD_BUNDLE__", 24));
			for (size_t k = 0; k < i; k++)
				assert_true(targets[k] != targets[i]);
		}
		/* nothing may be looked at without end */
		elf.work = 0;
		rck_elf_pointers(&elf, e.index, 8, 24, targets, e.slice.size / 24);
		assert_true(!e.slice.size || targets[0] == RCK_OFFSET_NONE);
	}
	assert_int_equal(n, wrappers);
	rck_host_elf_close(&elf);
}

static void test_targets(void **state)
{
	static const struct {
		const char *name;
		size_t wrappers;
		bool known;
	} files[] = {
		{"host-15.o", 1, true}, {"host.o", 1, true},
		{"compressed-host.o", 1, true}, {"new-driver.o", 1, true},
		{"linked-r.o", 2, true}, {"host.so", 2, true}, {"mixed.so", 2, true},
		{"pie", 2, true}, {"no-pie", 2, true}, {"lld.so", 2, true},
		{"packed.so", 2, true}, {"rdc.so", 1, true},
		{"rdc.o", 1, false}, /* an undefined symbol: known at the link */
	};
	size_t made = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *path = fixture(files[i].name);
		struct rck_bytes *bytes;

		if (!path)
			continue;
		made++;
		assert_int_equal(rck_bytes_map(path, &bytes, NULL), 0);
		print_message("%s\n", files[i].name);
		expect_targets(bytes, files[i].wrappers, files[i].known);
		rck_bytes_unref(bytes);
		free(path);
	}
	if (!made)
		skip();
}

/* One bundle of a section that no name gives away, one whose first bytes do, one that no
 * wrapper leads to, and a wrapper that leads to none. */
static void test_walk(void **state)
{
	char *path = fixture("wrappers.so");
	unsigned by_kind[RCK_ITEM_NOTE + 1] = {0}, elsewhere = 0;
	struct rck_options opt = {.size = sizeof(opt)};
	struct rck_file *file;
	struct rck_item item;

	if (!path)
		skip();
	assert_int_equal(rck_file_open(path, &opt, &file, NULL), 0);
	while (rck_file_next(file, &item, NULL) == 1) {
		by_kind[item.kind]++;
		elsewhere += item.kind == RCK_ITEM_CODE_OBJECT && item.where[0] == '@';
		if (item.kind == RCK_ITEM_INCOMPLETE) {
			assert_non_null(strstr(item.diag.msg, "no bundle stands here"));
			assert_non_null(item.remedy);
		}
		if (item.kind == RCK_ITEM_NOTE)
			assert_string_equal(item.diag.msg,
				"of 2 bundles in .hip_fatbin 1 are registered by no "
				"wrapper: HIP does not see them");
	}
	rck_file_close(file);
	assert_int_equal(by_kind[RCK_ITEM_CODE_OBJECT], 8);
	assert_int_equal(elsewhere, 2);
	assert_int_equal(by_kind[RCK_ITEM_INCOMPLETE], 1);
	assert_int_equal(by_kind[RCK_ITEM_NOTE], 1);
	assert_int_equal(by_kind[RCK_ITEM_ERROR], 0);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
