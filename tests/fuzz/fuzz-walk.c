/* The whole way of any file: open, walk, every code object read. */
#include "container.h"

#include <string.h>

static void walk(struct rck_file *file)
{
	struct rck_item item;

	while (rck_file_next(file, &item, NULL) == 1) {
		struct rck_code_object *co;
		struct rck_file *inner;

		touch((struct rck_slice){item.data, item.data ? item.size : 0, 0});
		touch((struct rck_slice){
			(const uint8_t *)item.where, strlen(item.where), 0});
		if (item.kind == RCK_ITEM_COMPRESSED &&
			!rck_file_open_item(file, &item, &inner, NULL)) {
			walk(inner);
			rck_file_close(inner);
		}
		if (item.kind == RCK_ITEM_CODE_OBJECT &&
			!rck_code_object_open(file, &item, &co, NULL))
			rck_code_object_close(co);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* small limits, so that the fuzzer looks for faults and not for memory */
	struct rck_options opt = {.size = sizeof(opt),
		.max_inflated = 1 << 24,
		.max_total = 1 << 26,
		.keep_compressed = size % 2};
	struct rck_file *file;

	if (rck_file_open_mem(data, size, NULL, &opt, &file, NULL))
		return 0;
	walk(file);
	rck_file_close(file);
	return 0;
}
