/* The text of an instruction. */
#include "codeobj/insn.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct rck_insn in = {.address = 4096, .size = 4};

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	rck_insn_parse(&in, text);
	if (in.n > RCK_OPERANDS)
		abort();
	rck_insn_target(&in);
	free(text);
	return 0;
}
