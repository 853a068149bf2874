/* Marks the part of a program to record or count:
 *
 *     N2SIM_BEGIN();  work();  N2SIM_END();
 *
 *     n2sim capture --from 40 --to 41 -- ./program      records only that part, each time
 *     n2sim stat --roi 40,41 TRACE                      counts only that part of a recording
 *
 * The marks are `hint #40` and `hint #41`, which are architectural no-ops, so the program runs on
 * any AArch64 CPU. On CPUs with CHKFEAT the first one is CHKFEAT, which may change X16. */
#ifndef N2SIM_H
#define N2SIM_H

#define N2SIM_BEGIN() __asm__ volatile("hint #40" ::: "x16", "memory")
#define N2SIM_END() __asm__ volatile("hint #41" ::: "memory")

#endif
