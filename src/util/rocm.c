#include "util/rocm.h"
#include "util/cleanup.h"
#include "util/glob.h"
#include "util/spawn.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#define LOADER    "ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#define LOADER    "ld-linux-aarch64.so.1"
#else
#define MULTIARCH "unknown-linux-gnu"
#define LOADER    "ld.so"
#endif

enum place { IN_LIB, IN_BIN, IN_DATA, IN_INCLUDE };

/* What a part is called on disk, best first. */
static const struct part {
	const char *name;
	enum place place;
	const char *files[5];
} parts[RCK_ROCM_PARTS] = {
	[RCK_ROCM_COMGR] = {"comgr", IN_LIB, {"libamd_comgr.so.3", "libamd_comgr.so.2"}},
	[RCK_ROCM_HIP] = {"HIP runtime", IN_LIB,
		{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}},
	[RCK_ROCM_HSA] = {"HSA runtime", IN_LIB, {"libhsa-runtime64.so.1"}},
	[RCK_ROCM_HIPCC] = {"hipcc", IN_BIN, {"hipcc"}},
	[RCK_ROCM_CLANG] = {"clang++", IN_BIN, {"amdclang++", "clang++"}},
	[RCK_ROCM_DEVICE_LIBS] = {"device libraries", IN_DATA, {"ocml.bc"}},
	[RCK_ROCM_HEADERS] = {"HIP headers", IN_INCLUDE, {"hip/hip_runtime.h"}},
	[RCK_ROCM_HIPBLAS] = {"hipBLAS", IN_LIB,
		{"libhipblas.so.3", "libhipblas.so.2", "libhipblas.so.1",
			"libhipblas.so.0"}},
	[RCK_ROCM_HIPBLASLT] = {"hipBLASLt", IN_LIB,
		{"libhipblaslt.so.1", "libhipblaslt.so.0"}},
	[RCK_ROCM_HIPBLAS_HEADERS] = {"hipBLAS headers", IN_INCLUDE,
		{"hipblas/hipblas.h"}},
};

/* Folders below a root, as patterns: /opt/rocm's layout, then a Debian tree's. */
static const char *const below[][9] = {
	[IN_LIB] = {"lib", "lib64", "lib/llvm/lib", "llvm/lib", "usr/lib/" MULTIARCH,
		"usr/lib64", "usr/lib", "lib/" MULTIARCH, "usr/lib/llvm-*/lib"},
	[IN_BIN] = {"wrap", "bin", "usr/bin", "lib/llvm/bin", "llvm/bin",
		"usr/lib/llvm-*/bin"},
	[IN_DATA] = {"amdgcn/bitcode", "usr/lib/" MULTIARCH "/amdgcn/bitcode",
		"lib/" MULTIARCH "/amdgcn/bitcode", "usr/amdgcn/bitcode",
		"lib/llvm/lib/clang/*/lib/amdgcn/bitcode",
		"usr/lib/llvm-*/lib/clang/*/lib/amdgcn/bitcode",
		"usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode"},
	[IN_INCLUDE] = {"include", "usr/include", "usr/include/" MULTIARCH},
};

struct rck_rocm {
	char *dir;
	char *loader; /* of a foreign tree */
	char *libc_version;
	char *path[RCK_ROCM_PARTS];
	char *broken[RCK_ROCM_PARTS];
	char *version[RCK_ROCM_PARTS];
	bool version_sought[RCK_ROCM_PARTS];
	struct rck_strv lib_dirs; /* of dir alone */
};

static bool is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Patterns below a root that are folders; several matches (llvm-17, llvm-21): last first.
 */
static void add_folders(struct rck_strv *v, const char *root, enum place place)
{
	for (size_t i = 0; i < 9 && below[place][i]; i++) {
		glob_t g;

		if (rck_glob_below(root, below[place][i], &g))
			continue;
		for (size_t k = g.gl_pathc; k-- > 0;)
			if (is_dir(g.gl_pathv[k]))
				rck_strv_add(v, g.gl_pathv[k]);
		globfree(&g);
	}
}

