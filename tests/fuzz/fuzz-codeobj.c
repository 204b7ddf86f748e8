/* A whole code object: headers, notes, symbols, descriptors, and all that is made of
 * them. */
#include "codeobj.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *odd;

	ask_object(data, size);
	/* and at an odd address, as in a container that aligns nothing */
	odd = malloc(size + 1);
	if (!odd)
		abort();
	memcpy(odd + 1, data, size);
	ask_object(odd + 1, size);
	free(odd);
	return 0;
}
