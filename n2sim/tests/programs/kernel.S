// A kernel and a program in 4 KiB: what n2sim/tests/capture_system.rs records. The program at EL0 calls,
// loads from a page that is not there, runs a word that is no instruction, and calls for the end.

    .set DATA, 0x200000         // the page that is not there at first
    .set CODE, 0x201000         // the program
    .set UART, 0x09000000
    .set NOWHERE, 0x300000

#include "image_header.S"

begin:
    // Tables of 39-bit addresses: memory as it is, for the kernel; below it a device and two pages.
    adr     x0, level1
    adr     x1, level2
    orr     x2, x1, #3
    str     x2, [x0]
    ldr     x2, =0x40000701     // normal memory, kernel only
    str     x2, [x0, #8]
    adr     x3, level3
    orr     x2, x3, #3
    str     x2, [x1, #8]        // 0x200000
    ldr     x2, =UART | 0x705   // device
    str     x2, [x1, #8 * (UART >> 21)]
    adr     x2, program
    ldr     x4, =0x7c3          // normal memory, read by all
    orr     x2, x2, x4
    str     x2, [x3, #8]        // 0x201000
    msr     ttbr0_el1, x0
    ldr     x2, =0x04ff
    msr     mair_el1, x2
    ldr     x2, =0x100803519    // 39 bits, cacheable walks, no upper half
    msr     tcr_el1, x2
    adr     x2, vectors
    msr     vbar_el1, x2
    isb
    mrs     x2, sctlr_el1
    ldr     x4, =0x1005
    orr     x2, x2, x4
    msr     sctlr_el1, x2
    isb
    ldr     x2, =CODE
    msr     elr_el1, x2
    msr     spsr_el1, xzr
    mov     x2, #DATA
    eret

    .balign 4096
program:
    movz    xzr, #0x4e31
    b       1f
1:  svc     #0
    ldr     x1, [x2]
    .inst   0
    svc     #1

    .balign 2048
vectors:
    .balign 0x80
    .skip   0x200
    // From the kernel: the load from nowhere; go on behind it.
    mrs     x11, elr_el1
    add     x11, x11, #4
    msr     elr_el1, x11
    eret
    .balign 0x80
    .skip   0x180
    // From the program.
    mrs     x10, esr_el1
    lsr     x11, x10, #26
    cmp     x11, #0x15
    b.eq    call
    cmp     x11, #0x24
    b.eq    fault
    b       undefined

    .balign 2048
call:
    tbnz    x10, #0, off
    eret
off:
    mov     x0, #0x300
    movz    xzr, #0x4e32
    ldr     w0, =0x84000008     // PSCI: system off
    hvc     #0
    b       .

fault:
    // The page gets memory; then what only a kernel does.
    adr     x10, level3
    adr     x11, data
    ldr     x12, =0x743         // normal memory, written by all
    orr     x11, x11, x12
    str     x11, [x10]
    dsb     ishst
    mov     x4, #DATA >> 12
    tlbi    vaae1, x4
    dsb     ish
    isb
    ldr     x5, =DATA + 0x40
    dc      zva, x5
    prfm    pldl1keep, [x5, #8]
    adr     x6, level1
    msr     ttbr0_el1, x6
    isb
    mov     x7, #77
    msr     contextidr_el1, x7
    isb
    // Three of four elements, then none, where the processor has vectors.
    .arch_extension sve
    mrs     x13, id_aa64pfr0_el1
    ubfx    x13, x13, #32, #4
    cbz     x13, 1f
    mov     x13, #0x330000
    msr     cpacr_el1, x13
    isb
    mov     x13, #3
    whilelt p1.s, xzr, x13
    pfalse  p2.b
    ld1w    {z0.s}, p1/z, [x5]
    st1w    {z0.s}, p2, [x5]
1:
    mov     w8, #'k'
    ldr     x9, =UART
    str     w8, [x9]
    eret

undefined:
    mrs     x20, elr_el1
    mrs     x21, spsr_el1
    ldr     x10, =NOWHERE
    ldr     x3, [x10]
    add     x20, x20, #4
    msr     elr_el1, x20
    msr     spsr_el1, x21
    eret

    .ltorg
    .balign 4096
level1:
    .skip   4096
level2:
    .skip   4096
level3:
    .skip   4096
data:
    .skip   4096
end:
