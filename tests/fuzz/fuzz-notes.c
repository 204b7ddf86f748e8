/* A region of ELF notes: walked with either padding, and as the notes of a V2 and a V6
 * code object. */
#include "codeobj.h"
#include "codeobj/private.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile uint8_t sink;
	struct rck_note_cursor c;
	struct rck_diag diag;
	struct rck_note n;

	for (uint64_t align = 4; align <= 8; align += 4) {
		rck_note_open(&c, data, size, 0, align);
		while (rck_note_next(&c, &n, &diag) == 1) {
			if (n.offset + n.desc_size > size)
				abort();
			for (size_t i = 0; i < n.owner_len; i++)
				sink ^= (uint8_t)n.owner[i];
			for (size_t i = 0; i < n.desc_size; i++)
				sink ^= n.desc[i];
		}
	}
	ask_notes(0, "", 0, data, size);
	ask_notes(4, "", 0, data, size);
	return 0;
}
