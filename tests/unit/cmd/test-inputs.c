#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/inputs.h"
#include "util/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A tree in a new folder, which is the working directory while a test runs. */
static char folder[64];

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_tree(void **state)
{
	strcpy(folder, "/tmp/rocmcheck-inputs-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkdir("d", 0755), 0);
	assert_int_equal(mkdir("d/sub", 0755), 0);
	put("a", "a");
	put("d/b.so.1", "b");
	put("d/z", "z");
	put("d/sub/c", "c");
	assert_int_equal(symlink("b.so.1", "d/b.so"), 0);
	assert_int_equal(symlink("../a", "d/outside"), 0);
	assert_int_equal(symlink("..", "d/sub/up"), 0);
	assert_int_equal(symlink("nowhere", "d/dangling"), 0);
	assert_int_equal(mkfifo("d/fifo", 0644), 0);
	return 0;
}

static int drop_tree(void **state)
{
	char command[160];

	assert_int_equal(chdir("/"), 0);
	snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -r %s", folder, folder);
	return system(command);
}

/* Everything that comes, one a line; what cannot be read as "!PATH". */
static void expect(struct rck_inputs_spec spec, char **operands, const char *lines)
{
	_cleanup_strbuf_ struct rck_strbuf got = RCK_STRBUF_INIT;
	struct rck_inputs *in;
	struct rck_input input;
	struct rck_diag diag;
	int err;

	while (operands && operands[spec.n])
		spec.n++;
	spec.operands = operands;
	assert_int_equal(rck_inputs_open(&spec, &in, &diag), 0);
	while ((err = rck_inputs_next(in, &input, &diag))) {
		if (err < 0)
			assert_true(strlen(diag.msg) > 0);
		rck_strbuf_addf(&got, "%s%s%s\n", err < 0 ? "!" : "", input.path,
			input.standard_input ? " (stdin)"
			: input.named        ? ""
					     : " (found)");
	}
	rck_inputs_close(in);
	assert_string_equal(got.buf, lines);
}

static void operands_in_their_order(void **state)
{
	expect((struct rck_inputs_spec){0},
		(char *[]){
			"d/z", "a", "none", "d", "-", "d/fifo", "/dev/zero", "a", NULL},
		"d/z\na\n!none\n!d\n- (stdin)\n!d/fifo\n!/dev/zero\na\n");
}

static void folders(void **state)
{
	expect((struct rck_inputs_spec){.recursive = true}, (char *[]){"d/", NULL},
		"d/b.so.1 (found)\nd/sub/c (found)\nd/z (found)\nd/outside (found)\n");
	/* named files are read again, found ones are not */
	expect((struct rck_inputs_spec){.recursive = true},
		(char *[]){"d/sub", "a", "d", "a", NULL},
		"d/sub/c (found)\nd/sub/up/b.so.1 (found)\nd/sub/up/z (found)\n"
		"d/sub/up/outside (found)\na\na\n");
}

static void excludes(void **state)
{
	const char *globs[] = {"sub", "*.so*"};

	expect((struct rck_inputs_spec){.recursive = true, .exclude = {globs, 2}},
		(char *[]){"d", "d/b.so.1", NULL}, "d/z (found)\nd/outside (found)\n");
}

static void lists(void **state)
{
	put("list", "a\n\nd/z");
	expect((struct rck_inputs_spec){.files_from = "list"},
		(char *[]){"d/sub/c", NULL}, "d/sub/c\na\nd/z\n");
	int fd = open("list0", O_CREAT | O_WRONLY, 0644);
	assert_int_equal(write(fd, "a\0d/z\nq\0", 8), 8);
	close(fd);
	expect((struct rck_inputs_spec){.files_from = "list0", .nul = true}, NULL,
		"a\n!d/z\nq\n");
}

static void unreadable_folder(void **state)
{
	bool root = !geteuid();

	assert_int_equal(chmod("d/sub", 0), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	/* root reads everything */
	if (root)
		assert_int_equal(seteuid(65534), 0);
	expect((struct rck_inputs_spec){.recursive = true}, (char *[]){"d", NULL},
		"d/b.so.1 (found)\n!d/sub (found)\nd/z (found)\nd/outside (found)\n");
	if (root)
		assert_int_equal(seteuid(0), 0);
}

static void wrong_use(void **state)
{
	const struct {
		struct rck_inputs_spec spec;
		int err;
	} cases[] = {
		{{0}, -EINVAL},
		{{.nul = true, .n = 1, .operands = (char *[]){"a"}}, -EINVAL},
		{{.n = 2, .operands = (char *[]){"-", "-"}}, -EINVAL},
		{{.files_from = "-", .n = 1, .operands = (char *[]){"-"}}, -EINVAL},
		{{.files_from = "none"}, -ENOENT},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rck_inputs *in;
		struct rck_diag diag = {0};

		assert_int_equal(
			rck_inputs_open(&cases[i].spec, &in, &diag), cases[i].err);
		assert_true(strlen(diag.msg) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			operands_in_their_order, make_tree, drop_tree),
		cmocka_unit_test_setup_teardown(folders, make_tree, drop_tree),
		cmocka_unit_test_setup_teardown(excludes, make_tree, drop_tree),
		cmocka_unit_test_setup_teardown(lists, make_tree, drop_tree),
		cmocka_unit_test_setup_teardown(unreadable_folder, make_tree, drop_tree),
		cmocka_unit_test_setup_teardown(wrong_use, make_tree, drop_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
