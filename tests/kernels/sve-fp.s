# Floating point of SVE. See README.md for the format.

# LLVM-MCA-BEGIN zfadd
# class: sve fp
# shows: Add, independent.
.irp r,0,1,2,3,4,5,6,7
    fadd z\r\().s, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfadd-chain
# class: sve fp
# shows: Add, each depends on the previous one.
.rept 4
    fadd z0.s, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfmul
# class: sve fp
# shows: Multiply, independent.
.irp r,0,1,2,3,4,5,6,7
    fmul z\r\().d, z20.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfmul-chain
# class: sve fp
# shows: Multiply, each depends on the previous one.
.rept 4
    fmul z0.d, z0.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfscale
# class: sve fp
# shows: Scale by powers of two, independent.
.irp r,0,1,2,3,4,5,6,7
    fscale z\r\().s, p0/m, z\r\().s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfscale-chain
# class: sve fp
# shows: Scale by powers of two, each depends on the previous one.
.rept 4
    fscale z0.s, p0/m, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfcadd
# class: sve fp
# shows: Complex add, independent.
.irp r,0,1,2,3,4,5,6,7
    fcadd z\r\().s, p0/m, z\r\().s, z21.s, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfcadd-chain
# class: sve fp
# shows: Complex add, each depends on the previous one.
.rept 4
    fcadd z0.s, p0/m, z0.s, z21.s, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfmla
# class: sve fp
# shows: Multiply-add to different sums.
.irp r,0,1,2,3,4,5,6,7
    fmla z\r\().d, p0/m, z20.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfmla-acc
# class: sve fp
# shows: Multiply-add into one sum.
.rept 8
    fmla z0.d, p0/m, z20.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfmad-mul
# class: sve fp
# shows: Multiply-add by its own result.
.rept 4
    fmad z0.d, p0/m, z20.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfmlalb-acc
# class: sve fp
# shows: Long multiply-add into one sum.
.rept 8
    fmlalb z0.s, z20.h, z21.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfcmla
# class: sve fp
# shows: Complex multiply-add to different sums.
.irp r,0,1,2,3,4,5,6,7
    fcmla z\r\().s, p0/m, z20.s, z21.s, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfcmla-acc
# class: sve fp
# shows: Complex multiply-add into one sum.
.rept 4
    fcmla z0.s, p0/m, z20.s, z21.s, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfcmgt
# class: sve fp
# shows: Compare to a predicate, independent.
.irp r,0,1,2,3,4,5
    fcmgt p\r\().s, p7/z, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfcmgt-chain
# class: sve fp
# shows: Compare to a predicate, each depends on the previous one.
.rept 4
    fcmgt p0.s, p0/z, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfadda-h
# class: sve fp
# shows: Sum in order, half.
.rept 2
    fadda h0, p0, h0, z20.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfaddv-h
# class: sve fp
# shows: Sum in any order, half, independent.
.irp r,0,1,2,3
    faddv h\r, p0, z20.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfaddv-h-chain
# class: sve fp
# shows: Sum in any order, half, each depends on the previous one.
.rept 4
    faddv h0, p0, z0.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfdiv-h
# class: sve fp
# shows: Divide, half, independent.
.irp r,0,1,2,3
    fdiv z\r\().h, p0/m, z\r\().h, z21.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfdiv-h-chain
# class: sve fp
# shows: Divide, half, each depends on the previous one.
.rept 2
    fdiv z0.h, p0/m, z0.h, z21.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfsqrt-h
# class: sve fp
# shows: Square root, half.
.irp r,0,1,2,3
    fsqrt z\r\().h, p0/m, z20.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zscvtf-h
# class: sve fp
# shows: From integers, half, independent.
.irp r,0,1,2,3,4,5,6,7
    scvtf z\r\().h, p0/m, z20.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zscvtf-h-chain
# class: sve fp
# shows: From integers, half, each depends on the previous one.
.rept 4
    scvtf z0.h, p0/m, z0.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfadda-s
# class: sve fp
# shows: Sum in order, single.
.rept 2
    fadda s0, p0, s0, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfaddv-s
# class: sve fp
# shows: Sum in any order, single, independent.
.irp r,0,1,2,3
    faddv s\r, p0, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfaddv-s-chain
# class: sve fp
# shows: Sum in any order, single, each depends on the previous one.
.rept 4
    faddv s0, p0, z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfdiv-s
# class: sve fp
# shows: Divide, single, independent.
.irp r,0,1,2,3
    fdiv z\r\().s, p0/m, z\r\().s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfdiv-s-chain
# class: sve fp
# shows: Divide, single, each depends on the previous one.
.rept 2
    fdiv z0.s, p0/m, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfsqrt-s
