#!/bin/sh
# Records traces/src/system.c together with Debian's arm64 kernel under it:
#
#   cargo build --release -p n2sim
#   traces/system.sh FOLDER [--bless]
#
# Downloads the kernel into FOLDER with an apt configuration of its own: no root rights, no foreign
# architecture on this system, no change to its packages. Where no qemu-system-aarch64 is in PATH
# (ENGINE names another), the one of Debian's backports is unpacked into FOLDER too. Needs apt,
# dpkg-deb and gcc-aarch64-linux-gnu. The count of instructions is compared with traces/counts.tsv;
# another kernel, compiler or engine gives another one, which --bless accepts.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?folder}"
work=$(cd "$1" && pwd)
bless=${2:-}
suite=${SUITE:-bookworm}
n2sim=${N2SIM:-${CARGO_TARGET_DIR:-$here/../target}/release/n2sim}
compiler=${CC_AARCH64:-aarch64-linux-gnu-gcc}

. "$here/apt_root.sh"

if [ ! -e "$work/vmlinuz" ]; then
    apt_root kernel arm64 "$suite"
    package=$(apt-cache depends linux-image-arm64 | sed -n 's/.*Depends: \(linux-image-[^ ]*\)/\1/p' | head -n 1)
    (cd "$apt/cache" && apt-get download -q "$package")
    # The modules stay in the package: what is recorded needs none.
    for file in "$apt"/cache/linux-image-*.deb; do
        dpkg-deb --fsys-tarfile "$file" | tar -x -C "$apt/root" --wildcards './boot/vmlinuz-*'
    done
    cp "$apt"/root/boot/vmlinuz-* "$work/vmlinuz"
fi

engine=${ENGINE:-$(command -v qemu-system-aarch64 || true)}
if [ -z "$engine" ]; then
    engine=$work/qemu-system-aarch64
    if [ ! -e "$engine" ]; then
        apt_root engine "$(dpkg --print-architecture)" "$suite" "$suite-backports"
        from=$suite-backports
        apt-get install -q -y --download-only \
            "qemu-system-arm/$from" "qemu-system-common/$from" "qemu-system-data/$from"
        for file in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$file" "$apt/root"; done
        triplet=$(basename "$(dirname "$(find "$apt/root" -name 'libfdt.so.1' | head -n 1)")")
        cat >"$engine" <<RUN
#!/bin/sh
export LD_LIBRARY_PATH=$apt/root/usr/lib/$triplet:$apt/root/lib/$triplet
exec $apt/root/usr/bin/qemu-system-aarch64 -L $apt/root/usr/share/qemu "\$@"
RUN
        chmod +x "$engine"
    fi
fi

# shellcheck disable=SC2086
$compiler -std=gnu11 -O2 -march=armv8.2-a+lse -mtune=neoverse-n2 -ffreestanding -fno-builtin \
    -fno-tree-loop-distribute-patterns -fno-stack-protector -fno-asynchronous-unwind-tables -fno-pic -no-pie \
    -nostdlib -static -Wall -Wextra -Werror -Wl,--build-id=none -Wl,-z,noseparate-code \
    -o "$work/system" "$here/src/system.c"
cd "$work"
"$n2sim" capture --system --kernel vmlinuz --engine "$engine" --level 19 --recipe "traces/system.sh" \
    ${KERNEL_SYMBOLS:+--kernel-symbols "$KERNEL_SYMBOLS"} -o system.n2t -- ./system >system.out 2>system.log || { cat system.log >&2; exit 2; }
cat system.log
grep -q ": ok " system.out || { echo "system: wrong result" >&2; exit 1; }
line=$(sed -n '1s/^.*: \([0-9,]*\) instructions, [0-9,]* blocks, \([0-9,]*\) accesses,.*/\1 \2 1/p' system.log | tr -d ,)
# shellcheck disable=SC2086
new=$(printf '%s\t%s\t%s\t%s\t%s' system $line "$(cat system.out)")
if [ "$bless" = --bless ]; then
    { grep -v '^system	' "$here/counts.tsv"; echo "$new"; } | sort >counts.tsv
    cp counts.tsv "$here/counts.tsv"
elif ! grep -qxF "$new" "$here/counts.tsv"; then
    echo "system: recorded '$new', traces/counts.tsv has '$(grep '^system	' "$here/counts.tsv")'" >&2
    echo "(another kernel, compiler or engine gives other counts; --bless accepts them)" >&2
    exit 1
fi
cp system.n2t "$here/system.n2t"
echo "$new	$(wc -c <system.n2t) bytes"
