// rocSPARSE's routines on the device against plain loops on the host. Bounds are Higham's (Accuracy
// and Stability of Numerical Algorithms, 3.1): a sum of n products, in any order and with or without
// fma, is within gamma_n sum |a||x| of the exact one, gamma_n = n u / (1 - n u).
// rocsparse LIBRARY: TAP.
#include "check.h"

#include <rocsparse/rocsparse.h>

#include <algorithm>
#include <numeric>

static rocsparse_handle handle;
static rocsparse_mat_descr general;

typedef std::vector<rocsparse_int> ints;

static double gamma_of(double n, double u)
{
	return n * u / (1 - n * u);
}
static const double uf = 5.9604644775390625e-8, ud = 1.1102230246251565e-16;

// ------------------------------------------------------------------------------- matrices

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_word() // Marsaglia's xorshift64
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

template <class T> static T random_real() // in [-1, 1), never 0, all bits of a T used
{
	const int bits = sizeof(T) == 4 ? 24 : 53;
	int64_t v = (int64_t)(random_word() % (1ull << bits)) - (1ll << (bits - 1));

	return (T)ldexp((double)(v ? v : 1), 1 - bits);
}

template <class T> static std::vector<T> random_vector(size_t n)
{
	std::vector<T> v(n);

	for (auto &x : v)
		x = random_real<T>();
	return v;
}

template <class T> struct csr {
	rocsparse_int m, n;
	ints ptr, col;
	std::vector<T> val;

	rocsparse_int nnz() const
	{
		return (rocsparse_int)col.size();
	}
};

// Rows from empty to one that is nearly full, columns in order.
template <class T>
static csr<T> random_csr(rocsparse_int m, rocsparse_int n, int longest, bool diagonal = false)
{
	csr<T> a = {m, n, {0}, {}, {}};

	for (rocsparse_int i = 0; i < m; i++) {
		std::vector<bool> there((size_t)n);
		uint64_t count = random_word() % (uint64_t)(longest + 1);

		if (i == m / 2)
			count = (uint64_t)n * 2;
		while (count--)
			there[random_word() % (uint64_t)n] = true;
		if (diagonal)
			there[(size_t)i] = true;
		for (rocsparse_int j = 0; j < n; j++)
			if (there[(size_t)j]) {
				a.col.push_back(j);
				a.val.push_back((T)(diagonal && i == j ? n : 0) + random_real<T>());
			}
		a.ptr.push_back((rocsparse_int)a.col.size());
	}
	return a;
}

template <class T> struct device_csr {
	device<rocsparse_int> ptr, col;
	device<T> val;

	explicit device_csr(const csr<T> &a) : ptr(a.ptr), col(a.col), val(a.val)
	{
	}
};

// alpha A x + beta y and the bound of each element, A by rows.
template <class T>
static void multiply(const csr<T> &a, double alpha, const std::vector<T> &x, double beta,
	const std::vector<T> &y, double u, std::vector<double> *want, std::vector<double> *bound)
{
	for (rocsparse_int i = 0; i < a.m; i++) {
		long double s = 0, size = 0;

		for (rocsparse_int k = a.ptr[i]; k < a.ptr[i + 1]; k++) {
			long double p = (long double)a.val[k] * x[a.col[k]];
			s += p;
			size += fabsl(p);
		}
		want->push_back((double)(alpha * s + beta * y[i]));
		bound->push_back(gamma_of(a.ptr[i + 1] - a.ptr[i] + 4, u) *
				 (double)(fabs(alpha) * size + fabs(beta * y[i])));
	}
}

static const float alpha_f = 0.75f, beta_f = -1.5f;
static const double alpha_d = 0.75, beta_d = -1.5;
static const auto plain = rocsparse_operation_none;
static const auto zero_base = rocsparse_index_base_zero;

// ----------------------------------------------------------------------- vectors and rows

