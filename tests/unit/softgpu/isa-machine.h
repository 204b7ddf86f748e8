/* One wave without a kernel: instructions are given as text. Include after cmocka.h. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/code.h"
#include "softgpu/wave.h"

struct machine {
	struct sg_code *code;
	struct sg_program *p;
	struct sg_wave *w;
	struct sg_group group;
	struct sg_run run;
	struct sg_launch launch;
	struct sg_fault fault;
	uint32_t lanes;
};

static inline uint32_t rnd(void)
{
	static uint64_t s = 88172645463325252ull;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return (uint32_t)(s >> 16);
}

/* NULL: no disassembler for the target. lds: bytes, filled with random words. */
static inline struct machine *machine_new(const char *target, uint32_t lanes)
{
	static const uint8_t code[64];
	struct machine *m = calloc(1, sizeof(*m));
	struct rck_diag diag;

	if (sg_code_open("test", target, code, sizeof(code), NULL, &m->code, &m->fault) ||
		sg_code_program(m->code, lanes, false, &m->p, &diag)) {
		free(m);
		return NULL;
	}
	m->lanes = lanes;
	m->w = aligned_alloc(64, (sizeof(*m->w) + 63) & ~63ul);
	memset(m->w, 0, sizeof(*m->w));
	m->w->v = aligned_alloc(64, SG_ROWS * 64 * 4);
	m->w->lanes = lanes;
	m->w->lane_all = lanes == 64 ? UINT64_MAX : UINT32_MAX;
	m->w->mode = 0xf0;
	m->w->g = &m->group;
	m->w->p = m->p;
	m->w->quantum = 1000;
	m->group.run = &m->run;
	m->group.live = m->group.nwaves = 1;
	m->group.lds_size = 4096;
	m->group.lds = aligned_alloc(64, 4096);
	m->run.fault = &m->fault;
	m->run.k.launch = &m->launch;
	m->run.k.program = m->p;
	m->run.k.entry = sg_program_at(m->p, (uint64_t)(uintptr_t)code);
	pthread_mutex_init(&m->run.lock, NULL);
	for (uint32_t i = 0; i < SG_ROWS * 64; i++)
		m->w->v[i] = rnd();
	sg_set_s64(m->w, SG_S_EXEC, UINT64_MAX);
	sg_exec_changed(m->w);
	sg_mode_changed(m->w);
	return m;
}

static inline void machine_free(struct machine *m)
{
	sg_code_close(m->code);
	free(m->group.lds);
	free(m->w->v);
	free(m->w);
	free(m);
}

static inline void machine_exec(struct machine *m, uint64_t exec)
{
	sg_set_s64(m->w, SG_S_EXEC, exec);
	sg_exec_changed(m->w);
}

/* The first of n instructions of so many bytes that is not refused with a reason, or
 * NULL.
 */
static inline const char *machine_accepts(
	struct machine *m, const char *const *text, size_t n, unsigned int bytes)
{
	for (size_t i = 0; i < n; i++) {
		struct sg_inst in;
		char why[96] = "";

		if (sg_decode(m->p, text[i], 0, bytes, &in, why) || !why[0])
			return text[i];
	}
	return NULL;
}

/* true: executed. false: refused or stopped, with why. */
static inline bool machine_run(struct machine *m, const char *text, char why[96])
{
	struct sg_inst *in = sg_program_alloc(m->p, 2 * sizeof(*in));

	if (!sg_decode(m->p, text, (uint64_t)(uintptr_t)m->code->base, 4, in, why))
		return false;
	m->run.stop = 0;
	if (in->exec(m->w, in) == in + 1)
		return true;
	snprintf(why, 96, "%.95s", m->fault.text);
	return false;
}

static inline uint32_t *machine_v(struct machine *m, uint32_t reg)
{
	return m->w->v + reg * m->lanes;
}
