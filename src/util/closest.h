/* The known word that somebody who wrote another one is likely to have meant. */
#pragma once

#include <stddef.h>

struct rck_closest {
	const char *word; /* borrowed */
	size_t len;
	const char *best; /* NULL: none is near; one of those that were tried */
	unsigned distance;
	char hint[64];
};

void rck_closest_init(struct rck_closest *c, const char *word, size_t len);
/* Looks at one known word. Near is: a third of the letters, at least one, changed,
 * missing, added or swapped with its neighbour. */
void rck_closest_try(struct rck_closest *c, const char *known);
/* The end of a message: ": did you mean '" dashes best "'?", or "". Borrowed from c. */
const char *rck_closest_hint(struct rck_closest *c, const char *dashes);
