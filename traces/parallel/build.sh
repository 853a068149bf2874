#!/bin/sh
# Builds the programs with eight threads and records each again:
#
#   cargo build --release -p n2sim
#   traces/parallel/build.sh [NAME...]        # default: all
#
# NAME.n2t is the recording and NAME.elf the recorded program, with its debug information: `--elf
# NAME.elf` adds the names of variables and the source lines. readers_adjacent and readers_padded
# are one source (src/readers.c). A recording depends on how the host schedules the threads, so each
# time has somewhat different counts, which are written to counts.tsv.
# Results and logs go to traces/build. N2SIM names another n2sim. Needs qemu-user and
# gcc-aarch64-linux-gnu (`n2sim doctor` tells).
set -eu
cd "$(dirname "$0")/.."
n2sim=${N2SIM:-${CARGO_TARGET_DIR:-../target}/release/n2sim}
case $n2sim in /*) ;; *) n2sim=$(pwd)/$n2sim ;; esac
compiler=${CC_AARCH64:-aarch64-linux-gnu-gcc}
traces=$(pwd)
# Source names are relative to the repository, so that a program is the same wherever it is built.
flags="-std=gnu11 -O2 -g -march=armv8.2-a+lse -mno-outline-atomics -ffreestanding -fno-builtin
    -fno-stack-protector -fno-asynchronous-unwind-tables -fno-pic -no-pie -nostdlib -static
    -Wall -Wextra -Werror -Wl,--build-id=sha1 -Wl,-z,noseparate-code -ffile-prefix-map=$traces=traces"

# A trace has the whole path of its program: that is the same on every machine, too.
place=/tmp/n2sim-traces
mkdir -p build "$place"
for name in ${*:-queue readers_adjacent readers_padded samplesort}; do
    case $name in
    readers_adjacent) source=readers more=-DAPART=4 ;;
    readers_padded) source=readers more=-DAPART=128 ;;
    *) source=$name more= ;;
    esac
    # shellcheck disable=SC2086
    $compiler $flags $more -o "parallel/$name.elf" "src/$source.c"
    cp "parallel/$name.elf" "$place/$name"
    (cd "$place" && "$n2sim" capture --level 19 --recipe "traces/parallel/build.sh $name" \
        -o "$traces/parallel/$name.n2t" -- "./$name" >"$traces/build/$name.out" 2>"$traces/build/$name.log") ||
        { cat "build/$name.log" >&2; exit 2; }
    grep -q ": ok " "build/$name.out" || { echo "$name: wrong result" >&2; exit 1; }
    # NAME, instructions, accesses, threads, output of the program.
    line=$(sed -n "1s/^.*: \([0-9,]*\) instructions, [0-9,]* blocks, \([0-9,]*\) accesses, \([0-9]*\) thread.*/\1 \2 \3/p" "build/$name.log" | tr -d ,)
    # shellcheck disable=SC2086
    new=$(printf '%s\t%s\t%s\t%s\t%s' "$name" $line "$(cat "build/$name.out")")
    { grep -v "^$name	" parallel/counts.tsv 2>/dev/null || true; echo "$new"; } | sort >build/counts.tsv
    cp build/counts.tsv parallel/counts.tsv
    echo "$new	$(wc -c <"parallel/$name.n2t") bytes"
done
rm -r "$place"
