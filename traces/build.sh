#!/bin/sh
# Builds the workloads of traces/src and records them again:
#
#   cargo build --release -p n2sim
#   traces/build.sh [NAME...]        # default: all
#
# Programs and logs go to traces/build, traces to traces/NAME.n2t. Every program checks its own
# result and every count of instructions is compared with traces/counts.tsv; --bless rewrites that.
# N2SIM names another n2sim. Needs qemu-user and gcc-aarch64-linux-gnu (`n2sim doctor` tells).
set -eu
cd "$(dirname "$0")"
n2sim=${N2SIM:-${CARGO_TARGET_DIR:-../target}/release/n2sim}
case $n2sim in /*) ;; *) n2sim=$(pwd)/$n2sim ;; esac
compiler=${CC_AARCH64:-aarch64-linux-gnu-gcc}
all="aes_sha atomics btree chase hash interp lz matrix search sort vector"
bless=no
if [ "${1:-}" = --bless ]; then
    bless=yes
    shift
fi

# Instructions that every N2 has and that the engine's model of the N1 has too. No library and no
# start files: all code in a trace is from traces/src.
flags="-std=gnu11 -O2 -march=armv8.2-a+lse+crypto+fp16+dotprod+rcpc -mtune=neoverse-n2
    -mno-outline-atomics -ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns
    -fno-stack-protector -fno-asynchronous-unwind-tables -fno-pic -no-pie -nostdlib -static
    -Wall -Wextra -Werror -Wl,--build-id=none -Wl,-z,noseparate-code"

mkdir -p build
for name in ${*:-$all}; do
    # The one with SVE runs on another processor, and a second time for what its plugin cannot see.
    arch= cpu=
    if [ "$name" = vector ]; then
        arch="-march=armv8.5-a+sve2 -fno-tree-vectorize"
        cpu=--second-run
    fi
    # shellcheck disable=SC2086
    $compiler $flags $arch -o "build/$name" "src/$name.c"
    # shellcheck disable=SC2086
    (cd build && "$n2sim" capture $cpu --level 19 --recipe "traces/build.sh $name" -o "../$name.n2t" \
        -- "./$name" >"$name.out" 2>"$name.log") || { cat "build/$name.log" >&2; exit 2; }
    grep -q ": ok " "build/$name.out" || { echo "$name: wrong result" >&2; exit 1; }
    # NAME, instructions, accesses, threads, output of the program.
    line=$(sed -n "1s/^.*: \([0-9,]*\) instructions, [0-9,]* blocks, \([0-9,]*\) accesses, \([0-9]*\) thread.*/\1 \2 \3/p" "build/$name.log" | tr -d ,)
    # shellcheck disable=SC2086
    new=$(printf '%s\t%s\t%s\t%s\t%s' "$name" $line "$(cat "build/$name.out")")
    if [ $bless = yes ]; then
        { grep -v "^$name	" counts.tsv 2>/dev/null || true; echo "$new"; } | sort >build/counts.tsv
        cp build/counts.tsv counts.tsv
    elif ! grep -qxF "$new" counts.tsv; then
        echo "$name: recorded '$new', traces/counts.tsv has '$(grep "^$name	" counts.tsv)'" >&2
        echo "(another compiler or engine gives other counts; --bless accepts them)" >&2
        exit 1
    fi
    echo "$new	$(wc -c <"$name.n2t") bytes"
done
