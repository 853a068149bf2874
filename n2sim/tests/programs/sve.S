// A hundred times six SVE loads with active elements, one without, and one store: seven accesses each time.
.arch armv8-a+sve
.global _start
_start:
    adrp x0, buffer
    add x0, x0, :lo12:buffer
    ptrue p0.b
    pfalse p1.b
    ptrue p2.s, vl2
    mov x2, #4
    mov x9, #100
1:
    ld1w {z0.s}, p0/z, [x0]
    ld1w {z1.s}, p2/z, [x0, x2, lsl #2]
    ld1d {z2.d}, p0/z, [x0, #2, mul vl]
    ldr z3, [x0, #3, mul vl]
    ld1b {z4.b}, p0/z, [x0, #4, mul vl]
    ld1rw {z5.s}, p0/z, [x0, #80]
    ld1w {z6.s}, p1/z, [x0]
    st1w {z0.s}, p0, [x0, #6, mul vl]
    subs x9, x9, #1
    b.ne 1b
    mov x0, #0
    mov x8, #93
    svc #0

.bss
.balign 4096
buffer:
    .skip 4096
