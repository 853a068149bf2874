// A list of 1024 nodes, each 4160 bytes after the last: every load waits for the load before it.
// Read the cycles per load: they are the latency of the level that holds the list, and of the TLB.
.data
        .balign 64
nodes:  .space 4259840          // 1024 nodes

.text
        ldr   x1, =nodes        // Link the nodes in a circle.
        mov   x2, #1023
        mov   x3, x1
link:   add   x4, x3, #1, lsl #12
        add   x4, x4, #64
        str   x4, [x3]
        mov   x3, x4
        subs  x2, x2, #1
        b.ne  link
        str   x1, [x3]

        mov   x2, #8192
chase:  ldr   x1, [x1]
        subs  x2, x2, #1
        b.ne  chase
        ret
