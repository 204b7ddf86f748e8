/* inspect: from any file to the facts of every kernel in it. */
#include "cmd/commands.h"
#include "cmd/extract.h"
#include "cmd/scan.h"
#include "cmd/select.h"
#include "container/container.h"
#include "report/inspect-json.h"
#include "report/inspect-text.h"
#include "util/msg.h"
#include "util/term.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JSONL };

static struct rck_inputs_spec inputs_spec;
static struct rck_scan_spec scan_spec;
static struct rck_select_spec select_spec;
static int format;
static int color;
static bool args, allow_incomplete;
static bool group = true;
static const char *sort_key;
static const char *columns;
static const char *extract_folder;
static unsigned long long limit = 40;
static unsigned long long width = ~0ull;

static const struct rck_opt inspect_opts[] = {
	RCK_INPUTS_OPTIONS(inputs_spec),
	RCK_SELECT_OPTIONS(select_spec),
	{RCK_OPT_CHOICE, 'f', "format", &format, "text|json|jsonl",
		"a table, one JSON document, or lines of JSON"},
	{RCK_OPT_FLAG, 0, "args", &args, NULL, "list each kernel's arguments"},
	{RCK_OPT_FLAG, 0, "group", &group, NULL,
		"one row for the same kernel over all targets (text; the default)", true},
	{RCK_OPT_STRING, 's', "sort", &sort_key, "KEY",
		"order of rows: flags (default), file, name, target or a fact's key, "
		"largest first (text)"},
	{RCK_OPT_STRING, 0, "columns", &columns, "KEYS",
		"facts to show, ',' between, or 'all' (text; default: those that fit)"},
	{RCK_OPT_UINT, 0, "limit", &limit, "N",
		"rows shown of each file's table (text; default 40, 0: all)"},
	{RCK_OPT_UINT, 0, "width", &width, "N",
		"columns of a line (text; default: the terminal's, 0: no limit and full "
		"names)"},
	{RCK_OPT_CHOICE, 0, "color", &color, "auto|always|never", "colour in text"},
	{RCK_OPT_STRING, 0, "extract", &extract_folder, "DIR",
		"write the code objects into DIR, never over an existing file"},
	{RCK_OPT_FLAG, 0, "allow-incomplete", &allow_incomplete, NULL,
		"device code without readable metadata does not make the exit status 2"},
	RCK_SCAN_OPTIONS(scan_spec),
	{RCK_OPT_END},
};

/* What prepare finds out about a leaf. */
struct leaf_result {
	struct rck_summary summary;
	bool *selected;   /* a kernel each; NULL: none of the object's is */
	size_t undecided; /* kernels whose name --kernel takes too long for; shown */
};

struct inspect {
	struct rck_select *select;
	struct rck_extract *extract;
	struct rck_strbuf out;
	struct rck_inspect_text *text;
	struct rck_inspect_json json;
	bool begun;     /* the current file has been reported */
	bool in_object; /* a part of the current leaf has been written */
	bool failed;    /* something could not be written */
	struct rck_summary file, total;
};

static bool is_filtered(void)
{
	return select_spec.kernel || select_spec.flagged || select_spec.arch.n;
}

/* ---- on the scan's threads */

static struct leaf_result *select_kernels(
	const struct inspect *in, struct rck_code_object *co)
{
	struct leaf_result *r = rck_xcalloc(1, sizeof(*r));
	bool wanted = rck_select_object(in->select, co);

	r->summary.code_objects = 1;
	r->summary.kernels = co->n_kernels;
	r->summary.notes = co->n_notes;
	r->selected = rck_xcalloc(co->n_kernels, sizeof(*r->selected));
	for (size_t i = 0; wanted && i < co->n_kernels; i++) {
		const struct rck_kernel *k = rck_code_object_kernel(co, i);
		int match;

		rck_kernel_demangled(k); /* here, not where one thread emits */
		match = r->undecided ? -E2BIG : rck_select_kernel(in->select, k);
		r->undecided += match < 0;
		r->selected[i] = match != 0;
		if (match)
			rck_summary_add_kernel(&r->summary, k);
	}
	if (!wanted || (is_filtered() && !r->summary.selected)) {
		free(r->selected);
		r->selected = NULL;
	}
	return r;
}

static void render_json(struct rck_scan_leaf *leaf, const struct leaf_result *r)
{
	enum rck_json_form form =
		format == FORMAT_JSONL ? RCK_JSON_LINES : RCK_JSON_DOCUMENT;
	struct rck_json_place place = {leaf->file->path, leaf->where};
	size_t nth = 0;

	rck_inspect_json_object(&leaf->out, form, &place, leaf->item, leaf->co);
	for (size_t i = 0; i < leaf->co->n_kernels; i++) {
		if (!r->selected[i])
			continue;
		rck_inspect_json_kernel(&leaf->out, form, &place,
			rck_code_object_kernel(leaf->co, i), nth++, args);
		rck_scan_flush(leaf);
	}
	rck_inspect_json_object_end(&leaf->out, form);
}

