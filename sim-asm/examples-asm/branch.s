// A branch that depends on a random bit: BR_MIS_PRED counts about one of two executions of tbz.
// Replace the branch by csel (the last lines show it) and compare the cycles.
.text
        ldr   x1, =88172645463325252   // state of a xorshift generator
        mov   x2, #5000
        mov   x0, #0
loop:   eor   x1, x1, x1, lsl #13
        eor   x1, x1, x1, lsr #7
        eor   x1, x1, x1, lsl #17
        tbz   x1, #20, even
        add   x0, x0, #1
even:   subs  x2, x2, #1
        b.ne  loop
        ret

// Without a branch:
//      tst   x1, #0x100000
//      cinc  x0, x0, ne
