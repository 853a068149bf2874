# Integer operations of Advanced SIMD. See README.md for the format.

# LLVM-MCA-BEGIN vadd
# class: simd integer
# shows: Add, independent.
.irp r,0,1,2,3,4,5,6,7
    add v\r\().4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vadd-chain
# class: simd integer
# shows: Add, each depends on the previous one.
.rept 4
    add v0.4s, v0.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vlogic
# class: simd integer
# shows: Logic, independent.
.irp r,0,1,2,3,4,5,6,7
    orr v\r\().16b, v20.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vlogic-chain
# class: simd integer
# shows: Logic, each depends on the previous one.
.rept 4
    eor v0.16b, v0.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vcmp
# class: simd integer
# shows: Compare, independent.
.irp r,0,1,2,3,4,5,6,7
    cmgt v\r\().8h, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vcmp-chain
# class: simd integer
# shows: Compare, each depends on the previous one.
.rept 4
    cmgt v0.8h, v0.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmax
# class: simd integer
# shows: Maximum, independent.
.irp r,0,1,2,3,4,5,6,7
    smax v\r\().4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmax-chain
# class: simd integer
# shows: Maximum, each depends on the previous one.
.rept 4
    smax v0.4s, v0.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vqadd
# class: simd integer
# shows: Saturating add, independent.
.irp r,0,1,2,3,4,5,6,7
    uqadd v\r\().16b, v20.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vqadd-chain
# class: simd integer
# shows: Saturating add, each depends on the previous one.
.rept 4
    uqadd v0.16b, v0.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddl
# class: simd integer
# shows: Long add, independent.
.irp r,0,1,2,3,4,5,6,7
    uaddl v\r\().8h, v20.8b, v21.8b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddl-chain
# class: simd integer
# shows: Long add, each depends on the previous one.
.rept 4
    uaddw v0.8h, v0.8h, v21.8b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddhn
# class: simd integer
# shows: Narrowing add, independent.
.irp r,0,1,2,3,4,5,6,7
    addhn v\r\().8b, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddhn-chain
# class: simd integer
# shows: Narrowing add, each depends on the previous one.
.rept 4
    addhn v0.8b, v0.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vcnt
# class: simd integer
# shows: Bit count, independent.
.irp r,0,1,2,3,4,5,6,7
    cnt v\r\().16b, v20.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vcnt-chain
# class: simd integer
# shows: Bit count, each depends on the previous one.
.rept 4
    cnt v0.16b, v0.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vbsl
# class: simd integer
# shows: Bitwise select, independent.
.irp r,0,1,2,3,4,5,6,7
    bsl v\r\().16b, v20.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vbsl-chain
# class: simd integer
# shows: Bitwise select, each depends on the previous one.
.rept 4
    bsl v0.16b, v20.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vabd
# class: simd integer
# shows: Absolute difference, independent.
.irp r,0,1,2,3,4,5,6,7
    uabd v\r\().8h, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vabd-chain
# class: simd integer
# shows: Absolute difference, each depends on the previous one.
.rept 4
    uabd v0.8h, v0.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaba
# class: simd integer
# shows: Absolute difference added to different sums.
.irp r,0,1,2,3,4,5,6,7
    uaba v\r\().8h, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaba-acc
# class: simd integer
# shows: Absolute difference added to one sum.
.rept 8
    uaba v0.8h, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vabal-acc
# class: simd integer
# shows: Long absolute difference added to one sum.
.rept 8
    sabal v0.8h, v20.8b, v21.8b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vadalp-acc
# class: simd integer
# shows: Pairs added to one sum.
.rept 8
    uadalp v0.4s, v20.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmul
# class: simd integer
# shows: Multiply, independent.
.irp r,0,1,2,3,4,5,6,7
    mul v\r\().4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmul-chain
# class: simd integer
# shows: Multiply, each depends on the previous one.
.rept 4
    mul v0.4s, v0.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vqdmulh
# class: simd integer
# shows: Doubling multiply, high half, independent.
.irp r,0,1,2,3,4,5,6,7
    sqdmulh v\r\().8h, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vqdmulh-chain
# class: simd integer
# shows: Doubling multiply, high half, each depends on the previous one.
.rept 4
    sqdmulh v0.8h, v0.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmla
# class: simd integer
# shows: Multiply-add to different sums.
.irp r,0,1,2,3,4,5,6,7
    mla v\r\().8h, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmla-acc
# class: simd integer
# shows: Multiply-add into one sum.
.rept 8
    mla v0.8h, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmla-lane-acc
# class: simd integer
# shows: Multiply-subtract by an element from one sum.
.rept 8
    mls v0.4s, v20.4s, v21.s[1]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmla-mul
