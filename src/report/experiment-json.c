#include "report/experiment.h"

void rck_experiment_json(const struct rck_experiment *x, struct rck_strbuf *out)
{
	struct rck_json j;

	rck_json_init(&j, out, 1);
	rck_experiment_write(x, &j);
	rck_strbuf_addc(out, '\n');
}
