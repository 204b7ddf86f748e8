/*
 * rocmcheck-comgr: one compilation by AMD's comgr, in a process of its own.
 *
 *	rocmcheck-comgr --comgr LIBRARY --list
 *	rocmcheck-comgr --comgr LIBRARY --isa ISA --input FILE --output FILE
 *		[--include FILE]... [--code-object-version N] -- OPTION...
 *
 * A process of its own because comgr runs one action at a time whatever the number of
 * threads, because a fatal error inside LLVM ends the process it happens in, and because
 * the comgr of a foreign tree cannot be loaded beside our C library. It links the C
 * library alone, so that it starts under any tree's loader. --list prints the interface
 * version and the targets. Diagnostics go to stderr as comgr wrote them. Exit status: 0
 * compiled, 1 the compiler reported errors, 2 comgr cannot be used, 3 usage.
 *
 * Functions, types and numbers are those of amd_comgr.h, interface 2.4 (ROCm 5.2.3) and
 * 3.0 (ROCm 7.0.2); the major version decides between them where they differ.
 */
#include <dlfcn.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_COMPILED, STATUS_ERRORS, STATUS_UNUSABLE, STATUS_USAGE };

/* data kinds: the same in both interfaces */
enum {
	KIND_SOURCE = 0x1,
	KIND_INCLUDE = 0x2,
	KIND_LOG = 0x5,
	KIND_BC = 0x6,
	KIND_RELOCATABLE = 0x7,
	KIND_EXECUTABLE = 0x8,
};

struct handle {
	uint64_t value;
};

/* What the two interfaces number differently. */
static const struct numbers {
	int language_hip;
	int compile, add_libs, link_bc, codegen, link;
} interface2 = {4, 0xf, 0x3, 0x4, 0x6, 0x9}, interface3 = {3, 0xc, -1, 0x3, 0x4, 0x7};

static struct {
	void (*get_version)(size_t *major, size_t *minor);
	int (*status_string)(int status, const char **text);
	int (*get_isa_count)(size_t *count);
	int (*get_isa_name)(size_t index, const char **name);
	int (*create_data)(int kind, struct handle *data);
	int (*set_data)(struct handle data, size_t size, const char *bytes);
	int (*set_data_name)(struct handle data, const char *name);
	int (*get_data)(struct handle data, size_t *size, char *bytes);
	int (*create_data_set)(struct handle *set);
	int (*data_set_add)(struct handle set, struct handle data);
	int (*action_data_count)(struct handle set, int kind, size_t *count);
	int (*action_data_get_data)(
		struct handle set, int kind, size_t index, struct handle *data);
	int (*create_action_info)(struct handle *info);
	int (*set_isa_name)(struct handle info, const char *name);
	int (*set_language)(struct handle info, int language);
	int (*set_option_list)(struct handle info, const char *options[], size_t count);
	int (*set_logging)(struct handle info, bool logging);
	int (*do_action)(
		int kind, struct handle info, struct handle in, struct handle out);
	/* since 2.9: the first action links the device libraries */
	int (*set_device_lib_linking)(struct handle info, bool on);
} comgr;

static const struct {
	const char *name;
	void *slot;
	bool optional;
} symbols[] = {
	{"amd_comgr_get_version", &comgr.get_version, false},
	{"amd_comgr_status_string", &comgr.status_string, false},
	{"amd_comgr_get_isa_count", &comgr.get_isa_count, false},
	{"amd_comgr_get_isa_name", &comgr.get_isa_name, false},
	{"amd_comgr_create_data", &comgr.create_data, false},
	{"amd_comgr_set_data", &comgr.set_data, false},
	{"amd_comgr_set_data_name", &comgr.set_data_name, false},
	{"amd_comgr_get_data", &comgr.get_data, false},
	{"amd_comgr_create_data_set", &comgr.create_data_set, false},
	{"amd_comgr_data_set_add", &comgr.data_set_add, false},
	{"amd_comgr_action_data_count", &comgr.action_data_count, false},
	{"amd_comgr_action_data_get_data", &comgr.action_data_get_data, false},
	{"amd_comgr_create_action_info", &comgr.create_action_info, false},
	{"amd_comgr_action_info_set_isa_name", &comgr.set_isa_name, false},
	{"amd_comgr_action_info_set_language", &comgr.set_language, false},
	{"amd_comgr_action_info_set_option_list", &comgr.set_option_list, false},
	{"amd_comgr_action_info_set_logging", &comgr.set_logging, false},
	{"amd_comgr_do_action", &comgr.do_action, false},
	{"amd_comgr_action_info_set_device_lib_linking", &comgr.set_device_lib_linking,
		true},
};

