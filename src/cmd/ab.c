/* ab: the controlled comparison. The same program under the same load, arms interleaved;
 * only the code object differs. */
#include "cmd/ab.h"
#include "cmd/commands.h"
#include "teardown/preloads.h"
#include "util/msg.h"
#include "util/temporary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ab_options o = {.levels = NULL,
	.loads = "starve",
	.routes = NULL,
	.launch = true,
	.teardown = true};
static bool merge;

static const struct rck_opt opts[] = {
	{RCK_OPT_STRING, 'O', "opt", &o.levels, "LEVELS",
		"the arms: levels at which the kernels are compiled, of O0, O1, O2, O3, "
		"Os and "
		"default, ',' between (O0,O1 unless given)"},
	{RCK_OPT_STRING, 's', "source", &o.source, "FILE",
		"compile this HIP file instead of the bundled RMS norm"},
	{RCK_OPT_STRING, 'k', "kernel", &o.kernel, "NAME",
		"launch this kernel, by its mangled name (the first unless given)"},
	{RCK_OPT_STRING, 'a', "a", &o.file[0], "FILE", "arm a: this code object"},
	{RCK_OPT_STRING, 'b', "b", &o.file[1], "FILE", "arm b: this code object"},
	{RCK_OPT_STRING, 0, "a-command", &o.command[0], "COMMAND",
		"arm a: this command, as sh takes it"},
	{RCK_OPT_STRING, 0, "b-command", &o.command[1], "COMMAND", "arm b: this command"},
	{RCK_OPT_STRING, 'c', "compiler", &o.compiler, "NAME",
		"comgr (unless given, where it is found), hipcc, clang++, or a path"},
	{RCK_OPT_STRING, 0, "rocm", &o.rocm, "DIR",
		"the ROCm that compiles and launches: a folder that scripts/fetch-rocm "
		"made, or "
		"a root like /opt/rocm"},
	{RCK_OPT_STRING, 0, "teardown-rocm", &o.teardown_rocm, "DIR",
		"the ROCm whose HIP runtime is exposed (that of --rocm unless given)"},
	{RCK_OPT_CHOICE, 'd', "device", &o.device, "auto|hip|soft",
		"the GPU that HIP finds, the software device, or (auto) the one, else "
		"the other"},
	{RCK_OPT_STRING, 't', "target", &o.target, "TARGET",
		"compile for this processor (the device's own; gfx1030 for the software "
		"device)"},
	{RCK_OPT_FLAG, 0, "launch", &o.launch, NULL,
		"launch the bundled kernels and compare their numbers (unless turned "
		"off)",
		true},
	{RCK_OPT_FLAG, 0, "teardown", &o.teardown, NULL,
		"expose the teardown (unless turned off)", true},
	{RCK_OPT_STRING, 'l', "load", &o.loads, "LIST",
		"load shapes: none, spin, churn, starve, ',' between, or all (starve "
		"unless "
		"given)"},
	{RCK_OPT_STRING, 'r', "routes", &o.routes, "LIST",
		"routes to teardown: exit, cumask, fork, ',' between, or all "
		"(exit,cumask unless "
		"given)"},
	{RCK_OPT_STRING, 0, "route", &o.routes, "LIST", "the same as --routes"},
	{RCK_OPT_FLAG, 0, "self", &o.self, NULL,
		"examine the HIP runtime that is here, on the software device: which "
		"routes hang, "
		"and what is known of its version"},
	{RCK_OPT_FLAG, 0, "amd-order", &o.amd_order, NULL,
		"imitate the order of destructors of AMD's builds, by a preload; results "
		"are "
		"labelled so"},
	{RCK_OPT_UINT, 'n', "exposures", &o.exposures, "N",
		"exposures an arm (40 under churn, 20 under spin and none, 8 under "
		"starve)"},
	{RCK_OPT_UINT, 0, "workers", &o.workers, "N",
		"workers of the load (one a hardware thread, 4 under starve)"},
	{RCK_OPT_UINT, 'j', "concurrent", &o.concurrent, "N",
		"exposures at one time, of all arms together (4 under churn, else 1)"},
	{RCK_OPT_UINT, 0, "seed", &o.seed, "N", "of the lot that orders the exposures"},
	{RCK_OPT_DOUBLE, 0, "timeout", &o.timeout, "SECONDS",
		"after which the load ends and the grace begins (derived from runs "
		"without "
		"load)"},
	{RCK_OPT_DOUBLE, 0, "grace", &o.grace, "SECONDS",
		"that a process has to end once the load is gone (derived)"},
	{RCK_OPT_STRING, 0, "done-regex", &o.done_regex, "REGEX",
		"the work is done once a line of output matches"},
	{RCK_OPT_FLAG, 0, "until-confident", &o.until_confident, NULL,
		"stop early, by a sequential test"},
	{RCK_OPT_STRING, 0, "core", &o.core_folder, "DIR",
		"keep a core of each hung process there (needs gdb)"},
	{RCK_OPT_CHOICE, 'f', "format", &o.format, RCK_LIVE_FORMATS, "how to report"},
	{RCK_OPT_STRING, 'o', "output", &o.output, "FILE", "report there, not to stdout"},
	{RCK_OPT_STRING, 0, "append", &o.append, "FILE",
		"add the results as a line of JSON"},
	{RCK_OPT_FLAG, 0, "merge", &merge, NULL,
		"no experiment: combine the results in FILE..., of many machines"},
	{RCK_OPT_END},
};

