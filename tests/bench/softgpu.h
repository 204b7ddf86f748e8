/* The parts of the software device's benchmark. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define BENCH_RUNS 9

/* Seconds of the whole process's processors, or of the wall; monotonic. */
double bench_cpu(void);
double bench_wall(void);

/* ------------------------------------------------------------------ softgpu-pocl.c */

struct bench_peer {
	double rmsnorm, gemm128, gemm256; /* processor seconds a run; 0: not measured */
	char what[128];                   /* the device, or why there is none */
};

/* Runs kernels.cl by PoCL on one processor, in a process of its own: two LLVMs in one
 * are one too many. program: this executable. */
void bench_peer_measure(const char *program, struct bench_peer *out);
/* What that process does; its exit status. */
int bench_peer_main(void);

/* --------------------------------------------------------------- softgpu-profile.c */

enum bench_class {
	BENCH_VALU,
	BENCH_SALU,
	BENCH_MEMORY,
	BENCH_LDS,
	BENCH_CONTROL,
	BENCH_DECODE,
	BENCH_DISPATCH,
	BENCH_OTHER,
	BENCH_CLASSES
};

extern const char *const bench_class_names[BENCH_CLASSES];

/*
 * Shares of time by class of operation while run(arg) goes on again and again for so many
 * seconds: samples of where this thread is, by source file. False: not to be had here
 * (built without libdw, or without debug information).
 */
bool bench_profile(
	void (*run)(void *arg), void *arg, double seconds, double share[BENCH_CLASSES]);
