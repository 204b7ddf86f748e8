/* The header stands alone, as strict C and as C++. */
#include <rocmcheck.h>
#include <rocmcheck.h> /* and twice */

int main(void)
{
	return rck_version()[0] == 0;
}
