"""Sweeps on a cluster of Dask.

The driver sends chunks of runs of one trace each. Every chunk that comes back is in the journal
before the next one is looked at, so a driver that starts again repeats no journaled run. A worker that
dies loses the chunk that it works on, which another one repeats.
"""

from __future__ import annotations

import functools
import os
import socket
import time
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._journal import Done
from ._n2sim import Error, Grid

if TYPE_CHECKING:
    from distributed import Client

#: Work of a chunk that is worth its way to a worker and back.
CHUNK_SECONDS = 5.0
#: Most runs of a chunk.
CHUNK_MOST = 5_000
#: Chunks that wait on the cluster for each of its threads, besides the one that runs.
AHEAD = 1
#: Times that a chunk is sent again after an exception.
RETRIES = 5
#: Time between two looks at the size of the cluster.
LOOK_SECONDS = 10.0


@functools.lru_cache(maxsize=4)
def _grid(text: str, directory: str) -> tuple[Grid, list[str]]:
    grid = Grid(text, directory)
    return grid, grid.keys()


def run_chunk(text: str, directory: str, numbers: list[int], keys: list[str]) -> list[Done]:
    """Makes runs on a worker, those that have the keys which the driver expects."""
    grid, own_keys = _grid(text, directory)
    worker = f"{socket.gethostname()}-{os.getpid()}"
    done = []
    for number, key in zip(numbers, keys):
        begin = time.monotonic()
        try:
            if own_keys[number] != key:
                raise Error(f"{worker} has another trace, configuration or version of n2sim than the driver")
            row, refusal = grid.run(number), None
        except Error as error:
            row, refusal = None, str(error)
        done.append(Done(number, row, refusal, time.monotonic() - begin, worker))
    return done


class Chunks:
    """Runs that are not sent yet, cut into chunks by the time that a run of their trace took.

    >>> chunks = Chunks([0, 1, 2, 3, 4], traces=[0, 0, 0, 1, 1], most=100)
    >>> chunks.next(), chunks.next()
    ([0], [3])
    >>> chunks.learn([0], 1.0); chunks.next()
    [1, 2]
    >>> chunks.next(), chunks.next()
    ([4], None)
    """

    def __init__(self, pending: list[int], traces: Sequence[int], most: int = CHUNK_MOST) -> None:
        """Takes the numbers of the runs, in the order of the grid, and the trace of each run of the grid."""
        self._of_trace: dict[int, deque[int]] = defaultdict(deque)
        for number in pending:
            self._of_trace[traces[number]].append(number)
        self._turns = deque(self._of_trace)
        self._seconds: dict[int, float] = {}
        self._traces = traces
        self.most = most

    def next(self) -> list[int] | None:
        """Returns a chunk of the trace whose turn it is: one run of a trace whose time is not known."""
        if not self._turns:
            return None
        trace = self._turns.popleft()
        waiting = self._of_trace[trace]
        seconds = self._seconds.get(trace)
        size = 1 if seconds is None else max(1, round(CHUNK_SECONDS / max(seconds, 1e-6)))
        chunk = [waiting.popleft() for _ in range(min(size, self.most, len(waiting)))]
        if waiting:
            self._turns.append(trace)
        return chunk

    def learn(self, numbers: list[int], seconds: float) -> None:
        """Notes the time that these runs of one trace took together."""
        self._seconds[self._traces[numbers[0]]] = seconds / len(numbers)


class _Cluster:
    """The threads of a cluster, looked up now and then."""

    def __init__(self, client: Client) -> None:
        self._client, self._looked, self._threads = client, -LOOK_SECONDS, 1

    def threads(self) -> int:
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._threads = max(1, sum(self._client.nthreads().values()))
            self._looked = time.monotonic()
        return self._threads


def run(
    client: Client,
    text: str,
    directory: str,
    keys: list[str],
    pending: list[int],
    traces: Sequence[int],
    done: Callable[[list[Done]], None],
) -> None:
    """Makes runs on a cluster and passes each chunk to `done` as soon as it is there."""
    from distributed import as_completed

    chunks, cluster = Chunks(pending, traces), _Cluster(client)
    sent: dict[str, tuple[Any, list[int]]] = {}
    arriving = as_completed(loop=client.loop)

    def send() -> None:
        threads = cluster.threads()
        while len(sent) < (1 + AHEAD) * threads:
            left = len(pending) - finished - sum(len(numbers) for _, numbers in sent.values())
            # The last chunks are small, so that all workers end together.
            chunks.most = min(CHUNK_MOST, max(1, left // (2 * threads)))
            numbers = chunks.next()
            if numbers is None:
                return
            name = f"n2sim-{uuid.uuid4().hex}"
            future = client.submit(
                run_chunk,
                text,
                directory,
                numbers,
                [keys[number] for number in numbers],
                key=name,
                retries=RETRIES,
                pure=False,
            )
            sent[name] = (future, numbers)
            arriving.add(future)

    finished = 0
    try:
        send()
        for future in arriving:
            _, numbers = sent.pop(future.key)
            runs = _result(client, future, numbers)
            future.release()
            done(runs)
            finished += len(numbers)
            if (seconds := sum(run.seconds for run in runs)) > 0:
                chunks.learn(numbers, seconds)
            send()
    finally:
        client.cancel([future for future, _ in sent.values()])


def _result(client: Client, future: Any, numbers: list[int]) -> list[Done]:
    """Returns the runs of a chunk; if the cluster gave it up, each with the reason."""
    try:
        runs: list[Done] = future.result()
        return runs
    except Exception as error:  # The cluster passes on whatever its workers raise.
        if client.status != "running":
            raise
        why = f"the cluster gave the run up: {error or type(error).__name__}"
        return [Done(number, None, why, 0.0, "") for number in numbers]
