// 16 lines that all belong to one set of the L1 data cache, read again and again.
// With 4 ways every load misses; change count to 4 and L1D_CACHE_REFILL falls to almost nothing.
.data
        .balign 65536
lines:  .space 262144

.text
        mov   x5, #500          // rounds
round:  ldr   x1, =lines
        mov   x2, #16           // count
next:   ldr   x3, [x1]
        add   x1, x1, #4, lsl #12   // 16 KiB: the next line of the same set
        subs  x2, x2, #1
        b.ne  next
        subs  x5, x5, #1
        b.ne  round
        ret
