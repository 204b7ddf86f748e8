// rocRAND's generators on the device against the published algorithms, computed here anew:
// Philox4x32-10 (Salmon et al., SC11), XORWOW (Marsaglia 2003), MRG32k3a (L'Ecuyer 1999), MTGP32
// (Saito and Matsumoto 2013), Sobol' sequences (Joe and Kuo's direction numbers,
// new-joe-kuo-6.21201). How a seed becomes a state, how numbers are dealt to generators, and how
// bits become a float are rocRAND's own, by its documentation and public headers (5.3).
// rocrand LIBRARY: TAP.
#include "check.h"

#include <rocrand/rocrand.h>
#include <rocrand/rocrand_mtgp32_11213.h>

#include <cstring>

typedef std::vector<unsigned> words;
static const unsigned long long seed = 0x123456789abcdefull;
// rocRAND's own multiplication of seed and constant modulo m1 is exact below 2^47 only
static const unsigned long long mrg_seed = 0x89abcdef;

// --------------------------------------------------------------------------- the algorithms

struct philox {
	unsigned key[2];

	void block(uint64_t index, unsigned out[4]) const
	{
		unsigned c[4] = {(unsigned)index, (unsigned)(index >> 32), 0, 0};
		unsigned k[2] = {key[0], key[1]};

		for (int round = 0; round < 10; round++) {
			uint64_t a = (uint64_t)0xD2511F53 * c[0], b = (uint64_t)0xCD9E8D57 * c[2];
			unsigned next[4] = {(unsigned)(b >> 32) ^ c[1] ^ k[0], (unsigned)b,
				(unsigned)(a >> 32) ^ c[3] ^ k[1], (unsigned)a};
			memcpy(c, next, sizeof c);
			k[0] += 0x9E3779B9;
			k[1] += 0xBB67AE85;
		}
		memcpy(out, c, sizeof c);
	}
};

struct xorwow {
	unsigned x[5], d;

	explicit xorwow(unsigned long long s)
	{
		unsigned t0 = 1228688033u * ((unsigned)s ^ 0x2c7f967f);
		unsigned t1 = 2073658381u * ((unsigned)(s >> 32) ^ 0xa03697cb);

		x[0] = 123456789 + t0;
		x[1] = 362436069 ^ t0;
		x[2] = 521288629 + t1;
		x[3] = 88675123 ^ t1;
		x[4] = 5783321 + t0;
		d = 6615241 + t0 + t1;
	}
	void step()
	{
		unsigned t = x[0] ^ x[0] >> 2;

		memmove(x, x + 1, 16);
		x[4] = x[4] ^ x[4] << 4 ^ t ^ t << 1;
	}
	unsigned next()
	{
		step();
		d += 362437;
		return x[4] + d;
	}
};

// A linear map of 160 bits, by the images of the single bits.
struct xorwow_map {
	unsigned column[160][5];

	void apply(unsigned x[5]) const
	{
		unsigned r[5] = {0};

		for (int i = 0; i < 160; i++)
			if (x[i / 32] >> i % 32 & 1)
				for (int k = 0; k < 5; k++)
					r[k] ^= column[i][k];
		memcpy(x, r, sizeof r);
	}
	// 2^power steps. The Weyl counter comes round after 2^32, so it does not move.
	explicit xorwow_map(int power)
	{
		for (int i = 0; i < 160; i++) {
			xorwow e(0);
			memset(e.x, 0, sizeof e.x);
			e.x[i / 32] = 1u << i % 32;
			e.step();
			memcpy(column[i], e.x, sizeof e.x);
		}
		while (power--) {
			xorwow_map old = *this;
			for (auto &c : column)
				old.apply(c);
		}
	}
};

typedef unsigned __int128 wide;

struct mrg {
	static const uint64_t m1 = 4294967087, m2 = 4294944443;
	uint64_t a[3], b[3];

