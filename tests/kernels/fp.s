# Scalar floating point. See README.md for the format.

# LLVM-MCA-BEGIN fadd-d
# class: scalar fp
# shows: Add, double, independent.
.irp r,0,1,2,3,4,5,6,7
    fadd d\r, d20, d21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fadd-d-chain
# class: scalar fp
# shows: Add, double, each depends on the previous one.
.rept 4
    fadd d0, d0, d21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fsub-h
# class: scalar fp
# shows: Subtract, half, independent.
.irp r,0,1,2,3,4,5,6,7
    fsub h\r, h20, h21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fsub-h-chain
# class: scalar fp
# shows: Subtract, half, each depends on the previous one.
.rept 4
    fsub h0, h0, h21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fabs
# class: scalar fp
# shows: Absolute value, independent.
.irp r,0,1,2,3,4,5,6,7
    fabs s\r, s20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fabs-chain
# class: scalar fp
# shows: Absolute value, each depends on the previous one.
.rept 4
    fabs s0, s0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmaxnm
# class: scalar fp
# shows: Maximum, independent.
.irp r,0,1,2,3,4,5,6,7
    fmaxnm d\r, d20, d21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmaxnm-chain
# class: scalar fp
# shows: Maximum, each depends on the previous one.
.rept 4
    fmaxnm d0, d0, d21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmul-s
# class: scalar fp
# shows: Multiply, single, independent.
.irp r,0,1,2,3,4,5,6,7
    fmul s\r, s20, s21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmul-s-chain
# class: scalar fp
# shows: Multiply, single, each depends on the previous one.
.rept 4
    fmul s0, s0, s21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fnmul-d
# class: scalar fp
# shows: Negated multiply, independent.
.irp r,0,1,2,3,4,5,6,7
    fnmul d\r, d20, d21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fnmul-d-chain
# class: scalar fp
# shows: Negated multiply, each depends on the previous one.
.rept 4
    fnmul d0, d0, d21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmadd
# class: scalar fp
# shows: Fused multiply-add to different sums.
.irp r,0,1,2,3,4,5,6,7
    fmadd d\r, d20, d21, d22
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmadd-acc
# class: scalar fp
# shows: Fused multiply-add into one sum: the accumulator is read late.
.rept 8
    fmadd d0, d20, d21, d0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmadd-mul
# class: scalar fp
# shows: Fused multiply-add by its own result: the factor is read early.
.rept 4
    fmadd s0, s0, s21, s22
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fnmsub-acc
# class: scalar fp
# shows: Negated multiply-subtract into one sum.
.rept 8
    fnmsub s0, s20, s21, s0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmul-fmadd
# class: scalar fp
# shows: A product as an accumulator.
    fmul d0, d0, d21
    fmadd d0, d22, d23, d0
    fmul d0, d0, d21
    fmadd d0, d22, d23, d0
# LLVM-MCA-END

# LLVM-MCA-BEGIN fcsel
# class: scalar fp
# shows: Select, independent.
.irp r,0,1,2,3,4,5,6,7
    fcsel d\r, d20, d21, gt
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fcsel-chain
# class: scalar fp
# shows: Select, each depends on the previous one.
.rept 4
    fcsel d0, d0, d21, gt
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmov-imm
# class: scalar fp
# shows: An immediate.
.irp r,0,1,2,3,4,5,6,7
    fmov d\r, #1.5
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmov-reg
# class: scalar fp
# shows: Register move, independent.
.irp r,0,1,2,3,4,5,6,7
    fmov d\r, d20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmov-reg-chain
# class: scalar fp
# shows: Register move, each depends on the previous one.
.rept 4
    fmov d0, d0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fcmp
# class: scalar fp
# shows: Compare to flags.
.irp r,0,1,2,3,4,5,6,7
    fcmp d\r, d20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fccmp
# class: scalar fp
# shows: Conditional compares, chained by the flags.
.irp r,0,1,2,3
    fccmp s\r, s20, #4, ne
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fcmp-fcsel
# class: scalar fp
# shows: Compare and select of a maximum.
    fcmp d0, d20
    fcsel d0, d0, d20, gt
    fcmp d0, d21
    fcsel d0, d0, d21, gt
# LLVM-MCA-END

# LLVM-MCA-BEGIN fdiv-h
# class: scalar fp
# shows: Divide, half, independent.
.irp r,0,1,2,3
    fdiv h\r, h20, h21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fdiv-h-chain
# class: scalar fp
# shows: Divide, half, each depends on the previous one.
.rept 2
    fdiv h0, h0, h21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fsqrt-h
# class: scalar fp
# shows: Square root, half, independent.
.irp r,0,1,2,3
    fsqrt h\r, h20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fsqrt-h-chain
