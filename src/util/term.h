/* The terminal behind a stream: width and colour. */
#pragma once

#include "util/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum rck_color_mode { RCK_COLOR_AUTO, RCK_COLOR_ALWAYS, RCK_COLOR_NEVER };

/* Columns of stdout's terminal; COLUMNS when set; 80 when it is not a terminal. */
unsigned rck_term_width(void);
/* auto: a terminal, and neither NO_COLOR (no-color.org) nor TERM=dumb. */
bool rck_term_color(enum rck_color_mode mode, int fd);
/* Columns that a UTF-8 string takes; escape sequences (ESC [ ... m) take none. */
size_t rck_term_columns(const char *s, size_t len);
/*
 * Adds text wrapped at blanks to lines of at most width columns: the first goes on at
 * column at, the others are indented. A new line ends it.
 */
void rck_term_wrap(struct rck_strbuf *out, const char *text, unsigned at, unsigned indent,
	unsigned width);
