// A loop whose work is in functions that are inlined into it: walk <- probe <- mix. Used by tests/viewers.rs.

static volatile unsigned long table[4096];

static inline __attribute__((always_inline)) unsigned long mix(unsigned long x)
{
    x ^= x >> 7;
    return x * 0x9e3779b97f4a7c15UL;
}

static inline __attribute__((always_inline)) unsigned long probe(unsigned long x)
{
    return table[mix(x) & 4095];
}

__attribute__((noinline)) unsigned long walk(unsigned long times)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < times; i++)
        sum += probe(i ^ sum);
    return sum;
}

void _start(void)
{
    walk(20000);
    __asm__ volatile("mov x0, 0\n\tmov x8, 93\n\tsvc 0");
}