static struct {
	const char *library, *isa, *input, *output;
	const char *includes[16];
	size_t n_includes;
	int abi; /* code object version, 0: the compiler's own */
	bool list;
	const char **options;
	size_t n_options;
} arg;

static void __attribute__((noreturn, format(printf, 2, 3)))
fail(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

/* A call that has to succeed, named in the message when it does not. */
static void must(int status, const char *call)
{
	const char *text = NULL;

	if (!status)
		return;
	comgr.status_string(status, &text);
	fail(STATUS_UNUSABLE, "comgr: %s: %s", call, text ? text : "unknown error");
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"comgr", required_argument, NULL, 'c'},
		{"isa", required_argument, NULL, 'i'},
		{"input", required_argument, NULL, 'f'},
		{"output", required_argument, NULL, 'o'},
		{"include", required_argument, NULL, 'I'},
		{"code-object-version", required_argument, NULL, 'v'},
		{"list", no_argument, NULL, 'l'},
		{NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (c == 'c')
			arg.library = optarg;
		else if (c == 'i')
			arg.isa = optarg;
		else if (c == 'f')
			arg.input = optarg;
		else if (c == 'o')
			arg.output = optarg;
		else if (c == 'I' && arg.n_includes < 16)
			arg.includes[arg.n_includes++] = optarg;
		else if (c == 'v')
			arg.abi = atoi(optarg);
		else if (c == 'l')
			arg.list = true;
		else
			exit(STATUS_USAGE);
	}
	arg.options = (const char **)argv + optind;
	arg.n_options = (size_t)(argc - optind);
	if (!arg.library || (!arg.list && (!arg.isa || !arg.input || !arg.output)))
		fail(STATUS_USAGE, "rocmcheck-comgr: options are missing");
}

static const struct numbers *load(void)
{
	void *lib = dlopen(arg.library, RTLD_NOW | RTLD_LOCAL);
	size_t major = 0, minor = 0;

	if (!lib)
		fail(STATUS_UNUSABLE, "comgr: cannot load it: %s", dlerror());
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *address = dlsym(lib, symbols[i].name);

		if (!address && !symbols[i].optional)
			fail(STATUS_UNUSABLE, "comgr: '%s' has no function %s",
				arg.library, symbols[i].name);
		*(void **)symbols[i].slot = address;
	}
	comgr.get_version(&major, &minor);
	if (arg.list)
		printf("version %zu.%zu\n", major, minor);
	if (major != 2 && major != 3)
		fail(STATUS_UNUSABLE,
			"comgr: interface %zu.%zu is not known (2 and 3 are)", major,
			minor);
	return major == 2 ? &interface2 : &interface3;
}

static void list_targets(void)
{
	size_t n = 0;

	must(comgr.get_isa_count(&n), "amd_comgr_get_isa_count");
	for (size_t i = 0; i < n; i++) {
		const char *name;

		must(comgr.get_isa_name(i, &name), "amd_comgr_get_isa_name");
		puts(name);
	}
}

static void add_file(struct handle set, int kind, const char *path)
{
	const char *slash = strrchr(path, '/');
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0, cap = 0, n;
	struct handle data;

	if (!f)
		fail(STATUS_UNUSABLE, "comgr: cannot open '%s'", path);
	do {
		if (cap - size < 1 << 16) {
			cap = cap * 2 + (1 << 16);
			text = realloc(text, cap);
			if (!text)
				fail(STATUS_UNUSABLE, "comgr: out of memory");
		}
		n = fread(text + size, 1, cap - size, f);
		size += n;
	} while (n);
	if (ferror(f))
		fail(STATUS_UNUSABLE, "comgr: cannot read '%s'", path);
	fclose(f);
	must(comgr.create_data(kind, &data), "amd_comgr_create_data");
	must(comgr.set_data(data, size, text), "amd_comgr_set_data");
	must(comgr.set_data_name(data, slash ? slash + 1 : path),
		"amd_comgr_set_data_name");
	must(comgr.data_set_add(set, data), "amd_comgr_data_set_add");
}

