// Sample sort of random words by eight threads, with a barrier after each phase: every thread offers
// samples of its part, thread 0 chooses seven splitters, all count and move their words to eight
// buckets, and each sorts one bucket.
#include "threads.h"

#define WORDS 2048u
#define PART (WORDS / THREADS)
#define SAMPLES 16u
#define FUTEX_WAKE 1

typedef struct {
    u32 waiting;
    u32 round;
} __attribute__((aligned(LINE))) Barrier;

// Returns when all threads have called it. The last one begins the next round and wakes the others.
static NOINLINE void wait_for_all(Barrier *barrier) {
    u32 round = __atomic_load_n(&barrier->round, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&barrier->waiting, 1, __ATOMIC_ACQ_REL) == THREADS) {
        barrier->waiting = 0;
        __atomic_store_n(&barrier->round, round + 1, __ATOMIC_RELEASE);
        syscall6(SYS_FUTEX, (long)&barrier->round, FUTEX_WAKE, THREADS, 0, 0, 0);
        return;
    }
    while (__atomic_load_n(&barrier->round, __ATOMIC_ACQUIRE) == round)
        syscall6(SYS_FUTEX, (long)&barrier->round, FUTEX_WAIT, round, 0, 0, 0);
}

static u32 words[WORDS] __attribute__((aligned(128)));
static u32 sorted[WORDS] __attribute__((aligned(128)));
static u32 samples[THREADS * SAMPLES] __attribute__((aligned(128)));
static u32 splitters[THREADS - 1] __attribute__((aligned(128)));
// A line for each thread: how many of its words belong to each bucket.
static u32 counts[THREADS][LINE / 4] __attribute__((aligned(128)));
static Barrier barrier;

// Quicksort down to sixteen words, then insertion.
static NOINLINE void sort(u32 *first, u32 n) {
    while (n > 16) {
        u32 pivot = first[n / 2], low = 0, high = n - 1;
        for (;;) {
            while (first[low] < pivot) low++;
            while (first[high] > pivot) high--;
            if (low >= high) break;
            u32 word = first[low];
            first[low++] = first[high];
            first[high--] = word;
        }
        sort(first + high + 1, n - high - 1);
        n = high + 1;
    }
    for (u32 i = 1; i < n; i++) {
        u32 word = first[i], at = i;
        for (; at > 0 && first[at - 1] > word; at--) first[at] = first[at - 1];
        first[at] = word;
    }
}

static NOINLINE void sample(u32 thread) {
    for (u32 i = 0; i < SAMPLES; i++) samples[thread * SAMPLES + i] = words[thread * PART + i * (PART / SAMPLES)];
}

static NOINLINE void choose_splitters(void) {
    sort(samples, THREADS * SAMPLES);
    for (u32 i = 1; i < THREADS; i++) splitters[i - 1] = samples[i * SAMPLES];
}

static u32 bucket_of(u32 word) {
    u32 bucket = 0;
    for (u32 i = 0; i < THREADS - 1; i++) bucket += word >= splitters[i];
    return bucket;
}

static NOINLINE void count(u32 thread) {
    for (u32 i = 0; i < PART; i++) counts[thread][bucket_of(words[thread * PART + i])]++;
}

// Begin of the words of a thread in a bucket: after all lower buckets, and after lower threads.
static u32 begin_of(u32 thread, u32 bucket) {
    u32 begin = 0;
    for (u32 from = 0; from < THREADS; from++) {
        for (u32 lower = 0; lower < bucket; lower++) begin += counts[from][lower];
        if (from < thread) begin += counts[from][bucket];
    }
    return begin;
}

static NOINLINE void move(u32 thread) {
    u32 next[THREADS];
    for (u32 bucket = 0; bucket < THREADS; bucket++) next[bucket] = begin_of(thread, bucket);
    for (u32 i = 0; i < PART; i++) {
        u32 word = words[thread * PART + i];
        sorted[next[bucket_of(word)]++] = word;
    }
}

static NOINLINE void sort_bucket(u32 bucket) {
    u32 begin = begin_of(0, bucket), end = bucket + 1 < THREADS ? begin_of(0, bucket + 1) : WORDS;
    sort(sorted + begin, end - begin);
}

static NOINLINE void work(u32 thread) {
    ROI_BEGIN();
    sample(thread);
    wait_for_all(&barrier);
    if (thread == 0) choose_splitters();
    wait_for_all(&barrier);
    count(thread);
    wait_for_all(&barrier);
    move(thread);
    wait_for_all(&barrier);
    sort_bucket(thread);
    ROI_END();
}

void run(void) {
    u64 state = 1, before = 0, after = 0;
    for (u32 i = 0; i < WORDS; i++) before += words[i] = (u32)next_random(&state);
    run_threads(work);
    int is_sorted = 1;
    for (u32 i = 0; i < WORDS; i++) {
        after += sorted[i];
        is_sorted &= i == 0 || sorted[i - 1] <= sorted[i];
    }
    report("samplesort", is_sorted && before == after, after);
}
