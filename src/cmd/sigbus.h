/*
 * Files that shrink, or whose disk fails, while they are mapped. Reading such a page
 * raises SIGBUS; the handler puts a page of zeros there, so that the parsers, which take
 * any bytes, go on, and counts. Whoever reads files asks the count afterwards and says
 * so.
 */
#pragma once

/* Installs the handler; a second call does nothing. */
void rck_sigbus_install(void);
/* How many pages the calling thread has replaced so far. */
unsigned long rck_sigbus_count(void);
