/* The table of bundled kernels against what the compiler made of them, and against the
 * man page. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codeobj/codeobj.h"
#include "compile/compile.h"
#include "kernels/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rck_kernel *find(struct rck_code_object *co, const char *symbol)
{
	for (size_t i = 0; i < co->n_kernels; i++)
		if (!strcmp(rck_kernel_name(&co->kernels[i]), symbol))
			return &co->kernels[i];
	return NULL;
}

static uint64_t number(const struct rck_kernel *k, enum rck_fact fact)
{
	struct rck_value v;

	assert_int_equal(rck_kernel_fact(k, fact, &v), 0);
	assert_true(v.known);
	return v.number;
}

static void check_layout(const struct rck_bundled *b, const struct rck_kernel *k)
{
	uint64_t offset = 0;

	assert_true(rck_kernel_arg_count(k) >= b->n_args);
	for (size_t i = 0; i < b->n_args; i++) {
		const struct rck_arg *a = rck_kernel_arg(k, i);
		const uint64_t size = rck_bundled_arg_size(b->args[i].type);

		offset = (offset + size - 1) / size * size;
		assert_int_equal(a->offset, offset);
		assert_int_equal(a->size, size);
		assert_string_equal(a->value_kind, b->args[i].type == RCK_BUNDLED_BUFFER
							   ? "global_buffer"
							   : "by_value");
		assert_false(a->hidden);
		offset += size;
	}
	if (rck_kernel_arg_count(k) > b->n_args)
		assert_true(rck_kernel_arg(k, b->n_args)->hidden);
	/* at -O0 a kernel also gets the LDS of functions that it does not call */
	if (rck_kernel_flagged(k))
		assert_true(number(k, RCK_FACT_LDS) >= b->lds);
	else
		assert_int_equal(number(k, RCK_FACT_LDS), b->lds);
	assert_true(number(k, RCK_FACT_MAX_WORKGROUP) >= b->block[0] * b->block[1]);
}

/* Levels differ in everything but this. */
static void test_layouts(void **state)
{
	static const char *const sources[] = {"rmsnorm.hip", "gemm.hip"};
	struct rck_compile_job jobs[4];
	struct rck_compiler *c;
	struct rck_rocm *rocm;
	struct rck_diag diag;
	size_t found = 0;

	assert_int_equal(rck_rocm_open(NULL, &rocm, &diag), 0);
	if (rck_compiler_open(rocm, NULL, &c, &diag)) {
		print_message("%s\n", diag.msg);
		rck_rocm_close(rocm);
		skip();
	}
	for (int i = 0; i < 4; i++)
		jobs[i] = (struct rck_compile_job){.source = sources[i / 2],
			.bundled = true,
			.target = "gfx1030",
			.level = i % 2 ? RCK_LEVEL_O1 : RCK_LEVEL_O0};
	rck_compile_run(c, jobs, 4, 0);
	for (int i = 0; i < 4; i++) {
		struct rck_code_object *co;

		if (jobs[i].err)
			fail_msg("%s\n%s", jobs[i].diag.msg, jobs[i].log);
		assert_int_equal(
			rck_code_object_open_mem(jobs[i].bytes, jobs[i].size, &co, &diag),
			0);
		for (size_t b = 0; b < rck_bundled_count; b++) {
			const struct rck_kernel *k =
				find(co, rck_bundled_kernels[b].symbol);

			if (strcmp(rck_bundled_kernels[b].source, sources[i / 2])) {
				assert_null(k);
				continue;
			}
			assert_non_null(k);
			check_layout(&rck_bundled_kernels[b], k);
			assert_true(rck_kernel_flagged(k) == (i % 2 == 0));
			found++;
		}
		rck_code_object_close(co);
		rck_compile_job_release(&jobs[i]);
	}
	assert_int_equal(found, 2 * rck_bundled_count);
	rck_compiler_close(c);
	rck_rocm_close(rocm);
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || c == '_';
}

/* True when name stands in text as a word of its own. */
static bool mentions(const char *text, const char *name)
{
	for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
		if (!is_word(at[-1]) && !is_word(at[strlen(name)]))
			return true;
	return false;
}

static void test_man_page(void **state)
{
	char path[4096], block[64], lds[32];
	static char text[65536];
	const char *section;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/man/build.inc", getenv("RCK_SOURCE_DIR"));
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	section = strstr(text, ".B The kernels.");
	assert_non_null(section);
	for (size_t i = 0; i < rck_bundled_count; i++) {
		const struct rck_bundled *b = &rck_bundled_kernels[i];

		assert_true(mentions(section, b->name));
		for (size_t a = 0; a < b->n_args; a++)
			if (!mentions(section, b->args[a].name))
				fail_msg("%s: %s", b->name, b->args[a].name);
		snprintf(block, sizeof(block), "%u x %u x %u threads", b->block[0],
			b->block[1], b->block[2]);
		snprintf(lds, sizeof(lds), "%u bytes of LDS", b->lds);
		assert_non_null(strstr(section, block));
		assert_non_null(strstr(section, b->grid));
		assert_non_null(strstr(section, lds));
	}
}

static void test_embedded_files(void **state)
{
	static const char *const names[] = {
		"rmsnorm.hip", "gemm.hip", "device.h", "reproducer.c"};

	for (size_t i = 0; i < 4; i++) {
		const struct rck_embedded *e = rck_embedded_find(names[i]);

		assert_non_null(e);
		assert_int_equal(strlen(e->text), e->size);
	}
	assert_null(rck_embedded_find("nothing"));
	/* the reproducer's kernel and the table's are the same */
	assert_non_null(strstr(
		rck_embedded_find("reproducer.c")->text, rck_bundled_kernels[0].symbol));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_man_page),
		cmocka_unit_test(test_embedded_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
