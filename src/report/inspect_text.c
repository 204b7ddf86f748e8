#include "report/inspect_text.h"
#include "report/shorten.h"
#include "util/table.h"
#include "util/term.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BOLD   "\033[1m"
#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define NORMAL "\033[0m"

#define INDENT 2
/* The kernel column keeps at least this, and this part of the width, before further facts
 * get a column. */
#define LEAST_NAME 32

/* Facts in the order in which they get a column when the width allows it; flags always.
 */
static const enum rck_fact by_priority[] = {
	RCK_FACT_DECLARES_HOSTCALL,
	RCK_FACT_DECLARES_HEAP,
	RCK_FACT_DYNAMIC_STACK,
	RCK_FACT_SCRATCH,
	RCK_FACT_VGPR_COUNT,
	RCK_FACT_OCCUPANCY,
	RCK_FACT_LDS,
	RCK_FACT_SGPR_COUNT,
	RCK_FACT_VGPR_SPILLS,
	RCK_FACT_AGPR_COUNT,
	RCK_FACT_MAX_WORKGROUP,
	RCK_FACT_OCCUPANCY_LIMIT,
	RCK_FACT_KERNARG_SIZE,
	RCK_FACT_CODE_SIZE,
	RCK_FACT_SGPR_SPILLS,
	RCK_FACT_WAVEFRONT_SIZE,
	RCK_FACT_CAUSE,
};
#define N_PRIORITY (sizeof(by_priority) / sizeof(*by_priority))
#define N_FLAGS    3

/* Problems of a file with the same message are told once. */
struct remark {
	enum rck_item_kind kind;
	char *msg, *where;
	uint64_t n;
	struct remark *next;
};

struct cause_count {
	uint64_t kernels, files;
	uint64_t by_confidence[RCK_CONFIDENCE_HIGH + 1];
	char *first_file;
};

struct rck_inspect_text {
	const struct rck_text_spec *spec;
	struct rck_strbuf *out;
	bool chosen[RCK_FACT_COUNT_]; /* by spec->columns */
	struct cause_count causes[RCK_CAUSE_COUNT_];
	uint64_t n_files;

	/* of the current file */
	const char *path;
	struct rck_rows *rows;
	unsigned versions; /* bit a code object version */
	char **targets;
	size_t n_targets;
	struct remark *remarks, **last_remark;
	uint64_t extracted;
	bool cause_seen[RCK_CAUSE_COUNT_];
};

static const char *paint(const struct rck_inspect_text *t, const char *color)
{
	return t->spec->color ? color : "";
}

static unsigned width_of(const struct rck_inspect_text *t)
{
	return t->spec->width ? t->spec->width : 1u << 20;
}

static int choose_columns(struct rck_inspect_text *t, struct rck_diag *diag)
{
	const char *p = t->spec->columns;

	while (p && *p) {
		size_t n = strcspn(p, ",");
		bool all = n == 3 && !memcmp(p, "all", 3), found = all;

		for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++) {
			const char *key = rck_fact_info(f)->key;

			if (all || (strlen(key) == n && !memcmp(key, p, n)))
				found = t->chosen[f] = true;
		}
		if (!found)
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"option '--columns': '%.*s' is no fact's key", (int)n, p);
		p += n + (p[n] == ',');
	}
	return 0;
}

int rck_inspect_text_new(const struct rck_text_spec *spec, struct rck_strbuf *out,
	struct rck_inspect_text **report, struct rck_diag *diag)
{
	struct rck_inspect_text *t = rck_xcalloc(1, sizeof(*t));
	int err;

	t->spec = spec;
	t->out = out;
	err = choose_columns(t, diag);
	if (err)
		free(t);
	else
		*report = t;
	return err;
}

void rck_inspect_text_free(struct rck_inspect_text *t)
{
	if (!t)
		return;
	for (size_t c = 0; c < RCK_CAUSE_COUNT_; c++)
		free(t->causes[c].first_file);
	free(t);
}

void rck_inspect_text_file(struct rck_inspect_text *t, const char *path)
{
	t->n_files++;
	t->path = path;
	t->rows = rck_rows_new(t->spec->group, t->spec->args);
	t->versions = 0;
	t->targets = NULL;
	t->n_targets = 0;
	t->remarks = NULL;
	t->last_remark = &t->remarks;
	t->extracted = 0;
	memset(t->cause_seen, 0, sizeof(t->cause_seen));
}

static void add_target(struct rck_inspect_text *t, const char *target)
{
	for (size_t i = t->n_targets; i-- > 0;)
		if (!strcmp(t->targets[i], target))
			return;
	t->targets = rck_xrealloc(t->targets, (t->n_targets + 1) * sizeof(*t->targets));
	t->targets[t->n_targets++] = rck_xstrdup(target);
}

