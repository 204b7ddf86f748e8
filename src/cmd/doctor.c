/* doctor: what this machine's ROCm is and does. */
#include "buildsys/doctor.h"
#include "cmd/commands.h"
#include "container/container.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/msg.h"
#include "util/spawn.h"
#include "util/term.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum format { FORMAT_TEXT, FORMAT_JSON };

static const char *rocm_dir, *root = "";
static int format;
static int color = RCK_COLOR_AUTO;
static bool load = true;
static bool teardown;

static const struct rck_opt opts[] = {
	{RCK_OPT_STRING, 0, "rocm", &rocm_dir, "DIR",
		"look at the ROCm in DIR (a root, or a folder that scripts/fetch-rocm "
		"made) instead of "
		"the machine's own"},
	{RCK_OPT_FLAG, 0, "load", &load, NULL,
		"load the HIP runtime in a child and ask it for devices (the default)",
		true},
	{RCK_OPT_FLAG, 0, "teardown", &teardown, NULL,
		"find out by experiment which ways to exit hang with this HIP runtime "
		"(calls 'ab')"},
	{RCK_OPT_STRING, 0, "root", &root, "DIR",
		"look at what is below DIR, /sys, /dev and the ROCm: another machine's, "
		"copied"},
	{RCK_OPT_CHOICE, 'f', "format", &format, "text|json", "how to write the result"},
	{RCK_OPT_CHOICE, 0, "color", &color, "auto|always|never", "colour in text"},
	{RCK_OPT_END},
};

static void add_wrapped(struct rck_strbuf *out, const char *text, unsigned column)
{
	_cleanup_strbuf_ struct rck_strbuf masked = RCK_STRBUF_INIT;

	rck_strbuf_add_masked(&masked, text, strlen(text));
	rck_term_wrap(out, masked.buf, column, column, rck_term_width());
}

static void print_text(const struct rck_doctor *d)
{
	static const char *const colors[] = {"32", "36", "33", "31"};
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	bool paint = rck_term_color(color, 1);
	size_t topic = 0;
	unsigned count[RCK_HEALTH_PROBLEM + 1] = {0};

	for (size_t i = 0; i < d->n; i++)
		topic = strlen(d->lines[i].topic) > topic ? strlen(d->lines[i].topic)
							  : topic;
	for (size_t i = 0; i < d->n; i++) {
		const struct rck_doctor_line *l = &d->lines[i];
		unsigned column = 11 + (unsigned)topic + 2;

		count[l->health]++;
		if (paint)
			rck_strbuf_addf(&out, "\033[%sm", colors[l->health]);
		rck_strbuf_addf(&out, "%-9s", rck_health_name(l->health));
		if (paint)
			rck_strbuf_adds(&out, "\033[0m");
		rck_strbuf_addf(&out, "  %-*s  ", (int)topic, l->topic);
		add_wrapped(&out, l->text, column);
		if (l->advice) {
			rck_strbuf_pad(&out, ' ', column);
			rck_strbuf_adds(&out, "-> ");
			add_wrapped(&out, l->advice, column + 3);
		}
	}
	rck_strbuf_addf(&out, "\n%u problem%s, %u to note, %u unknown, %u ok\n",
		count[RCK_HEALTH_PROBLEM], count[RCK_HEALTH_PROBLEM] == 1 ? "" : "s",
		count[RCK_HEALTH_ATTENTION], count[RCK_HEALTH_UNKNOWN],
		count[RCK_HEALTH_OK]);
	fwrite(out.buf, 1, out.len, stdout);
}

static void print_json(const struct rck_doctor *d)
{
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_json j;

	rck_json_init(&j, &out, 2);
	rck_json_object(&j);
	rck_json_ku64(&j, "schema", 1);
	rck_json_kstr(&j, "tool", "rocmcheck");
	rck_json_kstr(&j, "version", RCK_VERSION);
	rck_json_kstr(&j, "command", "doctor");
	rck_json_key(&j, "lines");
	rck_json_array(&j);
	for (size_t i = 0; i < d->n; i++) {
		rck_json_object(&j);
		rck_json_kstr(&j, "health", rck_health_name(d->lines[i].health));
		rck_json_kstr(&j, "topic", d->lines[i].topic);
		rck_json_kstr(&j, "text", d->lines[i].text);
		rck_json_kstr(&j, "advice", d->lines[i].advice);
		rck_json_object_end(&j);
	}
	rck_json_array_end(&j);
	rck_json_object_end(&j);
	rck_strbuf_addc(&out, '\n');
	fwrite(out.buf, 1, out.len, stdout);
}

/* The experiment is `ab`'s, run by this very program with what it prints passed on. */
static int run_experiment(void)
{
	const char *argv[] = {"/proc/self/exe", "ab", "--routes", "all", "--load",
		"starve", "--self", rocm_dir ? "--rocm" : NULL, rocm_dir, NULL};
	struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_spawn s = {.argv = argv, .out = &out, .timeout = 1800};
	int err = rck_spawn_run(&s);

	if (err || s.status < 0) {
		rck_error("the experiment did not run: %s",
			err ? strerror(-err) : "it was ended");
		rck_strbuf_release(&out);
		return RCK_EXIT_TROUBLE;
	}
	fputs("\n", stdout);
	fwrite(out.buf, 1, out.len, stdout);
	rck_strbuf_release(&out);
	return s.status;
}

static int verdict(const struct rck_doctor *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->lines[i].health == RCK_HEALTH_PROBLEM)
			return RCK_EXIT_FINDINGS;
	return RCK_EXIT_CLEAN;
}

/* The ROCm of a machine below root; none there is an answer, too. */
static int open_below(struct rck_rocm **out, struct rck_diag *diag)
{
	static const char *const places[] = {"/opt/rocm", ""};

	*out = NULL;
	if (access(root, R_OK | X_OK))
		return rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot open: %s",
			strerror(errno));
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		_cleanup_free_ char *path = rck_xasprintf("%s%s", root, places[i]);

		if (!rck_rocm_open(path, out, diag))
			return 0;
		*out = NULL;
	}
	return 0;
}

static int run(int n, char **operands)
{
	struct rck_doctor d = {.root = root, .load = load};
	struct rck_diag diag;
	bool below;
	int status;

	if (teardown && format == FORMAT_JSON) {
		rck_error("'--teardown' prints text: run 'rocmcheck ab --format json' "
			  "for the experiment");
		return RCK_EXIT_USAGE;
	}
	if (teardown && *root) {
		rck_error("'--teardown' runs on this machine, which '--root' is not");
		return RCK_EXIT_USAGE;
	}
	if (n) {
		rck_error("doctor takes no operand: '%s'", operands[0]);
		return RCK_EXIT_USAGE;
	}
	below = *root && !rocm_dir;
	if (below ? open_below(&d.rocm, &diag)
		  : rck_rocm_open(rocm_dir, &d.rocm, &diag)) {
		rck_error_diag(below ? root : rocm_dir, &diag);
		return RCK_EXIT_TROUBLE;
	}
	rck_doctor_run(&d);
	if (format == FORMAT_JSON)
		print_json(&d);
	else
		print_text(&d);
	status = verdict(&d);
	if (teardown)
		status = rck_exit_worse(status, run_experiment());
	rck_doctor_release(&d);
	rck_rocm_close(d.rocm);
	return status;
}

const struct rck_cmd rck_cmd_doctor = {
	.name = "doctor",
	.summary =
		"what this machine's ROCm is, whether it goes together, and what to do",
	.operands = "",
	.opts = opts,
	.run = run,
};
