/* What the program says on stderr. Only src/cmd and src/main.c call this: libraries never
 * print. */
#pragma once

#include "rocmcheck.h"

/*
 * "rocmcheck: error: ..." in one write; control characters are masked. No capital, no
 * full stop, the subject in single quotes: cannot open '%s': No such file or directory.
 */
void rck_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void rck_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "rocmcheck: ..."; silent with --quiet. */
void rck_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void rck_msg_set_quiet(bool quiet);

/* The error line of a diag: 'SUBJECT': [offset 0xN:] MESSAGE. */
void rck_error_diag(const char *subject, const struct rck_diag *diag);

/* Flushes stdout; a failed write (a full disk, not EPIPE) is an error line and -EIO. */
int rck_close_stdout(void);