void ab_trouble(struct ab *ab)
{
	ab->status = rck_exit_worse(ab->status, RCK_EXIT_TROUBLE);
}

void ab_row(struct ab *ab, const char *key, const char *title, size_t arm,
	const char *fmt, ...)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	rck_strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	rck_experiment_row(ab->x, key, title, arm, text.buf);
}

/* ---- what it runs on ---- */

static int open_rocm(const char *dir, struct rck_rocm **out)
{
	struct rck_diag diag;

	if (!rck_rocm_open(dir, out, &diag))
		return 0;
	rck_error_diag(dir ? dir : "ROCm", &diag);
	return -ENOENT;
}

static int find_device(struct ab *ab, struct rck_rocm *rocm, struct rck_device *out)
{
	enum rck_device_kind kind =
		ab->o->self ? RCK_DEVICE_SOFT : (enum rck_device_kind)ab->o->device;
	const char *target = ab->o->target ? ab->o->target : "gfx1030";
	struct rck_diag diag;

	if (!rck_device_find(rocm, kind, target, out, &diag)) {
		if (kind == RCK_DEVICE_AUTO && out->kind == RCK_DEVICE_SOFT &&
			!ab->has_teardown_device)
			rck_notice("no GPU behind HIP: on the software device");
		return 0;
	}
	rck_error("no device for %s: %s",
		rck_rocm_dir(rocm) ? rck_rocm_dir(rocm) : "this machine's HIP", diag.msg);
	ab_trouble(ab);
	return -ENODEV;
}

static void describe_device(struct ab *ab)
{
	const struct rck_device *d =
		ab->has_teardown_device ? &ab->teardown_device : &ab->device;

	rck_preloads_describe_runtime(ab->x, d->hip, d->hsa);
	rck_experiment_environment(ab->x, "device_name", "device name", d->name);
	rck_experiment_environment(ab->x, "target", "target", d->target);
	if (ab->has_device && ab->has_teardown_device &&
		strcmp(ab->device.hip, ab->teardown_device.hip))
		rck_experiment_environment(
			ab->x, "launch_hip", "launched with", ab->device.hip);
}

