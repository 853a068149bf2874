# Integer data processing on general registers. See README.md for the format.

# LLVM-MCA-BEGIN add-imm
# class: integer
# shows: Add of an immediate, independent.
.irp r,0,1,2,3,4,5,6,7
    add x\r, x20, #17
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN add-imm-chain
# class: integer
# shows: Add of an immediate, each depends on the previous one.
.rept 4
    add x0, x0, #17
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN add-reg
# class: integer
# shows: Add of registers, independent.
.irp r,0,1,2,3,4,5,6,7
    add x\r, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN add-reg-chain
# class: integer
# shows: Add of registers, each depends on the previous one.
.rept 4
    add x0, x0, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sub-w
# class: integer
# shows: Subtract of 32 bits, independent.
.irp r,0,1,2,3,4,5,6,7
    sub w\r, w20, w21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sub-w-chain
# class: integer
# shows: Subtract of 32 bits, each depends on the previous one.
.rept 4
    sub w0, w20, w0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN add-lsl4
# class: integer
# shows: Add with a left shift of 4, independent.
.irp r,0,1,2,3,4,5,6,7
    add x\r, x20, x21, lsl #4
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN add-lsl4-chain
# class: integer
# shows: Add with a left shift of 4, each depends on the previous one.
.rept 4
    add x0, x20, x0, lsl #4
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN add-lsl5
# class: integer
# shows: Add with a left shift of 5, independent.
.irp r,0,1,2,3,4,5,6,7
    add x\r, x20, x21, lsl #5
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN add-lsl5-chain
# class: integer
# shows: Add with a left shift of 5, each depends on the previous one.
.rept 4
    add x0, x20, x0, lsl #5
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sub-asr
# class: integer
# shows: Subtract with a right shift, independent.
.irp r,0,1,2,3,4,5,6,7
    sub x\r, x20, x21, asr #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sub-asr-chain
# class: integer
# shows: Subtract with a right shift, each depends on the previous one.
.rept 4
    sub x0, x20, x0, asr #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN add-uxtw
# class: integer
# shows: Add with an extended register, independent.
.irp r,0,1,2,3,4,5,6,7
    add x\r, x20, w21, uxtw #2
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN add-uxtw-chain
# class: integer
# shows: Add with an extended register, each depends on the previous one.
.rept 4
    add x0, x20, w0, uxtw #2
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN adds-imm
# class: integer
# shows: Add with flags, independent.
.irp r,0,1,2,3,4,5,6,7
    adds x\r, x20, #1
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN adds-imm-chain
# class: integer
# shows: Add with flags, each depends on the previous one.
.rept 4
    adds x0, x0, #1
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN adds-lsl2
# class: integer
# shows: Add with a short shift and flags, independent.
.irp r,0,1,2,3,4,5,6,7
    adds x\r, x20, x21, lsl #2
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN adds-lsl2-chain
# class: integer
# shows: Add with a short shift and flags, each depends on the previous one.
.rept 4
    adds x0, x0, x21, lsl #2
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN subs-lsr
# class: integer
# shows: Subtract with a long shift and flags, independent.
.irp r,0,1,2,3,4,5,6,7
    subs x\r, x20, x21, lsr #7
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN subs-lsr-chain
# class: integer
# shows: Subtract with a long shift and flags, each depends on the previous one.
.rept 4
    subs x0, x20, x0, lsr #7
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN adds-sxth
# class: integer
# shows: Extended add with flags, independent.
.irp r,0,1,2,3,4,5,6,7
    adds w\r, w20, w21, sxth
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN adds-sxth-chain
# class: integer
# shows: Extended add with flags, each depends on the previous one.
.rept 4
    adds w0, w20, w0, sxth
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN adc
# class: integer
# shows: Add with carry in, independent.
.irp r,0,1,2,3,4,5,6,7
    adc x\r, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN adc-chain
