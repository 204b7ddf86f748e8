/*
 * What the kernels of isa-kernels.hip compute for one work-item: compiled for the device
 * by clang and for the host by the compiler of the tests. `in` has IN words a work-item,
 * `out` OUT words. Nothing here may be undefined or left to the implementation.
 */
#pragma once

#define IN  8
#define OUT 16

#ifndef DEV
#define DEV static
#endif
#define NOINLINE DEV __attribute__((noinline))

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;
typedef unsigned char u8;

DEV float as_f(u32 x)
{
	float f;
	__builtin_memcpy(&f, &x, 4);
	return f;
}

DEV u32 f_as(float f)
{
	u32 x;
	__builtin_memcpy(&x, &f, 4);
	/* Which NaN comes out is nobody's promise. */
	return f != f ? 0x7fc00000u : x;
}

DEV double as_d(u64 x)
{
	double d;
	__builtin_memcpy(&d, &x, 8);
	return d;
}

DEV u64 d_as(double d)
{
	u64 x;
	__builtin_memcpy(&x, &d, 8);
	return d != d ? 0x7ff8000000000000ull : x;
}

DEV void put64(u32 *out, u64 v)
{
	out[0] = (u32)v;
	out[1] = (u32)(v >> 32);
}

DEV void t_int32(const u32 *in, u32 *out)
{
	u32 a = in[0], b = in[1] | 1, c = in[2];
	int s = (int)a, t = (int)(b & 0xffff) + 1;

	out[0] = a + b * c;
	out[1] = a / b;
	out[2] = a % b;
	out[3] = (u32)(s / t);
	out[4] = (u32)(s % t);
	out[5] = (u32)((u64)a * c >> 32);
	out[6] = (u32)((long long)s * (int)c >> 32);
	out[7] = (a << (c & 31)) ^ (a >> (c & 31)) ^ (u32)(s >> (c & 31));
	out[8] = (u32)__builtin_popcount(a) + (u32)__builtin_clz(a | 1) * 64 +
		 (u32)__builtin_ctz(a | 0x80000000u) * 4096;
	out[9] = __builtin_bswap32(a) ^ c;
	out[10] = s < (int)c ? a : c;
	out[11] = a < c ? c - a : a - c;
	out[12] = (a & b) | (~a & c);
	out[13] = (a >> 5 & 0x7f) + (u32)((int)(c << 9) >> 20);
	out[14] = a << 3 | c >> 29;
	out[15] = (a ^ b ^ c) + (a | b | c) + (a & 0xffffff) * (c & 0xffffff);
}

DEV void t_int64(const u32 *in, u32 *out)
{
	u64 a = in[0] | (u64)in[1] << 32, b = in[2] | (u64)in[3] << 32,
	    d = (b >> (in[4] & 63)) | 1;
	long long s = (long long)a, t = (long long)d >> 1 | 1;

	put64(out, a * b + d);
	put64(out + 2, a / d);
	put64(out + 4, a % d);
	put64(out + 6, (u64)(s / t) ^ (u64)(s % t) << 1);
	put64(out + 8, (a << (in[5] & 63)) ^ (b >> (in[5] & 63)));
	put64(out + 10, (u64)(s >> (in[5] & 63)) - b);
	put64(out + 12, s < (long long)b ? a : b);
	put64(out + 14, (a < b) + ((u64)(a == d) << 8) +
				((u64)__builtin_popcountll(a) << 16) +
				((u64)__builtin_clzll(b | 1) << 32));
}

DEV void t_small(const u32 *in, u32 *out)
{
	u16 a = (u16)in[0], b = (u16)(in[0] >> 16);
	short s = (short)a, t = (short)b;
	u8 x = (u8)in[1], y = (u8)(in[1] >> 8);
	signed char p = (signed char)x, q = (signed char)(in[1] >> 16);

	out[0] = (u16)(a + b);
	out[1] = (u16)(a * b);
	out[2] = (u32)(short)(s - t);
	out[3] = (u16)(a >> (b & 15));
	out[4] = (u32)(s >> (b & 15));
	out[5] = (u16)(a << (b & 15));
	out[6] = a < b ? a : b;
	out[7] = (u32)(s < t ? s : t);
	out[8] = (u8)(x + y);
	out[9] = (u32)(p * q);
	out[10] = (u32)(p < q ? p : q);
	out[11] = (u32)(a / (b | 1));
	out[12] = (u32)(s % (short)(t | 1));
	out[13] = (u8)(x >> (y & 7)) | (u32)(u8)(x << (y & 7)) << 8;
	out[14] = (u16)(a * 3 + b * 5 + x);
	out[15] = (u32)(int)(signed char)(p - q);
}

