// The header of a Linux image, at its start: the image goes on at `begin` and ends at `end`
// (Linux, Documentation/arch/arm64/booting.rst, section 4).

    .text
    .global _start
_start:
    b       begin
    .word   0
    .quad   0                   // distance from 2 MiB
    .quad   end - _start
    .quad   2                   // little-endian, 4 KiB pages
    .quad   0, 0, 0
    .ascii  "ARM\x64"
    .word   0