	explicit mrg(unsigned long long s)
	{
		unsigned x = (unsigned)s ^ 0x55555555, y = (unsigned)(s >> 32 ^ 0xAAAAAAAA);

		for (int i = 0; i < 3; i++) {
			a[i] = (uint64_t)((wide)(i == 1 ? y : x) * s % m1);
			b[i] = (uint64_t)((wide)(i == 1 ? x : y) * s % m2);
		}
	}
	uint64_t next() // in 1 .. m1
	{
		uint64_t p = (1403580 * a[1] + 810728 * (m1 - a[0])) % m1;
		uint64_t q = (527612 * b[2] + 1370589 * (m2 - b[0])) % m2;

		a[0] = a[1], a[1] = a[2], a[2] = p;
		b[0] = b[1], b[1] = b[2], b[2] = q;
		return p > q ? p - q : p + m1 - q;
	}
};

struct matrix3 {
	uint64_t at[3][3], m;

	void square()
	{
		uint64_t r[3][3];

		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++) {
				wide s = 0;
				for (int k = 0; k < 3; k++)
					s += (wide)at[i][k] * at[k][j];
				r[i][j] = (uint64_t)(s % m);
			}
		memcpy(at, r, sizeof r);
	}
	void apply(uint64_t v[3]) const
	{
		uint64_t r[3];

		for (int i = 0; i < 3; i++)
			r[i] = (uint64_t)(((wide)at[i][0] * v[0] + (wide)at[i][1] * v[1] +
						  (wide)at[i][2] * v[2]) %
					  m);
		memcpy(v, r, sizeof r);
	}
};

struct mtgp {
	const rocrand_device::mtgp32_fast_params *p;
	unsigned mask;
	std::vector<unsigned> s; // all that was ever computed

	mtgp(const rocrand_device::mtgp32_fast_params *params, unsigned first)
		: p(params), mask(params->mask), s(351)
	{
		unsigned hidden = p->tbl[4] ^ p->tbl[8] << 16, t = hidden;

		t += t >> 16;
		t += t >> 8;
		for (auto &x : s)
			x = (t & 0xff) * 0x01010101u;
		s[0] = first;
		s[1] = hidden;
		for (unsigned i = 1; i < 351; i++)
			s[i] ^= 1812433253u * (s[i - 1] ^ s[i - 1] >> 30) + i;
	}
	unsigned next()
	{
		size_t i = s.size() - 351;
		unsigned x = (s[i] & mask) ^ s[i + 1], y = s[i + (size_t)p->pos], r, t;

		x ^= x << p->sh1;
		y = x ^ y >> p->sh2;
		r = y ^ p->tbl[y & 15];
		s.push_back(r);
		t = s[i + (size_t)p->pos - 1];
		t ^= t >> 16;
		t ^= t >> 8;
		return r ^ p->tmp_tbl[t & 15];
	}
};

// Joe and Kuo's first dimensions: degree, polynomial's inner coefficients, initial numbers.
static const struct {
	unsigned s, a, m[5];
} joe_kuo[] = {
	{1, 0, {1}},
	{2, 1, {1, 3}},
	{3, 1, {1, 3, 1}},
	{3, 2, {1, 1, 1}},
	{4, 1, {1, 1, 3, 3}},
	{4, 4, {1, 3, 5, 13}},
	{5, 2, {1, 1, 5, 5, 17}},
	{5, 4, {1, 1, 5, 5, 5}},
	{5, 7, {1, 1, 7, 11, 19}},
};

// The index'th number of a dimension (0: van der Corput's), of so many bits, in Gray order.
static uint64_t sobol(unsigned dimension, unsigned bits, uint64_t index)
{
	uint64_t v[64], g = index ^ index >> 1, r = 0;

	for (unsigned i = 0; i < bits; i++) {
		if (!dimension) {
			v[i] = 1ull << (bits - 1 - i);
			continue;
		}
		const auto &d = joe_kuo[dimension - 1];
		if (i < d.s) {
			v[i] = (uint64_t)d.m[i] << (bits - 1 - i);
			continue;
		}
		v[i] = v[i - d.s] ^ v[i - d.s] >> d.s;
		for (unsigned k = 1; k < d.s; k++)
			if (d.a >> (d.s - 1 - k) & 1)
				v[i] ^= v[i - k];
	}
	for (unsigned i = 0; i < bits; i++)
		if (g >> i & 1)
			r ^= v[i];
	return r;
}