static void prepare(void *user, struct rck_scan_leaf *leaf)
{
	struct inspect *in = user;
	struct leaf_result *r;

	if (!leaf->co)
		return;
	leaf->result = r = select_kernels(in, leaf->co);
	if (r->selected && format != FORMAT_TEXT)
		render_json(leaf, r);
}

/* ---- in order */

static bool write_out(struct inspect *in, struct rck_strbuf *sb)
{
	if (!in->failed && sb->len && fwrite(sb->buf, 1, sb->len, stdout) != sb->len)
		in->failed = true; /* rck_close_stdout() says why */
	rck_strbuf_reset(sb);
	return !in->failed;
}

static void begin(void *user, struct rck_scan_file *file)
{
	struct inspect *in = user;

	in->begun = false;
	in->file = (struct rck_summary){0};
	if (in->extract)
		rck_extract_file(in->extract, file->path);
}

/* A file is reported from its first leaf on; one without any only when it was named. */
static void report_file(struct inspect *in, const struct rck_scan_file *file)
{
	if (in->begun)
		return;
	in->begun = true;
	if (in->text)
		rck_inspect_text_file(in->text, file->path);
	else
		rck_inspect_json_file(&in->json, file->path, file->size);
}

static void emit_problem(struct inspect *in, const struct rck_scan_leaf *leaf)
{
	struct rck_json_place place = {leaf->file->path, leaf->where};

	in->file.errors += leaf->kind == RCK_ITEM_ERROR;
	in->file.incomplete += leaf->kind == RCK_ITEM_INCOMPLETE;
	in->file.notes += leaf->kind == RCK_ITEM_NOTE;
	if (leaf->kind == RCK_ITEM_ERROR ||
		(leaf->kind == RCK_ITEM_INCOMPLETE && !allow_incomplete))
		rck_scan_say(leaf);
	if (!in->text)
		rck_inspect_json_problem(
			&in->json, &place, leaf->kind, &leaf->diag, leaf->remedy);
	else if (leaf->kind != RCK_ITEM_ERROR)
		rck_inspect_text_problem(in->text, leaf->where, leaf->kind, &leaf->diag);
}

/* Of an object that itself was read. */
static void emit_trouble(
	struct inspect *in, const struct rck_scan_leaf *leaf, const struct rck_diag *diag)
{
	struct rck_json_place place = {leaf->file->path, leaf->where};

	rck_error("%s", diag->msg);
	in->file.errors++;
	if (!in->text)
		rck_inspect_json_problem(&in->json, &place, RCK_ITEM_ERROR, diag, NULL);
}

static void extract(struct inspect *in, const struct rck_scan_leaf *leaf)
{
	struct rck_json_place place = {leaf->file->path, leaf->where};
	struct rck_diag diag, told;
	const char *to;

	if (rck_extract_write(in->extract, leaf->item->data, leaf->item->size,
		    rck_code_object_target(leaf->co), &to, &diag)) {
		rck_fail(&told, diag.code, RCK_OFFSET_NONE, "'%s': %s", to, diag.msg);
		emit_trouble(in, leaf, &told);
		return;
	}
	if (in->text)
		rck_inspect_text_extracted(in->text, to);
	else
		rck_inspect_json_extracted(&in->json, &place, to);
}

static void emit_object(struct inspect *in, struct rck_scan_leaf *leaf)
{
	const struct leaf_result *r = leaf->result;
	struct rck_diag diag;

	if (in->text && r->selected) {
		rck_inspect_text_object(in->text, leaf->where, leaf->co);
		for (size_t i = 0; i < leaf->co->n_kernels; i++)
			if (r->selected[i])
				rck_inspect_text_kernel(
					in->text, rck_code_object_kernel(leaf->co, i));
	} else if (r->selected) {
		if (!in->in_object)
			rck_inspect_json_next_object(&in->json);
		write_out(in, &in->out);
		write_out(in, &leaf->out);
		in->in_object = leaf->partial;
	}
	if (leaf->partial)
		return;
	rck_summary_add(&in->file, &r->summary);
	if (r->undecided) {
		rck_fail(&diag, -E2BIG, RCK_OFFSET_NONE,
			"option '--kernel': '%s' takes too long to match names: %zu "
			"kernels of '%s' are shown unmatched",
			select_spec.kernel, r->undecided, leaf->file->path);
		emit_trouble(in, leaf, &diag);
	}
	if (in->extract && r->selected)
		extract(in, leaf);
}

