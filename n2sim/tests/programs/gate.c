// A program whose change a gate judges: walk() loads with the distance STRIDE, mix() computes with
// BIAS. A larger distance misses more often; another BIAS changes nothing that is counted.

static volatile unsigned long data[16384 * 8];

__attribute__((noinline)) static unsigned long walk(void) {
    unsigned long sum = 0;
    for (long i = 0; i < 16384; i++)
        sum += data[i * STRIDE];
    return sum;
}

__attribute__((noinline)) static unsigned long mix(unsigned long x) {
    for (long i = 0; i < 20000; i++)
        x = x * 3 + BIAS;
    return x;
}

void _start(void) {
    register unsigned long result __asm__("x1") = mix(walk());
    register unsigned long status __asm__("x0") = 0;
    register unsigned long call __asm__("x8") = 93;
    __asm__ volatile("svc #0" : : "r"(result), "r"(status), "r"(call) : "memory");
    __builtin_unreachable();
}
