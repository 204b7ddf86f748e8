#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "container/msgpack-scan.h"

#include <errno.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

struct sample {
	const char *bytes;
	size_t size;
	int err;
	uint64_t at; /* the fault's offset, or the object's end */
};
#define S(b, err, at)                                                                    \
	{                                                                                \
		b, sizeof(b) - 1, err, at                                                \
	}

static const struct sample samples[] = {
	S("", -EINVAL, 0),
	S("\xc0", 0, 1),
	S("\xc0\xc0", 0, 1),
	S("\xc1", -EINVAL, 0),
	S("\x7f", 0, 1),
	S("\xff", 0, 1),
	S("\xa3"
	  "abc",
		0, 4),
	S("\xa3"
	  "ab",
		-EINVAL, 0),
	S("\xd9\x02"
	  "ab",
		0, 4),
	S("\xda\x00\x02"
	  "ab",
		0, 5),
	S("\xdb\xff\xff\xff\xff"
	  "ab",
		-EINVAL, 0),
	S("\xc4", -EINVAL, 0),
	S("\xc4\x01\x00", 0, 3),
	S("\xc6\x00\x00\x00", -EINVAL, 0),
	S("\xc7\x02\x01zz", 0, 5),
	S("\xc7\x02\x01z", -EINVAL, 0),
	S("\xcb\x00\x00\x00\x00\x00\x00\x00\x00", 0, 9),
	S("\xcf\x00\x00\x00\x00\x00\x00\x00", -EINVAL, 0),
	S("\xd4\x01\x02", 0, 3),
	S("\xd8\x01"
	  "0123456789abcdef",
		0, 18),
	S("\xd8\x01"
	  "0123456789abcde",
		-EINVAL, 0),
	S("\x90", 0, 1),
	S("\x80", 0, 1),
	S("\x92\xc0\xc0", 0, 3),
	S("\x92\xc0", -EINVAL, 0),
	S("\x81\xa1k\x92\x01\x02", 0, 6),
	S("\x81\xa1k\x93\x01\x02", -EINVAL, 3),
	S("\xde\x00\x01\x01\x02", 0, 5),
	S("\xdf\xff\xff\xff\xff", -EINVAL, 0),
	S("\xdd\x7f\xff\xff\xff", -EINVAL, 0),
	S("\xdc\x00\x02\x01\xc1", -EINVAL, 4),
};

static void test_samples(void **state)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];
		struct rck_diag diag = {0};
		uint64_t end = 0;
		int err = rck_msgpack_scan_end(
			(const uint8_t *)s->bytes, s->size, &end, &diag);

		if (err != s->err || (err ? diag.offset : end) != s->at)
			fail_msg("sample %zu: %d at %llu, not %d at %llu", i, err,
				(unsigned long long)(err ? diag.offset : end), s->err,
				(unsigned long long)s->at);
		assert_int_equal(diag.code, err);
		assert_int_equal(err != 0, diag.msg[0] != 0);
	}
}

static bool msgpack_c_takes(const uint8_t *data, size_t size)
{
	msgpack_unpacked u;
	size_t off = 0;
	bool taken;

	msgpack_unpacked_init(&u);
	taken = msgpack_unpack_next(&u, (const char *)data, size, &off) > 0;
	msgpack_unpacked_destroy(&u);
	return taken;
}

static void test_depth_is_msgpack_c_s(void **state)
{
	static const uint8_t inner[] = {0xc0, 0x90, 0x80};
	uint8_t data[48];

	for (size_t k = 0; k < sizeof(inner); k++) {
		for (size_t n = 28; n < 40; n++) {
			int err;

			memset(data, 0x91, n);
			data[n] = inner[k];
			err = rck_msgpack_scan(data, n + 1, NULL);
			assert_int_equal(err == 0, msgpack_c_takes(data, n + 1));
			assert_true(err == 0 || err == -E2BIG);
		}
	}
}

/* What the scan lets through must never come back refused: a refusal would have no
 * offset. */
static void test_passed_is_taken(void **state)
{
	static const uint8_t heads[] = {0x81, 0x82, 0x91, 0x93, 0xa2, 0xc4, 0xc7, 0xcc,
		0xcd, 0xd4, 0xd9, 0xdc, 0xde, 0x00, 0xe0, 0xc0, 0xc3};
	uint8_t data[24];
	int passed = 0;

	srandom(1);
	for (int i = 0; i < 200000; i++) {
		for (size_t k = 0; k < sizeof(data); k++) {
			long r = random();

			data[k] = r & 0x100000 ? heads[r % sizeof(heads)]
					       : (uint8_t)(r & 0x0f);
		}
		if (rck_msgpack_scan(data, sizeof(data), NULL))
			continue;
		passed++;
		assert_true(msgpack_c_takes(data, sizeof(data)));
	}
	assert_true(passed > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_depth_is_msgpack_c_s),
		cmocka_unit_test(test_passed_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
