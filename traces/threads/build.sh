#!/bin/sh
# Builds traces/src/sharing.c in six forms and records each with its two threads:
#
#   cargo build --release -p n2sim
#   traces/threads/build.sh
#
# KIND_adjacent.n2t: both counters in one line; KIND_padded.n2t: 128 bytes apart. Programs and logs go to traces/build.
# N2SIM names another n2sim. Needs qemu-user and gcc-aarch64-linux-gnu (`n2sim doctor` tells).
set -eu
cd "$(dirname "$0")/.."
n2sim=${N2SIM:-${CARGO_TARGET_DIR:-../target}/release/n2sim}
case $n2sim in /*) ;; *) n2sim=$(pwd)/$n2sim ;; esac
compiler=${CC_AARCH64:-aarch64-linux-gnu-gcc}
flags="-std=gnu11 -O2 -march=armv8.2-a+lse -mno-outline-atomics -ffreestanding -fno-builtin
    -fno-stack-protector -fno-asynchronous-unwind-tables -fno-pic -no-pie -nostdlib -static
    -Wall -Wextra -Werror -Wl,--build-id=none -Wl,-z,noseparate-code"

mkdir -p build
kind=0
for name in atomic exclusive plain; do
    for place in adjacent:8 padded:128; do
        form=${name}_${place%:*}
        # shellcheck disable=SC2086
        $compiler $flags -DKIND=$kind -DBETWEEN=${place#*:} -o "build/$form" src/sharing.c
        (cd build && "$n2sim" capture --level 19 --recipe "traces/threads/build.sh" \
            -o "../threads/$form.n2t" -- "./$form" >"$form.out" 2>"$form.log") ||
            { cat "build/$form.log" >&2; exit 2; }
        grep -q ": ok " "build/$form.out" || { echo "$form: wrong result" >&2; exit 1; }
        echo "$form	$(wc -c <"threads/$form.n2t") bytes"
    done
    kind=$((kind + 1))
done
