// Rounds of a store, a full barrier and a load of another line, between hints 40 and 41, after an equal number of warm-up rounds.
#include "start.h"

#define ROUNDS 4096

static u64 stored __attribute__((aligned(64)));
static u64 loaded __attribute__((aligned(64)));

static NOINLINE void rounds(void) {
    for (u64 i = 0; i < ROUNDS; i++)
        __asm__ volatile("str %0, [%1]\n\tdmb ish\n\tldr xzr, [%2]" ::"r"(i), "r"(&stored), "r"(&loaded) : "memory");
}

void run(void) {
    __asm__ volatile("hint #42" ::: "memory");
    rounds();
    ROI_BEGIN();
    rounds();
    ROI_END();
    __asm__ volatile("hint #43" ::: "memory");
    report("barrier", 1, ROUNDS);
}