# class: integer
# shows: Add with carry in, each depends on the previous one.
.rept 4
    adc x0, x0, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN adcs-chain
# class: integer
# shows: Carry from one limb to the next.
.rept 4
    adcs x0, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN logic-imm
# class: integer
# shows: Logic with a bit pattern, independent.
.irp r,0,1,2,3,4,5,6,7
    eor x\r, x20, #0xff
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN logic-imm-chain
# class: integer
# shows: Logic with a bit pattern, each depends on the previous one.
.rept 4
    eor x0, x0, #0xff
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN logic-reg
# class: integer
# shows: Logic of registers, independent.
.irp r,0,1,2,3,4,5,6,7
    bic x\r, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN logic-reg-chain
# class: integer
# shows: Logic of registers, each depends on the previous one.
.rept 4
    bic x0, x21, x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN logic-shift
# class: integer
# shows: Logic with a shift, independent.
.irp r,0,1,2,3,4,5,6,7
    orr x\r, x20, x21, ror #9
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN logic-shift-chain
# class: integer
# shows: Logic with a shift, each depends on the previous one.
.rept 4
    eor x0, x20, x0, ror #9
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ands-imm
# class: integer
# shows: Logic with flags, independent.
.irp r,0,1,2,3,4,5,6,7
    ands x\r, x20, #0xf0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ands-imm-chain
# class: integer
# shows: Logic with flags, each depends on the previous one.
.rept 4
    ands x0, x0, #0xf0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bics-reg
# class: integer
# shows: Logic of registers with flags, independent.
.irp r,0,1,2,3,4,5,6,7
    bics x\r, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bics-reg-chain
# class: integer
# shows: Logic of registers with flags, each depends on the previous one.
.rept 4
    bics x0, x20, x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ands-shift
# class: integer
# shows: Logic with a shift and flags, independent.
.irp r,0,1,2,3,4,5,6,7
    ands x\r, x20, x21, lsl #2
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ands-shift-chain
# class: integer
# shows: Logic with a shift and flags, each depends on the previous one.
.rept 4
    ands x0, x20, x0, lsl #2
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN tst-imm
# class: integer
# shows: Test of a bit pattern, only flags.
.irp r,0,1,2,3,4,5,6,7
    tst x\r, #0x80
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN cmp-imm
# class: integer
# shows: Compare with an immediate, only flags.
.irp r,0,1,2,3,4,5,6,7
    cmp x\r, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN csel
# class: integer
# shows: Select between registers, independent.
.irp r,0,1,2,3,4,5,6,7
    csel x\r, x20, x21, ne
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN csel-chain
# class: integer
# shows: Select between registers, each depends on the previous one.
.rept 4
    csel x0, x0, x21, ne
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN csinc
# class: integer
# shows: Select or increment, independent.
.irp r,0,1,2,3,4,5,6,7
    csinc x\r, x20, x21, lt
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN csinc-chain
# class: integer
# shows: Select or increment, each depends on the previous one.
.rept 4
    csinc x0, x21, x0, lt
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN cset
# class: integer
# shows: A flag into a register.
.irp r,0,1,2,3,4,5,6,7
    cset x\r, hi
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN csneg
# class: integer
# shows: Select or negate, independent.
.irp r,0,1,2,3,4,5,6,7
    csneg w\r, w20, w21, mi
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN csneg-chain
# class: integer
# shows: Select or negate, each depends on the previous one.
.rept 4
    csneg w0, w21, w0, mi
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ccmp-reg
# class: integer
# shows: Conditional compares, chained by the flags.
.irp r,0,1,2,3,4,5,6,7
    ccmp x\r, x20, #4, ne
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ccmn-imm
# class: integer
# shows: Conditional compares with an immediate, chained by the flags.
.irp r,0,1,2,3,4,5,6,7
    ccmn x\r, #7, #0, ge
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN movz
# class: integer
# shows: An immediate; and inserts of 16 bits, independent.
.irp r,0,1,2,3,4,5,6,7
    movz x\r, #77
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN movz-chain
# class: integer
# shows: An immediate; and inserts of 16 bits, each depends on the previous one.
.rept 4
    movk x0, #77, lsl #16
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN movn
# class: integer
# shows: Inverted immediates.
.irp r,0,1,2,3,4,5,6,7
    movn x\r, #5
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN adr
# class: integer
# shows: Addresses close to the program counter.
.irp r,0,1,2,3,4,5,6,7
    adr x\r, #64
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN adrp-add
# class: integer
# shows: Page address and offset, a pair that fuses.
.irp r,0,1,2,3,4,5
    adrp x\r, #4096
    add x\r, x\r, #24
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN lslv
# class: integer
# shows: Shift by a register, independent.
.irp r,0,1,2,3,4,5,6,7
    lsl x\r, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN lslv-chain
