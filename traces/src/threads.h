// Threads for workloads without a library: raw clone, and a join that waits for the number which the
// kernel clears.
#pragma once
#include "start.h"

#ifndef THREADS
#define THREADS 8u
#endif
#define LINE 64u
#define FUTEX_WAIT 0
#define CLONE_FLAGS 0x00350f00 /* VM FS FILES SIGHAND THREAD SYSVSEM PARENT_SETTID CHILD_CLEARTID */

static u8 stacks[THREADS][8192] __attribute__((aligned(4096)));
// A line for each number, so that threads that end disturb no other data.
static struct {
    volatile int tid;
} __attribute__((aligned(LINE))) started[THREADS];

// Begins `work(thread)` on a stack of its own. The child takes both words from the top of that.
static inline void start_thread(u32 thread, void (*work)(u32)) {
    u64 *top = (u64 *)(stacks[thread] + sizeof stacks[thread]) - 2;
    top[0] = (u64)work;
    top[1] = thread;
    register long x8 __asm__("x8") = SYS_CLONE;
    register long x0 __asm__("x0") = CLONE_FLAGS;
    register long x1 __asm__("x1") = (long)top;
    register long x2 __asm__("x2") = (long)&started[thread].tid;
    register long x3 __asm__("x3") = 0;
    register long x4 __asm__("x4") = (long)&started[thread].tid;
    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "ldp x1, x0, [sp]\n\t"
                     "blr x1\n\t"
                     "mov x0, #0\n\t"
                     "mov x8, #93\n\t"
                     "svc #0\n"
                     "1:"
                     : "+r"(x0), "+r"(x1)
                     : "r"(x8), "r"(x2), "r"(x3), "r"(x4)
                     : "memory", "x30");
}

// Waits until thread 1 and all later ones have ended.
static inline void join_threads(void) {
    for (u32 thread = 1; thread < THREADS; thread++) {
        int tid;
        while ((tid = started[thread].tid) != 0)
            syscall6(SYS_FUTEX, (long)&started[thread].tid, FUTEX_WAIT, tid, 0, 0, 0);
    }
}

// Runs `work` on all threads; the caller is thread 0.
static inline void run_threads(void (*work)(u32)) {
    for (u32 thread = 1; thread < THREADS; thread++) start_thread(thread, work);
    work(0);
    join_threads();
}
