"""Counts, metrics and slots are those that the program prints."""

from __future__ import annotations

import csv
import math
import pathlib
import subprocess
import threading
import time

import pytest

import n2sim

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("traces/**/*.n2t"))
LIMIT = 200_000


def printed(program: list[str], *words: str) -> list[list[str]]:
    """Returns the rows that the program prints."""
    run = subprocess.run([*program, "stat", *words, "-x,"], capture_output=True, text=True, check=True)
    return list(csv.reader(run.stdout.splitlines()))


def test_there_are_traces() -> None:
    assert len(TRACES) >= 13


@pytest.mark.parametrize("trace", TRACES)
def test_all_events_have_the_counts_of_the_program(trace: str, program: list[str]) -> None:
    rows = printed(program, trace, "--all", f"--limit={LIMIT}")
    assert len(rows) == 147
    counts = {row[2]: int(row[0]) for row in rows}
    result = n2sim.stat(trace, limit=LIMIT)
    assert result.counts == counts
    assert list(result) == [row[2] for row in rows]


@pytest.mark.parametrize("trace", ["traces/hash.n2t", "traces/system.n2t"])
def test_a_cortex_a53_has_the_counts_of_the_program(trace: str, program: list[str]) -> None:
    rows = printed(program, trace, "--all", "--core=cortex-a53", f"--limit={LIMIT}")
    result = n2sim.stat(trace, core="cortex-a53", limit=LIMIT)
    assert result.counts == {row[2]: int(row[0]) for row in rows}
    assert sum(use.slots for use in result.slots) > 0
    assert "issued" in {use.cause for use in result.slots}


def test_metrics_have_the_values_of_the_program(program: list[str]) -> None:
    result = n2sim.stat("traces/btree.n2t", limit=LIMIT)
    run = subprocess.run([*program, "list", "metrics"], capture_output=True, text=True, check=True)
    names = [line.split()[0] for line in run.stdout.splitlines() if line and not line[0].isspace()]
    assert len(names) > 20 and set(names) == set(result.metrics)
    rows = printed(program, "traces/btree.n2t", f"--limit={LIMIT}", "-M", ",".join(names))
    values = {row[6].split("  ")[-1]: float(row[5]) for row in rows if len(row) == 7 and not row[0]}
    assert set(values) == set(names)
    for name, value in values.items():
        own = result.metrics[name]
        assert own == value or (math.isnan(own) and math.isnan(value)), name


def test_slots_add_up() -> None:
    result = n2sim.stat("traces/lz.n2t", limit=LIMIT)
    assert sum(use.slots for use in result.slots) == 5 * result["cpu_cycles"]
    assert sum(result.stalls.values()) == result["stall_slot"]


def test_options_change_the_machine() -> None:
    small = n2sim.stat("traces/hash.n2t", limit=LIMIT, set={"memory.l1d.size-bytes": "16K"})
    large = n2sim.stat("traces/hash.n2t", limit=LIMIT, set={"memory.l1d.size-bytes": "64K"})
    assert small["l1d_cache_refill"] > large["l1d_cache_refill"]
    memory = n2sim.stat("traces/hash.n2t", limit=LIMIT, mode="memory")
    assert "cpu_cycles" not in memory and memory.seconds is None and memory.slots == []
    chosen = n2sim.stat("traces/hash.n2t", limit=LIMIT, events=["r03", "cycles"])
    assert chosen["r03"] == n2sim.stat("traces/hash.n2t", limit=LIMIT)["l1d_cache_refill"]
    assert list(chosen) == ["r03", "cycles"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"trace": "traces/no.n2t"}, "traces/no.n2t: "),
        ({"trace": "traces/hash.n2t", "set": {"memory.l1d.sise": 1}}, "memory.l1d.sise"),
        ({"trace": "traces/hash.n2t", "core": "z80"}, "'z80'"),
        ({"trace": "traces/hash.n2t", "events": ["cycels"]}, "cycels"),
        ({"trace": "traces/hash.n2t", "core": "neoverse-v2"}, "no timing model"),
        ({"trace": "README.md"}, "README.md"),
    ],
)
def test_what_is_wrong_has_the_message_of_the_program(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(n2sim.Error, match=message.replace(".", r"\.")) as raised:
        n2sim.stat(**arguments)  # type: ignore[arg-type]
    assert isinstance(raised.value, ValueError)


def test_a_trace_tells_what_it_is() -> None:
    trace = n2sim.Trace("traces/hash.n2t")
    assert n2sim.stat(trace)["inst_retired"] == trace.instructions
    assert trace.program and "hash" in repr(trace) and trace.hash in trace._repr_html_()
    with pytest.raises(n2sim.Error, match=r"README\.md"):
        n2sim.Trace("README.md")


def test_a_notebook_shows_the_slots() -> None:
    result = n2sim.stat("traces/hash.n2t", limit=LIMIT)
    text = result._repr_html_()
    assert f"{result['cpu_cycles']:,}" in text and text.count("title=") == len(result.slots)
    assert "instructions per cycle" in repr(result)


def test_arrow_has_the_counts() -> None:
    pytest.importorskip("pyarrow")
    result = n2sim.stat("traces/hash.n2t", limit=LIMIT)
    table = result.to_arrow()
    assert dict(zip(table["event"].to_pylist(), table["count"].to_pylist())) == result.counts


def test_the_interpreter_runs_other_threads_during_a_run() -> None:
    done = threading.Event()

    def replay() -> None:
        n2sim.stat("traces/hash.n2t")
        done.set()

    thread = threading.Thread(target=replay)
    thread.start()
    turns = 0
    while not done.is_set():
        time.sleep(0.001)
        turns += 1
    thread.join()
    assert turns > 100, "this thread slept a millisecond at a time"
