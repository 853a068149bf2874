#!/bin/sh
# Records the traces of `cargo xtask silicon`, one small trace for each row of the tables beside this file:
#
#   xtask/silicon/record.sh FOLDER N2SIM <LIST
#
# A line of LIST is the name of a trace and its recipe:
#   NAME crypto ALGORITHM BYTES CALLS      calls of Debian's libcrypto
#   NAME memory OPERATION BYTES THREADS    a loop of memory.c
#   NAME barrier                           the loop of barrier.c
# Existing traces in FOLDER are kept. Downloads Debian's libcrypto for arm64 into FOLDER, with an apt configuration of its own. A
# missing tool (qemu-user, gcc-aarch64-linux-gnu) is installed if the user has the right; else the script prints the command.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?folder}"
work=$(cd "$1" && pwd)
n2sim=${2:?n2sim}
suite=${SUITE:-trixie}
compiler=${CC_AARCH64:-aarch64-linux-gnu-gcc}

# tools PACKAGE...: installs missing packages.
tools() {
    if [ "$(id -u)" = 0 ]; then
        apt-get update -q >&2
        apt-get install -q -y --no-install-recommends "$@" >&2
    else
        echo "record.sh: run \`apt-get install $*\` first" >&2
        exit 2
    fi
}
command -v qemu-aarch64 >/dev/null && command -v "$compiler" >/dev/null && [ -e /usr/aarch64-linux-gnu/include/stdio.h ] ||
    tools qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross

# In a subshell: the package database is for this download alone.
libcrypto() (
    . "$here/../../traces/apt_root.sh"
    apt_root apt arm64 "$suite" >&2
    apt-get install -q -y --download-only libssl3t64 >&2
    mkdir -p "$work/root.part/usr/lib"
    for package in "$work"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$work/root.part"; done
    [ -e "$work/root.part/lib" ] || ln -s usr/lib "$work/root.part/lib"
    mv "$work/root.part" "$work/root"
)
[ -d "$work/root" ] || libcrypto

# Compiler options: own start files and libraries, and the language level of each benchmark's makefile.
bare="-std=gnu11 -march=armv8-a+crc -ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns
    -fno-stack-protector -fno-asynchronous-unwind-tables -fno-pic -no-pie -nostdlib -static
    -Wall -Wextra -Werror -Wl,--build-id=none -I $here/../../traces/src"
cd "$work"
if [ ! -e crypto ]; then
    $compiler -O2 -Wall -Wextra -Werror -o crypto "$here/crypto.c" \
        root/usr/lib/aarch64-linux-gnu/libcrypto.so.3 -Wl,--allow-shlib-undefined
fi

# capture NAME OPTIONS... -- PROGRAM...: the trace gets its final name when it is complete.
capture() {
    name=$1
    shift
    "$n2sim" capture --level 3 -o "$name.part" "$@" >"$name.out" 2>"$name.log" </dev/null || { cat "$name.log" >&2; exit 2; }
    grep -q ": ok" "$name.out" || { echo "$name: wrong result" >&2; exit 1; }
    mv "$name.part" "$name.n2t"
    rm "$name.out" "$name.log"
}

while read -r name kind what size number; do
    [ ! -e "$name.n2t" ] || continue
    case $kind in
    crypto)
        capture "$name" --sysroot root --cpu max,sve=off --from 42 --to 43 -- ./crypto "$what" "$size" "$number"
        ;;
    memory)
        optimization=-O3
        case $what in BW_*) optimization=-O2 ;; esac
        # With two threads the whole run is recorded: a mark that one thread passes would end the recording of both.
        part="--from 42 --to 43"
        [ "$number" = 1 ] || part=
        # shellcheck disable=SC2086
        $compiler $bare $optimization "-DOPERATION=$what" "-DSIZE=${size}ul" "-DTHREADS=$number" -o program "$here/memory.c"
        # shellcheck disable=SC2086
        capture "$name" $part -- ./program
        ;;
    barrier)
        # shellcheck disable=SC2086
        $compiler $bare -O2 -o program "$here/barrier.c"
        capture "$name" --from 42 --to 43 -- ./program
        ;;
    esac
done
