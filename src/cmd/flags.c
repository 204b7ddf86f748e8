/* flags: the -O on every HIP compile line, the floor, and the hipBLAS generation. */
#include "cmd/flags.h"

#include "buildsys/unit.h"
#include "cmd/commands.h"
#include "cmd/gate.h"
#include "container/container.h"
#include "util/json.h"
#include "util/msg.h"
#include "util/table.h"
#include "util/term.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct rck_strbuf table = RCK_STRBUF_INIT; /* of --units */
static struct rck_gate gate = RCK_GATE_INIT;
static struct rck_flags_floor floor_of;
static struct rck_flags_hipblas blas;
static bool ask = true, hipblas, units;

static const struct rck_opt opts[] = {
	RCK_GATE_OPTIONS(gate),
	{RCK_OPT_FLAG, 'u', "units", &units, NULL,
		"print every HIP translation unit with its level, its targets and where "
		"the level comes from (text; with json, instead of the findings)"},
	{RCK_OPT_FLAG, 0, "ask", &ask, NULL,
		"run a compiler driver that is not known with -### (the default)", true},
	{RCK_OPT_STRING, 0, "cmake-build-type", &floor_of.build_type, "TYPE",
		"print what RocmcheckFloor.cmake decides for this CMAKE_BUILD_TYPE (may "
		"be empty)"},
	{RCK_OPT_STRING, 0, "cmake-hip-flags", &floor_of.hip_flags, "FLAGS",
		"CMAKE_HIP_FLAGS, for --cmake-build-type"},
	{RCK_OPT_LIST, 0, "cmake-hip-flags-config", &floor_of.config_flags,
		"CONFIG=FLAGS", "CMAKE_HIP_FLAGS_<CONFIG>, instead of CMake's own"},
	{RCK_OPT_STRING, 0, "cmake-generator", &floor_of.generator, "NAME",
		"the generator: one that knows several configurations decides for each"},
	{RCK_OPT_STRING, 0, "cmake-version", &floor_of.cmake_version, "VERSION",
		"whose own flags for a build type count (default 3.25)"},
	{RCK_OPT_FLAG, 0, "hipblas", &hipblas, NULL,
		"the operands are sources and objects: which generation of hipBLAS's *Ex "
		"entry "
		"points they are for, and whether that fits what is installed"},
	{RCK_OPT_STRING, 0, "rocm", &blas.rocm_dir, "DIR",
		"for --hipblas: the ROCm in DIR instead of the machine's own"},
	{RCK_OPT_STRING, 0, "hipblas-library", &blas.library, "FILE",
		"for --hipblas: hold imports to this library"},
	{RCK_OPT_STRING, 0, "libclang", &blas.libclang, "FILE",
		"for --hipblas: read sources with this libclang"},
	{RCK_OPT_LIST, 0, "cflag", &blas.compiler_flags, "FLAG",
		"for --hipblas: a flag to compile the sources with"},
	{RCK_OPT_END},
};

enum { FORMAT_TEXT, FORMAT_JSON }; /* of RCK_GATE_OPTIONS */

static const char *from_text(const struct rck_hip_unit *u)
{
	return u->line.rule_broken ? "hipcc's -O3, kept back: a word starts with -O"
				   : rck_olevel_from_text(u->from);
}

struct databases {
	int n;
	char **paths;
};

static const char *level_text(const struct rck_hip_unit *u, struct rck_strbuf *text)
{
	const struct rck_hipline *h = &u->line;

	rck_strbuf_reset(text);
	rck_strbuf_adds(text, "device code at -O0: ");
	if (h->rule_broken)
		rck_strbuf_addf(text,
			"hipcc keeps its -O3 back because a word starts with -O ('%s')",
			h->suspect);
	else if (u->from == RCK_FROM_DEFAULT)
		rck_strbuf_adds(
			text, "no -O on the line, and the driver's default is -O0");
	else
		rck_strbuf_addf(text, "%s%s%s%s", rck_olevel_from_text(u->from),
			h->word ? ", '" : "", h->word ? h->word : "", h->word ? "'" : "");
	return text->buf;
}

