/* One metadata map of V3 and later: msgpack. */
#include "codeobj.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t head[5] = {7, (uint32_t)size, 32};

	memcpy(&head[3], "AMDGPU", 7);
	ask_notes(3, head, sizeof(head), data, size);
	return 0;
}