static bool test_vectors()
{
	const rocsparse_int n = 5000;
	std::vector<double> y = random_vector<double>(n), x = random_vector<double>(700);
	std::vector<double> sum = y, scattered = y, gathered(700), want{0}, bound{0};
	const double half = 0.5;
	ints index(n);

	std::iota(index.begin(), index.end(), 0);
	for (size_t i = index.size() - 1; i; i--)
		std::swap(index[i], index[random_word() % (i + 1)]);
	index.resize(700);
	for (size_t i = 0; i < x.size(); i++) {
		double p = x[i] * y[index[i]];
		sum[index[i]] = y[index[i]] + half * x[i]; // the product is exact
		scattered[index[i]] = x[i];
		gathered[i] = y[index[i]];
		want[0] += p;
		bound[0] += fabs(p);
	}
	bound[0] *= 2 * gamma_of(700, ud); // the reference is rounded as well
	device<rocsparse_int> di(index);
	device<double> dx(x), d1(y), d2(y), d3(y), dg(700);
	std::vector<double> dot(1);
	OK(LIB(rocsparse_daxpyi)(handle, 700, &half, dx, di, d1, zero_base));
	OK(LIB(rocsparse_dsctr)(handle, 700, dx, di, d2, zero_base));
	OK(LIB(rocsparse_dgthr)(handle, 700, d3, dg, di, zero_base));
	OK(LIB(rocsparse_ddoti)(handle, 700, dx, di, d3, dot.data(), zero_base));
	OK(HIP(hipDeviceSynchronize)());
	return same(d1.get(), sum) && same(d2.get(), scattered) && same(dg.get(), gathered) &&
	       within(dot, want, bound);
}

static bool test_csrmv(bool analysed)
{
	csr<float> a = random_csr<float>(1031, 977, 40);
	std::vector<float> x = random_vector<float>(977), y = random_vector<float>(1031);
	std::vector<double> want, bound;
	device_csr<float> d(a);
	device<float> dx(x), dy(y);
	rocsparse_mat_info info = nullptr;

	multiply(a, alpha_f, x, beta_f, y, uf, &want, &bound);
	if (analysed) {
		OK(LIB(rocsparse_create_mat_info)(&info));
		OK(LIB(rocsparse_scsrmv_analysis)(handle, plain, a.m, a.n, a.nnz(), general, d.val,
			d.ptr, d.col, info));
	}
	OK(LIB(rocsparse_scsrmv)(handle, plain, a.m, a.n, a.nnz(), &alpha_f, general, d.val, d.ptr,
		d.col, info, dx, &beta_f, dy));
	return within(dy.get(), want, bound);
}

static csr<double> transposed(const csr<double> &a)
{
	csr<double> t = {a.n, a.m, ints((size_t)a.n + 1), ints(a.col.size()),
		std::vector<double>(a.col.size())};

	for (rocsparse_int c : a.col)
		t.ptr[c + 1]++;
	std::partial_sum(t.ptr.begin(), t.ptr.end(), t.ptr.begin());
	ints at = t.ptr;
	for (rocsparse_int i = 0; i < a.m; i++)
		for (rocsparse_int k = a.ptr[i]; k < a.ptr[i + 1]; k++) {
			rocsparse_int to = at[a.col[k]]++;
			t.col[to] = i;
			t.val[to] = a.val[k];
		}
	return t;
}

static bool test_csrmv_transposed()
{
	csr<double> a = random_csr<double>(500, 611, 30), t = transposed(a);
	std::vector<double> x = random_vector<double>(500), y = random_vector<double>(611);
	std::vector<double> want, bound;
	device_csr<double> d(a);
	device<double> dx(x), dy(y);

	multiply(t, alpha_d, x, beta_d, y, ud, &want, &bound);
	OK(LIB(rocsparse_dcsrmv)(handle, rocsparse_operation_transpose, a.m, a.n, a.nnz(), &alpha_d,
		general, d.val, d.ptr, d.col, nullptr, dx, &beta_d, dy));
	return within(dy.get(), want, bound);
}

static ints rows_of(const ints &ptr)
{
	ints r;

	for (size_t i = 0; i + 1 < ptr.size(); i++)
		r.insert(r.end(), (size_t)(ptr[i + 1] - ptr[i]), (rocsparse_int)i);
	return r;
}

static bool test_coomv()
{
	csr<double> a = random_csr<double>(1031, 977, 40);
	std::vector<double> x = random_vector<double>(977), y = random_vector<double>(1031);
	std::vector<double> want, bound;
	device_csr<double> d(a);
	device<rocsparse_int> rows(rows_of(a.ptr));
	device<double> dx(x), dy(y);

	multiply(a, alpha_d, x, beta_d, y, ud, &want, &bound);
	OK(LIB(rocsparse_dcoomv)(handle, plain, a.m, a.n, a.nnz(), &alpha_d, general, d.val, rows,
		d.col, dx, &beta_d, dy));
	return within(dy.get(), want, bound);
}

