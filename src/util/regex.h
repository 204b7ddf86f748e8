/*
 * POSIX extended regular expressions, as users and policy files write them.
 */
#pragma once

#include <regex.h>

/*
 * regcomp(3) of text with REG_EXTENDED and REG_NOSUB. What glibc 2.36 would take minutes,
 * gigabytes or the stack for is refused first: it copies an item for each repetition that
 * "+" and "{n,m}" stand for, those of items in items multiplied, and recurses into
 * parentheses. Returns 0, and regex is the caller's to regfree; or -EINVAL with the
 * reason in why.
 */
int rck_regex_compile(regex_t *regex, const char *text, char why[static 100]);
