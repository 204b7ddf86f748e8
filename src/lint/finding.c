/* The run: parts taken in order, files as a whole, allow-lists and baseline. */
#include "container/container.h"
#include "lint/check.h"
#include "util/arena.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* The first kernel of a name for a target in the current file. */
struct rck_lint_seen {
	const char *name, *target;
	size_t kernel;
};

const char *rck_status_name(enum rck_status s)
{
	static const char *const names[] = {"new", "allowed", "baselined"};

	return names[s];
}

void rck_lint_init(struct rck_lint *l, const struct rck_lint_options *opt)
{
	*l = (struct rck_lint){.opt = *opt, .cache = rck_callgraph_cache_new()};
}

void rck_lint_release(struct rck_lint *l)
{
	rck_callgraph_cache_free(l->cache);
	rck_pool_release(&l->strings);
	free(l->files);
	free(l->kernels);
	free(l->findings);
	free(l->errors);
	free(l->seen);
	*l = (struct rck_lint){0};
}

/* Room for one more in an array that doubles. */
static void *room(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array : rck_xrealloc(array, (n ? n * 2 : 1) * size);
}

/* Takes "//", "/./" and "/../" out of an absolute path, by its text alone: a file has one
 * name in reports and baselines, however it was given. */
static void tidy(char *path)
{
	char *out = path;
	const char *s = path;
	size_t n;

	for (; *s; s += n) {
		s += strspn(s, "/");
		n = strcspn(s, "/");
		if (n == 2 && !memcmp(s, "..", 2)) {
			while (out > path && *--out != '/')
				;
		} else if (n && !(n == 1 && *s == '.')) {
			*out++ = '/';
			memmove(out, s, n);
			out += n;
		}
	}
	*out = '\0';
}

char *rck_lint_relative(const char *root, const char *cwd, const char *path)
{
	size_t len = strlen(root);
	char *full;

	while (!strncmp(path, "./", 2))
		path += 2 + strspn(path + 2, "/");
	if (!strcmp(path, "-"))
		return rck_xstrdup(path);
	full = path[0] == '/' ? rck_xstrdup(path) : rck_xasprintf("%s/%s", cwd, path);
	tidy(full);
	while (len && root[len - 1] == '/')
		len--; /* of "/" nothing is left: all is below it */
	if (!strncmp(full, root, len) && full[len] == '/') {
		char *below = rck_xstrdup(full + len + 1);

		free(full);
		return below;
	}
	free(full);
	return rck_xstrdup(path);
}

static const char *relative(struct rck_lint *l, const char *path)
{
	char *s = path ? rck_lint_relative(l->opt.root, l->opt.cwd, path) : NULL;
	const char *kept = rck_pool_add(&l->strings, s);

	free(s);
	return kept;
}

/* What comes back of s from a JSON file: names need not be UTF-8. */
static const char *json_text(struct rck_lint *l, const char *s)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;

	rck_strbuf_add_utf8(&text, s, strlen(s));
	return rck_pool_add(&l->strings, text.buf);
}

void rck_lint_begin(struct rck_lint *l, const char *path, bool named)
{
	const char *below = relative(l, path);

	l->files = room(l->files, l->n_files, sizeof(*l->files));
	l->files[l->n_files++] = (struct rck_lint_file){
		.path = rck_pool_add(&l->strings, path),
		.relative = below,
		.key = json_text(l, below),
		.named = named,
	};
	l->n_seen = 0;
	if (l->seen)
		memset(l->seen, 0, l->cap_seen * sizeof(*l->seen));
	l->file_kernels = l->n_kernels;
}

/* ---- what is accepted */

static bool name_matches(
	struct rck_lint *l, struct rck_allow *a, const struct rck_lint_kernel *k)
{
	struct rck_diag diag;
	int match;

