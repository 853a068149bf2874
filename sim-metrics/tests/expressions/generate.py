#!/usr/bin/env python3
"""Writes expected.tsv: expressions with the values that another implementation gives them.

The other implementation is Python's own parser. `<` and `>` become `<<` and `>>`, which bind in Python
as the comparisons do in perf's grammar; numbers and events become objects whose operators follow the
rules of perf for zero and for values that are not known. What Python refuses is an error here too.

    python3 generate.py > expected.tsv

Columns: revision (0 or 3), expression, value (a double, `nan`, or `error`).
"""

import math
import random
import re

EVENTS = {
    "CPU_CYCLES": 1000003.0,
    "INST_RETIRED": 1700011.0,
    "INST_SPEC": 1900999.0,
    "OP_RETIRED": 1800017.0,
    "OP_SPEC": 2100013.0,
    "STALL_SLOT": 2900002.0,
    "STALL_SLOT_FRONTEND": 900001.0,
    "STALL_SLOT_BACKEND": 2000001.0,
    "BR_MIS_PRED": 9001.0,
    "BR_RETIRED": 200003.0,
    "LD_SPEC": 500009.0,
    "ST_SPEC": 0.0,
    "L1D_CACHE": 700001.0,
    "L1D_CACHE_REFILL": 3001.0,
    "LL_CACHE_RD": 0.0,
    "LL_CACHE_MISS_RD": 0.0,
    # known to the core and not counted
    "DTLB_WALK": math.nan,
    "L1I_CACHE": math.nan,
}
LITERALS = {"slots": 5.0, "smt_on": 0.0, "num_cpus": 2.0, "num_cores": 2.0, "num_cpus_online": 2.0,
            "num_dies": 1.0, "num_packages": 1.0, "core_wide": 1.0, "has_pmem": 0.0, "target_cpu": 0.0,
            "system_tsc_freq": 0.0}
FUNCTIONS = {"min", "max", "d_ratio", "strcmp_cpuid_str", "has_event", "source_count", "if", "else"}


class Failure(Exception):
    """The whole metric fails."""


class V:
    """A value of an expression."""

    def __init__(self, x):
        self.x = float(x)

    def both(self, other, f):
        if not isinstance(other, V):
            raise TypeError("no value")
        a, b = self.x, other.x
        return V(math.nan) if math.isnan(a) or math.isnan(b) else V(f(a, b))

    def __add__(self, o): return self.both(o, lambda a, b: a + b)
    def __sub__(self, o): return self.both(o, lambda a, b: a - b)
    def __mul__(self, o): return self.both(o, lambda a, b: a * b)
    def __lshift__(self, o): return self.both(o, lambda a, b: a < b)
    def __rshift__(self, o): return self.both(o, lambda a, b: a > b)
    def __neg__(self): return V(-self.x)
    def __bool__(self): return self.x != 0.0

    def __eq__(self, o):
        raise TypeError("no comparison for equality")

    def __truediv__(self, o):
        return V(math.nan) if o.x == 0.0 else self.both(o, lambda a, b: a / b)

    def __mod__(self, o):
        if o.x == 0.0:
            raise Failure
        return self.both(o, lambda a, b: math.fmod(math.trunc(a), math.trunc(b)))

    def __or__(self, o):
        if math.isfinite(self.x) and math.isfinite(o.x):
            return V(self.x != 0.0 or o.x != 0.0)
        for known, other in ((self, o), (o, self)):
            if math.isfinite(known.x):
                return other if known.x == 0.0 else V(1)
        return V(math.nan)

    def __and__(self, o):
        if math.isfinite(self.x) and math.isfinite(o.x):
            return V(self.x != 0.0 and o.x != 0.0)
        for known, other in ((self, o), (o, self)):
            if math.isfinite(known.x):
                return other if known.x != 0.0 else V(0)
        return V(math.nan)

    def __xor__(self, o):
        if math.isfinite(self.x) and math.isfinite(o.x):
            return V((self.x == 0.0) != (o.x == 0.0))
        return V(math.nan)


TOKEN = re.compile(r"\s+|#[A-Za-z_0-9]+|0x[0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e-?[0-9]+)?"
                   r"|[A-Za-z_][A-Za-z_0-9]*|.")


def python_of(expression, names):
    out = []
    for token in TOKEN.findall(expression):
        if token.startswith("#"):
            if token[1:] not in LITERALS:
                raise SyntaxError(token)
            out.append(f"V({LITERALS[token[1:]]!r})")
        elif token.startswith("0x"):
            out.append(f"'{token}'")
        elif token[0].isdigit() or (token[0] == "." and len(token) > 1):
            out.append(f"V({token})")
        elif token == "NaN":
            out.append("V(math.nan)")
        elif token in FUNCTIONS:
            out.append(token + "_" if token in ("min", "max") else token)
        elif token[0].isalpha() or token[0] == "_":
            names.append(token)
            out.append(f"N({token!r})")
        elif token == "<":
            out.append("<<")
        elif token == ">":
            out.append(">>")
        elif token.isspace() or token in "|^&+-*/%(),":
            out.append(token)
        else:
            raise SyntaxError(token)
    # Two signs without a blank between them would be one operator of Python.
    return " ".join(token.strip() for token in out if not token.isspace())


