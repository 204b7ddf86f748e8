/* What HTML pages share: text made safe, and the style. One file, nothing is fetched. */
#pragma once

#include "util/strbuf.h"

/* Adds text as HTML or XML: control characters masked, markup escaped. NULL adds nothing.
 */
void rck_html_text(struct rck_strbuf *out, const char *text);
/* Everything up to and with <body> and the heading. */
void rck_html_begin(struct rck_strbuf *out, const char *title);
void rck_html_end(struct rck_strbuf *out);