static void add_env(struct rck_strv *v, const char *name)
{
	const char *value = getenv(name);

	if (value)
		rck_strv_split(v, value, ":");
}

/* The folders of the machine's own ROCm, in the order in which a user's choice wins. */
static void add_system(struct rck_strv *v, enum place place)
{
	const char *rocm = getenv("ROCM_PATH");
	const char *clang = getenv("HIP_CLANG_PATH");

	if (place == IN_LIB)
		add_env(v, "LD_LIBRARY_PATH");
	if (place == IN_BIN && clang)
		rck_strv_add(v, clang);
	if (rocm && *rocm)
		add_folders(v, rocm, place);
	if (place == IN_BIN)
		add_env(v, "PATH");
	add_folders(v, "/opt/rocm", place);
	add_folders(v, "", place);
	if (place != IN_BIN)
		add_folders(v, "/usr/local", place);
}

static bool try_folders(struct rck_rocm *r, enum rck_rocm_part part, const char *file,
	const struct rck_strv *dirs)
{
	const struct part *p = &parts[part];
	struct stat st;

	for (size_t i = 0; i < dirs->n; i++) {
		char *path = rck_xasprintf("%s/%s", dirs->items[i], file);

		if (access(path, p->place == IN_BIN ? X_OK : R_OK)) {
			if (!r->broken[part] && !lstat(path, &st))
				r->broken[part] = path;
			else
				free(path);
			continue;
		}
		if (p->place == IN_DATA || p->place == IN_INCLUDE) {
			free(path);
			path = rck_xstrdup(dirs->items[i]);
		}
		r->path[part] = path;
		return true;
	}
	return false;
}

/*
 * The clang++ of a ROCm is the one that its hipcc runs, not the first in PATH: its
 * bitcode has to match the device libraries'. hipconfig knows (-l); Debian's answers
 * /usr/bin, where the compiler has a version behind its name, so hipcc's own report
 * decides.
 */
static char *clang_of_hipcc(const char *hipcc)
{
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	const char *argv[] = {hipcc, "--version", NULL};
	struct rck_spawn s = {.argv = argv, .out = &out, .err = &out, .timeout = 20};
	const char *at;
	char *path;

	if (rck_spawn_run(&s) || s.status || !(at = strstr(out.buf, "clang version ")))
		return NULL;
	path = rck_xasprintf("/usr/lib/llvm-%d/bin/clang++", atoi(at + 14));
	if (!access(path, X_OK))
		return path;
	free(path);
	return NULL;
}

static void find_part(struct rck_rocm *r, enum rck_rocm_part part)
{
	_cleanup_strv_ struct rck_strv dirs = {NULL, 0};

	if (r->dir)
		add_folders(&dirs, r->dir, parts[part].place);
	else
		add_system(&dirs, parts[part].place);
	for (size_t f = 0; parts[part].files[f]; f++) {
		if (try_folders(r, part, parts[part].files[f], &dirs))
			return;
		if (part == RCK_ROCM_CLANG && !f && !r->dir && r->path[RCK_ROCM_HIPCC] &&
			(r->path[part] = clang_of_hipcc(r->path[RCK_ROCM_HIPCC])))
			return;
	}
}

/* The C library's version as its loader states it: "... stable release version 2.41." */
static void ask_loader(struct rck_rocm *r)
{
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	const char *argv[] = {r->loader, "--version", NULL};
	struct rck_spawn s = {.argv = argv, .out = &out, .err = &out, .timeout = 20};
	const char *at;

	if (rck_spawn_run(&s) || !(at = strstr(out.buf, "release version ")))
		return;
	at += strlen("release version ");
	r->libc_version = rck_xstrndup(at,
		strspn(at, "0123456789.") - (at[strspn(at, "0123456789.") - 1] == '.'));
}

