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
#elif PITFALL == ZERO_LINES
    array[0] = 1;
    for (u64 *at = array; at < array + 992; at += 8) __asm__ volatile("dc zva, %0" ::"r"(at) : "memory");
    finish(array[0] == 0 ? 0 : 1);
#endif
    __asm__ volatile("" ::"r"(sum));
}
