/* A library of one exported function and one of its own. */

static __attribute__((noinline)) unsigned hidden(unsigned value)
{
    for (int i = 0; i < 100; i++)
        value = value * 1664525u + 1013904223u;
    return value;
}

unsigned work(unsigned value)
{
    return hidden(value) ^ hidden(value + 1);
}