static bool test_ellmv()
{
	csr<float> a = random_csr<float>(300, 100, 20);
	std::vector<float> x = random_vector<float>(100), y = random_vector<float>(300);
	std::vector<double> want, bound;
	device_csr<float> d(a);
	device<float> dx(x), dy(y);
	rocsparse_int width;

	multiply(a, alpha_f, x, beta_f, y, uf, &want, &bound);
	OK(LIB(rocsparse_csr2ell_width)(handle, a.m, general, d.ptr, general, &width));
	device<float> val((size_t)width * 300);
	device<rocsparse_int> col((size_t)width * 300);
	OK(LIB(rocsparse_scsr2ell)(handle, a.m, general, d.val, d.ptr, d.col, general, width, val,
		col));
	OK(LIB(rocsparse_sellmv)(handle, plain, a.m, a.n, &alpha_f, general, val, col, width, dx,
		&beta_f, dy));
	return within(dy.get(), want, bound);
}

static bool test_bsrmv()
{
	const rocsparse_int block = 3, m = 303, n = 201;
	csr<float> a = random_csr<float>(m, n, 12);
	std::vector<float> x = random_vector<float>(n), y = random_vector<float>(m);
	std::vector<double> want, bound;
	device_csr<float> d(a);
	device<float> dx(x), dy(y);
	device<rocsparse_int> ptr(m / block + 1);
	rocsparse_int blocks;

	multiply(a, alpha_f, x, beta_f, y, uf, &want, &bound);
	OK(LIB(rocsparse_csr2bsr_nnz)(handle, rocsparse_direction_row, m, n, general, d.ptr, d.col,
		block, general, ptr, &blocks));
	device<rocsparse_int> col((size_t)blocks);
	device<float> val((size_t)blocks * block * block);
	OK(LIB(rocsparse_scsr2bsr)(handle, rocsparse_direction_row, m, n, general, d.val, d.ptr,
		d.col, block, general, val, ptr, col));
	OK(LIB(rocsparse_sbsrmv)(handle, rocsparse_direction_row, plain, m / block, n / block,
		blocks, &alpha_f, general, val, ptr, col, block, dx, &beta_f, dy));
	return within(dy.get(), want, bound);
}

// The generic interface, by rows and by coordinates.
static bool test_spmv(bool coordinates)
{
	csr<double> a = random_csr<double>(700, 800, 30);
	std::vector<double> x = random_vector<double>(800), y = random_vector<double>(700);
	std::vector<double> want, bound;
	device_csr<double> d(a);
	device<rocsparse_int> rows(rows_of(a.ptr));
	device<double> dx(x), dy(y);
	rocsparse_spmat_descr mat;
	rocsparse_dnvec_descr vx, vy;
	size_t size;

	multiply(a, alpha_d, x, beta_d, y, ud, &want, &bound);
	if (coordinates)
		OK(LIB(rocsparse_create_coo_descr)(&mat, a.m, a.n, a.nnz(), (void *)rows.p,
			(void *)d.col.p, (void *)d.val.p, rocsparse_indextype_i32, zero_base,
			rocsparse_datatype_f64_r));
	else
		OK(LIB(rocsparse_create_csr_descr)(&mat, a.m, a.n, a.nnz(), (void *)d.ptr.p,
			(void *)d.col.p, (void *)d.val.p, rocsparse_indextype_i32,
			rocsparse_indextype_i32, zero_base, rocsparse_datatype_f64_r));
	OK(LIB(rocsparse_create_dnvec_descr)(&vx, 800, dx.p, rocsparse_datatype_f64_r));
	OK(LIB(rocsparse_create_dnvec_descr)(&vy, 700, dy.p, rocsparse_datatype_f64_r));
	OK(LIB(rocsparse_spmv)(handle, plain, &alpha_d, mat, vx, &beta_d, vy,
		rocsparse_datatype_f64_r, rocsparse_spmv_alg_default, &size, nullptr));
	device<char> work(size);
	OK(LIB(rocsparse_spmv)(handle, plain, &alpha_d, mat, vx, &beta_d, vy,
		rocsparse_datatype_f64_r, rocsparse_spmv_alg_default, &size, work));
	return within(dy.get(), want, bound);
}

