#include "kernels/table.h"
#include "report/build.h"
#include "report/color.h"
#include "util/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *rck_build_kernel_name(const struct rck_kernel *k)
{
	const struct rck_bundled *b = rck_bundled_find(rck_kernel_name(k));

	return b ? b->name : rck_kernel_demangled(k);
}

void rck_build_numbers(const struct rck_build_object *o, const struct rck_kernel *k,
	struct rck_build_numbers *out)
{
	const struct rck_bundled *b = rck_bundled_find(rck_kernel_name(k));

	*out = (struct rck_build_numbers){.seconds = NAN};
	for (size_t i = 0; b && i < o->launch.n; i++) {
		const struct rck_launch_case *c = &o->launch.cases[i];

		if (c->kernel != b)
			continue;
		out->n++;
		out->failed += c->check.bad || c->check.touched;
		out->max_rel = fmax(out->max_rel, c->check.max_rel);
		out->max_ratio = fmax(out->max_ratio, c->check.max_ratio);
		if (!strcmp(c->name, "plain"))
			out->seconds = c->seconds;
	}
}

static bool any(const struct rck_build *b, enum rck_build_launch launched)
{
	for (size_t i = 0; i < b->n_objects; i++)
		if (b->objects[i].launched == launched)
			return true;
	return false;
}

static bool any_time(const struct rck_build *b)
{
	for (size_t i = 0; i < b->n_objects; i++)
		for (size_t c = 0; c < b->objects[i].launch.n; c++)
			if (!isnan(b->objects[i].launch.cases[c].seconds))
				return true;
	return false;
}

static void add_flags(struct rck_strbuf *out, const struct rck_kernel *k, bool color)
{
	const struct {
		bool on;
		const char *text;
	} flags[] = {
		{k->declares_hostcall, "hostcall"},
		{k->declares_heap, "heap"},
		{k->dynamic_stack == RCK_YES, "dynstack"},
		{k->dynamic_stack == RCK_POSSIBLE, "dynstack?"},
	};
	const char *separator = "";

	if (color && rck_kernel_flagged(k))
		rck_strbuf_adds(out, RCK_YELLOW);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (!flags[i].on)
			continue;
		rck_strbuf_addf(out, "%s%s", separator, flags[i].text);
		separator = " ";
	}
	if (!*separator)
		rck_strbuf_adds(out, "-");
	if (color && rck_kernel_flagged(k))
		rck_strbuf_adds(out, RCK_NORMAL);
}

static void fact_cell(struct rck_table *t, const struct rck_kernel *k, enum rck_fact fact)
{
	struct rck_value v;

	if (rck_kernel_fact(k, fact, &v) || !v.known)
		rck_table_cell(t, "?");
	else
		rck_table_cellf(t, "%llu", (unsigned long long)v.number);
}

/* Spilled registers of both kinds; the metadata of some targets states neither. */
static void spills_cell(struct rck_table *t, const struct rck_kernel *k)
{
	struct rck_value s, v;

	rck_kernel_fact(k, RCK_FACT_SGPR_SPILLS, &s);
	rck_kernel_fact(k, RCK_FACT_VGPR_SPILLS, &v);
	if (s.known || v.known)
		rck_table_cellf(t, "%llu+%llu", (unsigned long long)s.number,
			(unsigned long long)v.number);
	else
		rck_table_cell(t, "?");
}

static void number_cells(struct rck_table *t, const struct rck_build_object *o,
	const struct rck_kernel *k, bool time, bool color)
{
	struct rck_build_numbers n;

	rck_build_numbers(o, k, &n);
	if (!n.n) {
		rck_table_cell(t, o->launched == RCK_BUILD_LAUNCH_DIED ? "none" : "-");
		rck_table_cell(t, "-");
	} else {
		rck_table_cellf(t, "%.2e", n.max_rel);
		if (n.failed)
			rck_table_cellf(t, "%s%zu of %zu wrong%s", color ? RCK_RED : "",
				n.failed, n.n, color ? RCK_NORMAL : "");
		else
			rck_table_cellf(t, "%.0f%%", n.max_ratio * 100);
	}
	if (time && isnan(n.seconds))
		rck_table_cell(t, "-");
	else if (time)
		rck_table_cellf(t, "%.1f us", n.seconds * 1e6);
}

