// What needs a kernel: pages on demand, a file, a pipe between two processes; and some work between, so
// that the timer interrupts it. Recorded with the kernel (traces/system.sh).
#include "start.h"

#define SYS_CLOSE 57
#define SYS_FTRUNCATE 46
#define SYS_GETPID 172
#define SYS_MMAP 222
#define SYS_MUNMAP 215
#define SYS_OPENAT 56
#define SYS_PIPE2 59
#define SYS_PREAD 67
#define SYS_PWRITE 68
#define SYS_READ 63
#define SYS_UNLINKAT 35
#define SYS_WAIT4 260

#define AT_FDCWD (-100)
#define O_RDWR_CREAT 0102
#define SIGCHLD 17
#define PAGES 256u
#define PAGE 4096u
#define BLOCKS 48u
#define TURNS 60u

static u8 block[PAGE];

static inline long call(long n, long a, long b, long c, long d) {
    return syscall6(n, a, b, c, d, 0, 0);
}

// Each first touch of a page is a fault.
static NOINLINE u64 pages(void) {
    // Readable and writable; private, of no file.
    u8 *at = (u8 *)syscall6(SYS_MMAP, 0, PAGES * PAGE, 3, 0x22, -1, 0);
    u64 state = 5, sum = 0;
    for (u32 i = 0; i < PAGES; i++) *(volatile u64 *)(at + i * PAGE + 8 * (next_random(&state) % 512)) = i;
    for (u32 i = 0; i < PAGES * PAGE; i += 64) sum += *(u64 *)(at + i) * (i + 1);
    call(SYS_MUNMAP, (long)at, PAGES * PAGE, 0, 0);
    return sum;
}

// Blocks written in order and read in disorder.
static NOINLINE u64 file(void) {
    long fd = call(SYS_OPENAT, AT_FDCWD, (long)"/tmp/blocks", O_RDWR_CREAT, 0600);
    u64 state = 7, sum = 0;
    for (u32 i = 0; i < BLOCKS; i++) {
        for (u32 k = 0; k < PAGE; k += 8) *(u64 *)(block + k) = next_random(&state);
        if (call(SYS_PWRITE, fd, (long)block, PAGE, i * PAGE) != PAGE) return 0;
    }
    for (u32 i = 0; i < 4 * BLOCKS; i++) {
        u64 at = next_random(&state) % BLOCKS;
        if (call(SYS_PREAD, fd, (long)block, PAGE / 4, (long)(at * PAGE)) != PAGE / 4) return 0;
        sum = sum * 31 + *(u64 *)block;
    }
    call(SYS_CLOSE, fd, 0, 0, 0);
    call(SYS_UNLINKAT, AT_FDCWD, (long)"/tmp/blocks", 0, 0);
    return sum;
}

// Two processes send a number back and forth, each adding to it.
static NOINLINE u64 talk(void) {
    int there[2], back[2];
    u64 value = 1;
    call(SYS_PIPE2, (long)there, 0, 0, 0);
    call(SYS_PIPE2, (long)back, 0, 0, 0);
    long child = syscall6(SYS_CLONE, SIGCHLD, 0, 0, 0, 0, 0);
    int in = child ? back[0] : there[0], out = child ? there[1] : back[1];
    for (u32 i = 0; i < TURNS; i++) {
        if (child || i > 0) call(SYS_WRITE, out, (long)&value, 8, 0);
        call(SYS_READ, in, (long)&value, 8, 0);
        value = value * 3 + (child ? 1 : 2);
    }
    if (!child) {
        call(SYS_WRITE, out, (long)&value, 8, 0);
        finish(0);
    }
    call(SYS_WAIT4, child, 0, 0, 0);
    return value;
}

static NOINLINE u64 work(u64 seed) {
    static u32 table[2048];
    u64 state = seed, sum = 0;
    for (u32 i = 0; i < 100000; i++) {
        u64 r = next_random(&state);
        u32 *at = &table[i % 8 ? i % 2048 : r % 2048];
        *at += (u32)(r >> 32);
        if (*at & 1) sum += *at;
    }
    return sum;
}

void run(void) {
    ROI_BEGIN();
    u64 sum = work(1);
    sum = sum * 31 + pages();
    sum = sum * 31 + work(2);
    sum = sum * 31 + file();
    sum = sum * 31 + talk();
    ROI_END();
    report("system", sum == 0x7000fdc3eb0eba8cu, sum);
}