static bool test_csrmm()
{
	const rocsparse_int columns = 37;
	csr<float> a = random_csr<float>(310, 250, 25);
	std::vector<float> b = random_vector<float>((size_t)250 * columns);
	std::vector<float> c = random_vector<float>((size_t)310 * columns);
	std::vector<double> want, bound;
	device_csr<float> d(a);
	device<float> db(b), dc(c);

	for (rocsparse_int j = 0; j < columns; j++)
		multiply(a, alpha_f, {b.begin() + 250 * j, b.begin() + 250 * (j + 1)}, beta_f,
			{c.begin() + 310 * j, c.begin() + 310 * (j + 1)}, uf, &want, &bound);
	OK(LIB(rocsparse_scsrmm)(handle, plain, plain, a.m, columns, a.n, a.nnz(), &alpha_f, general,
		d.val, d.ptr, d.col, db, 250, &beta_f, dc, 310));
	return within(dc.get(), want, bound);
}

// ---------------------------------------------------------------------- solvers, by residual

// The lower triangle of a: rows wait for others' results. |alpha x - L y| <= gamma |L||y|.
static bool test_csrsv()
{
	csr<double> a = random_csr<double>(400, 400, 20, true);
	std::vector<double> x = random_vector<double>(400), zero(400), bound, left;
	device_csr<double> d(a);
	device<double> dx(x), dy(400);
	rocsparse_mat_descr lower;
	rocsparse_mat_info info;
	size_t size;

	OK(LIB(rocsparse_create_mat_descr)(&lower));
	OK(LIB(rocsparse_set_mat_fill_mode)(lower, rocsparse_fill_mode_lower));
	OK(LIB(rocsparse_create_mat_info)(&info));
	OK(LIB(rocsparse_dcsrsv_buffer_size)(handle, plain, a.m, a.nnz(), lower, d.val, d.ptr, d.col,
		info, &size));
	device<char> work(size);
	OK(LIB(rocsparse_dcsrsv_analysis)(handle, plain, a.m, a.nnz(), lower, d.val, d.ptr, d.col,
		info, rocsparse_analysis_policy_force, rocsparse_solve_policy_auto, work));
	OK(LIB(rocsparse_dcsrsv_solve)(handle, plain, a.m, a.nnz(), &alpha_d, lower, d.val, d.ptr,
		d.col, info, dx, dy, rocsparse_solve_policy_auto, work));
	std::vector<double> y = dy.get();
	for (rocsparse_int i = 0; i < a.m; i++) {
		long double r = alpha_d * x[i], size_of = fabs(alpha_d * x[i]);
		for (rocsparse_int k = a.ptr[i]; k < a.ptr[i + 1] && a.col[k] <= i; k++) {
			long double p = (long double)a.val[k] * y[a.col[k]];
			r -= p;
			size_of += fabsl(p);
		}
		left.push_back((double)r);
		bound.push_back(gamma_of(a.ptr[i + 1] - a.ptr[i] + 4, ud) * (double)size_of);
	}
	return within(left, zero, bound);
}

// L U = A where A has elements: |A - L U| <= gamma |L||U|, element by element.
static bool test_csrilu0()
{
	csr<double> a = random_csr<double>(200, 200, 8, true), f = a;
	std::vector<double> want, bound, product;
	device_csr<double> d(a);
	rocsparse_mat_info info;
	rocsparse_int pivot;
	size_t size;

	OK(LIB(rocsparse_create_mat_info)(&info));
	OK(LIB(rocsparse_dcsrilu0_buffer_size)(handle, a.m, a.nnz(), general, d.val, d.ptr, d.col,
		info, &size));
	device<char> work(size);
	OK(LIB(rocsparse_dcsrilu0_analysis)(handle, a.m, a.nnz(), general, d.val, d.ptr, d.col, info,
		rocsparse_analysis_policy_force, rocsparse_solve_policy_auto, work));
	OK(LIB(rocsparse_dcsrilu0)(handle, a.m, a.nnz(), general, d.val, d.ptr, d.col, info,
		rocsparse_solve_policy_auto, work));
	OK(LIB(rocsparse_csrilu0_zero_pivot)(handle, info, &pivot));
	f.val = d.val.get();
	for (rocsparse_int i = 0; i < a.m; i++)
		for (rocsparse_int k = a.ptr[i]; k < a.ptr[i + 1]; k++) {
			rocsparse_int j = a.col[k], last = std::min(i, j);
			long double s = i <= j ? f.val[k] : 0, size_of = fabs(s); // U[i][j], L's 1
			for (rocsparse_int p = a.ptr[i]; p < a.ptr[i + 1] && a.col[p] <= last; p++) {
				rocsparse_int c = a.col[p];
				if (c == i)
					continue;
				auto from = a.col.begin() + a.ptr[c], to = a.col.begin() + a.ptr[c + 1];
				auto u = std::lower_bound(from, to, j);
				if (u == to || *u != j || c > j)
					continue;
				long double t = (long double)f.val[p] * f.val[u - a.col.begin()];
				s += t;
				size_of += fabsl(t);
			}
			product.push_back((double)s);
			want.push_back(a.val[k]);
			bound.push_back(gamma_of(200, ud) * (double)size_of);
		}
	return pivot == -1 && within(product, want, bound);
}

// Diagonally dominant tridiagonal systems, by reductions of log2 m levels; each of them leaves a
// backward error of a few u, so |b - A x| <= 16 log2(m) u (|A||x| + |b|).
template <class T, class Size, class Solve>
static bool tridiagonal(double u, Size buffer_size, Solve solve)
{
	const rocsparse_int m = 517, n = 5;
	std::vector<T> l = random_vector<T>(m), c = random_vector<T>(m), r = random_vector<T>(m);
	std::vector<T> b = random_vector<T>((size_t)m * n);
	std::vector<double> left, zero((size_t)m * n), bound;
	size_t size;

	l[0] = r[m - 1] = 0;
	for (auto &v : c)
		v += v > 0 ? 3 : -3;
	device<T> dl(l), dc(c), dr(r), db(b);
	OK(buffer_size(handle, m, n, dl, dc, dr, db, m, &size));
	device<char> work(size);
	OK(solve(handle, m, n, dl, dc, dr, db, m, work));
	std::vector<T> x = db.get();
	for (rocsparse_int k = 0; k < n * m; k++) {
		rocsparse_int i = k % m;
		long double p[3] = {i ? (long double)l[i] * x[k - 1] : 0, (long double)c[i] * x[k],
			i + 1 < m ? (long double)r[i] * x[k + 1] : 0};
		left.push_back((double)(b[k] - p[0] - p[1] - p[2]));
		bound.push_back(16 * log2(m) * u *
				(double)(fabsl(p[0]) + fabsl(p[1]) + fabsl(p[2]) + fabs(b[k])));
	}
	return within(left, zero, bound);
}

// ------------------------------------------------------------------------------ conversions

static bool test_csr2coo()
{
	csr<float> a = random_csr<float>(1031, 977, 10);
	device<rocsparse_int> ptr(a.ptr), rows(a.col.size()), again(a.ptr.size());

	OK(LIB(rocsparse_csr2coo)(handle, ptr, a.nnz(), a.m, rows, zero_base));
	OK(LIB(rocsparse_coo2csr)(handle, rows, a.nnz(), a.m, again, zero_base));
	return same(rows.get(), rows_of(a.ptr)) && same(again.get(), a.ptr);
}

static bool test_csr2csc()
{
	csr<double> a = random_csr<double>(600, 500, 25), t = transposed(a);
	device_csr<double> d(a);
	device<double> val(a.val.size());
	device<rocsparse_int> rows(a.col.size()), ptr(501);
	size_t size;

	OK(LIB(rocsparse_csr2csc_buffer_size)(handle, a.m, a.n, a.nnz(), d.ptr, d.col,
		rocsparse_action_numeric, &size));
	device<char> work(size);
	OK(LIB(rocsparse_dcsr2csc)(handle, a.m, a.n, a.nnz(), d.val, d.ptr, d.col, val, rows, ptr,
		rocsparse_action_numeric, zero_base, work));
	return same(ptr.get(), t.ptr) && same(rows.get(), t.col) && same(val.get(), t.val);
}

