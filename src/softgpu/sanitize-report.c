/* Findings as lines, each place and kind once a launch. */
#include "softgpu/report.h"
#include "softgpu/sanitize-parts.h"

#include <stdarg.h>
#include <stdlib.h>

#define SEEN_MAX 512

struct sg_san_seen {
	uint64_t pc;
	enum sg_san_kind kind;
};

static const char *const names[SAN_KINDS] = {
	[SAN_RACE_LDS] = "lds-race",
	[SAN_RACE_GLOBAL] = "global-race",
	[SAN_RACE_LAUNCH] = "launch-race",
	[SAN_UNINIT_LDS] = "uninitialized-lds",
	[SAN_UNINIT_REGISTER] = "uninitialized-register",
	[SAN_UNINIT_SCRATCH] = "uninitialized-scratch",
	[SAN_BOUNDS_LDS] = "lds-out-of-bounds",
	[SAN_WAIT] = "missing-wait",
};

/* lock held; true when the place is new and there is room for it. */
static bool is_new(struct sg_san *s, uint64_t pc, enum sg_san_kind kind)
{
	for (unsigned int i = 0; i < s->n_seen; i++)
		if (s->seen[i].pc == pc && s->seen[i].kind == kind)
			return false;
	if (!s->seen)
		s->seen = calloc(SEEN_MAX, sizeof(*s->seen));
	if (!s->seen || s->n_seen == SEEN_MAX) {
		s->left_out++;
		return false;
	}
	s->seen[s->n_seen++] = (struct sg_san_seen){pc, kind};
	return true;
}

static void write_line(const struct sg_san_step *t, const struct sg_inst *in,
	enum sg_san_kind kind, const char *what)
{
	const struct sg_wave *w = t->w;
	const char *kernel = w->g->run->k.launch->kernel;
	char text[160] = "", place[400], line[1200];

	pthread_mutex_lock(&t->s->lock);
	if (is_new(t->s, in->pc, kind)) {
		sg_program_text_locked(
			(struct sg_program *)w->p, in->pc, text, sizeof(text));
		sg_place(&w->g->run->k, in->pc, place, sizeof(place));
		snprintf(line, sizeof(line),
			"sanitize: [%s] kernel '%.128s' at %s: %s: %s (workgroup "
			"%u,%u,%u wave %u)",
			names[kind], kernel ? kernel : "?", place, text, what,
			w->g->id[0], w->g->id[1], w->g->id[2], w->index);
		for (char *p = line; *p; p++)
			*p = sg_masked(*p);
		fprintf(t->s->out, "%s\n", line);
		fflush(t->s->out);
		sg_report('!'); /* a full pipe was told enough */
	}
	pthread_mutex_unlock(&t->s->lock);
}

void sg_san_report(
	const struct sg_san_step *t, enum sg_san_kind kind, const char *fmt, ...)
{
	char what[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	write_line(t, t->in, kind, what);
}

void sg_san_report_undef(const struct sg_san_step *t, const char *use, uint64_t lanes,
	const struct sg_san_origin *from)
{
	const char *memory = from->kind == SAN_UNINIT_LDS ? "LDS" : "scratch";
	char what[700], place[400], lane[24] = "", holder[40];

	if (lanes)
		snprintf(lane, sizeof(lane), " in lane %d", __builtin_ctzll(lanes));
	if (from->kind != SAN_UNINIT_REGISTER)
		snprintf(holder, sizeof(holder), "%s offset 0x%x", memory, from->at);
	else if (from->scalar && from->at == SG_S_VCC)
		snprintf(holder, sizeof(holder), "vcc");
	else
		snprintf(holder, sizeof(holder), "%c%u",
			from->scalar           ? 's'
			: from->at >= SG_VGPRS ? 'a'
					       : 'v',
			from->scalar ? from->at : from->at % SG_VGPRS);
	if (from->in == t->in) {
		snprintf(what, sizeof(what), "nothing wrote %s, which is %s%s", holder,
			use, lane);
	} else {
		sg_place(&t->w->g->run->k, t->in->pc, place, sizeof(place));
		snprintf(what, sizeof(what),
			"nothing wrote %s, whose value is %s%s at %s", holder, use, lane,
			place);
	}
	write_line(t, from->in, (enum sg_san_kind)from->kind, what);
}