void rck_inspect_text_object(
	struct rck_inspect_text *t, const char *where, const struct rck_code_object *co)
{
	t->versions |= 1u << rck_code_object_version(co);
	add_target(t, rck_code_object_target(co));
	for (size_t i = 0; i < rck_code_object_note_count(co); i++)
		rck_inspect_text_problem(
			t, where, RCK_ITEM_NOTE, rck_code_object_note(co, i));
}

void rck_inspect_text_kernel(struct rck_inspect_text *t, const struct rck_kernel *k)
{
	struct cause_count *c = &t->causes[k->cause];

	rck_rows_add(t->rows, k);
	if (!rck_kernel_flagged(k))
		return;
	c->kernels++;
	c->by_confidence[k->confidence]++;
	if (!t->cause_seen[k->cause]) {
		c->files++;
		t->cause_seen[k->cause] = true;
	}
	if (!c->first_file)
		c->first_file = rck_xstrdup(t->path);
}

void rck_inspect_text_problem(struct rck_inspect_text *t, const char *where,
	enum rck_item_kind kind, const struct rck_diag *diag)
{
	struct remark *r;

	for (r = t->remarks; r; r = r->next)
		if (r->kind == kind && !strcmp(r->msg, diag->msg)) {
			r->n++;
			return;
		}
	r = rck_xcalloc(1, sizeof(*r));
	*r = (struct remark){kind, rck_xstrdup(diag->msg), rck_xstrdup(where), 1, NULL};
	*t->last_remark = r;
	t->last_remark = &r->next;
}

void rck_inspect_text_extracted(struct rck_inspect_text *t, const char *to)
{
	(void)to;
	t->extracted++;
}

/* ---- the table */

static void fact_cell(
	const struct rck_row *r, enum rck_fact fact, struct rck_strbuf *cell)
{
	const struct rck_row_fact *f = &r->facts[fact];

	if (fact == RCK_FACT_DYNAMIC_STACK && !f->yes && r->possible_stack) {
		rck_strbuf_adds(cell, "maybe");
	} else if (!f->known) {
		rck_strbuf_adds(cell, "?");
	} else if (rck_fact_info(fact)->type == RCK_VALUE_STRING) {
		rck_strbuf_add_masked(cell, f->string, strlen(f->string));
		if (f->differs)
			rck_strbuf_adds(cell, ",…");
	} else if (rck_fact_info(fact)->type == RCK_VALUE_BOOL) {
		if (!f->yes)
			rck_strbuf_addc(cell, '-');
		else if (f->yes == r->kernels)
			rck_strbuf_adds(cell, "yes");
		else
			rck_strbuf_addf(cell, "%u/%u", f->yes, r->kernels);
	} else {
		rck_strbuf_addu(cell, f->min);
		if (f->max != f->min) {
			rck_strbuf_addc(cell, '-');
			rck_strbuf_addu(cell, f->max);
		}
	}
	if (f->disagrees)
		rck_strbuf_addc(cell, '!');
}

static size_t fact_width(const struct rck_inspect_text *t, enum rck_fact f, size_t n_rows)
{
	size_t width = strlen(rck_fact_info(f)->title);

	for (size_t i = 0; i < n_rows; i++) {
		_cleanup_strbuf_ struct rck_strbuf cell = RCK_STRBUF_INIT;
		size_t n;

		fact_cell(rck_rows_get(t->rows, i), f, &cell);
		n = rck_term_columns(cell.buf, cell.len);
		width = n > width ? n : width;
	}
	return width;
}

/* Which facts get a column. */
static void fit_columns(const struct rck_inspect_text *t, size_t n_rows, bool *shown)
{
	size_t width = width_of(t), used = INDENT + 2 + strlen("TARGETS");
	size_t name = width * 2 / 5 > LEAST_NAME ? width * 2 / 5 : LEAST_NAME;

	if (t->spec->columns) {
		memcpy(shown, t->chosen, sizeof(t->chosen));
		return;
	}
	for (size_t p = 0; p < N_PRIORITY; p++) {
		size_t n = fact_width(t, by_priority[p], n_rows) + 2;

		if (p >= N_FLAGS && used + n + name > width)
			break;
		used += n;
		shown[by_priority[p]] = true;
	}
}

/* The name as it is shown; with its parameters when another row differs in these alone.
 */
