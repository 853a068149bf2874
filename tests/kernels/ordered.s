# Ordered accesses, exclusives, atomics, barriers and system registers. See README.md for the format.

# LLVM-MCA-BEGIN ldar
# class: ordered
# shows: Load-acquire.
.irp r,0,1,2,3
    ldar x\r, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldar-chain
# class: ordered
# shows: Load-acquire of a pointer to the next.
.rept 4
    ldar x0, [x0]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldapr
# class: ordered
# shows: Load-acquire, processor consistent.
.irp r,0,1,2,3
    ldapr w\r, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldapr-chain
# class: ordered
# shows: Load-acquire, processor consistent, of a pointer to the next.
.rept 4
    ldapr x0, [x0]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldxr-chain
# class: ordered
# shows: Load-exclusive of a pointer to the next.
.rept 4
    ldxr x0, [x0]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldxp-chain
# class: ordered
# shows: Load-exclusive of a pair.
.rept 4
    ldxp x0, x1, [x0]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldxp-w
# class: ordered
# shows: Load-exclusive of pairs of words.
    ldxp w0, w1, [x20]
    ldxp w2, w3, [x21]
    ldaxp w4, w5, [x20]
    ldxp w6, w7, [x21]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldxr-stxr
# class: ordered
# shows: An increment by exclusives.
    ldxr x0, [x20]
    add x1, x0, #1
    stxr w2, x1, [x20]
    cbnz w2, #-12
# LLVM-MCA-END

# LLVM-MCA-BEGIN stlxr-chain
# class: ordered
# shows: Store-exclusives that wait for the status before.
    stlxr w0, x1, [x20]
    uxtw x1, w0
    stlxr w2, x1, [x21]
    uxtw x1, w2
# LLVM-MCA-END

# LLVM-MCA-BEGIN cas-chain
# class: ordered
# shows: Compare and swap of the previous result.
.rept 2
    cas x0, x21, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN casal
# class: ordered
# shows: Compare and swap, independent.
.irp r,0,1,2,3
    casal x\r, x21, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN casp
# class: ordered
# shows: Compare and swap of a pair.
    casp x0, x1, x2, x3, [x20]
    casp x4, x5, x2, x3, [x21]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldadd
# class: ordered
# shows: Atomic additions.
    ldadd x21, x0, [x20]
    ldadd x21, x1, [x20]
    ldadd x21, x2, [x20]
    ldadd x21, x3, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldadd-chain
# class: ordered
# shows: Atomic addition of the previous result.
.rept 2
    ldadd x0, x0, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stadd
# class: ordered
# shows: Atomic additions without result.
    stadd x21, [x20]
    stadd x22, [x20]
    stadd x23, [x20]
    stadd x24, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN swp
# class: ordered
# shows: Swaps.
    swp x21, x0, [x20]
    swp x21, x1, [x20]
    swp x21, x2, [x20]
    swp x21, x3, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN dmb
# class: ordered
# shows: Barrier of data accesses between additions.
    dmb ish
    add x0, x20, #1
    add x1, x20, #1
    add x2, x20, #1
    add x3, x20, #1
    add x4, x20, #1
    add x5, x20, #1
    add x6, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN dsb
# class: ordered
# shows: Barrier that drains the accesses.
    ldr x0, [x20]
    dsb ish
    add x1, x20, #1
    add x2, x20, #1
    add x3, x20, #1
    add x4, x20, #1
    add x5, x20, #1
    add x6, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN isb
# class: ordered
# shows: Barrier that restarts the front end.
    isb
    add x0, x20, #1
    add x1, x20, #1
    add x2, x20, #1
    add x3, x20, #1
    add x4, x20, #1
    add x5, x20, #1
    add x6, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN mrs
# class: ordered
# shows: Reads of a system register.
    mrs x0, tpidr_el0
    add x1, x20, #1
    mrs x2, tpidr_el0
    add x3, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN msr
# class: ordered
# shows: Writes of a system register.
    msr tpidr_el0, x0
    add x1, x20, #1
    add x2, x20, #1
    add x3, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN mrs-nzcv
# class: ordered
# shows: Flags to a register and back.
    mrs x0, nzcv
    add x1, x20, #1
    msr nzcv, x0
    add x2, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN dc-civac
# class: ordered
# shows: Lines written back and given up.
    dc civac, x20
    add x0, x20, #1
    add x1, x20, #1
    add x2, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN clrex
# class: ordered
# shows: An exclusive mark given up.
    clrex
    add x0, x20, #1
    add x1, x20, #1
    add x2, x20, #1
# LLVM-MCA-END