def value_of(expression, patch):
    midr = 0x410FD490 + patch

    def strcmp_cpuid_str(text):
        asked = int(text, 16)
        fields = ~0x00F0000F
        if asked & fields != midr & fields:
            return V(0)
        version = lambda m: (m >> 20 & 15, m & 15)
        return V(version(midr) >= version(asked))

    def d_ratio(a, b):
        return V(0) if b.x == 0.0 else a.both(b, lambda a, b: a / b)

    space = {
        "V": V, "math": math, "strcmp_cpuid_str": strcmp_cpuid_str, "d_ratio": d_ratio,
        "N": lambda name: V(EVENTS.get(name, math.nan)),
        "min_": lambda a, b: a if a.x < b.x else b,
        "max_": lambda a, b: a if a.x > b.x else b,
        "has_event": lambda v: V(1), "source_count": lambda v: V(1),
        "__builtins__": {},
    }
    try:
        result = eval(python_of(expression, []), space)  # the text is our own
    except Failure:
        return "nan"
    except (SyntaxError, TypeError, AttributeError):
        return "error"
    if not isinstance(result, V):
        return "error"
    return "nan" if math.isnan(result.x) else repr(result.x)


WRITTEN = """
1
42.5
.5
5.
1e3
2.5e-3
1e-6 * 1e6
NaN
NaN + 1
0 * NaN
CPU_CYCLES
cpu_cycles_that_nobody_knows
-CPU_CYCLES
- -CPU_CYCLES
--5
-2 * 3
-2 + 3
2 - -3
2 - - - 3
2 * -3
-7 % 3
7 % -3
7.9 % 2.9
7 % 0
1 + 7 % 0
INST_RETIRED / CPU_CYCLES
INST_RETIRED / CPU_CYCLES * 1000
INST_RETIRED / (CPU_CYCLES * 1000)
1 / 3 * 3
1 - 2 - 3
1 - (2 - 3)
2 * 3 + 4
2 + 3 * 4
8 / 4 / 2
8 / (4 / 2)
8 / 4 * 2
100 % 7 * 2
2 * 100 % 7
1 / 0
0 / 0
1 / 0 * 0
1 / (1 - 1)
LL_CACHE_MISS_RD / LL_CACHE_RD
d_ratio(LL_CACHE_MISS_RD, LL_CACHE_RD)
d_ratio(1, 4)
d_ratio(1, 0) + 1
d_ratio(NaN, 0)
d_ratio(0, NaN)
d_ratio(1 + 1, 2 * 2)
min(1, 2)
max(1, 2)
min(CPU_CYCLES, INST_RETIRED)
max(min(3, 4), min(5, 6))
min(NaN, 3)
min(3, NaN)
max(NaN, 3)
max(3, NaN)
min(-1, 1) * max(-1, 1)
1 < 2
2 < 1
1 > 2
2 > 1
1 < 1
1 > 1
NaN < 1
1 > NaN
1 + 1 < 3
1 < 2 + 3
3 > 2 > 1
1 < 2 < 3
0 | 0
0 | 3
0.5 | 0
1 | NaN
0 | NaN
NaN | 0
NaN | 1
NaN | NaN
1 & 1
2 & 0.5
1 & 0
0 & NaN
NaN & 0
1 & NaN
NaN & 1
NaN & NaN
1 ^ 1
1 ^ 0
0 ^ 0
5 ^ 0.1
NaN ^ 1
0 ^ NaN
1 | 0 & 0
(1 | 0) & 0
1 ^ 1 | 1
1 | 1 ^ 1
1 & 0 ^ 1
1 ^ 1 & 0
0 < 1 & 1
1 & 1 < 0
1 + 1 & 0
2 if 1 else 3
2 if 0 else 3
2 if NaN else 3
2 if 0.1 else 3
NaN if 0 else 3
2 if 1 else NaN
2 if 0 else 3 if 0 else 4
2 if 0 else 3 if 1 else 4
2 if 1 else 3 if 1 else 4
1 + 2 if 1 else 3 + 4
1 + 2 if 0 else 3 + 4
1 + (2 if 0 else 3) + 4
(1 if 1 else 2) * (3 if 0 else 4)
2 if 1 > 2 else 3
2 if 1 | 0 else 3
2 if 0 ^ 0 | 1 & 0 else 3
2 if CPU_CYCLES > INST_RETIRED else 3
((((((1))))))
(1)
( 1 + 2 ) * 3
1+2*3-4/5
  CPU_CYCLES   / 2
#slots
#slots * CPU_CYCLES
#smt_on
#num_cpus
#num_cpus_online + #num_cores
#num_dies
#num_packages
#core_wide
#target_cpu | #has_pmem
2 if #smt_on else 3
1 / #system_tsc_freq
strcmp_cpuid_str(0x410fd493)
strcmp_cpuid_str(0x410fd490)
strcmp_cpuid_str(0x410fd491)
strcmp_cpuid_str(0x411fd490)
strcmp_cpuid_str(0x410fd0c0)
strcmp_cpuid_str(0x410FD493) | strcmp_cpuid_str(0x410fd490) ^ 1
has_event(CPU_CYCLES)
source_count(CPU_CYCLES)
1 - OP_RETIRED / OP_SPEC
100 * (OP_RETIRED / OP_SPEC * (1 - STALL_SLOT / (CPU_CYCLES * #slots)))
100 * (STALL_SLOT_BACKEND / (CPU_CYCLES * 5) - BR_MIS_PRED * 3 / CPU_CYCLES)
100 * ((1 - OP_RETIRED / OP_SPEC) * (1 - STALL_SLOT / (5 * CPU_CYCLES)) + BR_MIS_PRED * 4 / CPU_CYCLES)
(100 * (((STALL_SLOT_FRONTEND) if (strcmp_cpuid_str(0x410fd493) | strcmp_cpuid_str(0x410fd490) ^ 1) else (STALL_SLOT_FRONTEND - CPU_CYCLES)) / (CPU_CYCLES * #slots)))
STALL_SLOT if strcmp_cpuid_str(0x410fd493) else STALL_SLOT - CPU_CYCLES
(LD_SPEC + ST_SPEC) / INST_SPEC * 100
ST_SPEC / LD_SPEC
LD_SPEC / ST_SPEC
DTLB_WALK / L1D_CACHE
L1D_CACHE / DTLB_WALK
d_ratio(DTLB_WALK, L1D_CACHE)
L1D_CACHE_REFILL / L1D_CACHE if L1D_CACHE > 0 else 0
LL_CACHE_MISS_RD / LL_CACHE_RD if LL_CACHE_RD > 0 else 0
1e308 * 10
1e308 * 10 - 1e308 * 10
-1e308 * 10 | 0
0.1 + 0.2
1e-320 / 1e10
9007199254740993
a if b else c
minimum + maximum
iffy * 0
elsewhere | 1
"""

