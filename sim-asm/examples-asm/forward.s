// A load right after a store to its address takes the value from the store queue, not the cache.
// The second loop stores two halves and loads both: no single store has the value, so the load waits.
.data
        .balign 64
cell:   .space 64

.text
        ldr   x1, =cell
        mov   x2, #1000
        mov   x0, #1
whole:  str   x0, [x1]
        ldr   x0, [x1]
        add   x0, x0, #1
        subs  x2, x2, #1
        b.ne  whole

        mov   x2, #1000
halves: str   w0, [x1]
        str   w0, [x1, #4]
        ldr   x0, [x1]
        add   x0, x0, #1
        subs  x2, x2, #1
        b.ne  halves
        ret
