# Integer operations of SVE and SVE2. See README.md for the format.

# LLVM-MCA-BEGIN zadd
# class: sve integer
# shows: Add, independent.
.irp r,0,1,2,3,4,5,6,7
    add z\r\().s, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zadd-chain
# class: sve integer
# shows: Add, each depends on the previous one.
.rept 4
    add z0.s, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zadd-pred
# class: sve integer
# shows: Add under a predicate, independent.
.irp r,0,1,2,3,4,5,6,7
    add z\r\().s, p0/m, z\r\().s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zadd-pred-chain
# class: sve integer
# shows: Add under a predicate, each depends on the previous one.
.rept 4
    add z0.s, p0/m, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zlogic
# class: sve integer
# shows: Logic, independent.
.irp r,0,1,2,3,4,5,6,7
    and z\r\().d, z20.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zlogic-chain
# class: sve integer
# shows: Logic, each depends on the previous one.
.rept 4
    eor z0.d, z0.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmax
# class: sve integer
# shows: Maximum, independent.
.irp r,0,1,2,3,4,5,6,7
    smax z\r\().s, p0/m, z\r\().s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmax-chain
# class: sve integer
# shows: Maximum, each depends on the previous one.
.rept 4
    umin z0.s, p0/m, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsel
# class: sve integer
# shows: Select, independent.
.irp r,0,1,2,3,4,5,6,7
    sel z\r\().s, p0, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsel-chain
# class: sve integer
# shows: Select, each depends on the previous one.
.rept 4
    sel z0.s, p0, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcnt
# class: sve integer
# shows: Bit count, independent.
.irp r,0,1,2,3,4,5,6,7
    cnt z\r\().d, p0/m, z20.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcnt-chain
# class: sve integer
# shows: Bit count, each depends on the previous one.
.rept 4
    cnt z0.d, p0/m, z0.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN movprfx-add
# class: sve integer
# shows: Constructive form by a move.
.irp r,0,1,2,3,4,5
    movprfx z\r, z20
    add z\r\().s, p0/m, z\r\().s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zadclb-chain
# class: sve integer
# shows: Add with carry, long.
.rept 4
    adclb z0.s, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcadd
# class: sve integer
# shows: Complex add, independent.
.irp r,0,1,2,3,4,5,6,7
    cadd z\r\().s, z\r\().s, z21.s, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcadd-chain
# class: sve integer
# shows: Complex add, each depends on the previous one.
.rept 4
    cadd z0.s, z0.s, z21.s, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zuaba-acc
# class: sve integer
# shows: Absolute difference into one sum.
.rept 8
    uaba z0.s, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zadalp-acc
# class: sve integer
# shows: Pairs into one sum.
.rept 8
    uadalp z0.s, p0/m, z20.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zssra-acc
# class: sve integer
# shows: Shift and add into one sum.
.rept 8
    ssra z0.s, z20.s, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zlsl
# class: sve integer
# shows: Shift, independent.
.irp r,0,1,2,3,4,5,6,7
    lsl z\r\().s, z20.s, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zlsl-chain
# class: sve integer
# shows: Shift, each depends on the previous one.
.rept 4
    lsl z0.s, p0/m, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsxtb
# class: sve integer
# shows: Sign extension, independent.
.irp r,0,1,2,3,4,5,6,7
    sxtb z\r\().s, p0/m, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsxtb-chain
# class: sve integer
# shows: Sign extension, each depends on the previous one.
.rept 4
    sxtb z0.s, p0/m, z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zasrd
# class: sve integer
# shows: Rounding shift, independent.
.irp r,0,1,2,3,4,5,6,7
    asrd z\r\().s, p0/m, z\r\().s, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zasrd-chain
# class: sve integer
# shows: Rounding shift, each depends on the previous one.
.rept 4
    asrd z0.s, p0/m, z0.s, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsqxtnb
# class: sve integer
# shows: Saturating narrowing, independent.
.irp r,0,1,2,3,4,5,6,7
    sqxtnb z\r\().h, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsqxtnb-chain
# class: sve integer
# shows: Saturating narrowing, each depends on the previous one.
.rept 4
    sqxtnb z0.h, z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zbext
# class: sve integer
# shows: Bit gather, independent.
.irp r,0,1,2,3
    bext z\r\().s, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zbext-chain
# class: sve integer
# shows: Bit gather, each depends on the previous one.
.rept 4
    bext z0.s, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcmpgt
# class: sve integer
# shows: Compare to a predicate, independent.
.irp r,0,1,2,3,4,5
    cmpgt p\r\().s, p7/z, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcmpgt-chain
# class: sve integer
# shows: Compare to a predicate, each depends on the previous one.
.rept 4
    cmpgt p0.s, p0/z, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmatch
# class: sve integer
# shows: Character match, independent.
.irp r,0,1,2,3,4,5
    match p\r\().b, p7/z, z20.b, z21.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmatch-chain
