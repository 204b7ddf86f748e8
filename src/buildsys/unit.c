#include "buildsys/unit.h"

#include "buildsys/ask.h"
#include "buildsys/words.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* The level of a driver that is not known is asked for. */
static void settle_level(struct rck_hip_unit *u, bool ask)
{
	struct rck_diag diag;

	u->level = u->line.level;
	u->from = u->line.from;
	if (u->level)
		return;
	if (!ask) {
		u->trouble = rck_xasprintf("no -O, and the default of '%s' is not known",
			u->words.items[u->line.driver_at]);
		return;
	}
	if (rck_ask_driver(
		    &u->words, u->line.driver_at, u->entry->directory, &u->level, &diag))
		u->trouble = rck_xstrdup(diag.msg);
	else
		u->from = RCK_FROM_ASKED;
}

static void read_unit(struct rck_hip_unit *u, const struct rck_compdb_entry *e, bool ask)
{
	struct rck_diag diag;

	*u = (struct rck_hip_unit){.entry = e};
	for (size_t i = 0; i < e->words.n; i++)
		rck_strv_add(&u->words, e->words.items[i]);
	if (rck_words_expand(&u->words, e->directory, &diag))
		u->trouble = rck_xstrdup(diag.msg);
	rck_hipline_read(&u->line, &u->words, e->file);
	if (!u->line.is_hip)
		return;
	if (!u->trouble)
		settle_level(u, ask);
	u->readable = !rck_hip_source_scan(e->path, &u->first_kernel, &u->first_assert);
}

static void release_unit(struct rck_hip_unit *u)
{
	rck_strv_release(&u->words);
	rck_hipline_release(&u->line);
	free(u->trouble);
}

void rck_hip_units_read(const struct rck_compdb *db, bool ask, struct rck_hip_units *u)
{
	*u = (struct rck_hip_units){.units = rck_xcalloc(db->n, sizeof(*u->units))};
	for (size_t i = 0; i < db->n; i++) {
		struct rck_hip_unit *unit = &u->units[u->n];

		*unit = (struct rck_hip_unit){0};
		if (db->entries[i].words.n)
			read_unit(unit, &db->entries[i], ask);
		if (unit->line.is_hip) {
			u->n++;
		} else {
			release_unit(unit);
			u->others++;
		}
	}
}

void rck_hip_units_release(struct rck_hip_units *u)
{
	for (size_t i = 0; i < u->n; i++)
		release_unit(&u->units[i]);
	free(u->units);
	*u = (struct rck_hip_units){0};
}
