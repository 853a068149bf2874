# Multiply, divide, CRC and pointer authentication on general registers. See README.md for the format.

# LLVM-MCA-BEGIN mul
# class: multiply
# shows: Multiply, independent.
.irp r,0,1,2,3,4,5,6,7
    mul x\r, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN mul-chain
# class: multiply
# shows: Multiply, each depends on the previous one.
.rept 4
    mul x0, x0, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN mul-w
# class: multiply
# shows: Multiply of 32 bits, independent.
.irp r,0,1,2,3,4,5,6,7
    mneg w\r, w20, w21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN mul-w-chain
# class: multiply
# shows: Multiply of 32 bits, each depends on the previous one.
.rept 4
    mneg w0, w0, w21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN smull
# class: multiply
# shows: Widening multiply, independent.
.irp r,0,1,2,3,4,5,6,7
    smull x\r, w20, w21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN smull-chain
# class: multiply
# shows: Widening multiply, each depends on the previous one.
.rept 4
    smull x0, w0, w21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN madd
# class: multiply
# shows: Multiply-add to different sums.
.irp r,0,1,2,3,4,5,6,7
    madd x\r, x20, x21, x22
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN madd-acc
# class: multiply
# shows: Multiply-add into one sum: the accumulator is read late.
.rept 8
    madd x0, x20, x21, x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN madd-mul
# class: multiply
# shows: Multiply-add by its own product: the factor is read early.
.rept 4
    madd x0, x0, x21, x22
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN madd-two-sums
# class: multiply
# shows: Two sums side by side.
    madd x0, x20, x21, x0
    madd x1, x22, x23, x1
    madd x0, x24, x21, x0
    madd x1, x25, x23, x1
# LLVM-MCA-END

# LLVM-MCA-BEGIN umaddl-acc
# class: multiply
# shows: Widening multiply-add into one sum.
.rept 8
    umaddl x0, w20, w21, x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN msub-acc
# class: multiply
# shows: Multiply-subtract from one sum.
.rept 8
    msub w0, w20, w21, w0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN mul-then-madd
# class: multiply
# shows: A product as an accumulator.
    mul x0, x20, x21
    madd x1, x22, x23, x0
    mul x2, x24, x21
    madd x3, x25, x23, x2
# LLVM-MCA-END

# LLVM-MCA-BEGIN umulh
# class: multiply
# shows: High half of a product, independent.
.irp r,0,1,2,3,4,5,6,7
    umulh x\r, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN umulh-chain
# class: multiply
# shows: High half of a product, each depends on the previous one.
.rept 4
    umulh x0, x0, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sdiv-w
# class: multiply
# shows: Divide of 32 bits, independent.
.irp r,0,1,2,3
    sdiv w\r, w20, w21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sdiv-w-chain
# class: multiply
# shows: Divide of 32 bits, each depends on the previous one.
.rept 2
    sdiv w0, w0, w21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN udiv-x
# class: multiply
# shows: Divide of 64 bits, independent.
.irp r,0,1,2,3
    udiv x\r, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN udiv-x-chain
# class: multiply
# shows: Divide of 64 bits, each depends on the previous one.
.rept 2
    udiv x0, x0, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN div-rem
# class: multiply
# shows: Quotient and remainder.
    udiv x0, x20, x21
    msub x1, x0, x21, x20
    udiv x2, x22, x23
    msub x3, x2, x23, x22
# LLVM-MCA-END

# LLVM-MCA-BEGIN crc32x
# class: multiply
# shows: Check sums of eight bytes of different data.
.irp r,0,1,2,3,4,5,6,7
    crc32x w\r, w20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN crc32x-acc
# class: multiply
# shows: A check sum over a string of doublewords.
.rept 8
    crc32x w0, w0, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN crc32cb-acc
# class: multiply
# shows: A check sum over a string of bytes.
.rept 8
    crc32cb w0, w0, w21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN crc32w-data
# class: multiply
# shows: A check sum of a check sum: the data is read early.
.rept 4
    crc32w w0, w20, w0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pacia
# class: multiply
# shows: Authentication code, independent.
.irp r,0,1,2,3,4,5,6,7
    pacia x\r, x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pacia-chain
# class: multiply
# shows: Authentication code, each depends on the previous one.
.rept 4
    pacia x0, x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN autda
# class: multiply
# shows: Authentication, independent.
.irp r,0,1,2,3,4,5,6,7
    autda x\r, x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN autda-chain
# class: multiply
# shows: Authentication, each depends on the previous one.
.rept 4
    autda x0, x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pacga
# class: multiply
# shows: Generic authentication code, independent.
.irp r,0,1,2,3,4,5,6,7
    pacga x\r, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pacga-chain
# class: multiply
# shows: Generic authentication code, each depends on the previous one.
.rept 4
    pacga x0, x0, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN xpaci
# class: multiply
# shows: Strip of an authentication code, independent.
.irp r,0,1,2,3,4,5,6,7
    xpaci x\r
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN xpaci-chain
# class: multiply
# shows: Strip of an authentication code, each depends on the previous one.
.rept 4
    xpaci x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN mul-alu-mix
# class: multiply
# shows: Additions beside multiplies on the shared pipes.
    mul x0, x20, x21
    add x1, x20, #1
    add x2, x20, #2
    mul x3, x20, x22
    add x4, x20, #3
    add x5, x20, #4
# LLVM-MCA-END

# LLVM-MCA-BEGIN div-alu-mix
# class: multiply
# shows: A divide blocks one pipe and additions go on.
    sdiv w0, w20, w21
    add x1, x20, #1
    add x2, x20, #2
    add x3, x20, #3
    add x4, x20, #4
    add x5, x20, #5
    add x6, x20, #6
    mul x7, x20, x21
# LLVM-MCA-END