# class: sve fp
# shows: Square root, single.
.irp r,0,1,2,3
    fsqrt z\r\().s, p0/m, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zscvtf-s
# class: sve fp
# shows: From integers, single, independent.
.irp r,0,1,2,3,4,5,6,7
    scvtf z\r\().s, p0/m, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zscvtf-s-chain
# class: sve fp
# shows: From integers, single, each depends on the previous one.
.rept 4
    scvtf z0.s, p0/m, z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfadda-d
# class: sve fp
# shows: Sum in order, double.
.rept 2
    fadda d0, p0, d0, z20.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfaddv-d
# class: sve fp
# shows: Sum in any order, double, independent.
.irp r,0,1,2,3
    faddv d\r, p0, z20.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfaddv-d-chain
# class: sve fp
# shows: Sum in any order, double, each depends on the previous one.
.rept 4
    faddv d0, p0, z0.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfdiv-d
# class: sve fp
# shows: Divide, double, independent.
.irp r,0,1,2,3
    fdiv z\r\().d, p0/m, z\r\().d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfdiv-d-chain
# class: sve fp
# shows: Divide, double, each depends on the previous one.
.rept 2
    fdiv z0.d, p0/m, z0.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfsqrt-d
# class: sve fp
# shows: Square root, double.
.irp r,0,1,2,3
    fsqrt z\r\().d, p0/m, z20.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zscvtf-d
# class: sve fp
# shows: From integers, double, independent.
.irp r,0,1,2,3,4,5,6,7
    scvtf z\r\().d, p0/m, z20.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zscvtf-d-chain
# class: sve fp
# shows: From integers, double, each depends on the previous one.
.rept 4
    scvtf z0.d, p0/m, z0.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfcvt-h-s
# class: sve fp
# shows: Half to single, independent.
.irp r,0,1,2,3,4,5,6,7
    fcvt z\r\().s, p0/m, z20.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfcvt-h-s-chain
# class: sve fp
# shows: Half to single, each depends on the previous one.
.rept 4
    fcvt z0.s, p0/m, z0.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfrintn
# class: sve fp
# shows: Rounding, independent.
.irp r,0,1,2,3,4,5,6,7
    frintn z\r\().s, p0/m, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfrintn-chain
# class: sve fp
# shows: Rounding, each depends on the previous one.
.rept 4
    frintn z0.s, p0/m, z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfrecpe
# class: sve fp
# shows: Reciprocal estimate, independent.
.irp r,0,1,2,3,4,5,6,7
    frecpe z\r\().d, z20.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfrecpe-chain
# class: sve fp
# shows: Reciprocal estimate, each depends on the previous one.
.rept 4
    frecpe z0.d, z0.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfrecps
# class: sve fp
# shows: Reciprocal step, independent.
.irp r,0,1,2,3,4,5,6,7
    frecps z\r\().s, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfrecps-chain
# class: sve fp
# shows: Reciprocal step, each depends on the previous one.
.rept 4
    frecps z0.s, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfexpa
# class: sve fp
# shows: Exponential table, independent.
.irp r,0,1,2,3,4,5,6,7
    fexpa z\r\().s, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfexpa-chain
# class: sve fp
# shows: Exponential table, each depends on the previous one.
.rept 4
    fexpa z0.s, z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zftmad
# class: sve fp
# shows: Trigonometric multiply-add, independent.
.irp r,0,1,2,3,4,5,6,7
    ftmad z\r\().s, z\r\().s, z21.s, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zftmad-chain
# class: sve fp
# shows: Trigonometric multiply-add, each depends on the previous one.
.rept 4
    ftmad z0.s, z0.s, z21.s, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zftsmul
# class: sve fp
# shows: Trigonometric start.
.irp r,0,1,2,3,4,5,6,7
    ftsmul z\r\().s, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zbfcvt
# class: sve fp
# shows: To brain float, independent.
.irp r,0,1,2,3,4,5,6,7
    bfcvt z\r\().h, p0/m, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zbfcvt-chain
# class: sve fp
# shows: To brain float, each depends on the previous one.
.rept 4
    bfcvt z0.h, p0/m, z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zbfdot-acc
# class: sve fp
# shows: Dot product of brain floats.
.rept 4
    bfdot z0.s, z20.h, z21.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zbfmmla-acc
# class: sve fp
# shows: Matrix product of brain floats.
.rept 4
    bfmmla z0.s, z20.h, z21.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zbfmlalt-acc
# class: sve fp
# shows: Long multiply-add of brain floats.
.rept 4
    bfmlalt z0.s, z20.h, z21.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zfmaxnmv
# class: sve fp
# shows: Largest element.
.irp r,0,1,2,3
    fmaxnmv s\r, p0, z20.s
.endr
# LLVM-MCA-END
