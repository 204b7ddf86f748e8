#include "report/experiment.h"

void rck_experiment_html(const struct rck_experiment *x, struct rck_strbuf *out)
{
}