static void judge_unit(struct rck_lint *l, const struct rck_hip_unit *u)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	const struct rck_hipline *h = &u->line;
	unsigned line = u->first_kernel ? u->first_kernel : u->readable ? 1 : 0;
	const struct {
		enum rck_rule_id rule;
		bool fires;
		unsigned line;
		const char *text;
	} rows[] = {
		{RCK_RULE_HIP_UNOPTIMIZED, !u->trouble && u->level == RCK_OLEVEL_0, line,
			level_text(u, &text)},
		{RCK_RULE_HIP_ASSERT_ACTIVE, u->first_assert && !h->ndebug,
			u->first_assert, "asserts, and NDEBUG is not defined"},
		{RCK_RULE_HIP_SANITIZED, h->sanitize, line, "compiled with -fsanitize"},
		{RCK_RULE_HIP_RDC, h->rdc, line, "compiled with -fgpu-rdc"},
	};

	rck_lint_begin_source(l, u->entry->path);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].fires)
			rck_lint_source(l, rows[i].rule, h->arch ? h->arch : "",
				rows[i].line, rows[i].text);
		else
			rck_lint_source_state(l, rows[i].rule,
				u->trouble ? RCK_STATE_NOT_CHECKABLE : RCK_STATE_PASS);
	if (u->trouble) {
		struct rck_diag diag = {.offset = RCK_OFFSET_NONE};

		snprintf(diag.msg, sizeof(diag.msg), "%s", u->trouble);
		rck_lint_incomplete(l, "", &diag,
			"State the level on the line (-O1 or above), or make the driver "
			"or the response file available where this runs.");
	}
	rck_lint_end(l);
}

/* --units --format json: every unit instead of the findings. */
static int add_units_json(struct rck_json *j, const struct rck_hip_units *u)
{
	int status = RCK_EXIT_CLEAN;

	for (size_t i = 0; i < u->n; i++) {
		const struct rck_hip_unit *unit = &u->units[i];
		const struct rck_hipline *h = &unit->line;

		rck_json_object(j);
		rck_json_kstr(j, "file", unit->entry->path);
		rck_json_kstr(j, "output", unit->entry->output);
		rck_json_kstr(j, "why_hip", h->why_hip);
		rck_json_kstr(j, "driver", rck_driver_name(h->driver));
		rck_json_kstr(
			j, "level", unit->level ? rck_olevel_name(unit->level) : NULL);
		rck_json_kstr(j, "from", from_text(unit));
		rck_json_kstr(j, "word", h->word);
		rck_json_kstr(j, "trouble", unit->trouble);
		rck_json_kbool(j, "ndebug", h->ndebug);
		rck_json_kbool(j, "debug_info", h->debug_info);
		rck_json_kbool(j, "rdc", h->rdc);
		rck_json_kbool(j, "sanitized", h->sanitize);
		rck_json_kbool(j, "hipblas_v2", h->hipblas_v2);
		rck_json_key(j, "targets");
		rck_json_array(j);
		for (size_t a = 0; a < h->archs.n; a++)
			rck_json_str(j, h->archs.items[a]);
		rck_json_array_end(j);
		rck_json_object_end(j);
		if (unit->trouble) {
			rck_error("'%s': %s", unit->entry->path, unit->trouble);
			status = RCK_EXIT_TROUBLE;
		}
	}
	return status;
}

/* The table of --units, ahead of the report. */
static void add_units(const struct rck_hip_units *u)
{
	static const struct rck_column columns[] = {{.title = "level"},
		{.title = "driver"}, {.title = "targets", .shrink = true, .least = 12},
		{.title = "source", .shrink = true, .least = 24}, {.title = "from"}};
	struct rck_table *t = rck_table_new(columns, sizeof(columns) / sizeof(*columns));

	for (size_t i = 0; i < u->n; i++) {
		_cleanup_strbuf_ struct rck_strbuf archs = RCK_STRBUF_INIT;
		_cleanup_strbuf_ struct rck_strbuf file = RCK_STRBUF_INIT;
		const struct rck_hip_unit *unit = &u->units[i];

		for (size_t a = 0; a < unit->line.archs.n; a++) {
			rck_strbuf_adds(&archs, a ? " " : "");
			rck_strbuf_add_masked(&archs, unit->line.archs.items[a],
				strlen(unit->line.archs.items[a]));
		}
		rck_strbuf_add_masked(
			&file, unit->entry->file, strlen(unit->entry->file));
		rck_table_cell(t, rck_olevel_name(unit->level));
		rck_table_cell(t, rck_driver_name(unit->line.driver));
		rck_table_cell(t, archs.len ? archs.buf : "-");
		rck_table_cell(t, file.buf);
		rck_table_cell(t, from_text(unit));
	}
	rck_table_print(t, &table, rck_term_width(), 0);
	rck_strbuf_addc(&table, '\n');
	rck_table_free(t);
}