	if (!k || a->too_hard)
		return false;
	match = rck_regex_match(a->kernel_re, k->name);
	if (!match && k->demangled)
		match = rck_regex_match(a->kernel_re, k->demangled);
	if (match < 0) {
		a->too_hard = true;
		rck_fail(&diag, match, RCK_OFFSET_NONE,
			"the allow entry's '%s' takes too long to match '%s': it allows "
			"nothing from here on",
			a->kernel, k->name);
		rck_lint_error(l, "", &diag);
	}
	return match > 0;
}

static bool allows(struct rck_lint *l, struct rck_allow *a, const struct rck_finding *f)
{
	const struct rck_lint_file *file = &l->files[f->file];

	if (a->expired || (a->rules && !(a->rules & 1u << f->rule->number)))
		return false;
	if (a->target && !rck_target_matches(a->target, f->target))
		return false;
	if (a->file && fnmatch(a->file, file->relative, 0) &&
		fnmatch(a->file, file->path, 0))
		return false;
	return !a->kernel ||
	       name_matches(
		       l, a, f->kernel == RCK_NO_KERNEL ? NULL : &l->kernels[f->kernel]);
}

struct rck_baseline_key rck_finding_key(struct rck_lint *l, const struct rck_finding *f)
{
	const char *kernel = f->kernel == RCK_NO_KERNEL ? "" : l->kernels[f->kernel].name;

	return (struct rck_baseline_key){
		.rule = f->rule->id,
		.path = l->files[f->file].key,
		.target = json_text(l, f->target),
		.kernel = json_text(l, kernel),
	};
}

/* An allow entry is for one place and has a reason; the baseline is for the rest. */
static void judge(struct rck_lint *l, struct rck_finding *f)
{
	for (size_t i = 0; i < l->opt.policy->n_allows; i++) {
		struct rck_allow *a = &l->opt.policy->allows[i];

		if (!allows(l, a, f))
			continue;
		a->hits++;
		f->allow = a;
		f->status = RCK_STATUS_ALLOWED;
		return;
	}
	if (l->opt.baseline) {
		struct rck_baseline_key key = rck_finding_key(l, f);

		if (rck_baseline_accepts(l->opt.baseline, &key))
			f->status = RCK_STATUS_BASELINED;
	}
}

/* The finding's kernel and strings are the run's by now. */
static struct rck_finding *add_finding(struct rck_lint *l, const struct rck_finding *from)
{
	struct rck_finding *f;

	l->findings = room(l->findings, l->n_findings, sizeof(*l->findings));
	f = &l->findings[l->n_findings++];
	*f = *from;
	f->file = (uint32_t)(l->n_files - 1);
	if (!f->severity)
		f->severity = l->opt.policy->severity[f->rule->number];
	judge(l, f);
	if (f->kernel != RCK_NO_KERNEL && rck_finding_counts(l, f) &&
		l->kernels[f->kernel].worst < f->severity)
		l->kernels[f->kernel].worst = (uint8_t)f->severity;
	return f;
}

/* A finding of a rule of files. */
static struct rck_finding *add_file_finding(struct rck_lint *l, enum rck_rule_id id,
	const char *target, const char *where, const char *text)
{
	struct rck_finding f = {
		.rule = &rck_rules[id],
		.state = RCK_STATE_FAIL,
		.kernel = RCK_NO_KERNEL,
		.target = rck_pool_add(&l->strings, target),
		.where = rck_pool_add(&l->strings, where),
		.text = rck_pool_add(&l->strings, text),
		.confidence = RCK_CONFIDENCE_HIGH,
	};

	l->states[id][RCK_STATE_FAIL]++;
	return add_finding(l, &f);
}

static bool enabled(const struct rck_lint *l, enum rck_rule_id id)
{
	return l->opt.policy->severity[id] != RCK_SEVERITY_OFF;
}

/* ---- one kernel, two bodies */