static int prepare(struct ab *ab)
{
	const struct ab_options *opt = ab->o;

	if (ab->kind == AB_COMMANDS)
		return 0;
	if (open_rocm(opt->rocm, &ab->rocm))
		return -ENOENT;
	if (!opt->teardown_rocm)
		ab->teardown_rocm = ab->rocm;
	else if (open_rocm(opt->teardown_rocm, &ab->teardown_rocm))
		return -ENOENT;
	ab->has_teardown_device = opt->teardown && !find_device(ab, ab->teardown_rocm,
							   &ab->teardown_device);
	ab->has_device =
		opt->launch && !opt->self && !find_device(ab, ab->rocm, &ab->device);
	if (ab->has_device || ab->has_teardown_device)
		describe_device(ab);
	return 0;
}

/* ---- its files ---- */

static int make_folder(struct ab *ab)
{
	ab->folder = rck_temporary_make();
	if (ab->folder)
		return 0;
	rck_error("cannot make a temporary folder: %s", strerror(errno));
	return -errno;
}

static void release(struct ab *ab)
{
	ab_arms_release(ab);
	if (ab->has_device)
		rck_device_release(&ab->device);
	if (ab->has_teardown_device)
		rck_device_release(&ab->teardown_device);
	if (ab->teardown_rocm != ab->rocm)
		rck_rocm_close(ab->teardown_rocm);
	rck_rocm_close(ab->rocm);
	rck_temporary_remove(ab->folder);
	rck_experiment_release(ab->x);
}

/* ---- the command ---- */

static int check_options(void)
{
	if (rck_live_check_regex(o.done_regex))
		return RCK_EXIT_USAGE;
	if (o.timeout < 0 || o.grace < 0 || o.workers > 4096 ||
		o.concurrent > RCK_SLOTS_MAX || o.exposures > 1000000 ||
		o.seed > 0xffffffffu) {
		rck_error(
			"a number is out of range: at most 4096 workers, %d exposures at "
			"one time, 1000000 in all",
			RCK_SLOTS_MAX);
		return RCK_EXIT_USAGE;
	}
	return RCK_EXIT_CLEAN;
}

static int experiment(void)
{
	struct rck_experiment x = {0};
	struct ab ab = {.o = &o, .x = &x};
	int status = ab_arms_parse(&ab);

	if (!status)
		status = ab_expose_parse(&ab);
	if (status) {
		release(&ab);
		return status;
	}
	x.tool = rck_xstrdup("ab");
	x.repeat = rck_live_command("ab");
	rck_experiment_describe_machine(&x);
	rck_live_begin();
	if (make_folder(&ab) || prepare(&ab)) {
		rck_live_end();
		release(&ab);
		return RCK_EXIT_TROUBLE;
	}
	ab_arms_build(&ab);
	if (ab.has_device && !rck_live_stop)
		ab_arms_launch(&ab);
	if (o.teardown && !rck_live_stop)
		ab_expose(&ab);
	rck_live_end();
	x.interrupted |= rck_live_stop;
	ab_conclude(&ab);
	status =
		rck_exit_worse(ab.status, ab.differ ? RCK_EXIT_FINDINGS : RCK_EXIT_CLEAN);
	status = rck_exit_worse(status,
		rck_live_report(&x, (enum rck_live_format)o.format, o.output, o.append));
	release(&ab);
	return status;
}

static int run(int n, char **operands)
{
	int status = check_options();

	if (status)
		return status;
	if (merge)
		return ab_merge(&o, n, operands);
	if (n) {
		rck_error("unexpected operand '%s'", operands[0]);
		return RCK_EXIT_USAGE;
	}
	return experiment();
}

const struct rck_cmd rck_cmd_ab = {
	.name = "ab",
	.summary = "the controlled comparison: kernels at -O0 and -O1, side by side and "
		   "at exit",
	.operands = "[--merge FILE...]",
	.opts = opts,
	.run = run,
	.details = "Exit status: 0 the arms are equal and every exposure was clean, 1 "
		   "they differ, or "
		   "one\nhung, crashed or failed, 2 something could not be built, "
		   "launched or "
		   "run.",
};
