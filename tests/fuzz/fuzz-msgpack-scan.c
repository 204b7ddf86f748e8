/* What the scan lets through msgpack-c must take, and within the memory that it has. */
#include "container.h"

#include <msgpack.h>
#include <stdlib.h>

#include "container/msgpack-scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	msgpack_unpacked u;
	size_t off = 0;

	if (rck_msgpack_scan(data, size, NULL))
		return 0;
	msgpack_unpacked_init(&u);
	if (msgpack_unpack_next(&u, (const char *)data, size, &off) <= 0)
		abort();
	msgpack_unpacked_destroy(&u);
	return 0;
}