/* Names with internal linkage may mean different kernels in different translation units
 * (Itanium C++ ABI, 5.1.2: 'L' before a source name; "_GLOBAL__N_" for unnamed
 * namespaces). */
static bool is_internal(const char *name)
{
	const char *p = name;

	if (strncmp(name, "_Z", 2))
		return false;
	if (strstr(name, "_GLOBAL__N_"))
		return true;
	p += 2;
	if (*p == 'N')
		p++;
	while (isdigit((unsigned char)*p)) {
		char *end;
		unsigned long len = strtoul(p, &end, 10);

		if (len > strlen(end))
			return false;
		p = end + len;
	}
	return *p == 'L' && isdigit((unsigned char)p[1]);
}

static struct rck_lint_seen *seen_slot(
	struct rck_lint_seen *table, size_t cap, const char *name, const char *target)
{
	const void *key[2] = {name, target};
	size_t i = rck_hash_bytes(key, sizeof(key)) & (cap - 1);

	while (table[i].name && (table[i].name != name || table[i].target != target))
		i = (i + 1) & (cap - 1);
	return &table[i];
}

static void grow_seen(struct rck_lint *l)
{
	size_t cap = l->cap_seen ? l->cap_seen * 2 : 256;
	struct rck_lint_seen *table = rck_xcalloc(cap, sizeof(*table));

	for (size_t i = 0; i < l->cap_seen; i++) {
		struct rck_lint_seen *s = &l->seen[i];

		if (s->name)
			*seen_slot(table, cap, s->name, s->target) = *s;
	}
	free(l->seen);
	l->seen = table;
	l->cap_seen = cap;
}

static uint64_t body_of(struct rck_lint_kernel *k)
{
	if (!k->body && k->code)
		k->body = rck_lint_body(k->code, k->code_size);
	return k->body;
}

/* Compilers are not always deterministic: operands of an addition may be swapped. Where
 * nothing but instructions differ, that is all that can be said. */
static enum rck_state compare_bodies(
	const struct rck_lint_kernel *a, const struct rck_lint_kernel *b)
{
	if (a->code_size != b->code_size || a->flags != b->flags ||
		a->vgprs != b->vgprs || a->agprs != b->agprs || a->sgprs != b->sgprs ||
		a->spills != b->spills || a->scratch != b->scratch || a->lds != b->lds)
		return RCK_STATE_FAIL;
	return a->body == b->body ? RCK_STATE_PASS : RCK_STATE_MAYBE;
}

static const char *demangle(struct rck_lint *l, const char *name)
{
	struct rck_arena *arena = rck_arena_new(0);
	const char *kept =
		rck_pool_add(&l->strings, arena ? rck_demangle(arena, name) : name);

	rck_arena_free(arena);
	return kept;
}

static void look_for_twin(struct rck_lint *l, size_t kernel)
{
	struct rck_lint_kernel *k = &l->kernels[kernel], *first;
	struct rck_finding f = {
		.rule = &rck_rules[RCK_RULE_DUPLICATE_KERNEL_DIFFERS],
		.state = RCK_STATE_FAIL,
		.kernel = kernel,
		.target = k->target,
		.where = "",
		.confidence = RCK_CONFIDENCE_HIGH,
	};
	struct rck_lint_seen *s;
	enum rck_state state;

	if (l->n_seen * 2 >= l->cap_seen)
		grow_seen(l);
	s = seen_slot(l->seen, l->cap_seen, k->name, k->target);
	if (!s->name) {
		*s = (struct rck_lint_seen){k->name, k->target, kernel};
		l->n_seen++;
		l->states[RCK_RULE_DUPLICATE_KERNEL_DIFFERS][RCK_STATE_PASS]++;
		return;
	}
	first = &l->kernels[s->kernel];
	if (is_internal(k->name))
		state = RCK_STATE_PASS;
	else if (!body_of(k) || !body_of(first))
		state = RCK_STATE_NOT_CHECKABLE;
	else
		state = compare_bodies(k, first);
	if (state == RCK_STATE_FAIL || state == RCK_STATE_MAYBE) {
		if (!k->demangled)
			k->demangled = demangle(l, k->name);
		f.state = state;
		f.text = rck_pool_add(&l->strings,
			state == RCK_STATE_FAIL
				? "has another body elsewhere in the file, for the same "
				  "target"
				: "has other instructions elsewhere in the file, of the "
				  "same size and registers");
		add_finding(l, &f);
	}
	l->states[RCK_RULE_DUPLICATE_KERNEL_DIFFERS][state]++;
}

