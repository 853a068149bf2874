"""Measures how much faster two threads replay two traces than one thread does; needs a quiet machine.

    python python/tests/scaling.py [TRACE]
"""

from __future__ import annotations

import os
import sys
import threading
import time

import n2sim

#: Replays of each thread.
REPLAYS = 2
#: Measurements, of which the best counts.
TIMES = 3


def seconds(threads: int, trace: str) -> float:
    """Returns the time in which each thread replays the trace several times."""

    def replay() -> None:
        for _ in range(REPLAYS):
            n2sim.stat(trace)

    running = [threading.Thread(target=replay) for _ in range(threads)]
    begin = time.monotonic()
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return time.monotonic() - begin


def main() -> int:
    """Prints the times, and returns 1 if two threads are not 1.7 times as fast as one."""
    trace = sys.argv[1] if len(sys.argv) > 1 else "traces/interp.n2t"
    load = os.getloadavg()[0]
    one, two = (min(seconds(threads, trace) for _ in range(TIMES)) for threads in (1, 2))
    gain = 2 * one / two
    print(f"1 thread {one:.2f} s, 2 threads {two:.2f} s for twice the work: {gain:.2f} times as fast")
    print(f"{os.cpu_count()} CPUs, load before: {load:.2f}")
    return 0 if gain >= 1.7 else 1


if __name__ == "__main__":
    sys.exit(main())
