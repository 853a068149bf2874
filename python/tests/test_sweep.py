"""Sweeps on threads of this process, and their journal."""

from __future__ import annotations

import csv
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import n2sim

GRID = {
    "traces": ["traces/hash.n2t", "traces/sort.n2t"],
    "vary": {"pipeline.window.rob": [32, 64, 160], "memory.l2.size-bytes": ["512K", "1M"]},
    "limit": 20_000,
    "metrics": ["ipc", "l2_mpki"],
}
FILE = """
traces = ["traces/hash.n2t", "traces/sort.n2t"]
limit = 20_000
metrics = ["ipc", "l2_mpki"]
[[vary]]
key = "pipeline.window.rob"
values = [32, 64, 160]
[[vary]]
key = "memory.l2.size-bytes"
values = ["512K", "1M"]
"""


def test_the_table_is_that_of_the_program(program: list[str], tmp_path: pathlib.Path) -> None:
    grid = tmp_path / "grid.toml"
    root = pathlib.Path.cwd()
    grid.write_text(FILE.replace('"traces/', f'"{root}/traces/'))
    subprocess.run([*program, "sweep", grid, "-o", tmp_path / "grid.csv"], check=True)
    with open(tmp_path / "grid.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for table in (n2sim.sweep(**GRID), n2sim.sweep(grid)):  # type: ignore[arg-type]
        assert len(table) == len(rows) == 12 and table.failed == 0 and table.ran == 12
        for row, expected in zip(table.rows(), rows):
            assert set(row) == set(expected)
            for name, value in row.items():
                if name == "trace":
                    assert expected[name].endswith(value)
                else:
                    assert type(value)(expected[name]) == value, name


def test_the_parts_of_a_trace_are_runs(program: list[str], tmp_path: pathlib.Path) -> None:
    trace = "traces/aes_sha.n2t"
    pieces = n2sim.sweep(traces=trace, parts=3, events=["cpu_cycles", "l1d_cache_refill"])
    words = ["estimate", trace, "--jobs", "3", "-x,", "-e", "cpu_cycles,l1d_cache_refill"]
    printed = subprocess.run([*program, *words], check=True, stdout=subprocess.PIPE, text=True).stdout
    expected = [int(line.split(",")[0]) for line in printed.splitlines()]
    assert (len(pieces), pieces.ran) == (1, 3)
    assert [pieces["cpu_cycles"][0], pieces["l1d_cache_refill"][0]] == expected

    windows = tmp_path / "w.toml"
    words = ["trace", "regions", trace, "-o", windows, "--interval", "10k", "--windows", "12"]
    subprocess.run([*program, *words], check=True, stdout=subprocess.DEVNULL)
    words = ["estimate", trace, "--regions", windows, "-x,", "-e", "cpu_cycles"]
    printed = subprocess.run([*program, *words], check=True, stdout=subprocess.PIPE, text=True).stdout
    estimated = n2sim.sweep(traces=trace, regions=windows)
    assert estimated["cpu_cycles"] == [int(printed.split(",")[0])]
    with pytest.raises(n2sim.Error, match="give it alone"):
        n2sim.sweep(windows, parts=2)


def test_a_journal_holds_finished_runs(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    first = n2sim.sweep(**GRID, out=tmp_path)  # type: ignore[arg-type]
    again = n2sim.sweep(**GRID, out=tmp_path)  # type: ignore[arg-type]
    assert (first.ran, first.reused, again.ran, again.reused) == (12, 0, 0, 12)
    assert first.columns == again.columns
    kept = pyarrow.parquet.read_table(tmp_path / "table.parquet")
    assert kept.to_pydict() == first.columns
    more = n2sim.sweep(**{**GRID, "limit": 10_000}, out=tmp_path)  # type: ignore[arg-type]
    assert (more.ran, more.reused) == (12, 0), "other runs have other keys"


def test_an_interrupted_sweep_goes_on(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("pyarrow")
    script = f"""
import n2sim, n2sim._sweep
n2sim._sweep.JOURNAL_SECONDS = 0.0
print("begins", flush=True)
n2sim.sweep(**{{**{GRID!r}, "limit": 150_000}}, out={str(tmp_path)!r}, jobs=1)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("*.runs.parquet"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    written = len(list(tmp_path.glob("*.runs.parquet")))
    table = n2sim.sweep(**{**GRID, "limit": 150_000}, out=tmp_path)  # type: ignore[arg-type]
    assert 3 <= table.reused == written < 12 and table.ran == 12 - written
    assert table.columns == n2sim.sweep(**{**GRID, "limit": 150_000}).columns  # type: ignore[arg-type]


def test_what_is_wrong_is_refused_before_the_first_run(tmp_path: pathlib.Path) -> None:
    for arguments, message in [
        ({"traces": []}, "no trace"),
        ({"traces": "traces/no.n2t"}, "no.n2t"),
        ({"traces": "traces/hash.n2t", "vary": {"pipeline.window.rub": [1]}}, "pipeline.window.rub"),
        ({"traces": "traces/hash.n2t", "metrics": "icp"}, "icp"),
        ({"grid": tmp_path / "no.toml"}, "cannot read the grid"),
        ({"grid": tmp_path / "no.toml", "limit": 5}, "give it alone"),
    ]:
        with pytest.raises(n2sim.Error, match=message):
            n2sim.sweep(**arguments)  # type: ignore[arg-type]


def test_a_directory_serves_one_sweep_at_a_time(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("pyarrow")
    from n2sim._journal import Journal

    journal = Journal(tmp_path)
    with pytest.raises(n2sim.Error, match="is in use"):
        n2sim.sweep(**GRID, out=tmp_path)  # type: ignore[arg-type]
    journal.close()
    (tmp_path / "0.runs.parquet").write_bytes(b"half")
    with pytest.raises(n2sim.Error, match=r"0\.runs\.parquet"):
        n2sim.sweep(**GRID, out=tmp_path)  # type: ignore[arg-type]


def test_a_run_that_fails_is_a_row_with_its_error() -> None:
    table = n2sim.sweep(
        traces=["traces/hash.n2t", "traces/vector.n2t"], core="cortex-a53", warmup=1_000_000, limit=1_000
    )
    by_trace = {row["trace"]: row for row in table.rows()}
    assert table.failed == 1 and by_trace["traces/hash.n2t"]["error"] == ""
    failed = by_trace["traces/vector.n2t"]
    assert "warm" in failed["error"] and failed["ipc"] is None
    assert "vector" in table._repr_html_()


def test_a_table_becomes_a_frame_of_pandas() -> None:
    pytest.importorskip("pandas")
    table = n2sim.sweep(**GRID)  # type: ignore[arg-type]
    frame = table.to_pandas()
    assert frame.shape == (12, len(table.columns)) and frame["ipc"].tolist() == table["ipc"]
