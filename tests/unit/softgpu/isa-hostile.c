/*
 * Random bytes as code, executed where they decode, with every address refused: an error
 * or a result, never a crash. Built with sanitizers it finds more.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "disasm/disasm.h"
#include "isa-machine.h"

static int deny(void *ctx, uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	(void)ctx;
	(void)addr;
	(void)lo;
	(void)hi;
	return -14;
}

static void hostile(const char *target, uint32_t lanes)
{
	struct machine *m = machine_new(target, lanes);
	struct rck_disasm_options o = {.wave64 = lanes == 64};
	unsigned int known = 0, accepted = 0, stopped = 0;
	struct rck_disasm *d = NULL;
	struct rck_diag diag;

	if (!m || rck_disasm_open(target, &o, &d, &diag)) {
		print_message("%s: no disassembler\n", target);
		return;
	}
	m->launch.range = deny;
	m->w->scratch = calloc(1, 4096 * 64 + 4096);
	m->w->scratch_lane = 4096;
	for (unsigned int i = 0; i < 30000; i++) {
		uint32_t code[4] = {rnd(), rnd(), rnd(), rnd()};
		char text[256], why[96];
		struct sg_inst *in;
		int n = rck_disasm_next(
			d, code, sizeof(code), 0, text, sizeof(text), NULL);

		if (n < 0)
			continue;
		known++;
		in = sg_program_alloc(m->p, 2 * sizeof(*in));
		if (!sg_decode(m->p, text, (uint64_t)(uintptr_t)m->code->base,
			    (unsigned int)n, in, why))
			continue;
		accepted++;
		if (in->op->flags & (SG_OP_BRANCH | SG_OP_END))
			continue;
		m->run.stop = 0;
		m->w->state = SG_RUN;
		if (!in->exec(m->w, in) && m->w->state == SG_FAULTED) {
			stopped++;
			assert_true(m->fault.text[0]);
		}
		if (i % 64 == 0)
			machine_exec(m, rnd() | (uint64_t)rnd() << 32);
	}
	print_message("%s: %u instructions, %u accepted, %u stopped\n", target, known,
		accepted, stopped);
	assert_true(accepted > 1000 && stopped > 10);
	rck_disasm_close(d);
	free(m->w->scratch);
	machine_free(m);
}

static void test_random_code(void **state)
{
	(void)state;
	hostile("gfx1030", 32);
	hostile("gfx1030", 64);
	hostile("gfx90a", 64);
	hostile("gfx942", 64);
	hostile("gfx1100", 32);
	hostile("gfx1201", 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
