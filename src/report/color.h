/* The colours of text reports (ECMA-48 SGR). */
#pragma once

#define RCK_BOLD   "\033[1m"
#define RCK_RED    "\033[31m"
#define RCK_GREEN  "\033[32m"
#define RCK_YELLOW "\033[33m"
#define RCK_NORMAL "\033[0m"
