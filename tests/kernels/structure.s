# Structure loads and stores of Advanced SIMD. See README.md for the format.

# LLVM-MCA-BEGIN ld1-1
# class: structure
# shows: Load of one register.
    ld1 {v0.4s}, [x20]
    ld1 {v4.4s}, [x20]
    ld1 {v8.4s}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1-1-post
# class: structure
# shows: The same along one base.
    ld1 {v0.16b}, [x0], #16
    ld1 {v4.16b}, [x0], #16
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1-2
# class: structure
# shows: Load of two registers.
    ld1 {v0.4s, v1.4s}, [x20]
    ld1 {v4.4s, v5.4s}, [x20]
    ld1 {v8.4s, v9.4s}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1-2-post
# class: structure
# shows: The same along one base.
    ld1 {v0.16b, v1.16b}, [x0], #32
    ld1 {v4.16b, v5.16b}, [x0], #32
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1-3
# class: structure
# shows: Load of three registers.
    ld1 {v0.4s, v1.4s, v2.4s}, [x20]
    ld1 {v4.4s, v5.4s, v6.4s}, [x20]
    ld1 {v8.4s, v9.4s, v10.4s}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1-3-post
# class: structure
# shows: The same along one base.
    ld1 {v0.16b, v1.16b, v2.16b}, [x0], #48
    ld1 {v4.16b, v5.16b, v6.16b}, [x0], #48
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1-4
# class: structure
# shows: Load of four registers.
    ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [x20]
    ld1 {v4.4s, v5.4s, v6.4s, v7.4s}, [x20]
    ld1 {v8.4s, v9.4s, v10.4s, v11.4s}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1-4-post
# class: structure
# shows: The same along one base.
    ld1 {v0.16b, v1.16b, v2.16b, v3.16b}, [x0], #64
    ld1 {v4.16b, v5.16b, v6.16b, v7.16b}, [x0], #64
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld2-d
# class: structure
# shows: De-interleaving load of 2 registers of 64 bits.
    ld2 {v0.8b, v1.8b}, [x20]
    ld2 {v4.8b, v5.8b}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld2-q
# class: structure
# shows: De-interleaving load of 2 registers of 128 bits.
    ld2 {v0.4s, v1.4s}, [x20]
    ld2 {v4.4s, v5.4s}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld2-post
# class: structure
# shows: De-interleaving load of 2 registers along one base.
    ld2 {v0.8h, v1.8h}, [x0], #32
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld2-d-post
# class: structure
# shows: De-interleaving load of 2 short registers along one base.
    ld2 {v0.4h, v1.4h}, [x0], x21
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld3-d
# class: structure
# shows: De-interleaving load of 3 registers of 64 bits.
    ld3 {v0.8b, v1.8b, v2.8b}, [x20]
    ld3 {v4.8b, v5.8b, v6.8b}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld3-q
# class: structure
# shows: De-interleaving load of 3 registers of 128 bits.
    ld3 {v0.4s, v1.4s, v2.4s}, [x20]
    ld3 {v4.4s, v5.4s, v6.4s}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld3-post
# class: structure
# shows: De-interleaving load of 3 registers along one base.
    ld3 {v0.8h, v1.8h, v2.8h}, [x0], #48
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld3-d-post
# class: structure
# shows: De-interleaving load of 3 short registers along one base.
    ld3 {v0.4h, v1.4h, v2.4h}, [x0], x21
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld4-d
# class: structure
# shows: De-interleaving load of 4 registers of 64 bits.
    ld4 {v0.8b, v1.8b, v2.8b, v3.8b}, [x20]
    ld4 {v4.8b, v5.8b, v6.8b, v7.8b}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld4-q
# class: structure
# shows: De-interleaving load of 4 registers of 128 bits.
    ld4 {v0.4s, v1.4s, v2.4s, v3.4s}, [x20]
    ld4 {v4.4s, v5.4s, v6.4s, v7.4s}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld4-post