/* ---- taking */

void rck_lint_take(struct rck_lint *l, struct rck_lint_part *part)
{
	struct rck_lint_file *file = &l->files[l->n_files - 1];
	size_t base = l->n_kernels;

	file->objects++;
	file->kernels += part->n_kernels;
	l->objects++;
	for (size_t i = 0; i < part->n_kernels; i++) {
		struct rck_lint_kernel *k;

		l->kernels = room(l->kernels, l->n_kernels, sizeof(*l->kernels));
		k = &l->kernels[l->n_kernels++];
		*k = part->kernels[i];
		k->name = rck_pool_add(&l->strings, k->name);
		k->demangled = rck_pool_add(&l->strings, k->demangled);
		k->target = rck_pool_add(&l->strings, k->target);
		k->file = (uint32_t)(l->n_files - 1);
		file->flagged += !!(k->flags & ~(unsigned)RCK_FLAG_STACK_POSSIBLE);
	}
	for (size_t i = 0; i < part->n_findings; i++) {
		struct rck_finding f = part->findings[i];

		f.kernel += f.kernel == RCK_NO_KERNEL ? 0 : base;
		f.target = rck_pool_add(&l->strings, f.target);
		f.where = rck_pool_add(&l->strings, f.where);
		f.text = rck_pool_add(&l->strings, f.text);
		f.path = rck_pool_add(&l->strings, f.path);
		f.proof = rck_pool_add(&l->strings, f.proof);
		f.source = relative(l, f.source);
		add_finding(l, &f);
	}
	for (size_t r = 0; r < RCK_RULE_COUNT_; r++)
		for (size_t s = 0; s < RCK_STATE_COUNT_; s++)
			l->states[r][s] += part->states[r][s];
	if (enabled(l, RCK_RULE_DUPLICATE_KERNEL_DIFFERS))
		for (size_t i = base; i < l->n_kernels; i++)
			look_for_twin(l, i);
	rck_pool_release(&part->strings);
	free(part->kernels);
	free(part->findings);
	free(part);
}

void rck_lint_error(struct rck_lint *l, const char *where, const struct rck_diag *d)
{
	l->errors = room(l->errors, l->n_errors, sizeof(*l->errors));
	l->errors[l->n_errors++] = (struct rck_lint_error){
		.file = (uint32_t)(l->n_files - 1),
		.where = rck_pool_add(&l->strings, where),
		.diag = *d,
	};
	l->files[l->n_files - 1].errors++;
}

/* A rule that is off is an allow entry for everything: still told, no reason for exit 2.
 */
void rck_lint_incomplete(struct rck_lint *l, const char *where, const struct rck_diag *d,
	const char *remedy)
{
	struct rck_finding *f =
		add_file_finding(l, RCK_RULE_INCOMPLETE, "", where, d->msg);

	f->remedy = remedy;
	l->files[l->n_files - 1].incomplete++;
	if (f->status == RCK_STATUS_NEW &&
		(l->opt.policy->allow_incomplete || !enabled(l, RCK_RULE_INCOMPLETE)))
		f->status = RCK_STATUS_ALLOWED;
	if (!f->severity)
		f->severity = RCK_SEVERITY_NOTE;
	l->incomplete_allowed += f->status != RCK_STATUS_NEW;
}

/* ---- a source, by how it is compiled */

