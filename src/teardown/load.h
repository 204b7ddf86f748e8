/*
 * The load that exposures run under. Workers are processes of ours, each known by its
 * pid: they die with the thread that started them and are reaped by rck_load_stop().
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum rck_load_shape {
	RCK_LOAD_NONE,
	RCK_LOAD_SPIN,   /* "A": workers that only compute; sequential exposures */
	RCK_LOAD_CHURN,  /* "B": workers that read /dev/zero and write /dev/null, as dd
			    does  with its 512 bytes; concurrent exposures */
	RCK_LOAD_STARVE, /* a few workers on one CPU, to which the listener is demoted */
	RCK_LOAD_SHAPES,
};

struct rck_load {
	pid_t *workers;
	size_t n;
	int starve_cpu; /* the busy CPU of RCK_LOAD_STARVE; -1 */
};

/* "none", "spin", "churn", "starve"; and one clause that says what it is. */
const char *rck_load_name(enum rck_load_shape shape);
const char *rck_load_what(enum rck_load_shape shape);
/* CPUs that this process may use. */
unsigned rck_load_cpus(void);
/* How many workers, exposures an arm and concurrent exposures a shape has unless told. */
unsigned rck_load_workers(enum rck_load_shape shape);
unsigned rck_load_exposures(enum rck_load_shape shape);
unsigned rck_load_concurrent(enum rck_load_shape shape);

/* Starts the workers. -errno when not all could be started; then none is left. */
int rck_load_start(enum rck_load_shape shape, unsigned workers, struct rck_load *out);
/* Ends them, whatever they do. Safe on a load that was stopped before. */
void rck_load_stop(struct rck_load *load);
