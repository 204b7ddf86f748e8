/* compile_commands.json: parsed, every command split and judged. */
#include "fuzz.h"

#include "buildsys/compdb.h"
#include "buildsys/hipline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_compdb db;

	if (rck_compdb_read((const char *)data, size, &db, NULL))
		return 0;
	for (size_t i = 0; i < db.n; i++) {
		struct rck_hipline h;

		rck_hipline_read(&h, &db.entries[i].words, db.entries[i].file);
		rck_hipline_release(&h);
	}
	rck_compdb_release(&db);
	return 0;
}
