/* Mnemonics of a target, how often each was met and how often it was accepted. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "disasm/disasm.h"
#include "softgpu/code.h"
#include "softgpu/exec.h"

#define LIST_HASH  8192
#define LIST_TEXTS (1u << 20)
#define LIST_TRIES 24

struct sg_mnemonic {
	char name[48];
	unsigned long met, known;
	char text[120], why[96]; /* the first that was refused */
};

struct sg_list {
	char target[32];
	enum sg_gen gen; /* set by sg_list_enumerate */
	unsigned long met, known;
	struct sg_mnemonic *by_name; /* LIST_HASH */
	uint8_t *texts;              /* LIST_TEXTS: a text's shape: 1 known, 2 not */
	uint64_t *shapes;
};

static inline uint64_t sg_list_hash(const char *s, bool numbers)
{
	uint64_t h = 14695981039346656037ull;

	for (; *s; s++)
		if (numbers || *s < '0' || *s > '9')
			h = (h ^ (uint8_t)*s) * 1099511628211ull;
	return h ^ h >> 29;
}

static inline struct sg_mnemonic *sg_list_at(struct sg_list *l, const char *text)
{
	char name[48];
	uint64_t h;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, " \t"), text);
	for (size_t n = strlen(name); n > 4;) {
		static const char *const tails[] = {"_e32", "_e64", "_sdwa", "_dpp",
			"_dpp8", "_e64_dpp", "_e64_dpp8"};
		size_t cut = 0;

		for (size_t i = 0; i < 7; i++) {
			size_t k = strlen(tails[i]);

			if (n > k && !strcmp(name + n - k, tails[i]))
				cut = k;
		}
		if (!cut)
			break;
		name[n -= cut] = '\0';
	}
	if (!l->by_name)
		l->by_name = calloc(LIST_HASH, sizeof(*l->by_name));
	for (h = sg_list_hash(name, true) % LIST_HASH; l->by_name[h].name[0];
		h = (h + 1) % LIST_HASH)
		if (!strcmp(l->by_name[h].name, name))
			return &l->by_name[h];
	snprintf(l->by_name[h].name, sizeof(l->by_name[h].name), "%s", name);
	return &l->by_name[h];
}

/* Whether the table has an operation for a mnemonic without its encoding's suffix. */
static inline bool sg_list_has(const char *mnemonic, enum sg_gen gen)
{
	char name[64], buf[48];

	snprintf(name, sizeof(name), "%.60s", mnemonic);
	if (!strncmp(name, "v_dual_", 7))
		snprintf(name, sizeof(name), "v_%.50s", mnemonic + 7);
	if (!strncmp(name, "v_cmpx_", 7))
		snprintf(name, sizeof(name), "v_cmp_%.50s", mnemonic + 7);
	return sg_op_find(sg_alias(name, gen, buf));
}

/* Texts that differ in numbers only are asked once. */
static inline void sg_list_count(
	struct sg_list *l, struct sg_program *p, const char *text, unsigned int size)
{
	uint64_t h = sg_list_hash(text, false) | 1, at = h % LIST_TEXTS;
	struct sg_mnemonic *m = sg_list_at(l, text);
	char why[96] = "";

	if (!l->texts) {
		l->texts = calloc(LIST_TEXTS, 1);
		l->shapes = calloc(LIST_TEXTS, sizeof(*l->shapes));
	}
	while (l->texts[at] && l->shapes[at] != h)
		at = (at + 1) % LIST_TEXTS;
	if (!l->texts[at]) {
		bool known = sg_decode(p, text, 0, size, &(struct sg_inst){0}, why);

		l->shapes[at] = h;
		l->texts[at] = known ? 1 : 2;
		if (!known && !m->text[0]) {
			snprintf(m->text, sizeof(m->text), "%.119s", text);
			snprintf(m->why, sizeof(m->why), "%s", why);
		}
	}
	l->met++;
	m->met++;
	if (l->texts[at] == 1) {
		l->known++;
		m->known++;
	}
}

static inline uint32_t sg_list_random(void)
{
	static uint64_t s = 0x2545f4914f6cdd1dull;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return (uint32_t)(s >> 16);
}

