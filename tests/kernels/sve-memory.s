# Loads and stores of SVE. See README.md for the format.

# LLVM-MCA-BEGIN ldr-z
# class: sve memory
# shows: Whole vectors.
.irp r,0,1,2,3,4,5,6,7
    ldr z\r, [x20, #1, mul vl]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldr-p
# class: sve memory
# shows: Whole predicates.
.irp r,0,1,2,3,4,5,6,7
    ldr p\r, [x20, #1, mul vl]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1w-imm
# class: sve memory
# shows: Contiguous load by an immediate.
.irp r,0,1,2,3,4,5,6,7
    ld1w {z\r\().s}, p0/z, [x20, #1, mul vl]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1w-reg
# class: sve memory
# shows: Contiguous load by a register.
.irp r,0,1,2,3,4,5,6,7
    ld1w {z\r\().s}, p0/z, [x20, x21, lsl #2]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1rw
# class: sve memory
# shows: One element to all.
.irp r,0,1,2,3,4,5,6,7
    ld1rw {z\r\().s}, p0/z, [x20, #4]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1rqw
# class: sve memory
# shows: One quadword to all.
.irp r,0,1,2,3,4,5,6,7
    ld1rqw {z\r\().s}, p0/z, [x20, x21, lsl #2]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldnf1w
# class: sve memory
# shows: Non-fault load.
.irp r,0,1,2,3,4,5,6,7
    ldnf1w {z\r\().s}, p0/z, [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldnt1w-reg
# class: sve memory
# shows: Non-temporal load by a register.
.irp r,0,1,2,3,4,5,6,7
    ldnt1w {z\r\().s}, p0/z, [x20, x21, lsl #2]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldff1b
# class: sve memory
# shows: First-fault load by a register.
.irp r,0,1,2,3,4,5,6,7
    ldff1b {z\r\().b}, p0/z, [x20, x21]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldff1w-reg
# class: sve memory
# shows: First-fault load by a scaled register.
.irp r,0,1,2,3,4,5,6,7
    ldff1w {z\r\().s}, p0/z, [x20, x21, lsl #2]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld2w-imm
# class: sve memory
# shows: Two-vector load.
    ld2w {z0.s, z1.s}, p0/z, [x20]
    ld2w {z4.s, z5.s}, p0/z, [x21]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld2w-reg
# class: sve memory
# shows: Two-vector load by a register.
    ld2w {z0.s, z1.s}, p0/z, [x20, x21, lsl #2]
    ld2w {z4.s, z5.s}, p0/z, [x22, x21, lsl #2]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld3w-imm
# class: sve memory
# shows: Three-vector load.
    ld3w {z0.s, z1.s, z2.s}, p0/z, [x20]
    ld3w {z4.s, z5.s, z6.s}, p0/z, [x21]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld3w-reg
# class: sve memory
# shows: Three-vector load by a register.
    ld3w {z0.s, z1.s, z2.s}, p0/z, [x20, x21, lsl #2]
    ld3w {z4.s, z5.s, z6.s}, p0/z, [x22, x21, lsl #2]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld4w-imm
# class: sve memory
# shows: Four-vector load.
    ld4w {z0.s, z1.s, z2.s, z3.s}, p0/z, [x20]
    ld4w {z4.s, z5.s, z6.s, z7.s}, p0/z, [x21]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld4w-reg
# class: sve memory
# shows: Four-vector load by a register.
    ld4w {z0.s, z1.s, z2.s, z3.s}, p0/z, [x20, x21, lsl #2]
    ld4w {z4.s, z5.s, z6.s, z7.s}, p0/z, [x22, x21, lsl #2]
# LLVM-MCA-END

# LLVM-MCA-BEGIN gather-w-imm
# class: sve memory
# shows: Gather of words by vector addresses.
.irp r,0,1,2,3,4,5,6,7
    ld1w {z\r\().s}, p0/z, [z20.s, #4]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN gather-w-offset
# class: sve memory
# shows: Gather of words by unscaled offsets.
.irp r,0,1,2,3,4,5,6,7
    ld1w {z\r\().s}, p0/z, [x20, z20.s, uxtw]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN gather-w-scaled
# class: sve memory
# shows: Gather of words by scaled offsets.
.irp r,0,1,2,3,4,5,6,7
    ld1w {z\r\().s}, p0/z, [x20, z20.s, uxtw #2]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN gather-d
# class: sve memory
# shows: Gather of doublewords by scaled offsets.
.irp r,0,1,2,3,4,5,6,7
    ld1d {z\r\().d}, p0/z, [x20, z20.d, lsl #3]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN gather-d-imm
# class: sve memory
# shows: Gather of doublewords by vector addresses.
.irp r,0,1,2,3,4,5,6,7
    ld1d {z\r\().d}, p0/z, [z20.d]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN gather-d-chain
# class: sve memory
# shows: Gather of the next addresses.
.rept 2
    ld1d {z0.d}, p0/z, [z0.d]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldff1-gather
# class: sve memory
# shows: First-fault gather of doublewords.
.irp r,0,1,2,3,4,5,6,7
    ldff1d {z\r\().d}, p0/z, [x20, z20.d]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldnt1-gather-w
# class: sve memory
# shows: Non-temporal gather of words.
.irp r,0,1,2,3
    ldnt1w {z\r\().s}, p0/z, [z20.s, x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ldnt1-gather-d
# class: sve memory
# shows: Non-temporal gather of doublewords.
.irp r,0,1,2,3
    ldnt1d {z\r\().d}, p0/z, [z20.d, x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN str-z
# class: sve memory
# shows: Whole vectors.
.irp r,0,1,2,3,4,5,6,7
    str z\r, [x20, #1, mul vl]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN str-p
# class: sve memory
# shows: Whole predicates.
.irp r,0,1,2,3,4,5,6,7
    str p\r, [x20, #1, mul vl]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1w-imm
# class: sve memory
# shows: Contiguous store by an immediate.
.irp r,0,1,2,3,4,5,6,7
    st1w {z\r\().s}, p0, [x20, #1, mul vl]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1d-reg
# class: sve memory
# shows: Contiguous store by a register.
.irp r,0,1,2,3,4,5,6,7
    st1d {z\r\().d}, p0, [x20, x21, lsl #3]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1h-reg
# class: sve memory
# shows: Contiguous store of halfwords by a register.
.irp r,0,1,2,3,4,5,6,7
    st1h {z\r\().h}, p0, [x20, x21, lsl #1]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN stnt1w-reg
# class: sve memory
# shows: Non-temporal store by a register.
.irp r,0,1,2,3,4,5,6,7
    stnt1w {z\r\().s}, p0, [x20, x21, lsl #2]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN st2w-imm
# class: sve memory
# shows: Two-vector store.
    st2w {z0.s, z1.s}, p0, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st2h-reg
# class: sve memory
# shows: Two-vector store of halfwords by a register.
    st2h {z0.h, z1.h}, p0, [x20, x21, lsl #1]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st3w-imm
# class: sve memory
# shows: Three-vector store.
    st3w {z0.s, z1.s, z2.s}, p0, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st3w-reg
# class: sve memory
# shows: Three-vector store by a register.
    st3w {z0.s, z1.s, z2.s}, p0, [x20, x21, lsl #2]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4w-imm
# class: sve memory
# shows: Four-vector store.
    st4w {z0.s, z1.s, z2.s, z3.s}, p0, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4w-reg
# class: sve memory
# shows: Four-vector store by a register.
    st4w {z0.s, z1.s, z2.s, z3.s}, p0, [x20, x21, lsl #2]
# LLVM-MCA-END

# LLVM-MCA-BEGIN scatter-w
# class: sve memory
# shows: Scatter of words.
.irp r,0,1,2,3
    st1w {z\r\().s}, p0, [x20, z20.s, uxtw #2]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN scatter-d
# class: sve memory
# shows: Scatter of doublewords.
.irp r,0,1,2,3
    st1d {z\r\().d}, p0, [x20, z20.d, lsl #3]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN scatter-d-imm
# class: sve memory
# shows: Scatter of doublewords by vector addresses.
.irp r,0,1,2,3
    st1d {z\r\().d}, p0, [z20.d]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN prfw
# class: sve memory
# shows: Prefetches under a predicate.
    prfw pldl1keep, p0, [x20]
    prfw pldl1keep, p0, [x20, x21, lsl #2]
    prfd pldl1keep, p0, [x20, z20.d, lsl #3]
# LLVM-MCA-END
