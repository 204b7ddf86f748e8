/* What HIP will see, for 'rocmcheck soft --agents': the one export that is not HSA's. */
#include "softgpu/softgpu.h"

#include <stdio.h>

int sg_describe(unsigned int index, char *out, size_t size)
{
	const struct sg_card *c;

	if (!sg_n_agents && sg_agents_create())
		return -1;
	if (index + 1 >= sg_n_agents)
		return 0;
	c = sg_agents[index + 1].card;
	snprintf(out, size, "%s%s\t%s (software)\t%u\t%llu GiB\t%u", c->processor,
		c->features, c->product, c->compute_units,
		(unsigned long long)(c->memory >> 30), c->wavefront);
	return 1;
}