static bool test_csrsort()
{
	csr<float> a = random_csr<float>(300, 5000, 60);
	ints shuffled = a.col, want_perm(a.col.size());
	size_t size;

	for (rocsparse_int i = 0; i < a.m; i++) {
		for (rocsparse_int k = a.ptr[i + 1] - 1; k > a.ptr[i]; k--)
			std::swap(shuffled[k],
				shuffled[a.ptr[i] + (rocsparse_int)(random_word() %
							    (uint64_t)(k - a.ptr[i] + 1))]);
		std::iota(want_perm.begin() + a.ptr[i], want_perm.begin() + a.ptr[i + 1], a.ptr[i]);
		std::sort(want_perm.begin() + a.ptr[i], want_perm.begin() + a.ptr[i + 1],
			[&](int p, int q) { return shuffled[p] < shuffled[q]; });
	}
	device<rocsparse_int> ptr(a.ptr), col(shuffled), perm(a.col.size());
	OK(LIB(rocsparse_create_identity_permutation)(handle, a.nnz(), perm));
	OK(LIB(rocsparse_csrsort_buffer_size)(handle, a.m, a.n, a.nnz(), ptr, col, &size));
	device<char> work(size);
	OK(LIB(rocsparse_csrsort)(handle, a.m, a.n, a.nnz(), general, ptr, col, perm, work));
	return same(col.get(), a.col) && same(perm.get(), want_perm);
}

static bool test_coosort()
{
	csr<float> a = random_csr<float>(2000, 900, 12);
	ints rows = rows_of(a.ptr), order(rows.size()), r, c;
	size_t size;

	std::iota(order.begin(), order.end(), 0);
	for (size_t i = order.size() - 1; i; i--)
		std::swap(order[i], order[random_word() % (i + 1)]);
	for (rocsparse_int i : order) {
		r.push_back(rows[i]);
		c.push_back(a.col[i]);
	}
	device<rocsparse_int> dr(r), dc(c), perm(r.size());
	OK(LIB(rocsparse_create_identity_permutation)(handle, a.nnz(), perm));
	OK(LIB(rocsparse_coosort_buffer_size)(handle, a.m, a.n, a.nnz(), dr, dc, &size));
	device<char> work(size);
	OK(LIB(rocsparse_coosort_by_row)(handle, a.m, a.n, a.nnz(), dr, dc, perm, work));
	ints p = perm.get(), back(p.size());
	for (size_t i = 0; i < p.size(); i++)
		back[i] = p[i] >= 0 && (size_t)p[i] < order.size() ? order[p[i]] : -1;
	std::iota(order.begin(), order.end(), 0);
	return same(dr.get(), rows) && same(dc.get(), a.col) && same(back, order);
}

static bool test_dense2csr()
{
	csr<float> a = random_csr<float>(150, 130, 20);
	std::vector<float> dense((size_t)150 * 130);
	ints rows = rows_of(a.ptr), counts;
	rocsparse_int total;

	for (size_t k = 0; k < rows.size(); k++)
		dense[(size_t)a.col[k] * 150 + rows[k]] = a.val[k];
	for (rocsparse_int i = 0; i < a.m; i++)
		counts.push_back(a.ptr[i + 1] - a.ptr[i]);
	device<float> d(dense), val(a.val.size());
	device<rocsparse_int> n(150), ptr(151), col(a.col.size());
	OK(LIB(rocsparse_snnz)(handle, rocsparse_direction_row, a.m, a.n, general, d, 150, n, &total));
	if (total != a.nnz() || !same(n.get(), counts))
		return false;
	OK(LIB(rocsparse_sdense2csr)(handle, a.m, a.n, general, d, 150, n, val, ptr, col));
	return same(ptr.get(), a.ptr) && same(col.get(), a.col) && same(val.get(), a.val);
}

// ------------------------------------------------------------------- a product of two of them

