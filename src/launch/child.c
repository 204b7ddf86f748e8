#include "container/container.h"
#include "launch/child.h"
#include "kernels/table.h"
#include "util/cleanup.h"
#include "util/place.h"
#include "util/spawn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "hipModuleLaunchKernel of rms_norm<...>: unspecified launch failure (719, ...)". */
static int told_error(const json_t *line, struct rck_diag *diag)
{
	const char *call = json_string_value(json_object_get(line, "call"));
	const char *name = json_string_value(json_object_get(line, "name"));
	const char *text = json_string_value(json_object_get(line, "text"));
	const char *symbol = json_string_value(json_object_get(line, "kernel"));
	const struct rck_bundled *k = symbol ? rck_bundled_find(symbol) : NULL;

	if (!call)
		return rck_fail(
			diag, -EIO, RCK_OFFSET_NONE, "%s", text ? text : "unknown error");
	return rck_fail(diag, -EIO, RCK_OFFSET_NONE, "%s%s%s: %s (%lld, %s)", call,
		k ? " of " : "", k ? k->name : "", text ? text : "",
		json_integer_value(json_object_get(line, "code")), name ? name : "?");
}

static int read_lines(struct rck_child *c, const char *text, struct rck_diag *diag)
{
	int err = 0;

	c->lines = json_array();
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, "\n");
		/* HIP itself may print to stdout: what is no JSON is not ours */
		json_t *line = *s == '{' ? json_loadb(s, n, 0, NULL) : NULL;
		const char *event = json_string_value(json_object_get(line, "event"));

		if (event && !strcmp(event, "error"))
			err = told_error(line, diag);
		if (line)
			json_array_append_new(c->lines, line);
		s += n;
		s += *s == '\n';
	}
	return err;
}

static int start(struct rck_child *c, struct rck_spawn *s, struct rck_diag *diag)
{
	_cleanup_free_ char *program =
		rck_place_find("launch/rocmcheck-launch", "rocmcheck-launch");
	const char *hip = rck_rocm_path(c->rocm, RCK_ROCM_HIP);
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_strv_ struct rck_strv env = {NULL, 0};
	int err;

	if (!hip)
		return rck_fail(diag, -ENOENT, RCK_OFFSET_NONE,
			"no HIP runtime (libamdhip64.so.7, .so.6 or .so.5) found");
	if (!program)
		return rck_fail(diag, -ENOENT, RCK_OFFSET_NONE,
			"the helper program rocmcheck-launch is missing");
	rck_rocm_command(c->rocm, c->front, &argv, &env);
	rck_strv_add(&argv, program);
	rck_strv_add(&argv, "--hip");
	rck_strv_add(&argv, hip);
	if (c->front) {
		rck_strv_add(&argv, "--hsa-below");
		rck_strv_add(&argv, c->front);
		if (c->soft_target)
			rck_strv_addf(&env, "RCK_SOFT_TARGET=%s", c->soft_target);
	}
	rck_strv_add_all(&argv, rck_strv_list(&c->options));
	s->argv = rck_strv_list(&argv);
	s->env = rck_strv_list(&env);
	s->timeout = c->timeout > 0 ? c->timeout : 600;
	err = rck_spawn_run(s);
	return err ? rck_fail(diag, err, RCK_OFFSET_NONE, "cannot start '%s': %s",
			     argv.items[0], strerror(-err))
		   : 0;
}

int rck_child_run(struct rck_child *c, struct rck_diag *diag)
{
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_spawn s = {.out = &out, .err = &c->text};
	int err;

	c->text = (struct rck_strbuf)RCK_STRBUF_INIT;
	err = start(c, &s, diag);
	if (err)
		return err;
	err = read_lines(c, out.buf, diag);
	if (err)
		return err;
	if (s.timed_out)
		return rck_fail(diag, -EIO, RCK_OFFSET_NONE,
			"the launcher was ended after %.0f s", s.timeout);
	if (s.signal || s.status) {
		size_t n = strcspn(c->text.buf, "\n");

		return rck_fail(diag, -EIO, RCK_OFFSET_NONE, "the launcher %s%s: %.*s",
			s.signal ? "died: " : "failed",
			s.signal ? strsignal(s.signal) : "", (int)n,
			n ? c->text.buf : "no reason given");
	}
	return 0;
}

void rck_child_release(struct rck_child *c)
{
	json_decref(c->lines);
	c->lines = NULL;
	rck_strv_release(&c->options);
	rck_strbuf_release(&c->text);
}
