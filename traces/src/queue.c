// A bounded queue without locks: four threads put values in, four take them out. The number in a
// slot says which is next: `turn == position` to put, `turn == position + 1` to take. A compare and
// swap claims a position.
#include "threads.h"

#define SLOTS 64u
#define PRODUCERS 4u
#define EACH 600u
#define TOTAL (PRODUCERS * EACH)
#define SYS_NANOSLEEP 101

static struct {
    u64 turn;
    u64 value;
} slots[SLOTS] __attribute__((aligned(128)));

static struct {
    u64 position;
} __attribute__((aligned(128))) puts, takes;

// Lets other threads run, so that a waiting loop does not fill the trace on a busy machine.
static void rest(void) {
    static const struct {
        u64 seconds, nanoseconds;
    } time = {0, 100000};
    syscall6(SYS_NANOSLEEP, (long)&time, 0, 0, 0, 0, 0);
}

// Claims the next position. Its slot is ready when the turn is `ready` more; waits until then.
static inline u64 claim(u64 *next, u64 ready) {
    u64 position = __atomic_load_n(next, __ATOMIC_RELAXED);
    for (;;) {
        u64 turn = __atomic_load_n(&slots[position % SLOTS].turn, __ATOMIC_ACQUIRE);
        if (turn == position + ready) {
            if (__atomic_compare_exchange_n(next, &position, position + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                return position;
        } else {
            // Full or empty, or another thread has moved on.
            if (turn < position + ready) rest();
            position = __atomic_load_n(next, __ATOMIC_RELAXED);
        }
    }
}

static NOINLINE void put_value(u64 value) {
    u64 position = claim(&puts.position, 0);
    slots[position % SLOTS].value = value;
    __atomic_store_n(&slots[position % SLOTS].turn, position + 1, __ATOMIC_RELEASE);
}

static NOINLINE u64 take_value(void) {
    u64 position = claim(&takes.position, 1);
    u64 value = slots[position % SLOTS].value;
    __atomic_store_n(&slots[position % SLOTS].turn, position + SLOTS, __ATOMIC_RELEASE);
    return value;
}

// How often each value was taken, and whether the values of one producer came out of order.
static u8 taken[PRODUCERS][EACH];
static struct {
    u32 disorder;
} __attribute__((aligned(128))) consumers[PRODUCERS];

static NOINLINE void produce(u64 producer) {
    for (u64 i = 0; i < EACH; i++) put_value(producer << 32 | i);
}

static NOINLINE void consume(u32 consumer) {
    u64 expected[PRODUCERS] = {0};
    for (u32 i = 0; i < TOTAL / PRODUCERS; i++) {
        u64 value = take_value(), producer = value >> 32, number = value & 0xffffffff;
        consumers[consumer].disorder += number < expected[producer];
        expected[producer] = number + 1;
        taken[producer][number]++;
    }
}

static NOINLINE void work(u32 thread) {
    ROI_BEGIN();
    if (thread % 2 == 0)
        produce(thread / 2);
    else
        consume(thread / 2);
    ROI_END();
}

void run(void) {
    for (u32 i = 0; i < SLOTS; i++) slots[i].turn = i;
    run_threads(work);
    u64 once = 0, disorder = 0;
    for (u32 producer = 0; producer < PRODUCERS; producer++) {
        disorder += consumers[producer].disorder;
        for (u32 i = 0; i < EACH; i++) once += taken[producer][i] == 1;
    }
    report("queue", once == TOTAL && disorder == 0, disorder << 32 | once);
}
