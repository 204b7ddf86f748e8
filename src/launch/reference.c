/*
 * The kernels' results in double precision, and how far an f32 evaluation in the kernels'
 * order of operations may be from them.
 *
 * Notation: u = 2^-24, gamma(n) = n u / (1 - n u): what n roundings in a row can do
 * (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., lemma 3.1). The
 * double reference itself is off by some n 2^-53, which the last factor of slack() covers
 * with the products of small terms.
 *
 * RMS norm, n = hidden: a thread adds ceil(n/256) squares, the tree 8 times; a square is
 * one rounding; division by n and the addition of eps are two more, all of positive
 * numbers: mean + eps is off by d = gamma(ceil(n/256) + 11). 1/sqrt halves that and is
 * itself good to one unit in the last place (2 u). Then three products or sums.
 *
 * GEMM: k products and their sum, alpha, beta's product and the last sum: gamma(k + 3) of
 * the sum of the absolute values.
 *
 * A bf16 result is rounded once more; the check asks whether it is what some f32 within
 * the bound rounds to, which is stricter than a bound widened by 2^-8.
 */
#include "launch/number.h"
#include "launch/problem.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>

#define U       0x1p-24
#define THREADS 256u
#define TREE    8u
#define TINY    0x1p-149 /* the smallest f32: what an underflow may lose */

static double gamma_n(double n)
{
	return n * U / (1.0 - n * U);
}

static double slack(double bound)
{
	return bound * 1.01;
}

/* ---- arrays ---- */

static struct rck_array *add_array(struct rck_problem *p, const char *name,
	enum rck_elem elem, size_t n, bool output)
{
	struct rck_array *a = &p->arrays[p->n_arrays++];

	*a = (struct rck_array){.name = name, .elem = elem, .n = n};
	a->initial = rck_xcalloc(n ? n : 1, rck_elem_size(elem));
	if (output) {
		a->expect = rck_xcalloc(n ? n : 1, 1);
		a->expected = rck_xcalloc(n ? n : 1, sizeof(double));
		a->bound = rck_xcalloc(n ? n : 1, sizeof(double));
		a->scale = rck_xcalloc(n ? n : 1, sizeof(double));
	}
	return a;
}

static void draw_array(struct rck_array *a, struct rck_draw *d, float low, float high)
{
	for (size_t i = 0; i < a->n; i++)
		rck_elem_store(a->elem, a->initial, i, rck_draw_f32(d, low, high));
}

/*
 * What stands in an output before the launch. A NaN shows what was not written and what
 * was read although it should not be; where NaNs are expected, a number does.
 */
static void poison(struct rck_array *a, const struct rck_case *c)
{
	const float v = c->input == RCK_INPUT_NAN_AND_INF ? -0x1.5p+40f : NAN;

	for (size_t i = 0; i < a->n; i++)
		rck_elem_store(a->elem, a->initial, i, v);
}

static void set_special(struct rck_array *a, const struct rck_case *c, size_t rows,
	size_t columns, size_t row_step, size_t column_step)
{
	if (c->input == RCK_INPUT_ZERO_ROWS) {
		for (size_t r = 0; r < rows; r += 2)
			for (size_t i = 0; i < columns; i++)
				rck_elem_store(a->elem, a->initial,
					r * row_step + i * column_step, 0.0f);
	} else if (c->input == RCK_INPUT_NAN_AND_INF && rows > 3) {
		rck_elem_store(
			a->elem, a->initial, row_step + columns / 2 * column_step, NAN);
		rck_elem_store(a->elem, a->initial,
			3 * row_step + columns / 3 * column_step, INFINITY);
	}
}

static void expect_within(
	struct rck_array *a, size_t i, double value, double bound, double scale)
{
	a->expect[i] = RCK_EXPECT_WITHIN;
	a->expected[i] = value;
	a->bound[i] = isfinite(value) ? slack(bound) + TINY : 0.0;
	a->scale[i] = isfinite(value) ? scale : 0.0;
}

static void arg_array(struct rck_problem *p, size_t i, int array)
{
	p->args[i] = (struct rck_problem_arg){.array = array};
}

static void arg_int(struct rck_problem *p, size_t i, int64_t v)
{
	p->args[i] = (struct rck_problem_arg){.array = -1, .bits = (uint64_t)v};
}

static void arg_f32(struct rck_problem *p, size_t i, float v)
{
	p->args[i] = (struct rck_problem_arg){.array = -1, .bits = rck_f32_bits(v)};
}

/* ---- RMS norm ---- */

#define EPS 1e-6f

enum { RMS_OUT, RMS_X, RMS_WEIGHT, RMS_RESIDUAL }; /* its arguments */

static double rms_roundings(uint32_t hidden)
{
	return hidden / THREADS + (hidden % THREADS != 0) + TREE + 3;
}

/* Of an f32 result, relative to it. */
static double rms_relative(uint32_t hidden)
{
	double d = gamma_n(rms_roundings(hidden));

	return d / 2 * (1 + 2 * d) + 2 * U + gamma_n(3);
}