static char *row_name(
	const struct rck_inspect_text *t, const struct rck_row *r, bool full)
{
	struct rck_strbuf raw = RCK_STRBUF_INIT, masked = RCK_STRBUF_INIT;

	if (full || !t->spec->width)
		rck_strbuf_adds(&raw, r->demangled);
	else
		rck_shorten_name(&raw, r->demangled, strlen(r->demangled));
	rck_strbuf_add_masked(&masked, raw.buf, raw.len);
	rck_strbuf_release(&raw);
	return rck_strbuf_detach(&masked);
}

struct short_name {
	char *name;
	size_t row;
};

static int by_short_name(const void *a, const void *b)
{
	const struct short_name *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->row > y->row) - (x->row < y->row);
}

/* Names of the first n rows: free() each and the array. */
static char **row_names(const struct rck_inspect_text *t, size_t n)
{
	struct short_name *sorted = rck_xcalloc(n, sizeof(*sorted));
	char **names = rck_xcalloc(n, sizeof(*names));

	for (size_t i = 0; i < n; i++) {
		names[i] = row_name(t, rck_rows_get(t->rows, i), false);
		sorted[i] = (struct short_name){names[i], i};
	}
	qsort(sorted, n, sizeof(*sorted), by_short_name);
	for (size_t i = 0, end; i < n; i = end) {
		bool same_kernel = true;

		for (end = i + 1; end < n && !strcmp(sorted[end].name, sorted[i].name);
			end++)
			same_kernel &=
				!strcmp(rck_rows_get(t->rows, sorted[end].row)->demangled,
					rck_rows_get(t->rows, sorted[i].row)->demangled);
		for (size_t k = i; !same_kernel && k < end; k++)
			names[sorted[k].row] =
				row_name(t, rck_rows_get(t->rows, sorted[k].row), true);
		for (size_t k = i; !same_kernel && k < end; k++)
			free(sorted[k].name);
	}
	free(sorted);
	return names;
}

static const char *flag_color(
	const struct rck_inspect_text *t, const struct rck_row *r, enum rck_fact f)
{
	if (f == RCK_FACT_DYNAMIC_STACK && !r->facts[f].yes && r->possible_stack)
		return paint(t, YELLOW);
	return r->facts[f].yes ? paint(t, RED) : "";
}

static bool is_flag(enum rck_fact f)
{
	for (size_t i = 0; i < N_FLAGS; i++)
		if (by_priority[i] == f)
			return true;
	return false;
}

static void add_cells(struct rck_table *table, const struct rck_inspect_text *t,
	const struct rck_row *r, const bool *shown, const char *name)
{
	for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++) {
		_cleanup_strbuf_ struct rck_strbuf cell = RCK_STRBUF_INIT;
		const char *color;

		if (!shown[f])
			continue;
		fact_cell(r, f, &cell);
		color = is_flag(f) ? flag_color(t, r, f) : "";
		rck_table_cellf(table, "%s%s%s", color, cell.buf, *color ? NORMAL : "");
	}
	if (r->kernels > 1)
		rck_table_cellf(table, "%u", r->kernels);
	else
		rck_table_cell(table, r->target);
	rck_table_cell(table, name);
}

static void add_row_args(struct rck_inspect_text *t, const struct rck_row *r)
{
	const char *p = r->args;

	while (p && *p) {
		size_t n = strcspn(p, "\n");

		rck_strbuf_pad(t->out, ' ', 3 * INDENT);
		rck_strbuf_add(t->out, p, n + 1);
		p += n + 1;
	}
	if (r->other_args)
		rck_strbuf_addf(t->out,
			"%*s(%u of these %u kernels have other arguments)\n", 3 * INDENT,
			"", r->other_args, r->kernels);
}

/* Prints a table whose rows are followed by the arguments of each. */
static void print_with_args(struct rck_inspect_text *t, const struct rck_table *table)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	const char *p;

	rck_table_print(table, &text, width_of(t), INDENT);
	p = text.buf;
	for (size_t i = 0; *p; i++) {
		size_t n = strcspn(p, "\n") + 1;

		rck_strbuf_add(t->out, p, n);
		if (i)
			add_row_args(t, rck_rows_get(t->rows, i - 1));
		p += n;
	}
}

