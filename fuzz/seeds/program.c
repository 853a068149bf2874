/* The program of the seeds and of the target program_file:
   aarch64-linux-gnu-gcc -g -O1 -nostdlib -static -Wl,--build-id=none,-z,max-page-size=4096 \
       -ffile-prefix-map=$PWD=. -o program_file/with-lines program.c
   aarch64-linux-gnu-strip -o program_file/stripped program_file/with-lines */
static inline int twice(int x) { return x + x; }
__attribute__((noinline)) int sum(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += twice(i) ^ s;
    return s;
}
void _start(void) {
    register long code asm("x0") = sum(5) & 1;
    register long number asm("x8") = 93;
    asm volatile("svc 0" : : "r"(code), "r"(number));
}
