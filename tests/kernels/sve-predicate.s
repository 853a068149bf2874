# Predicates and loop control of SVE. See README.md for the format.

# LLVM-MCA-BEGIN ptrue
# class: sve predicate
# shows: All true.
.irp r,0,1,2,3,4,5,6,7
    ptrue p\r\().s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ptrues
# class: sve predicate
# shows: All true, with flags.
.irp r,0,1,2,3,4,5,6,7
    ptrues p\r\().s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pfalse
# class: sve predicate
# shows: All false.
.irp r,0,1,2,3,4,5,6,7
    pfalse p\r\().b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN whilelo
# class: sve predicate
# shows: Loop predicates.
.irp r,0,1,2,3,4,5,6,7
    whilelo p\r\().s, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN whilerw
# class: sve predicate
# shows: Conflict predicates.
.irp r,0,1,2,3,4,5,6,7
    whilerw p\r\().s, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN whilelo-loop
# class: sve predicate
# shows: The control of a loop.
    add x0, x0, x21
    whilelo p0.s, x0, x22
    b.first #-8
# LLVM-MCA-END

# LLVM-MCA-BEGIN pnext-chain
# class: sve predicate
# shows: Next active element.
.rept 4
    pnext p0.b, p8, p0.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pfirst-chain
# class: sve predicate
# shows: First active element.
.rept 4
    pfirst p0.b, p8, p0.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pand
# class: sve predicate
# shows: Predicate logic, independent.
.irp r,0,1,2,3,4,5,6,7
    and p\r\().b, p8/z, p9.b, p10.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pand-chain
# class: sve predicate
# shows: Predicate logic, each depends on the previous one.
.rept 4
    eor p0.b, p8/z, p0.b, p10.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pands
# class: sve predicate
# shows: Predicate logic with flags, independent.
.irp r,0,1,2,3,4,5,6,7
    ands p\r\().b, p8/z, p9.b, p10.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pands-chain
# class: sve predicate
# shows: Predicate logic with flags, each depends on the previous one.
.rept 4
    orrs p0.b, p8/z, p0.b, p10.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN psel
# class: sve predicate
# shows: Predicate select.
.irp r,0,1,2,3,4,5,6,7
    sel p\r\().b, p8, p9.b, p10.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pzip
# class: sve predicate
# shows: Predicate interleave, independent.
.irp r,0,1,2,3,4,5,6,7
    zip1 p\r\().s, p8.s, p9.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pzip-chain
# class: sve predicate
# shows: Predicate interleave, each depends on the previous one.
.rept 4
    zip1 p0.s, p0.s, p9.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN prev
# class: sve predicate
# shows: Predicate reversal, independent.
.irp r,0,1,2,3,4,5,6,7
    rev p\r\().s, p8.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN prev-chain
# class: sve predicate
# shows: Predicate reversal, each depends on the previous one.
.rept 4
    rev p0.s, p0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN punpklo
# class: sve predicate
# shows: Predicate widening.
.irp r,0,1,2,3,4,5,6,7
    punpklo p\r\().h, p8.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN brka
# class: sve predicate
# shows: Break after, independent.
.irp r,0,1,2,3,4,5,6,7
    brka p\r\().b, p8/z, p9.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN brka-chain
# class: sve predicate
# shows: Break after, each depends on the previous one.
.rept 4
    brka p0.b, p8/z, p0.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN brkbs
# class: sve predicate
# shows: Break before, with flags, independent.
.irp r,0,1,2,3,4,5,6,7
    brkbs p\r\().b, p8/z, p9.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN brkbs-chain
# class: sve predicate
# shows: Break before, with flags, each depends on the previous one.
.rept 4
    brkbs p0.b, p8/z, p0.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN brkpa
# class: sve predicate
# shows: Break after, propagating, independent.
.irp r,0,1,2,3,4,5,6,7
    brkpa p\r\().b, p8/z, p9.b, p10.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN brkpa-chain
# class: sve predicate
# shows: Break after, propagating, each depends on the previous one.
.rept 4
    brkpa p0.b, p8/z, p0.b, p10.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN brkpbs
# class: sve predicate
# shows: Break before, propagating, with flags, independent.
.irp r,0,1,2,3,4,5,6,7
    brkpbs p\r\().b, p8/z, p9.b, p10.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN brkpbs-chain
# class: sve predicate
# shows: Break before, propagating, with flags, each depends on the previous one.
.rept 4
    brkpbs p0.b, p8/z, p0.b, p10.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN brkn-chain
# class: sve predicate
# shows: Break to the next.
.rept 4
    brkn p0.b, p8/z, p9.b, p0.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ptest
# class: sve predicate
# shows: Predicate tests.
.irp r,0,1,2,3,4,5,6,7
    ptest p8, p\r\().b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN cterm
# class: sve predicate
# shows: Termination compares.
    ctermeq x20, x21
    ctermne x22, x23
    ctermeq x20, x21
    ctermne x22, x23
# LLVM-MCA-END

# LLVM-MCA-BEGIN cntp
# class: sve predicate
# shows: Active elements.
.irp r,0,1,2,3,4,5,6,7
    cntp x\r, p8, p9.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN incp
# class: sve predicate
# shows: Count by a predicate, independent.
.irp r,0,1,2,3,4,5,6,7
    incp x\r, p8.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN incp-chain
# class: sve predicate
# shows: Count by a predicate, each depends on the previous one.
.rept 4
    incp x0, p8.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN incd
# class: sve predicate
# shows: Count by elements, independent.
.irp r,0,1,2,3,4,5,6,7
    incd x\r
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN incd-chain
# class: sve predicate
# shows: Count by elements, each depends on the previous one.
.rept 4
    incd x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN cntb
# class: sve predicate
# shows: Elements of a vector.
.irp r,0,1,2,3,4,5,6,7
    cntb x\r
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sqincw-chain
# class: sve predicate
# shows: Saturating count.
.rept 4
    sqincw x0, w0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN addvl
# class: sve predicate
# shows: Address by vector lengths, independent.
.irp r,0,1,2,3,4,5,6,7
    addvl x\r, x20, #1
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN addvl-chain
# class: sve predicate
# shows: Address by vector lengths, each depends on the previous one.
.rept 4
    addvl x0, x0, #1
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN incp-vector
# class: sve predicate
# shows: Vector count by a predicate, independent.
.irp r,0,1,2,3,4,5,6,7
    incp z\r\().s, p8.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN incp-vector-chain
# class: sve predicate
# shows: Vector count by a predicate, each depends on the previous one.
.rept 2
    incp z0.s, p8.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN incw-vector
# class: sve predicate
# shows: Vector count by elements, independent.
.irp r,0,1,2,3,4,5,6,7
    incw z\r\().s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN incw-vector-chain
# class: sve predicate
# shows: Vector count by elements, each depends on the previous one.
.rept 4
    incw z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rdffr
# class: sve predicate
# shows: First-fault register.
.irp r,0,1,2,3,4,5,6,7
    rdffr p\r\().b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rdffr-z
# class: sve predicate
# shows: First-fault register under a predicate.
.irp r,0,1,2,3,4,5,6,7
    rdffr p\r\().b, p8/z
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rdffrs
# class: sve predicate
# shows: First-fault register with flags.
.irp r,0,1,2,3
    rdffrs p\r\().b, p8/z
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN setffr
# class: sve predicate
# shows: First-fault register set and read.
    setffr
    rdffr p0.b
    add x0, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN wrffr
# class: sve predicate
# shows: First-fault register written.
    wrffr p0.b
    wrffr p1.b
# LLVM-MCA-END
