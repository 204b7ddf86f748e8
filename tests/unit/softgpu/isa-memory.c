/* Loads that go straight into LDS: what arrives where, and what does not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa-machine.h"

static uint32_t memory[4096];

static void run(struct machine *m, const char *text)
{
	char why[96] = "";

	if (!machine_run(m, text, why))
		fail_msg("'%s': %s", text, why);
}

static void put64(struct machine *m, uint32_t reg, uint32_t lane, uint64_t v)
{
	machine_v(m, reg)[lane] = (uint32_t)v;
	machine_v(m, reg + 1)[lane] = (uint32_t)(v >> 32);
}

static struct machine *fresh(const char *target)
{
	struct machine *m = machine_new(target, 64);

	if (!m)
		return NULL;
	for (size_t i = 0; i < 4096; i++)
		memory[i] = rnd();
	for (size_t i = 0; i < 4096; i++)
		m->group.lds[i] = (uint8_t)rnd();
	return m;
}

/* The dword that a load of this width makes of bytes at p. */
static uint32_t loaded(const uint8_t *p, const char *width)
{
	uint16_t h;
	uint32_t x;

	memcpy(&h, p, 2);
	memcpy(&x, p, 4);
	return !strcmp(width, "ubyte")    ? *p
	       : !strcmp(width, "sbyte")  ? (uint32_t)(int8_t)*p
	       : !strcmp(width, "ushort") ? h
	       : !strcmp(width, "sshort") ? (uint32_t)(int16_t)h
					  : x;
}

static const char *const widths[] = {"ubyte", "sbyte", "ushort", "sshort", "dword"};

static void check_lds(struct machine *m, const uint8_t *before, uint32_t at,
	uint64_t exec, const uint32_t want[64], const char *text)
{
	uint8_t expected[4096];

	memcpy(expected, before, sizeof(expected));
	for (uint32_t i = 0; i < 64; i++)
		if (exec >> i & 1 && at + 4 * i <= 4092)
			memcpy(expected + at + 4 * i, &want[i], 4);
	if (memcmp(m->group.lds, expected, sizeof(expected)))
		fail_msg("%s: LDS is not as it should be", text);
}

static void test_global(void **state)
{
	struct machine *m = fresh("gfx942");
	uint8_t before[4096];

	(void)state;
	if (!m)
		skip();
	for (unsigned int r = 0; r < 200; r++) {
		const char *width = widths[r % 5];
		bool scalar = r & 1;
		uint32_t offset = rnd() % 16 * 4, want[64], at;
		uint64_t exec = rnd() | (uint64_t)rnd() << 32;
		char text[96];

		m->w->s[SG_S_M0] = r % 7 ? rnd() % 900 * 4 : 4096 - 32;
		at = m->w->s[SG_S_M0] + offset;
		sg_set_s64(m->w, 4, (uint64_t)(uintptr_t)memory);
		for (uint32_t i = 0; i < 64; i++) {
			uint32_t to = rnd() % 16000 & ~3u;

			if (scalar)
				machine_v(m, 2)[i] = to;
			else
				put64(m, 2, i, (uint64_t)(uintptr_t)memory + to);
			want[i] = loaded((uint8_t *)memory + to + offset, width);
		}
		memcpy(before, m->group.lds, sizeof(before));
		machine_exec(m, exec);
		snprintf(text, sizeof(text), "global_load_lds_%s %s offset:%u", width,
			scalar ? "v2, s[4:5]" : "v[2:3], off", offset);
		run(m, text);
		check_lds(m, before, at, exec, want, text);
	}
	machine_free(m);
}

static void test_buffer(void **state)
{
	struct machine *m = fresh("gfx90a");
	uint8_t before[4096];

	(void)state;
	if (!m)
		skip();
	for (unsigned int r = 0; r < 200; r++) {
		const char *width = widths[r % 5];
		uint32_t offset = rnd() % 64 * 4, want[64], at, soffset = rnd() % 32 * 4;
		uint64_t exec = rnd() | (uint64_t)rnd() << 32,
			 base = (uint64_t)(uintptr_t)memory;
		char text[96];

		m->w->s[SG_S_M0] = rnd() % 700 * 4;
		at = m->w->s[SG_S_M0] + offset;
		m->w->s[8] = (uint32_t)base;
		m->w->s[9] = (uint32_t)(base >> 32) & 0xffff;
		m->w->s[10] = 12000; /* beyond it: zeros */
		m->w->s[11] = 0x00020000;
		m->w->s[3] = soffset;
		for (uint32_t i = 0; i < 64; i++) {
			uint32_t to = rnd() % 14000 & ~3u;

			machine_v(m, 0)[i] = to;
			want[i] = to + offset + 4 > 12000
					  ? 0
					  : loaded((uint8_t *)memory + to + offset +
							    soffset,
						    width);
			if (strcmp(width, "dword") && to + offset < 12000)
				machine_v(m, 0)[i] = 0;
			if (strcmp(width, "dword") && to + offset < 12000)
				want[i] = loaded(
					(uint8_t *)memory + offset + soffset, width);
		}
		memcpy(before, m->group.lds, sizeof(before));
		machine_exec(m, exec);
		snprintf(text, sizeof(text),
			"buffer_load_%s v0, s[8:11], s3 offen offset:%u lds", width,
			offset);
		run(m, text);
		check_lds(m, before, at, exec, want, text);
	}
	machine_free(m);
}

static void test_refused(void **state)
{
	static const char *const text[] = {
		"buffer_load_dwordx2 v0, s[8:11], s3 offen lds",
		"buffer_load_dword v1, v0, s[8:11], s3 offen lds",
		"buffer_store_dword v1, v0, s[8:11], s3 offen lds",
		"global_load_lds_dword v1, v[2:3], off"};
	struct machine *m = machine_new("gfx942", 64);
	struct sg_inst in;
	char why[96];

	(void)state;
	if (!m)
		skip();
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		if (sg_decode(m->p, text[i], 0, 8, &in, why))
			fail_msg("'%s' was accepted", text[i]);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_global),
		cmocka_unit_test(test_buffer),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
