#include "report/inspect-text.h"
#include "report/color.h"
#include "util/term.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 2
/* Different remarks that are told of a file; the rest is counted. */
#define MAX_REMARKS 20

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
	const struct rck_kernel_table_spec *spec;
	bool args;
	struct rck_strbuf *out;
	struct cause_count causes[RCK_CAUSE_COUNT_];
	uint64_t n_files, n_shown;

	/* of the current file */
	const char *path;
	struct rck_rows *rows;
	uint64_t n_objects; /* that are shown */
	unsigned versions;  /* bit a code object version */
	char **targets;
	size_t n_targets;
	struct remark *remarks, **last_remark;
	unsigned n_remarks;
	uint64_t more_remarks;
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

struct rck_inspect_text *rck_inspect_text_new(
	const struct rck_kernel_table_spec *spec, bool args, struct rck_strbuf *out)
{
	struct rck_inspect_text *t = rck_xcalloc(1, sizeof(*t));

	t->spec = spec;
	t->args = args;
	t->out = out;
	return t;
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
	t->rows = rck_rows_new(t->spec->group, t->args);
	t->n_objects = 0;
	t->versions = 0;
	t->targets = NULL;
	t->n_targets = 0;
	t->remarks = NULL;
	t->last_remark = &t->remarks;
	t->n_remarks = 0;
	t->more_remarks = 0;
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
	t->n_objects++;
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
	if (t->n_remarks == MAX_REMARKS) {
		t->more_remarks++;
		return;
	}
	t->n_remarks++;
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

/* ---- words */

static void plural(struct rck_strbuf *sb, uint64_t n, const char *what)
{
	rck_strbuf_addf(sb, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

/* "libx.so: 50 code objects (V6) for 10 targets: gfx803 ..." */
static void print_title(struct rck_inspect_text *t, const struct rck_summary *s)
{
	_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;
	size_t at;

	rck_strbuf_adds(t->out, paint(t, RCK_BOLD));
	at = t->out->len;
	rck_strbuf_add_masked(t->out, t->path, strlen(t->path));
	at = rck_term_columns(t->out->buf + at, t->out->len - at);
	rck_strbuf_adds(t->out, paint(t, RCK_NORMAL));
	rck_strbuf_adds(&line, ": ");
	if (t->n_objects && t->n_objects != s->code_objects)
		rck_strbuf_addf(&line, "%" PRIu64 " of ", t->n_objects);
	if (s->code_objects)
		plural(&line, s->code_objects, "code object");
	if (t->n_objects) {
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
	} else if (s->code_objects) {
		rck_strbuf_addf(
			&line, ", none of %" PRIu64 " kernels selected", s->kernels);
	} else {
		rck_strbuf_adds(&line, s->incomplete ? "no code object that can be read"
						     : "no device code");
	}
	rck_term_wrap(t->out, line.buf, (unsigned)at, INDENT, width_of(t));
}

static void add_count(
	struct rck_strbuf *sb, const char *lead, const char *what, uint64_t n)
{
	if (n)
		rck_strbuf_addf(sb, "%s%s %" PRIu64, lead, what, n);
}

/* "380 kernels of 38 names, 380 flagged: hostcall 380, heap 380, dynamic stack 380; cause
 * O0"; names 0: not counted. */
static void add_counts(struct rck_strbuf *sb, const struct rck_summary *s, uint64_t names)
{
	plural(sb, s->kernels, "kernel");
	if (s->selected != s->kernels)
		rck_strbuf_addf(sb, ", %" PRIu64 " selected", s->selected);
	if (names && names != s->selected) {
		rck_strbuf_adds(sb, " of ");
		plural(sb, names, "name");
	}
	if (s->selected && !s->flagged)
		rck_strbuf_adds(sb, ", none flagged");
	if (s->flagged) {
		size_t colon;

		rck_strbuf_addf(sb, ", %" PRIu64 " flagged", s->flagged);
		colon = sb->len;
		add_count(sb, ", ", "hostcall", s->hostcall);
		add_count(sb, ", ", "heap", s->heap);
		add_count(sb, ", ", "dynamic stack", s->dynamic_stack);
		sb->buf[colon] = ':';
	}
	add_count(sb, "; ", "dynamic stack possible", s->possible_dynamic_stack);
	for (size_t c = 0, n = 0; c < RCK_CAUSE_COUNT_; c++)
		if (s->causes[c])
			rck_strbuf_addf(sb, "%s%s", n++ ? ", " : "; cause ",
				rck_cause_name((enum rck_cause)c));
	if (s->incomplete)
		rck_strbuf_addf(sb, "; %" PRIu64 " incomplete", s->incomplete);
	if (s->errors)
		rck_strbuf_addf(sb, "; %" PRIu64 " unreadable", s->errors);
}

static void print_counts(struct rck_inspect_text *t, const char *lead,
	const struct rck_summary *s, uint64_t names)
{
	_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;
	bool bad = s->flagged || s->incomplete || s->errors;

	rck_strbuf_adds(&line, lead);
	add_counts(&line, s, names);
	if (s->selected || s->incomplete || s->errors)
		rck_strbuf_adds(t->out, paint(t, bad ? RCK_RED : RCK_GREEN));
	rck_term_wrap(t->out, line.buf, 0, INDENT, width_of(t));
	if (t->spec->color) {
		t->out->len--;
		rck_strbuf_adds(t->out, RCK_NORMAL "\n");
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
	if (t->more_remarks)
		rck_strbuf_addf(
			t->out, "  … and %" PRIu64 " more notes\n", t->more_remarks);
}

void rck_inspect_text_file_end(struct rck_inspect_text *t, const struct rck_summary *s)
{
	/* on stderr, and there is nothing else to say */
	bool told = s->errors && !s->code_objects && !s->incomplete && !t->remarks;

	if (!told) {
		rck_strbuf_adds(t->out, t->n_shown++ ? "\n" : "");
		print_title(t, s);
	}
	rck_kernel_table_print(t->spec, t->rows, t->n_targets, t->out);
	print_remarks(t);
	if (t->n_objects || s->incomplete)
		print_counts(t, "  ", s, t->spec->group ? rck_rows_count(t->rows) : 0);
	if (t->extracted)
		rck_strbuf_addf(t->out, "  %" PRIu64 " code object%s written\n",
			t->extracted, t->extracted == 1 ? "" : "s");
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

	rck_strbuf_addf(t->out, "  %s%s%s", paint(t, RCK_BOLD), rck_cause_name(cause),
		paint(t, RCK_NORMAL));
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
		rck_strbuf_addf(t->out, "\n%sWhy, and what to do%s\n", paint(t, RCK_BOLD),
			paint(t, RCK_NORMAL));
		for (size_t c = 0; c < RCK_CAUSE_COUNT_; c++)
			if (t->causes[c].kernels)
				print_cause(t, (enum rck_cause)c);
	}
	if (t->n_files > 1) {
		_cleanup_strbuf_ struct rck_strbuf lead = RCK_STRBUF_INIT;

		rck_strbuf_adds(&lead, "Total: ");
		plural(&lead, s->files, "file");
		rck_strbuf_adds(&lead, " with device code, ");
		rck_strbuf_adds(t->out, t->n_shown ? "\n" : "");
		print_counts(t, lead.buf, s, 0);
	}
}
