// Two threads (raw clone), each of which counts in a word of its own: BETWEEN bytes apart, so in one line or in two.
// KIND says how it counts. No spinning on the other one, and nothing that orders one's words behind the other's.
#include "start.h"

#define ROUNDS 8000u
#define CLONE_FLAGS 0x00350f00 /* VM FS FILES SIGHAND THREAD SYSVSEM PARENT_SETTID CHILD_CLEARTID */
#define ATOMIC 0
#define EXCLUSIVE 1
#define PLAIN 2

static struct {
    u8 bytes[256] __attribute__((aligned(128)));
} counters;

static u8 stack[65536] __attribute__((aligned(16)));
static volatile int child_tid __attribute__((aligned(128)));

static inline void count(u64 *at) {
#if KIND == ATOMIC
    // atomic_fetch_add with the order that C gives it: acquire and release.
    u64 old;
    __asm__ volatile("ldaddal %1, %0, [%2]" : "=r"(old) : "r"(1ull), "r"(at) : "memory");
#elif KIND == EXCLUSIVE
    u64 old;
    u32 failed;
    __asm__ volatile("1: ldxr %0, [%2]\n\tadd %0, %0, #1\n\tstxr %w1, %0, [%2]\n\tcbnz %w1, 1b"
                     : "=&r"(old), "=&r"(failed)
                     : "r"(at)
                     : "memory");
#else
    *(volatile u64 *)at += 1;
#endif
}

static NOINLINE void work(u32 thread) {
    ROI_BEGIN();
    u64 *at = (u64 *)(counters.bytes + thread * BETWEEN);
    for (u32 i = 0; i < ROUNDS; i++) count(at);
    ROI_END();
}

__attribute__((used)) static void child(void) {
    work(1);
    syscall6(SYS_EXIT, 0, 0, 0, 0, 0, 0);
    __builtin_unreachable();
}

// The child's number.
static long start_child(void) {
    register long x8 __asm__("x8") = SYS_CLONE;
    register long x0 __asm__("x0") = CLONE_FLAGS;
    register long x1 __asm__("x1") = (long)(stack + sizeof stack);
    register long x2 __asm__("x2") = (long)&child_tid;
    register long x3 __asm__("x3") = 0;
    register long x4 __asm__("x4") = (long)&child_tid;
    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "bl child\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
                     : "memory", "x30", "x5", "x6", "x7", "x9", "x10", "x11", "x12", "x13", "x14",
                       "x15", "x16", "x17", "cc");
    return x0;
}

void run(void) {
    long tid = start_child();
    work(0);
    // The kernel clears the number and wakes us when the child is gone. One call whatever the order.
    do syscall6(SYS_FUTEX, (long)&child_tid, 0, tid, 0, 0, 0);
    while (child_tid != 0);
    u64 sum = *(u64 *)counters.bytes + *(u64 *)(counters.bytes + BETWEEN);
    report("sharing", sum == 2 * ROUNDS, sum);
}
