// Two threads (raw clone): LSE atomics on a shared line, exclusives on a line of each thread's own,
// acquire and release. No spinning, so that the count of instructions does not depend on timing.
#include "start.h"

#define ROUNDS 60000u
#define CLONE_FLAGS 0x00350f00 /* VM FS FILES SIGHAND THREAD SYSVSEM PARENT_SETTID CHILD_CLEARTID */

static struct {
    u64 added __attribute__((aligned(64)));
    u64 bits;
    u64 maximum;
    u64 swapped;
    u64 own[2][8] __attribute__((aligned(64)));
    u64 flags[2][8];
} shared;

static u8 stack[65536] __attribute__((aligned(16)));
static volatile int child_tid;

static inline u64 lse_add(u64 *at, u64 value) {
    u64 old;
    __asm__ volatile("ldadd %1, %0, [%2]" : "=r"(old) : "r"(value), "r"(at) : "memory");
    return old;
}

static inline void lse_store_set(u64 *at, u64 value) {
    __asm__ volatile("stset %0, [%1]" ::"r"(value), "r"(at) : "memory");
}

static inline void lse_store_max(u64 *at, u64 value) {
    __asm__ volatile("stumax %0, [%1]" ::"r"(value), "r"(at) : "memory");
}

static inline u64 lse_swap(u64 *at, u64 value) {
    u64 old;
    __asm__ volatile("swpal %1, %0, [%2]" : "=r"(old) : "r"(value), "r"(at) : "memory");
    return old;
}

static inline u64 lse_compare(u64 *at, u64 expected, u64 value) {
    __asm__ volatile("casal %0, %1, [%2]" : "+r"(expected) : "r"(value), "r"(at) : "memory");
    return expected;
}

static inline void exclusive_add(u64 *at, u64 value) {
    u64 old;
    u32 failed;
    __asm__ volatile("1: ldaxr %0, [%2]\n\tadd %0, %0, %3\n\tstlxr %w1, %0, [%2]\n\tcbnz %w1, 1b"
                     : "=&r"(old), "=&r"(failed)
                     : "r"(at), "r"(value)
                     : "memory");
}

static inline void release(u64 *at, u64 value) {
    __asm__ volatile("stlr %0, [%1]" ::"r"(value), "r"(at) : "memory");
}

static inline u64 acquire(u64 *at) {
    u64 value;
    __asm__ volatile("ldar %0, [%1]" : "=r"(value) : "r"(at) : "memory");
    return value;
}

static NOINLINE void work(u32 thread) {
    ROI_BEGIN();
    u64 state = thread;
    for (u32 i = 0; i < ROUNDS; i++) {
        u64 value = next_random(&state);
        lse_add(&shared.added, i);
        lse_store_set(&shared.bits, 1ull << (value & 63));
        lse_store_max(&shared.maximum, value);
        exclusive_add(&shared.own[thread][0], 1);
        release(&shared.flags[thread][0], i);
        acquire(&shared.flags[!thread][0]);
        if (i % 16 == 0) lse_swap(&shared.swapped, value);
        lse_compare(&shared.own[thread][1], i, i + 1);
        if (i % 64 == 0) __asm__ volatile("dmb ish" ::: "memory");
    }
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
    u64 expected = (u64)ROUNDS * (ROUNDS - 1);
    int is_right = shared.added == expected && shared.bits == ~0ull;
    for (int t = 0; t < 2; t++) is_right &= shared.own[t][0] == ROUNDS && shared.own[t][1] == ROUNDS;
    report("atomics", is_right, shared.added);
}
