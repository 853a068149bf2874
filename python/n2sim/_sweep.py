"""Sweeps: every trace on every combination of values of a configuration."""

from __future__ import annotations

import json
import os
import pathlib
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _words
from ._journal import TABLE, Done, Journal, write
from ._n2sim import Error, Grid
from ._table import Table
from ._trace import AnyTrace, Trace, file_of

if TYPE_CHECKING:
    from distributed import Client

    from ._n2sim import Row

#: Longest time for which a finished run is not in the journal, without a cluster.
JOURNAL_SECONDS = 5.0
#: Time of a run on threads of this process.
NOT_MEASURED = float("nan")


def sweep(
    grid: _words.Path | None = None,
    *,
    traces: AnyTrace | Iterable[AnyTrace] = (),
    vary: Mapping[str, Sequence[_words.Value]] | None = None,
    metrics: str | Iterable[str] | None = None,
    events: Iterable[str] | None = None,
    limit: int | str | None = None,
    warmup: int | str | None = None,
    core: str | None = None,
    set: _words.Set | None = None,
    config: _words.Path | None = None,
    profile: str | None = None,
    machine: str | None = None,
    parts: int | None = None,
    regions: _words.Path | Iterable[_words.Path] | None = None,
    client: Client | None = None,
    out: _words.Path | None = None,
    jobs: int | None = None,
) -> Table:
    """Runs every trace on every combination of values and returns one row for each.

    >>> table = sweep(traces="traces/hash.n2t", vary={"pipeline.window.rob": [64, 160]}, limit=20_000)
    >>> table["pipeline.window.rob"], table["ipc"][0] < table["ipc"][1]
    (['64', '160'], True)

    A run that fails on its own account, such as one whose configuration does not fit its trace, is a
    row with its error and without counts.

    Args:
        grid: a grid file of `n2sim sweep` (`docs/sweep.md`), instead of the arguments up to `machine`.
        traces: the traces.
        vary: values of each varied key.
        metrics: columns with metrics; by default `ipc`.
        events: columns with events; without it, all of them.
        limit: instructions of each thread.
        warmup: instructions of each thread that only warm the machine.
        core: simulated core.
        set: values of keys that do not vary.
        config: a configuration file.
        profile: `guide` or `silicon`.
        machine: `generic`, `cobalt-100` or `yitian-710`.
        parts: cuts each trace into so many runs, so that one long trace spreads over CPUs and machines;
            their sum is the row. Every trace must have one thread.
        regions: files of windows that stand for the traces, as `n2sim trace regions` writes them; only
            the windows run, in `parts` groups.
        client: a client of Dask, on whose workers n2sim is installed and the traces have the same
            names; without it, the runs are made on threads of this process.
        out: a directory that keeps every finished run. An interrupted sweep goes on there when it is
            called again, and `table.parquet` there is the whole table.
        jobs: number of parallel runs without a client; by default one for each CPU.

    Raises:
        Error: a wrong grid, with the message of the program.
    """
    if grid is None:
        given: dict[str, Any] = {"limit": limit, "warmup": warmup, "core": core, "profile": profile, "machine": machine}
        given["config"] = None if config is None else os.path.abspath(config)
        given |= {"parts": parts, "regions": _files(regions)}
        text = _text(traces, vary or {}, "ipc" if metrics is None else metrics, events, set or {}, given)
        directory = os.getcwd()
    else:
        others = (metrics, limit, warmup, core, config, profile, machine, parts, regions)
        if traces or vary or events or set or any(of is not None for of in others):
            raise Error("sweep: a grid file has the traces and the machine too; give it alone, or give no grid file")
        path = pathlib.Path(grid)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise Error(f"cannot read the grid {path}: {error.strerror}") from error
        directory = os.fspath(path.resolve().parent)
    made = Grid(text, directory)
    journal = None if out is None else Journal(pathlib.Path(out))
    try:
        return _Sweep(made, text, directory, journal).run(client, jobs or 0)
    finally:
        if journal is not None:
            journal.close()