WRONG = """

+1
1 +
1 + + 2
* 2
/ 2
(1
1)
()
(1 + )
1 2
CPU_CYCLES INST_RETIRED
1 == 1
1 = 1
1 != 2
1 <= 2
1 >= 2
1 && 1
1 || 1
2 ** 3
7 // 2
!1
~1
1 ? 2
min(1)
min(1, 2, 3)
min 1, 2
min()
max(1 2)
max(, 2)
d_ratio(1)
d_ratio
if 1 else 2
1 if 2
1 else 2
1 if 2 else
1 if else 2
1 if 2 if 3 else 4 else 5
#
#slot
#slots #slots
strcmp_cpuid_str()
strcmp_cpuid_str(1 + 1)
has_event()
1,2
,
[1]
{1}
'1'
1;2
$CPU_CYCLES
"""


def random_expression(rng, depth):
    """An expression with as few parentheses as the grammar allows, and some that it does not need."""
    if depth == 0 or rng.random() < 0.1:
        leaf = rng.random()
        if leaf < 0.45:
            return rng.choice(sorted(EVENTS))
        if leaf < 0.85:
            return rng.choice(["0", "1", "2", "3", "5", "64", "100", "1000", "0.5", "1e-3", "2.75"])
        return rng.choice(["#slots", "#num_cpus", "NaN", "strcmp_cpuid_str(0x410fd493)"])
    sub = lambda: random_expression(rng, depth - 1)
    kind = rng.random()
    if kind < 0.62:
        return f"{sub()} {rng.choice('+-*/|^&<>+-*/')} {sub()}"
    if kind < 0.74:
        return f"({sub()})"
    if kind < 0.80:
        return f"-({sub()})"
    if kind < 0.92:
        return f"{rng.choice(['min', 'max', 'd_ratio'])}({sub()}, {sub()})"
    return f"({sub()} if {sub()} else {sub()})"


def main():
    rng = random.Random(2)
    expressions = [line for line in WRITTEN.strip("\n").split("\n")]
    while len(expressions) < 360:
        expression = random_expression(rng, rng.choice([2, 3, 3, 4, 5]))
        if expression not in expressions and len(expression) < 300:
            expressions.append(expression)
    for expression in expressions:
        values = [value_of(expression, patch) for patch in (0, 3)]
        assert "error" not in values, expression
        if values[0] == values[1]:
            print(f"*\t{expression.strip()}\t{values[0]}")
        else:
            for patch, value in zip((0, 3), values):
                print(f"{patch}\t{expression.strip()}\t{value}")
    for expression in WRONG.strip("\n").split("\n") + [""]:
        assert value_of(expression, 0) == "error", expression
        print(f"*\t{expression}\terror")


if __name__ == "__main__":
    main()
