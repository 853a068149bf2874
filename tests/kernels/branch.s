# Branches; all are predicted and, where conditional, not taken. See README.md for the format.

# LLVM-MCA-BEGIN b-cond
# class: branch
# shows: Conditional branches among additions.
    cmp x20, #1
    add x0, x20, #1
    add x1, x20, #1
    b.eq #16
    add x2, x20, #2
    adds x3, x20, #2
    add x4, x20, #3
    b.lt #16
# LLVM-MCA-END

# LLVM-MCA-BEGIN cbz
# class: branch
# shows: Compare-and-branch, two a cycle.
    cbz x20, #8
    cbnz w21, #8
    cbz x22, #8
    cbnz x23, #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN tbz
# class: branch
# shows: Test-and-branch, two a cycle.
    tbz x20, #3, #8
    tbnz w21, #5, #8
    tbz x22, #40, #8
    tbnz x23, #0, #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN cbz-alu
# class: branch
# shows: Branches do not take integer pipes.
    cbz x20, #8
    add x0, x20, #1
    add x1, x20, #1
    add x2, x20, #1
    add x3, x20, #1
    tbz x20, #1, #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN cbz-chain
# class: branch
# shows: A chain of additions beside branches on it.
    add x0, x0, #1
    cbz x0, #8
    add x0, x0, #1
    cbz x0, #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN b-next
# class: branch
# shows: Unconditional branches.
    b #4
    add x0, x20, #1
    add x1, x20, #1
    add x2, x20, #1
    add x3, x20, #1
    add x4, x20, #1
    add x5, x20, #1
    add x6, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN bl-next
# class: branch
# shows: Branch with link: a second micro-operation writes the link.
    bl #4
    add x0, x20, #1
    add x1, x20, #1
    add x2, x20, #1
    add x3, x20, #1
    add x4, x20, #1
    add x5, x20, #1
    add x6, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN br
# class: branch
# shows: Indirect branch to the next instruction.
    br x20
    add x0, x20, #1
    add x1, x20, #1
    add x2, x20, #1
    add x3, x20, #1
    add x4, x20, #1
    add x5, x20, #1
    add x6, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN blr
# class: branch
# shows: Indirect call to the next instruction.
    blr x20
    add x0, x20, #1
    add x1, x20, #1
    add x2, x20, #1
    add x3, x20, #1
    add x4, x20, #1
    add x5, x20, #1
    add x6, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN call-return
# class: branch
# shows: A call, its body of two additions, the return.
    bl #12
    add x2, x20, #1
    b #16
    add x0, x20, #1
    add x1, x20, #1
    ret
# LLVM-MCA-END

# LLVM-MCA-BEGIN braa
# class: branch
# shows: Authenticated branch: the multiply pipe comes first.
    braa x20, x21
    add x0, x20, #1
    add x1, x20, #1
    add x2, x20, #1
    add x3, x20, #1
    add x4, x20, #1
    add x5, x20, #1
    add x6, x20, #1
# LLVM-MCA-END

# LLVM-MCA-BEGIN cmp-bcond
# class: branch
# shows: Compare and branch, a pair that fuses.
    cmp x20, #0
    b.eq #8
    cmp x21, #1
    b.eq #8
    cmp x22, #2
    b.eq #8
    cmp x23, #3
    b.eq #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN tst-bcond
# class: branch
# shows: Test and branch, a pair that fuses.
    tst x20, #1
    b.ne #8
    tst x21, #2
    b.ne #8
    tst x22, #4
    b.ne #8
    tst x23, #8
    b.ne #8
# LLVM-MCA-END

# LLVM-MCA-BEGIN cmp-bcond-alu
# class: branch
# shows: Fused pairs beside additions.
    cmp x20, #1
    b.eq #8
    add x0, x20, #1
    add x1, x20, #2
    add x2, x20, #3
    cmp x21, #1
    b.eq #8
    add x3, x20, #4
# LLVM-MCA-END
