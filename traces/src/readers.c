// Eight threads look words up in one table, which does not change. Each counts its finds in a
// counter of its own. APART is the distance of two counters in bytes. With 4 they lie in the line of
// `multiplier` and `shift`, which every lookup reads: each count takes this line from all other
// readers (false sharing). With 128 each counter has a line of its own.
#include "threads.h"

#define LOOKUPS 1000u
#define WORDS 600u
#define SLOTS 1024u

static struct {
    u64 multiplier;
    u32 shift;
    struct {
        u32 count;
    } __attribute__((aligned(APART))) found[THREADS];
} table __attribute__((aligned(128)));

static struct {
    u32 key;
    u32 value;
} slots[SLOTS] __attribute__((aligned(128)));

static u32 first_slot(u32 key) {
    return (u32)(key * table.multiplier >> table.shift);
}

// The value of a key, or 0.
static NOINLINE u32 look_up(u32 key, u32 thread) {
    u32 at = first_slot(key);
    while (slots[at].key != key) {
        if (slots[at].key == 0) return 0;
        at = (at + 1) % SLOTS;
    }
    table.found[thread].count++;
    return slots[at].value;
}

static u32 key_of(u32 word) {
    return word * 2654435761u | 1;
}

static void fill(void) {
    table.multiplier = 0x9e3779b97f4a7c15u;
    table.shift = 54;
    for (u32 word = 0; word < WORDS; word++) {
        u32 at = first_slot(key_of(word));
        while (slots[at].key != 0) at = (at + 1) % SLOTS;
        slots[at].key = key_of(word);
        slots[at].value = word;
    }
}

// What a thread found, and what it had to find.
static struct {
    u64 sum, right, present;
} __attribute__((aligned(128))) results[THREADS];

static NOINLINE void read_table(u32 thread) {
    u64 state = thread, sum = 0, right = 0, present = 0;
    ROI_BEGIN();
    for (u32 i = 0; i < LOOKUPS; i++) {
        // One word in eight is absent.
        u32 word = next_random(&state) % (WORDS * 8 / 7);
        sum += look_up(key_of(word), thread);
        right += word < WORDS ? word : 0;
        present += word < WORDS;
    }
    ROI_END();
    results[thread].sum = sum;
    results[thread].right = right;
    results[thread].present = present;
}

void run(void) {
    fill();
    run_threads(read_table);
    u64 sum = 0, count = 0;
    int is_right = 1;
    for (u32 thread = 0; thread < THREADS; thread++) {
        sum += results[thread].sum;
        count += table.found[thread].count;
        is_right &= results[thread].sum == results[thread].right;
        is_right &= table.found[thread].count == results[thread].present;
    }
    report(APART == 4 ? "readers_adjacent" : "readers_padded", is_right, sum << 32 | count);
}