static void kernel_row(struct rck_table *t, const struct rck_build_object *o,
	const struct rck_kernel *k, bool launched, bool time, bool color)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	const char *name = rck_build_kernel_name(k);

	rck_strbuf_add_masked(&text, name, strlen(name));
	rck_table_cell(t, text.buf);
	rck_table_cell(t, o->job.target);
	rck_table_cell(t, rck_level_name(o->job.level));
	rck_strbuf_reset(&text);
	add_flags(&text, k, color);
	rck_table_cell(t, text.buf);
	fact_cell(t, k, RCK_FACT_SCRATCH);
	spills_cell(t, k);
	fact_cell(t, k, RCK_FACT_SGPR_COUNT);
	fact_cell(t, k, RCK_FACT_VGPR_COUNT);
	fact_cell(t, k, RCK_FACT_CODE_SIZE);
	if (launched)
		number_cells(t, o, k, time, color);
}

/* One row a kernel and level, levels of a kernel together. */
static void add_table(
	const struct rck_build *b, struct rck_strbuf *out, unsigned width, bool color)
{
	static const struct rck_column columns[] = {
		{"KERNEL", false, true, 26},
		{"TARGET"},
		{"OPT"},
		{"FLAGS"},
		{"SCRATCH", true},
		{"SPILLS", true},
		{"SGPR", true},
		{"VGPR", true},
		{"CODE", true},
		{"ERROR", true},
		{"OF BOUND", true},
		{"TIME", true},
	};
	const bool launched = any(b, RCK_BUILD_LAUNCHED) || any(b, RCK_BUILD_LAUNCH_DIED);
	const bool time = launched && any_time(b);
	struct rck_table *t = rck_table_new(columns, launched ? time ? 12 : 11 : 9);

	for (size_t i = 0; i < b->n_objects;) {
		size_t end = i, most = 0;

		/* the levels of one source for one target stand together */
		while (end < b->n_objects &&
			b->objects[end].job.source == b->objects[i].job.source &&
			b->objects[end].job.target == b->objects[i].job.target) {
			const struct rck_code_object *co = b->objects[end].co;

			most = co && co->n_kernels > most ? co->n_kernels : most;
			end++;
		}
		for (size_t k = 0; k < most; k++)
			for (size_t o = i; o < end; o++)
				if (b->objects[o].co && k < b->objects[o].co->n_kernels)
					kernel_row(t, &b->objects[o],
						&b->objects[o].co->kernels[k], launched,
						time, color);
		i = end;
	}
	if (rck_table_rows(t)) {
		rck_strbuf_addc(out, '\n');
		rck_table_print(t, out, width, 0);
	}
	rck_table_free(t);
}

void rck_build_case_text(const struct rck_launch_case *c, struct rck_strbuf *out)
{
	const struct rck_check *k = &c->check;

	rck_strbuf_addf(out, "%s, %s: ", c->kernel->name, c->name);
	if (k->bad)
		rck_strbuf_addf(out,
			"%llu of %llu results are off by more than their bound; the "
			"first, "
			"[%llu], is %g where %g +- %.2g is right",
			(unsigned long long)k->bad, (unsigned long long)k->checked,
			(unsigned long long)k->first_index, k->first_got,
			k->first_expected, k->first_bound);
	if (k->touched)
		rck_strbuf_addf(out,
			"%s%llu elements or guard bytes beside the results were written "
			"to",
			k->bad ? "; " : "", (unsigned long long)k->touched);
}

static void add_wrong(const struct rck_build *b, struct rck_strbuf *out)
{
	for (size_t i = 0; i < b->n_objects; i++) {
		const struct rck_build_object *o = &b->objects[i];

		for (size_t c = 0; c < o->launch.n; c++) {
			const struct rck_launch_case *k = &o->launch.cases[c];

			if (!k->check.bad && !k->check.touched)
				continue;
			rck_strbuf_addf(out, "wrong: %s %s: ", o->job.target,
				rck_level_name(o->job.level));
			rck_build_case_text(k, out);
			rck_strbuf_addc(out, '\n');
		}
	}
}