/* A tree is foreign when it has both a loader and a C library. */
static void find_loader(struct rck_rocm *r)
{
	static const char *const dirs[] = {"lib64", "usr/lib64", "lib/" MULTIARCH,
		"usr/lib/" MULTIARCH, "lib", "usr/lib"};
	bool libc = false;

	for (size_t i = 0; i < r->lib_dirs.n && !libc; i++) {
		_cleanup_free_ char *path =
			rck_xasprintf("%s/libc.so.6", r->lib_dirs.items[i]);

		libc = !access(path, R_OK);
	}
	for (size_t i = 0; libc && i < sizeof(dirs) / sizeof(*dirs); i++) {
		char *path = rck_xasprintf("%s/%s/" LOADER, r->dir, dirs[i]);

		if (!access(path, X_OK)) {
			r->loader = path;
			ask_loader(r);
			return;
		}
		free(path);
	}
}

/* Its absolute path is the caller's. */
static int open_dir(const char *dir, char **path, struct rck_diag *diag)
{
	int err;

	*path = realpath(dir, NULL);
	err = !*path ? errno : is_dir(*path) ? 0 : ENOTDIR;
	if (!err)
		return 0;
	free(*path);
	*diag = (struct rck_diag){.code = -err, .offset = RCK_OFFSET_NONE};
	snprintf(diag->msg, sizeof(diag->msg), "cannot use it as a ROCm folder: %s",
		strerror(err));
	return -err;
}

int rck_rocm_open(const char *dir, struct rck_rocm **out, struct rck_diag *diag)
{
	struct rck_rocm *r;
	char *path = NULL;
	bool any = false;

	*out = NULL;
	if (dir) {
		int err = open_dir(dir, &path, diag);

		if (err)
			return err;
	}
	r = rck_xcalloc(1, sizeof(*r));
	if (dir) {
		r->dir = path;
		add_folders(&r->lib_dirs, r->dir, IN_LIB);
		find_loader(r);
	}
	for (int i = 0; i < RCK_ROCM_PARTS; i++) {
		find_part(r, i);
		any |= r->path[i] != NULL;
	}
	if (dir && !any) {
		*diag = (struct rck_diag){.code = -ENOENT, .offset = RCK_OFFSET_NONE};
		snprintf(diag->msg, sizeof(diag->msg),
			"no ROCm library, compiler or header in this folder");
		rck_rocm_close(r);
		return -ENOENT;
	}
	*out = r;
	return 0;
}

void rck_rocm_close(struct rck_rocm *r)
{
	if (!r)
		return;
	for (int i = 0; i < RCK_ROCM_PARTS; i++) {
		free(r->path[i]);
		free(r->broken[i]);
		free(r->version[i]);
	}
	rck_strv_release(&r->lib_dirs);
	free(r->dir);
	free(r->loader);
	free(r->libc_version);
	free(r);
}

const char *rck_rocm_part_name(enum rck_rocm_part part)
{
	return parts[part].name;
}

const char *rck_rocm_path(const struct rck_rocm *r, enum rck_rocm_part part)
{
	return r->path[part];
}

const char *rck_rocm_broken(const struct rck_rocm *r, enum rck_rocm_part part)
{
	return r->broken[part];
}

const char *rck_rocm_dir(const struct rck_rocm *r)
{
	return r->dir;
}

bool rck_rocm_is_foreign(const struct rck_rocm *r)
{
	return r->loader != NULL;
}

const char *rck_rocm_libc_version(const struct rck_rocm *r)
{
	return r->libc_version;
}

static char *version_of_library(const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	const char *at = real ? strstr(real, ".so.") : NULL;

	return at ? rck_xstrdup(at + 4) : NULL;
}

/* Where headers state their version: major, minor, patch. */
static const struct header {
	const char *file;
	const char *macros[3];
} headers[RCK_ROCM_PARTS] = {
	[RCK_ROCM_HEADERS] = {"hip/hip_version.h",
		{"HIP_VERSION_MAJOR", "HIP_VERSION_MINOR", "HIP_VERSION_PATCH"}},
	[RCK_ROCM_HIPBLAS_HEADERS] = {"hipblas/hipblas-version.h",
		{"hipblasVersionMajor", "hipblasVersionMinor", "hipblasVersionPatch"}},
};

