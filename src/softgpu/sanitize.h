/*
 * RCK_SOFT_SANITIZE: what a correct kernel never does, found while it runs: races, uses
 * of what nothing wrote, LDS out of bounds, loads used before their wait. trace.c calls
 * it before each instruction; groups may run on several threads, each on one.
 */
#pragma once

#include <stdio.h>

#include "softgpu/wave.h"

struct sg_san;

/* NULL when out of memory. Findings are lines in out, each place and kind once a launch.
 * The run is borrowed until sg_san_free. */
struct sg_san *sg_san_new(FILE *out, const struct sg_run *run);
/* In a child of fork() no launch runs. */
void sg_san_forked(void);
/* NULL is allowed. */
void sg_san_free(struct sg_san *s);
/* A group's shadow, before its first instruction and after its last; without memory for
 * it the group is not watched. */
void sg_san_group_begin(struct sg_group *g);
void sg_san_group_end(struct sg_group *g);
void sg_san_step(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in);
