#include "report/kernel-table.h"
#include "container/container.h"
#include "report/color.h"
#include "report/shorten.h"
#include "util/table.h"
#include "util/term.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 2
/* The kernel column keeps at least this, and this part of the width, before further facts
 * get a column. */
#define LEAST_NAME 36

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

struct printer {
	const struct rck_kernel_table_spec *spec;
	struct rck_rows *rows;
	struct rck_strbuf *out;
	size_t n_targets;
	size_t n;                    /* rows that are printed */
	bool shown[RCK_FACT_COUNT_]; /* facts that have a column */
	bool targets;                /* these have one */
};

/* Marks the facts that columns names. */
static int choose_facts(const char *columns, bool *chosen, struct rck_diag *diag)
{
	const char *p = columns;

	while (p && *p) {
		size_t n = strcspn(p, ",");
		bool all = n == 3 && !memcmp(p, "all", 3), found = all;

		for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++) {
			const char *key = rck_fact_info(f)->key;

			if (all || (strlen(key) == n && !memcmp(key, p, n)))
				found = chosen[f] = true;
		}
		if (!found)
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"option '--columns': '%.*s' is no fact's key", (int)n, p);
		p += n + (p[n] == ',');
	}
	return 0;
}

int rck_kernel_table_check(
	const struct rck_kernel_table_spec *spec, struct rck_diag *diag)
{
	bool chosen[RCK_FACT_COUNT_];

	return choose_facts(spec->columns, chosen, diag);
}

static unsigned width_of(const struct printer *t)
{
	return t->spec->width ? t->spec->width : 1u << 20;
}

/* ---- cells */

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

static void target_cell(const struct rck_row *r, struct rck_strbuf *cell)
{
	if (r->kernels > 1)
		rck_strbuf_addu(cell, r->kernels);
	else
		rck_strbuf_add_masked(cell, r->target, strlen(r->target));
}

static const char *fact_color(
	const struct printer *t, const struct rck_row *r, enum rck_fact f)
{
	if (!t->spec->color)
		return "";
	for (size_t i = 0; i < N_FLAGS; i++) {
		if (by_priority[i] != f)
			continue;
		if (r->facts[f].yes)
			return RCK_RED;
		if (f == RCK_FACT_DYNAMIC_STACK && r->possible_stack)
			return RCK_YELLOW;
	}
	return "";
}

/* ---- columns */

static size_t fact_width(const struct printer *t, enum rck_fact f)
{
	size_t width = strlen(rck_fact_info(f)->title);

	for (size_t i = 0; i < t->n; i++) {
		_cleanup_strbuf_ struct rck_strbuf cell = RCK_STRBUF_INIT;
		size_t n;

		fact_cell(rck_rows_get(t->rows, i), f, &cell);
		n = rck_term_columns(cell.buf, cell.len);
		width = n > width ? n : width;
	}
	return width;
}

static bool is_known(const struct printer *t, enum rck_fact f)
{
	for (size_t i = 0; i < t->n; i++)
		if (rck_rows_get(t->rows, i)->facts[f].known)
			return true;
	return false;
}

/* Whether some row is not there once for each target; *width is what the column takes
 * that says in how many code objects it is. */
static bool targets_differ(const struct printer *t, size_t *width)
{
	bool differ = false;

	*width = strlen("objects");
	for (size_t i = 0; i < t->n; i++) {
		const struct rck_row *r = rck_rows_get(t->rows, i);
		_cleanup_strbuf_ struct rck_strbuf cell = RCK_STRBUF_INIT;

		target_cell(r, &cell);
		*width = cell.len > *width ? cell.len : *width;
		differ |= r->kernels != t->n_targets;
	}
	return differ;
}

static void fit_columns(struct printer *t)
{
	size_t width = width_of(t), used, n;
	size_t name = width * 2 / 5 > LEAST_NAME ? width * 2 / 5 : LEAST_NAME;

	t->targets = targets_differ(t, &n);
	used = INDENT + (t->targets ? n + 2 : 0);
	if (t->spec->columns) {
		struct rck_diag diag;

		choose_facts(t->spec->columns, t->shown, &diag);
		return;
	}
	if (t->spec->sort >= 0) {
		used += fact_width(t, (enum rck_fact)t->spec->sort) + 2;
		t->shown[t->spec->sort] = true;
	}
	for (size_t p = 0; p < N_PRIORITY; p++) {
		if (t->shown[by_priority[p]])
			continue;
		if (p >= N_FLAGS && !is_known(t, by_priority[p]))
			continue;
		n = fact_width(t, by_priority[p]) + 2;
		if (p >= N_FLAGS && used + n + name > width)
			break;
		used += n;
		t->shown[by_priority[p]] = true;
	}
}

/* ---- names */

/* The name as it is shown; with its parameters when another row differs in these alone.
 */
static char *row_name(const struct printer *t, const struct rck_row *r, bool full)
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

/* Names of the rows that are printed: free() each and the array. */
static char **row_names(const struct printer *t)
{
	size_t n = t->n;
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

/* ---- the whole */

static void add_cells(const struct printer *t, struct rck_table *table,
	const struct rck_row *r, const char *name)
{
	for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++) {
		_cleanup_strbuf_ struct rck_strbuf cell = RCK_STRBUF_INIT;
		const char *color = fact_color(t, r, f);

		if (!t->shown[f])
			continue;
		fact_cell(r, f, &cell);
		rck_table_cellf(
			table, "%s%s%s", color, cell.buf, *color ? RCK_NORMAL : "");
	}
	if (t->targets) {
		_cleanup_strbuf_ struct rck_strbuf cell = RCK_STRBUF_INIT;

		target_cell(r, &cell);
		rck_table_cell(table, cell.buf);
	}
	rck_table_cell(table, name);
}

static void add_row_args(struct printer *t, const struct rck_row *r)
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
static void print_with_args(struct printer *t, const struct rck_table *table)
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

static size_t make_columns(const struct printer *t, struct rck_column *columns)
{
	size_t n = 0;

	for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++)
		if (t->shown[f])
			columns[n++] = (struct rck_column){
				.title = rck_fact_info(f)->title,
				.right = rck_fact_info(f)->type == RCK_VALUE_NUMBER};
	if (t->targets)
		columns[n++] = (struct rck_column){
			.title = t->spec->group ? "objects" : "target",
			.right = t->spec->group};
	columns[n++] = (struct rck_column){
		.title = "kernel", .shrink = true, .least = 16, .cut = rck_shorten_fit};
	return n;
}

void rck_kernel_table_print(const struct rck_kernel_table_spec *spec,
	struct rck_rows *rows, size_t n_targets, struct rck_strbuf *out)
{
	struct rck_column columns[RCK_FACT_COUNT_ + 2] = {{0}};
	struct printer t = {spec, rows, out, n_targets, .n = rck_rows_count(rows)};
	size_t total = t.n;
	struct rck_table *table;
	char **names;

	if (!total)
		return;
	rck_rows_sort(rows, spec->sort);
	if (spec->limit && t.n > spec->limit)
		t.n = spec->limit;
	fit_columns(&t);
	table = rck_table_new(columns, make_columns(&t, columns));
	names = row_names(&t);
	for (size_t i = 0; i < t.n; i++) {
		add_cells(&t, table, rck_rows_get(rows, i), names[i]);
		free(names[i]);
	}
	free(names);
	print_with_args(&t, table);
	rck_table_free(table);
	if (t.n < total)
		rck_strbuf_addf(out, "  … and %zu more row%s ('--limit 0' shows all)\n",
			total - t.n, total - t.n > 1 ? "s" : "");
}