static char *version_of_headers(const char *dir, const struct header *h)
{
	_cleanup_free_ char *path = rck_xasprintf("%s/%s", dir, h->file);
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	unsigned v[3] = {0, 0, 0};
	unsigned found = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < 3; i++) {
			char name[32];
			unsigned n;

			if (sscanf(line, "#define %31s %u", name, &n) == 2 &&
				!strcmp(name, h->macros[i])) {
				v[i] = n;
				found |= 1u << i;
			}
		}
	return found == 7 ? rck_xasprintf("%u.%u.%u", v[0], v[1], v[2]) : NULL;
}

static char *version_of_device_libs(const char *dir)
{
	char *version = NULL;
	int newest = 0;
	glob_t g;

	if (rck_glob_below(dir, "oclc_abi_version_*.bc", &g))
		return NULL;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		int abi = atoi(strrchr(g.gl_pathv[i], '_') + 1);

		if (abi > newest)
			newest = abi;
	}
	globfree(&g);
	if (newest)
		version = rck_xasprintf("abi %d", newest);
	return version;
}

/* What stands behind "HIP version: " or "clang version " in the compiler's --version. */
static char *version_of_compiler(const struct rck_rocm *r, enum rck_rocm_part part)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_strv_ struct rck_strv env = {NULL, 0};
	static const char *const marks[] = {"HIP version: ", "clang version "};
	struct rck_spawn s = {.out = &text, .err = &text, .timeout = 20};

	rck_rocm_tool_command(r, r->path[part], &argv, &env);
	rck_strv_add(&argv, "--version");
	s.argv = rck_strv_list(&argv);
	s.env = rck_strv_list(&env);
	if (rck_spawn_run(&s))
		return NULL;
	for (size_t i = part == RCK_ROCM_HIPCC ? 0 : 1; i < 2; i++) {
		const char *at = strstr(text.buf, marks[i]);

		if (at) {
			at += strlen(marks[i]);
			return rck_xstrndup(at, strcspn(at, " \n("));
		}
	}
	return NULL;
}

const char *rck_rocm_version(struct rck_rocm *r, enum rck_rocm_part part)
{
	const char *path = r->path[part];

	if (!path || r->version_sought[part])
		return r->version[part];
	r->version_sought[part] = true;
	switch (parts[part].place) {
	case IN_LIB:
		r->version[part] = version_of_library(path);
		break;
	case IN_BIN:
		r->version[part] = version_of_compiler(r, part);
		break;
	case IN_DATA:
		r->version[part] = version_of_device_libs(path);
		break;
	case IN_INCLUDE:
		r->version[part] = version_of_headers(path, &headers[part]);
		break;
	}
	return r->version[part];
}

void rck_rocm_command(const struct rck_rocm *r, const char *front, struct rck_strv *argv,
	struct rck_strv *env)
{
	_cleanup_strbuf_ struct rck_strbuf path = RCK_STRBUF_INIT;
	const char *inherited = getenv("LD_LIBRARY_PATH");

	if (front)
		rck_strbuf_adds(&path, front);
	for (size_t i = 0; i < r->lib_dirs.n; i++)
		rck_strbuf_addf(&path, "%s%s", path.len ? ":" : "", r->lib_dirs.items[i]);
	if (r->loader) {
		rck_strv_add(argv, r->loader);
		rck_strv_add(argv, "--inhibit-cache");
		rck_strv_add(argv, "--library-path");
		rck_strv_add(argv, path.buf);
		return;
	}
	if (!path.len)
		return;
	if (inherited && *inherited)
		rck_strbuf_addf(&path, ":%s", inherited);
	rck_strv_addf(env, "LD_LIBRARY_PATH=%s", path.buf);
}

static bool is_script(const char *path)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char mark[2] = {0, 0};

	return f && fread(mark, 1, 2, f) == 2 && mark[0] == '#' && mark[1] == '!';
}

void rck_rocm_tool_command(const struct rck_rocm *r, const char *path,
	struct rck_strv *argv, struct rck_strv *env)
{
	if (r->loader && !strncmp(path, r->dir, strlen(r->dir)) && !is_script(path))
		rck_rocm_command(r, NULL, argv, env);
	rck_strv_add(argv, path);
}
