// Sum of 4096 numbers, in order. L1D_CACHE_REFILL: one of eight loads begins a new line of 64 bytes.
// Compare with the prefetcher off, and with two accumulators instead of one: what limits the loop?
.data
array:  .space 32768

.text
        ldr   x1, =array
        mov   x2, #4096
        mov   x0, #0
loop:   ldr   x3, [x1], #8
        add   x0, x0, x3
        subs  x2, x2, #1
        b.ne  loop
        ret
