"""Sweeps on a cluster whose workers and driver are killed."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")


def test_killed_workers_and_a_killed_driver_lose_no_run(tmp_path: pathlib.Path) -> None:
    script = pathlib.Path(__file__).with_name("cluster.py")
    words = [sys.executable, str(script), "--runs=240", "--chunk-seconds=0.1", f"--out={tmp_path}"]
    run = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=600)
    assert run.returncode == 0
    found = json.loads(run.stdout)
    assert found["runs"] == 240 and len(found["killed_workers"]) == 2
    assert 0 < found["journaled_when_the_driver_was_killed"] < 240


def test_a_run_that_is_refused_is_a_row_and_is_tried_again(tmp_path: pathlib.Path) -> None:
    from distributed import Client, LocalCluster

    import n2sim

    trace = tmp_path / "a.n2t"
    whole = pathlib.Path("traces/sort.n2t").read_bytes()
    trace.write_bytes(whole)
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)
    with cluster, Client(cluster) as client:
        # The index is whole, so only a run finds the damage.
        damaged = bytearray(whole)
        damaged[len(whole) // 2] ^= 0x55
        trace.write_bytes(damaged)
        out = tmp_path / "out"
        table = n2sim.sweep(traces=trace, client=client, out=out)
        assert table.failed == 1 and table["ipc"] == [None] and "a.n2t" in table["error"][0]
        assert not (out / "table.parquet").exists() and not list(out.glob("*.runs.parquet"))
        trace.write_bytes(whole)
        table = n2sim.sweep(traces=trace, client=client, out=out)
        assert table.failed == 0 and (out / "table.parquet").exists()


def test_the_parts_of_one_trace_spread_over_a_cluster(tmp_path: pathlib.Path) -> None:
    from distributed import Client, LocalCluster

    import n2sim

    # The second trace is too short for parts.
    traces = ["traces/aes_sha.n2t", "traces/vector.n2t"]
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        table = n2sim.sweep(traces=traces, parts=3, client=client, out=tmp_path)
    assert (len(table), table.ran, table.failed) == (2, 4, 0)
    assert table.columns == n2sim.sweep(traces=traces, parts=3).columns
