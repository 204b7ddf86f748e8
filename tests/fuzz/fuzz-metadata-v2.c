/* One metadata document of V2: YAML. */
#include "codeobj.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t head[4] = {4, (uint32_t)size, 10};

	memcpy(&head[3], "AMD", 4);
	ask_notes(0, head, sizeof(head), data, size);
	return 0;
}
