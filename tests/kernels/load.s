# Loads of general registers. See README.md for the format.

# LLVM-MCA-BEGIN ldr-imm
# class: load
# shows: Load by an immediate offset, independent.
.irp r,0,1,2,3,4,5,6,7
    ldr x\r, [x20, #8]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-imm-chain
# class: load
# shows: Load by an immediate offset, each depends on the previous one.
.rept 4
    ldr x0, [x0]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldur-w
# class: load
# shows: Load of 32 bits by an unscaled offset, independent.
.irp r,0,1,2,3,4,5,6,7
    ldur w\r, [x20, #-3]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldur-w-chain
# class: load
# shows: Load of 32 bits by an unscaled offset, each depends on the previous one.
.rept 4
    ldur w0, [x0, #-4]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldrb
# class: load
# shows: Load of a byte, independent.
.irp r,0,1,2,3,4,5,6,7
    ldrb w\r, [x20, #5]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldrb-chain
# class: load
# shows: Load of a byte, each depends on the previous one.
.rept 4
    ldrb w0, [x0, #5]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldrsh
# class: load
# shows: Load of a sign-extended halfword, independent.
.irp r,0,1,2,3,4,5,6,7
    ldrsh x\r, [x20, #6]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldrsh-chain
# class: load
# shows: Load of a sign-extended halfword, each depends on the previous one.
.rept 4
    ldrsh x0, [x0, #6]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-literal
# class: load
# shows: Load of a literal.
.irp r,0,1,2,3,4,5,6,7
    ldr x\r, #1024
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-reg
# class: load
# shows: Load by a register offset, independent.
.irp r,0,1,2,3,4,5,6,7
    ldr x\r, [x20, x21]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-reg-chain
# class: load
# shows: Load by a register offset, each depends on the previous one.
.rept 4
    ldr x0, [x20, x0]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-reg-lsl
# class: load
# shows: Load by a scaled register offset, independent.
.irp r,0,1,2,3,4,5,6,7
    ldr x\r, [x20, x21, lsl #3]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-reg-lsl-chain
# class: load
# shows: Load by a scaled register offset, each depends on the previous one.
.rept 4
    ldr x0, [x20, x0, lsl #3]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldrh-uxtw
# class: load
# shows: Load by an extended register offset, independent.
.irp r,0,1,2,3,4,5,6,7
    ldrh w\r, [x20, w21, uxtw #1]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldrh-uxtw-chain
# class: load
# shows: Load by an extended register offset, each depends on the previous one.
.rept 4
    ldrh w0, [x20, w0, uxtw #1]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-post
# class: load
# shows: Loads that move their own base.
.irp r,0,1,2,3,4,5,6,7
    ldr x1\r, [x\r], #8
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-post-base
# class: load
# shows: Loads that walk along one base.
.rept 8
    ldr x1, [x0], #8
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-pre-base
# class: load
# shows: Loads that walk along one base before the access.
.rept 8
    ldr x1, [x0, #8]!
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-pre-data
# class: load
# shows: A chain through the data of loads that move their base.
.rept 2
    ldr x1, [x0, #8]!
    mov x0, x1
    add x0, x0, #1
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldp-x
# class: load
# shows: Pair of 64 bits, independent.
.irp r,0,1,2,3,4,5,6,7
    ldp x\r, x1\r, [x20, #16]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldp-x-chain
# class: load
# shows: Pair of 64 bits, each depends on the previous one.
.rept 4
    ldp x0, x1, [x0]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldp-w
# class: load
# shows: Pair of 32 bits, independent.
.irp r,0,1,2,3,4,5,6,7
    ldp w\r, w1\r, [x20, #16]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldp-w-chain
# class: load
# shows: Pair of 32 bits, each depends on the previous one.
.rept 4
    ldp w0, w1, [x0]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldp-second
# class: load
# shows: A chain through the second register of a pair.
.rept 4
    ldp x1, x0, [x0]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldp-post-base
# class: load
# shows: Pairs that walk along one base.
.rept 8
    ldp x1, x2, [x0], #16
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldp-w-pre-base
# class: load
# shows: Pairs of 32 bits that walk along one base.
.rept 8
    ldp w1, w2, [x0, #8]!
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldpsw
# class: load
# shows: Pair of sign-extended words, independent.
.irp r,0,1,2,3,4,5,6,7
    ldpsw x\r, x1\r, [x20, #16]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldpsw-chain
# class: load
# shows: Pair of sign-extended words, each depends on the previous one.
.rept 4
    ldpsw x0, x1, [x0]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldpsw-post-base
# class: load
# shows: Sign-extended pairs that walk along one base.
.rept 4
    ldpsw x1, x2, [x0], #8
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldnp
# class: load
# shows: Non-temporal pairs.
.irp r,0,1,2,3,4,5,6,7
    ldnp x\r, x1\r, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldraa
# class: load
# shows: Authenticated load.
.irp r,0,1,2,3
    ldraa x\r, [x20, #8]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldraa-chain
# class: load
# shows: Authenticated load of a pointer to the next.
.rept 4
    ldraa x0, [x0]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldrab-pre-base
# class: load
# shows: Authenticated loads that walk along one base.
.rept 4
    ldrab x1, [x0, #8]!
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN prfm
# class: load
# shows: Prefetches.
    prfm pldl1keep, [x20, #0]
    prfm pldl1keep, [x20, #64]
    prfm pldl1keep, [x20, #128]
    prfm pldl1keep, [x20, #192]
    prfm pldl1keep, [x20, #256]
    prfm pldl1keep, [x20, #320]
# LLVM-MCA-END

# LLVM-MCA-BEGIN prfm-store
# class: load
# shows: Prefetches for stores by register.
    prfm pstl1keep, [x20, x21]
    prfm pstl1keep, [x20, x22]
    prfm pstl1keep, [x20, x23]
    prfm pstl1keep, [x20, x24]
    prfm pstl1keep, [x20, x25]
    prfm pstl1keep, [x20, x26]
# LLVM-MCA-END

# LLVM-MCA-BEGIN prfm-inst
# class: load
# shows: Prefetches of instructions.
    prfm plil1keep, [x20, #0]
    prfm plil1keep, [x20, #64]
    prfm plil1keep, [x20, #128]
    prfm plil1keep, [x20, #192]
    add x0, x20, #1
    add x1, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN load-alu-chain
# class: load
# shows: A load and an addition, one after the other.
    ldr x0, [x0]
    add x0, x0, #8
    ldr x0, [x0]
    add x0, x0, #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN load-load-mix
# class: load
# shows: Three loads a cycle beside additions.
    ldr x0, [x20, #0]
    add x10, x21, #1
    ldr x1, [x20, #8]
    add x11, x21, #1
    ldr x2, [x20, #16]
    add x12, x21, #1
    ldr x3, [x20, #24]
    add x13, x21, #1
    ldr x4, [x20, #32]
    add x14, x21, #1
    ldr x5, [x20, #40]
    add x15, x21, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldg
# class: load
# shows: Loads of allocation tags.
    ldg x0, [x20]
    ldg x1, [x20, #16]
    ldg x2, [x20, #32]
    ldg x3, [x20, #48]
# LLVM-MCA-END
