#include "buildsys/doctor.h"

#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

const char *rck_health_name(enum rck_health h)
{
	static const char *const names[] = {
		[RCK_HEALTH_OK] = "ok",
		[RCK_HEALTH_UNKNOWN] = "unknown",
		[RCK_HEALTH_ATTENTION] = "attention",
		[RCK_HEALTH_PROBLEM] = "problem",
	};

	return names[h];
}

void rck_doctor_say(struct rck_doctor *d, enum rck_health health, const char *topic,
	const char *advice, const char *fmt, ...)
{
	struct rck_strbuf text = RCK_STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	rck_strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	d->lines = rck_xrealloc(d->lines, (d->n + 1) * sizeof(*d->lines));
	d->lines[d->n++] = (struct rck_doctor_line){
		.health = health,
		.topic = rck_xstrdup(topic),
		.text = rck_strbuf_detach(&text),
		.advice = advice ? rck_xstrdup(advice) : NULL,
	};
}

/*
 * The hostcall listener's exit race (a lost update of the listener's state word, then an
 * unbounded wait in a static destructor): ROCm/clr has both halves from tag rocm-6.2.0
 * on, and the fix that was proposed in public, ROCm/rocm-systems#10351, was open when
 * last read (September 2026).
 */
void rck_doctor_teardown(struct rck_doctor *d)
{
	const unsigned *v = d->hip_version;

	if (!v[0]) {
		if (d->rocm && rck_rocm_path(d->rocm, RCK_ROCM_HIP))
			rck_doctor_say(d, RCK_HEALTH_UNKNOWN, "teardown race",
				"Run 'rocmcheck doctor --teardown' to find out by "
				"experiment.",
				"the HIP runtime's version could not be told");
		return;
	}
	if (v[0] < 6 || (v[0] == 6 && v[1] < 2)) {
		rck_doctor_say(d, RCK_HEALTH_OK, "teardown race", NULL,
			"absent: HIP %u.%u is older than 6.2", v[0], v[1]);
		return;
	}
	rck_doctor_say(d, RCK_HEALTH_ATTENTION, "teardown race",
		"Keep device code free of hostcall declarations (rocmcheck lint), and "
		"run 'rocmcheck "
		"doctor --teardown' to see which routes hang here.",
		"present in HIP 6.2 and later, this is %u.%u: a process that launched a "
		"kernel which "
		"declares a hostcall buffer may hang at exit (ROCm/rocm-systems#10351)",
		v[0], v[1]);
}

void rck_doctor_run(struct rck_doctor *d)
{
	rck_doctor_parts(d);
	rck_doctor_loading(d);
	rck_doctor_device(d);
	rck_doctor_teardown(d);
	rck_doctor_environment(d);
}

void rck_doctor_release(struct rck_doctor *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->lines[i].topic);
		free(d->lines[i].text);
		free(d->lines[i].advice);
	}
	free(d->lines);
	d->lines = NULL;
	d->n = 0;
}
