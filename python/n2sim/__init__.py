"""n2sim: replays recorded AArch64 programs on a model of the Arm Neoverse N2 and counts its PMU events.

>>> import n2sim
>>> r = n2sim.stat("traces/hash.n2t", limit=100_000)
>>> r["inst_retired"]
100000
>>> r.metrics["ipc"] == r["inst_retired"] / r["cpu_cycles"]
True

What n2sim refuses is an `n2sim.Error`, with the message of the program:

>>> n2sim.stat("traces/hash.n2t", set={"memory.l1d.size-bytes": 3})
Traceback (most recent call last):
...
n2sim.Error: ...
"""

from ._commands import (
    Completed,
    Figure,
    Page,
    explain,
    flow,
    lint,
    record,
    report,
    report_data,
    run,
    stat,
    validate,
)
from ._n2sim import Error, version
from ._result import Result, Slots
from ._sweep import sweep
from ._table import Table
from ._trace import Trace

__version__ = version()

__all__ = [
    "Completed",
    "Error",
    "Figure",
    "Page",
    "Result",
    "Slots",
    "Table",
    "Trace",
    "explain",
    "flow",
    "lint",
    "record",
    "report",
    "report_data",
    "run",
    "stat",
    "sweep",
    "validate",
]
