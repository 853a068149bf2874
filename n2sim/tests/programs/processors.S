// Two processors in one kernel: what n2sim/tests/capture_processors.rs records with --processors 2.
// The first starts the second by PSCI, waits for its flag, and sends it three interrupts with a
// message each. The second adds one to each message, sleeps, and turns itself off after the last.
// The first then runs atomics and starts the second again. Both run in the upper half of the
// addresses.

    .set HIGH, 0xffffff8000000000   // virtual minus physical address
    .set DISTRIBUTOR, 0x08000000
    .set REDISTRIBUTOR, 0x080a0000
    .set NEXT_REDISTRIBUTOR, 0x20000
    .set SGI_FRAME, 0x10000
    .set ROUNDS, 3

#include "image_header.S"

begin:
    // One table for both halves: a device block of 1 GiB, and one of memory.
    adr     x0, level1
    mov     x2, #0x705
    str     x2, [x0]
    ldr     x2, =0x40000701
    str     x2, [x0, #8]
    bl      translate
    ldr     x9, =HIGH + DISTRIBUTOR
    mov     w10, #0x12          // affinity routing, group 1
    str     w10, [x9]
    mov     x11, #0
    bl      interrupts
    // Counts the instructions of both processors under this engine, whose clock they are.
    mov     x10, #8             // INST_RETIRED
    msr     pmevtyper0_el0, x10
    mov     x10, #1
    msr     pmcntenset_el0, x10
    msr     pmcr_el0, x10
    isb
    movz    xzr, #0x4e31
    b       1f
1:  mrs     x20, pmevcntr0_el0
    ldr     x0, =0xc4000003     // PSCI: processor on
    mov     x1, #1
    adr     x2, second
    movk    x2, #0, lsl #32     // its physical address
    movk    x2, #0, lsl #48
    mov     x3, #0
    hvc     #0
    adr     x21, ready
    adr     x22, message
    adr     x23, answer
2:  ldaxr   w10, [x21]
    cbnz    w10, 3f
    wfe
    b       2b
3:  mov     x24, #1
round:
    str     w24, [x22]
    dsb     ishst
    ldr     x10, =0x01000002    // interrupt 1 to processor 1
    msr     s3_0_c12_c11_5, x10
    isb
4:  ldar    w10, [x23]
    cmp     w10, w24
    b.hi    5f
    wfe
    b       4b
5:  mov     x10, #0x40000
    tlbi    vaae1is, x10
    dsb     ish
    isb
    add     x24, x24, #1
    cmp     x24, #ROUNDS
    b.ls    round
    adr     x21, counter
    mov     w26, #1
    ldaddal w26, w27, [x21]
    stadd   w26, [x21]
    mov     w27, #2
    casal   w27, w26, [x21]     // stores
    casa    w27, w26, [x21]     // stores nothing
6:  ldaxr   w27, [x21]
    stlxr   w28, w27, [x21]
    cbnz    w28, 6b
    // Waits until the second is off, starts it again, and waits for its second flag.
7:  wfe
    ldr     x0, =0xc4000004     // PSCI: affinity information
    mov     x1, #1
    mov     x2, #0
    hvc     #0
    cmp     x0, #1              // off
    b.ne    7b
    ldr     x0, =0xc4000003
    mov     x1, #1
    adr     x2, again
    movk    x2, #0, lsl #32
    movk    x2, #0, lsl #48
    mov     x3, #0
    hvc     #0
    adr     x21, ready
8:  ldaxr   w10, [x21]
    cmp     w10, #2
    b.eq    9f
    wfe
    b       8b
9:  mrs     x0, pmevcntr0_el0
    sub     x0, x0, x20
    movz    xzr, #0x4e32
    ldr     w0, =0x84000008     // PSCI: system off
    hvc     #0
    b       .

// The second processor: from here with translation off.
second:
    bl      translate
    mov     x11, #NEXT_REDISTRIBUTOR
    bl      interrupts
    adr     x21, ready
    mov     w10, #1
    stlr    w10, [x21]
    sev
    msr     daifclr, #2
1:  wfi
    adr     x10, answer
    ldr     w10, [x10]
    cmp     w10, #ROUNDS
    b.ls    1b
    ldr     w0, =0x84000002     // PSCI: processor off
    hvc     #0
    b       .

// The second processor when it starts again.
again:
    adr     x21, ready
    mov     w10, #2
    stlr    w10, [x21]
    sev
1:  wfi
    b       1b

// Turns on translation and returns to the upper half.
translate:
    adr     x0, level1
    msr     ttbr0_el1, x0
    msr     ttbr1_el1, x0
    ldr     x2, =0x04ff
    msr     mair_el1, x2
    ldr     x2, =0x1b5193519    // 39 bits in both halves, cacheable walks
    msr     tcr_el1, x2
    ldr     x3, =HIGH
    adr     x2, vectors
    add     x2, x2, x3
    msr     vbar_el1, x2
    isb
    mrs     x2, sctlr_el1
    ldr     x4, =0x1005
    orr     x2, x2, x4
    msr     sctlr_el1, x2
    isb
    add     x30, x30, x3
    ret

// Prepares interrupt 1 of the processor whose redistributor is at distance x11.
interrupts:
    ldr     x9, =HIGH + REDISTRIBUTOR
    add     x9, x9, x11
    str     wzr, [x9, #0x14]    // awake
1:  ldr     w10, [x9, #0x14]
    tbnz    w10, #2, 1b
    add     x9, x9, #SGI_FRAME
    mov     w10, #-1
    str     w10, [x9, #0x80]    // group 1
    mov     w10, #2
    str     w10, [x9, #0x100]   // enabled
    mov     x10, #1
    msr     s3_0_c12_c12_5, x10 // ICC_SRE_EL1
    isb
    mov     x10, #0xff
    msr     s3_0_c4_c6_0, x10   // ICC_PMR_EL1
    mov     x10, #1
    msr     s3_0_c12_c12_7, x10 // ICC_IGRPEN1_EL1
    isb
    ret

    .balign 2048
vectors:
    .skip   0x280
    // An interrupt of the second processor: answers the message with the next number.
    mrs     x12, s3_0_c12_c12_0 // ICC_IAR1_EL1
    adr     x13, message
    ldr     w14, [x13]
    add     w14, w14, #1
    adr     x13, answer
    stlr    w14, [x13]
    msr     s3_0_c12_c12_1, x12 // ICC_EOIR1_EL1
    sev
    eret

    .ltorg
    .balign 4096
level1:
    .skip   4096
ready:
    .skip   256
message:
    .skip   256
answer:
    .skip   256
counter:
    .skip   256
end:
