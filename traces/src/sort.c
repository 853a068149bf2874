// Quicksort with a median of three and insertion sort below 16: branches that depend on the data.
#include "start.h"

#define N 40000

static u32 data[N];

static NOINLINE void insertion_sort(u32 *first, u32 *last) {
    for (u32 *at = first + 1; at <= last; at++) {
        u32 value = *at;
        u32 *to = at;
        while (to > first && to[-1] > value) {
            *to = to[-1];
            to--;
        }
        *to = value;
    }
}

static inline void order(u32 *a, u32 *b) {
    if (*a > *b) {
        u32 t = *a;
        *a = *b;
        *b = t;
    }
}

static NOINLINE void sort(u32 *first, u32 *last) {
    while (last - first > 16) {
        u32 *middle = first + (last - first) / 2;
        order(first, middle);
        order(middle, last);
        order(first, middle);
        u32 pivot = *middle;
        u32 *low = first, *high = last;
        while (low <= high) {
            while (*low < pivot) low++;
            while (*high > pivot) high--;
            if (low <= high) {
                u32 t = *low;
                *low++ = *high;
                *high-- = t;
            }
        }
        sort(first, high);
        first = low;
    }
    insertion_sort(first, last);
}

void run(void) {
    u64 state = 2, before = 0, after = 0;
    for (int i = 0; i < N; i++) {
        data[i] = (u32)next_random(&state);
        before += data[i];
    }
    ROI_BEGIN();
    sort(data, data + N - 1);
    ROI_END();
    int is_sorted = 1;
    for (int i = 0; i < N; i++) {
        after += data[i];
        if (i > 0 && data[i - 1] > data[i]) is_sorted = 0;
    }
    report("sort", is_sorted && before == after, after);
}