# class: scalar fp
# shows: Square root, half, each depends on the previous one.
.rept 2
    fsqrt h0, h0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fdiv-s
# class: scalar fp
# shows: Divide, single, independent.
.irp r,0,1,2,3
    fdiv s\r, s20, s21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fdiv-s-chain
# class: scalar fp
# shows: Divide, single, each depends on the previous one.
.rept 2
    fdiv s0, s0, s21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fsqrt-s
# class: scalar fp
# shows: Square root, single, independent.
.irp r,0,1,2,3
    fsqrt s\r, s20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fsqrt-s-chain
# class: scalar fp
# shows: Square root, single, each depends on the previous one.
.rept 2
    fsqrt s0, s0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fdiv-d
# class: scalar fp
# shows: Divide, double, independent.
.irp r,0,1,2,3
    fdiv d\r, d20, d21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fdiv-d-chain
# class: scalar fp
# shows: Divide, double, each depends on the previous one.
.rept 2
    fdiv d0, d0, d21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fsqrt-d
# class: scalar fp
# shows: Square root, double, independent.
.irp r,0,1,2,3
    fsqrt d\r, d20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fsqrt-d-chain
# class: scalar fp
# shows: Square root, double, each depends on the previous one.
.rept 2
    fsqrt d0, d0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN frinta
# class: scalar fp
# shows: Rounding, independent.
.irp r,0,1,2,3,4,5,6,7
    frinta d\r, d20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN frinta-chain
# class: scalar fp
# shows: Rounding, each depends on the previous one.
.rept 4
    frinta d0, d0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fcvt-s-d
# class: scalar fp
# shows: Between precisions, independent.
.irp r,0,1,2,3,4,5,6,7
    fcvt d\r, s20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fcvt-s-d-chain
# class: scalar fp
# shows: Between precisions, each depends on the previous one.
.rept 4
    fcvt s0, d0
    fcvt d0, s0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fcvtzs
# class: scalar fp
# shows: To an integer and back, independent.
.irp r,0,1,2,3,4,5,6,7
    fcvtzs x\r, d20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fcvtzs-chain
# class: scalar fp
# shows: To an integer and back, each depends on the previous one.
.rept 4
    fcvtzs x0, d0
    scvtf d0, x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN scvtf
# class: scalar fp
# shows: From an integer.
.irp r,0,1,2,3,4,5,6,7
    scvtf d\r, x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ucvtf-fixed
# class: scalar fp
# shows: From a fixed-point number.
.irp r,0,1,2,3,4,5,6,7
    ucvtf s\r, w20, #4
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmov-from-general
# class: scalar fp
# shows: Moves from a general register.
.irp r,0,1,2,3,4,5,6,7
    fmov d\r, x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmov-to-general
# class: scalar fp
# shows: Moves to a general register.
.irp r,0,1,2,3,4,5,6,7
    fmov x\r, d20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmov-round-trip
# class: scalar fp
# shows: To a general register and back.
.rept 4
    fmov x0, d0
    fmov d0, x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmov-zero
# class: scalar fp
# shows: Zeroes that renaming makes.
.irp r,0,1,2,3,4,5,6,7
    fmov d\r, xzr
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fmov-top
# class: scalar fp
# shows: Moves into the upper half.
.irp r,0,1,2,3,4,5,6,7
    fmov v\r\().d[1], x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN fjcvtzs
# class: scalar fp
# shows: Conversion as JavaScript wants it.
.irp r,0,1,2,3,4,5,6,7
    fjcvtzs w\r, d20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN frecpe-scalar
# class: scalar fp
# shows: Reciprocal estimate, independent.
.irp r,0,1,2,3,4,5,6,7
    frecpe d\r, d20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN frecpe-scalar-chain
# class: scalar fp
# shows: Reciprocal estimate, each depends on the previous one.
.rept 4
    frecpe d0, d0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN frecps-scalar
# class: scalar fp
# shows: Reciprocal step, independent.
.irp r,0,1,2,3,4,5,6,7
    frecps d\r, d20, d21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN frecps-scalar-chain
# class: scalar fp
# shows: Reciprocal step, each depends on the previous one.
.rept 4
    frecps d0, d0, d21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bfcvt
# class: scalar fp
# shows: To brain float, independent.
.irp r,0,1,2,3,4,5,6,7
    bfcvt h\r, s20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bfcvt-chain
# class: scalar fp
# shows: To brain float, each depends on the previous one.
.rept 4
    bfcvt h0, s0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN horner
# class: scalar fp
# shows: A polynomial of degree four: sums by the factor.
    fmadd d0, d0, d20, d21
    fmadd d0, d0, d20, d22
    fmadd d0, d0, d20, d23
    fmadd d0, d0, d20, d24
# LLVM-MCA-END
