// A linked list scattered over 32 MiB, followed node by node: every step waits for memory.
#include "start.h"

#define LOG_NODES 18
#define NODES (1u << LOG_NODES)
#define STEPS 240000u

struct node {
    struct node *next;
    u64 value;
    u64 unused[14];
};

static struct node nodes[NODES] __attribute__((aligned(64)));

// A bijection on LOG_NODES bits: odd factors and shifts can be undone.
static inline u32 scatter(u32 i) {
    const u32 mask = NODES - 1;
    i = i * 0x2c1b3c6du & mask;
    i ^= i >> 9;
    i = i * 0x297a2d39u & mask;
    i ^= i >> 10;
    return i * 0x1b56c4e9u & mask;
}

static NOINLINE void link_all(void) {
    struct node *last = &nodes[scatter(NODES - 1)];
    for (u32 i = 0; i < NODES; i++) {
        struct node *node = &nodes[scatter(i)];
        last->next = node;
        last->value = i;
        last = node;
    }
}

static NOINLINE u64 follow(u32 steps) {
    struct node *node = &nodes[scatter(0)];
    u64 sum = 0;
    for (u32 i = 0; i < steps; i++) {
        sum += node->value;
        node = node->next;
    }
    return sum;
}

void run(void) {
    link_all();
    ROI_BEGIN();
    u64 sum = follow(STEPS);
    ROI_END();
    // Node i of the list holds i + 1.
    u64 expected = (u64)STEPS * (STEPS + 1) / 2;
    report("chase", sum == expected, sum);
}
