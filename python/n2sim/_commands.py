"""The commands of n2sim as functions."""

from __future__ import annotations

import html
import json
import os
import pathlib
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, overload

from . import _n2sim, _words
from ._result import Result
from ._trace import AnyTrace, file_of
from ._words import Path, Set

#: Height of a page in a notebook, in pixels.
PAGE_HEIGHT = 720


class Completed(NamedTuple):
    """The result of a command."""

    #: Exit code: 0, or 1 if a check failed.
    code: int
    #: What it printed on standard output.
    output: str
    #: What it printed on standard error.
    notes: str


class Page:
    """A page of HTML: `page.html`, `page.save(file)`; a notebook shows it."""

    #: The page.
    html: str
    #: File of the page, if it has one.
    path: pathlib.Path | None

    def __init__(self, text: str, path: pathlib.Path | None = None) -> None:
        """Takes the text of a page."""
        self.html = text
        self.path = path

    def save(self, path: Path) -> pathlib.Path:
        """Writes the page to a file and returns its name."""
        self.path = pathlib.Path(path)
        self.path.write_text(self.html, encoding="utf-8")
        return self.path

    def __repr__(self) -> str:
        """Returns the size and the file."""
        place = "" if self.path is None else f" in {self.path}"
        return f"<n2sim.Page of {len(self.html):,} characters{place}>"

    def _repr_html_(self) -> str:
        """Shows the page in a frame, so that its styles stay its own."""
        text = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{text}" style="width:100%;height:{PAGE_HEIGHT}px;border:0"></iframe>'


class Figure(str):
    """A figure in SVG, which a notebook shows."""

    def _repr_svg_(self) -> str:
        """Returns the figure."""
        return str(self)


def run(*words: str | os.PathLike[str]) -> Completed:
    """Runs any command of n2sim in this process and returns what it printed.

    >>> run("list", "events").code
    0

    Raises:
        Error: wrong words or input, with the message of the program.
    """
    code, output, notes = _call([os.fspath(word) for word in words])
    return Completed(code, output.decode(errors="replace"), notes)


def _call(words: list[str]) -> tuple[int, bytes, str]:
    return _n2sim.call(["n2sim", *words])


def _text(words: list[str]) -> str:
    return _call(words)[1].decode(errors="replace")


def _objects(words: list[str]) -> list[dict[str, Any]]:
    """Returns the objects that a command prints, one a line."""
    return [json.loads(line) for line in _text(words).splitlines() if line.strip()]


def _options(name: str, of: Path | Iterable[Path]) -> list[str]:
    several = [of] if isinstance(of, (str, os.PathLike)) else of
    return [f"--{name}={os.fspath(one)}" for one in several]


def stat(
    trace: AnyTrace,
    *,
    core: str = "neoverse-n2",
    set: Set | None = None,
    config: Path | None = None,
    limit: int | str | None = None,
    mode: Literal["full", "memory", "frontend"] | None = None,
    events: str | Iterable[str] | None = None,
    warmup: int | str | None = None,
    roi: str | None = None,
    profile: Literal["guide", "silicon"] | None = None,
    machine: str | None = None,
    seed: int | None = None,
    order: Literal["recorded", "causal", "free"] | None = None,
    metrics: Iterable[Path] = (),
) -> Result:
    """Replays a trace and returns its exact counts, metrics and slots.

    The interpreter runs other threads meanwhile.

    >>> r = stat("traces/sort.n2t", limit=50_000, set={"memory.l1d.size-bytes": "32K"})
    >>> r["l1d_cache_refill"] > 0, round(r.metrics["ipc"], 1) > 0
    (True, True)

    Args:
        trace: a file, an address, or a `Trace`.
        core: `neoverse-n2` or `cortex-a53`.
        set: values of the configuration, by their keys (`n2sim list config`).
        config: a configuration file.
        limit: instructions of each thread to count, such as `2_000_000` or `"2M"`.
        mode: a part of the machine, which runs faster and has fewer events.
        events: only these events, as `perf stat -e` spells them.
        warmup: instructions of each thread that only warm the machine.
        roi: the markers between which is counted, such as `"40,41"` or `"begin,end"`.
        profile: `guide` or `silicon`.
        machine: `generic`, `cobalt-100` or `yitian-710`.
        seed: seed of random choices.
        order: order in which threads synchronize.
        metrics: files with further metrics.

    Raises:
        Error: wrong arguments or a wrong trace, with the message of the program.
    """
    words = ["n2sim", "stat", file_of(trace), *_words.option("mode", mode)]
    words += _words.machine(
        core=core, set=set, config=config, limit=limit, warmup=warmup, roi=roi, profile=profile,
        machine=machine, seed=seed, order=order,
    )  # fmt: skip
    words += [f"--event={event}" for event in _words.listed(events or ())]
    # Files of metrics are accepted beside a chosen metric only; all are computed anyway.
    files = _options("metrics", metrics)
    return Result(_n2sim.count(words + files + ["--metric=ipc"] * bool(files)))