# class: sve integer
# shows: Character match, each depends on the previous one.
.rept 4
    match p0.b, p0/z, z20.b, z21.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zdot
# class: sve integer
# shows: Dot product to different sums.
.irp r,0,1,2,3,4,5,6,7
    sdot z\r\().s, z20.b, z21.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zdot-acc
# class: sve integer
# shows: Dot product into one sum.
.rept 8
    sdot z0.s, z20.b, z21.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zdot-d-acc
# class: sve integer
# shows: Dot product of halfwords into one sum.
.rept 8
    udot z0.d, z20.h, z21.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcdot-acc
# class: sve integer
# shows: Complex dot product into one sum.
.rept 8
    cdot z0.s, z20.b, z21.b, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcmla-acc
# class: sve integer
# shows: Complex multiply-add into one sum.
.rept 8
    cmla z0.s, z20.s, z21.s, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcmla-d-acc
# class: sve integer
# shows: Complex multiply-add of doublewords into one sum.
.rept 4
    cmla z0.d, z20.d, z21.d, #90
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmmla-acc
# class: sve integer
# shows: Matrix product into one sum.
.rept 8
    smmla z0.s, z20.b, z21.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmul
# class: sve integer
# shows: Multiply, independent.
.irp r,0,1,2,3,4,5,6,7
    mul z\r\().s, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmul-chain
# class: sve integer
# shows: Multiply, each depends on the previous one.
.rept 4
    mul z0.s, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmul-d
# class: sve integer
# shows: Multiply of doublewords, independent.
.irp r,0,1,2,3,4,5,6,7
    mul z\r\().d, z20.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmul-d-chain
# class: sve integer
# shows: Multiply of doublewords, each depends on the previous one.
.rept 4
    mul z0.d, z0.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmla
# class: sve integer
# shows: Multiply-add to different sums.
.irp r,0,1,2,3,4,5,6,7
    mla z\r\().s, p0/m, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmla-acc
# class: sve integer
# shows: Multiply-add into one sum.
.rept 8
    mla z0.s, p0/m, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmla-d
# class: sve integer
# shows: Multiply-add of doublewords to different sums.
.irp r,0,1,2,3,4,5,6,7
    mla z\r\().d, p0/m, z20.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmla-d-acc
# class: sve integer
# shows: Multiply-add of doublewords into one sum.
.rept 4
    mla z0.d, p0/m, z20.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmullb
# class: sve integer
# shows: Long multiply, independent.
.irp r,0,1,2,3,4,5,6,7
    umullb z\r\().s, z20.h, z21.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmullb-chain
# class: sve integer
# shows: Long multiply, each depends on the previous one.
.rept 4
    umullb z0.s, z0.h, z21.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zmlalb-acc
# class: sve integer
# shows: Long multiply-add into one sum.
.rept 8
    smlalb z0.s, z20.h, z21.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsqdmlalb-acc
# class: sve integer
# shows: Saturating doubling multiply-add into one sum.
.rept 4
    sqdmlalb z0.s, z20.h, z21.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsqrdmlah-acc
# class: sve integer
# shows: Rounding doubling multiply-add into one sum.
.rept 4
    sqrdmlah z0.s, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsqrdmlah-d-acc
# class: sve integer
# shows: The same of doublewords.
.rept 4
    sqrdmlah z0.d, z20.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsqdmulh
# class: sve integer
# shows: Doubling multiply, high half, independent.
.irp r,0,1,2,3,4,5,6,7
    sqdmulh z\r\().s, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsqdmulh-chain
# class: sve integer
# shows: Doubling multiply, high half, each depends on the previous one.
.rept 4
    sqdmulh z0.s, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zpmul
# class: sve integer
# shows: Polynomial multiply, independent.
.irp r,0,1,2,3,4,5,6,7
    pmul z\r\().b, z20.b, z21.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zpmul-chain
# class: sve integer
# shows: Polynomial multiply, each depends on the previous one.
.rept 4
    pmul z0.b, z0.b, z21.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsdiv-s
# class: sve integer
# shows: Divide of words, independent.
.irp r,0,1,2,3
    sdiv z\r\().s, p0/m, z\r\().s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsdiv-s-chain
# class: sve integer
# shows: Divide of words, each depends on the previous one.
.rept 2
    sdiv z0.s, p0/m, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zudiv-d
# class: sve integer
# shows: Divide of doublewords, independent.
.irp r,0,1,2,3
    udiv z\r\().d, p0/m, z\r\().d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zudiv-d-chain
# class: sve integer
# shows: Divide of doublewords, each depends on the previous one.
.rept 2
    udiv z0.d, p0/m, z0.d, z21.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zclasta-general
# class: sve integer
# shows: Last element to a general register.
.irp r,0,1,2,3
    clasta w\r, p0, w\r, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zclasta-chain
