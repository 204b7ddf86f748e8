#include "report/summary.h"

#include <stddef.h>

/* The numbers in the order of JSON. */
static const struct {
	const char *key;
	size_t offset;
} fields[] = {
#define FIELD(name)                                                                      \
	{                                                                                \
#name, offsetof(struct rck_summary, name)                                \
	}
	FIELD(code_objects),
	FIELD(kernels),
	FIELD(selected),
	FIELD(flagged),
	FIELD(hostcall),
	FIELD(heap),
	FIELD(dynamic_stack),
	FIELD(possible_dynamic_stack),
	FIELD(errors),
	FIELD(incomplete),
	FIELD(notes),
	FIELD(files),
	FIELD(files_without),
#undef FIELD
};
#define N_FIELDS (sizeof(fields) / sizeof(*fields))

static uint64_t *at(const struct rck_summary *s, size_t field)
{
	return (uint64_t *)((char *)s + fields[field].offset);
}

void rck_summary_add_kernel(struct rck_summary *s, const struct rck_kernel *k)
{
	s->selected++;
	s->hostcall += k->declares_hostcall;
	s->heap += k->declares_heap;
	s->dynamic_stack += k->dynamic_stack == RCK_YES;
	s->possible_dynamic_stack += k->dynamic_stack == RCK_POSSIBLE;
	if (rck_kernel_flagged(k)) {
		s->flagged++;
		s->causes[k->cause]++;
	}
}

void rck_summary_add(struct rck_summary *s, const struct rck_summary *more)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		*at(s, i) += *at(more, i);
	for (size_t i = 0; i < RCK_CAUSE_COUNT_; i++)
		s->causes[i] += more->causes[i];
}

void rck_summary_json(const struct rck_summary *s, struct rck_json *j)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		rck_json_ku64(j, fields[i].key, *at(s, i));
	rck_json_key(j, "causes");
	rck_json_object(j);
	for (enum rck_cause c = 0; c < RCK_CAUSE_COUNT_; c++)
		if (s->causes[c])
			rck_json_ku64(j, rck_cause_name(c), s->causes[c]);
	rck_json_object_end(j);
}