class _Sweep:
    """The runs of a sweep and where they are kept."""

    def __init__(self, grid: Grid, text: str, directory: str, journal: Journal | None) -> None:
        self.grid, self.text, self.directory, self.journal = grid, text, directory, journal
        self.keys = grid.keys()
        self.rows: dict[str, Row] = {} if journal is None else journal.rows
        self.refused: dict[str, str] = {}

    def run(self, client: Client | None, jobs: int) -> Table:
        """Makes the runs that are not in the journal and returns the table."""
        first = {key: number for number, key in reversed(list(enumerate(self.keys)))}
        pending = sorted(number for key, number in first.items() if key not in self.rows)
        reused = len(first) - len(pending)
        if client is None:
            self._here(pending, jobs)
        else:
            from . import _dask

            traces = self.grid.traces_of_runs()
            _dask.run(client, self.text, self.directory, self.keys, pending, traces, self._add)
        rows = self.rows | {key: (0, 0, [], why) for key, why in self.refused.items()}
        table = Table(self.grid.table(rows), len(pending), reused)
        if self.journal is not None and not self.refused:
            write(table.to_arrow(), self.journal.directory / TABLE)
        return table

    def _add(self, runs: Iterable[Done]) -> None:
        """Keeps runs that ended."""
        keyed = [(self.keys[done.number], done) for done in runs]
        if self.journal is not None:
            self.journal.add(keyed)
        for key, done in keyed:
            if done.row is not None:
                self.rows[key] = done.row
            else:
                self.refused[key] = done.refusal or "the run has no result"

    def _here(self, pending: list[int], jobs: int) -> None:
        """Makes runs on threads of this process."""
        waiting: list[Done] = []
        lock, written = threading.Lock(), time.monotonic()

        def done(number: int, row: Row) -> None:
            nonlocal written
            with lock:
                waiting.append(Done(number, row, None, NOT_MEASURED, "here"))
                if time.monotonic() - written >= JOURNAL_SECONDS:
                    self._add(waiting)
                    waiting.clear()
                    written = time.monotonic()

        try:
            refused = self.grid.run_all(pending, jobs, done)
        finally:
            with lock:
                self._add(waiting)
                waiting.clear()
        self._add(Done(number, None, why, NOT_MEASURED, "here") for number, why in refused)


def _files(files: _words.Path | Iterable[_words.Path] | None) -> list[str] | None:
    """Returns the places of files.

    >>> _files("/a.toml"), _files(["/a.toml", "/b.toml"]), _files(None)
    (['/a.toml'], ['/a.toml', '/b.toml'], None)
    """
    if files is None:
        return None
    several = [files] if isinstance(files, (str, os.PathLike)) else files
    return [os.path.abspath(file) for file in several]


def _text(
    traces: AnyTrace | Iterable[AnyTrace],
    vary: Mapping[str, Sequence[_words.Value]],
    metrics: str | Iterable[str],
    events: Iterable[str] | None,
    set: _words.Set,
    given: Mapping[str, Any],
) -> str:
    """Returns a grid file.

    >>> print(_text("a.n2t", {"pipeline.window.rob": [64]}, "ipc", None, {}, {"limit": "1M"}))
    traces = ["a.n2t"]
    metrics = ["ipc"]
    set = []
    limit = "1M"
    [[vary]]
    key = "pipeline.window.rob"
    values = [64]
    """
    several = [traces] if isinstance(traces, (str, os.PathLike, Trace)) else list(traces)
    lines = {
        "traces": [file_of(trace) for trace in several],
        "metrics": _words.listed(metrics),
        "events": None if events is None else _words.listed(events),
        "set": [f"{key}={_words.value(of)}" for key, of in set.items()],
        **given,
    }
    text = [f"{key} = {_toml(of)}" for key, of in lines.items() if of is not None]
    for key, values in vary.items():
        text += ["[[vary]]", f"key = {_toml(key)}", f"values = {_toml(list(values))}"]
    return "\n".join(text)


def _toml(value: Any) -> str:
    """Returns a value of TOML. Its strings and lists are those of JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
