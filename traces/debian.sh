#!/bin/sh
# Records programs of Debian's arm64 archive and prints a table of counts and sizes:
#
#   traces/debian.sh FOLDER [PROGRAM ...]             ten programs, with which the model was tuned
#   traces/debian.sh FOLDER held-out [PROGRAM ...]    eight that were held out of that (held_out.sh)
#
# Downloads into FOLDER with an apt configuration of its own: no root rights, no foreign
# architecture on this system, no change to its packages. Needs apt, dpkg-deb and what
# traces/build.sh needs. Each program runs twice (RUNS=1: once); both must say the same and their
# counts agree within 2 %: Lua and jq mix addresses, which the system places at random, into their
# hashes. Traces, outputs and logs stay in FOLDER.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?folder}"
work=$(cd "$1" && pwd)
shift
list=ten
if [ "${1:-}" = held-out ]; then
    list=held-out
    shift
fi
chosen=" $* "
suite=${SUITE:-bookworm}
runs=${RUNS:-2}
n2sim=${N2SIM:-${CARGO_TARGET_DIR:-$here/../target}/release/n2sim}

# unpack PACKAGE...: these and what they need, in the folder that stands for the root of the system.
unpack() {
    [ ! -e "$work/root/.unpacked-$list" ] || return 0
    . "$here/apt_root.sh"
    apt_root apt arm64 "$suite" >&2
    mkdir -p "$work/root"
    apt-get install -q -y --download-only "$@" >&2
    for package in "$work"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$work/root"; done
    : >"$work/root/.unpacked-$list"
}

# record NAME INPUT COMMAND...
record() {
    name=$1
    input=$work/$2
    shift 2
    case $chosen in "  " | *" $name "*) ;; *) return ;; esac
    first=
    for run in $(seq "$runs"); do
        out=$work/$name-$run
        (cd "$work" && PYTHONHASHSEED=0 PERL_HASH_SEED=0 LC_ALL=C exec \
            "$n2sim" capture --sysroot "$work/root" --level 3 -o "$out.n2t" -- "$@") \
            <"$input" >"$out.out" 2>"$out.log" || { cat "$out.log" >&2; exit 2; }
        cat "$out.log" >&2
        count=$(sed -n 's/.*: \([0-9,]*\) instructions.*/\1/p' "$out.log" | head -n 1)
        first=${first:-$count}
        echo "$first $count" | tr -d , | awk '{ exit ($1 - $2) ^ 2 > ($1 / 50) ^ 2 }' ||
            { echo "$name: $first and $count instructions" >&2; exit 1; }
        cmp "$work/$name-1.out" "$out.out"
    done
    bytes=$(wc -c <"$work/$name-1.n2t")
    echo "| \`$*\` | $(basename "$input") | $first | $count | $bytes | $(echo "$first" | tr -d , | awk -v b="$bytes" '{ printf "%.3f", b / $1 }') |"
}

table_head() {
    echo "| command | input | instructions | second run | bytes | bytes per instruction |"
    echo "|---|---|---|---|---|---|"
}

if [ "$list" = held-out ]; then
    . "$here/held_out.sh"
    exit
fi

unpack bzip2 gawk gzip jq lua5.4 perl-base python3.11 sqlite3 xz-utils zstd

# Inputs without any file of this system. Numbers compress well; the text has words of Zipf-like
# frequency in an order that does not repeat (a Lehmer generator, exact in any awk's arithmetic).
seq 1 60000 >"$work/numbers.txt"
awk 'BEGIN {
    x = 1
    for (i = 0; i < 88000; i++) {
        x = (x * 16807) % 2147483647
        r = x / 2147483647
        n = int(3000 * r * r * r)
        word = ""
        do { word = word substr("etaoinshrdlucmfwypvbgk", n % 22 + 1, 1); n = int(n / 22) } while (n > 0)
        printf "%s%s", word, (i % 12 == 11) ? ".\n" : " "
    }
}' >"$work/text.txt"
head -n 3667 "$work/text.txt" >"$work/half.txt"
{
    echo '['
    awk '{ for (i = 1; i < NF; i++) printf "{\"line\":%d,\"word\":\"%s\",\"tags\":[%d,%d]},\n", NR, $i, i, NR % 7 }' "$work/text.txt" | head -n 4000
    echo '{"line":0,"word":"end","tags":[]}]'
} >"$work/words.json"
cat >"$work/work.sql" <<'SQL'
create table a(id integer primary key, k integer, name text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 8000)
insert into a select i, (i * 7919) % 10007, 'name' || i from n;
create index a_k on a(k);
create table b as select k % 997 as g, count(*) as c, max(name) as m from a group by g;
select count(*), sum(c), sum(x.id) from a x join b on b.g = x.k % 997 where x.k between 100 and 9000;
SQL
cat >"$work/work.lua" <<'LUA'
local counts = {}
for line in io.lines() do
    for word in line:gmatch("%a+") do counts[word] = (counts[word] or 0) + 1 end