static bool emit(void *user, struct rck_scan_leaf *leaf)
{
	struct inspect *in = user;
	struct leaf_result *r = leaf->result;

	report_file(in, leaf->file);
	if (leaf->kind == RCK_ITEM_CODE_OBJECT)
		emit_object(in, leaf);
	else
		emit_problem(in, leaf);
	if (r && !leaf->partial) {
		free(r->selected);
		free(r);
	}
	return write_out(in, &in->out);
}

static void end(void *user, struct rck_scan_file *file)
{
	struct inspect *in = user;

	if (file->named)
		report_file(in, file);
	if (in->file.code_objects || in->file.incomplete)
		in->file.files = 1;
	else if (!in->file.errors)
		in->file.files_without = 1;
	if (in->begun && in->text)
		rck_inspect_text_file_end(in->text, &in->file);
	else if (in->begun)
		rck_inspect_json_file_end(&in->json, file->path, &in->file);
	rck_summary_add(&in->total, &in->file);
	write_out(in, &in->out);
}

/* ---- the command */

static int start_report(
	struct inspect *in, struct rck_kernel_table_spec *spec, struct rck_diag *diag)
{
	if (format != FORMAT_TEXT) {
		rck_inspect_json_start(&in->json,
			format == FORMAT_JSONL ? RCK_JSON_LINES : RCK_JSON_DOCUMENT,
			&in->out);
		return 0;
	}
	*spec = (struct rck_kernel_table_spec){
		.width = width == ~0ull ? rck_term_width() : (unsigned)width,
		.color = rck_term_color((enum rck_color_mode)color, 1),
		.group = group,
		.limit = limit,
		.columns = columns};
	if (!rck_rows_sort_key(sort_key ? sort_key : "flags", &spec->sort))
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"option '--sort': '%s' is no key", sort_key);
	if (rck_kernel_table_check(spec, diag))
		return -EINVAL;
	in->text = rck_inspect_text_new(spec, args, &in->out);
	return 0;
}

/* Usage errors first, so that none of them comes after output. */
static int open_all(struct inspect *in, struct rck_inputs **inputs,
	struct rck_kernel_table_spec *spec, struct rck_diag *diag)
{
	int err = rck_select_new(&select_spec, &in->select, diag);

	if (!err)
		err = start_report(in, spec, diag);
	if (!err)
		err = rck_inputs_open(&inputs_spec, inputs, diag);
	if (err == -EINVAL) {
		rck_error("%s", diag->msg);
		fprintf(stderr, "Try 'rocmcheck inspect --help'.\n");
		return RCK_EXIT_USAGE;
	}
	if (!err && extract_folder)
		err = rck_extract_open(extract_folder, &in->extract, diag);
	if (err)
		rck_error("%s", diag->msg);
	return err ? RCK_EXIT_TROUBLE : RCK_EXIT_CLEAN;
}

static int run(int n, char **operands)
{
	struct inspect in = {.out = RCK_STRBUF_INIT};
	struct rck_inputs *inputs = NULL;
	struct rck_kernel_table_spec spec;
	struct rck_diag diag;
	int status;

	inputs_spec.n = n;
	inputs_spec.operands = operands;
	status = open_all(&in, &inputs, &spec, &diag);
	if (status)
		goto out;
	rck_scan_run(inputs, &scan_spec,
		&(struct rck_scan_ops){.user = &in,
			.keep = format == FORMAT_TEXT || in.extract,
			.begin = begin,
			.prepare = prepare,
			.emit = emit,
			.end = end});
	if (in.text)
		rck_inspect_text_finish(in.text, &in.total);
	else
		rck_inspect_json_finish(&in.json, &in.total);
	write_out(&in, &in.out);
	if (in.failed || in.total.errors || (in.total.incomplete && !allow_incomplete))
		status = RCK_EXIT_TROUBLE;
out:
	rck_inputs_close(inputs);
	rck_select_free(in.select);
	rck_extract_close(in.extract);
	rck_inspect_text_free(in.text);
	rck_strbuf_release(&in.out);
	return status;
}

static void print_facts(void)
{
	printf("\nFacts (keys of --sort, --columns and JSON):\n");
	for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++) {
		_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;
		const struct rck_fact_info *info = rck_fact_info(f);

		rck_strbuf_addf(&line, "  %-18s ", info->key);
		rck_term_wrap(&line, info->help, 21, 21, 79);
		if (*info->unit) {
			line.len--;
			rck_strbuf_addf(&line, " (%s)\n", info->unit);
		}
		fputs(line.buf, stdout);
	}
}

const struct rck_cmd rck_cmd_inspect = {
	.name = "inspect",
	.summary = "the facts of every kernel in files that hold ROCm device code",
	.operands = "PATH...",
	.opts = inspect_opts,
	.run = run,
	.print_details = print_facts,
};
