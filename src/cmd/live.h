/* What ab and stress share on the terminal: the progress line, Ctrl-C, and the report. */
#pragma once

#include "teardown/experiment.h"

/* Set by SIGINT and SIGTERM from rck_live_begin() on: a trial's stop. */
extern volatile sig_atomic_t rck_live_stop;

void rck_live_begin(void);
/* A trial's progress; arg is the cell's label, "churn, cumask". */
void rck_live_progress(
	const struct rck_trial *t, const struct rck_trial_result *so_far, void *arg);
void rck_live_clear(void);
/* Clears the line and gives the signals back. */
void rck_live_end(void);

/* --done-regex: 0, or -EINVAL after an error line. NULL is fine. */
int rck_live_check_regex(const char *regex);

/* --format text|json|junit|html, in this order. */
enum rck_live_format { RCK_LIVE_TEXT, RCK_LIVE_JSON, RCK_LIVE_JUNIT, RCK_LIVE_HTML };
#define RCK_LIVE_FORMATS "text|json|junit|html"

/*
 * Writes the report to the file output, or to stdout when that is NULL or "-", and
 * appends the line to append when that is not NULL. Says on stderr what failed. Returns
 * an exit status: 1 for findings, 2 for trouble.
 */
int rck_live_report(const struct rck_experiment *x, enum rck_live_format format,
	const char *output, const char *append);

/* The command line that was given, quoted as a shell would take it; free(). */
char *rck_live_command(const char *tool);
/* The same for a list of words. */
char *rck_live_quote(const char *const *argv);