// ------------------------------------------------------------ numbers as the library deals them

struct generator {
	rocrand_generator g;

	explicit generator(rocrand_rng_type type, unsigned long long from = seed)
	{
		OK(LIB(rocrand_create_generator)(&g, type));
		if (from)
			OK(LIB(rocrand_set_seed)(g, from));
	}
	~generator()
	{
		(void)LIB(rocrand_destroy_generator)(g);
	}
	words draw(size_t n)
	{
		device<unsigned> d(n);

		OK(LIB(rocrand_generate)(g, d, n));
		return d.get();
	}
};

// Numbers are dealt to E generators in turn; E, a power of two, is the library's choice and seen
// from where the second number of generator 0 stands. next(e): the next number of generator e.
template <class T, class F>
static std::vector<T> dealt(const std::vector<T> &got, size_t *engines, F next)
{
	std::vector<T> want(got.size());
	T second;
	size_t e = 1;

	want[0] = next(0);
	second = next(0);
	while (e < got.size() && got[e] != second)
		e *= 2;
	*engines = e;
	for (size_t i = 1; i < got.size(); i++)
		want[i] = i == e ? second : next(i % e);
	return want;
}

static const size_t many = 300007;

static words philox_words(size_t n)
{
	philox p = {{(unsigned)seed, (unsigned)(seed >> 32)}};
	words w((n + 3) & ~(size_t)3);

	for (size_t i = 0; i < w.size(); i += 4)
		p.block(i / 4, &w[i]);
	w.resize(n);
	return w;
}

static bool test_known_answers()
{
	unsigned r[4];
	mrg m(1);

	philox{{0, 0}}.block(0, r); // Random123's kat_vectors
	for (int i = 0; i < 3; i++)
		m.a[i] = m.b[i] = 12345; // RngStreams: the first uniform of seed 12345
	return r[0] == 0x6627e8d5 && r[1] == 0xe169c58d && r[2] == 0xbc57ac4c &&
	       r[3] == 0x9b00dbd8 && fabs((double)m.next() / (mrg::m1 + 1) - 0.127011122046577) < 1e-14;
}

static bool test_philox()
{
	return same(generator(ROCRAND_RNG_PSEUDO_PHILOX4_32_10).draw(many), philox_words(many));
}

