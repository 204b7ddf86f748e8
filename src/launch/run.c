#include "container/container.h"
#include "launch/child.h"
#include "launch/launch.h"
#include "launch/number.h"
#include "util/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t count_of(const json_t *line, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(line, key));
}

/* null is a NaN: JSON has none. */
static double number_of(const json_t *line, const char *key)
{
	const json_t *v = json_object_get(line, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static const char *text_of(const json_t *line, const char *key)
{
	const char *s = json_string_value(json_object_get(line, key));

	return s ? s : "";
}

static void take_case(struct rck_launch *l, const json_t *line)
{
	const struct rck_bundled *k = rck_bundled_find(text_of(line, "kernel"));
	const json_t *ulp = json_object_get(line, "ulp");
	struct rck_launch_case *c;

	if (!k)
		return;
	l->cases = rck_xrealloc(l->cases, (l->n + 1) * sizeof(*l->cases));
	c = &l->cases[l->n++];
	*c = (struct rck_launch_case){
		.kernel = k,
		.name = rck_xstrdup(text_of(line, "case")),
		.bound = rck_xstrdup(text_of(line, "bound")),
		.outputs = count_of(line, "outputs"),
		.check =
			{
				.checked = count_of(line, "checked"),
				.bad = count_of(line, "bad"),
				.touched = count_of(line, "touched"),
				.max_rel = number_of(line, "max_rel"),
				.max_ratio = number_of(line, "max_ratio"),
				.bound_rel = number_of(line, "bound_rel"),
				.first_index = count_of(line, "first_index"),
				.first_got = number_of(line, "first_got"),
				.first_expected = number_of(line, "first_expected"),
				.first_bound = number_of(line, "first_bound"),
			},
		.rms_rel = number_of(line, "rms_rel"),
		.seconds = number_of(line, "seconds"),
		.seconds_q1 = number_of(line, "seconds_q1"),
		.seconds_q3 = number_of(line, "seconds_q3"),
	};
	for (size_t i = 0; i < RCK_ULP_BUCKETS; i++)
		c->check.ulp[i] = (uint64_t)json_integer_value(json_array_get(ulp, i));
}

static void add_size(struct rck_strv *v, const char *option, uint32_t size)
{
	rck_strv_addf(v, "--%s=%u", option, size);
}

int rck_launch_run(const struct rck_rocm *r, const struct rck_device *d,
	struct rck_launch *l, struct rck_diag *diag)
{
	struct rck_child c = {.rocm = r,
		.front = d->front,
		.soft_target = d->soft_target,
		.timeout = l->timeout};
	int err;

	rck_strv_addf(&c.options, "--code-object=%s", l->code_object);
	if (l->dump)
		rck_strv_addf(&c.options, "--dump=%s", l->dump);
	if (l->time)
		rck_strv_add(&c.options, "--time");
	rck_strv_addf(&c.options, "--seed=%llu", (unsigned long long)l->seed);
	add_size(&c.options, "rows", l->sizes.rows);
	add_size(&c.options, "hidden", l->sizes.hidden);
	add_size(&c.options, "m", l->sizes.m);
	add_size(&c.options, "n", l->sizes.n);
	add_size(&c.options, "k", l->sizes.k);
	l->cases = NULL;
	l->n = 0;
	err = rck_child_run(&c, diag);
	for (size_t i = 0; i < json_array_size(c.lines); i++) {
		const json_t *line = json_array_get(c.lines, i);

		if (!strcmp(text_of(line, "event"), "case"))
			take_case(l, line);
	}
	l->output = rck_xstrdup(c.text.buf);
	rck_child_release(&c);
	return err;
}

void rck_launch_release(struct rck_launch *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->cases[i].name);
		free(l->cases[i].bound);
	}
	free(l->cases);
	free(l->output);
	l->cases = NULL;
	l->output = NULL;
	l->n = 0;
}

/* The elements of one output array that differ between two dumps, read in step. */
static int compare_array(
	FILE *a, FILE *b, size_t elem_size, uint64_t n, uint64_t *different)
{
	uint8_t x[4], y[4];

	for (uint64_t i = 0; i < n; i++) {
		if (fread(x, elem_size, 1, a) != 1 || fread(y, elem_size, 1, b) != 1)
			return -EINVAL;
		*different += memcmp(x, y, elem_size) != 0;
	}
	return 0;
}

/* The output arrays of a case, in the order of the dump: out or c, then the residual. */
static int compare_case(const struct rck_launch_case *c, const struct rck_launch *l,
	FILE *a, FILE *b, struct rck_bit_difference *out)
{
	struct rck_case cases[RCK_CASES_MAX];
	size_t n = rck_cases(c->kernel, &l->sizes, cases);
	struct rck_problem p;
	int err = -EINVAL;

	*out = (struct rck_bit_difference){.a = c};
	for (size_t i = 0; i < n; i++) {
		if (strcmp(cases[i].name, c->name))
			continue;
		rck_problem_make(&p, c->kernel, &cases[i], 0);
		err = 0;
		for (size_t k = 0; k < p.n_arrays && !err; k++) {
			if (!p.arrays[k].expect)
				continue;
			out->outputs += p.arrays[k].n;
			err = compare_array(a, b, rck_elem_size(p.arrays[k].elem),
				p.arrays[k].n, &out->different);
		}
		rck_problem_release(&p);
	}
	return err;
}

int rck_launch_compare(const struct rck_launch *a, const struct rck_launch *b,
	struct rck_bit_difference *out, struct rck_diag *diag)
{
	_cleanup_fclose_ FILE *fa = a->dump ? fopen(a->dump, "re") : NULL;
	_cleanup_fclose_ FILE *fb = b->dump ? fopen(b->dump, "re") : NULL;

	if (!fa || !fb || a->n != b->n)
		return rck_fail(
			diag, -EINVAL, RCK_OFFSET_NONE, "the two runs are not alike");
	for (size_t i = 0; i < a->n; i++)
		if (a->cases[i].kernel != b->cases[i].kernel ||
			strcmp(a->cases[i].name, b->cases[i].name) ||
			compare_case(&a->cases[i], a, fa, fb, &out[i]))
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"the two runs are not alike");
	return 0;
}