@overload
def explain(
    name: str, *, form: Literal["text", "markdown", "dot", "svg"] = "text", core: str | None = None,
    trace: AnyTrace | None = None, limit: int | str | None = None,
) -> str: ...  # fmt: skip
@overload
def explain(
    name: str, *, form: Literal["json"], core: str | None = None, trace: AnyTrace | None = None,
    limit: int | str | None = None,
) -> dict[str, Any]: ...  # fmt: skip
def explain(
    name: str,
    *,
    form: Literal["text", "markdown", "dot", "svg", "json"] = "text",
    core: str | None = None,
    trace: AnyTrace | None = None,
    limit: int | str | None = None,
) -> str | dict[str, Any]:
    """Explains an event, a metric, a section of the guide or a stall cause.

    >>> explain("l1d_cache_refill").splitlines()[0].startswith("L1D_CACHE_REFILL")
    True
    >>> explain("ll_cache_rd", form="json")["kind"]
    'event'

    Args:
        name: what to explain.
        form: `text`, `markdown`, `dot`, `svg`, or `json` for its data.
        core: another core, whose name and bus bit for the event are given.
        trace: a trace on which the value is given too.
        limit: instructions of each thread of the trace.
    """
    words = ["explain", *_words.option("core", core), *_words.option("limit", limit)]
    words += [] if form == "text" else [f"--{form}"]
    words += [] if trace is None else [f"--trace={file_of(trace)}"]
    text = _text([*words, "--", name])
    if form == "json":
        data: dict[str, Any] = json.loads(text)
        return data
    return Figure(text) if form == "svg" else text


def lint(
    *files: Path,
    formula: str | Iterable[str] = (),
    unit: str | None = None,
    claims: str | None = None,
    core: str | None = None,
    revision: str | None = None,
    counters: int | None = None,
) -> list[dict[str, Any]]:
    """Finds faults of metric formulas without a run, and returns them.

    >>> [one["kind"] for one in lint(formula="100 * OP_RETIRED / CPU_CYCLES", unit="percent of slots")]
    ['unit', 'unit']
    >>> lint(formula="INST_RETIRED / CPU_CYCLES")
    []

    Args:
        files: metric files, or directories of them.
        formula: formulas beside or instead of files.
        unit: unit of the value of the formulas.
        claims: the ground-truth value that the formulas claim to be.
        core: core that counts.
        revision: revision of the core that counts.
        counters: event counters of the machine, from 2 to 31, instead of six.
    """
    words = ["lint", "--json", *(f"--formula={one}" for one in _words.listed(formula))]
    given = {"unit": unit, "claims": claims, "core": core, "revision": revision, "counters": counters}
    words += [word for name, of in given.items() for word in _words.option(name, of)]
    return _objects([*words, *(_words.file(file) for file in files)])


def validate(
    *traces: AnyTrace,
    metrics: Iterable[Path] = (),
    only: str | Iterable[str] = (),
    formula: str | None = None,
    claims: str | None = None,
    scale: str | None = None,
    limit: int | str | None = None,
    set: Set | None = None,
    core: str | None = None,
    tolerance: float | None = None,
    jobs: int | None = None,
) -> list[dict[str, Any]]:
    """Compares metric formulas with ground-truth values: one object for each metric and trace.

    >>> found = validate("traces/hash.n2t", only="ipc", limit=20_000)
    >>> [(one["metric"], one["standing"]) for one in found]
    [('ipc', 'right')]

    Args:
        traces: the traces to replay.
        metrics: metric files; without one, the metrics of n2sim.
        only: only these metrics or groups.
        formula: a formula to validate.
        claims: the ground-truth value that the formula claims to be.
        scale: unit of the formula's value, such as `100percent`.
        limit: instructions of each thread.
        set: values of the configuration.
        core: core on which the traces run.
        tolerance: percent by which a value may be off.
        jobs: number of parallel runs.
    """
    words = ["validate", "--json", *_options("metrics", metrics)]
    words += _words.machine(core=core, set=set, limit=limit)
    given = {"formula": formula, "claims": claims, "scale": scale, "tolerance": tolerance, "jobs": jobs}
    words += [word for name, of in given.items() for word in _words.option(name, of)]
    words += [word for name in _words.listed(only) for word in ("-M", name)]
    return _objects([*words, *(file_of(trace) for trace in traces)])


