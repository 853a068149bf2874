// A hash table with open addressing: build it, then probe it. 256 KiB: beyond L1, within L2.
#include "start.h"

#define SLOTS 16384u
#define KEYS 4000u
#define PROBES 150000u

struct slot {
    u64 key;
    u64 value;
};

static struct slot table[SLOTS];
static u64 keys[KEYS];

static inline u32 hash(u64 key) { return (u32)(key * 0x9e3779b97f4a7c15u >> 50); }

static NOINLINE void insert(u64 key, u64 value) {
    u32 at = hash(key);
    while (table[at].key != 0 && table[at].key != key) at = (at + 1) % SLOTS;
    table[at].key = key;
    table[at].value = value;
}

static NOINLINE u64 probe_all(u64 seed, u32 probes, u64 *found) {
    u64 sum = 0, hits = 0, state = seed;
    for (u32 i = 0; i < probes; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        // One key in thirty-two is absent.
        u64 key = keys[(state >> 40) % KEYS] ^ (state >> 59 == 0);
        u32 at = hash(key);
        while (table[at].key != key && table[at].key != 0) at = (at + 1) % SLOTS;
        if (table[at].key == key) {
            sum += table[at].value;
            hits++;
        }
    }
    *found = hits;
    return sum;
}

// What the probes must add up to, from the keys alone.
static NOINLINE u64 expected(u64 seed, u32 probes, u64 *found) {
    u64 sum = 0, hits = 0, state = seed;
    for (u32 i = 0; i < probes; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        if (state >> 59 == 0) continue;
        sum += (state >> 40) % KEYS * 3 + 1;
        hits++;
    }
    *found = hits;
    return sum;
}

void run(void) {
    u64 state = 1;
    // Even keys only, so that a key with its lowest bit set is never in the table.
    for (u32 i = 0; i < KEYS; i++) keys[i] = (next_random(&state) | 2) & ~1ull;
    ROI_BEGIN();
    for (u32 i = 0; i < KEYS; i++) insert(keys[i], (u64)i * 3 + 1);
    u64 found;
    u64 sum = probe_all(7, PROBES, &found);
    ROI_END();
    u64 must_find;
    u64 must_sum = expected(7, PROBES, &must_find);
    report("hash", sum == must_sum && found == must_find, sum);
}