static bool test_csrgemm()
{
	csr<double> a = random_csr<double>(210, 190, 12), b = random_csr<double>(190, 230, 9);
	csr<double> c = {210, 230, {0}, {}, {}};
	std::vector<double> bound;
	device_csr<double> da(a), db(b);
	device<rocsparse_int> ptr(211);
	rocsparse_mat_info info;
	rocsparse_int nnz;
	size_t size;

	for (rocsparse_int i = 0; i < a.m; i++) {
		std::vector<long double> s(230), t(230);
		for (rocsparse_int k = a.ptr[i]; k < a.ptr[i + 1]; k++)
			for (rocsparse_int q = b.ptr[a.col[k]]; q < b.ptr[a.col[k] + 1]; q++) {
				long double p = (long double)a.val[k] * b.val[q];
				s[b.col[q]] += p;
				t[b.col[q]] += fabsl(p);
			}
		for (rocsparse_int j = 0; j < c.n; j++)
			if (t[j] > 0) {
				c.col.push_back(j);
				c.val.push_back((double)(alpha_d * s[j]));
				bound.push_back(gamma_of(a.ptr[i + 1] - a.ptr[i] + 4, ud) *
						(double)t[j]);
			}
		c.ptr.push_back(c.nnz());
	}
	OK(LIB(rocsparse_create_mat_info)(&info));
	OK(LIB(rocsparse_dcsrgemm_buffer_size)(handle, plain, plain, a.m, b.n, a.n, &alpha_d, general,
		a.nnz(), da.ptr, da.col, general, b.nnz(), db.ptr, db.col, nullptr, nullptr, 0,
		nullptr, nullptr, info, &size));
	device<char> work(size);
	OK(LIB(rocsparse_csrgemm_nnz)(handle, plain, plain, a.m, b.n, a.n, general, a.nnz(), da.ptr,
		da.col, general, b.nnz(), db.ptr, db.col, nullptr, 0, nullptr, nullptr, general, ptr,
		&nnz, info, work));
	if (nnz != c.nnz() || !same(ptr.get(), c.ptr))
		return false;
	device<rocsparse_int> col((size_t)nnz);
	device<double> val((size_t)nnz);
	OK(LIB(rocsparse_dcsrgemm)(handle, plain, plain, a.m, b.n, a.n, &alpha_d, general, a.nnz(),
		da.val, da.ptr, da.col, general, b.nnz(), db.val, db.ptr, db.col, nullptr, nullptr, 0,
		nullptr, nullptr, nullptr, general, val, ptr, col, info, work));
	return same(col.get(), c.col) && within(val.get(), c.val, bound);
}

int main(int argc, char **argv)
{
	int version = 0;

	open_libraries(argc > 1 ? argv[1] : "librocsparse.so.0");
	if (LIB(rocsparse_create_handle)(&handle) || LIB(rocsparse_create_mat_descr)(&general))
		give_up("rocSPARSE", "cannot be started");
	(void)LIB(rocsparse_get_version)(handle, &version);
	printf("# rocSPARSE %d\n", version);
	test("axpyi, sctr, gthr, doti", test_vectors);
	test("csrmv", [] { return test_csrmv(false); });
	test("csrmv after its analysis", [] { return test_csrmv(true); });
	test("csrmv, transposed", test_csrmv_transposed);
	test("coomv", test_coomv);
	test("ellmv, csr2ell", test_ellmv);
	test("bsrmv, csr2bsr", test_bsrmv);
	test("spmv by rows", [] { return test_spmv(false); });
	test("spmv by coordinates", [] { return test_spmv(true); });
	test("csrmm", test_csrmm);
	test("csrsv", test_csrsv);
	test("csrilu0", test_csrilu0);
	test("gtsv in floats", [] {
		return tridiagonal<float>(
			uf, LIB(rocsparse_sgtsv_buffer_size), LIB(rocsparse_sgtsv));
	});
	test("gtsv in doubles", [] {
		return tridiagonal<double>(
			ud, LIB(rocsparse_dgtsv_buffer_size), LIB(rocsparse_dgtsv));
	});
	test("gtsv without pivots", [] {
		return tridiagonal<double>(ud, LIB(rocsparse_dgtsv_no_pivot_buffer_size),
			LIB(rocsparse_dgtsv_no_pivot));
	});
	test("csr2coo, coo2csr", test_csr2coo);
	test("csr2csc", test_csr2csc);
	test("csrsort", test_csrsort);
	test("coosort", test_coosort);
	test("nnz, dense2csr", test_dense2csr);
	test("csrgemm", test_csrgemm);
	return finish();
}