static void rms_row(const struct rck_case *c, size_t row, struct rck_array *out,
	const struct rck_array *x, const struct rck_array *weight,
	struct rck_array *residual)
{
	const size_t hidden = c->shape.hidden, at = row * hidden;
	const double relative = rms_relative(c->shape.hidden);
	double *v = rck_xcalloc(hidden, sizeof(*v));
	double sum = 0.0, scale;

	for (size_t i = 0; i < hidden; i++) {
		float f = rck_elem_load(x->elem, x->initial, at + i);

		if (residual) {
			/* one sum in f32 and one rounding: no order to choose */
			f += rck_elem_load(residual->elem, residual->initial, at + i);
			if (residual->elem == RCK_ELEM_BF16)
				f = rck_bf16_value(rck_bf16_round(f));
			residual->expect[at + i] = RCK_EXPECT_BITS;
			residual->expected[at + i] = f;
		}
		v[i] = f;
		sum += v[i] * v[i];
	}
	scale = 1.0 / sqrt(sum / (double)hidden + (double)EPS);
	for (size_t i = 0; i < hidden; i++) {
		double w = rck_elem_load(weight->elem, weight->initial, i);
		double value = v[i] * scale * (c->gemma ? 1.0 + w : w);

		expect_within(out, at + i, value, fabs(value) * relative, fabs(value));
	}
	free(v);
}

static void solve_rms(struct rck_problem *p, const struct rck_case *c)
{
	struct rck_array *residual =
		c->residual ? &p->arrays[p->args[RMS_RESIDUAL].array] : NULL;

	for (size_t row = 0; row < c->shape.rows; row++)
		rms_row(c, row, &p->arrays[p->args[RMS_OUT].array],
			&p->arrays[p->args[RMS_X].array],
			&p->arrays[p->args[RMS_WEIGHT].array], residual);
}

static void make_rms(struct rck_problem *p, const struct rck_case *c, struct rck_draw *d)
{
	const struct rck_bundled *k = p->kernel;
	const size_t n = (size_t)c->shape.rows * c->shape.hidden;
	struct rck_array *out = add_array(p, "out", k->out, n, true);
	struct rck_array *x = c->in_place ? out : add_array(p, "x", k->in, n, false);
	struct rck_array *weight = add_array(p, "weight", k->in, c->shape.hidden, false);
	struct rck_array *residual =
		c->residual ? add_array(p, "residual", k->res, n, true) : NULL;

	poison(out, c);
	draw_array(x, d, -2.0f, 2.0f);
	set_special(x, c, c->shape.rows, c->shape.hidden, c->shape.hidden, 1);
	draw_array(weight, d, c->gemma ? -0.5f : -1.5f, c->gemma ? 0.5f : 1.5f);
	if (residual)
		draw_array(residual, d, -1.0f, 1.0f);
	arg_array(p, RMS_OUT, 0);
	arg_array(p, RMS_X, (int)(x - p->arrays));
	arg_array(p, RMS_WEIGHT, (int)(weight - p->arrays));
	if (residual)
		arg_array(p, RMS_RESIDUAL, (int)(residual - p->arrays));
	else
		arg_int(p, RMS_RESIDUAL, 0);
	arg_int(p, 4, c->shape.hidden);
	arg_f32(p, 5, EPS);
	arg_int(p, 6, c->gemma);
}

/* ---- GEMM ---- */

enum { GEMM_C, GEMM_A, GEMM_B }; /* its arguments, and the arrays */

/* A matrix of op(): rows x columns, element (r, c) at r * row_step + c * column_step. */
struct view {
	const struct rck_array *array;
	size_t rows, columns, row_step, column_step, length, stride;
};

static struct view view_of(
	size_t rows, size_t columns, bool transposed, const struct rck_case *c)
{
	size_t row_length = (transposed ? rows : columns) + c->padding;
	size_t lines = transposed ? columns : rows;
	struct view v = {.rows = rows,
		.columns = columns,
		.row_step = transposed ? 1 : row_length,
		.column_step = transposed ? row_length : 1,
		.length = row_length};

	v.stride = row_length * lines + c->stride_padding;
	return v;
}

static double view_at(const struct view *v, size_t batch, size_t r, size_t c)
{
	return rck_elem_load(v->array->elem, v->array->initial,
		batch * v->stride + r * v->row_step + c * v->column_step);
}

static void gemm_element(const struct rck_case *c, struct rck_array *out,
	const struct view *vc, const struct view *va, const struct view *vb, size_t batch,
	size_t row, size_t column)
{
	const size_t at = batch * vc->stride + row * vc->row_step + column;
	const double old = c->beta != 0.0f ? view_at(vc, batch, row, column) : 0.0;
	double sum = 0.0, absolute = 0.0, scale;

	for (size_t i = 0; i < va->columns; i++) {
		double product =
			view_at(va, batch, row, i) * view_at(vb, batch, i, column);

		sum += product;
		absolute += fabs(product);
	}
	scale = fabs((double)c->alpha) * absolute + fabs((double)c->beta * old);
	expect_within(out, at, (double)c->alpha * sum + (double)c->beta * old,
		scale * gamma_n((double)va->columns + 3), scale);
}

