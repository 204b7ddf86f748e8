/*
 * Evidence from a process that hangs: what each thread does. Built on libdw
 * (dwfl_linux_proc_attach); without it threads are listed with state and CPU use alone,
 * and each says why it has no frames.
 */
#pragma once

#include "teardown/exposure.h"
#include "teardown/proc.h"

/*
 * Watches every thread of these processes for watch seconds, then stops each thread in
 * turn, walks its stack and lets it go on. The caller must be allowed to ptrace them: it
 * is their ancestor. Fills e->threads (64 at most) and e->spins_in. A process that ends
 * meanwhile leaves nothing.
 */
void rck_stack_capture(const struct rck_pids *pids, double watch, struct rck_exposure *e);

/*
 * Keeps a core of a live process in folder by gdb's gcore. Fills e->core, or e->reason
 * with why there is none.
 */
void rck_stack_keep_core(pid_t pid, const char *folder, struct rck_exposure *e);
