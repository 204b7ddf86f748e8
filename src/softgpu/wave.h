/* Launches, waves and their groups as the files that run them share them. */
#pragma once

#include <pthread.h>

#include "softgpu/code.h"

struct sg_run {
	struct sg_kernel k;
	uint64_t next;     /* the next group to start */
	uint64_t ended;    /* groups that are done */
	volatile int stop; /* a fault or a cancellation */
	pthread_mutex_t lock;
	struct sg_fault *fault;
	struct sg_run *link; /* group.c: in the list of open runs */
	unsigned int helpers, helpers_max;
	void *watch; /* trace.c */
	bool serial; /* what watches wants one thread */
};

/* Reads the kernel descriptor; fault is filled on error. */
int sg_kernel_init(struct sg_kernel *k, const struct sg_launch *launch, bool watched,
	struct sg_fault *fault);

/* Bytes that one group needs besides its LDS. */
size_t sg_kernel_vgpr_bytes(const struct sg_kernel *k);

/* Sets a wave of a group to the kernel's beginning. */
void sg_wave_init(struct sg_wave *w, struct sg_group *g, uint32_t index);

/*
 * Where pc is, counted from the kernel's first instruction, with the source line if -g
 * left one: "+0x40 (FILE:LINE)"; a function that is called may lie before: "-0x80". Empty
 * for pc 0, which is no instruction.
 */
void sg_place(const struct sg_kernel *k, uint64_t pc, char *text, size_t cap);

/* Runs a wave until it stops; state says why. */
void sg_wave_run(struct sg_wave *w, int64_t quantum);

/* ---- trace.c ---- */
bool sg_watch_open(struct sg_run *r);
void sg_watch_close(struct sg_run *r);
void sg_watch_run(struct sg_wave *w);
/* Names come from files: nothing of them may drive a terminal. */
static inline char sg_masked(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
}
/* Around a group's run; a group that was not begun may be ended. */
void sg_watch_group_begin(struct sg_group *g);
void sg_watch_group_end(struct sg_group *g);
