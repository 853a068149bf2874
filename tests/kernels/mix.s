# Inner loops as programs have them. See README.md for the format.

# LLVM-MCA-BEGIN memcpy-8
# class: mix
# shows: Copy by eight bytes.
    ldr x1, [x20], #8
    str x1, [x21], #8
    subs x22, x22, #8
    b.ne #-12
# LLVM-MCA-END

# LLVM-MCA-BEGIN memcpy-64
# class: mix
# shows: Copy by four pairs of vectors.
    ldp q0, q1, [x20, #32]
    ldp q2, q3, [x20, #64]!
    stp q0, q1, [x21, #32]
    stp q2, q3, [x21, #64]!
    subs x22, x22, #64
    b.hi #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN memcpy-pair
# class: mix
# shows: Copy by pairs.
    ldp x1, x2, [x20, #16]
    ldp x3, x4, [x20, #32]!
    stp x1, x2, [x21, #16]
    stp x3, x4, [x21, #32]!
    subs x22, x22, #32
    b.hi #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN memset-64
# class: mix
# shows: Fill by vectors.
    stp q0, q0, [x20, #32]
    stp q0, q0, [x20, #64]!
    subs x22, x22, #64
    b.hi #-12
# LLVM-MCA-END

# LLVM-MCA-BEGIN sum-scalar
# class: mix
# shows: Sum of an array.
    ldr x1, [x20], #8
    add x0, x0, x1
    cmp x20, x21
    b.ne #-12
# LLVM-MCA-END

# LLVM-MCA-BEGIN sum-vector
# class: mix
# shows: Sum of an array by four sums.
    ldp q4, q5, [x20], #64
    ldp q6, q7, [x20, #-32]
    add v0.4s, v0.4s, v4.4s
    add v1.4s, v1.4s, v5.4s
    add v2.4s, v2.4s, v6.4s
    add v3.4s, v3.4s, v7.4s
    cmp x20, x21
    b.ne #-28
# LLVM-MCA-END

# LLVM-MCA-BEGIN dot-int
# class: mix
# shows: Dot product into one sum.
    ldr w1, [x20], #4
    ldr w2, [x21], #4
    madd w0, w1, w2, w0
    cmp x20, x22
    b.ne #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN dot-double
# class: mix
# shows: Dot product of doubles into one sum.
    ldr d1, [x20], #8
    ldr d2, [x21], #8
    fmadd d0, d1, d2, d0
    cmp x20, x22
    b.ne #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN dot-vector-1
# class: mix
# shows: Dot product of vectors into one sum.
    ldr q1, [x20], #16
    ldr q2, [x21], #16
    fmla v0.4s, v1.4s, v2.4s
    cmp x20, x22
    b.ne #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN dot-vector-4
# class: mix
# shows: Dot product of vectors into four sums.
    ldr q4, [x20, #0]
    ldr q8, [x21, #0]
    fmla v0.4s, v4.4s, v8.4s
    ldr q5, [x20, #16]
    ldr q9, [x21, #16]
    fmla v1.4s, v5.4s, v9.4s
    ldr q6, [x20, #32]
    ldr q10, [x21, #32]
    fmla v2.4s, v6.4s, v10.4s
    ldr q7, [x20, #48]
    ldr q11, [x21, #48]
    fmla v3.4s, v7.4s, v11.4s
    add x20, x20, #64
    add x21, x21, #64
    cmp x20, x22
    b.ne #-60
# LLVM-MCA-END

# LLVM-MCA-BEGIN saxpy
# class: mix
# shows: Y = a x + y by vectors.
    ldr q1, [x20], #16
    ldr q2, [x21]
    fmla v2.4s, v1.4s, v31.4s
    str q2, [x21], #16
    subs x22, x22, #4
    b.ne #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN daxpy-scalar
# class: mix
# shows: Y = a x + y by doubles.
    ldr d1, [x20, x23, lsl #3]
    ldr d2, [x21, x23, lsl #3]
    fmadd d2, d1, d31, d2
    str d2, [x21, x23, lsl #3]
    add x23, x23, #1
    cmp x23, x22
    b.ne #-24
# LLVM-MCA-END

# LLVM-MCA-BEGIN fnv1a
# class: mix
# shows: FNV-1a hash of bytes.
    ldrb w1, [x20], #1
    eor w0, w0, w1
    mul w0, w0, w21
    cmp x20, x22
    b.ne #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN djb2
# class: mix
# shows: Hash by shift and add.
    ldrb w1, [x20], #1
    add w0, w0, w0, lsl #5
    add w0, w0, w1
    cbnz w1, #-12
# LLVM-MCA-END

# LLVM-MCA-BEGIN murmur-mix
# class: mix
# shows: Final mix of a hash.
    eor x0, x0, x0, lsr #33
    mul x0, x0, x20
    eor x0, x0, x0, lsr #33
    mul x0, x0, x21
    eor x0, x0, x0, lsr #33
# LLVM-MCA-END

# LLVM-MCA-BEGIN xxh-round
# class: mix
# shows: Four lanes of a hash.
    ldr x4, [x20, #0]
    madd x0, x4, x21, x0
    ror x0, x0, #33
    mul x0, x0, x22
    ldr x5, [x20, #8]
    madd x1, x5, x21, x1
    ror x1, x1, #33
    mul x1, x1, x22
    ldr x6, [x20, #16]
    madd x2, x6, x21, x2
    ror x2, x2, #33
    mul x2, x2, x22
    ldr x7, [x20, #24]
    madd x3, x7, x21, x3
    ror x3, x3, #33
    mul x3, x3, x22
    add x20, x20, #32
    cmp x20, x23
    b.lo #-72
# LLVM-MCA-END

# LLVM-MCA-BEGIN siphash-round
# class: mix
# shows: A round of SipHash.
    add x0, x0, x1
    add x2, x2, x3
    ror x1, x1, #51
    ror x3, x3, #48
    eor x1, x1, x0
    eor x3, x3, x2
    ror x0, x0, #32
    add x2, x2, x1
    add x0, x0, x3
    ror x1, x1, #47
    ror x3, x3, #43
    eor x1, x1, x2
    eor x3, x3, x0
    ror x2, x2, #32
# LLVM-MCA-END

# LLVM-MCA-BEGIN xorshift
# class: mix
# shows: Random numbers by shifts.
    eor x0, x0, x0, lsl #13
    eor x0, x0, x0, lsr #7
    eor x0, x0, x0, lsl #17
    str x0, [x20], #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN lcg
# class: mix
# shows: Random numbers by multiply-add.
    madd x0, x0, x20, x21
    lsr x1, x0, #33
    str w1, [x22], #4
# LLVM-MCA-END

# LLVM-MCA-BEGIN crc-block
# class: mix
# shows: Check sum of a block.
    ldp x1, x2, [x20], #16
    crc32cx w0, w0, x1
    crc32cx w0, w0, x2
    subs x21, x21, #16
    b.ne #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN crc-three
# class: mix
# shows: Three check sums side by side.
    ldr x3, [x20, #1024]
    ldr x4, [x20, #2048]
    ldr x5, [x20], #8
    crc32cx w0, w0, x3
    crc32cx w1, w1, x4
    crc32cx w2, w2, x5
    subs x21, x21, #8
    b.ne #-28
# LLVM-MCA-END

# LLVM-MCA-BEGIN strlen-swar
# class: mix
# shows: String length by eight bytes.
    ldr x1, [x20], #8
    sub x2, x1, x21
    orr x3, x1, x22
    bics x2, x2, x3
    b.eq #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN strlen-vector
# class: mix
# shows: String length by sixteen bytes.
    ldr q0, [x20], #16
    cmeq v1.16b, v0.16b, #0
    umaxp v1.16b, v1.16b, v1.16b
    fmov x1, d1
    cbz x1, #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN strcmp-swar
# class: mix
# shows: String compare by eight bytes.
    ldr x1, [x20], #8
    ldr x2, [x21], #8
    sub x3, x1, x22
    orr x4, x1, x23
    eor x5, x1, x2
    bic x3, x3, x4
    orr x3, x3, x5
    cbz x3, #-28
# LLVM-MCA-END

# LLVM-MCA-BEGIN memchr
# class: mix
# shows: Search for a byte.
    ldp q0, q1, [x20], #32
    cmeq v0.16b, v0.16b, v31.16b
    cmeq v1.16b, v1.16b, v31.16b
    orr v2.16b, v0.16b, v1.16b
    addp v2.2d, v2.2d, v2.2d
    fmov x1, d2
    cbz x1, #-24
# LLVM-MCA-END

# LLVM-MCA-BEGIN memcmp
# class: mix
# shows: Compare of blocks.
    ldp x1, x2, [x20], #16
    ldp x3, x4, [x21], #16
    cmp x1, x3
    ccmp x2, x4, #0, eq
    b.eq #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN popcount-swar
# class: mix
# shows: Bit count by masks.
    lsr x1, x0, #1
    and x1, x1, #0x5555555555555555
    sub x0, x0, x1
    and x1, x0, #0x3333333333333333
    lsr x0, x0, #2
    and x0, x0, #0x3333333333333333
    add x0, x0, x1
    add x0, x0, x0, lsr #4
    and x0, x0, #0x0f0f0f0f0f0f0f0f
    mul x0, x0, x20
    lsr x0, x0, #56
# LLVM-MCA-END

# LLVM-MCA-BEGIN popcount-vector
# class: mix
# shows: Bit count of a word.
    ldr d0, [x20], #8
    cnt v0.8b, v0.8b
    addv b0, v0.8b
    fmov w1, s0
    add x0, x0, x1
    subs x21, x21, #1
    b.ne #-24
# LLVM-MCA-END

# LLVM-MCA-BEGIN bitset-scan
# class: mix
# shows: Set bits one by one.
    rbit x1, x0
    clz x1, x1
    sub x2, x0, #1
    and x0, x0, x2
    add x3, x3, x1
    cbnz x0, #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN gcd-binary
# class: mix
# shows: Greatest common divisor.
    rbit x2, x1
    clz x2, x2
    lsr x1, x1, x2
    subs x3, x1, x0
    csel x0, x1, x0, lo
    cneg x1, x3, lo
    b.ne #-24
# LLVM-MCA-END

# LLVM-MCA-BEGIN binary-search
# class: mix
# shows: Binary search without branches.
    lsr x2, x2, #1
    add x3, x0, x2, lsl #3
    ldr x4, [x3]
    cmp x4, x20
    csel x0, x3, x0, lo
    cbnz x2, #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN list-walk
# class: mix
# shows: A linked list with a sum.
    ldr x1, [x0, #8]
    ldr x0, [x0]
    add x2, x2, x1
    cbnz x0, #-12
# LLVM-MCA-END

# LLVM-MCA-BEGIN tree-walk
# class: mix
# shows: One step down a tree.
    ldr x1, [x0, #16]
    cmp x1, x20
    add x2, x0, #8
    csel x0, x0, x2, lo
    ldr x0, [x0]
    cbnz x0, #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN histogram
# class: mix
# shows: Counts of bytes.
    ldrb w1, [x20], #1
    ldr w2, [x21, x1, lsl #2]
    add w2, w2, #1
    str w2, [x21, x1, lsl #2]
    cmp x20, x22
    b.ne #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN prefix-sum
# class: mix
# shows: Running sum.
    ldr w1, [x20], #4
    add w0, w0, w1
    str w0, [x21], #4
    subs x22, x22, #1
    b.ne #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN min-max
# class: mix
# shows: Smallest and largest.
    ldr w1, [x20], #4
    cmp w1, w2
    csel w2, w1, w2, lt
    cmp w1, w3
    csel w3, w1, w3, gt
    subs x21, x21, #1
    b.ne #-24
# LLVM-MCA-END

# LLVM-MCA-BEGIN atoi
# class: mix
# shows: Digits to a number.
    ldrb w1, [x20], #1
    sub w1, w1, #48
    madd w0, w0, w21, w1
    cmp w1, #9
    b.ls #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN itoa
# class: mix
# shows: Number to digits.
    umulh x1, x0, x20
    lsr x1, x1, #3
    add x2, x1, x1, lsl #2
    sub x2, x0, x2, lsl #1
    add w2, w2, #48
    strb w2, [x21, #-1]!
    mov x0, x1
    cbnz x0, #-28
# LLVM-MCA-END

# LLVM-MCA-BEGIN bigint-add
# class: mix
# shows: Sum of long numbers.
    ldp x1, x2, [x20], #16
    ldp x3, x4, [x21], #16
    adcs x1, x1, x3
    adcs x2, x2, x4
    stp x1, x2, [x22], #16
    sub x23, x23, #1
    cbnz x23, #-24
# LLVM-MCA-END

# LLVM-MCA-BEGIN bigint-mul
# class: mix
# shows: Product of long numbers.
    ldr x1, [x20], #8
    ldr x4, [x21]
    mul x2, x1, x22
    umulh x3, x1, x22
    adds x2, x2, x5
    cinc x3, x3, hs
    adds x2, x2, x4
    cinc x5, x3, hs
    str x2, [x21], #8
    sub x23, x23, #1
    cbnz x23, #-40
# LLVM-MCA-END

# LLVM-MCA-BEGIN modmul
# class: mix
# shows: Modular multiply.
    mul x1, x0, x20
    umulh x2, x0, x20
    mul x3, x1, x21
    umulh x3, x3, x22
    sub x0, x2, x3
    add x4, x0, x22
    cmp x2, x3
    csel x0, x4, x0, lo
# LLVM-MCA-END

# LLVM-MCA-BEGIN chacha-quarter
# class: mix
# shows: A quarter round on four words.
    add w0, w0, w1
    eor w3, w3, w0
    ror w3, w3, #16
    add w2, w2, w3
    eor w1, w1, w2
    ror w1, w1, #20
    add w0, w0, w1
    eor w3, w3, w0
    ror w3, w3, #24
    add w2, w2, w3
    eor w1, w1, w2
    ror w1, w1, #25
# LLVM-MCA-END

# LLVM-MCA-BEGIN chacha-vector
# class: mix
# shows: A quarter round on four blocks.
    add v0.4s, v0.4s, v1.4s
    eor v3.16b, v3.16b, v0.16b
    rev32 v3.8h, v3.8h
    add v2.4s, v2.4s, v3.4s
    eor v4.16b, v1.16b, v2.16b
    shl v1.4s, v4.4s, #12
    sri v1.4s, v4.4s, #20
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha256-rounds
# class: mix
# shows: Four rounds and their schedule.
    ldr q16, [x20], #16
    add v5.4s, v0.4s, v16.4s
    sha256su0 v0.4s, v1.4s
    mov v6.16b, v17.16b
    sha256h q17, q18, v5.4s
    sha256h2 q18, q6, v5.4s
    sha256su1 v0.4s, v2.4s, v3.4s
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha1-rounds
# class: mix
# shows: Four rounds of SHA-1.
    add v5.4s, v0.4s, v16.4s
    sha1su0 v0.4s, v1.4s, v2.4s
    sha1h s19, s17
    sha1p q17, s18, v5.4s
    mov v18.16b, v19.16b
    sha1su1 v0.4s, v3.4s
# LLVM-MCA-END

# LLVM-MCA-BEGIN aes-ctr
# class: mix
# shows: Four rounds of one block.
    aese v0.16b, v20.16b
    aesmc v0.16b, v0.16b
    aese v0.16b, v21.16b
    aesmc v0.16b, v0.16b
    aese v0.16b, v22.16b
    aesmc v0.16b, v0.16b
    aese v0.16b, v23.16b
    aesmc v0.16b, v0.16b
# LLVM-MCA-END

# LLVM-MCA-BEGIN aes-four-blocks
# class: mix
# shows: A round of four blocks.
    aese v0.16b, v20.16b
    aesmc v0.16b, v0.16b
    aese v1.16b, v20.16b
    aesmc v1.16b, v1.16b
    aese v2.16b, v20.16b
    aesmc v2.16b, v2.16b
    aese v3.16b, v20.16b
    aesmc v3.16b, v3.16b
# LLVM-MCA-END

# LLVM-MCA-BEGIN ghash
# class: mix
# shows: Multiply and reduction.
    pmull v1.1q, v0.1d, v20.1d
    pmull2 v2.1q, v0.2d, v20.2d
    ext v3.16b, v0.16b, v0.16b, #8
    pmull v3.1q, v3.1d, v20.1d
    eor v1.16b, v1.16b, v3.16b
    eor v0.16b, v1.16b, v2.16b
# LLVM-MCA-END

# LLVM-MCA-BEGIN matmul-4x4
# class: mix
# shows: A column of a matrix product.
    ldr q4, [x20], #16
    fmla v0.4s, v16.4s, v4.s[0]
    fmla v1.4s, v17.4s, v4.s[1]
    fmla v2.4s, v18.4s, v4.s[2]
    fmla v3.4s, v19.4s, v4.s[3]
    subs x21, x21, #1
    b.ne #-24
# LLVM-MCA-END

# LLVM-MCA-BEGIN matmul-kernel
# class: mix
# shows: A tile of eight sums.
    ldp q16, q17, [x20], #32
    ldr q18, [x21], #16
    fmla v0.4s, v16.4s, v18.s[0]
    fmla v1.4s, v17.4s, v18.s[0]
    fmla v2.4s, v16.4s, v18.s[1]
    fmla v3.4s, v17.4s, v18.s[1]
    fmla v4.4s, v16.4s, v18.s[2]
    fmla v5.4s, v17.4s, v18.s[2]
    fmla v6.4s, v16.4s, v18.s[3]
    fmla v7.4s, v17.4s, v18.s[3]
    subs x22, x22, #1
    b.ne #-44
# LLVM-MCA-END

# LLVM-MCA-BEGIN matmul-int8
# class: mix
# shows: A tile of bytes by matrix products.
    ldp q16, q17, [x20], #32
    ldp q18, q19, [x21], #32
    smmla v0.4s, v16.16b, v18.16b
    smmla v1.4s, v16.16b, v19.16b
    smmla v2.4s, v17.16b, v18.16b
    smmla v3.4s, v17.16b, v19.16b
    subs x22, x22, #1
    b.ne #-28
# LLVM-MCA-END

# LLVM-MCA-BEGIN conv-udot
# class: mix
# shows: A filter by dot products.
    ldr q4, [x20], #16
    udot v0.4s, v4.16b, v20.16b
    udot v1.4s, v4.16b, v21.16b
    udot v2.4s, v4.16b, v22.16b
    subs x21, x21, #1
    b.ne #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN fir
# class: mix
# shows: A filter of four taps.
    ldr s4, [x20], #4
    fmadd s0, s4, s20, s1
    fmadd s1, s4, s21, s2
    fmadd s2, s4, s22, s3
    fmul s3, s4, s23
    str s0, [x21], #4
    subs x22, x22, #1
    b.ne #-28
# LLVM-MCA-END

# LLVM-MCA-BEGIN complex-mul
# class: mix
# shows: Products of complex numbers.
    ldr q1, [x20], #16
    ldr q2, [x21], #16
    movi v0.2d, #0
    fcmla v0.4s, v1.4s, v2.4s, #0
    fcmla v0.4s, v1.4s, v2.4s, #90
    str q0, [x22], #16
    subs x23, x23, #1
    b.ne #-28
# LLVM-MCA-END

# LLVM-MCA-BEGIN newton-sqrt
# class: mix
# shows: A square root by estimate and step.
    frsqrte v1.4s, v0.4s
    fmul v2.4s, v0.4s, v1.4s
    frsqrts v2.4s, v2.4s, v1.4s
    fmul v1.4s, v1.4s, v2.4s
    fmul v2.4s, v0.4s, v1.4s
    frsqrts v2.4s, v2.4s, v1.4s
    fmul v1.4s, v1.4s, v2.4s
    fmul v0.4s, v0.4s, v1.4s
# LLVM-MCA-END

# LLVM-MCA-BEGIN normalize
# class: mix
# shows: Length and quotient of a vector.
    ldp s0, s1, [x20], #8
    fmul s2, s0, s0
    fmadd s2, s1, s1, s2
    fsqrt s2, s2
    fdiv s0, s0, s2
    fdiv s1, s1, s2
    stp s0, s1, [x21], #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN nbody-step
# class: mix
# shows: Force between two bodies.
    fsub d0, d10, d20
    fsub d1, d11, d21
    fsub d2, d12, d22
    fmul d3, d0, d0
    fmadd d3, d1, d1, d3
    fmadd d3, d2, d2, d3
    fsqrt d4, d3
    fmul d3, d3, d4
    fdiv d3, d30, d3
    fmsub d13, d0, d3, d13
    fmsub d14, d1, d3, d14
    fmsub d15, d2, d3, d15
# LLVM-MCA-END

# LLVM-MCA-BEGIN mandelbrot
# class: mix
# shows: A step of the iteration.
    fmul d2, d0, d0
    fmul d3, d1, d1
    fmul d4, d0, d1
    fsub d5, d2, d3
    fadd d0, d5, d20
    fadd d4, d4, d4
    fadd d1, d4, d21
    fadd d5, d2, d3
    fcmp d5, d22
    b.gt #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN stencil
# class: mix
# shows: Mean of three neighbors.
    ldur d0, [x20, #-8]
    ldr d1, [x20], #8
    ldr d2, [x20]
    fadd d0, d0, d1
    fadd d0, d0, d2
    fmul d0, d0, d31
    str d0, [x21], #8
    cmp x20, x22
    b.ne #-32
# LLVM-MCA-END

# LLVM-MCA-BEGIN blend
# class: mix
# shows: Two images by weights.
    ldr d0, [x20], #8
    ldr d1, [x21], #8
    umull v2.8h, v0.8b, v30.8b
    umlal v2.8h, v1.8b, v31.8b
    rshrn v2.8b, v2.8h, #8
    str d2, [x22], #8
    subs x23, x23, #8
    b.ne #-28
# LLVM-MCA-END

# LLVM-MCA-BEGIN gray
# class: mix
# shows: Colors to gray.
    ld3 {v0.8b, v1.8b, v2.8b}, [x20], #24
    umull v3.8h, v0.8b, v29.8b
    umlal v3.8h, v1.8b, v30.8b
    umlal v3.8h, v2.8b, v31.8b
    shrn v3.8b, v3.8h, #8
    st1 {v3.8b}, [x21], #8
    subs x22, x22, #8
    b.ne #-28
# LLVM-MCA-END

# LLVM-MCA-BEGIN transpose-4x4
# class: mix
# shows: Transposition of words.
    trn1 v4.4s, v0.4s, v1.4s
    trn2 v5.4s, v0.4s, v1.4s
    trn1 v6.4s, v2.4s, v3.4s
    trn2 v7.4s, v2.4s, v3.4s
    trn1 v16.2d, v4.2d, v6.2d
    trn2 v17.2d, v4.2d, v6.2d
    trn1 v18.2d, v5.2d, v7.2d
    trn2 v19.2d, v5.2d, v7.2d
# LLVM-MCA-END

# LLVM-MCA-BEGIN base64
# class: mix
# shows: Six-bit groups to characters.
    ld3 {v0.16b, v1.16b, v2.16b}, [x20], #48
    ushr v4.16b, v0.16b, #2
    ushr v5.16b, v1.16b, #4
    sli v5.16b, v0.16b, #4
    ushr v6.16b, v2.16b, #6
    sli v6.16b, v1.16b, #2
    tbl v4.16b, {v16.16b-v19.16b}, v4.16b
    tbl v5.16b, {v16.16b-v19.16b}, v5.16b
    tbl v6.16b, {v16.16b-v19.16b}, v6.16b
    tbl v7.16b, {v16.16b-v19.16b}, v2.16b
    st4 {v4.16b, v5.16b, v6.16b, v7.16b}, [x21], #64
# LLVM-MCA-END

# LLVM-MCA-BEGIN utf8-check
# class: mix
# shows: Classes of bytes by look-up.
    ldr q0, [x20], #16
    ushr v1.16b, v0.16b, #4
    and v2.16b, v0.16b, v31.16b
    tbl v1.16b, {v20.16b}, v1.16b
    tbl v2.16b, {v21.16b}, v2.16b
    and v1.16b, v1.16b, v2.16b
    orr v30.16b, v30.16b, v1.16b
    subs x21, x21, #16
    b.ne #-32
# LLVM-MCA-END

# LLVM-MCA-BEGIN to-upper
# class: mix
# shows: Letters to capitals.
    ldr q0, [x20]
    add v1.16b, v0.16b, v30.16b
    cmhi v1.16b, v31.16b, v1.16b
    and v1.16b, v1.16b, v29.16b
    eor v0.16b, v0.16b, v1.16b
    str q0, [x20], #16
    subs x21, x21, #16
    b.ne #-28
# LLVM-MCA-END

# LLVM-MCA-BEGIN byte-swap
# class: mix
# shows: Byte order of an array.
    ldr q0, [x20]
    rev32 v0.16b, v0.16b
    str q0, [x20], #16
    subs x21, x21, #4
    b.ne #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN sort-network
# class: mix
# shows: Exchange of two vectors.
    ldp q0, q1, [x20]
    umin v2.4s, v0.4s, v1.4s
    umax v3.4s, v0.4s, v1.4s
    stp q2, q3, [x20], #32
    cmp x20, x21
    b.ne #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN spill-frame
# class: mix
# shows: Registers to the stack and back.
    stp x19, x20, [sp, #-32]!
    stp x21, x22, [sp, #16]
    add x0, x0, #1
    ldp x21, x22, [sp, #16]
    ldp x19, x20, [sp], #32
# LLVM-MCA-END

# LLVM-MCA-BEGIN interp-dispatch
# class: mix
# shows: One step of an interpreter.
    ldrb w1, [x20], #1
    ldr x2, [x21, x1, lsl #3]
    ldr w3, [x22]
    add w3, w3, #1
    str w3, [x22, #64]
    cbz x2, #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN varint
# class: mix
# shows: Numbers of variable length.
    ldrb w1, [x20], #1
    and w2, w1, #0x7f
    lsl x2, x2, x3
    orr x0, x0, x2
    add x3, x3, #7
    tbnz w1, #7, #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN rle
# class: mix
# shows: Runs of equal bytes.
    ldrb w1, [x20], #1
    cmp w1, w2
    cinc x3, x3, eq
    csel w2, w1, w2, ne
    cbnz w1, #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN half-to-single
# class: mix
# shows: An array of halves to singles.
    ldr d0, [x20], #8
    fcvtl v0.4s, v0.4h
    str q0, [x21], #16
    subs x22, x22, #4
    b.ne #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN int-to-double
# class: mix
# shows: An array of integers to doubles.
    ldr w1, [x20], #4
    scvtf d0, w1
    str d0, [x21], #8
    subs x22, x22, #1
    b.ne #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN clamp
# class: mix
# shows: Values between two bounds.
    ldr q0, [x20]
    fmax v0.4s, v0.4s, v30.4s
    fmin v0.4s, v0.4s, v31.4s
    fcvtns v0.4s, v0.4s
    str q0, [x20], #16
    subs x21, x21, #4
    b.ne #-24
# LLVM-MCA-END

# LLVM-MCA-BEGIN sve-daxpy
# class: mix
# shows: Y = a x + y by scalable vectors.
    ld1d {z1.d}, p0/z, [x20, x23, lsl #3]
    ld1d {z2.d}, p0/z, [x21, x23, lsl #3]
    fmla z2.d, p0/m, z1.d, z31.d
    st1d {z2.d}, p0, [x21, x23, lsl #3]
    incd x23
    whilelo p0.d, x23, x22
    b.first #-24
# LLVM-MCA-END

# LLVM-MCA-BEGIN sve-dot
# class: mix
# shows: Dot product by scalable vectors.
    ld1w {z1.s}, p0/z, [x20, x23, lsl #2]
    ld1w {z2.s}, p0/z, [x21, x23, lsl #2]
    fmla z0.s, p0/m, z1.s, z2.s
    incw x23
    whilelo p0.s, x23, x22
    b.first #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN sve-strlen
# class: mix
# shows: String length by first-fault loads.
    ldff1b {z0.b}, p0/z, [x20, x21]
    rdffrs p1.b, p0/z
    cmpeq p2.b, p1/z, z0.b, #0
    incp x21, p1.b
    b.eq #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN sve-gather-sum
# class: mix
# shows: Sum of indexed elements.
    ld1d {z1.d}, p0/z, [x20, x23, lsl #3]
    ld1d {z2.d}, p0/z, [x21, z1.d, lsl #3]
    add z0.d, z0.d, z2.d
    incd x23
    whilelo p0.d, x23, x22
    b.first #-20
# LLVM-MCA-END

# LLVM-MCA-BEGIN sve-filter
# class: mix
# shows: Elements above a bound.
    ld1w {z0.s}, p0/z, [x20, x23, lsl #2]
    cmpgt p1.s, p0/z, z0.s, z31.s
    compact z1.s, p1, z0.s
    st1w {z1.s}, p0, [x21]
    cntp x1, p0, p1.s
    add x21, x21, x1, lsl #2
    incw x23
    whilelo p0.s, x23, x22
    b.first #-32
# LLVM-MCA-END

# LLVM-MCA-BEGIN sve-max
# class: mix
# shows: Largest element.
    ld1w {z1.s}, p0/z, [x20, x23, lsl #2]
    smax z0.s, p0/m, z0.s, z1.s
    incw x23
    whilelo p0.s, x23, x22
    b.first #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN sve-memcpy
# class: mix
# shows: Copy by scalable vectors.
    ld1b {z0.b}, p0/z, [x20, x23]
    st1b {z0.b}, p0, [x21, x23]
    incb x23
    whilelo p0.b, x23, x22
    b.first #-16
# LLVM-MCA-END

# LLVM-MCA-BEGIN sve-complex
# class: mix
# shows: Complex multiply-add.
    ld1w {z1.s}, p0/z, [x20, x23, lsl #2]
    ld1w {z2.s}, p0/z, [x21, x23, lsl #2]
    fcmla z0.s, p0/m, z1.s, z2.s, #0
    fcmla z0.s, p0/m, z1.s, z2.s, #90
    incw x23
    whilelo p0.s, x23, x22
    b.first #-24
# LLVM-MCA-END
