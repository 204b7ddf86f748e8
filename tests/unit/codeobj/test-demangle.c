#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codeobj/private.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_names(void **state)
{
	static const struct {
		const char *mangled, *plain;
	} rows[] = {
		{"plain_name", "plain_name"},
		{"", ""},
		{"_Z", "_Z"},
		{"_Z3addPfPKfS1_i", "add(float*, float const*, float const*, int)"},
		{"_ZN12_GLOBAL__N_13fooILi4EEEvv",
			"void (anonymous namespace)::foo<4>()"},
		{"_Z3addPfPKfS1_", "add(float*, float const*, float const*)"},
		{"_Z3add\x1b[31m", "_Z3add\x1b[31m"},
		{"_Z999x", "_Z999x"},
		{"_ZN5spfftL24transpose_forward_kernelI15HIP_vector_typeIfLj2EEEEvv",
			"void spfft::transpose_forward_kernel<HIP_vector_type<float, 2u> "
			">()"},
	};
	struct rck_arena *arena = rck_arena_new(0);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(rck_demangle(arena, rows[i].mangled), rows[i].plain);
	rck_arena_free(arena);
}

/* Kernels of template libraries have names of thousands of characters. */
static void test_long(void **state)
{
	struct rck_arena *arena = rck_arena_new(0);
	char name[8192] = "_Z4kernI", *p = name + strlen(name);
	const char *plain;

	for (int i = 0; i < 300; i++)
		p += sprintf(p, "6type%02dLi%dE", i % 100, i);
	strcpy(p, "EvT_");
	assert_true(strlen(name) > 3000);
	plain = rck_demangle(arena, name);
	assert_ptr_not_equal(plain, name);
	assert_int_equal(strncmp(plain, "void kern<type00, 0, type01, 1, ", 32), 0);
	rck_arena_free(arena);
}

/* Each argument is twice the one before: 2^60 characters if anybody printed them. */
static void test_bomb(void **state)
{
	struct rck_arena *arena = rck_arena_new(0);
	char name[2048] = "_Z1fI1AEvSt4pairIiiE", *p = name + strlen(name);

	for (int i = 0; i < 60; i++)
		p += sprintf(p, "St4pairIS%c_S%c_E", i < 10 ? '0' + i : 'A' + i % 26,
			i < 10 ? '0' + i : 'A' + i % 26);
	/* it may demangle to something short or not at all, but it must end */
	assert_non_null(rck_demangle(arena, name));
	assert_true(rck_arena_used(arena) <= 33 * 1024);
	memset(name, 'P', sizeof(name) - 1);
	memcpy(name, "_Z1f", 4);
	assert_non_null(rck_demangle(arena, name));
	rck_arena_free(arena);
}

static void *demangle_deep(void *arg)
{
	static const char *const parts[] = {"P", "N", "I", "St", "XcvN", "DpT_", "FP",
		"M", "LZ", "Li1EE", "N1xI", "XadL_Z", "Xplfp_"};
	struct rck_arena *arena = rck_arena_new(0);
	char *name = malloc(8192 + 1);

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		size_t n = strlen(parts[i]), at = 4;

		memcpy(name, "_Z1f", 4);
		for (; at + n <= 8192; at += n)
			memcpy(name + at, parts[i], n);
		name[at] = '\0';
		rck_demangle(arena, name);
	}
	free(name);
	rck_arena_free(arena);
	return arg;
}

/* The deepest nesting that a name of the length taken can have does not use up the 2 MiB
   of stack that a thread has at least. */
static void test_deep(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;
	void *done = NULL;
	char mark;

	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstacksize(&attr, 2u << 20), 0);
	assert_int_equal(pthread_create(&thread, &attr, demangle_deep, &mark), 0);
	assert_int_equal(pthread_join(thread, &done), 0);
	assert_ptr_equal(done, &mark);
	pthread_attr_destroy(&attr);
}

static void test_arena(void **state)
{
	struct rck_arena *a = rck_arena_new(1 << 20);
	uint8_t *p, *q;

	p = rck_arena_alloc(a, 3);
	q = rck_arena_alloc(a, 5);
	assert_int_equal((uintptr_t)q % 8, 0);
	assert_true(q >= p + 3);
	for (int i = 0; i < 5; i++)
		assert_int_equal(q[i], 0);
	assert_string_equal(rck_arena_strndup(a, "abcdef", 3), "abc");
	assert_non_null(rck_arena_alloc(a, 500000)); /* larger than a chunk */
	assert_true(rck_arena_used(a) > 500000);
	assert_null(rck_arena_alloc(a, 600000)); /* over the limit */
	assert_null(rck_arena_alloc(a, SIZE_MAX));
	assert_null(rck_arena_strndup(a, "", SIZE_MAX));
	assert_non_null(rck_arena_alloc(a, 8));
	assert_non_null(rck_arena_alloc(a, 0));
	rck_arena_free(a);
	rck_arena_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_arena),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
