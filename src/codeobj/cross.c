#include "codeobj/private.h"
void rck_cross_check(struct rck_code_object *co)
{
}