# class: integer
# shows: Shift by a register, each depends on the previous one.
.rept 4
    lsl x0, x0, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rorv
# class: integer
# shows: Rotate by a register, independent.
.irp r,0,1,2,3,4,5,6,7
    ror w\r, w20, w21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rorv-chain
# class: integer
# shows: Rotate by a register, each depends on the previous one.
.rept 4
    ror w0, w0, w21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ubfx
# class: integer
# shows: Bit-field extract, independent.
.irp r,0,1,2,3,4,5,6,7
    ubfx x\r, x20, #4, #9
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ubfx-chain
# class: integer
# shows: Bit-field extract, each depends on the previous one.
.rept 4
    ubfx x0, x0, #4, #9
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sxtw
# class: integer
# shows: Sign extension, independent.
.irp r,0,1,2,3,4,5,6,7
    sxtw x\r, w20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sxtw-chain
# class: integer
# shows: Sign extension, each depends on the previous one.
.rept 4
    sxtw x0, w0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN asr-imm
# class: integer
# shows: Shift by an immediate, independent.
.irp r,0,1,2,3,4,5,6,7
    asr x\r, x20, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN asr-imm-chain
# class: integer
# shows: Shift by an immediate, each depends on the previous one.
.rept 4
    asr x0, x0, #3
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bfi
# class: integer
# shows: Bit-field insert, independent.
.irp r,0,1,2,3,4,5,6,7
    bfi x\r, x20, #8, #8
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bfi-chain
# class: integer
# shows: Bit-field insert, each depends on the previous one.
.rept 4
    bfi x0, x20, #8, #8
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bfxil-chain
# class: integer
# shows: Insert of low bits by its source.
.rept 4
    bfxil x0, x0, #4, #6
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN extr
# class: integer
# shows: Extract from two registers, independent.
.irp r,0,1,2,3,4,5,6,7
    extr x\r, x20, x21, #11
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN extr-chain
# class: integer
# shows: Extract from two registers, each depends on the previous one.
.rept 4
    extr x0, x0, x21, #11
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ror-imm
# class: integer
# shows: Rotate by an immediate, independent.
.irp r,0,1,2,3,4,5,6,7
    ror x\r, x20, #11
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ror-imm-chain
# class: integer
# shows: Rotate by an immediate, each depends on the previous one.
.rept 4
    ror x0, x0, #11
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN clz
# class: integer
# shows: Leading zeros, independent.
.irp r,0,1,2,3,4,5,6,7
    clz x\r, x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN clz-chain
# class: integer
# shows: Leading zeros, each depends on the previous one.
.rept 4
    clz x0, x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rbit
# class: integer
# shows: Bit reversal, independent.
.irp r,0,1,2,3,4,5,6,7
    rbit x\r, x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rbit-chain
# class: integer
# shows: Bit reversal, each depends on the previous one.
.rept 4
    rbit x0, x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rev
# class: integer
# shows: Byte reversal, independent.
.irp r,0,1,2,3,4,5,6,7
    rev x\r, x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rev-chain
