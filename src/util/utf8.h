/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character; returns its length in bytes, or 0 when s does not start a valid
 * one. */
static inline size_t rck_utf8_decode(const char *s, size_t len, uint32_t *out)
{
	const uint8_t *p = (const uint8_t *)s;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n;
	uint32_t c;

	if (!len)
		return 0;
	if (p[0] < 0x80) {
		*out = p[0];
		return 1;
	}
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n > len)
		return 0;
	c = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*out = c;
	return n;
}
