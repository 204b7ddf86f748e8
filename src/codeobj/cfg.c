#include "codeobj/cfg.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define MAX_INSNS (1u << 19)

void rck_cfg_give_up(struct rck_cfg *c, const char *why)
{
	if (!c->gave_up)
		c->gave_up = why;
}

int32_t rck_cfg_find(const struct rck_cfg *c, uint64_t offset)
{
	return offset / 4 < c->n_at ? c->at[offset / 4] : -1;
}

static void mark(struct rck_cfg *c, uint64_t offset, int32_t insn)
{
	size_t i = (size_t)(offset / 4);

	if (i >= c->n_at) {
		size_t n = i + 1024;

		c->at = rck_xrealloc(c->at, n * sizeof(*c->at));
		memset(c->at + c->n_at, 0xff, (n - c->n_at) * sizeof(*c->at));
		c->n_at = n;
	}
	c->at[i] = insn;
}

/* The instruction at offset, at the end of the list; NULL and a reason: none. */
static const struct rck_insn *decode_one(struct rck_cfg *c, uint64_t offset)
{
	char text[192];
	struct rck_insn *insn;
	int n;

	if (c->n_insns >= MAX_INSNS) {
		rck_cfg_give_up(c, "more instructions than are looked at");
		return NULL;
	}
	n = rck_disasm_next(c->disasm, c->code + offset, c->size - offset,
		c->address + offset, text, sizeof(text), NULL);
	if (n <= 0) {
		rck_cfg_give_up(c, "bytes that are no instruction of the target");
		return NULL;
	}
	if (c->n_insns == c->cap_insns) {
		c->cap_insns = c->cap_insns ? c->cap_insns * 2 : 256;
		c->insns = rck_xrealloc(c->insns, c->cap_insns * sizeof(*c->insns));
	}
	mark(c, offset, (int32_t)c->n_insns);
	insn = &c->insns[c->n_insns++];
	rck_insn_parse(insn, text);
	insn->address = c->address + offset;
	insn->size = (uint8_t)n;
	return insn;
}

/* Straight on to where control does not fall through; branch targets go to todo. */
static void decode_run(struct rck_cfg *c, uint64_t offset, uint64_t **todo, size_t *n)
{
	while (c->size >= 4 && offset <= c->size - 4 && rck_cfg_find(c, offset) < 0) {
		const struct rck_insn *i = decode_one(c, offset);
		uint64_t target;

		if (!i)
			return;
		target = rck_insn_is_branch(i) ? rck_insn_target(i) - c->address
					       : UINT64_MAX;
		if (target < c->size) {
			if (!(*n & (*n - 1)))
				*todo = rck_xrealloc(
					*todo, (*n ? *n * 2 : 1) * sizeof(**todo));
			(*todo)[(*n)++] = target;
		}
		if (!rck_insn_falls_through(i))
			return;
		offset += i->size;
	}
}

void rck_cfg_decode(struct rck_cfg *c, uint64_t offset)
{
	uint64_t *todo = NULL;
	size_t n = 0;

	decode_run(c, offset, &todo, &n);
	while (n) {
		offset = todo[--n];
		decode_run(c, offset, &todo, &n);
	}
	free(todo);
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct rck_insn *)a)->address;
	uint64_t y = ((const struct rck_insn *)b)->address;

	return (x > y) - (x < y);
}

/* Marks the instructions that begin a block. */
static void find_leaders(const struct rck_cfg *c, bool *leads)
{
	leads[0] = true;
	for (size_t i = 0; i < c->n_insns; i++) {
		const struct rck_insn *insn = &c->insns[i];
		int32_t to = rck_insn_is_branch(insn)
				     ? rck_cfg_find(c, rck_insn_target(insn) - c->address)
				     : -1;
		bool gap = i + 1 < c->n_insns &&
			   insn[1].address != insn->address + insn->size;

		if (to >= 0)
			leads[to] = true;
		if (rck_insn_is_branch(insn) || !rck_insn_falls_through(insn) || gap)
			leads[i + 1] = true;
	}
}

void rck_cfg_make_blocks(struct rck_cfg *c)
{
	bool *leads = rck_xcalloc(c->n_insns + 1, sizeof(*leads));

	qsort(c->insns, c->n_insns, sizeof(*c->insns), by_address);
	for (size_t i = 0; i < c->n_insns; i++)
		mark(c, c->insns[i].address - c->address, (int32_t)i);
	find_leaders(c, leads);
	free(c->blocks);
	free(c->block_of);
	c->blocks = rck_xcalloc(c->n_insns + 1, sizeof(*c->blocks));
	c->block_of = rck_xcalloc(c->n_insns + 1, sizeof(*c->block_of));
	c->n_blocks = 0;
	for (size_t i = 0; i < c->n_insns; i++) {
		if (leads[i])
			c->blocks[c->n_blocks++].first = (uint32_t)i;
		c->blocks[c->n_blocks - 1].last = (uint32_t)i;
		c->block_of[i] = (uint32_t)c->n_blocks - 1;
	}
	free(leads);
}

void rck_cfg_release(struct rck_cfg *c)
{
	free(c->insns);
	free(c->blocks);
	free(c->block_of);
	free(c->at);
	*c = (struct rck_cfg){0};
}