/* "rms_norm<...>: residual: 3 of 81920", only those that differ. */
static void add_bits(const struct rck_build_bits *bits, struct rck_strbuf *out)
{
	const struct rck_build_object *a = bits->a, *b = bits->b;
	uint64_t different = 0, outputs = 0;

	rck_strbuf_addf(out, "%s %s against %s, %s: ", a->job.source,
		rck_level_name(a->job.level), rck_level_name(b->job.level),
		a->job.target);
	if (bits->err) {
		rck_strbuf_addf(out, "not compared: %s\n", bits->diag.msg);
		return;
	}
	for (size_t i = 0; i < a->launch.n; i++) {
		different += bits->cases[i].different;
		outputs += bits->cases[i].outputs;
	}
	if (!different) {
		rck_strbuf_addf(
			out, "bit-equal, %llu results\n", (unsigned long long)outputs);
		return;
	}
	rck_strbuf_addf(out, "%llu of %llu results differ\n",
		(unsigned long long)different, (unsigned long long)outputs);
	for (size_t i = 0; i < a->launch.n; i++)
		if (bits->cases[i].different)
			rck_strbuf_addf(out, "  %s, %s: %llu of %llu\n",
				bits->cases[i].a->kernel->name, bits->cases[i].a->name,
				(unsigned long long)bits->cases[i].different,
				(unsigned long long)bits->cases[i].outputs);
}

static void add_cases(const struct rck_build *b, struct rck_strbuf *out, unsigned width)
{
	static const struct rck_column columns[] = {
		{"KERNEL", false, true, 26},
		{"TARGET"},
		{"OPT"},
		{"CASE"},
		{"MAX", true},
		{"RMS", true},
		{"BOUND", true},
		{"ULP <=0.5", true},
		{"1", true},
		{"2", true},
		{"4", true},
		{"8", true},
		{"16", true},
		{"MORE", true},
		{"BOUND IN WORDS"},
	};
	struct rck_table *t = rck_table_new(columns, 15);

	for (size_t i = 0; i < b->n_objects; i++) {
		const struct rck_build_object *o = &b->objects[i];

		for (size_t c = 0; c < o->launch.n; c++) {
			const struct rck_launch_case *k = &o->launch.cases[c];

			rck_table_cell(t, k->kernel->name);
			rck_table_cell(t, o->job.target);
			rck_table_cell(t, rck_level_name(o->job.level));
			rck_table_cell(t, k->name);
			rck_table_cellf(t, "%.2e", k->check.max_rel);
			rck_table_cellf(t, "%.2e", k->rms_rel);
			rck_table_cellf(t, "%.2e", k->check.bound_rel);
			for (int u = 0; u < RCK_ULP_BUCKETS; u++)
				rck_table_cellf(
					t, "%llu", (unsigned long long)k->check.ulp[u]);
			rck_table_cell(t, k->bound);
		}
	}
	if (rck_table_rows(t)) {
		rck_strbuf_adds(out,
			"\nCases: errors and bounds are relative; u = 2^-24, "
			"gamma(n) = n u / (1 - n u)\n");
		rck_table_print(t, out, width, 0);
	}
	rck_table_free(t);
}

/* Each device once, in the order of the code objects. */
static void add_devices(const struct rck_build *b, struct rck_strbuf *out)
{
	for (size_t i = 0; i < b->n_objects; i++) {
		const struct rck_build_device *d = b->objects[i].device;
		bool said = false;

		for (size_t k = 0; k < i && d && !said; k++)
			said = b->objects[k].device &&
			       b->objects[k].device->device.name == d->device.name;
		if (!d || said || d->err)
			continue;
		rck_strbuf_addf(out, "%s: %s, %s, HIP %s (%s)\n",
			d->device.kind == RCK_DEVICE_SOFT ? "software device" : "GPU",
			d->device.target, d->device.name, d->device.hip_version_text,
			d->device.hip);
	}
}

void rck_build_text(const struct rck_build *b, bool cases, struct rck_strbuf *out,
	unsigned width, bool color)
{
	rck_strbuf_addf(out, "%s: %s (%s)\n", rck_compiler_name(b->compiler),
		rck_compiler_version(b->compiler), rck_compiler_path(b->compiler));
	for (size_t i = 0; i < b->n_objects; i++)
		if (b->objects[i].job.level == RCK_LEVEL_DEFAULT) {
			rck_strbuf_addf(out, "OPT default: %s\n",
				rck_compiler_default_level(b->compiler));
			break;
		}
	add_devices(b, out);
	add_table(b, out, width, color);
	if (b->n_bits)
		rck_strbuf_addc(out, '\n');
	add_wrong(b, out);
	for (size_t i = 0; i < b->n_bits; i++)
		add_bits(&b->bits[i], out);
	if (cases)
		add_cases(b, out, width);
}
