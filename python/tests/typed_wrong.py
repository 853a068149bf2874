"""Uses that the types refuse: mypy reports each marked line, or the mark itself as unused."""

from __future__ import annotations

import n2sim

n2sim.stat()  # type: ignore[call-arg]
n2sim.stat("traces/hash.n2t", mode="half")  # type: ignore[arg-type]
n2sim.stat("traces/hash.n2t", limits=5)  # type: ignore[call-arg]
n2sim.stat("traces/hash.n2t")["cpu_cycles"].upper()  # type: ignore[attr-defined]
n2sim.flow(form="svg").save("x.svg")  # type: ignore[attr-defined]
n2sim.sweep(traces=5)  # type: ignore[arg-type]
