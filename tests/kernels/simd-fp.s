# Floating point of Advanced SIMD. See README.md for the format.

# LLVM-MCA-BEGIN vfadd
# class: simd fp
# shows: Add, independent.
.irp r,0,1,2,3,4,5,6,7
    fadd v\r\().4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfadd-chain
# class: simd fp
# shows: Add, each depends on the previous one.
.rept 4
    fadd v0.4s, v0.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfaddp
# class: simd fp
# shows: Pairwise add, independent.
.irp r,0,1,2,3,4,5,6,7
    faddp v\r\().4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfaddp-chain
# class: simd fp
# shows: Pairwise add, each depends on the previous one.
.rept 4
    faddp v0.4s, v0.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfcmgt
# class: simd fp
# shows: Compare, independent.
.irp r,0,1,2,3,4,5,6,7
    fcmgt v\r\().2d, v20.2d, v21.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfcmgt-chain
# class: simd fp
# shows: Compare, each depends on the previous one.
.rept 4
    fcmgt v0.2d, v0.2d, v21.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmul
# class: simd fp
# shows: Multiply, independent.
.irp r,0,1,2,3,4,5,6,7
    fmul v\r\().4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmul-chain
# class: simd fp
# shows: Multiply, each depends on the previous one.
.rept 4
    fmul v0.4s, v0.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmla
# class: simd fp
# shows: Multiply-add to different sums.
.irp r,0,1,2,3,4,5,6,7
    fmla v\r\().2d, v20.2d, v21.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmla-acc
# class: simd fp
# shows: Multiply-add into one sum.
.rept 8
    fmla v0.4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmla-lane-acc
# class: simd fp
# shows: Multiply-add by an element into one sum.
.rept 8
    fmla v0.4s, v20.4s, v21.s[2]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmla-mul
# class: simd fp
# shows: Multiply-add by its own result.
.rept 4
    fmla v0.4s, v0.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmul-fmla
# class: simd fp
# shows: A product as an accumulator.
    fmul v0.4s, v0.4s, v21.4s
    fmla v0.4s, v22.4s, v23.4s
    fmul v0.4s, v0.4s, v21.4s
    fmls v0.4s, v22.4s, v23.4s
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfcadd
# class: simd fp
# shows: Complex add, independent.
.irp r,0,1,2,3,4,5,6,7
    fcadd v\r\().4s, v20.4s, v21.4s, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfcadd-chain
# class: simd fp
# shows: Complex add, each depends on the previous one.
.rept 4
    fcadd v0.4s, v0.4s, v21.4s, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfcmla-acc
# class: simd fp
# shows: Complex multiply-add into one sum.
.rept 8
    fcmla v0.4s, v20.4s, v21.4s, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmlal-acc
# class: simd fp
# shows: Long multiply-add into one sum.
.rept 4
    fmlal v0.4s, v20.4h, v21.4h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmaxv-4s
# class: simd fp
# shows: Largest of four, independent.
.irp r,0,1,2,3,4,5,6,7
    fmaxv s\r, v20.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmaxv-4s-chain
# class: simd fp
# shows: Largest of four, each depends on the previous one.
.rept 4
    fmaxv s0, v0.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmaxv-8h
# class: simd fp
# shows: Largest of eight, independent.
.irp r,0,1,2,3,4,5,6,7
    fmaxnmv h\r, v20.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfmaxv-8h-chain
# class: simd fp
# shows: Largest of eight, each depends on the previous one.
.rept 4
    fmaxnmv h0, v0.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vscvtf-2d
# class: simd fp
# shows: From integers, two elements, independent.
.irp r,0,1,2,3,4,5,6,7
    scvtf v\r\().2d, v20.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vscvtf-2d-chain
# class: simd fp
# shows: From integers, two elements, each depends on the previous one.
.rept 4
    scvtf v0.2d, v0.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfcvtzs-4s
# class: simd fp
# shows: To integers, four elements, independent.
.irp r,0,1,2,3,4,5,6,7
    fcvtzs v\r\().4s, v20.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfcvtzs-4s-chain
# class: simd fp
# shows: To integers, four elements, each depends on the previous one.
.rept 4
    fcvtzs v0.4s, v0.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfrintn-8h
# class: simd fp
# shows: Rounding, eight elements, independent.
.irp r,0,1,2,3,4,5,6,7
    frintn v\r\().8h, v20.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfrintn-8h-chain
# class: simd fp
# shows: Rounding, eight elements, each depends on the previous one.
.rept 4
    frintn v0.8h, v0.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfcvtl-h
# class: simd fp
# shows: Half to single, independent.
.irp r,0,1,2,3,4,5,6,7
    fcvtl v\r\().4s, v20.4h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfcvtl-h-chain
