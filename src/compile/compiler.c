/* Which compiler, of which version, and what is known of it. */
#include "compile/private.h"
#include "container/container.h"
#include "util/cleanup.h"
#include "util/place.h"
#include "util/spawn.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line of text without its end. */
static char *first_line(const char *text)
{
	return rck_xstrndup(text, strcspn(text, "\n"));
}

/* Runs a program of this ROCm; 0 when it ended with status 0. Output of both streams. */
static int ask(const struct rck_compiler *c, const char *program, const char *const *args,
	struct rck_strbuf *text)
{
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_strv_ struct rck_strv env = {NULL, 0};
	struct rck_spawn s = {.out = text, .err = text, .timeout = 60};
	int err;

	rck_rocm_tool_command(c->rocm, program, &argv, &env);
	rck_strv_add_all(&argv, args);
	s.argv = rck_strv_list(&argv);
	s.env = rck_strv_list(&env);
	err = rck_spawn_run(&s);
	if (err)
		return err;
	return s.status ? -EIO : 0;
}

/* What the worker's --list prints: "version 2.4", then a line for each target. */
static void read_list(struct rck_compiler *c, const char *text)
{
	_cleanup_strbuf_ struct rck_strbuf targets = RCK_STRBUF_INIT;
	_cleanup_strv_ struct rck_strv lines = {NULL, 0};
	const char *file = rck_rocm_version(c->rocm, RCK_ROCM_COMGR);

	rck_strv_split(&lines, text, "\n");
	rck_strbuf_addc(&targets, ' ');
	for (size_t i = 0; i < lines.n; i++) {
		const char *processor = strstr(lines.items[i], "--");

		if (!strncmp(lines.items[i], "version ", 8))
			c->version = rck_xasprintf("interface %s, file %s",
				lines.items[i] + 8, file ? file : "?");
		else if (processor)
			rck_strbuf_addf(&targets, "%s ", processor + 2);
	}
	c->targets = rck_strbuf_detach(&targets);
}

static int open_comgr(struct rck_compiler *c, struct rck_diag *diag)
{
	const char *library = rck_rocm_path(c->rocm, RCK_ROCM_COMGR);
	const char *clang = rck_rocm_path(c->rocm, RCK_ROCM_CLANG);
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_strv_ struct rck_strv env = {NULL, 0};
	struct rck_spawn s = {.out = &text, .err = &text, .timeout = 60};
	int err;

	c->kind = RCK_COMPILER_COMGR;
	c->name = rck_xstrdup("comgr");
	if (!library)
		return rck_fail(diag, -ENOENT, RCK_OFFSET_NONE,
			"no comgr (libamd_comgr.so.3 or .so.2) found in %s",
			rck_rocm_dir(c->rocm) ? "that folder" : "this system");
	c->path = rck_xstrdup(library);
	c->worker = rck_place_find("compile/rocmcheck-comgr", "rocmcheck-comgr");
	if (!c->worker)
		return rck_fail(diag, -ENOENT, RCK_OFFSET_NONE,
			"the helper program rocmcheck-comgr is missing");
	rck_rocm_command(c->rocm, NULL, &argv, &env);
	rck_strv_add(&argv, c->worker);
	rck_strv_add(&argv, "--comgr");
	rck_strv_add(&argv, library);
	rck_strv_add(&argv, "--list");
	s.argv = rck_strv_list(&argv);
	s.env = rck_strv_list(&env);
	err = rck_spawn_run(&s);
	if (err || s.status || s.signal) {
		_cleanup_free_ char *line = first_line(text.buf);

		return rck_fail(diag, -ENOTSUP, RCK_OFFSET_NONE, "%s",
			*line ? line : "comgr cannot be used: the helper program died");
	}
	read_list(c, text.buf);
	if (clang) {
		static const char *const args[] = {"-print-resource-dir", NULL};

		rck_strbuf_reset(&text);
		if (!ask(c, clang, args, &text))
			c->resource_dir = first_line(text.buf);
	}
	return 0;
}

/* Absolute path of a program that is named or looked up in PATH; NULL: not there. */
static char *which(const char *name)
{
	_cleanup_strv_ struct rck_strv dirs = {NULL, 0};
	const char *path = getenv("PATH");

	if (name[0] == '/')
		return access(name, X_OK) ? NULL : rck_xstrdup(name);
	if (strchr(name, '/')) {
		/* not resolved: what a driver does depends on the name it is called by */
		_cleanup_free_ char *cwd = getcwd(NULL, 0);

		return access(name, X_OK) || !cwd ? NULL
						  : rck_xasprintf("%s/%s", cwd, name);
	}
	if (path)
		rck_strv_split(&dirs, path, ":");
	for (size_t i = 0; i < dirs.n; i++) {
		char *full = rck_xasprintf("%s/%s", dirs.items[i], name);

		if (!access(full, X_OK))
			return full;
		free(full);
	}
	return NULL;
}

static char *folder_of(const char *path)
{
	_cleanup_free_ char *copy = rck_xstrdup(path);

	return rck_xstrdup(dirname(copy));
}

/*
 * clang links device code with the lld beside the name it was called by. Called as
 * /usr/bin/clang++-15 (hipcc of Debian 12 does so) that is /usr/bin/lld, of whichever
 * LLVM is the distribution's default, and an old one refuses newer code objects ("unknown
 * abi version"). The lld beside the real clang is the right one.
 */
