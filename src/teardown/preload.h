/*
 * The words between the preloaded libraries and their supervisor. They write lines
 * "PID EVENT [NUMBER [NUMBER]]\n" or "PID EVENT PATH\n", each in one write, to the
 * descriptor that RCK_PRELOAD_FD names; the rest of the environment says what they are to
 * do besides.
 */
#pragma once

#define RCK_PRELOAD_FD     "RCK_PRELOAD_FD"
#define RCK_PRELOAD_LINES  "RCK_PRELOAD_LINES"  /* 1: stdout line by line */
#define RCK_PRELOAD_STARVE "RCK_PRELOAD_STARVE" /* the busy CPU's number */

#define RCK_SAYS_LOADED      "loaded"
#define RCK_SAYS_RETURNED    "returned"    /* main has returned: STATUS */
#define RCK_SAYS_EXIT        "exit"        /* exit() was called: STATUS */
#define RCK_SAYS_THREAD      "thread"      /* libamdhip64 made a thread: TID */
#define RCK_SAYS_THREAD_END  "thread-end"  /* and it returned: TID */
#define RCK_SAYS_LIBRARY     "library"     /* is loaded at the end: PATH */
#define RCK_SAYS_STARVED     "starved"     /* demoted: TID */
#define RCK_SAYS_NOT_STARVED "not-starved" /* could not be: ERRNO */
#define RCK_SAYS_REORDERED                                                               \
	"reordered" /* DESTRUCTORS INDEX: where the listener's was registered */
#define RCK_SAYS_NOT_REORDERED "not-reordered" /* DESTRUCTORS CANDIDATES */