/* What cannot be read is in the report, too. */
static void tell_trouble(
	struct rck_lint *l, const char *path, const struct rck_diag *diag)
{
	rck_error_diag(path, diag);
	if (!l)
		return;
	rck_lint_begin(l, path, false);
	rck_lint_error(l, "", diag);
	rck_lint_end(l);
}

/* l NULL: adds the units to json and judges nothing. */
static int check_database(struct rck_lint *l, struct rck_json *json, const char *path)
{
	struct rck_compdb db;
	struct rck_hip_units u;
	struct rck_diag diag;
	int status = RCK_EXIT_CLEAN;

	if (rck_compdb_load(path, &db, &diag)) {
		tell_trouble(l, path, &diag);
		return RCK_EXIT_TROUBLE;
	}
	for (size_t i = 0; i < db.bad.n; i++) {
		rck_fail(&diag, -EINVAL, RCK_OFFSET_NONE, "%s", db.bad.items[i]);
		tell_trouble(l, path, &diag);
		status = RCK_EXIT_TROUBLE;
	}
	rck_hip_units_read(&db, ask, &u);
	if (!l)
		status = rck_exit_worse(status, add_units_json(json, &u));
	else if (units)
		add_units(&u);
	for (size_t i = 0; l && i < u.n; i++)
		judge_unit(l, &u.units[i]);
	rck_notice("'%s': %zu HIP source%s, %zu other%s", path, u.n, u.n == 1 ? "" : "s",
		u.others, u.others == 1 ? "" : "s");
	rck_hip_units_release(&u);
	rck_compdb_release(&db);
	return status;
}

static int check_databases(struct rck_lint *l, void *user)
{
	const struct databases *d = user;
	int status = RCK_EXIT_CLEAN;

	for (int i = 0; i < d->n; i++)
		status = rck_exit_worse(status, check_database(l, NULL, d->paths[i]));
	rck_lint_finish(l);
	return status;
}

static int print_all_units(const struct databases *d)
{
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_json j;
	int status = RCK_EXIT_CLEAN;

	rck_json_init(&j, &out, 2);
	rck_json_object(&j);
	rck_json_ku64(&j, "schema", 1);
	rck_json_key(&j, "units");
	rck_json_array(&j);
	for (int i = 0; i < d->n; i++)
		status = rck_exit_worse(status, check_database(NULL, &j, d->paths[i]));
	rck_json_array_end(&j);
	rck_json_object_end(&j);
	rck_strbuf_addc(&out, '\n');
	return rck_exit_worse(status, rck_gate_write(&gate, &out));
}

static int run(int n, char **operands)
{
	struct databases d = {n, operands};
	bool json = gate.format == FORMAT_JSON;
	const char *what = floor_of.build_type ? "cmake-build-type"
			   : hipblas           ? "hipblas"
			   : units             ? "units"
					       : NULL;
	int status;

	if (what && gate.format > FORMAT_JSON) {
		rck_error("--%s knows the formats text and json only", what);
		return RCK_EXIT_USAGE;
	}
	if (floor_of.build_type)
		return rck_flags_floor(&gate, &floor_of, json);
	if (!n) {
		rck_error("no compile_commands.json, build folder or file given");
		return RCK_EXIT_USAGE;
	}
	if (hipblas)
		return rck_flags_hipblas(&gate, &blas, n, operands, json);
	if (units && json)
		return print_all_units(&d);
	gate.sources = true;
	gate.preface = &table;
	status = rck_gate_run(&gate, check_databases, &d);
	rck_strbuf_release(&table);
	return status;
}

const struct rck_cmd rck_cmd_flags = {
	.name = "flags",
	.summary = "the -O on each HIP compile line, the floor, the hipBLAS generation",
	.operands = "compile_commands.json|BUILD-DIR|-",
	.opts = opts,
	.run = run,
	.details = "With --cmake-build-type no operand is read: the floor's decision is "
		   "printed.",
};
