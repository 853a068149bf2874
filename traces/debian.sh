#!/bin/sh
# Records gzip and sqlite3 of Debian's arm64 archive, each twice, and compares the counts:
#
#   traces/debian.sh FOLDER
#
# Downloads into FOLDER with an apt configuration of its own: no root rights, no foreign
# architecture on this system, no change to its packages. Needs apt, dpkg-deb and what
# traces/build.sh needs. Traces and logs stay in FOLDER.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?folder}"
work=$(cd "$1" && pwd)
suite=${SUITE:-bookworm}
# The mirror that this system's own apt uses.
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)}
n2sim=${N2SIM:-${CARGO_TARGET_DIR:-$here/../target}/release/n2sim}
packages="gzip sqlite3 libc6 libtinfo6"

if [ ! -x "$work/root/usr/bin/sqlite3" ]; then
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/apt/etc" "$work/root"
    : >"$work/apt/status"
    echo "deb [signed-by=${KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}] $mirror $suite main" >"$work/apt/sources.list"
    cat >"$work/apt/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::State "$work/apt";
Dir::State::status "$work/apt/status";
Dir::State::lists "$work/apt/lists";
Dir::Cache "$work/apt/cache";
Dir::Etc::sourcelist "$work/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::main "-";
CONF
    export APT_CONFIG="$work/apt/apt.conf"
    apt-get update -q
    # shellcheck disable=SC2086
    apt-get install -q -y --download-only $packages
    for package in "$work"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$work/root"; done
fi

# Input without any file of this system: numbers, which compress like text, and a small database.
seq 1 60000 >"$work/numbers.txt"
cat >"$work/work.sql" <<'SQL'
create table a(id integer primary key, k integer, name text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 8000)
insert into a select i, (i * 7919) % 10007, 'name' || i from n;
create index a_k on a(k);
create table b as select k % 997 as g, count(*) as c, max(name) as m from a group by g;
select count(*), sum(c), sum(x.id) from a x join b on b.g = x.k % 997 where x.k between 100 and 9000;
SQL

record() {
    name=$1
    shift
    for run in 1 2; do
        "$n2sim" capture --sysroot "$work/root" --level 1 -o "$work/$name-$run.n2t" -- "$@" \
            <"$input" >"$work/$name-$run.out" 2>"$work/$name-$run.log" ||
            { cat "$work/$name-$run.log" >&2; exit 2; }
        cat "$work/$name-$run.log"
    done
    first=$(sed -n '1s/.*: \([0-9,]*\) instructions.*/\1/p' "$work/$name-1.log")
    second=$(sed -n '1s/.*: \([0-9,]*\) instructions.*/\1/p' "$work/$name-2.log")
    [ "$first" = "$second" ] || { echo "$name: $first and $second instructions" >&2; exit 1; }
    cmp "$work/$name-1.out" "$work/$name-2.out"
    echo "$name: both runs $first instructions"
}

input=$work/numbers.txt
record gzip gzip -9 -c
input=$work/work.sql
record sqlite3 sqlite3 :memory:
