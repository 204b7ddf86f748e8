/* flags --cmake-build-type: the floor's decision without CMake. */
#include "cmd/flags.h"

#include "buildsys/floor.h"
#include "cmd/cmd.h"
#include "util/json.h"
#include "util/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What CMake makes of CMAKE_CONFIGURATION_TYPES when nobody sets it (Ninja Multi-Config).
 */
static const char *const multi_configs[] = {"Debug", "Release", "RelWithDebInfo"};

static void say_text(
	struct rck_strbuf *text, const char *config, const struct rck_floor_out *out)
{
	rck_strbuf_addf(text, "%s: %s%s: %s\n", *config ? config : "(empty)",
		out->floor ? "floor -O1" : "unchanged, ",
		out->floor ? "" : rck_olevel_name(out->level), out->why);
}

static void say_json(
	struct rck_json *j, const char *config, const struct rck_floor_out *out)
{
	rck_json_object(j);
	rck_json_kstr(j, "config", config);
	rck_json_kbool(j, "floor", out->floor);
	rck_json_kstr(j, "level", out->floor ? "-O1" : rck_olevel_name(out->level));
	rck_json_kbool(j, "explicit_O0", out->warn);
	rck_json_kstr(j, "why", out->why);
	rck_json_object_end(j);
}

static int read_config_flags(
	const struct rck_opt_list *list, struct rck_floor_flags **out)
{
	*out = rck_xcalloc(list->n, sizeof(**out));
	for (size_t i = 0; i < list->n; i++) {
		const char *eq = strchr(list->items[i], '=');

		if (!eq) {
			rck_error("option '--cmake-hip-flags-config': '%s' is not "
				  "CONFIG=FLAGS",
				list->items[i]);
			return -1;
		}
		(*out)[i].config =
			rck_xstrndup(list->items[i], (size_t)(eq - list->items[i]));
		(*out)[i].flags = eq + 1;
	}
	return 0;
}

int rck_flags_floor(
	const struct rck_gate *gate, const struct rck_flags_floor *f, bool json)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf out_json = RCK_STRBUF_INIT;
	struct rck_floor_flags *config_flags;
	struct rck_floor_in in = {
		.flags = f->hip_flags ? f->hip_flags : "",
		.n_config_flags = f->config_flags.n,
		.cmake_major = 3,
		.cmake_minor = 25,
	};
	const char *const one[] = {f->build_type};
	bool multi = f->generator && rck_floor_is_multi_config(f->generator);
	const char *const *configs = multi ? multi_configs : one;
	size_t n = multi ? sizeof(multi_configs) / sizeof(*multi_configs) : 1;
	struct rck_json j;

	if (f->cmake_version &&
		sscanf(f->cmake_version, "%u.%u", &in.cmake_major, &in.cmake_minor) < 1) {
		rck_error("option '--cmake-version': '%s' is not a version",
			f->cmake_version);
		return RCK_EXIT_USAGE;
	}
	if (read_config_flags(&f->config_flags, &config_flags))
		return RCK_EXIT_USAGE;
	in.config_flags = config_flags;
	rck_json_init(&j, &out_json, 2);
	rck_json_object(&j);
	rck_json_ku64(&j, "schema", 1);
	rck_json_key(&j, "configurations");
	rck_json_array(&j);
	for (size_t i = 0; i < n; i++) {
		struct rck_floor_out out;

		rck_floor_decide(&in, configs[i], &out);
		say_text(&text, configs[i], &out);
		say_json(&j, configs[i], &out);
		if (out.warn)
			rck_warning(
				"%s: -O0 for device code was asked for: its kernels will "
				"declare what they never use",
				*configs[i] ? configs[i] : "the empty build type");
	}
	rck_json_array_end(&j);
	rck_json_object_end(&j);
	rck_strbuf_addc(&out_json, '\n');
	for (size_t i = 0; i < f->config_flags.n; i++)
		free((char *)config_flags[i].config);
	free(config_flags);
	return rck_gate_write(gate, json ? &out_json : &text);
}
