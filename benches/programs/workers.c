// Threads that each sort and search numbers of their own, and sum numbers of all at the end.
//
//   aarch64-linux-gnu-gcc -O2 -static -pthread -DTHREADS=8 -DNUMBERS=8000 workers.c -o workers
//   n2sim capture -o workers.n2t -- ./workers
//
// docs/parallel-replay.md compares replays of its recordings.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef THREADS
#define THREADS 8
#endif
#ifndef NUMBERS
#define NUMBERS 8000
#endif
#define SLOTS (1 << 15)

static uint32_t numbers[THREADS][NUMBERS];
static struct { uint64_t sum; char apart[120]; } results[THREADS];
static pthread_barrier_t barrier;

static int compare(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

// Puts each eighth number into a hash table, and counts the steps to find the others.
static uint64_t search(const uint32_t *own) {
    uint32_t *table = calloc(SLOTS, sizeof *table);
    uint64_t steps = 0;
    for (int i = 0; i < NUMBERS; i++) {
        uint32_t slot = own[i] * 2654435761u >> 17;
        while (table[slot]) slot = (slot + 1) % SLOTS;
        if (i % 8 == 0 && i < SLOTS * 4) table[slot] = own[i] | 1;
        else steps += slot;
    }
    free(table);
    return steps;
}

static void *work(void *argument) {
    long thread = (long)argument;
    uint32_t *own = malloc(sizeof numbers[0]);
    memcpy(own, numbers[thread], sizeof numbers[0]);
    pthread_barrier_wait(&barrier);
    qsort(own, NUMBERS, sizeof *own, compare);
    uint64_t sum = search(own);
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < NUMBERS; i++) {
        unsigned place = (i * 7919u + (unsigned)thread * 131) % (THREADS * NUMBERS);
        sum += numbers[place / NUMBERS][place % NUMBERS];
    }
    results[thread].sum = sum;
    free(own);
    return NULL;
}

int main(void) {
    uint64_t random = 88172645463325252u, sum = 0;
    for (long i = 0; i < (long)THREADS * NUMBERS; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        numbers[i / NUMBERS][i % NUMBERS] = (uint32_t)random;
    }
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (long i = 0; i < THREADS; i++) sum += results[i].sum;
    printf("ok %lu\n", (unsigned long)sum);
    return 0;
}
