#include "buildsys/floor.h"
#include "buildsys/hipline.h"
#include "buildsys/words.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

const char *rck_floor_default_flags(const char *config, unsigned major, unsigned minor)
{
	bool plain_debug = major > 4 || (major == 4 && minor >= 1);
	const struct {
		const char *config, *flags;
	} defaults[] = {
		{"Debug", plain_debug ? "-g" : "-g -O"},
		{"Release", "-O3 -DNDEBUG"},
		{"RelWithDebInfo", "-O2 -g -DNDEBUG"},
		{"MinSizeRel", "-Os -DNDEBUG"},
	};

	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
		if (!strcasecmp(config, defaults[i].config))
			return defaults[i].flags;
	return "";
}

bool rck_floor_is_multi_config(const char *generator)
{
	return !strcmp(generator, "Ninja Multi-Config") || !strcmp(generator, "Xcode") ||
	       !fnmatch("Visual Studio*", generator, 0);
}

static const char *flags_of(const struct rck_floor_in *in, const char *config)
{
	for (size_t i = 0; i < in->n_config_flags; i++)
		if (!strcasecmp(in->config_flags[i].config, config))
			return in->config_flags[i].flags;
	return rck_floor_default_flags(config, in->cmake_major, in->cmake_minor);
}

void rck_floor_decide(
	const struct rck_floor_in *in, const char *config, struct rck_floor_out *out)
{
	struct rck_strv words = {0};
	struct rck_hipline h;

	/* CMAKE_HIP_FLAGS, then the configuration's: the order on CMake's compile line.
	   CMake calls clang++, whose default is no optimisation. */
	rck_strv_add(&words, "clang++");
	rck_words_split(&words, in->flags, strlen(in->flags), RCK_QUOTING_POSIX);
	rck_words_split(&words, flags_of(in, config), strlen(flags_of(in, config)),
		RCK_QUOTING_POSIX);
	rck_hipline_read(&h, &words, "");
	*out = (struct rck_floor_out){0};
	if (!h.stated) {
		out->floor = true;
		out->why = "no -O for the device on the compile line, and clang++ alone "
			   "means -O0";
	} else {
		out->level = h.level;
		out->warn = h.level == RCK_OLEVEL_0;
		out->why = out->warn ? "-O0 was asked for"
				     : "the compile line has its own level";
	}
	rck_hipline_release(&h);
	rck_strv_release(&words);
}
