# Stores of general registers. See README.md for the format.

# LLVM-MCA-BEGIN str-imm
# class: store
# shows: Stores by an immediate offset.
.irp r,0,1,2,3,4,5,6,7
    str x\r, [x20, #8]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN strb
# class: store
# shows: Stores of a byte.
.irp r,0,1,2,3,4,5,6,7
    strb w\r, [x20, #3]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stur-h
# class: store
# shows: Stores of a halfword by an unscaled offset.
.irp r,0,1,2,3,4,5,6,7
    sturh w\r, [x20, #-6]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN str-reg
# class: store
# shows: Stores by a scaled register offset.
.irp r,0,1,2,3,4,5,6,7
    str x\r, [x20, x21, lsl #3]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN str-post
# class: store
# shows: Stores that move their own base.
.irp r,0,1,2,3,4,5,6,7
    str x1\r, [x\r], #8
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN str-post-base
# class: store
# shows: Stores that walk along one base.
.rept 8
    str x1, [x0], #8
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN str-pre-base
# class: store
# shows: Stores that walk along one base before the access.
.rept 8
    str w1, [x0, #4]!
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stp-x
# class: store
# shows: Pairs.
.irp r,0,1,2,3,4,5,6,7
    stp x\r, x1\r, [x20, #16]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stp-w
# class: store
# shows: Pairs of 32 bits.
.irp r,0,1,2,3,4,5,6,7
    stp w\r, w1\r, [x20, #16]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stp-pre-base
# class: store
# shows: Pairs that walk along one base.
.rept 8
    stp x1, x2, [x0, #-16]!
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stnp
# class: store
# shows: Non-temporal pairs.
.irp r,0,1,2,3,4,5,6,7
    stnp x\r, x1\r, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stlr
# class: store
# shows: Store-release.
.irp r,0,1,2,3
    stlr x\r, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN str-data-chain
# class: store
# shows: Stores of each link of a chain.
    add x0, x0, #1
    str x0, [x20]
    add x0, x0, #1
    str x0, [x20, #64]
# LLVM-MCA-END

# LLVM-MCA-BEGIN stg
# class: store
# shows: Stores of allocation tags.
    stg x20, [x20]
    stg x20, [x20, #16]
    stz2g x20, [x20, #32]
    st2g x20, [x20, #64]
# LLVM-MCA-END

# LLVM-MCA-BEGIN stg-post-base
# class: store
# shows: Tags along one base.
.rept 8
    stg x20, [x0], #16
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stgp
# class: store
# shows: Pairs with their tag.
    stgp x0, x1, [x20]
    stgp x2, x3, [x20, #16]
    stgp x4, x5, [x20, #32]
    stgp x6, x7, [x20, #48]
# LLVM-MCA-END

# LLVM-MCA-BEGIN dc-zva
# class: store
# shows: Lines set to zero.
    dc zva, x20
    add x0, x20, #1
    dc zva, x21
    add x1, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN load-store-mix
# class: store
# shows: Two loads and a store share three address pipes.
    ldr x0, [x20]
    ldr x1, [x20, #64]
    str x2, [x21]
    ldr x3, [x20, #128]
    ldr x4, [x20, #192]
    str x5, [x21, #64]
# LLVM-MCA-END