# class: structure
# shows: De-interleaving load of 4 registers along one base.
    ld4 {v0.8h, v1.8h, v2.8h, v3.8h}, [x0], #64
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld4-d-post
# class: structure
# shows: De-interleaving load of 4 short registers along one base.
    ld4 {v0.4h, v1.4h, v2.4h, v3.4h}, [x0], x21
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1-lane
# class: structure
# shows: Load of one element.
    ld1 {v0.s}[1], [x20]
    ld1 {v1.s}[2], [x20]
    ld1 {v2.b}[3], [x20]
    ld1 {v3.d}[1], [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1-lane-post
# class: structure
# shows: Elements along one base.
    ld1 {v0.s}[1], [x0], #4
    ld1 {v1.s}[1], [x0], #4
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1-lane-chain
# class: structure
# shows: Elements of one register.
.rept 4
    ld1 {v0.s}[1], [x20]
.endr
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1r
# class: structure
# shows: One element to all.
    ld1r {v0.4s}, [x20]
    ld1r {v1.8b}, [x20]
    ld1r {v2.2d}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld1r-post
# class: structure
# shows: One element to all along one base.
    ld1r {v0.4s}, [x0], #4
    ld1r {v1.4s}, [x0], #4
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld2-lane
# class: structure
# shows: One element of 2 registers.
    ld2 {v0.s, v1.s}[1], [x20]
    ld2 {v8.s, v9.s}[1], [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld2-lane-post
# class: structure
# shows: One element of 2 registers along one base.
    ld2 {v0.h, v1.h}[1], [x0], #4
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld2r
# class: structure
# shows: One element each to all of 2 registers.
    ld2r {v0.4s, v1.4s}, [x20]
    ld2r {v8.4s, v9.4s}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld2r-d-post
# class: structure
# shows: One element each to 2 short registers along one base.
    ld2r {v0.2s, v1.2s}, [x0], #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld2r-post
# class: structure
# shows: One element each to 2 registers along one base.
    ld2r {v0.4s, v1.4s}, [x0], #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld3-lane
# class: structure
# shows: One element of 3 registers.
    ld3 {v0.s, v1.s, v2.s}[1], [x20]
    ld3 {v8.s, v9.s, v10.s}[1], [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld3-lane-post
# class: structure
# shows: One element of 3 registers along one base.
    ld3 {v0.h, v1.h, v2.h}[1], [x0], #6
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld3r
# class: structure
# shows: One element each to all of 3 registers.
    ld3r {v0.4s, v1.4s, v2.4s}, [x20]
    ld3r {v8.4s, v9.4s, v10.4s}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld3r-d-post
# class: structure
# shows: One element each to 3 short registers along one base.
    ld3r {v0.2s, v1.2s, v2.2s}, [x0], #12
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld3r-post
# class: structure
# shows: One element each to 3 registers along one base.
    ld3r {v0.4s, v1.4s, v2.4s}, [x0], #12
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld4-lane
# class: structure
# shows: One element of 4 registers.
    ld4 {v0.s, v1.s, v2.s, v3.s}[1], [x20]
    ld4 {v8.s, v9.s, v10.s, v11.s}[1], [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld4-lane-post
# class: structure
# shows: One element of 4 registers along one base.
    ld4 {v0.h, v1.h, v2.h, v3.h}[1], [x0], #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld4r
# class: structure
# shows: One element each to all of 4 registers.
    ld4r {v0.4s, v1.4s, v2.4s, v3.4s}, [x20]
    ld4r {v8.4s, v9.4s, v10.4s, v11.4s}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld4r-d-post
# class: structure
# shows: One element each to 4 short registers along one base.
    ld4r {v0.2s, v1.2s, v2.2s, v3.2s}, [x0], #16
# LLVM-MCA-END

# LLVM-MCA-BEGIN ld4r-post
# class: structure
# shows: One element each to 4 registers along one base.
    ld4r {v0.4s, v1.4s, v2.4s, v3.4s}, [x0], #16
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-1-d
# class: structure
# shows: Store of 1 registers of 64 bits.
    st1 {v0.4h}, [x20]
    st1 {v4.4h}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-1-d-post
# class: structure
# shows: Store of 1 registers of 64 bits along one base.
    st1 {v0.4h}, [x0], #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-1-q
# class: structure
# shows: Store of 1 registers of 128 bits.
    st1 {v0.8h}, [x20]
    st1 {v4.8h}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-1-q-post
# class: structure
# shows: Store of 1 registers of 128 bits along one base.
    st1 {v0.8h}, [x0], #16
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-2-d
# class: structure
# shows: Store of 2 registers of 64 bits.
    st1 {v0.4h, v1.4h}, [x20]
    st1 {v4.4h, v5.4h}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-2-d-post
# class: structure
# shows: Store of 2 registers of 64 bits along one base.
    st1 {v0.4h, v1.4h}, [x0], #16
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-2-q
# class: structure
# shows: Store of 2 registers of 128 bits.
    st1 {v0.8h, v1.8h}, [x20]
    st1 {v4.8h, v5.8h}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-2-q-post
# class: structure
# shows: Store of 2 registers of 128 bits along one base.
    st1 {v0.8h, v1.8h}, [x0], #32
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-3-d
# class: structure
# shows: Store of 3 registers of 64 bits.
    st1 {v0.4h, v1.4h, v2.4h}, [x20]
    st1 {v4.4h, v5.4h, v6.4h}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-3-d-post
# class: structure
# shows: Store of 3 registers of 64 bits along one base.
    st1 {v0.4h, v1.4h, v2.4h}, [x0], #24
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-3-q
# class: structure
# shows: Store of 3 registers of 128 bits.
    st1 {v0.8h, v1.8h, v2.8h}, [x20]
    st1 {v4.8h, v5.8h, v6.8h}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-3-q-post
# class: structure
# shows: Store of 3 registers of 128 bits along one base.
    st1 {v0.8h, v1.8h, v2.8h}, [x0], #48
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-4-d
# class: structure
# shows: Store of 4 registers of 64 bits.
    st1 {v0.4h, v1.4h, v2.4h, v3.4h}, [x20]
    st1 {v4.4h, v5.4h, v6.4h, v7.4h}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-4-d-post
# class: structure
# shows: Store of 4 registers of 64 bits along one base.
    st1 {v0.4h, v1.4h, v2.4h, v3.4h}, [x0], #32
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-4-q
# class: structure
# shows: Store of 4 registers of 128 bits.
    st1 {v0.8h, v1.8h, v2.8h, v3.8h}, [x20]
    st1 {v4.8h, v5.8h, v6.8h, v7.8h}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-4-q-post
# class: structure
# shows: Store of 4 registers of 128 bits along one base.
    st1 {v0.8h, v1.8h, v2.8h, v3.8h}, [x0], #64
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-lane
# class: structure
# shows: Store of one element.
    st1 {v0.s}[1], [x20]
    st1 {v1.h}[2], [x20]
    st1 {v2.d}[1], [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st1-lane-post
# class: structure
# shows: Store of elements along one base.
    st1 {v0.b}[1], [x0], #1
    st1 {v0.b}[2], [x0], #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN st2-d
# class: structure
# shows: Interleaving store of 2 registers of 64 bits.
    st2 {v0.8b, v1.8b}, [x20]
    add x1, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN st2-d-post
# class: structure
# shows: Interleaving store of 2 registers of 64 bits along one base.
    st2 {v0.8b, v1.8b}, [x0], #16
# LLVM-MCA-END

# LLVM-MCA-BEGIN st2-q
# class: structure
# shows: Interleaving store of 2 registers of 128 bits.
    st2 {v0.4s, v1.4s}, [x20]
    add x1, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN st2-q-post
# class: structure
# shows: Interleaving store of 2 registers of 128 bits along one base.
    st2 {v0.4s, v1.4s}, [x0], #32
# LLVM-MCA-END

# LLVM-MCA-BEGIN st2-lane
# class: structure
# shows: Store of one element of 2 registers.
    st2 {v0.s, v1.s}[1], [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st2-lane-post
# class: structure
# shows: Store of one element of 2 registers along one base.
    st2 {v0.h, v1.h}[1], [x0], #4
# LLVM-MCA-END

# LLVM-MCA-BEGIN st3-d
# class: structure
# shows: Interleaving store of 3 registers of 64 bits.
    st3 {v0.8b, v1.8b, v2.8b}, [x20]
    add x1, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN st3-d-post
# class: structure
# shows: Interleaving store of 3 registers of 64 bits along one base.
    st3 {v0.8b, v1.8b, v2.8b}, [x0], #24
# LLVM-MCA-END

# LLVM-MCA-BEGIN st3-q
# class: structure
# shows: Interleaving store of 3 registers of 128 bits.
    st3 {v0.4s, v1.4s, v2.4s}, [x20]
    add x1, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN st3-q-post
# class: structure
# shows: Interleaving store of 3 registers of 128 bits along one base.
    st3 {v0.4s, v1.4s, v2.4s}, [x0], #48
# LLVM-MCA-END

# LLVM-MCA-BEGIN st3-lane
# class: structure
# shows: Store of one element of 3 registers.
    st3 {v0.s, v1.s, v2.s}[1], [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st3-lane-post
# class: structure
# shows: Store of one element of 3 registers along one base.
    st3 {v0.h, v1.h, v2.h}[1], [x0], #6
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4-d
# class: structure
# shows: Interleaving store of 4 registers of 64 bits.
    st4 {v0.8b, v1.8b, v2.8b, v3.8b}, [x20]
    add x1, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4-d-post
# class: structure
# shows: Interleaving store of 4 registers of 64 bits along one base.
    st4 {v0.8b, v1.8b, v2.8b, v3.8b}, [x0], #32
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4-q
# class: structure
# shows: Interleaving store of 4 registers of 128 bits.
    st4 {v0.4s, v1.4s, v2.4s, v3.4s}, [x20]
    add x1, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4-q-post
# class: structure
# shows: Interleaving store of 4 registers of 128 bits along one base.
    st4 {v0.4s, v1.4s, v2.4s, v3.4s}, [x0], #64
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4-lane
# class: structure
# shows: Store of one element of 4 registers.
    st4 {v0.s, v1.s, v2.s, v3.s}[1], [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4-lane-post
# class: structure
# shows: Store of one element of 4 registers along one base.
    st4 {v0.h, v1.h, v2.h, v3.h}[1], [x0], #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4-2d
# class: structure
# shows: Interleaving store of four registers of doublewords.
    st4 {v0.2d, v1.2d, v2.2d, v3.2d}, [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4-2d-post
# class: structure
# shows: The same along one base.
    st4 {v0.2d, v1.2d, v2.2d, v3.2d}, [x0], #64
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4-lane-d
# class: structure
# shows: Store of one doubleword of four registers.
    st4 {v0.d, v1.d, v2.d, v3.d}[1], [x20]
# LLVM-MCA-END

# LLVM-MCA-BEGIN st4-lane-d-post
# class: structure
# shows: The same along one base.
    st4 {v0.d, v1.d, v2.d, v3.d}[1], [x0], #32
# LLVM-MCA-END