static void find_lld(struct rck_compiler *c)
{
	const char *rocm_clang = rck_rocm_path(c->rocm, RCK_ROCM_CLANG);
	const char *clang = c->kind == RCK_COMPILER_HIPCC ? rocm_clang : c->path;
	_cleanup_free_ char *real = clang ? realpath(clang, NULL) : NULL;
	_cleanup_free_ char *home = real ? folder_of(real) : NULL;
	_cleanup_free_ char *called = folder_of(c->path);
	_cleanup_free_ char *right = home ? rck_xasprintf("%s/lld", home) : NULL;
	_cleanup_free_ char *used = rck_xasprintf("%s/lld", called);
	_cleanup_free_ char *used_real = realpath(used, NULL);
	_cleanup_free_ char *right_real = right ? realpath(right, NULL) : NULL;

	if (rck_rocm_is_foreign(c->rocm) || !used_real || !right_real ||
		!strcmp(used_real, right_real))
		return;
	c->lld_dir = rck_xstrdup(home);
	c->lld_notice = rck_xasprintf(
		"%s would link with '%s', which is not this clang's own lld and may not "
		"know code object V5: -B%s added",
		c->name, used_real, home);
}

static int open_driver(struct rck_compiler *c, const char *spec, struct rck_diag *diag)
{
	static const char *const args[] = {"--version", NULL};
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	const char *known = NULL;
	_cleanup_free_ char *copy = NULL;
	const char *clang, *hip;
	int err;

	if (!strcmp(spec, "hipcc"))
		known = rck_rocm_path(c->rocm, RCK_ROCM_HIPCC);
	else if (!strcmp(spec, "clang++"))
		known = rck_rocm_path(c->rocm, RCK_ROCM_CLANG);
	c->path = known ? rck_xstrdup(known) : which(spec);
	if (!c->path)
		return rck_fail(
			diag, -ENOENT, RCK_OFFSET_NONE, "no compiler '%s' found", spec);
	copy = rck_xstrdup(c->path);
	c->name = rck_xstrdup(basename(copy));
	c->kind = strncmp(c->name, "hipcc", 5) ? RCK_COMPILER_CLANG : RCK_COMPILER_HIPCC;
	err = ask(c, c->path, args, &text);
	clang = strstr(text.buf, "clang version ");
	if (err || !clang)
		return rck_fail(diag, -ENOTSUP, RCK_OFFSET_NONE,
			"'%s --version' names no clang: it is not a compiler for HIP",
			c->path);
	while (clang > text.buf && clang[-1] != '\n')
		clang--;
	c->version = first_line(clang);
	hip = strstr(text.buf, "HIP version: ");
	if (c->kind == RCK_COMPILER_HIPCC && hip) {
		char *all = rck_xasprintf("HIP %.*s, %s", (int)strcspn(hip + 13, "\n"),
			hip + 13, c->version);

		free(c->version);
		c->version = all;
	}
	find_lld(c);
	return 0;
}

int rck_compiler_open(struct rck_rocm *rocm, const char *spec, struct rck_compiler **out,
	struct rck_diag *diag)
{
	struct rck_compiler *c = rck_xcalloc(1, sizeof(*c));
	int err;

	c->rocm = rocm;
	if (!spec)
		spec = rck_rocm_path(rocm, RCK_ROCM_COMGR)   ? "comgr"
		       : rck_rocm_path(rocm, RCK_ROCM_HIPCC) ? "hipcc"
		       : rck_rocm_path(rocm, RCK_ROCM_CLANG) ? "clang++"
							     : "comgr";
	err = !strcmp(spec, "comgr") ? open_comgr(c, diag) : open_driver(c, spec, diag);
	if (err) {
		rck_compiler_close(c);
		c = NULL;
	}
	*out = c;
	return err;
}

void rck_compiler_close(struct rck_compiler *c)
{
	if (!c)
		return;
	free(c->name);
	free(c->path);
	free(c->version);
	free(c->worker);
	free(c->targets);
	free(c->resource_dir);
	free(c->lld_dir);
	free(c->lld_notice);
	free(c);
}

enum rck_compiler_kind rck_compiler_kind(const struct rck_compiler *c)
{
	return c->kind;
}

const char *rck_compiler_name(const struct rck_compiler *c)
{
	return c->name;
}

const char *rck_compiler_path(const struct rck_compiler *c)
{
	return c->path;
}

const char *rck_compiler_version(const struct rck_compiler *c)
{
	return c->version;
}

/* hipcc: read in hipcc.pl of 5.2.3, seen with 7.0.2; clang and comgr (2.4, 3.0): seen. */
const char *rck_compiler_default_level(const struct rck_compiler *c)
{
	static const char *const defaults[] = {
		[RCK_COMPILER_COMGR] = "comgr compiles at -O0 when no -O is given",
		[RCK_COMPILER_HIPCC] = "hipcc adds -O3 when no -O is given",
		[RCK_COMPILER_CLANG] = "clang++ compiles at -O0 when no -O is given",
	};

	return defaults[c->kind];
}

const char *rck_compiler_targets(const struct rck_compiler *c)
{
	return c->targets;
}

bool rck_compiler_knows(const struct rck_compiler *c, const char *target)
{
	_cleanup_free_ char *word = NULL;

	if (!c->targets)
		return true;
	word = rck_xasprintf(" %.*s ", (int)strcspn(target, ":"), target);
	return strstr(c->targets, word) != NULL;
}
