// One memory benchmark per program: OPERATION over SIZE bytes by THREADS threads, each with memory of its own.
//
// After a warm-up, the part between hints 40 and 41 counts. With one thread, only the part between hints 42 and 43 is
// recorded, without the preparation of the input. Of a lap longer than twice PART_MAX only a part counts: the warm-up
// accesses every line of the lap (of its last WARM_MAX bytes, more than any cache holds), and two halves of a part count.
// One lies in the first half of the lap and one near its end: a cache that keeps a part of an oversized lap kept its
// beginning.
//
// The loops have the order, size and number of accesses of the benchmarks whose results xtask/silicon/*.tsv holds.
#include "start.h"

#define CHASE 0
#define READ 1
#define WRITE 2
#define COPY 3
#define BW_READ 4
#define BW_WRITE 5
#define BW_READ_WRITE 6

#ifndef THREADS
#define THREADS 1
#endif

#define PAGE 4096ul
#define LINE 64ul
#define PART_MAX (4096ul * 1024)
#define WARM_MAX (131072ul * 1024)
#define NODES_MAX 131072ul
#define CLONE_FLAGS 0x00350f00 /* VM FS FILES SIGHAND THREAD SYSVSEM PARENT_SETTID CHILD_CLEARTID */
#define SYS_MMAP 222

#define RECORD_BEGIN() __asm__ volatile("hint #42" ::: "memory")
#define RECORD_END() __asm__ volatile("hint #43" ::: "memory")

static u8 stack[65536] __attribute__((aligned(16)));
static volatile int child_tid __attribute__((aligned(128)));

static u8 *allocate(u64 bytes) {
    long at = syscall6(SYS_MMAP, 0, (long)(bytes + PAGE), 3, 0x22, -1, 0);
    if (at < 0 && at > -4096) finish(2);
    return (u8 *)at;
}

// Uses the values of a pass without a write: the processes of the benchmarks share no line.
#define USE(value) __asm__ volatile("" ::"r"(value) : "memory")

#define WARM (SIZE < WARM_MAX ? SIZE : WARM_MAX)

// Makes one access to each line, like the operation: the cache state after a lap, with few instructions.
__attribute__((unused)) static NOINLINE void touch(u8 *to, u8 *from, u64 bytes) {
    for (u64 i = 0; i + 16 * LINE <= bytes; i += 16 * LINE) {
#pragma GCC unroll 16
        for (u64 line = 0; line < 16 * LINE; line += LINE) {
            if (OPERATION != WRITE) (void)*(volatile u64 *)(from + i + line);
            if (OPERATION != CHASE && OPERATION != READ && OPERATION != BW_READ)
                *(volatile u64 *)(to + i + line) = 0;
        }
    }
}

#if OPERATION == CHASE

static volatile u64 sink __attribute__((aligned(128)));

// Sixteen bytes: four nodes a line.
struct node {
    u64 payload;
    struct node *next;
};

#define NODES (SIZE / sizeof(struct node))
#define STEPS (NODES < NODES_MAX ? NODES : NODES_MAX)
// Laps of the warm-up and of the counted part: short lists are followed more than once.
#define LAPS (STEPS < 32768 ? (32768 + STEPS - 1) / STEPS : 1)

// The i-th node of a random cycle: a bijection of 0 to NODES - 1, a power of two.
static u64 place(u64 i) {
    u64 mask = NODES - 1;
    u32 shift = 0;
    while ((1ul << shift) < NODES) shift++;
    shift = (shift + 1) / 2;
    for (u32 round = 0; round < 3; round++) {
        i = (i * 0x9e3779b97f4a7c15ul + 0x632be59bd9b4e019ul) & mask;
        i ^= i >> shift;
    }
    return i;
}

static struct node *follow(struct node *node, u64 steps) {
    // The sum stays in memory: each addition waits for the previous store.
    volatile u64 sum = 0;
#define STEP() sum += node->payload; node = node->next;
    for (u64 i = 0; i < steps; i += 8) {
        STEP() STEP() STEP() STEP() STEP() STEP() STEP() STEP()
    }
    sink += sum;
    return node;
}

static void work(u32 thread) {
    (void)thread;
    struct node *nodes = (struct node *)allocate(SIZE);
    // Twice the counted steps, to include the warm-up; a shorter list is closed.
    u64 linked = NODES < 2 * NODES_MAX ? NODES : 2 * NODES_MAX;
    for (u64 i = 0; i < linked; i++) {
        struct node *node = &nodes[place(i)];
        node->payload = i;
        node->next = &nodes[place((i + 1) & (NODES - 1))];
    }
    struct node *node = &nodes[place(0)];
    RECORD_BEGIN();
    if (NODES > linked) {
        touch((u8 *)nodes, (u8 *)nodes, WARM);
        node = follow(node, NODES_MAX);
    } else {
        for (u32 lap = 0; lap < LAPS + 1; lap++) node = follow(node, STEPS);
    }
    ROI_BEGIN();
    for (u32 lap = 0; lap < LAPS; lap++) node = follow(node, STEPS);
    ROI_END();
    RECORD_END();
    sink += (u64)node;
}

#define RESULT (LAPS * STEPS)

#else

