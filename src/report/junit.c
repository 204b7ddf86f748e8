/*
 * JUnit XML as Jenkins and GitLab read it: a suite a file; in it a case for each finding,
 * and one for each rule that found nothing there, so that a dashboard sees both.
 */
#include "report/findings.h"
#include "util/utf8.h"

#include <string.h>

/* XML 1.0 allows no control characters, escaped or not, and advises against the C1 set.
 */
static void put_escaped(struct rck_strbuf *out, const char *s)
{
	size_t len = strlen(s);

	while (len) {
		uint32_t c;
		size_t n = rck_utf8_decode(s, len, &c);

		if (!n || (c < 0x20 && c != '\n' && c != '\t') ||
			(c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff)
			rck_strbuf_adds(out, "\xef\xbf\xbd");
		else if (c == '<')
			rck_strbuf_adds(out, "&lt;");
		else if (c == '>')
			rck_strbuf_adds(out, "&gt;");
		else if (c == '&')
			rck_strbuf_adds(out, "&amp;");
		else if (c == '"')
			rck_strbuf_adds(out, "&quot;");
		else
			rck_strbuf_add(out, s, n);
		n = n ? n : 1;
		s += n;
		len -= n;
	}
}

static void put_attribute(struct rck_strbuf *out, const char *name, const char *value)
{
	rck_strbuf_addf(out, " %s=\"", name);
	put_escaped(out, value);
	rck_strbuf_addc(out, '"');
}

/* What a case of a finding is: a failure, or something that was not decided. */
static bool fails(const struct rck_group *g)
{
	return g->counts;
}

static void put_case(
	struct rck_strbuf *out, const struct rck_groups *all, const struct rck_group *g)
{
	const struct rck_finding *f = g->first;
	_cleanup_strbuf_ struct rck_strbuf s = RCK_STRBUF_INIT;

	rck_strbuf_adds(out, "    <testcase");
	put_attribute(out, "classname", f->rule->id);
	put_attribute(out, "name", g->demangled ? g->demangled : rck_group_file(all, g));
	rck_strbuf_adds(out, ">\n      ");
	rck_group_sentence(all, g, &s);
	if (fails(g)) {
		rck_strbuf_adds(out, "<failure");
		put_attribute(out, "type", rck_severity_name(f->severity));
		put_attribute(out, "message", f->text);
		rck_strbuf_addc(out, '>');
		put_escaped(out, s.buf);
		if (g->path) {
			rck_strbuf_adds(out, "\nCall path: ");
			put_escaped(out, g->path);
		}
		rck_strbuf_adds(out, "\nWhat to do: ");
		put_escaped(out, rck_group_remedy(g));
		rck_strbuf_adds(out, "</failure>\n");
	} else {
		rck_strbuf_adds(out, "<skipped");
		put_attribute(out, "message", s.buf);
		rck_strbuf_adds(out, "/>\n");
	}
	rck_strbuf_adds(out, "    </testcase>\n");
}

struct suite {
	size_t file;
	size_t group, group_end, error, error_end; /* the file's own, of all */
	size_t cases, failures, skipped, errors;
	uint64_t silent; /* bit a rule that found nothing in the file */
};

/* The suite of the file behind the last one's: groups and errors are in the order of
 * files. */
static struct suite next_suite(
	const struct rck_groups *all, size_t file, const struct suite *last)
{
	const struct rck_lint *l = all->lint;
	struct suite s = {.file = file,
		.group = last->group_end,
		.group_end = last->group_end,
		.error = last->error_end,
		.error_end = last->error_end};

	for (size_t r = 0; r < RCK_RULE_COUNT_; r++)
		if (rck_rule_is_of(&rck_rules[r], l->opt.sources) &&
			l->opt.policy->severity[r] != RCK_SEVERITY_OFF)
			s.silent |= UINT64_C(1) << r;
	/* a compile line that cannot be read passes nothing */
	if (l->opt.sources && l->files[file].incomplete)
		s.silent = 0;
	for (; s.group_end < all->n && all->items[s.group_end].first->file == file;
		s.group_end++) {
		const struct rck_group *g = &all->items[s.group_end];

		s.silent &= ~(UINT64_C(1) << g->first->rule->number);
		s.cases++;
		s.failures += fails(g);
		s.skipped += !fails(g);
	}
	while (s.error_end < l->n_errors && l->errors[s.error_end].file == file)
		s.error_end++;
	s.errors = s.error_end - s.error;
	s.cases += s.errors + (size_t)__builtin_popcountll(s.silent);
	return s;
}

static void put_errors(
	struct rck_strbuf *out, const struct rck_lint *l, const struct suite *s)
{
	for (size_t i = s->error; i < s->error_end; i++) {
		const struct rck_lint_error *e = &l->errors[i];

		rck_strbuf_adds(out, "    <testcase classname=\"readable\"");
		put_attribute(
			out, "name", *e->where ? e->where : l->files[s->file].relative);
		rck_strbuf_adds(out, ">\n      <error");
		put_attribute(out, "message", e->diag.msg);
		rck_strbuf_adds(out, "/>\n    </testcase>\n");
	}
}

static void put_suite(
	struct rck_strbuf *out, const struct rck_groups *all, const struct suite *s)
{
	const struct rck_lint *l = all->lint;

	rck_strbuf_adds(out, "  <testsuite");
	put_attribute(out, "name", l->files[s->file].relative);
	rck_strbuf_addf(out,
		" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
		s->cases, s->failures, s->errors, s->skipped);
	for (size_t i = s->group; i < s->group_end; i++)
		put_case(out, all, &all->items[i]);
	put_errors(out, l, s);
	for (size_t r = 0; r < RCK_RULE_COUNT_; r++)
		if (s->silent >> r & 1)
			rck_strbuf_addf(out,
				"    <testcase classname=\"%s\" name=\"nothing "
				"found\"/>\n",
				rck_rules[r].id);
	rck_strbuf_adds(out, "  </testsuite>\n");
}

void rck_findings_junit(const struct rck_groups *g, const struct rck_report_options *o,
	struct rck_strbuf *out)
{
	struct suite suite = {0};

	rck_strbuf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			     "<testsuites name=\"rocmcheck\">\n");
	for (size_t i = 0; i < g->lint->n_files; i++) {
		suite = next_suite(g, i, &suite);
		put_suite(out, g, &suite);
	}
	rck_strbuf_adds(out, "</testsuites>\n");
}
