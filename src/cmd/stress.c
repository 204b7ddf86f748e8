#include "cmd/commands.h"
#include "cmd/live.h"
#include "teardown/preloads.h"
#include "util/msg.h"

#include <stdlib.h>
#include <string.h>

static int load = RCK_LOAD_CHURN;
static unsigned long long exposures, workers, concurrent;
static double timeout, grace;
static const char *done_regex, *core_folder, *output, *append;
static bool until_confident, amd_order;
static int format;

static const struct rck_opt opts[] = {
	{RCK_OPT_CHOICE, 'l', "load", &load, "none|spin|churn|starve",
		"what the exposures run under; churn unless given"},
	{RCK_OPT_UINT, 'n', "exposures", &exposures, "N",
		"how often COMMAND is run (40 under churn, 20 under spin and none, 8 "
		"under "
		"starve)"},
	{RCK_OPT_UINT, 0, "workers", &workers, "N",
		"workers of the load (one a hardware thread, 4 under starve)"},
	{RCK_OPT_UINT, 'j', "concurrent", &concurrent, "N",
		"exposures at one time (4 under churn, else 1)"},
	{RCK_OPT_DOUBLE, 't', "timeout", &timeout, "SECONDS",
		"after which the load ends and the grace begins (derived from runs "
		"without "
		"load)"},
	{RCK_OPT_DOUBLE, 0, "grace", &grace, "SECONDS",
		"that a process has to end once the load is gone (derived)"},
	{RCK_OPT_STRING, 0, "done-regex", &done_regex, "REGEX",
		"the work is done once a line of output matches (else: once main has "
		"returned or exit was called)"},
	{RCK_OPT_FLAG, 0, "until-confident", &until_confident, NULL,
		"stop early, by a sequential test"},
	{RCK_OPT_FLAG, 0, "amd-order", &amd_order, NULL,
		"imitate the order of destructors that AMD's builds of libamdhip64 have, "
		"by "
		"a preload; results are labelled so"},
	{RCK_OPT_STRING, 0, "core", &core_folder, "DIR",
		"keep a core of each hung process there (needs gdb)"},
	{RCK_OPT_CHOICE, 0, "format", &format, RCK_LIVE_FORMATS, "how to report"},
	{RCK_OPT_STRING, 'o', "output", &output, "FILE", "report there, not to stdout"},
	{RCK_OPT_STRING, 0, "append", &append, "FILE",
		"add the results as a line of JSON, for 'rocmcheck ab --merge'"},
	{RCK_OPT_END},
};

/* What the exposures say of themselves, for the environment. */
static void describe_runtime(struct rck_experiment *x, const struct rck_cell *c)
{
	const struct rck_exposure *e = NULL;

	for (size_t i = 0; i < c->result.n && !e; i++)
		if (c->result.exposures[i].hip || c->result.exposures[i].hsa)
			e = &c->result.exposures[i];
	rck_preloads_describe_runtime(x, e ? e->hip : NULL, e ? e->hsa : NULL);
}

static int expose(struct rck_experiment *x, const char *const *argv, const char *preload)
{
	struct rck_arm arm = {"it", argv, NULL};
	struct rck_cell *c = rck_experiment_cell(x);
	struct rck_diag diag;
	struct rck_trial t = {.arms = &arm,
		.n_arms = 1,
		.shape = (enum rck_load_shape)load,
		.workers = (unsigned)workers,
		.exposures = (unsigned)exposures,
		.concurrent = (unsigned)concurrent,
		.timeout = timeout,
		.grace = grace,
		.preload = preload,
		.done_regex = done_regex,
		.core_folder = core_folder,
		.until_confident = until_confident,
		.stop = &rck_live_stop,
		.progress = rck_live_progress,
		.progress_arg = (void *)rck_load_name((enum rck_load_shape)load)};
	int err;

	rck_trial_defaults(&t);
	rck_live_begin();
	err = rck_trial_run(&t, &c->result, &diag);
	rck_live_end();
	rck_cell_from_trial(c, &t, "");
	x->interrupted = c->result.interrupted;
	if (!err && amd_order)
		err = rck_cell_check_order(c, &diag);
	if (err) {
		rck_error("%s", diag.msg);
		return RCK_EXIT_TROUBLE;
	}
	describe_runtime(x, c);
	return RCK_EXIT_CLEAN;
}

static int check_options(int n)
{
	if (!n) {
		rck_error("no command given");
		return RCK_EXIT_USAGE;
	}
	if (rck_live_check_regex(done_regex))
		return RCK_EXIT_USAGE;
	if (timeout < 0 || grace < 0 || workers > 4096 || concurrent > RCK_SLOTS_MAX ||
		exposures > 1000000) {
		rck_error("a number is out of range: at most 4096 workers, %d exposures "
			  "at one time, 1000000 in all",
			RCK_SLOTS_MAX);
		return RCK_EXIT_USAGE;
	}
	return RCK_EXIT_CLEAN;
}

static int run(int n, char **operands)
{
	struct rck_experiment x = {0};
	struct rck_arm_info *arm;
	char *preload = NULL;
	struct rck_diag diag;
	int status = check_options(n);

	if (status)
		return status;
	/* the parser has moved them to the front and left the rest behind them */
	operands[n] = NULL;
	if (rck_preloads_find(amd_order, &preload, &diag)) {
		if (amd_order) {
			rck_error("%s", diag.msg);
			return RCK_EXIT_TROUBLE;
		}
		rck_warning("%s: whether main has returned will not be seen", diag.msg);
	}
	x.tool = rck_xstrdup("stress");
	x.repeat = rck_live_command("stress");
	rck_experiment_describe_machine(&x);
	arm = rck_experiment_arm(&x, "it");
	arm->command = rck_live_quote((const char *const *)operands);
	status = expose(&x, (const char *const *)operands, preload);
	if (status != RCK_EXIT_TROUBLE)
		status = rck_exit_worse(
			status, rck_live_report(&x, (enum rck_live_format)format, output,
					append));
	rck_experiment_release(&x);
	free(preload);
	return status;
}

const struct rck_cmd rck_cmd_stress = {
	.name = "stress",
	.summary = "expose a program's teardown: does it end when its work is done?",
	.operands = "-- COMMAND [ARGUMENT...]",
	.opts = opts,
	.takes_command = true,
	.run = run,
	.details =
		"Each exposure is one process that works and should then end. At a "
		"deadline "
		"the load\nis stopped; what still runs after a grace is a hang, and its "
		"stacks are taken\nbefore it is killed. Exit status: 0 every exposure "
		"was "
		"clean, 1 one hung, crashed\nor failed, 2 it could not be run.",
};