# class: simd integer
# shows: Multiply-add by its own result.
.rept 4
    mla v0.4s, v0.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmlal-acc
# class: simd integer
# shows: Long multiply-add into one sum.
.rept 8
    smlal v0.4s, v20.4h, v21.4h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vqrdmlah-acc
# class: simd integer
# shows: Rounding doubling multiply-add into one sum.
.rept 4
    sqrdmlah v0.8h, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vqdmlal-acc
# class: simd integer
# shows: Saturating doubling multiply-add into one sum.
.rept 4
    sqdmlal v0.4s, v20.4h, v21.4h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmull
# class: simd integer
# shows: Long multiply, independent.
.irp r,0,1,2,3,4,5,6,7
    umull v\r\().8h, v20.8b, v21.8b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmull-chain
# class: simd integer
# shows: Long multiply, each depends on the previous one.
.rept 4
    umull v0.4s, v0.4h, v21.4h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vpmul
# class: simd integer
# shows: Polynomial multiply, independent.
.irp r,0,1,2,3,4,5,6,7
    pmul v\r\().16b, v20.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vpmul-chain
# class: simd integer
# shows: Polynomial multiply, each depends on the previous one.
.rept 4
    pmul v0.16b, v0.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vpmull8
# class: simd integer
# shows: Long polynomial multiply of bytes.
.rept 4
    pmull v0.8h, v0.8b, v21.8b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vdot
# class: simd integer
# shows: Dot product to different sums.
.irp r,0,1,2,3,4,5,6,7
    sdot v\r\().4s, v20.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vdot-acc
# class: simd integer
# shows: Dot product into one sum.
.rept 8
    udot v0.4s, v20.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vusdot-acc
# class: simd integer
# shows: Dot product of mixed signs into one sum.
.rept 8
    usdot v0.4s, v20.16b, v21.4b[1]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmmla
# class: simd integer
# shows: Matrix product to different sums.
.irp r,0,1,2,3,4,5,6,7
    smmla v\r\().4s, v20.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmmla-acc
# class: simd integer
# shows: Matrix product into one sum.
.rept 8
    usmmla v0.4s, v20.16b, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddv-4s
# class: simd integer
# shows: Sum of four words, independent.
.irp r,0,1,2,3,4,5,6,7
    addv s\r, v20.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddv-4s-chain
# class: simd integer
# shows: Sum of four words, each depends on the previous one.
.rept 4
    addv s0, v0.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddv-8h
# class: simd integer
# shows: Sum of eight halfwords, independent.
.irp r,0,1,2,3,4,5,6,7
    addv h\r, v20.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddv-8h-chain
# class: simd integer
# shows: Sum of eight halfwords, each depends on the previous one.
.rept 4
    addv h0, v0.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddv-16b
# class: simd integer
# shows: Sum of sixteen bytes, independent.
.irp r,0,1,2,3,4,5,6,7
    addv b\r, v20.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddv-16b-chain
# class: simd integer
# shows: Sum of sixteen bytes, each depends on the previous one.
.rept 4
    addv b0, v0.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddlv-4s
# class: simd integer
# shows: Long sum of four words.
.irp r,0,1,2,3,4,5,6,7
    saddlv d\r, v20.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddlv-8h
# class: simd integer
# shows: Long sum of eight halfwords.
.irp r,0,1,2,3,4,5,6,7
    uaddlv s\r, v20.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vaddlv-16b
# class: simd integer
# shows: Long sum of sixteen bytes.
.irp r,0,1,2,3,4,5,6,7
    uaddlv h\r, v20.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmaxv-4s
# class: simd integer
# shows: Largest of four.
.irp r,0,1,2,3,4,5,6,7
    smaxv s\r, v20.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmaxv-8h
# class: simd integer
# shows: Largest of eight.
.irp r,0,1,2,3,4,5,6,7
    umaxv h\r, v20.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmaxv-16b
# class: simd integer
# shows: Largest of sixteen, independent.
.irp r,0,1,2,3,4,5,6,7
    umaxv b\r, v20.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmaxv-16b-chain
# class: simd integer
# shows: Largest of sixteen, each depends on the previous one.
.rept 2
    umaxv b0, v0.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmul-vshift
# class: simd integer
# shows: Multiplies and shifts, one pipe each.
    mul v0.4s, v20.4s, v21.4s
    shl v1.4s, v20.4s, #3
    mul v2.4s, v20.4s, v21.4s
    ushr v3.4s, v20.4s, #3
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmul-vadd
# class: simd integer
# shows: Additions give way to multiplies.
    mul v0.4s, v20.4s, v21.4s
    add v1.4s, v20.4s, v21.4s
    mul v2.4s, v20.4s, v21.4s
    add v3.4s, v20.4s, v21.4s
# LLVM-MCA-END
