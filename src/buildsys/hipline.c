#include "buildsys/hipline.h"

#include "util/strbuf.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

const char *rck_driver_name(enum rck_driver d)
{
	static const char *const names[] = {"unknown", "hipcc", "clang"};

	return names[d];
}

const char *rck_olevel_from_text(enum rck_olevel_from from)
{
	static const char *const texts[] = {
		[RCK_FROM_NOWHERE] = "no -O, and the driver's default is not known",
		[RCK_FROM_LINE] = "the last -O on the line",
		[RCK_FROM_XARCH] = "an -O for the device alone",
		[RCK_FROM_XCLANG] = "an -O handed to the compiler proper",
		[RCK_FROM_DEFAULT] = "no -O on the line: the driver's default",
		[RCK_FROM_ASKED] = "what the driver answers to -###",
	};

	return texts[from];
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *back = strrchr(path, '\\');

	if (back && (!slash || back > slash))
		slash = back;
	return slash ? slash + 1 : path;
}

/* hipcc, hipcc.bat; clang++, clang-15, amdclang++.exe. */
static const struct {
	const char *pattern;
	enum rck_driver driver;
} drivers[] = {
	{"hipcc", RCK_DRIVER_HIPCC},
	{"hipcc.*", RCK_DRIVER_HIPCC},
	{"clang", RCK_DRIVER_CLANG},
	{"clang++", RCK_DRIVER_CLANG},
	{"amdclang", RCK_DRIVER_CLANG},
	{"amdclang++", RCK_DRIVER_CLANG},
	{"clang-[0-9]*", RCK_DRIVER_CLANG},
	{"clang++-[0-9]*", RCK_DRIVER_CLANG},
	{"*-clang", RCK_DRIVER_CLANG},
	{"*-clang++", RCK_DRIVER_CLANG},
	{"*clang.exe", RCK_DRIVER_CLANG},
	{"*clang++.exe", RCK_DRIVER_CLANG},
};

static enum rck_driver driver_of(const char *word)
{
	const char *name = base_name(word);

	for (size_t i = 0; i < sizeof(drivers) / sizeof(*drivers); i++)
		if (!fnmatch(drivers[i].pattern, name, 0))
			return drivers[i].driver;
	return RCK_DRIVER_UNKNOWN;
}

/* Programs that run the compiler that follows them. */
static bool is_launcher(const char *word)
{
	static const char *const names[] = {"ccache", "sccache", "distcc", "icecc",
		"buildcache", "env", "nice", "time", "cmake", "gomacc", "rewrapper"};
	const char *name = base_name(word);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The driver is the first word that is known as one; behind launchers, the first other
 * program. */
static size_t find_driver(const struct rck_strv *words, enum rck_driver *driver)
{
	size_t first = words->n;
	bool launched = false;

	for (size_t i = 0; i < words->n; i++) {
		const char *w = words->items[i];

		*driver = driver_of(w);
		if (*driver != RCK_DRIVER_UNKNOWN)
			return i;
		if (is_launcher(w)) {
			launched = true;
			continue;
		}
		/* a launcher's own options and NAME=value words, "-E env" of cmake */
		if (launched && (w[0] == '-' || strchr(w, '=')))
			continue;
		first = i;
		break;
	}
	*driver = RCK_DRIVER_UNKNOWN;
	return first < words->n ? first : 0;
}

/* Options whose argument is the next word (clang's driver, Options.td of LLVM 22). */
static bool takes_next(const char *w)
{
	static const char *const options[] = {"-o", "-x", "-I", "-D", "-U", "-include",
		"-isystem", "-idirafter", "-iquote", "-imacros", "-isysroot", "-iprefix",
		"-iwithprefix", "-iwithprefixbefore", "-iframework", "-ivfsoverlay",
		"-MF", "-MT", "-MQ", "-MJ", "-Xlinker", "-Xassembler", "-Xpreprocessor",
		"-Xoffload-linker", "-Xcuda-fatbinary", "-Xcuda-ptxas", "-Xopenmp-target",
		"-mllvm", "-target", "-arch", "-L", "-l", "-F", "-framework", "-z", "-u",
		"-T", "-e", "-b", "-B", "-G", "-A", "--param", "--sysroot",
		"-gcc-toolchain", "-working-directory", "-serialize-diagnostics",
		"-dependency-file", "--offload-arch", "-include-pch"};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(w, options[i]))
			return true;
	return !strncmp(w, "-Xoffload-linker-", 17) ||
	       !strncmp(w, "-Xopenmp-target=", 16);
}

