"""Sweeps many small runs on a cluster of two workers on this machine, of which one is killed twice, with a
driver that is killed once, and compares the table with that of this process.

    python python/tests/cluster.py [--runs 2000] [--chunk-seconds 0.5] [--out DIRECTORY]
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

import pyarrow.parquet
from distributed import Client, LocalCluster

import n2sim

TRACES = ["traces/hash.n2t", "traces/sort.n2t", "traces/btree.n2t", "traces/lz.n2t"]
#: Times that a worker is killed before the driver is.
WORKERS_KILLED = 2
#: Longest time until something happens on the cluster, in seconds.
PATIENCE = 300.0


def grid(runs: int) -> dict[str, Any]:
    """Returns a grid with about this number of runs: four traces, ten seeds, the rest buffers."""
    buffers = max(1, round(runs / 40))
    vary = {"pipeline.window.rob": [40 + 2 * place for place in range(buffers)], "run.seed": list(range(10))}
    return {"traces": TRACES, "vary": vary, "limit": 20_000, "metrics": ["ipc", "TopdownL1"]}


def drive(arguments: argparse.Namespace) -> int:
    """Is the driver: makes the sweep and prints how many runs it made and found."""
    import n2sim._dask

    n2sim._dask.CHUNK_SECONDS = arguments.chunk_seconds
    with Client(arguments.drive) as client:
        table = n2sim.sweep(**grid(arguments.runs), client=client, out=arguments.out)
    print(json.dumps({"ran": table.ran, "reused": table.reused, "failed": table.failed}))
    return 0


def parts(out: pathlib.Path) -> list[pathlib.Path]:
    """Returns the parts of the journal."""
    return sorted(out.glob("*.runs.parquet"))


def keys(out: pathlib.Path) -> list[str]:
    """Returns the keys of all journaled runs."""
    return [key for part in parts(out) for key in pyarrow.parquet.read_table(part)["key"].to_pylist()]


def wait_for_parts(out: pathlib.Path, number: int, driver: subprocess.Popen[str]) -> None:
    """Waits until the journal has this number of parts."""
    deadline = time.monotonic() + PATIENCE
    while len(parts(out)) < number:
        if driver.poll() is not None:
            raise SystemExit(f"the driver ended before it was killed: {driver.returncode}")
        if time.monotonic() > deadline:
            raise SystemExit(f"no {number} parts after {PATIENCE} s")
        time.sleep(0.02)


def kill_a_worker(client: Client) -> int:
    """Kills a worker and returns its process number."""
    pids: list[int] = sorted(client.run(os.getpid).values())
    os.kill(pids[0], signal.SIGKILL)
    return pids[0]


def check(runs: int, chunk_seconds: float, out: pathlib.Path) -> dict[str, Any]:
    """Makes the sweep with all the killing and returns what happened."""
    begin = time.monotonic()
    words = [sys.executable, __file__, f"--runs={runs}", f"--chunk-seconds={chunk_seconds}", f"--out={out}"]
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, Client(cluster) as client:
        words.append(f"--drive={cluster.scheduler_address}")
        driver = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        killed = []
        for _ in range(WORKERS_KILLED):
            wait_for_parts(out, len(parts(out)) + 4, driver)
            killed.append(kill_a_worker(client))
        wait_for_parts(out, len(parts(out)) + 4, driver)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        journaled = keys(out)
        again = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(again.stdout)
    seconds = time.monotonic() - begin
    all_keys = keys(out)
    table = pyarrow.parquet.read_table(out / "table.parquet")
    expected = n2sim.sweep(**grid(runs))
    assert found["reused"] == len(set(journaled)) and found["failed"] == 0, found
    assert found["ran"] + found["reused"] == len(expected), found
    assert len(all_keys) == len(set(all_keys)) == len(expected), "a journaled run was repeated"
    assert table.equals(expected.to_arrow()), "the table is another one than that of this process"
    return {
        "runs": len(expected), "seconds": round(seconds, 1), "killed_workers": killed,
        "journaled_when_the_driver_was_killed": len(journaled), "runs_of_the_second_driver": found["ran"],
        "parts": len(parts(out)),
    }  # fmt: skip


def main() -> int:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--chunk-seconds", type=float, default=0.5)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--drive", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.drive:
        return drive(arguments)
    with tempfile.TemporaryDirectory() as directory:
        out = arguments.out or pathlib.Path(directory)
        print(json.dumps(check(arguments.runs, arguments.chunk_seconds, out), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
