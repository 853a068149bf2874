"""A program that uses the package as its types say. `mypy --strict` checks it."""

from __future__ import annotations

import n2sim

trace = n2sim.Trace("traces/hash.n2t")
result: n2sim.Result = n2sim.stat(trace, set={"memory.l2.size-bytes": "1M", "run.seed": 2}, limit="20k")
refills: int = result["l1d_cache_refill"]
missing: int | None = result.get("nothing")
ipc: float = result.metrics["ipc"]
causes: dict[str, int] = result.stalls
shares: list[tuple[str, float]] = [(use.cause, use.slots / result["cpu_cycles"]) for use in result.slots]
text: str = n2sim.explain("l1d_cache_refill")
data: dict[str, object] = n2sim.explain("l1d_cache_refill", form="json")
page: n2sim.Page = n2sim.flow(access="LD8 0x8000", form="html")
figure: str = n2sim.flow(access="LD8 0x8000", form="svg")
table: n2sim.Table = n2sim.sweep(traces=trace, vary={"pipeline.window.rob": [64, 160]}, limit=10_000)
code: int = n2sim.run("list", "events").code
print(refills, missing, ipc, causes, shares, len(text), len(data), len(page.html), len(figure), len(table), code)