/* One encoding: every upper half of a first word comes with some lower halves. */
static inline void sg_list_word(uint32_t top, unsigned int k, uint32_t w[4])
{
	uint32_t r = sg_list_random();

	w[0] = top << 16 | (k & 1 ? r & 0xffff : (r & r >> 16) & 0xffff);
	for (int i = 1; i < 4; i++)
		w[i] = sg_list_random();
	/* Vector sources that are registers, few odd bits. */
	if (k % 3)
		w[1] = (w[1] & 0x03fbfdff) | 0x04020100;
	if (k % 6 == 4)
		w[1] &= sg_list_random();
	if (k % 6 == 5)
		w[1] &= 0x00ff00ff;
	if (k % 8 >= 4)
		w[0] &= ~(k & 1 ? 0xff00u : 0x7f00u);
	if (k % 4 == 3) { /* packed: the halves as they are, all registers */
		w[0] = (w[0] & ~0xbf00u) | 0x4000;
		w[1] = (w[1] & 0x03fbfdfe) | 0x1c020000 | (k & 4 ? 0x04000100 : 0x100);
	}
	if (k % 12 == 2) { /* wide operands want registers that are aligned */
		w[0] &= ~7u;
		w[1] &= ~0x1c0e07u;
	}
}

/* From *at on; *at keeps up, since the disassemblers crash on some encodings. */
static inline void sg_list_walk(struct sg_list *l, struct sg_program *p,
	struct rck_disasm *d, volatile uint32_t *at)
{
	for (; *at < 65536 * LIST_TRIES; (*at)++) {
		char text[256], why[96];
		struct sg_mnemonic *m;
		uint32_t w[4];
		int n;

		sg_list_word(*at / LIST_TRIES, *at % LIST_TRIES, w);
		n = rck_disasm_next(d, w, sizeof(w), 0, text, sizeof(text), NULL);
		if (n < 0)
			continue;
		if (strpbrk(text, "/;")) /* it warns of registers that do not fit */
			continue;
		m = sg_list_at(l, text);
		m->met++;
		if (m->known || m->met > 2000) /* enough of it */
			continue;
		if (sg_decode(p, text, 0, (unsigned int)n, &(struct sg_inst){0}, why)) {
			m->known++;
		} else if (!m->text[0] || strlen(text) < strlen(m->text)) {
			snprintf(m->text, sizeof(m->text), "%.119s", text);
			snprintf(m->why, sizeof(m->why), "%s", why);
		}
	}
}

/* The mnemonics that the disassembler knows; false: there is none for this target. */
static inline bool sg_list_enumerate(struct sg_list *l)
{
	static const uint8_t none[64];
	size_t size = LIST_HASH * sizeof(*l->by_name) + 64;
	uint8_t *shared = mmap(
		NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	volatile uint32_t *at = (volatile uint32_t *)(void *)shared;
	struct sg_code *code;
	struct sg_fault fault;
	struct rck_disasm *d;
	struct rck_diag diag;
	int status;

	if (shared == MAP_FAILED ||
		sg_code_open("list", l->target, none, sizeof(none), NULL, &code, &fault))
		return false;
	l->gen = code->gen;
	l->by_name = (struct sg_mnemonic *)(void *)(shared + 64);
	if (rck_disasm_open(l->target, NULL, &d, &diag)) {
		sg_code_close(code);
		return false;
	}
	while (*at < 65536 * LIST_TRIES) {
		pid_t pid = fork();

		if (pid < 0)
			return false;
		if (!pid) {
			/* cmocka's would go on in here */
			signal(SIGSEGV, SIG_DFL);
			signal(SIGABRT, SIG_DFL);
			signal(SIGBUS, SIG_DFL);
			signal(SIGILL, SIG_DFL);
			sg_list_walk(l,
				code->program[0][0] ? code->program[0][0]
						    : code->program[1][0],
				d, at);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) < 0)
			return false;
		if (WIFSIGNALED(status))
			(*at)++;
	}
	rck_disasm_close(d);
	sg_code_close(code);
	return true;
}

static inline int sg_list_order(const void *a, const void *b)
{
	const struct sg_mnemonic *x = a, *y = b;
	unsigned long p = x->met - x->known, q = y->met - y->known;

	if (!x->known != !y->known)
		return x->known ? 1 : -1;
	return p < q ? 1 : p > q ? -1 : strcmp(x->name, y->name);
}

static inline void sg_list_print(struct sg_list *l)
{
	unsigned int n = 0, known = 0;

	for (unsigned int i = 0; l->by_name && i < LIST_HASH; i++) {
		n += l->by_name[i].name[0] != 0;
		known += l->by_name[i].known != 0;
	}
	printf("%s: %u mnemonics, %u known", l->target, n, known);
	if (l->met)
		printf("; %lu instructions, %lu known (%.4f %%)", l->met, l->known,
			100.0 * (double)l->known / (double)l->met);
	printf("\n");
	if (l->by_name)
		qsort(l->by_name, LIST_HASH, sizeof(*l->by_name), sg_list_order);
	for (unsigned int i = 0; l->by_name && i < LIST_HASH; i++) {
		struct sg_mnemonic *m = &l->by_name[i];

		if (m->name[0] && (l->met ? m->known < m->met : !m->known))
			printf("  %8lu of %8lu  %-32s %s: %s\n", m->met - m->known,
				m->met, m->name, m->text, m->why);
	}
}
