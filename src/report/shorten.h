/* Names of kernels cut to a column. */
#pragma once

#include "util/shorten.h"

/*
 * Adds what a name of rck_shorten_name() is cut to in width columns: template arguments
 * lose their middle first, then namespaces go from the left, then the base name loses its
 * middle.
 */
void rck_shorten_fit(struct rck_strbuf *out, const char *name, size_t width);