static bool has_suffix(const char *s, const char *const *list)
{
	const char *dot = strrchr(base_name(s), '.');

	for (; dot && *list; list++)
		if (!strcmp(dot, *list))
			return true;
	return false;
}

/* What hipcc compiles as HIP unless -x says otherwise (hipcc.pl 5.2.3, seen by -###). */
static const char *const hipcc_suffixes[] = {
	".hip", ".cpp", ".cxx", ".cc", ".C", ".cu", ".cuh", NULL};
static const char *const hip_suffixes[] = {".hip", ".hipi", NULL};

static void judge_language(struct rck_hipline *h, const char *language, const char *file)
{
	if (language && strcmp(language, "none")) {
		h->is_hip = !strcmp(language, "hip");
		h->why_hip = "-x hip";
	} else if (has_suffix(file, hip_suffixes)) {
		h->is_hip = true;
		h->why_hip = "suffix .hip";
	} else if (h->driver == RCK_DRIVER_HIPCC && has_suffix(file, hipcc_suffixes)) {
		h->is_hip = true;
		h->why_hip = "hipcc compiles C++ as HIP";
	}
}

/* The levels as they pile up along the line. */
struct levels {
	enum rck_olevel line, clang, device;
	const char *line_word, *clang_word, *device_word;
	bool device_is_xarch;
	const char *arch[8]; /* -Xarch_gfx1030 -O2 */
	enum rck_olevel arch_level[8];
	const char *arch_word[8];
	size_t n_arch;
	const char *starts_with_O; /* first word that makes hipcc keep its -O3 back */
};

static void set_device(
	struct levels *l, enum rck_olevel level, const char *word, bool xarch)
{
	l->device = level;
	l->device_word = word;
	l->device_is_xarch = xarch;
	l->n_arch = 0; /* a later -O for every target wins over an earlier one for one
			  target */
}

static void set_arch(
	struct levels *l, const char *arch, enum rck_olevel level, const char *word)
{
	size_t i = 0;

	while (i < l->n_arch && strcmp(l->arch[i], arch))
		i++;
	if (i == sizeof(l->arch) / sizeof(*l->arch))
		return;
	l->arch[i] = arch;
	l->arch_level[i] = level;
	l->arch_word[i] = word;
	l->n_arch = i == l->n_arch ? i + 1 : l->n_arch;
}

/* -Xarch_WHAT VALUE. */
static void read_xarch(struct levels *l, const char *what, const char *value)
{
	enum rck_olevel level = rck_olevel_of(value);

	if (!level)
		return;
	if (!strcmp(what, "device") || !strcmp(what, "amdgcn"))
		set_device(l, level, value, true);
	else if (!strncmp(what, "gfx", 3))
		set_arch(l, what, level, value);
}

/* Words that are no level but carry a fact. */
static void read_fact(struct rck_hipline *h, const char *w, const char *value)
{
	static const char arch[] = "--offload-arch=";

	if (!strncmp(w, arch, sizeof(arch) - 1))
		rck_strv_split(&h->archs, w + sizeof(arch) - 1, ",");
	else if (!strcmp(w, "--offload-arch") && value)
		rck_strv_split(&h->archs, value, ",");
	else if (!strncmp(w, "--amdgpu-target=", 16) ||
		 !strncmp(w, "--cuda-gpu-arch=", 16))
		rck_strv_split(&h->archs, w + 16, ",");
	else if (!strcmp(w, "-fgpu-rdc"))
		h->rdc = true;
	else if (!strcmp(w, "-fno-gpu-rdc"))
		h->rdc = false;
	else if (!strncmp(w, "-fsanitize=", 11))
		h->sanitize = true;
	else if (!strcmp(w, "-fno-gpu-sanitize") || !strncmp(w, "-fno-sanitize=all", 17))
		h->sanitize = false;
	else if (!strcmp(w, "-g0"))
		h->debug_info = false;
	else if (!strncmp(w, "-g", 2) && strncmp(w, "-gcc-", 5) && strncmp(w, "-gpu", 4))
		h->debug_info = true;
}