/* The views of C, A and B, by argument; of the arrays once they are there. */
static void gemm_views(
	const struct rck_problem *p, const struct rck_case *c, struct view v[3])
{
	const struct rck_bundled_shape *s = &c->shape;

	v[GEMM_C] = view_of(s->m, s->n, false, c);
	v[GEMM_A] = view_of(s->m, s->k, c->trans_a, c);
	v[GEMM_B] = view_of(s->k, s->n, c->trans_b, c);
	for (int i = 0; i < 3; i++)
		v[i].array = &p->arrays[i];
}

static void solve_gemm(struct rck_problem *p, const struct rck_case *c)
{
	const struct rck_bundled_shape *s = &c->shape;
	struct view v[3];

	gemm_views(p, c, v);
	for (size_t z = 0; z < s->batches; z++)
		for (size_t row = 0; row < s->m; row++)
			for (size_t column = 0; column < s->n; column++)
				gemm_element(c, &p->arrays[GEMM_C], &v[GEMM_C],
					&v[GEMM_A], &v[GEMM_B], z, row, column);
}

static void make_gemm(struct rck_problem *p, const struct rck_case *c, struct rck_draw *d)
{
	const struct rck_bundled_shape *s = &c->shape;
	struct view v[3];

	gemm_views(p, c, v);
	add_array(p, "c", p->kernel->out, v[GEMM_C].stride * s->batches, true);
	add_array(p, "a", p->kernel->in, v[GEMM_A].stride * s->batches, false);
	add_array(p, "b", p->kernel->in, v[GEMM_B].stride * s->batches, false);
	poison(&p->arrays[GEMM_C], c);
	if (c->beta != 0.0f)
		draw_array(&p->arrays[GEMM_C], d, -2.0f, 2.0f);
	draw_array(&p->arrays[GEMM_A], d, -1.0f, 1.0f);
	draw_array(&p->arrays[GEMM_B], d, -1.0f, 1.0f);
	set_special(&p->arrays[GEMM_A], c, s->m, s->k, v[GEMM_A].row_step,
		v[GEMM_A].column_step);

	for (int i = 0; i < 3; i++)
		arg_array(p, (size_t)i, i);
	arg_int(p, 3, s->m);
	arg_int(p, 4, s->n);
	arg_int(p, 5, s->k);
	arg_int(p, 6, (int64_t)v[GEMM_A].length);
	arg_int(p, 7, (int64_t)v[GEMM_B].length);
	arg_int(p, 8, (int64_t)v[GEMM_C].length);
	arg_f32(p, 9, c->alpha);
	arg_f32(p, 10, c->beta);
	arg_int(p, 11, c->trans_a);
	arg_int(p, 12, c->trans_b);
	arg_int(p, 13, (int64_t)v[GEMM_A].stride);
	arg_int(p, 14, (int64_t)v[GEMM_B].stride);
	arg_int(p, 15, (int64_t)v[GEMM_C].stride);
}

void rck_problem_make(struct rck_problem *p, const struct rck_bundled *k,
	const struct rck_case *c, uint64_t seed)
{
	struct rck_draw d = {seed};

	*p = (struct rck_problem){.kernel = k};
	rck_bundled_grid(k, &c->shape, p->grid);
	if (k->family == RCK_BUNDLED_RMSNORM)
		make_rms(p, c, &d);
	else
		make_gemm(p, c, &d);
	rck_problem_solve(p, c);
}

void rck_problem_solve(struct rck_problem *p, const struct rck_case *c)
{
	if (p->kernel->family == RCK_BUNDLED_RMSNORM)
		solve_rms(p, c);
	else
		solve_gemm(p, c);
}

void rck_problem_release(struct rck_problem *p)
{
	for (size_t i = 0; i < p->n_arrays; i++) {
		free(p->arrays[i].initial);
		free(p->arrays[i].expect);
		free(p->arrays[i].expected);
		free(p->arrays[i].bound);
		free(p->arrays[i].scale);
	}
	p->n_arrays = 0;
}

void rck_problem_explain(
	const struct rck_bundled *k, const struct rck_case *c, char *text, size_t size)
{
	const char *last = k->out == RCK_ELEM_BF16 ? ", then rounded to bf16" : "";

	if (k->family == RCK_BUNDLED_RMSNORM)
		snprintf(text, size, "gamma(%.0f)/2 + 2u + gamma(3)%s, of the result",
			rms_roundings(c->shape.hidden), last);
	else
		snprintf(text, size, "gamma(%u) of the sum of |a b|%s", c->shape.k + 3,
			last);
}