# class: simd fp
# shows: Half to single, each depends on the previous one.
.rept 4
    fcvtn v0.4h, v0.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfcvtl-s
# class: simd fp
# shows: Single to double, independent.
.irp r,0,1,2,3,4,5,6,7
    fcvtl v\r\().2d, v20.2s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfcvtl-s-chain
# class: simd fp
# shows: Single to double, each depends on the previous one.
.rept 4
    fcvtn v0.2s, v0.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfrecpe
# class: simd fp
# shows: Reciprocal estimate, independent.
.irp r,0,1,2,3,4,5,6,7
    frecpe v\r\().4s, v20.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfrecpe-chain
# class: simd fp
# shows: Reciprocal estimate, each depends on the previous one.
.rept 4
    frecpe v0.4s, v0.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfrecpe-2s
# class: simd fp
# shows: Reciprocal square root estimate, two elements.
.irp r,0,1,2,3,4,5,6,7
    frsqrte v\r\().2s, v20.2s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfrecps
# class: simd fp
# shows: Reciprocal step, independent.
.irp r,0,1,2,3,4,5,6,7
    frecps v\r\().4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfrecps-chain
# class: simd fp
# shows: Reciprocal step, each depends on the previous one.
.rept 4
    frsqrts v0.4s, v0.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfdiv-4h
# class: simd fp
# shows: Divide of four halves.
.irp r,0,1,2,3
    fdiv v\r\().4h, v20.4h, v21.4h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfdiv-8h
# class: simd fp
# shows: Divide of eight halves.
.irp r,0,1,2,3
    fdiv v\r\().8h, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfdiv-2s
# class: simd fp
# shows: Divide of two singles.
.irp r,0,1,2,3
    fdiv v\r\().2s, v20.2s, v21.2s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfdiv-4s
# class: simd fp
# shows: Divide of four singles.
.irp r,0,1,2,3
    fdiv v\r\().4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfdiv-2d
# class: simd fp
# shows: Divide of two doubles.
.irp r,0,1,2,3
    fdiv v\r\().2d, v20.2d, v21.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfsqrt-4h
# class: simd fp
# shows: Square root of four halves.
.irp r,0,1,2,3
    fsqrt v\r\().4h, v20.4h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfsqrt-8h
# class: simd fp
# shows: Square root of eight halves.
.irp r,0,1,2,3
    fsqrt v\r\().8h, v20.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfsqrt-4s
# class: simd fp
# shows: Square root of four singles.
.irp r,0,1,2,3
    fsqrt v\r\().4s, v20.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfsqrt-2d
# class: simd fp
# shows: Square root of two doubles.
.irp r,0,1,2,3
    fsqrt v\r\().2d, v20.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfdiv-4s-chain
# class: simd fp
# shows: Divide of four singles, each depends on the previous one.
.rept 2
    fdiv v0.4s, v0.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfsqrt-2d-chain
# class: simd fp
# shows: Square root of two doubles, each depends on the previous one.
.rept 2
    fsqrt v0.2d, v0.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vfdiv-fadd
# class: simd fp
# shows: Additions on the other pipe beside a divide.
    fdiv v0.4s, v20.4s, v21.4s
    fadd v1.4s, v20.4s, v21.4s
    fadd v2.4s, v20.4s, v21.4s
    fadd v3.4s, v20.4s, v21.4s
    fadd v4.4s, v20.4s, v21.4s
    fadd v5.4s, v20.4s, v21.4s
    fadd v6.4s, v20.4s, v21.4s
    fadd v7.4s, v20.4s, v21.4s
    fadd v8.4s, v20.4s, v21.4s
# LLVM-MCA-END

# LLVM-MCA-BEGIN bfcvtn
# class: simd fp
# shows: To brain float, independent.
.irp r,0,1,2,3,4,5,6,7
    bfcvtn v\r\().4h, v20.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bfcvtn-chain
# class: simd fp
# shows: To brain float, each depends on the previous one.
.rept 4
    bfcvtn v0.4h, v0.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bfdot-acc
# class: simd fp
# shows: Dot product of brain floats into one sum.
.rept 4
    bfdot v0.4s, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bfmmla-acc
# class: simd fp
# shows: Matrix product of brain floats into one sum.
.rept 4
    bfmmla v0.4s, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bfmlalb-acc
# class: simd fp
# shows: Long multiply-add of brain floats into one sum.
.rept 4
    bfmlalb v0.4s, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bfdot
# class: simd fp
# shows: Dot product of brain floats to different sums.
.irp r,0,1,2,3,4,5,6,7
    bfdot v\r\().4s, v20.8h, v21.8h
.endr
# LLVM-MCA-END
