"""The counts of a replay."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow

#: Colors of the parts of the bar of slots.
COLORS = {
    "used": "#2a7f62",
    "front end": "#c98a1b",
    "memory": "#b0413e",
    "core": "#6c6ea0",
    "lost": "#b0413e",
}
#: Events of the table in a notebook, in its order.
SHORT = (
    "cpu_cycles",
    "inst_retired",
    "br_mis_pred_retired",
    "br_mis_pred",
    "l1i_cache_refill",
    "l1d_cache_refill",
    "l2d_cache_refill",
    "dtlb_walk",
    "stall_frontend",
    "stall_backend",
)


class Slots(NamedTuple):
    """Slots of the core that were used, or empty for one cause."""

    #: `used`, `front end`, `memory`, `core`; on a Cortex-A53 `used` or `lost`.
    part: str
    #: Cause, as `n2sim stat --stalls` prints it.
    cause: str
    #: Number of slots.
    slots: int


class Result(Mapping[str, int]):
    """The exact counts of a replay, by event.

    Names are those of `n2sim stat`, in any case. An event that the simulated part of the machine does
    not have is absent.

    >>> import n2sim
    >>> r = n2sim.stat("traces/hash.n2t", limit=50_000)
    >>> r["inst_retired"], r["INST_RETIRED"]
    (50000, 50000)
    >>> len(r), "l1d_cache_refill" in r, r.get("nothing")
    (147, True, None)
    """

    #: File of the trace.
    trace: str
    #: Simulated core, such as `neoverse-n2`.
    core: str
    #: Number of simulated cores: one for each thread.
    cores: int
    #: Modeled time in seconds; `None` if cycles are not counted.
    seconds: float | None
    #: Count of each event over all cores.
    counts: dict[str, int]
    #: Value of each metric of the core, in its unit; NaN if it has none in this run.
    metrics: dict[str, float]
    #: Unit of each metric.
    units: dict[str, str]
    #: Use of all slots of the core; empty without a pipeline.
    slots: list[Slots]
    #: What a reader of the counts has to know.
    notes: list[str]

    def __init__(self, counted: dict[str, Any]) -> None:
        """Takes what the native part counted."""
        self.trace = counted["trace"]
        self.core = counted["core"]
        self.cores = counted["cores"]
        self.seconds = counted["seconds"]
        self.counts = counted["counts"]
        self.metrics = {name: value for name, (value, _) in counted["metrics"].items()}
        self.units = {name: unit for name, (_, unit) in counted["metrics"].items()}
        self.slots = [Slots(*use) for use in counted["slots"]]
        self.notes = [note.removeprefix("n2sim: ").removeprefix("note: ") for note in counted["notes"]]

    @property
    def stalls(self) -> dict[str, int]:
        """Empty slots by cause.

        >>> import n2sim
        >>> r = n2sim.stat("traces/hash.n2t", limit=50_000)
        >>> sum(r.stalls.values()) + r["op_spec"] == 5 * r["cpu_cycles"]
        True
        """
        return {use.cause: use.slots for use in self.slots if use.part != "used"}

    def __getitem__(self, event: str) -> int:
        """Returns the count of an event."""
        count = self.counts.get(event)
        if count is None:
            count = self.counts.get(event.lower())
        if count is None:
            raise KeyError(event)
        return count

    def __iter__(self) -> Iterator[str]:
        """Returns the names of the events."""
        return iter(self.counts)

    def __len__(self) -> int:
        """Returns the number of events."""
        return len(self.counts)

    def __repr__(self) -> str:
        """Returns the run and its speed."""
        return f"<n2sim.Result of {self.trace} on {self.core}: {len(self)} events{self._speed()}>"

    def _speed(self) -> str:
        ipc = self.metrics.get("ipc")
        return "" if ipc is None or ipc != ipc else f", {ipc:.2f} instructions per cycle"

    def to_arrow(self) -> pyarrow.Table:
        """Returns a table of Arrow with the columns `event` and `count`. Needs `n2sim[arrow]`."""
        import pyarrow

        counts = pyarrow.array(self.counts.values(), pyarrow.uint64())
        return pyarrow.table({"event": list(self.counts), "count": counts})

    def _repr_html_(self) -> str:
        """Shows the slots as a bar, and the most important events, in a notebook."""
        title = html.escape(f"{self.trace} on {self.core}{self._speed()}")
        rows = "".join(
            f"<tr><td style='text-align:left'>{name}</td><td>{self.counts[name]:,}</td></tr>"
            for name in SHORT
            if name in self.counts
        )
        notes = "".join(f"<div>{html.escape(note)}</div>" for note in self.notes)
        return f"<div><b>{title}</b>{self._bar()}<table>{rows}</table>{notes}</div>"

    def _bar(self) -> str:
        total = sum(use.slots for use in self.slots)
        if total == 0:
            return ""
        parts = []
        for use in self.slots:
            share = 100 * use.slots / total
            text = html.escape(f"{use.part}: {use.cause}, {share:.1f} %")
            style = f"width:{share:.3f}%;background:{COLORS[use.part]};box-shadow:inset -1px 0 #fff8"
            parts.append(f"<div title='{text}' style='{style}'></div>")
        keys = []
        for part in dict.fromkeys(use.part for use in self.slots):
            share = 100 * sum(use.slots for use in self.slots if use.part == part) / total
            keys.append(f"<span style='color:{COLORS[part]}'>&#9632;</span> {part} {share:.1f} %")
        bar = "".join(parts)
        return (
            f"<div style='display:flex;height:1.4em;max-width:60em'>{bar}</div>"
            f"<div>{'&ensp;'.join(keys)}</div>"
        )