static void print_table(struct rck_inspect_text *t)
{
	size_t total = rck_rows_count(t->rows), n = total, n_columns = 0;
	struct rck_column columns[RCK_FACT_COUNT_ + 2] = {{0}};
	bool shown[RCK_FACT_COUNT_] = {false};
	struct rck_table *table;
	char **names;

	if (!total)
		return;
	rck_rows_sort(t->rows, t->spec->sort);
	if (t->spec->limit && n > t->spec->limit)
		n = t->spec->limit;
	fit_columns(t, n, shown);
	for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++)
		if (shown[f])
			columns[n_columns++] = (struct rck_column){
				.title = rck_fact_info(f)->title,
				.right = rck_fact_info(f)->type == RCK_VALUE_NUMBER};
	columns[n_columns++] = (struct rck_column){
		.title = t->spec->group ? "TARGETS" : "TARGET", .right = t->spec->group};
	columns[n_columns++] = (struct rck_column){
		.title = "KERNEL", .shrink = true, .least = 16, .cut = rck_shorten_fit};
	table = rck_table_new(columns, n_columns);
	names = row_names(t, n);
	for (size_t i = 0; i < n; i++) {
		add_cells(table, t, rck_rows_get(t->rows, i), shown, names[i]);
		free(names[i]);
	}
	free(names);
	print_with_args(t, table);
	rck_table_free(table);
	if (n < total)
		rck_strbuf_addf(t->out, "  … and %zu more rows ('--limit 0' shows all)\n",
			total - n);
}

/* ---- words */

