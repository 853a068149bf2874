# Cryptography. See README.md for the format.

# LLVM-MCA-BEGIN aese
# class: crypto
# shows: Round of AES without the mix, independent.
.irp r,0,1,2,3,4,5,6,7
    aese v\r\().16b, v20.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN aese-chain
# class: crypto
# shows: Round of AES without the mix, each depends on the previous one.
.rept 4
    aese v0.16b, v20.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN aese-aesmc
# class: crypto
# shows: Rounds of AES of eight blocks: pairs that fuse.
.irp r,0,1,2,3,4,5,6,7
    aese v\r\().16b, v20.16b
    aesmc v\r\().16b, v\r\().16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN aese-aesmc-chain
# class: crypto
# shows: Rounds of AES of one block.
.rept 4
    aese v0.16b, v20.16b
    aesmc v0.16b, v0.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN aesd-aesimc-chain
# class: crypto
# shows: Inverse rounds of one block.
.rept 4
    aesd v0.16b, v20.16b
    aesimc v0.16b, v0.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN aesmc
# class: crypto
# shows: The mix alone, independent.
.irp r,0,1,2,3,4,5,6,7
    aesmc v\r\().16b, v20.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN aesmc-chain
# class: crypto
# shows: The mix alone, each depends on the previous one.
.rept 4
    aesmc v0.16b, v0.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pmull64
# class: crypto
# shows: Polynomial multiply of doublewords, independent.
.irp r,0,1,2,3,4,5,6,7
    pmull v\r\().1q, v20.1d, v21.1d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN pmull64-chain
# class: crypto
# shows: Polynomial multiply of doublewords, each depends on the previous one.
.rept 4
    pmull2 v0.1q, v0.2d, v21.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha1c
# class: crypto
# shows: Rounds of SHA-1, independent.
.irp r,0,1,2,3,4,5,6,7
    sha1c q\r, s20, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha1c-chain
# class: crypto
# shows: Rounds of SHA-1, each depends on the previous one.
.rept 4
    sha1c q0, s20, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha1h
# class: crypto
# shows: Rotation of SHA-1, independent.
.irp r,0,1,2,3,4,5,6,7
    sha1h s\r, s20
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha1h-chain
# class: crypto
# shows: Rotation of SHA-1, each depends on the previous one.
.rept 4
    sha1h s0, s0
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha1su0
# class: crypto
# shows: Schedule of SHA-1, independent.
.irp r,0,1,2,3,4,5,6,7
    sha1su0 v\r\().4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha1su0-chain
# class: crypto
# shows: Schedule of SHA-1, each depends on the previous one.
.rept 4
    sha1su0 v0.4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha256h
# class: crypto
# shows: Rounds of SHA-256, independent.
.irp r,0,1,2,3,4,5,6,7
    sha256h q\r, q20, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha256h-chain
# class: crypto
# shows: Rounds of SHA-256, each depends on the previous one.
.rept 4
    sha256h q0, q20, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha256su1
# class: crypto
# shows: Schedule of SHA-256, independent.
.irp r,0,1,2,3,4,5,6,7
    sha256su1 v\r\().4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha256su1-chain
# class: crypto
# shows: Schedule of SHA-256, each depends on the previous one.
.rept 4
    sha256su1 v0.4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sha512h-chain
# class: crypto
# shows: Rounds of SHA-512.
.rept 4
    sha512h q0, q20, v21.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN eor3
# class: crypto
# shows: Three-way exclusive or, independent.
.irp r,0,1,2,3,4,5,6,7
    eor3 v\r\().16b, v20.16b, v21.16b, v22.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN eor3-chain
# class: crypto
# shows: Three-way exclusive or, each depends on the previous one.
.rept 4
    eor3 v0.16b, v0.16b, v21.16b, v22.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bcax
# class: crypto
# shows: Bit clear and exclusive or, independent.
.irp r,0,1,2,3,4,5,6,7
    bcax v\r\().16b, v20.16b, v21.16b, v22.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN bcax-chain
# class: crypto
# shows: Bit clear and exclusive or, each depends on the previous one.
.rept 4
    bcax v0.16b, v0.16b, v21.16b, v22.16b
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN rax1
# class: crypto
# shows: Rotate and exclusive or.
.irp r,0,1,2,3,4,5,6,7
    rax1 v\r\().2d, v20.2d, v21.2d
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sm3partw1-chain
# class: crypto
# shows: Schedule of SM3.
.rept 4
    sm3partw1 v0.4s, v20.4s, v21.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sm4e-chain
# class: crypto
# shows: Rounds of SM4.
.rept 4
    sm4e v0.4s, v20.4s
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN sve-aese-aesmc
# class: crypto
# shows: Rounds of AES on scalable vectors: a pair that fuses.
    aese z0.b, z0.b, z20.b
    aesmc z0.b, z0.b
    aese z1.b, z1.b, z20.b
    aesmc z1.b, z1.b
    aese z2.b, z2.b, z20.b
    aesmc z2.b, z2.b
    aese z3.b, z3.b, z20.b
    aesmc z3.b, z3.b
# LLVM-MCA-END

# LLVM-MCA-BEGIN sve-eor3-chain
# class: crypto
# shows: Three-way exclusive or on scalable vectors.
.rept 4
    eor3 z0.d, z0.d, z21.d, z22.d
.endr
# LLVM-MCA-END