@overload
def flow(
    source: AnyTrace | None = None, *, form: Literal["text", "dot", "svg"] = "text", access: str | None = None,
    state: str | None = None, case: str | None = None, flows: str | Iterable[str] = (),
    limit: int | str | None = None, set: Set | None = None, core: str | None = None,
) -> str: ...  # fmt: skip
@overload
def flow(
    source: AnyTrace | None = None, *, form: Literal["html"], access: str | None = None,
    state: str | None = None, case: str | None = None, flows: str | Iterable[str] = (),
    limit: int | str | None = None, set: Set | None = None, core: str | None = None,
) -> Page: ...  # fmt: skip
def flow(
    source: AnyTrace | None = None,
    *,
    form: Literal["text", "dot", "svg", "html"] = "text",
    access: str | None = None,
    state: str | None = None,
    case: str | None = None,
    flows: str | Iterable[str] = (),
    limit: int | str | None = None,
    set: Set | None = None,
    core: str | None = None,
) -> str | Page:
    """Returns the flows of the guide through TLBs and caches: of an access, a scenario or a trace.

    >>> "L1D lookup" in flow(access="LD8 0x8000")
    True

    Args:
        source: a trace, or a file of scenarios.
        form: `text`, `dot`, `svg`, or `html` for a `Page`.
        access: steps of a scenario, such as `LD8 0x8000`.
        state: state before the steps.
        case: case of a file of scenarios.
        flows: only the flows of these sections of the guide.
        limit: instructions of each thread of the trace.
        set: values of the configuration.
        core: simulated core.
    """
    words = ["flow", *_words.machine(core=core, set=set, limit=limit)]
    given = {"access": access, "state": state, "case": case}
    words += [word for name, of in given.items() for word in _words.option(name, of)]
    words += [f"--flow={one}" for one in _words.listed(flows)]
    words += [] if form == "text" else [f"--{form}"]
    text = _text(words if source is None else [*words, file_of(source)])
    if form == "html":
        return Page(text)
    return Figure(text) if form == "svg" else text


def record(
    trace: AnyTrace,
    output: Path = "perf.data",
    *,
    events: str | Iterable[str] = (),
    count: int | None = None,
    elf: Iterable[Path] = (),
    limit: int | str | None = None,
    warmup: int | str | None = None,
    set: Set | None = None,
    core: str | None = None,
) -> pathlib.Path:
    """Replays a trace and writes a profile that Linux' perf reads. Returns its file.

    Args:
        trace: the trace to replay.
        output: file to write.
        events: events to sample; without one, the statistical profiling unit samples operations.
        count: operations or events between two samples.
        elf: the recorded program and its libraries, for names and source lines.
        limit: instructions of each thread.
        warmup: instructions of each thread that only warm the machine.
        set: values of the configuration.
        core: simulated core.
    """
    words = ["record", f"--output={os.fspath(output)}", *_words.option("count", count)]
    words += _words.machine(core=core, set=set, limit=limit, warmup=warmup)
    words += [f"--event={event}" for event in _words.listed(events)] + _options("elf", elf)
    _call([*words, file_of(trace)])
    return pathlib.Path(output)


def report(
    trace: AnyTrace,
    output: Path | None = None,
    *,
    elf: Path | None = None,
    limit: int | str | None = None,
    warmup: int | str | None = None,
    set: Set | None = None,
    core: str | None = None,
) -> Page:
    """Returns a page on a run: slots, time, caches, flows, code and counters.

    >>> report("traces/matrix.n2t", limit=20_000).html.startswith("<!DOCTYPE html>")
    True

    Args:
        trace: the trace to replay.
        output: file to write, too.
        elf: the recorded program, for source lines.
        limit: instructions of each thread.
        warmup: instructions of each thread that only warm the machine.
        set: values of the configuration.
        core: simulated core.
    """
    words = _report_words(trace, elf, limit, warmup, set, core)
    if output is not None:
        _call([*words, f"--output={os.fspath(output)}"])
        path = pathlib.Path(output)
        return Page(path.read_text(encoding="utf-8"), path)
    return Page(_text(words))


def report_data(
    trace: AnyTrace,
    *,
    elf: Path | None = None,
    limit: int | str | None = None,
    warmup: int | str | None = None,
    set: Set | None = None,
    core: str | None = None,
) -> dict[str, Any]:
    """Returns all data of the page of `report`; `docs/report-data.md` describes its fields.

    >>> report_data("traces/matrix.n2t", limit=20_000)["format"]
    'n2sim-report/2'
    """
    words = _report_words(trace, elf, limit, warmup, set, core)
    data: dict[str, Any] = json.loads(_text([*words, "--json"]))
    return data


def _report_words(
    trace: AnyTrace,
    elf: Path | None,
    limit: int | str | None,
    warmup: int | str | None,
    set: Set | None,
    core: str | None,
) -> list[str]:
    words = ["report", *_words.machine(core=core, set=set, limit=limit, warmup=warmup)]
    words += _words.option("elf", None if elf is None else os.fspath(elf))
    return [*words, file_of(trace)]