static bool test_offset()
{
	generator g(ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
	words want = philox_words(5000);

	OK(LIB(rocrand_set_offset)(g.g, 777));
	want.erase(want.begin(), want.begin() + 777);
	return same(g.draw(want.size()), want);
}

static bool test_xorwow()
{
	words got = generator(ROCRAND_RNG_PSEUDO_XORWOW).draw(many);
	std::vector<xorwow> engines(1, xorwow(seed));
	xorwow_map jump(67);
	xorwow start(seed);
	size_t e;
	words want = dealt(got, &e, [&](size_t i) {
		while (engines.size() <= i) {
			jump.apply(start.x);
			engines.push_back(start);
		}
		return engines[i].next();
	});

	printf("# %zu generators\n", e);
	return same(got, want);
}

// Generators 2^76 numbers apart (A1P67 of the headers is that power), made as they are asked for.
struct mrg_streams {
	matrix3 a = {{{0, 1, 0}, {0, 0, 1}, {mrg::m1 - 810728, 1403580, 0}}, mrg::m1};
	matrix3 b = {{{0, 1, 0}, {0, 0, 1}, {mrg::m2 - 1370589, 0, 527612}}, mrg::m2};
	std::vector<mrg> streams{1, mrg(mrg_seed)};
	mrg start{mrg_seed};

	mrg_streams()
	{
		for (int k = 0; k < 76; k++)
			a.square(), b.square();
	}
	uint64_t next(size_t i)
	{
		while (streams.size() <= i) {
			a.apply(start.a);
			b.apply(start.b);
			streams.push_back(start);
		}
		return streams[i].next();
	}
};

static bool test_mrg()
{
	words got = generator(ROCRAND_RNG_PSEUDO_MRG32K3A, mrg_seed).draw(many);
	mrg_streams m;
	size_t e;
	words want = dealt(got, &e, [&](size_t i) {
		return (unsigned)((double)(m.next(i) - 1) * 1.000000048661607);
	});

	printf("# %zu generators\n", e);
	return same(got, want);
}

// Its 512 generators each have parameters of their own and give 256 numbers in turn.
static bool test_mtgp()
{
	const size_t n = 3 * 512 * 256 + 100;
	words got = generator(ROCRAND_RNG_PSEUDO_MTGP32).draw(n), want(n);
	std::vector<mtgp> engines;

	for (unsigned i = 0; i < 512; i++)
		engines.emplace_back(&mtgp32dc_params_fast_11213[i],
			(unsigned)(seed ^ seed >> 32) + i + 1);
	for (size_t i = 0; i < n; i++)
		want[i] = engines[i / 256 % 512].next();
	return same(got, want);
}

static bool test_sobol32()
{
	const unsigned dims = 10, n = 4099;
	generator g(ROCRAND_RNG_QUASI_SOBOL32, 0);
	words want;

	OK(LIB(rocrand_set_quasi_random_generator_dimensions)(g.g, dims));
	for (unsigned d = 0; d < dims; d++)
		for (unsigned i = 0; i < n; i++)
			want.push_back((unsigned)sobol(d, 32, i));
	return same(g.draw(want.size()), want);
}

static bool test_sobol64()
{
	const unsigned dims = 10, n = 1025;
	generator g(ROCRAND_RNG_QUASI_SOBOL64, 0);
	std::vector<double> want;
	device<double> d(dims * n);

	OK(LIB(rocrand_set_quasi_random_generator_dimensions)(g.g, dims));
	for (unsigned k = 0; k < dims; k++)
		for (unsigned i = 0; i < n; i++)
			want.push_back(ldexp(1 + (double)(sobol(k, 64, i) >> 11), -53));
	OK(LIB(rocrand_generate_uniform_double)(g.g, d, d.n));
	return same(d.get(), want);
}

// --------------------------------------------------------------------------- distributions

static bool test_bytes()
{
	generator g(ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
	device<unsigned char> d(4001);
	words w = philox_words(1001);
	std::vector<unsigned char> want(4001);

	OK(LIB(rocrand_generate_char)(g.g, d, d.n));
	memcpy(want.data(), w.data(), want.size());
	return same(d.get(), want);
}

static bool test_uniform()
{
	generator g(ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
	device<float> d(100003);
	words w = philox_words(d.n);
	std::vector<float> want(d.n);

	// (v + 1) 2^-32, v as a float: both steps are exact powers but for the rounding of each
	for (size_t i = 0; i < d.n; i++)
		want[i] = 2.3283064e-10f + (float)w[i] * 2.3283064e-10f;
	OK(LIB(rocrand_generate_uniform)(g.g, d, d.n));
	return same(d.get(), want);
}

static bool test_uniform_double()
{
	generator g(ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
	device<double> d(20003);
	words w = philox_words(2 * d.n);
	std::vector<double> want(d.n);

	for (size_t i = 0; i < d.n; i++)
		want[i] = ldexp(1 + (double)(w[2 * i] | (uint64_t)(w[2 * i + 1] >> 11) << 32), -53);
	OK(LIB(rocrand_generate_uniform_double)(g.g, d, d.n));
	return same(d.get(), want);
}

// Box and Muller's transform. Bounds, with e = 2^-24: u is within e of the real number, so ln u
// is within e/u of it and s = sqrt(-2 ln u) within e/(u s), besides roundings of a few e;
// the angle up to 2 pi within 2 pi e, and the device's own sin and cos of it within 2^-20
// (v_sin_f32 and v_cos_f32 are of absolute precision).
static void box_muller(double u, double angle, std::vector<double> *want, std::vector<double> *bound)
{
	const double e = 5.97e-8, s = sqrt(-2 * log(u));
	const double ds = s > 0 ? e / (u * s) + 8 * e * s : sqrt(2 * e);

	for (double f : {sin(angle), cos(angle)}) {
		want->push_back(s * f);
		bound->push_back(ds + s * (6.3 * e + 9.6e-7));
	}
}

static bool test_normal()
{
	generator g(ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
	device<float> d(50000);
	words w = philox_words(d.n);
	std::vector<double> want, bound;

	for (size_t i = 0; i < d.n; i += 2)
		box_muller(ldexp(w[i] + 1.0, -32), ldexp(w[i + 1] + 1.0, -32) * 2 * M_PI, &want,
			&bound);
	for (size_t i = 0; i < d.n; i++)
		want[i] = 3 + 2 * want[i], bound[i] = 2 * bound[i] + 1e-7 * fabs(want[i]);
	OK(LIB(rocrand_generate_normal)(g.g, d, d.n, 3, 2));
	return within(d.get(), want, bound);
}

// v / m1, by way of double; two roundings.
static bool test_mrg_uniform()
{
	generator g(ROCRAND_RNG_PSEUDO_MRG32K3A, mrg_seed);
	device<float> d(many);
	std::vector<float> want;
	mrg_streams m;
	size_t e;

	OK(LIB(rocrand_generate_uniform)(g.g, d, d.n));
	want = dealt(d.get(), &e, [&](size_t i) {
		return (float)((double)m.next(i) * 2.3283065498378288e-10);
	});
	return same(d.get(), want);
}

// Poisson: Pearson's chi square against exp(-l) l^k / k! with a fixed seed; a value beyond
// 60 for 19 degrees of freedom has a probability below 1e-5.
static bool test_poisson()
{
	const double lambda = 7;
	generator g(ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
	device<unsigned> d(100000);
	double seen[20] = {0}, expected[20], p = exp(-lambda), rest = 1, chi = 0;

	OK(LIB(rocrand_generate_poisson)(g.g, d, d.n, lambda));
	for (unsigned v : d.get())
		seen[v < 19 ? v : 19]++;
	for (int k = 0; k < 19; k++) {
		expected[k] = p * (double)d.n;
		rest -= p;
		p *= lambda / (k + 1);
	}
	expected[19] = rest * (double)d.n;
	for (int k = 0; k < 20; k++)
		chi += (seen[k] - expected[k]) * (seen[k] - expected[k]) / expected[k];
	printf("# chi square %.1f\n", chi);
	return chi < 60 && chi > 3;
}

int main(int argc, char **argv)
{
	int version = 0;

	open_libraries(argc > 1 ? argv[1] : "librocrand.so.1");
	(void)LIB(rocrand_get_version)(&version);
	printf("# rocRAND %d\n", version);
	test("the references give published answers", test_known_answers);
	test("Philox4x32-10", test_philox);
	test("Philox4x32-10 from an offset", test_offset);
	test("XORWOW", test_xorwow);
	test("MRG32k3a", test_mrg);
	test("MRG32k3a's uniform floats", test_mrg_uniform);
	test("MTGP32", test_mtgp);
	test("Sobol' in 32 bits, 10 dimensions", test_sobol32);
	test("Sobol' in 64 bits, 10 dimensions", test_sobol64);
	test("bytes", test_bytes);
	test("uniform floats", test_uniform);
	test("uniform doubles", test_uniform_double);
	test("normal floats", test_normal);
	test("Poisson", test_poisson);
	return finish();
}
