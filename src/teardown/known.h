/* What is known of a HIP runtime's teardown from its sources, by version. */
#pragma once

/*
 * One sentence, and whether the race is there: 1 yes, 0 no, -1 not known (no version, or
 * none that can be read). version: "6.4.43484", as behind ".so." in the library's name,
 * or NULL. Borrowed.
 *
 * Sources: ROCm/clr tags rocm-5.6.0 to rocm-6.2.2 and 6.4.3
 * (rocclr/device/devhostcall.cpp, rocclr/platform/runtime.cpp), the develop branch of
 * ROCm/rocm-systems (two versions of 2026), and its pull request 10351, open when last
 * read (September 2026).
 */
const char *rck_known_race(const char *version, int *present);
