# The second list of debian.sh, which reads this file: eight programs that were named before n2sim had run any of
# them, so that what is said of them was not tuned with them. A compiler, an interpreter, sound, typesetting, linear
# programming, a game, a solver of formulas, trees of XML.

unpack cpp-12 flac glpk-utils gnugo groff-base tcl8.6 xsltproc z3

# Inputs without any file of this system, as in debian.sh: next_number(n) is a number from 0 to n - 1, exact in any awk's
# arithmetic.
lehmer='
function next_number(n) { seed = (seed * 16807) % 2147483647; return int(seed / 2147483647 * n) }
BEGIN { seed = 1 }'

# C: functions of loops, switches, structures and floating point, each of another shape.
awk "$lehmer"'
function term(depth,    op) {
    if (depth == 0) return next_number(2) ? "v" next_number(4) : next_number(1000)
    op = substr("+-*^&|", next_number(6) + 1, 1)
    return "(" term(depth - 1) " " op " " term(depth - 1) ")"
}
BEGIN {
    print "struct node { struct node *next; int key; double weight; };"
    print "int table[1024]; extern int g(int, const char *);"
    for (f = 0; f < 4; f++) {
        printf "int f%d(int v0, int v1, struct node *list)\n{\n    int v2 = 1, v3 = %d; double sum = 0;\n", f, next_number(99)
        for (s = 0; s < 5; s++) {
            kind = next_number(5)
            if (kind == 0) printf "    for (int i = 0; i < v%d; i++) { table[i & 1023] += %s; v2 ^= table[(i * 7) & 1023]; }\n", next_number(2), term(2)
            if (kind == 1) printf "    switch (%s & 7) { case 0: v2 = %s; break; case 1: v3 = g(v0, \"s%d\"); break; case 4: v1 += v2; default: v0 = %s; }\n", term(1), term(2), s, term(2)
            if (kind == 2) printf "    for (struct node *n = list; n; n = n->next) { if (n->key > %s) sum += n->weight * v3; else n->key -= v2; }\n", term(1)
            if (kind == 3) printf "    while (v1 > 0 && v3 < %d) { v1 -= v2 | 1; v3 += %s; if (v3 == v2) return f%d(v0, v1, list); }\n", next_number(5000), term(2), next_number(f + 1)
            if (kind == 4) printf "    v%d = %s ? %s : %s;\n", next_number(4), term(1), term(3), term(3)
        }
        print "    return v0 + v1 + v2 + v3 + (int)sum;\n}"
    }
}' >"$work/unit.c"

# Numbers written as words, for the interpreter.
awk "$lehmer"'
BEGIN {
    for (i = 0; i < 12000; i++) {
        word = ""
        for (n = next_number(60) * next_number(60); n > 0; n = int(n / 9)) word = word substr("etaoinshr", n % 9 + 1, 1)
        printf "%s%s", word "s", i % 12 == 11 ? ".\n" : " "
    }
}' >"$work/words.txt"

cat >"$work/work.tcl" <<'TCL'
proc sieve {limit} {
    set primes {}
    for {set i 2} {$i < $limit} {incr i} {
        if {[info exists composite($i)]} continue
        lappend primes $i
        for {set j [expr {$i * $i}]} {$j < $limit} {incr j $i} { set composite($j) 1 }
    }
    return $primes
}
proc queens {size row columns rising falling} {
    if {$row == $size} { return 1 }
    set count 0
    for {set column 0} {$column < $size} {incr column} {
        set up [expr {$row + $column}]
        set down [expr {$row - $column}]
        if {$column in $columns || $up in $rising || $down in $falling} continue
        incr count [queens $size [expr {$row + 1}] [concat $columns $column] [concat $rising $up] [concat $falling $down]]
    }
    return $count
}
puts "[llength [sieve 8000]] primes, [queens 6 0 {} {} {}] ways"
while {[gets stdin line] >= 0} {
    foreach word [regexp -all -inline {[a-z]+} $line] { dict incr counts $word; append [string index $word 0] $word }
}
set order [lsort -integer -decreasing -index 1 [lmap {word count} $counts { list $word $count }]]
puts [lrange $order 0 4]
puts "[string length $t] [llength [split $e t]] [string length [string map {et TE at TA} $e]]"
TCL

# Sound: notes of triangular waves with overtones and a little noise; 16 bits, two channels.
awk "$lehmer"'
function triangle(phase, period) { phase = phase % period; return phase * 2 < period ? phase * 4 - period : period * 3 - phase * 4 }
function sample(value) { value = (value + 65536) % 65536; return sprintf("\\0%03o\\0%03o", value % 256, int(value / 256)) }
BEGIN {
    for (block = 0; block < 512; block++) {
        if (block % 16 == 0) { low = 90 + next_number(300); high = 20 + next_number(90); loud = 3 + next_number(20) }
        line = ""
        for (i = 0; i < 128; i++) {
            t = block * 128 + i
            wave = triangle(t, low) * loud + triangle(t, high) * 9
            line = line sample(wave + next_number(200)) sample(wave - triangle(t, low) * 2 + next_number(90))
        }
        print line
    }
}' | while read -r line; do printf '%b' "$line"; done >"$work/sound.raw"

# A page of a manual.
awk "$lehmer"'
BEGIN {
    print ".TH REPORT 7 2024-01-01 Nobody Reports"
    for (section = 1; section <= 15; section++) {
        printf ".SH SECTION %d\n", section
        for (paragraph = 0; paragraph < 8; paragraph++) {
            print paragraph % 3 == 2 ? ".IP \\(bu 4" : paragraph % 3 ? ".TP\n.B tag" : ".PP"
            for (i = 0; i < 90; i++) {
                word = ""
                for (syllables = 1 + next_number(4); syllables > 0; syllables--)
                    word = word substr("bcdfglmnprstvw", next_number(14) + 1, 1) substr("aeiou", next_number(5) + 1, 1) (next_number(4) ? "" : "n")
                printf "%s%s", (next_number(25) ? word : "\\fI" word "\\fP"), (i % 9 == 8) ? ".\n" : (i % 5 == 4) ? "\n" : " "
            }
        }
    }
}' >"$work/report.7"