DEV void t_float(const u32 *in, u32 *out)
{
	float a = as_f(in[0]), b = as_f(in[1]), c = as_f(in[2]);
	float i = (float)(int)in[3], u = (float)in[4];

	out[0] = f_as(a + b);
	out[1] = f_as(a * b);
	out[2] = f_as(a - b);
	out[3] = f_as(a / b);
	out[4] = f_as(__builtin_fmaf(a, b, c));
	/* The operation itself, which clang-15 takes for the root, has no denormals. */
	out[5] = f_as(__builtin_sqrtf(
		__builtin_fabsf(a) < 0x1p-126f ? 2.0f : __builtin_fabsf(a)));
	out[6] = f_as(__builtin_floorf(a) - __builtin_ceilf(b));
	out[7] = f_as(__builtin_truncf(c)) ^ f_as(__builtin_rintf(a));
	out[8] = (a < b) | (a <= b) << 1 | (a == c) << 2 | (a != b) << 3 | (a >= c) << 4 |
		 (!(a < c)) << 5 | __builtin_isunordered(a, b) << 6;
	out[9] = f_as(i / u);
	out[10] = f_as(i) ^ f_as(u);
	/* Only numbers that fit convert the same everywhere. */
	out[11] = (u32)(int)(i * 0.25f);
	out[12] = (u32)(__builtin_fabsf(i) * 1.5f);
	out[13] = f_as(-a * b - c);
	out[14] = f_as(a > 0 ? a : -a) ^ f_as(__builtin_copysignf(b, c));
	out[15] = f_as(a * 2.0f + 1.0f);
}

DEV void t_double(const u32 *in, u32 *out)
{
	double a = as_d(in[0] | (u64)in[1] << 32), b = as_d(in[2] | (u64)in[3] << 32);
	double c = as_d(in[4] | (u64)in[5] << 32), i = (double)(int)in[6],
	       u = (double)in[7];

	put64(out, d_as(a + b * c));
	put64(out + 2, d_as(a / b));
	put64(out + 4, d_as(__builtin_fma(a, b, c)));
	put64(out + 6, d_as(__builtin_sqrt(__builtin_fabs(a))));
	put64(out + 8, d_as(__builtin_floor(i / 7) + __builtin_trunc(u * 0.3)));
	out[10] = (a < b) | (a <= b) << 1 | (a == c) << 2 | (a != b) << 3 | (a >= c) << 4;
	out[11] = f_as((float)a);
	put64(out + 12, d_as((double)as_f(in[0]) - a));
	out[14] = (u32)(int)(i * 0.5) ^ (u32)(u * 0.5);
	out[15] = f_as((float)(long long)(in[0] | (u64)in[1] << 32)) ^
		  f_as((float)(u64)(in[0] | (u64)in[1] << 32));
}

DEV u32 h_bits(_Float16 h)
{
	u16 x;
	__builtin_memcpy(&x, &h, 2);
	return (x & 0x7fff) > 0x7c00 ? 0x7e00u : x;
}

DEV _Float16 h_of(u32 x)
{
	_Float16 h;
	u16 y = (u16)x;
	__builtin_memcpy(&h, &y, 2);
	return h;
}

DEV void t_half(const u32 *in, u32 *out)
{
	_Float16 a = h_of(in[0]), b = h_of(in[0] >> 16), c = h_of(in[1]);
	/* Each result is rounded before it is used: hosts may keep more bits. */
	volatile _Float16 r;

	r = a + b;
	out[0] = h_bits(r);
	r = a * b;
	out[1] = h_bits(r);
	r = a - b;
	out[2] = h_bits(r);
	r = a / b;
	out[3] = h_bits(r);
	out[4] = f_as((float)a);
	r = (_Float16)as_f(in[2]);
	out[5] = h_bits(r);
	out[6] = (a < b) | (a <= b) << 1 | (a == c) << 2 | (a != b) << 3 | (a >= c) << 4;
	r = (_Float16)(short)in[3];
	out[7] = h_bits(r);
	r = a < b ? a : c;
	out[8] = h_bits(r);
	r = -a;
	out[9] = h_bits(r);
	out[10] = h_bits(c) << 16 | h_bits(b);
	r = (_Float16)as_d(in[4] | (u64)in[5] << 32);
	out[11] = h_bits(r);
}