static void plural(struct rck_strbuf *sb, uint64_t n, const char *what)
{
	rck_strbuf_addf(sb, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

/* "libx.so: V6, 50 code objects, 10 targets: gfx803 ..." */
static void print_title(struct rck_inspect_text *t, const struct rck_summary *s)
{
	_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;
	size_t at;

	rck_strbuf_adds(t->out, paint(t, BOLD));
	at = t->out->len;
	rck_strbuf_add_masked(t->out, t->path, strlen(t->path));
	at = rck_term_columns(t->out->buf + at, t->out->len - at);
	rck_strbuf_adds(t->out, paint(t, NORMAL));
	rck_strbuf_adds(&line, ":");
	if (s->code_objects) {
		rck_strbuf_addc(&line, ' ');
		plural(&line, s->code_objects, "code object");
		rck_strbuf_adds(&line, " (");
		for (unsigned v = 0, n = 0; v < 32; v++)
			if (t->versions & 1u << v)
				rck_strbuf_addf(
					&line, v ? "%sV%u" : "%sV?", n++ ? ", " : "", v);
		rck_strbuf_adds(&line, ") for ");
		if (t->n_targets > 1)
			rck_strbuf_addf(&line, "%zu targets: ", t->n_targets);
		for (size_t i = 0; i < t->n_targets; i++) {
			if (i)
				rck_strbuf_addc(&line, ' ');
			rck_strbuf_add_masked(
				&line, t->targets[i], strlen(t->targets[i]));
		}
	} else {
		rck_strbuf_adds(&line, s->errors || s->incomplete
					       ? " no code object that can be read"
					       : " no device code");
	}
	rck_term_wrap(t->out, line.buf, (unsigned)at, INDENT, width_of(t));
}

static void add_flag_count(struct rck_strbuf *sb, uint64_t n, const char *what)
{
	if (n)
		rck_strbuf_addf(sb, ", %s %" PRIu64, what, n);
}

/* "380 kernels, 380 flagged: hostcall 380, heap 380, dynamic stack 380; cause O0" */
static void add_counts(struct rck_strbuf *sb, const struct rck_summary *s)
{
	size_t colon;

	plural(sb, s->kernels, "kernel");
	if (s->selected != s->kernels)
		rck_strbuf_addf(sb, ", %" PRIu64 " selected", s->selected);
	if (s->selected && !s->flagged)
		rck_strbuf_adds(sb, ", none flagged");
	if (s->flagged) {
		rck_strbuf_addf(sb, ", %" PRIu64 " flagged", s->flagged);
		colon = sb->len;
		add_flag_count(sb, s->hostcall, "hostcall");
		add_flag_count(sb, s->heap, "heap");
		add_flag_count(sb, s->dynamic_stack, "dynamic stack");
		sb->buf[colon] = ':';
		for (size_t c = 0, n = 0; c < RCK_CAUSE_COUNT_; c++)
			if (s->causes[c])
				rck_strbuf_addf(sb, "%s%s", n++ ? ", " : "; cause ",
					rck_cause_name((enum rck_cause)c));
	}
	add_flag_count(sb, s->possible_dynamic_stack, "dynamic stack possible");
	if (s->incomplete)
		rck_strbuf_addf(sb, "; %" PRIu64 " incomplete", s->incomplete);
	if (s->errors)
		rck_strbuf_addf(sb, "; %" PRIu64 " unreadable", s->errors);
}

static void print_counts(
	struct rck_inspect_text *t, const char *lead, const struct rck_summary *s)
{
	_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;
	bool bad = s->flagged || s->incomplete || s->errors;

	rck_strbuf_adds(&line, lead);
	add_counts(&line, s);
	if (s->selected || s->incomplete || s->errors)
		rck_strbuf_adds(t->out, paint(t, bad ? RED : GREEN));
	rck_term_wrap(t->out, line.buf, 0, INDENT, width_of(t));
	if (t->spec->color) {
		t->out->len--;
		rck_strbuf_adds(t->out, NORMAL "\n");
	}
}

static void print_remarks(struct rck_inspect_text *t)
{
	static const char *const words[] = {
		[RCK_ITEM_INCOMPLETE] = "incomplete",
		[RCK_ITEM_ERROR] = "unreadable",
		[RCK_ITEM_NOTE] = "note",
	};
	struct remark *next;

	for (struct remark *r = t->remarks; r; r = next) {
		_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;

		next = r->next;
		rck_strbuf_addf(&line, "%s: ", words[r->kind]);
		rck_strbuf_add_masked(&line, r->msg, strlen(r->msg));
		if (r->n > 1 || *r->where) {
			rck_strbuf_adds(&line, " (");
			rck_strbuf_add_masked(&line, r->where, strlen(r->where));
			if (r->n > 1)
				rck_strbuf_addf(&line, "%sand %" PRIu64 " more",
					*r->where ? " " : "", r->n - 1);
			rck_strbuf_addc(&line, ')');
		}
		rck_strbuf_pad(t->out, ' ', INDENT);
		rck_term_wrap(t->out, line.buf, INDENT, 2 * INDENT, width_of(t));
		free(r->msg);
		free(r->where);
		free(r);
	}
}

void rck_inspect_text_file_end(struct rck_inspect_text *t, const struct rck_summary *s)
{
	if (t->n_files > 1)
		rck_strbuf_addc(t->out, '\n');
	print_title(t, s);
	print_table(t);
	print_remarks(t);
	if (s->code_objects || s->errors || s->incomplete)
		print_counts(t, "  ", s);
	if (t->extracted)
		rck_strbuf_addf(
			t->out, "  %" PRIu64 " code objects written\n", t->extracted);
	rck_rows_free(t->rows);
	for (size_t i = 0; i < t->n_targets; i++)
		free(t->targets[i]);
	free(t->targets);
}

static const char *confidence_words(const struct cause_count *c)
{
	const char *only = NULL;

	for (int i = 0; i <= RCK_CONFIDENCE_HIGH; i++)
		if (c->by_confidence[i]) {
			if (only)
				return "mixed";
			only = rck_confidence_name((enum rck_confidence)i);
		}
	return only;
}

static void print_cause(struct rck_inspect_text *t, enum rck_cause cause)
{
	_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;
	const struct cause_count *c = &t->causes[cause];
	const char *remedy = rck_cause_remedy(cause);

	rck_strbuf_addf(t->out, "  %s%s%s", paint(t, BOLD), rck_cause_name(cause),
		paint(t, NORMAL));
	rck_strbuf_adds(&line, ": ");
	plural(&line, c->kernels, "kernel");
	if (t->n_files > 1) {
		rck_strbuf_adds(&line, " in ");
		if (c->files > 1)
			plural(&line, c->files, "file");
		else
			rck_strbuf_add_masked(
				&line, c->first_file, strlen(c->first_file));
	}
	rck_strbuf_addf(
		&line, ", confidence %s: %s", confidence_words(c), rck_cause_text(cause));
	rck_term_wrap(t->out, line.buf,
		(unsigned)(INDENT + strlen(rck_cause_name(cause))), 2 * INDENT,
		width_of(t));
	if (*remedy) {
		rck_strbuf_pad(t->out, ' ', 2 * INDENT);
		rck_term_wrap(t->out, remedy, 2 * INDENT, 2 * INDENT, width_of(t));
	}
}

void rck_inspect_text_finish(struct rck_inspect_text *t, const struct rck_summary *s)
{
	if (s->flagged) {
		rck_strbuf_addf(t->out, "\n%sWhy, and what to do%s\n", paint(t, BOLD),
			paint(t, NORMAL));
		for (size_t c = 0; c < RCK_CAUSE_COUNT_; c++)
			if (t->causes[c].kernels)
				print_cause(t, (enum rck_cause)c);
	}
	if (t->n_files > 1) {
		_cleanup_strbuf_ struct rck_strbuf lead = RCK_STRBUF_INIT;

		rck_strbuf_adds(&lead, "Total: ");
		plural(&lead, t->n_files, "file");
		rck_strbuf_adds(&lead, ", ");
		rck_strbuf_addc(t->out, '\n');
		print_counts(t, lead.buf, s);
	}
}
