// A byte-code interpreter with threaded dispatch: one indirect branch for each byte code. It runs a
// sieve of primes and a recursive Fibonacci function.
#include "start.h"

enum op {
    PUSH, LOAD, STORE, ADD, SUB, MUL, LESS, JUMP, JUMP_IF_NOT, PEEK, POKE, ENTER, ARG, CALL, RETURN, HALT
};

#define LIMIT 6000
#define FIB_OF 16

static u8 memory[LIMIT];
static long stack[256];
static long variables[8];

// Variables: 0 = i, 1 = j, 2 = count.
static const short sieve[] = {
    /* 0*/ PUSH, 2, STORE, 0,
    /* 4*/ LOAD, 0, PUSH, LIMIT, LESS, JUMP_IF_NOT, 58,
    /*11*/ LOAD, 0, PEEK, PUSH, 1, LESS, JUMP_IF_NOT, 49,
    /*19*/ LOAD, 2, PUSH, 1, ADD, STORE, 2,
    /*26*/ LOAD, 0, LOAD, 0, ADD, STORE, 1,
    /*33*/ LOAD, 1, PUSH, LIMIT, LESS, JUMP_IF_NOT, 49,
    /*40*/ LOAD, 1, POKE, LOAD, 1, JUMP, 60, HALT, HALT,
    /*49*/ LOAD, 0, PUSH, 1, ADD, STORE, 0, JUMP, 4,
    /*58*/ HALT, HALT,
    /*60*/ LOAD, 0, ADD, STORE, 1, JUMP, 33,
};

// fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
static const short fibonacci[] = {
    /* 0*/ PUSH, FIB_OF, CALL, 5, HALT,
    /* 5*/ ENTER, ARG, PUSH, 2, LESS, JUMP_IF_NOT, 14,
    /*12*/ ARG, RETURN,
    /*14*/ ARG, PUSH, 1, SUB, CALL, 5,
    /*20*/ ARG, PUSH, 2, SUB, CALL, 5,
    /*26*/ ADD, RETURN,
};

static NOINLINE long interpret(const short *code) {
    static const void *const labels[] = {
        &&push, &&load, &&store, &&add, &&sub, &&mul, &&less, &&jump, &&jump_if_not,
        &&peek, &&poke, &&enter, &&arg, &&call, &&ret, &&halt,
    };
    const short *pc = code;
    long *top = stack, *frame = stack;
#define NEXT goto *labels[*pc++]
    NEXT;
push: *++top = *pc++; NEXT;
load: *++top = variables[*pc++]; NEXT;
store: variables[*pc++] = *top--; NEXT;
add: top--; *top += top[1]; NEXT;
sub: top--; *top -= top[1]; NEXT;
mul: top--; *top *= top[1]; NEXT;
less: top--; *top = *top < top[1]; NEXT;
jump: pc = code + *pc; NEXT;
jump_if_not: pc = *top-- ? pc + 1 : code + *pc; NEXT;
peek: *top = memory[*top]; NEXT;
poke: memory[*top--] = 1; NEXT;
// A frame: the argument, the return address, the caller's frame.
call: top[1] = (long)(pc + 1); top[2] = (long)frame; frame = top; top += 2; pc = code + *pc; NEXT;
enter: NEXT;
arg: *++top = *frame; NEXT;
ret: { long result = *top; top = frame; pc = (const short *)top[1]; frame = (long *)top[2]; *top = result; } NEXT;
halt: return *top;
#undef NEXT
}

void run(void) {
    ROI_BEGIN();
    long primes = (interpret(sieve), variables[2]);
    long fib = 0;
    for (int i = 0; i < 8; i++) fib += interpret(fibonacci);
    ROI_END();
    report("interp", primes == 783 && fib == 8 * 987, (u64)(primes << 32 | fib));
}
