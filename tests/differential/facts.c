/*
 * What librocmcheck says of every code object of the files given, as one JSON array, for
 * the differential tests; the code objects themselves go to FOLDER/0, FOLDER/1, ... for
 * LLVM's tools to read. Uses the public interface alone.
 */
#include "util/json.h"

#include <rocmcheck.h>
#include <stdio.h>
#include <stdlib.h>

static size_t n_written;

static int write_object(const char *folder, const struct rck_item *item)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%zu", folder, n_written);
	f = fopen(path, "wb");
	if (!f || fwrite(item->data, 1, item->size, f) != item->size || fclose(f)) {
		perror(path);
		return 2;
	}
	return 0;
}

static void write_value(struct rck_json *j, const struct rck_value *v)
{
	if (!v->known)
		rck_json_null(j);
	else if (v->type == RCK_VALUE_STRING)
		rck_json_str(j, v->string);
	else if (v->type == RCK_VALUE_BOOL)
		rck_json_bool(j, v->number);
	else
		rck_json_u64(j, v->number);
}

static void write_kernel(struct rck_json *j, const struct rck_kernel *k)
{
	struct rck_value v;

	rck_json_object(j);
	rck_json_kstr(j, "name", rck_kernel_name(k));
	rck_json_kstr(j, "symbol", rck_kernel_symbol(k));
	rck_json_kstr(j, "demangled", rck_kernel_demangled(k));
	for (int f = 0; f < RCK_FACT_COUNT_; f++) {
		rck_kernel_fact(k, f, &v);
		rck_json_key(j, rck_fact_info(f)->key);
		write_value(j, &v);
	}
	rck_json_key(j, "args");
	rck_json_array(j);
	for (size_t i = 0; i < rck_kernel_arg_count(k); i++) {
		const struct rck_arg *a = rck_kernel_arg(k, i);

		rck_json_array(j);
		rck_json_str(j, a->value_kind);
		rck_json_u64(j, a->offset);
		rck_json_u64(j, a->size);
		rck_json_str(j, a->name);
		rck_json_array_end(j);
	}
	rck_json_array_end(j);
	rck_json_object_end(j);
}

static int write_file(struct rck_json *j, const char *path, const char *folder)
{
	struct rck_code_object *co;
	struct rck_file *file;
	struct rck_item item;
	struct rck_diag diag;
	int err;

	if (rck_file_open(path, NULL, &file, &diag)) {
		fprintf(stderr, "%s: %s\n", path, diag.msg);
		return 2;
	}
	while ((err = rck_file_next(file, &item, &diag)) == 1) {
		if (item.kind == RCK_ITEM_NOTE)
			continue;
		if (item.kind != RCK_ITEM_CODE_OBJECT) {
			fprintf(stderr, "%s: %s: %s\n", path, item.where, item.diag.msg);
			err = 2;
			break;
		}
		if (rck_code_object_open(file, &item, &co, &diag)) {
			fprintf(stderr, "%s: %s: %s\n", path, item.where, diag.msg);
			err = 2;
			break;
		}
		if (folder)
			err = write_object(folder, &item);
		rck_json_object(j);
		rck_json_kstr(j, "file", path);
		rck_json_kstr(j, "where", item.where);
		rck_json_ku64(j, "number", n_written++);
		rck_json_ku64(j, "version", rck_code_object_version(co));
		rck_json_kstr(j, "target", rck_code_object_target(co));
		rck_json_key(j, "kernels");
		rck_json_array(j);
		for (size_t i = 0; i < rck_code_object_kernel_count(co); i++)
			write_kernel(j, rck_code_object_kernel(co, i));
		rck_json_array_end(j);
		rck_json_object_end(j);
		rck_code_object_close(co);
	}
	if (err < 0)
		fprintf(stderr, "%s: %s\n", path, diag.msg);
	rck_file_close(file);
	return err ? 2 : 0;
}

int main(int argc, char **argv)
{
	struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_json j;
	int err = 0;

	if (argc < 3) {
		fputs("usage: facts FOLDER|- FILE...\n", stderr);
		return 3;
	}
	rck_json_init(&j, &out, 0);
	rck_json_array(&j);
	for (int i = 2; i < argc; i++)
		if (write_file(&j, argv[i], *argv[1] == '-' ? NULL : argv[1]))
			err = 2;
	rck_json_array_end(&j);
	puts(out.buf);
	rck_strbuf_release(&out);
	return err;
}