static void read_macro(struct rck_hipline *h, const char *macro, bool defined)
{
	size_t n = strcspn(macro, "=");

	if (n == 6 && !memcmp(macro, "NDEBUG", n))
		h->ndebug = defined;
	if (n == 10 && !memcmp(macro, "HIPBLAS_V2", n))
		h->hipblas_v2 = defined;
}

/* Whether the line compiles for a target without a level of its own. */
static bool has_other_arch(const struct rck_hipline *h, const struct levels *l)
{
	for (size_t a = 0; a < h->archs.n; a++) {
		size_t i = 0;

		while (i < l->n_arch && strcmp(l->arch[i], h->archs.items[a]))
			i++;
		if (i == l->n_arch)
			return true;
	}
	return h->archs.n == 0;
}

/* The lowest level any target of the line gets. */
static void settle(struct rck_hipline *h, const struct levels *l)
{
	if (l->device) {
		h->level = l->device;
		h->word = l->device_word;
		h->from = l->device_is_xarch ? RCK_FROM_XARCH : RCK_FROM_LINE;
	} else if (h->driver == RCK_DRIVER_HIPCC) {
		/* -O3 goes in front of the line, so that every other word wins over it */
		h->level = l->starts_with_O ? RCK_OLEVEL_0 : RCK_OLEVEL_3;
		h->from = RCK_FROM_DEFAULT;
		h->rule_broken = l->starts_with_O != NULL;
		h->suspect = l->starts_with_O;
	} else if (h->driver == RCK_DRIVER_CLANG) {
		h->level = RCK_OLEVEL_0;
		h->from = RCK_FROM_DEFAULT;
	}
	h->stated = l->device || l->clang;
	if (l->clang) {
		h->level = l->clang;
		h->word = l->clang_word;
		h->from = RCK_FROM_XCLANG;
		h->rule_broken = false;
		return;
	}
	for (size_t i = 0; i < l->n_arch; i++)
		if (l->arch_level[i] < h->level || !has_other_arch(h, l)) {
			h->level = l->arch_level[i];
			h->word = l->arch_word[i];
			h->from = RCK_FROM_XARCH;
			h->arch = l->arch[i];
			h->rule_broken = false;
		}
}

/* What an -x says, joined or in the next word; NULL for other words. */
static const char *language_of(const char *w, const char *next)
{
	if (!strncmp(w, "--language=", 11))
		return w + 11;
	if (strncmp(w, "-x", 2))
		return NULL;
	return w[2] ? w + 2 : next;
}

/* Reads the option w; true when it took the next word too. */
static bool read_option(
	struct rck_hipline *h, struct levels *l, const char *w, const char *next)
{
	if (!strncmp(w, "-Xarch_", 7)) {
		read_xarch(l, w + 7, next);
		return true;
	}
	if (!strcmp(w, "-Xclang")) {
		if (rck_olevel_of(next)) {
			l->clang = rck_olevel_of(next);
			l->clang_word = next;
		}
		return true;
	}
	if (!strncmp(w, "-D", 2) || !strncmp(w, "-U", 2)) {
		read_macro(h, w[2] ? w + 2 : next, w[1] == 'D');
		return !w[2];
	}
	read_fact(h, w, next);
	return takes_next(w);
}

void rck_hipline_read(
	struct rck_hipline *h, const struct rck_strv *words, const char *file)
{
	struct levels l = {0};
	const char *language = NULL, *file_language = NULL;

	*h = (struct rck_hipline){0};
	h->driver_at = find_driver(words, &h->driver);
	for (size_t i = h->driver_at + 1; i < words->n; i++) {
		const char *w = words->items[i];
		const char *next = i + 1 < words->n ? words->items[i + 1] : "";

		/* hipcc looks at every word, also at those that are another's argument */
		if (!strncmp(w, "-O", 2) && !l.starts_with_O)
			l.starts_with_O = w;
		if (w[0] != '-') {
			if (!strcmp(base_name(w), base_name(file)))
				file_language = language;
			continue;
		}
		if (language_of(w, next))
			language = language_of(w, next);
		if (rck_olevel_of(w))
			set_device(&l, rck_olevel_of(w), w, false);
		else if (read_option(h, &l, w, next) && i + 1 < words->n) {
			i++;
			if (!strncmp(next, "-O", 2) && !l.starts_with_O)
				l.starts_with_O = next;
		}
	}
	judge_language(h, file_language, file);
	settle(h, &l);
}

void rck_hipline_release(struct rck_hipline *h)
{
	rck_strv_release(&h->archs);
}