static char *first_of(struct handle set, int kind, size_t *size)
{
	struct handle data;
	size_t n = 0;
	char *bytes;

	if (comgr.action_data_count(set, kind, &n) || !n ||
		comgr.action_data_get_data(set, kind, 0, &data) ||
		comgr.get_data(data, size, NULL))
		return NULL;
	bytes = malloc(*size + 1);
	if (bytes)
		must(comgr.get_data(data, size, bytes), "amd_comgr_get_data");
	return bytes;
}

/*
 * One action on everything in set; returns the set of its results, after its log went to
 * stderr. options is the whole list for the action.
 */
static struct handle act(int kind, const char *name, struct handle set,
	const char **options, size_t n, int language)
{
	struct handle info, out;
	size_t size;
	char *log;
	int status;

	must(comgr.create_action_info(&info), "amd_comgr_create_action_info");
	must(comgr.set_isa_name(info, arg.isa), "amd_comgr_action_info_set_isa_name");
	if (language)
		must(comgr.set_language(info, language),
			"amd_comgr_action_info_set_language");
	must(comgr.set_option_list(info, options, n),
		"amd_comgr_action_info_set_option_list");
	must(comgr.set_logging(info, true), "amd_comgr_action_info_set_logging");
	if (comgr.set_device_lib_linking)
		must(comgr.set_device_lib_linking(info, true),
			"amd_comgr_action_info_set_device_lib_linking");
	must(comgr.create_data_set(&out), "amd_comgr_create_data_set");
	status = comgr.do_action(kind, info, set, out);
	log = first_of(out, KIND_LOG, &size);
	if (log)
		fwrite(log, 1, size, stderr);
	free(log);
	if (status) {
		fflush(stderr);
		fprintf(stderr, "comgr: the action '%s' failed\n", name);
		exit(STATUS_ERRORS);
	}
	return out;
}

/* The options that code generation takes: the level and the code object version. */
static size_t codegen_options(const char **to)
{
	size_t n = 0;

	for (size_t i = 0; i < arg.n_options; i++)
		if (!strncmp(arg.options[i], "-O", 2) ||
			!strncmp(arg.options[i], "-mcode-object-version=", 22))
			to[n++] = arg.options[i];
	return n;
}

static void write_output(struct handle set)
{
	size_t size;
	char *bytes = first_of(set, KIND_EXECUTABLE, &size);
	FILE *f;

	if (!bytes)
		fail(STATUS_ERRORS, "comgr: no code object came out");
	f = fopen(arg.output, "we");
	if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
		fail(STATUS_UNUSABLE, "comgr: cannot write '%s'", arg.output);
	free(bytes);
}

int main(int argc, char **argv)
{
	const struct numbers *nr;
	const char **late;
	struct handle set;
	size_t n_late;

	parse(argc, argv);
	/* comgr puts ROCM_PATH/include before all other folders, where <math.h> would
	   hide the C++ library's, and sends its log elsewhere at a variable's word. */
	setenv("ROCM_PATH", "/nonexistent", 1);
	unsetenv("AMD_COMGR_REDIRECT_LOGS");
	nr = load();
	if (arg.list) {
		list_targets();
		return STATUS_COMPILED;
	}
	late = calloc(arg.n_options + 1, sizeof(*late));
	if (!late)
		fail(STATUS_UNUSABLE, "comgr: out of memory");
	n_late = codegen_options(late);

	must(comgr.create_data_set(&set), "amd_comgr_create_data_set");
	add_file(set, KIND_SOURCE, arg.input);
	for (size_t i = 0; i < arg.n_includes; i++)
		add_file(set, KIND_INCLUDE, arg.includes[i]);
	set = act(nr->compile, "compile", set, arg.options, arg.n_options,
		nr->language_hip);
	if (nr->add_libs >= 0 && !comgr.set_device_lib_linking) {
		const char *libs[] = {"code_object_v5"};

		set = act(nr->add_libs, "add device libraries", set, libs, arg.abi == 5,
			nr->language_hip);
		set = act(nr->link_bc, "link bitcode", set, NULL, 0, nr->language_hip);
	}
	set = act(nr->codegen, "generate code", set, late, n_late, 0);
	set = act(nr->link, "link", set, NULL, 0, 0);
	write_output(set);
	return STATUS_COMPILED;
}
