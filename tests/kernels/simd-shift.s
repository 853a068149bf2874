# Shifts and permutations of Advanced SIMD. See README.md for the format.

# LLVM-MCA-BEGIN vshl
# class: simd shift and permute
# shows: Shift by an immediate, independent.
.irp r,0,1,2,3,4,5,6,7
    shl v\r\().4s, v20.4s, #5
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vshl-chain
# class: simd shift and permute
# shows: Shift by an immediate, each depends on the previous one.
.rept 4
    shl v0.4s, v0.4s, #1
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vushr
# class: simd shift and permute
# shows: Right shift, independent.
.irp r,0,1,2,3,4,5,6,7
    ushr v\r\().2d, v20.2d, #5
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vushr-chain
# class: simd shift and permute
# shows: Right shift, each depends on the previous one.
.rept 4
    ushr v0.2d, v0.2d, #5
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vshll
# class: simd shift and permute
# shows: Widening shift, independent.
.irp r,0,1,2,3,4,5,6,7
    ushll v\r\().8h, v20.8b, #2
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vshll-chain
# class: simd shift and permute
# shows: Widening shift, each depends on the previous one.
.rept 4
    ushll v0.8h, v0.8b, #2
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vshrn
# class: simd shift and permute
# shows: Narrowing shift, independent.
.irp r,0,1,2,3,4,5,6,7
    shrn v\r\().8b, v20.8h, #4
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vshrn-chain
# class: simd shift and permute
# shows: Narrowing shift, each depends on the previous one.
.rept 4
    shrn v0.8b, v0.8h, #4
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vsli
# class: simd shift and permute
# shows: Shift and insert, independent.
.irp r,0,1,2,3,4,5,6,7
    sli v\r\().4s, v20.4s, #4
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vsli-chain
# class: simd shift and permute
# shows: Shift and insert, each depends on the previous one.
.rept 4
    sli v0.4s, v0.4s, #4
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vsshl
# class: simd shift and permute
# shows: Shift by a register, independent.
.irp r,0,1,2,3,4,5,6,7
    sshl v\r\().4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vsshl-chain
# class: simd shift and permute
# shows: Shift by a register, each depends on the previous one.
.rept 4
    sshl v0.4s, v0.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vsrshr
# class: simd shift and permute
# shows: Rounding shift, independent.
.irp r,0,1,2,3,4,5,6,7
    srshr v\r\().8h, v20.8h, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vsrshr-chain
# class: simd shift and permute
# shows: Rounding shift, each depends on the previous one.
.rept 4
    srshr v0.8h, v0.8h, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vsqshl
# class: simd shift and permute
# shows: Saturating shift, independent.
.irp r,0,1,2,3,4,5,6,7
    sqshl v\r\().8h, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vsqshl-chain
# class: simd shift and permute
# shows: Saturating shift, each depends on the previous one.
.rept 4
    sqshl v0.8h, v0.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vsqxtn
# class: simd shift and permute
# shows: Saturating narrowing, independent.
.irp r,0,1,2,3,4,5,6,7
    sqxtn v\r\().8b, v20.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vsqxtn-chain
# class: simd shift and permute
# shows: Saturating narrowing, each depends on the previous one.
.rept 4
    sqxtn v0.8b, v0.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vusra
# class: simd shift and permute
# shows: Shift and add to different sums.
.irp r,0,1,2,3,4,5,6,7
    usra v\r\().4s, v20.4s, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vssra-acc
# class: simd shift and permute
# shows: Shift and add into one sum.
.rept 8
    ssra v0.4s, v20.4s, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vrsra-acc
# class: simd shift and permute
# shows: Rounding shift and add into one sum.
.rept 8
    ursra v0.4s, v20.4s, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vext
# class: simd shift and permute
# shows: Extract across two registers, independent.
.irp r,0,1,2,3,4,5,6,7
    ext v\r\().16b, v20.16b, v21.16b, #5
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vext-chain
# class: simd shift and permute
# shows: Extract across two registers, each depends on the previous one.
.rept 4
    ext v0.16b, v0.16b, v21.16b, #5
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vzip
# class: simd shift and permute
# shows: Interleave, independent.
.irp r,0,1,2,3,4,5,6,7
    zip1 v\r\().8h, v20.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vzip-chain
# class: simd shift and permute
# shows: Interleave, each depends on the previous one.
.rept 4
    zip1 v0.8h, v0.8h, v21.8h
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vrev64
# class: simd shift and permute
# shows: Reversal, independent.
.irp r,0,1,2,3,4,5,6,7
    rev64 v\r\().16b, v20.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vrev64-chain
# class: simd shift and permute
# shows: Reversal, each depends on the previous one.
.rept 4
    rev64 v0.16b, v0.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vdup-elem
# class: simd shift and permute
# shows: One element to all, independent.
.irp r,0,1,2,3,4,5,6,7
    dup v\r\().4s, v20.s[1]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vdup-elem-chain
# class: simd shift and permute
# shows: One element to all, each depends on the previous one.
.rept 4
    dup v0.4s, v0.s[1]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vins-elem
# class: simd shift and permute
# shows: Element insert, independent.
.irp r,0,1,2,3,4,5,6,7
    mov v\r\().s[2], v20.s[1]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vins-elem-chain
# class: simd shift and permute
# shows: Element insert, each depends on the previous one.
.rept 4
    mov v0.s[2], v0.s[1]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmovi
# class: simd shift and permute
# shows: Immediates.
.irp r,0,1,2,3,4,5,6,7
    movi v\r\().16b, #7
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmovi-zero
# class: simd shift and permute
# shows: Zeroes that renaming makes.
.irp r,0,1,2,3,4,5,6,7
    movi v\r\().2d, #0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmov
# class: simd shift and permute
# shows: Register move, independent.
.irp r,0,1,2,3,4,5,6,7
    mov v\r\().16b, v20.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vmov-chain
# class: simd shift and permute
# shows: Register move, each depends on the previous one.
.rept 4
    mov v0.16b, v0.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vdup-general
# class: simd shift and permute
# shows: A general register to all elements.
.irp r,0,1,2,3,4,5,6,7
    dup v\r\().4s, w20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vins-general
# class: simd shift and permute
# shows: A general register into an element.
.irp r,0,1,2,3,4,5,6,7
    mov v\r\().s[1], w20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vumov
# class: simd shift and permute
# shows: An element to a general register.
.irp r,0,1,2,3,4,5,6,7
    umov w\r, v20.h[3]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vins-umov-chain
# class: simd shift and permute
# shows: Into an element and out again.
    mov v0.d[0], x0
    umov x0, v0.d[0]
    mov v0.d[0], x0
    umov x0, v0.d[0]
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbl1
# class: simd shift and permute
# shows: Look-up in one register.
.irp r,0,1,2,3,4,5,6,7
    tbl v\r\().16b, {v20.16b}, v21.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbl2
# class: simd shift and permute
# shows: Look-up in two registers.
.irp r,0,1,2,3,4,5,6,7
    tbl v\r\().16b, {v20.16b, v21.16b}, v22.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbl3
# class: simd shift and permute
# shows: Look-up in three registers, independent.
.irp r,0,1,2,3
    tbl v\r\().16b, {v20.16b-v22.16b}, v23.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbl3-chain
# class: simd shift and permute
# shows: Look-up in three registers, each depends on the previous one.
.rept 4
    tbl v0.16b, {v20.16b-v22.16b}, v0.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbl4
# class: simd shift and permute
# shows: Look-up in four registers, independent.
.irp r,0,1,2,3
    tbl v\r\().16b, {v20.16b-v23.16b}, v24.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbl4-chain
# class: simd shift and permute
# shows: Look-up in four registers, each depends on the previous one.
.rept 4
    tbl v0.16b, {v20.16b-v23.16b}, v0.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbx1
# class: simd shift and permute
# shows: Look-up in one register that keeps the rest.
.irp r,0,1,2,3
    tbx v\r\().16b, {v20.16b}, v24.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbx2
# class: simd shift and permute
# shows: Look-up in two registers that keeps the rest.
.irp r,0,1,2,3
    tbx v\r\().16b, {v20.16b-v21.16b}, v24.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbx3
# class: simd shift and permute
# shows: Look-up in three registers that keeps the rest, independent.
.irp r,0,1,2,3
    tbx v\r\().16b, {v20.16b-v22.16b}, v24.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbx3-chain
# class: simd shift and permute
# shows: Look-up in three registers that keeps the rest, each depends on the previous one.
.rept 4
    tbx v0.16b, {v20.16b-v22.16b}, v24.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbx4
# class: simd shift and permute
# shows: Look-up in four registers that keeps the rest, independent.
.irp r,0,1,2,3
    tbx v\r\().16b, {v20.16b-v23.16b}, v24.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN vtbx4-chain
# class: simd shift and permute
# shows: Look-up in four registers that keeps the rest, each depends on the previous one.
.rept 4
    tbx v0.16b, {v20.16b-v23.16b}, v24.16b
.endr
# LLVM-MCA-END