/* Loops whose length differs by lane, with breaks and an early way out. */
DEV void t_loops(const u32 *in, u32 *out)
{
	u32 n = in[0] & 31, sum = 0, x = in[1], steps = 0;

	for (u32 i = 0; i < n; i++) {
		for (u32 k = i; k < (in[2] & 15); k++) {
			if ((x ^ k) % 7 == 3)
				break;
			sum += k * i + x;
		}
		if (sum & 0x1000)
			continue;
		x = x * 1664525u + 1013904223u;
		if ((x >> 24) == 0x55)
			goto out;
	}
	while (x != 1 && steps < 100) {
		x = x & 1 ? (x & 0xffff) * 3 + 1 : x >> 1;
		steps++;
	}
out:
	out[0] = sum;
	out[1] = x;
	out[2] = steps;
}

DEV u32 pick(u32 k, u32 a, u32 b)
{
	switch (k) {
	case 0:
		return a + b;
	case 1:
		return a - b;
	case 2:
		return a * b;
	case 3:
		return a ^ b;
	case 4:
		return a & b;
	case 5:
		return a | b;
	case 6:
		return a << (b & 7);
	case 7:
		return a >> (b & 7);
	case 8:
		return ~a;
	case 9:
		return a % (b | 1);
	case 11:
		return b;
	default:
		return 0xdeadbeef;
	}
}

DEV void t_switch(const u32 *in, u32 *out)
{
	for (u32 i = 0; i < 12; i++)
		out[i] = pick((in[0] >> i) % 13, in[1] + i, in[2]);
}

NOINLINE u32 fib(u32 n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOINLINE u32 ackermann(u32 m, u32 n)
{
	if (!m)
		return n + 1;
	return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

DEV void t_recursion(const u32 *in, u32 *out)
{
	out[0] = fib(in[0] % 11);
	out[1] = ackermann(in[1] % 3, in[2] % 4);
}

NOINLINE u32 op_add(u32 a, u32 b)
{
	return a + b;
}

NOINLINE u32 op_mul(u32 a, u32 b)
{
	return a * b;
}

NOINLINE u32 op_mix(u32 a, u32 b)
{
	return op_add(op_mul(a, 3), b >> 1);
}

DEV void t_indirect(const u32 *in, u32 *out)
{
	u32 (*fn[3])(u32, u32) = {op_add, op_mul, op_mix};

	for (u32 i = 0; i < 6; i++)
		out[i] = fn[(in[0] >> 2 * i & 3) % 3](in[1] + i, in[2]);
}

struct blob {
	u32 a[5];
	u64 b;
	u8 c[7];
};

NOINLINE struct blob blob_make(u32 x, u32 y)
{
	struct blob b;

	for (u32 i = 0; i < 5; i++)
		b.a[i] = x + i * y;
	b.b = (u64)x * y;
	for (u32 i = 0; i < 7; i++)
		b.c[i] = (u8)(x >> i);
	return b;
}

DEV void t_scratch(const u32 *in, u32 *out)
{
	u32 tab[32];
	u8 bytes[64];
	struct blob b = blob_make(in[3], in[4]);

	for (u32 i = 0; i < 32; i++)
		tab[i] = in[i & 7] + i;
	for (u32 i = 0; i < 64; i++)
		bytes[i] = (u8)(in[0] >> (i & 31));
	for (u32 i = 0; i < 16; i++) {
		u32 k = (in[1] >> i) & 31, t = tab[k];

		tab[k] = tab[(in[2] >> i) & 31];
		tab[(in[2] >> i) & 31] = t;
	}
	out[0] = 0;
	for (u32 i = 0; i < 32; i++)
		out[0] = out[0] * 31 + tab[i];
	out[1] = bytes[in[5] & 63] | (u32)bytes[in[6] & 63] << 8;
	out[2] = b.a[in[7] % 5];
	put64(out + 3, b.b);
	out[5] = b.c[in[7] % 7];
}

#ifdef OLD_CLANG /* clang-15 has no dynamic alloca for the device */
#define DYNAMIC(X)
#else
#define DYNAMIC(X) X(dynamic)
/* Stack whose size is known when it runs. */
DEV void t_dynamic(const u32 *in, u32 *out)
{
	u32 n = (in[0] & 15) + 1;
	u32 *p = (u32 *)__builtin_alloca(n * 4);

	for (u32 i = 0; i < n; i++)
		p[i] = in[i & 7] * (i + 1);
	out[0] = 0;
	for (u32 i = 0; i < n; i++)
		out[0] ^= p[(i * 7) % n] + i;
}
#endif

#define FUNCTIONS(X)                                                                     \
	X(int32)                                                                         \
	X(int64)                                                                         \
	X(small)                                                                         \
	X(float)                                                                         \
	X(double)                                                                        \
	X(half)                                                                          \
	X(loops)                                                                         \
	X(switch)                                                                        \
	X(recursion)                                                                     \
	X(indirect)                                                                      \
	X(scratch)                                                                       \
	DYNAMIC(X)
