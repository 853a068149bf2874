// Runs the cases of EL1 on a machine without an operating system, for a recording: each case once
// with one round, then three times with all rounds, as the program of user mode does with --replay.
//
//     aarch64-linux-gnu-gcc -nostdlib -static -Wl,-Ttext=0xffffff8040200000 -Wl,--build-id=none
//         -o payload.elf payload.S
//     aarch64-linux-gnu-objcopy -O binary payload.elf payload
//
// The memory of the machine begins at 1 GiB. The image must be loaded at 0x40200000, as it is
// linked for that address: QEMU loads a Linux image there. Programs and kernel have 39 bits of
// addresses: the lower half is only the way to the upper one.

    .set UPPER, 0xffffff8000000000
    .set MEMORY, 0x42000000     // of the cases, physical

    .text
    .global _start
_start:
    // The header of a Linux image.
    b       begin
    .word   0
    .quad   0                   // distance from 2 MiB
    .quad   end - _start
    .quad   2                   // little-endian, 4 KiB pages
    .quad   0, 0, 0
    .ascii  "ARM\x64"
    .word   0

begin:
    // One block of 1 GiB of normal memory, executed and written by the kernel, in both halves.
    adr     x0, level1
    ldr     x2, =0x40000701
    str     x2, [x0, #8]
    msr     ttbr0_el1, x0
    msr     ttbr1_el1, x0
    ldr     x2, =0x04ff
    msr     mair_el1, x2
    ldr     x2, =0x1b5193519    // 39 bits in both halves, cacheable walks, 36 bits physical
    msr     tcr_el1, x2
    isb
    mrs     x2, sctlr_el1
    ldr     x4, =0x1005
    orr     x2, x2, x4
    msr     sctlr_el1, x2
    isb
    ldr     x2, =upper
    br      x2
upper:
    ldr     x2, =stack
    mov     sp, x2
    msr     daifset, #0xf
    ldr     x27, =table
    ldr     x28, =UPPER + MEMORY
    // The recording begins.
    movz    xzr, #0x4e31
    b       next
next:
    ldp     x23, x24, [x27], #16
    cbz     x23, off
    ldr     x25, [x27], #8
    mov     x0, x28
    mov     x1, #1
    blr     x23
    mov     x0, x28
    mov     x1, #1
    blr     x24
    mov     x26, #3
again:
    mov     x0, x28
    mov     x1, x25
    blr     x23
    mov     x0, x28
    mov     x1, x25
    blr     x24
    subs    x26, x26, #1
    b.ne    again
    b       next
off:
    // The recording ends.
    mov     x0, #0
    movz    xzr, #0x4e32
    ldr     w0, =0x84000008     // PSCI: system off
    hvc     #0
    b       .

    .ltorg
    .data
    .balign 4096
level1:
    .skip   4096
    .skip   4096
stack:
end:
