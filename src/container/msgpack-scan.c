#include "container/msgpack-scan.h"

#include "util/range.h"

#include <errno.h>

enum form { SCALAR, STRING, EXT, ARRAY, MAP, RESERVED };

/* What the first byte says: the form and the width of the length that follows it (for a
 * SCALAR: of the payload itself). Indexed by the byte less 0xc0. */
static const struct {
	uint8_t form, width;
} heads[32] = {
	{SCALAR, 0},
	{RESERVED, 0},
	{SCALAR, 0},
	{SCALAR, 0}, /* nil, -, false, true */
	{STRING, 1},
	{STRING, 2},
	{STRING, 4}, /* bin */
	{EXT, 1},
	{EXT, 2},
	{EXT, 4}, /* ext */
	{SCALAR, 4},
	{SCALAR, 8}, /* float */
	{SCALAR, 1},
	{SCALAR, 2},
	{SCALAR, 4},
	{SCALAR, 8}, /* uint */
	{SCALAR, 1},
	{SCALAR, 2},
	{SCALAR, 4},
	{SCALAR, 8}, /* int */
	{SCALAR, 2},
	{SCALAR, 3},
	{SCALAR, 5},
	{SCALAR, 9},
	{SCALAR, 17}, /* fixext */
	{STRING, 1},
	{STRING, 2},
	{STRING, 4}, /* str */
	{ARRAY, 2},
	{ARRAY, 4},
	{MAP, 2},
	{MAP, 4},
};

/* One object's head at data[at..]: its form, the payload bytes or elements it claims,
 * and the bytes of the head. false when the head itself is cut short. */
static bool read_head(const uint8_t *data, uint64_t left, enum form *form,
	uint64_t *count, uint64_t *head)
{
	uint8_t b = data[0];

	*head = 1;
	*count = 0;
	if (b < 0x80 || b >= 0xe0) {
		*form = SCALAR;
	} else if (b < 0x90) {
		*form = MAP;
		*count = b & 0x0f;
	} else if (b < 0xa0) {
		*form = ARRAY;
		*count = b & 0x0f;
	} else if (b < 0xc0) {
		*form = STRING;
		*count = b & 0x1f;
	} else {
		unsigned width = heads[b - 0xc0].width;

		*form = heads[b - 0xc0].form;
		if (*form == SCALAR) {
			*count = width;
			return true;
		}
		if (left - 1 < width)
			return false;
		for (unsigned i = 0; i < width; i++)
			*count = *count << 8 | data[1 + i];
		*head += width;
		if (*form == EXT)
			*count += 1; /* the type byte */
	}
	return true;
}

int rck_msgpack_scan_end(
	const uint8_t *data, uint64_t size, uint64_t *end, struct rck_diag *diag)
{
	uint64_t open[RCK_MSGPACK_DEPTH]; /* elements still to come, a level */
	unsigned depth = 0;
	uint64_t at = 0;

	do {
		uint64_t count, head;
		enum form form;

		if (depth)
			open[depth - 1]--;
		if (at >= size)
			return rck_fail(diag, -EINVAL, at, "msgpack ends too early");
		if (!read_head(data + at, size - at, &form, &count, &head))
			return rck_fail(diag, -EINVAL, at,
				"msgpack ends inside an object's head");
		if (form == RESERVED)
			return rck_fail(diag, -EINVAL, at,
				"byte 0xc1 does not start a msgpack object");
		if (form == MAP)
			count *= 2;
		if (count > size - at - head)
			return rck_fail(diag, -EINVAL, at,
				"msgpack %s claims %llu %s, but %llu bytes are left",
				form == MAP     ? "map"
				: form == ARRAY ? "array"
						: "object",
				(unsigned long long)count,
				form == MAP || form == ARRAY ? "elements" : "bytes",
				(unsigned long long)(size - at - head));
		if (form != MAP && form != ARRAY) {
			at += head + count;
		} else {
			/* msgpack-c gives an empty map a level of its own too */
			if (depth == RCK_MSGPACK_DEPTH)
				return rck_fail(diag, -E2BIG, at,
					"msgpack nested deeper than %d",
					RCK_MSGPACK_DEPTH);
			at += head;
			open[depth++] = count;
		}
		while (depth && !open[depth - 1])
			depth--;
	} while (depth);
	*end = at;
	return 0;
}

int rck_msgpack_scan(const uint8_t *data, uint64_t size, struct rck_diag *diag)
{
	uint64_t end;

	return rck_msgpack_scan_end(data, size, &end, diag);
}

int rck_msgpack_enter(
	const uint8_t *data, uint64_t size, uint64_t *at, bool map, uint64_t *count)
{
	enum form form;
	uint64_t head;

	if (*at >= size || !read_head(data + *at, size - *at, &form, count, &head) ||
		form != (map ? MAP : ARRAY))
		return -EINVAL;
	*at += head;
	return 0;
}
