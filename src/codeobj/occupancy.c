#include "codeobj/private.h"
void rck_occupancy_judge(struct rck_kernel *k)
{
}