# class: sve integer
# shows: Last element to a vector.
.rept 4
    clasta z0.s, p0, z0.s, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zclasta-simd
# class: sve integer
# shows: Last element to a scalar vector register.
.rept 4
    clasta s0, p0, s0, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcompact
# class: sve integer
# shows: Active elements together, independent.
.irp r,0,1,2,3,4,5,6,7
    compact z\r\().s, p0, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcompact-chain
# class: sve integer
# shows: Active elements together, each depends on the previous one.
.rept 4
    compact z0.s, p0, z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsplice
# class: sve integer
# shows: Splice of two vectors, independent.
.irp r,0,1,2,3,4,5,6,7
    splice z\r\().s, p0, z\r\().s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsplice-chain
# class: sve integer
# shows: Splice of two vectors, each depends on the previous one.
.rept 4
    splice z0.s, p0, z0.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zlastb-general
# class: sve integer
# shows: Last active element to a general register.
.irp r,0,1,2,3,4,5,6,7
    lastb w\r, p0, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zinsr-general
# class: sve integer
# shows: A general register shifted in.
.irp r,0,1,2,3,4,5,6,7
    insr z\r\().s, w20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zdup-general
# class: sve integer
# shows: A general register to all elements.
.irp r,0,1,2,3,4,5,6,7
    mov z\r\().s, w20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcpy-general
# class: sve integer
# shows: A general register to active elements.
.irp r,0,1,2,3,4,5,6,7
    mov z\r\().s, p0/m, w20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zdup-imm
# class: sve integer
# shows: An immediate to all elements.
.irp r,0,1,2,3,4,5,6,7
    mov z\r\().s, #5
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zindex-imm
# class: sve integer
# shows: A series of immediates.
.irp r,0,1,2,3,4,5,6,7
    index z\r\().s, #0, #1
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zindex-imm-d
# class: sve integer
# shows: A series of doublewords.
.irp r,0,1,2,3,4,5,6,7
    index z\r\().d, #0, #1
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zindex-general
# class: sve integer
# shows: A series from general registers.
.irp r,0,1,2,3,4,5,6,7
    index z\r\().s, w20, w21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zindex-general-d
# class: sve integer
# shows: A series of doublewords from general registers.
.irp r,0,1,2,3
    index z\r\().d, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zuaddv-b
# class: sve integer
# shows: Sum of bytes.
.irp r,0,1,2,3
    uaddv d\r, p0, z20.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zuaddv-h
# class: sve integer
# shows: Sum of halfwords.
.irp r,0,1,2,3
    uaddv d\r, p0, z20.h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zuaddv-s
# class: sve integer
# shows: Sum of words.
.irp r,0,1,2,3
    uaddv d\r, p0, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zuaddv-d
# class: sve integer
# shows: Sum of doublewords.
.irp r,0,1,2,3
    uaddv d\r, p0, z20.d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsmaxv-chain
# class: sve integer
# shows: Largest word.
.rept 2
    smaxv s0, p0, z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsaddv-h
# class: sve integer
# shows: Signed sum of halfwords and largest of bytes.
    saddv d0, p0, z20.h
    umaxv b1, p0, z20.b
# LLVM-MCA-END

# LLVM-MCA-BEGIN zsmaxv-hd
# class: sve integer
# shows: Largest halfword and doubleword.
    smaxv h0, p0, z20.h
    sminv d1, p0, z20.d
# LLVM-MCA-END

# LLVM-MCA-BEGIN zandv
# class: sve integer
# shows: All elements by logic, independent.
.irp r,0,1,2,3
    andv s\r, p0, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zandv-chain
# class: sve integer
# shows: All elements by logic, each depends on the previous one.
.rept 2
    andv s0, p0, z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zurecpe
# class: sve integer
# shows: Reciprocal estimate, independent.
.irp r,0,1,2,3,4,5,6,7
    urecpe z\r\().s, p0/m, z20.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zurecpe-chain
# class: sve integer
# shows: Reciprocal estimate, each depends on the previous one.
.rept 4
    urecpe z0.s, p0/m, z0.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ztbl
# class: sve integer
# shows: Look-up, independent.
.irp r,0,1,2,3,4,5,6,7
    tbl z\r\().b, {z20.b}, z21.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ztbl-chain
# class: sve integer
# shows: Look-up, each depends on the previous one.
.rept 4
    tbl z0.b, {z20.b}, z0.b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zhistcnt
# class: sve integer
# shows: Histogram.
.irp r,0,1,2,3,4,5,6,7
    histcnt z\r\().s, p0/z, z20.s, z21.s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN zcounts
# class: sve integer
# shows: Unpacking.
.irp r,0,1,2,3,4,5,6,7
    uunpklo z\r\().s, z20.h
.endr
# LLVM-MCA-END
