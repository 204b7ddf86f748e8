/*
 * Names of kernels for a column. C++ kernels carry return type, namespaces, template
 * arguments and parameters; a reader tells them apart by the base name first, then by
 * template arguments.
 */
#pragma once

#include "util/strbuf.h"

/* Adds a demangled name without return type and parameters: "void ns::k<int>(int*)"
 * becomes "ns::k<int>"; what is not a function stays as it is. */
void rck_shorten_name(struct rck_strbuf *out, const char *name, size_t len);