void rck_lint_begin_source(struct rck_lint *l, const char *path)
{
	rck_lint_begin(l, path, false);
	l->sources++;
}

void rck_lint_source(struct rck_lint *l, enum rck_rule_id id, const char *target,
	unsigned line, const char *text)
{
	struct rck_finding *f;

	if (!enabled(l, id))
		return;
	f = add_file_finding(l, id, target, "", text);
	if (line) {
		f->source = l->files[l->n_files - 1].relative;
		f->line = line;
	}
}

void rck_lint_source_state(struct rck_lint *l, enum rck_rule_id id, enum rck_state state)
{
	l->states[id][state] += enabled(l, id);
}

/* ---- a file as a whole */

static void check_targets(struct rck_lint *l)
{
	const struct rck_policy *p = l->opt.policy;

	for (size_t r = 0; r < p->n_required; r++) {
		bool found = false;

		for (size_t i = l->file_kernels; i < l->n_kernels && !found; i++)
			found = rck_target_matches(p->required[r], l->kernels[i].target);
		if (found) {
			l->states[RCK_RULE_TARGET_MISSING][RCK_STATE_PASS]++;
			continue;
		}
		add_file_finding(l, RCK_RULE_TARGET_MISSING, p->required[r], "",
			"holds no kernel for a target that the policy requires");
	}
}

static void report_no_device_code(struct rck_lint *l)
{
	struct rck_finding *f;

	if (l->opt.policy->require_device_code) {
		f = add_file_finding(
			l, RCK_RULE_NO_DEVICE_CODE, "", "", "holds no device code");
		f->severity = RCK_SEVERITY_ERROR;
	} else if (enabled(l, RCK_RULE_NO_DEVICE_CODE)) {
		add_file_finding(
			l, RCK_RULE_NO_DEVICE_CODE, "", "", "holds no device code");
	}
}

void rck_lint_end(struct rck_lint *l)
{
	struct rck_lint_file *file = &l->files[l->n_files - 1];

	/* a file found in a folder need not be about devices at all */
	if (!file->objects && !file->incomplete && !file->errors && file->named)
		report_no_device_code(l);
	else if (file->objects)
		l->states[RCK_RULE_NO_DEVICE_CODE][RCK_STATE_PASS]++;
	if (file->kernels && enabled(l, RCK_RULE_TARGET_MISSING))
		check_targets(l);
	for (size_t i = l->file_kernels; i < l->n_kernels; i++)
		l->kernels[i].code = NULL;
}

void rck_lint_finish(struct rck_lint *l)
{
	bool named = false;

	for (size_t i = 0; i < l->n_files; i++)
		named |= l->files[i].named;
	if (l->opt.policy->require_device_code && !l->objects && !named) {
		if (!l->n_files)
			rck_lint_begin(l, ".", false);
		report_no_device_code(l);
	}
}

bool rck_baseline_is_stale(const struct rck_lint *l, const struct rck_baseline_entry *e)
{
	if (e->seen >= e->count)
		return false;
	for (size_t i = 0; i < l->n_files; i++)
		if (!strcmp(l->files[i].key, e->key.path))
			return true;
	return false;
}

bool rck_finding_counts(const struct rck_lint *l, const struct rck_finding *f)
{
	return f->status == RCK_STATUS_NEW && f->severity >= l->opt.policy->fail_on &&
	       (f->state == RCK_STATE_FAIL || l->opt.policy->maybe_fails);
}

int rck_lint_verdict(const struct rck_lint *l)
{
	bool counts = false;

	if (l->n_errors)
		return 2;
	for (size_t i = 0; i < l->n_findings; i++) {
		const struct rck_finding *f = &l->findings[i];

		if (f->rule->number == RCK_RULE_INCOMPLETE && f->status == RCK_STATUS_NEW)
			return 2;
		counts |= rck_finding_counts(l, f);
	}
	return counts;
}
