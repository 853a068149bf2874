// Small programs that make life hard for a recorder; PITFALL picks one. Used by tests/capture.rs.
#include "start.h"

#define N 1000
static u64 array[N] __attribute__((aligned(64)));

// 1,000 loads of eight bytes each, between the markers.
static NOINLINE u64 walk(void) {
    u64 sum = 0;
    ROI_BEGIN();
    for (volatile u64 *at = array; at != array + N; at++) sum += *at;
    ROI_END();
    return sum;
}

#define PLAIN 1
#define ABORT 2
#define CLOSE_ALL 3
#define FORK 4
#define HANDLED_FAULT 5
#define FATAL_FAULT 6
#define SPIN 7
#define ZERO_LINES 8
#define OWN_SIGNAL 9
#define THREADS 10
#define EXECVE 11
#define RANDOM 12
#define LOCK 13
#define TRUNCATES 14
#define FORGES_HEADERS 15
#define FORGES_WORDS 16
#define FORGES_CONTROL 17
#define ALONE 18

#if PITFALL >= TRUNCATES && PITFALL <= FORGES_CONTROL
// As sim-capture/src/wire.rs has them.
#define HEADERS_AT 512
#define HEADER_WORDS 8
#define SLOTS 256
#define SLOT_WORDS 32768

// Opens the recorder's memory through the process that started this one, if the system allows it.
static long open_memory(void) {
    char path[32] = "/proc/", link[32];
    u64 length = 6, parent = syscall6(173, 0, 0, 0, 0, 0, 0), digits = 1;
    while (digits * 10 <= parent) digits *= 10;
    for (; digits != 0; digits /= 10) path[length++] = '0' + parent / digits % 10;
    path[length++] = '/', path[length++] = 'f', path[length++] = 'd', path[length++] = '/';
    for (u64 fd = 3; fd < 100; fd++) {
        u64 end = length;
        if (fd >= 10) path[end++] = '0' + fd / 10;
        path[end++] = '0' + fd % 10, path[end] = 0;
        long n = syscall6(78, -100, (long)path, (long)link, sizeof link, 0, 0);
        // "/memfd:n2sim-capture (deleted)"
        if (n > 15 && link[1] == 'm' && link[12] == '-' && link[13] == 'c') {
            return syscall6(56, -100, (long)path, 2, 0, 0, 0);
        }
    }
    return -1;
}

static void forge(long fd, u64 word, u64 value) {
    syscall6(68, fd, (long)&value, 8, word * 8, 0, 0);
}

static void harm(long fd) {
    if (PITFALL == TRUNCATES) syscall6(46, fd, 0, 0, 0, 0, 0);
    if (PITFALL == FORGES_CONTROL) forge(fd, 2, 1ul << 40);
    for (u64 slot = 0; slot < 4; slot++) {
        u64 header = HEADERS_AT + slot * HEADER_WORDS;
        u64 data = HEADERS_AT + SLOTS * HEADER_WORDS + slot * SLOT_WORDS;
        if (PITFALL == FORGES_HEADERS) forge(fd, header, 7);
        if (PITFALL == FORGES_WORDS) forge(fd, data + 1500, 0x5fffffffffffffff);
    }
}
#endif

#if PITFALL == LOCK || PITFALL == ALONE
#define ROUNDS 500
static volatile u64 lock, ready, count;
static volatile u64 book[2 * ROUNDS];

static void yield(void) { syscall6(124, 0, 0, 0, 0, 0, 0); }

static inline void take_lock(int by_swap) {
    u64 held = 1;
    while (held != 0) {
        if (by_swap) {
            held = __atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE);
        } else {
            u32 failed;
            __asm__ volatile("0: ldaxr %0, [%2]\n\tstxr %w1, %3, [%2]\n\tcbnz %w1, 0b"
                             : "=&r"(held), "=&r"(failed)
                             : "r"(&lock), "r"(1ul)
                             : "memory");
        }
        if (held != 0) yield();
    }
}

static inline void enter(u64 name, u64 at) {
    ROI_BEGIN();
    book[at] = name;
    ROI_END();
    count = at + 1;
}

static inline void leave_lock(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }
#endif

#if PITFALL == LOCK
// Both threads enter themselves into the book under a lock: the addresses tell who had it when.
static NOINLINE void take_turns(u64 name, int by_swap) {
    __atomic_add_fetch(&ready, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) != 2) yield();
    for (int round = 0; round < ROUNDS; round++) {
        take_lock(by_swap);
        u64 at = count;
        // However the threads are scheduled, at first they take turns.
        if (round < 20 && at > 0 && book[at - 1] == name) {
            round--;
        } else {
            enter(name, at);
        }
        leave_lock();
        yield();
    }
}
#endif

#if PITFALL == ALONE
// Each entry takes long, so that a thread that does not wait for them comes between.
static NOINLINE void enter_slowly(u64 name, int by_swap, u64 work) {
    for (int round = 0; round < 10; round++) {
        take_lock(by_swap);
        for (volatile u64 left = work; left != 0; left--) {}
        enter(name, count);
        leave_lock();
    }
}

static void sleep_10_ms(void) {
    u64 time[2] = {0, 10000000};
    syscall6(101, (long)time, 0, 0, 0, 0, 0);
}
#endif

#if PITFALL == THREADS || PITFALL == LOCK || PITFALL == ALONE
static u8 stack[65536] __attribute__((aligned(16)));
static volatile int child_tid;

__attribute__((used)) static void child(void) {
#if PITFALL == LOCK
    take_turns(2, 1);
#elif PITFALL == ALONE
    enter_slowly(2, 1, 1000);
#else
    walk();
#endif
    syscall6(SYS_EXIT, 0, 0, 0, 0, 0, 0);
    __builtin_unreachable();
}

// VM FS FILES SIGHAND THREAD SYSVSEM PARENT_SETTID CHILD_CLEARTID: a thread. Its number.
static long start_child(void) {
    register long x8 __asm__("x8") = SYS_CLONE;
    register long x0 __asm__("x0") = 0x00350f00;
    register long x1 __asm__("x1") = (long)(stack + sizeof stack);
    register long x2 __asm__("x2") = (long)&child_tid;
    register long x3 __asm__("x3") = 0;
    register long x4 __asm__("x4") = (long)&child_tid;
    __asm__ volatile("svc #0\n\tcbnz x0, 1f\n\tbl child\n1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
                     : "memory", "x30", "x5", "x6", "x7", "x9", "x10", "x11", "x12", "x13", "x14",
                       "x15", "x16", "x17", "cc");
    return x0;
}
#endif

#if PITFALL == HANDLED_FAULT || PITFALL == OWN_SIGNAL
struct action {
    void (*handler)(int, void *, u8 *);
    u64 flags;
    void *restorer;
    u64 mask;
};
static volatile int handled;
static void handler(int number, void *info, u8 *context) {
    (void)info;
    handled = number;
    // Steps over the faulting instruction: the program counter's place in the signal frame.
    if (number == 11) *(u64 *)(context + 440) += 4;
}
static void handle(int number) {
    struct action action = {handler, 4 /* SA_SIGINFO */, 0, 0};
    syscall6(134, number, (long)&action, 0, 8, 0, 0);
}
#endif

void run(void) {
    u64 sum = walk();
#if PITFALL == PLAIN
    finish(7);
#elif PITFALL == ABORT
    syscall6(129, syscall6(172, 0, 0, 0, 0, 0, 0), 6, 0, 0, 0, 0);
#elif PITFALL == CLOSE_ALL
    for (int fd = 0; fd < 1024; fd++) syscall6(57, fd, 0, 0, 0, 0, 0);
    sum += walk();
    finish(0);
#elif PITFALL == FORK
    long child = syscall6(SYS_CLONE, 17 /* SIGCHLD */, 0, 0, 0, 0, 0);
    if (child == 0) {
        for (int i = 0; i < 100; i++) sum += walk();
        finish(0);
    }
    syscall6(260, child, 0, 0, 0, 0, 0);
    sum += walk();
    finish(0);
#elif PITFALL == HANDLED_FAULT
    handle(11);
    __asm__ volatile("mov x9, #0\n\tldr x9, [x9]" ::: "x9", "memory");
    finish(handled == 11 ? 0 : 1);
#elif PITFALL == OWN_SIGNAL
    handle(10);
    syscall6(129, syscall6(172, 0, 0, 0, 0, 0, 0), 10, 0, 0, 0, 0);
    finish(handled == 10 ? 0 : 1);
#elif PITFALL == FATAL_FAULT
    __asm__ volatile("mov x9, #0\n\tldr x10, [x9]\n\tadd x10, x10, #1" ::: "x9", "x10", "memory");
#elif PITFALL == SPIN
    put("ready\n");
    for (;;) sum += walk();
#elif PITFALL == RANDOM
    put("ready\n");
    // Addresses that no compressor can foretell.
    for (u64 state = 1;;) sum += *(volatile u64 *)&array[next_random(&state) % N];
#elif PITFALL == THREADS
    long tid = start_child();
    sum += walk();
    do syscall6(SYS_FUTEX, (long)&child_tid, 0, tid, 0, 0, 0);
    while (child_tid != 0);
    finish(0);
#elif PITFALL == LOCK
    long tid = start_child();
    take_turns(1, 0);
    do syscall6(SYS_FUTEX, (long)&child_tid, 0, tid, 0, 0, 0);
    while (child_tid != 0);
    finish(count == 2 * ROUNDS ? 0 : 1);
#elif PITFALL == ALONE
    start_child();
    while (child_tid != 0) sleep_10_ms();
    // The recorder, too, has now seen the end of the child.
    for (int i = 0; i < 5; i++) sleep_10_ms();
    enter_slowly(1, 0, 0);
    finish(count == 20 ? 0 : 1);
#elif PITFALL >= TRUNCATES && PITFALL <= FORGES_CONTROL
    long memory = open_memory();
    if (memory < 0) finish(3);
    harm(memory);
    sum += walk();
    finish(0);
#elif PITFALL == EXECVE
    char *const arguments[] = {"true", 0};
    syscall6(221, (long)"/bin/true", (long)arguments, (long)(arguments + 1), 0, 0, 0);
    finish(9);
#elif PITFALL == ZERO_LINES
    array[0] = 1;
    for (u64 *at = array; at < array + 992; at += 8) __asm__ volatile("dc zva, %0" ::"r"(at) : "memory");
    finish(array[0] == 0 ? 0 : 1);
#endif
    __asm__ volatile("" ::"r"(sum));
}
