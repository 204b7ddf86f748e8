#include "cmd/live.h"
#include "cmd/cmd.h"
#include "report/experiment.h"
#include "teardown/verdict.h"
#include "util/msg.h"
#include "util/output.h"
#include "util/regex.h"
#include "util/term.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile sig_atomic_t rck_live_stop;

static struct sigaction old_int, old_term;
static size_t shown; /* columns of the line on the terminal */

static void on_signal(int number)
{
	rck_live_stop = 1;
}

void rck_live_begin(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	rck_live_stop = 0;
	sigaction(SIGINT, &action, &old_int);
	sigaction(SIGTERM, &action, &old_term);
}

void rck_live_clear(void)
{
	if (shown)
		fprintf(stderr, "\r%*s\r", (int)shown, "");
	shown = 0;
}

void rck_live_end(void)
{
	rck_live_clear();
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGTERM, &old_term, NULL);
}

static void add_counts(struct rck_strbuf *line, const struct rck_trial *t,
	const struct rck_trial_result *r)
{
	for (unsigned arm = 0; arm < t->n_arms; arm++) {
		unsigned n = 0, hangs = 0;

		for (size_t i = 0; i < r->n; i++)
			if (r->exposures[i].arm == arm) {
				n++;
				hangs += rck_outcome_is_hang(r->exposures[i].outcome);
			}
		rck_strbuf_addf(line, "  %s %u/%u hung",
			t->n_arms > 1 ? t->arms[arm].name : "", hangs, n);
	}
}

void rck_live_progress(
	const struct rck_trial *t, const struct rck_trial_result *r, void *arg)
{
	_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;
	unsigned total = rck_trial_rounds(t);
	size_t width;

	if (!isatty(STDERR_FILENO))
		return;
	if (!r->deadline) {
		rck_strbuf_addf(
			&line, "%s: baseline, no load  %.0f s", (char *)arg, r->seconds);
	} else {
		rck_strbuf_addf(&line, "%s: round %u of %u", (char *)arg,
			r->rounds < total ? r->rounds + 1 : total, total);
		add_counts(&line, t, r);
		if (r->rounds)
			rck_strbuf_addf(&line, "  %.0f s left",
				r->seconds / r->rounds * (total - r->rounds));
	}
	width = rck_term_columns(line.buf, line.len);
	fprintf(stderr, "\r%s%*s", line.buf, width < shown ? (int)(shown - width) : 0,
		"");
	shown = width;
}

int rck_live_check_regex(const char *text)
{
	struct rck_regex *regex;
	char why[128];

	if (!text)
		return 0;
	regex = rck_regex_new(text, why);
	if (!regex) {
		rck_error("option '--done-regex': '%s': %s", text, why);
		return -EINVAL;
	}
	rck_regex_free(regex);
	return 0;
}

static void format_report(const struct rck_experiment *x, enum rck_live_format format,
	bool to_stdout, struct rck_strbuf *out)
{
	switch (format) {
	case RCK_LIVE_TEXT:
		rck_experiment_text(x, out, rck_term_width(),
			to_stdout && rck_term_color(RCK_COLOR_AUTO, STDOUT_FILENO));
		break;
	case RCK_LIVE_JSON:
		rck_experiment_json(x, out);
		break;
	case RCK_LIVE_JUNIT:
		rck_experiment_junit(x, out);
		break;
	case RCK_LIVE_HTML:
		rck_experiment_html(x, out);
		break;
	}
}

int rck_live_report(const struct rck_experiment *x, enum rck_live_format format,
	const char *output, const char *append)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	int status = rck_verdict_has_findings(x) ? RCK_EXIT_FINDINGS : RCK_EXIT_CLEAN;
	struct rck_diag diag;

	if (output && !strcmp(output, "-"))
		output = NULL;
	format_report(x, format, !output, &text);
	if (output && rck_output_write(output, text.buf, text.len))
		status = RCK_EXIT_TROUBLE;
	else if (!output)
		fwrite(text.buf, 1, text.len, stdout);
	if (append && rck_experiment_append(x, append, &diag)) {
		rck_error_diag(append, &diag);
		status = RCK_EXIT_TROUBLE;
	}
	return status;
}

static void add_quoted(struct rck_strbuf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%";

	if (out->len)
		rck_strbuf_addc(out, ' ');
	if (*word && word[strspn(word, plain)] == 0) {
		rck_strbuf_adds(out, word);
		return;
	}
	rck_strbuf_addc(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			rck_strbuf_adds(out, "'\\''");
		else
			rck_strbuf_addc(out, *word);
	rck_strbuf_addc(out, '\'');
}

char *rck_live_quote(const char *const *argv)
{
	struct rck_strbuf out = RCK_STRBUF_INIT;

	for (; *argv; argv++)
		add_quoted(&out, *argv);
	return rck_strbuf_detach(&out);
}

/* From the kernel: the parser has moved the words of argv about. */
char *rck_live_command(const char *tool)
{
	struct rck_strbuf out = RCK_STRBUF_INIT, all = RCK_STRBUF_INIT;
	char chunk[4096];
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t n;

	while (f && (n = fread(chunk, 1, sizeof(chunk), f)))
		rck_strbuf_add(&all, chunk, n);
	if (f)
		fclose(f);
	for (size_t at = 0; at < all.len; at += strlen(all.buf + at) + 1)
		add_quoted(&out, at ? all.buf + at : "rocmcheck");
	if (!out.len)
		rck_strbuf_addf(&out, "rocmcheck %s", tool);
	rck_strbuf_release(&all);
	return rck_strbuf_detach(&out);
}
