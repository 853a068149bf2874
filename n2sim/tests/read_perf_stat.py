#!/usr/bin/env python3
"""Reads what `perf stat` prints with -x or -j, from the description of its fields alone.

    read_perf_stat.py csv SEPARATOR OWNER_FIELDS has_time < FILE
    read_perf_stat.py json < FILE

prints one line `time|owner|value|event|run_ns|percent|metric|unit` for each count. OWNER_FIELDS is how
many fields stand between the time and the value: 0, 1 (CPU, thread, function) or 2 (core and CPUs).
A field that is not what it must be ends the program with a message.
"""

import csv
import json
import re
import sys

NOT_A_COUNT = ("<not counted>", "<not supported>")


def number(text, what):
    if not re.fullmatch(r"\d+(\.\d+)?", text):
        sys.exit(f"{what}: '{text}' is no number")
    return text


def put(time, owner, value, event, run_ns, percent, metric, unit):
    if value not in NOT_A_COUNT:
        value = str(int(float(number(value, event))))
    percent = f"{float(number(percent, event)):.2f}"
    metric = f"{float(metric):.2f}" if metric else ""
    print("|".join([time, owner, value, event, str(int(run_ns)), percent, metric, unit]))


def read_csv(lines, separator, owners, has_time):
    for row in csv.reader(lines, delimiter=separator):
        if not row or row[0].startswith("#"):
            continue
        time = number(row.pop(0), "time") if has_time else ""
        owner = " ".join(row.pop(0) for _ in range(owners))
        if len(row) != 7:
            sys.exit(f"{row}: {len(row)} fields behind the owner, not 7")
        value, unit, event, run_ns, percent, metric, metric_unit = row
        if unit not in ("", "msec"):
            sys.exit(f"{event}: unit '{unit}'")
        put(time, owner, value, event, run_ns, percent, metric, metric_unit)


def read_json(lines):
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        pairs = json.loads(line, object_pairs_hook=lambda pairs: pairs)
        keys = [key for key, _ in pairs]
        order = ["interval", "core", "cpu", "thread", "function", "counters", "aggregate-number",
                 "counter-value", "unit", "event", "event-runtime", "pcnt-running",
                 "metric-value", "metric-unit"]
        if [key for key in order if key in keys] != keys:
            sys.exit(f"{keys}: not the order of perf")
        row = dict(pairs)
        owner = [row[key] for key in ("core", "cpu", "thread", "function") if key in row]
        if "cpu" in row:
            owner = [f"CPU{row['cpu']}"]
        owner += [str(row[key]) for key in ("counters", "aggregate-number") if key in row]
        # 6.1 writes a bare number, 6.12 and later a string.
        metric = str(row.get("metric-value", ""))
        time = f"{row['interval']:.9f}" if "interval" in row else ""
        put(time, " ".join(owner), row["counter-value"], row["event"], row["event-runtime"],
            str(row["pcnt-running"]), metric, row.get("metric-unit", ""))


if __name__ == "__main__":
    if sys.argv[1] == "csv":
        read_csv(sys.stdin, sys.argv[2], int(sys.argv[3]), sys.argv[4] == "true")
    else:
        read_json(sys.stdin)