// Counted bytes of one lap, and laps of the counted part: some hundred thousand bytes.
#define PART (SIZE < 2 * PART_MAX ? SIZE : PART_MAX)
#define LAPS (PART < 262144 ? (262144 + PART - 1) / PART : 1)
// Begins of the two halves of a part.
#define EARLY (SIZE / 4 & ~(PAGE - 1))
#define LATE ((SIZE - PART) & ~(PAGE - 1))

#if OPERATION == READ

static NOINLINE u64 pass(u8 *restrict to, u8 *from, u64 bytes, u64 value) {
    (void)to, (void)value;
    const u64 *p = (const u64 *)from, *end = (const u64 *)(from + bytes);
    u64 x[8] = {0};
    while (p + 32 <= end) {
#define WORD(i) x[(i) & 7] ^= p[i];
#define WORDS(i) WORD(i) WORD(i + 1) WORD(i + 2) WORD(i + 3) WORD(i + 4) WORD(i + 5) WORD(i + 6) WORD(i + 7)
        WORDS(0) WORDS(8) WORDS(16) WORDS(24)
        p += 32;
    }
    return x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7];
}

#elif OPERATION == WRITE

static NOINLINE u64 pass(u8 *restrict to, u8 *from, u64 bytes, u64 value) {
    (void)from;
    u64 *p = (u64 *)to, *end = (u64 *)(to + bytes);
    while (p + 32 <= end) {
#define WORD(i) p[i] = value;
#define WORDS(i) WORD(i) WORD(i + 1) WORD(i + 2) WORD(i + 3) WORD(i + 4) WORD(i + 5) WORD(i + 6) WORD(i + 7)
        WORDS(0) WORDS(8) WORDS(16) WORDS(24)
        p += 32;
    }
    return 0;
}

#elif OPERATION == COPY

// The compiler does not know that the two areas are disjoint: loads and stores stay in program order.
static NOINLINE u64 pass(u8 *to, u8 *from, u64 bytes, u64 value) {
    (void)value;
    const u64 *s = (const u64 *)from, *end = (const u64 *)(from + bytes);
    u64 *d = (u64 *)to;
    while (s + 32 <= end) {
#define WORD(i) d[i] = s[i];
#define WORDS(i) WORD(i) WORD(i + 1) WORD(i + 2) WORD(i + 3) WORD(i + 4) WORD(i + 5) WORD(i + 6) WORD(i + 7)
        WORDS(0) WORDS(8) WORDS(16) WORDS(24)
        s += 32;
        d += 32;
    }
    return 0;
}

#else

// One word of four bytes in every sixteen, 512 bytes at a time.
#define EIGHT(i) WORD(i) WORD(i + 4) WORD(i + 8) WORD(i + 12) WORD(i + 16) WORD(i + 20) WORD(i + 24) WORD(i + 28)
#define WORDS() EIGHT(0) EIGHT(32) EIGHT(64) EIGHT(96)

static NOINLINE u64 pass(u8 *to, u8 *from, u64 bytes, u64 value) {
    (void)to, (void)value;
    int *p = (int *)from, *last = (int *)(from + bytes - 512), sum = 0;
    while (p <= last) {
#if OPERATION == BW_READ
#define WORD(i) +p[i]
        sum += 0 WORDS();
#elif OPERATION == BW_WRITE
#define WORD(i) p[i] = 1;
        WORDS()
#else
#define WORD(i) sum += p[i]; p[i] = 1;
        WORDS()
#endif
        p += 128;
    }
    return (u64)sum;
}

#endif

static void work(u32 thread) {
    u8 *from = allocate(SIZE);
    u8 *to = OPERATION == COPY ? allocate(SIZE) : from;
    for (u64 i = 0; i < SIZE; i += PAGE) from[i] = to[i] = (u8)(thread + 1);
    RECORD_BEGIN();
    if (PART < SIZE) {
        touch(to + SIZE - WARM, from + SIZE - WARM, WARM);
        USE(pass(to + EARLY - PART / 2, from + EARLY - PART / 2, PART / 2, 1));
    } else {
        // The benchmarks read the written area once before they measure.
        for (u64 i = 0; i < SIZE; i += LINE) (void)*(volatile u8 *)(to + i);
        for (u32 lap = 0; lap < LAPS + 1; lap++) USE(pass(to, from, PART, lap));
    }
    ROI_BEGIN();
    if (PART < SIZE) {
        USE(pass(to + EARLY, from + EARLY, PART / 2, 1));
        USE(pass(to + LATE, from + LATE, PART / 2, 1));
    } else {
        for (u32 lap = 0; lap < LAPS; lap++) USE(pass(to, from, PART, lap));
    }
    ROI_END();
    RECORD_END();
}

#define RESULT (LAPS * PART)

#endif

__attribute__((used)) static void child(void) {
    work(1);
    syscall6(SYS_EXIT, 0, 0, 0, 0, 0, 0);
    __builtin_unreachable();
}

__attribute__((unused)) static long start_child(void) {
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
    long tid = THREADS == 2 ? start_child() : 0;
    work(0);
    if (THREADS == 2) {
        do syscall6(SYS_FUTEX, (long)&child_tid, 0, tid, 0, 0, 0);
        while (child_tid != 0);
    }
    report("memory", 1, RESULT);
}
