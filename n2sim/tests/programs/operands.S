// Preloads and maintenance of the lines of a buffer, whose address is a literal beside the code.
.global _start
_start:
    ldr x0, =buffer
    mov x9, #16
1:
    dc zva, x0
    add x0, x0, #64
    subs x9, x9, #1
    b.ne 1b

    // Nobody knows SP before its first use, which is behind the preload.
    prfm pldl1strm, [sp]
    str xzr, [sp, #-16]!

    ldr x1, =buffer
    mov x2, #0
2:
    prfm pldl1keep, [x1, #256]
    prfm pldl1keep, [x1, x2, lsl #3]
    dc civac, x1
    ic ivau, x1
    add x1, x1, #64
    add x2, x2, #1
    cmp x2, #16
    b.ne 2b

    mov x0, #0
    mov x8, #93
    svc #0
.ltorg

.bss
.balign 4096
buffer:
    .skip 4096
