// Two loops with the same number of divisions. In the first, each waits for the one before;
// in the second, four do not depend on each other: compare the cycles of the lines, not their number.
.text
        ldr   x1, =1000000007
        mov   x2, #3
        mov   x5, #250
chain:  udiv  x6, x1, x2
        udiv  x6, x6, x2
        udiv  x6, x6, x2
        udiv  x6, x6, x2
        subs  x5, x5, #1
        b.ne  chain

        mov   x5, #250
apart:  udiv  x6, x1, x2
        udiv  x7, x1, x2
        udiv  x8, x1, x2
        udiv  x9, x1, x2
        subs  x5, x5, #1
        b.ne  apart
        ret
