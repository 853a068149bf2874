# Loads and stores of one or two vector registers. See README.md for the format.

# LLVM-MCA-BEGIN ldr-q
# class: vector memory
# shows: Load of 128 bits.
.irp r,0,1,2,3,4,5,6,7
    ldr q\r, [x20, #16]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-d-chain
# class: vector memory
# shows: Load, move to a general register, address.
    ldr d0, [x0]
    fmov x0, d0
    ldr d0, [x0]
    fmov x0, d0
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-s-reg
# class: vector memory
# shows: Load by a register offset.
.irp r,0,1,2,3,4,5,6,7
    ldr s\r, [x20, x21]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-q-reg
# class: vector memory
# shows: Load of 128 bits by a scaled register offset.
.irp r,0,1,2,3,4,5,6,7
    ldr q\r, [x20, x21, lsl #4]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-q-reg-chain
# class: vector memory
# shows: Its latency.
    ldr q0, [x20, x0, lsl #4]
    fmov x0, d0
    ldr q0, [x20, x0, lsl #4]
    fmov x0, d0
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-h-reg
# class: vector memory
# shows: Load of 16 bits by an extended register offset.
.irp r,0,1,2,3,4,5,6,7
    ldr h\r, [x20, w21, sxtw #1]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-d-literal
# class: vector memory
# shows: Literals.
.irp r,0,1,2,3,4,5,6,7
    ldr d\r, #1024
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-q-post-base
# class: vector memory
# shows: Loads that walk along one base.
.rept 8
    ldr q1, [x0], #16
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldp-s
# class: vector memory
# shows: Pair of 32 bits.
.irp r,0,1,2,3,4,5,6,7
    ldp s\r, s1\r, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldp-q
# class: vector memory
# shows: Pair of 128 bits.
.irp r,0,1,2,3,4,5,6,7
    ldp q\r, q1\r, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldp-q-post-base
# class: vector memory
# shows: Pairs of 128 bits along one base.
.rept 4
    ldp q1, q2, [x0], #32
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldp-d-pre-base
# class: vector memory
# shows: Pairs of 64 bits along one base.
.rept 4
    ldp d1, d2, [x0, #16]!
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN str-q
# class: vector memory
# shows: Store of 128 bits.
.irp r,0,1,2,3,4,5,6,7
    str q\r, [x20, #16]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN str-d-reg
# class: vector memory
# shows: Store by a register offset.
.irp r,0,1,2,3,4,5,6,7
    str d\r, [x20, x21, lsl #3]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN str-q-reg
# class: vector memory
# shows: Store of 128 bits by a scaled register offset.
.irp r,0,1,2,3,4,5,6,7
    str q\r, [x20, x21, lsl #4]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN str-s-post-base
# class: vector memory
# shows: Stores along one base.
.rept 8
    str s1, [x0], #4
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stp-d
# class: vector memory
# shows: Pair of 64 bits.
.irp r,0,1,2,3,4,5,6,7
    stp d\r, d1\r, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stp-q
# class: vector memory
# shows: Pair of 128 bits.
.irp r,0,1,2,3,4,5,6,7
    stp q\r, q1\r, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stp-d-post-base
# class: vector memory
# shows: Pairs of 64 bits along one base.
.rept 4
    stp d1, d2, [x0], #16
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stp-q-post-base
# class: vector memory
# shows: Pairs of 128 bits along one base.
.rept 4
    stp q1, q2, [x0], #32
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stp-q-pre-base
# class: vector memory
# shows: Pairs of 128 bits along one base before the access.
.rept 4
    stp q1, q2, [x0, #32]!
.endr
# LLVM-MCA-END
