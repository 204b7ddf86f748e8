/*
 * An experiment: arms, what is known of each, and the cells in which they were exposed (a
 * load shape and a route to teardown each). What ab and stress produce, what a line of
 * results.jsonl holds, what the reports show. Strings are owned.
 */
#pragma once

#include "teardown/stats.h"
#include "teardown/trial.h"

#define RCK_EXPERIMENT_SCHEMA 1

/* A fact about the whole ("cpu", "CPU", "..."), in the order of the report. */
struct rck_field {
	char *key, *title, *value;
};

/* A fact about the arms, side by side: values[n_arms], NULL where it does not apply. */
struct rck_row {
	char *key, *title;
	char **values;
};

struct rck_arm_info {
	char *name;
	char *command; /* as a shell would take it */
	char *unbuilt; /* why there is nothing to expose, or NULL */
};

struct rck_cell {
	enum rck_load_shape shape;
	char *route; /* "exit", "cumask", "fork"; "" when the command has its own */
	unsigned workers, concurrent, wanted /* exposures an arm */;
	bool reordered;   /* "destructor order of AMD's builds, imitated" */
	char *trouble;    /* why it was not run to its end, or NULL */
	unsigned *strata; /* of each exposure: its round, distinct across merged runs */
	unsigned parts;   /* runs merged into it */
	struct rck_trial_result result;
};

struct rck_experiment {
	char *tool;   /* "ab", "stress" */
	char *repeat; /* the command line that does it again */
	struct rck_field *environment;
	size_t n_environment;
	struct rck_arm_info *arms;
	size_t n_arms;
	struct rck_row *rows;
	size_t n_rows;
	struct rck_cell *cells;
	size_t n_cells;
	char **notes; /* what the reader has to know: sentences */
	size_t n_notes;
	bool interrupted;
};

void rck_experiment_release(struct rck_experiment *x);

/* Adders; strings are copied, NULL values allowed for rows' cells. */
void rck_experiment_environment(
	struct rck_experiment *x, const char *key, const char *title, const char *value);
/* The value of key in the environment, or NULL. */
const char *rck_experiment_value(const struct rck_experiment *x, const char *key);
struct rck_arm_info *rck_experiment_arm(struct rck_experiment *x, const char *name);
/* Sets one arm's value in the row of this key; the row is made at its first value. */
void rck_experiment_row(struct rck_experiment *x, const char *key, const char *title,
	size_t arm, const char *value);
struct rck_cell *rck_experiment_cell(struct rck_experiment *x);
/* Takes over what a trial, run into c->result, was told to do. */
void rck_cell_from_trial(
	struct rck_cell *c, const struct rck_trial *t, const char *route);
/*
 * Where AMD's order of destructors was asked for: sets c->reordered when every exposure
 * had it. Otherwise -ENOENT with diag: nothing may be reported of that order then, and
 * the exposures are dropped.
 */
void rck_cell_drop(struct rck_cell *c); /* its exposures */
int rck_cell_check_order(struct rck_cell *c, struct rck_diag *diag);
void rck_experiment_note(struct rck_experiment *x, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* CPU, CPUs, kernel, and how it shares them out: what every experiment depends on. */
void rck_experiment_describe_machine(struct rck_experiment *x);

/* ---- what a cell says ---- */

/* One arm in one cell. */
struct rck_tally {
	unsigned n; /* exposures */
	unsigned by_outcome[RCK_OUTCOMES];
	unsigned hangs;           /* of both kinds */
	struct rck_interval rate; /* of hangs, Wilson 95 % */
	unsigned starved, listeners, left_behind;
};

struct rck_tally rck_cell_tally(const struct rck_cell *c, size_t arm);

/* Two arms in one cell: p of "the same rate of hangs". */
struct rck_comparison {
	double fisher, by_round;
};

struct rck_comparison rck_cell_compare(const struct rck_cell *c, size_t a, size_t b);

/* Stacks that are the same, once. */
struct rck_fold {
	const struct rck_exposure *example; /* borrowed */
	unsigned *by_arm;                   /* exposures with it: [n_arms] */
	unsigned n;
};

/* The folded stacks of a cell's hangs, the most frequent first; rck_folds_free(). */
struct rck_fold *rck_cell_folds(const struct rck_cell *c, size_t n_arms, size_t *n);
void rck_folds_free(struct rck_fold *folds, size_t n);

/* ---- to and from JSON ---- */

/* The report, and (indent 0) the line of results.jsonl: one object. */
void rck_experiment_write(const struct rck_experiment *x, struct rck_json *j);
int rck_experiment_read(
	const json_t *object, struct rck_experiment *out, struct rck_diag *diag);
/* Appends it as one line, under a lock: jobs of an array may share the file. */
int rck_experiment_append(
	const struct rck_experiment *x, const char *path, struct rck_diag *diag);
/*
 * Adds the exposures of another to this one: cell to the cell of the same shape, route
 * and order. -EINVAL with diag when they are no two parts of one experiment: other arms,
 * or another HIP runtime.
 */
int rck_experiment_merge(struct rck_experiment *into, const struct rck_experiment *from,
	struct rck_diag *diag);