# A linear program.
awk "$lehmer"'
BEGIN {
    sources = 15; sinks = 20
    printf "Minimize\n cost:"
    for (i = 1; i <= sources; i++) { for (j = 1; j <= sinks; j++) printf " + %d x%d_%d", 5 + next_number(90), i, j; printf " + %d y%d\n", 200 + next_number(400), i }
    print "Subject To"
    for (j = 1; j <= sinks; j++) { for (i = 1; i <= sources; i++) printf " + x%d_%d", i, j; printf " >= %d\n", 5 + next_number(30) }
    for (i = 1; i <= sources; i++) { for (j = 1; j <= sinks; j++) printf " + x%d_%d", i, j; printf " - %d y%d <= 0\n", 60 + next_number(120), i }
    print "Binary"
    for (i = 1; i <= sources; i++) print " y" i
    print "End"
}' >"$work/plan.lp"

# A game of Go against itself.
awk 'BEGIN { print "boardsize 9\nclear_board\nkomi 5.5"; for (i = 0; i < 2; i++) print "genmove black\ngenmove white"; print "showboard\nquit" }' >"$work/game.gtp"

# Jobs on machines, each a while, one after the other; and a product of two factors.
awk "$lehmer"'
BEGIN {
    jobs = 6; machines = 5
    print "(set-option :smt.random_seed 1)\n(declare-fun a () (_ BitVec 14))\n(declare-fun b () (_ BitVec 14))"
    for (j = 0; j < jobs; j++) for (m = 0; m < machines; m++) { printf "(declare-fun t%d_%d () Int)\n", j, m; length_of[j, m] = 1 + next_number(9); machine[j, m] = (m * (1 + j % 4) + j) % machines }
    for (j = 0; j < jobs; j++) {
        printf "(assert (>= t%d_0 0))\n(assert (<= (+ t%d_%d %d) 48))\n", j, j, machines - 1, length_of[j, machines - 1]
        for (m = 1; m < machines; m++) printf "(assert (>= t%d_%d (+ t%d_%d %d)))\n", j, m, j, m - 1, length_of[j, m - 1]
        for (k = 0; k < j; k++) for (m = 0; m < machines; m++) for (n = 0; n < machines; n++) if (machine[j, m] == machine[k, n])
            printf "(assert (or (>= t%d_%d (+ t%d_%d %d)) (>= t%d_%d (+ t%d_%d %d))))\n", j, m, k, n, length_of[k, n], k, n, j, m, length_of[j, m]
    }
    print "(assert (= (bvmul a b) #b00110010101101))\n(assert (bvult #b00000000000001 a))\n(assert (bvult a b))\n(assert (= (bvand a b) #b00000000000001))"
    print "(check-sat)\n(get-model)"
}' >"$work/jobs.smt2"

# Orders, and a report of them.
awk "$lehmer"'
BEGIN {
    print "<orders>"
    for (i = 0; i < 2500; i++) {
        printf "<order id=\"%d\" customer=\"c%d\"><date>2024-%02d-%02d</date>", i, next_number(120), 1 + next_number(12), 1 + next_number(28)
        for (n = next_number(4); n >= 0; n--) printf "<item sku=\"s%d\" count=\"%d\">%d</item>", next_number(400), 1 + next_number(9), 100 + next_number(9000)
        print "</order>"
    }
    print "</orders>"
}' >"$work/orders.xml"

cat >"$work/report.xsl" <<'XSL'
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="html" indent="yes"/>
  <xsl:key name="of-customer" match="order" use="@customer"/>
  <xsl:template match="/orders">
    <table>
      <xsl:for-each select="order[generate-id() = generate-id(key('of-customer', @customer)[1])]">
        <xsl:sort select="sum(key('of-customer', @customer)/item)" data-type="number" order="descending"/>
        <xsl:variable name="orders" select="key('of-customer', @customer)"/>
        <tr class="{substring-before(concat(@customer, '-'), '-')}">
          <td><xsl:value-of select="translate(@customer, 'c', 'C')"/></td>
          <td><xsl:value-of select="count($orders/item[@count &gt; 3 and starts-with(@sku, 's1')])"/></td>
          <xsl:apply-templates select="$orders"><xsl:sort select="date"/></xsl:apply-templates>
        </tr>
      </xsl:for-each>
    </table>
  </xsl:template>
  <xsl:template match="order">
    <td title="{@id}"><xsl:value-of select="format-number(sum(item) div 100, '#,##0.00')"/>
      <xsl:if test="item[. &gt; 8000]"><b><xsl:value-of select="normalize-space(date)"/></b></xsl:if></td>
  </xsl:template>
</xsl:stylesheet>
XSL

table_head
record cc1 unit.c /usr/lib/gcc/aarch64-linux-gnu/12/cc1 -quiet -w -O2 -o - -
record flac sound.raw flac -s -8 --force-raw-format --endian=little --sign=signed --channels=2 --bps=16 \
    --sample-rate=44100 -c -
record glpsol plan.lp glpsol --lp /dev/stdin
record gnugo game.gtp /usr/games/gnugo --mode gtp --seed 1 --level 1
record tclsh words.txt tclsh8.6 work.tcl
record troff report.7 troff -man -Tps
record xsltproc orders.xml xsltproc report.xsl -
record z3 jobs.smt2 z3 -in