# class: integer
# shows: Byte reversal, each depends on the previous one.
.rept 4
    rev x0, x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rev16
# class: integer
# shows: Byte reversal in halfwords, independent.
.irp r,0,1,2,3,4,5,6,7
    rev16 w\r, w20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rev16-chain
# class: integer
# shows: Byte reversal in halfwords, each depends on the previous one.
.rept 4
    rev16 w0, w0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN mov-reg
# class: integer
# shows: Moves that renaming does.
.irp r,0,1,2,3,4,5,6,7
    mov x\r, x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN mov-chain
# class: integer
# shows: Moves back and forth.
.rept 4
    mov x0, x1
    mov x1, x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN mov-zero
# class: integer
# shows: Zeroes that renaming makes.
.irp r,0,1,2,3,4,5,6,7
    mov x\r, #0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN mov-xzr
# class: integer
# shows: Moves of the zero register.
.irp r,0,1,2,3,4,5,6,7
    mov x\r, xzr
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN mov-add-chain
# class: integer
# shows: A move between the links of a chain of additions.
    add x0, x0, #1
    mov x1, x0
    add x1, x1, #1
    mov x0, x1
# LLVM-MCA-END

# LLVM-MCA-BEGIN nop
# class: integer
# shows: Hints: a slot and no pipe.
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
# LLVM-MCA-END

# LLVM-MCA-BEGIN hint
# class: integer
# shows: Hints that do not fuse.
    bti c
    nop
    yield
    nop
    csdb
    nop
    bti j
    nop
# LLVM-MCA-END

# LLVM-MCA-BEGIN cmp-csel
# class: integer
# shows: Compare and select, a pair that fuses.
    cmp x20, #0
    csel x0, x20, x21, lt
    cmp x21, #1
    csel x1, x20, x21, lt
    cmp x22, #2
    csel x2, x20, x21, lt
    cmp x23, #3
    csel x3, x20, x21, lt
    cmp x24, #4
    csel x4, x20, x21, lt
    cmp x20, #5
    csel x5, x20, x21, lt
# LLVM-MCA-END

# LLVM-MCA-BEGIN cmp-cset
# class: integer
# shows: Compare and set, a pair that fuses.
    cmp x20, x20
    cset w0, gt
    cmp x21, x20
    cset w1, gt
    cmp x22, x20
    cset w2, gt
    cmp x23, x20
    cset w3, gt
    cmp x24, x20
    cset w4, gt
    cmp x20, x20
    cset w5, gt
# LLVM-MCA-END

# LLVM-MCA-BEGIN subps
# class: integer
# shows: Pointer difference with flags, independent.
.irp r,0,1,2,3,4,5,6,7
    subps x\r, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN subps-chain
# class: integer
# shows: Pointer difference with flags, each depends on the previous one.
.rept 4
    subps x0, x0, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN irg
# class: integer
# shows: Random tag, independent.
.irp r,0,1,2,3,4,5,6,7
    irg x\r, x20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN irg-chain
# class: integer
# shows: Random tag, each depends on the previous one.
.rept 4
    irg x0, x0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN addg
# class: integer
# shows: Address and tag, independent.
.irp r,0,1,2,3,4,5,6,7
    addg x\r, x20, #16, #1
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN addg-chain
# class: integer
# shows: Address and tag, each depends on the previous one.
.rept 4
    addg x0, x0, #16, #1
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN gmi
# class: integer
# shows: Tag mask.
.irp r,0,1,2,3,4,5,6,7
    gmi x\r, x20, x21
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rmif-chain
# class: integer
# shows: Rotate into flags.
.rept 4
    rmif x20, #3, #5
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN setf8-chain
# class: integer
# shows: Flags of a byte.
.rept 4
    setf8 w20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN cfinv-chain
# class: integer
# shows: Inverted carry.
.rept 4
    cfinv
.endr
# LLVM-MCA-END