end
local words = {}
for word in pairs(counts) do words[#words + 1] = word end
table.sort(words, function(a, b)
    if counts[a] ~= counts[b] then return counts[a] > counts[b] end
    return a < b
end)
for i = 1, 10 do print(words[i], counts[words[i]]) end
local sum, grid = 0, {}
for y = 1, 80 do
    grid[y] = {}
    for x = 1, 80 do
        local cr, ci, zr, zi, n = x / 40 - 1.5, y / 40 - 1, 0.0, 0.0, 0
        while n < 40 and zr * zr + zi * zi < 4 do zr, zi, n = zr * zr - zi * zi + cr, 2 * zr * zi + ci, n + 1 end
        grid[y][x] = n
        sum = sum + n
    end
end
print(sum)
LUA
cat >"$work/work.py" <<'PYTHON'
import json, re, sys
from collections import Counter

class Node:
    __slots__ = ("key", "left", "right")
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None

def insert(root, key):
    node = root
    while True:
        side = "left" if key < node.key else "right"
        child = getattr(node, side)
        if child is None:
            setattr(node, side, Node(key))
            return
        node = child

words = re.findall(r"[a-z]+", sys.stdin.read())
counts = Counter(words)
print(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5])
root = Node(words[0])
for word in words[1:1000]:
    insert(root, word)
text = json.dumps({word: [count, count * count] for word, count in counts.items()})
print(len(text), sum(value[1] for value in json.loads(text).values()))
PYTHON
cat >"$work/work.pl" <<'PERL'
my (%count, %next, $last);
while (<STDIN>) {
    s/\.$//;
    for my $word (split) { $count{$word}++; $next{$last}{$word}++ if defined $last; $last = $word; }
}
my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print join(" ", map { "$_=$count{$_}" } @top[0 .. 9]), "\n";
my $pairs = 0;
for my $word (@top) { $pairs += keys %{$next{$word}}; }
print "$pairs\n";
PERL
cat >"$work/work.jq" <<'JQ'
map(select(.tags[1] == 3)) | group_by(.word)
| map({word: .[0].word, n: length, lines: map(.line)}) | sort_by(-.n) | .[0:5]
JQ
cat >"$work/work.awk" <<'AWK'
{
    gsub(/\./, "")
    for (i = 1; i <= NF; i++) { count[$i]++; length_sum[length($i)]++; if ($i ~ /^(t|s).*e$/) matched++ }
    line[NR] = toupper(substr($0, 1, 20))
}
END {
    for (word in count) if (count[word] > best) { best = count[word]; name = word }
    for (i = 1; i <= NR; i++) if (index(line[i], "TE")) found++
    print name, best, matched, found
}
AWK

table_head
record bzip2 text.txt bzip2 -9 -c
record gawk half.txt gawk -f work.awk
record gzip numbers.txt gzip -9 -c
record jq words.json jq -c -f work.jq
record lua5.4 half.txt lua5.4 work.lua
record perl half.txt perl work.pl
# Python compiles what it imports and keeps that: here, or it would do so in the folders of this system, if it may. What it
# does the first time is no trace of the ten.
python="python3.11 -X pycache_prefix=pycache -I -S"
case $chosen in "  " | *" python3 "*)
    # shellcheck disable=SC2086
    (cd "$work" && "$n2sim" capture --sysroot root -o python3-0.n2t -- $python -c 'import collections, json, re') >&2 ;;
esac
# shellcheck disable=SC2086
record python3 half.txt $python work.py
record sqlite3 work.sql sqlite3 :memory:
record xz text.txt xz -3 -c
record zstd text.txt zstd -15 --single-thread -c
