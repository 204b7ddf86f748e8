/* ab --merge: results of many runs and machines, as one. */
#include "cmd/ab.h"
#include "cmd/cmd.h"
#include "teardown/verdict.h"
#include "util/msg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct merge {
	struct rck_experiment x;
	unsigned parts;
	int status;
};

static void bad_line(
	struct merge *m, const char *path, unsigned long line, const char *why)
{
	rck_error("'%s': line %lu: %s", path, line, why);
	m->status = RCK_EXIT_TROUBLE;
}

static void take_line(struct merge *m, const char *path, unsigned long number,
	const char *text, size_t len)
{
	json_error_t error;
	json_t *object = json_loadb(text, len, 0, &error);
	struct rck_experiment part;
	struct rck_diag diag;

	if (!object) {
		bad_line(m, path, number, error.text);
		return;
	}
	if (rck_experiment_read(object, &part, &diag)) {
		bad_line(m, path, number, diag.msg);
	} else if (!m->parts) {
		m->x = part;
		m->parts = 1;
	} else {
		if (rck_experiment_merge(&m->x, &part, &diag))
			bad_line(m, path, number, diag.msg);
		else
			m->parts++;
		rck_experiment_release(&part);
	}
	json_decref(object);
}

static void take_file(struct merge *m, const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long number = 0;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	if (!f) {
		rck_error("cannot open '%s': %s", path, strerror(errno));
		m->status = RCK_EXIT_TROUBLE;
		return;
	}
	while ((len = getline(&line, &cap, f)) >= 0) {
		number++;
		if (len && line[strspn(line, " \t\r\n")])
			take_line(m, path, number, line, (size_t)len);
	}
	if (ferror(f)) {
		rck_error("cannot read '%s': %s", path, strerror(errno));
		m->status = RCK_EXIT_TROUBLE;
	}
	free(line);
	fclose(f);
}

int ab_merge(const struct ab_options *o, int n, char **files)
{
	struct merge m = {.status = RCK_EXIT_CLEAN};

	if (!n) {
		rck_error("--merge: no file given");
		return RCK_EXIT_USAGE;
	}
	for (int i = 0; i < n; i++)
		take_file(&m, files[i]);
	if (m.parts) {
		rck_experiment_note(&m.x,
			"Merged from %u run%s; the environment is the first "
			"one's.",
			m.parts, m.parts == 1 ? "" : "s");
		m.status = rck_exit_worse(
			m.status, rck_live_report(&m.x, (enum rck_live_format)o->format,
					  o->output, o->append));
		rck_experiment_release(&m.x);
	} else if (m.status == RCK_EXIT_CLEAN) {
		rck_error("no results in the files given");
		m.status = RCK_EXIT_TROUBLE;
	}
	return m.status;
}
