"""Recorded traces."""

from __future__ import annotations

import html
import os
import pathlib
from typing import Union

from . import _n2sim, _remote, _words


class Trace:
    """A recorded trace: a file, or an address such as `https://host/prog.n2t` or `s3://bucket/prog.n2t`.

    An address needs `n2sim[remote]`; its trace is kept in the user's cache directory.

    >>> trace = Trace("traces/hash.n2t")
    >>> trace.threads, trace.instructions > 1_000_000
    (1, True)
    """

    #: Name or address that was given.
    name: str
    #: File of the trace.
    path: pathlib.Path
    #: Number of recorded instructions of all threads.
    instructions: int
    #: Number of threads.
    threads: int
    #: Number of instructions of each thread.
    instructions_by_thread: list[int]
    #: Command line that was recorded; empty if the trace does not tell.
    command: list[str]
    #: Name of the recorded program, or that of the file.
    program: str
    #: What recorded it, such as a version of QEMU.
    engine: str
    #: True if the trace has the kernel's instructions too.
    full_system: bool
    #: Content hash, as reports print it.
    hash: str
    #: Further notes of the recorder.
    notes: dict[str, str]

    def __init__(self, path: _words.Path) -> None:
        """Opens the trace."""
        self.name = os.fspath(path)
        self.path = _remote.local(self.name)
        found = _n2sim.trace(self.path)
        self.instructions = found["instructions"]
        self.instructions_by_thread = found["threads"]
        self.threads = len(self.instructions_by_thread)
        self.command = found["command"]
        self.program = os.path.basename(self.command[0]) if self.command else self.path.stem
        self.engine = found["engine"]
        self.full_system = found["full_system"]
        self.hash = found["hash"]
        self.notes = found["notes"]

    def __fspath__(self) -> str:
        """Returns the file of the trace."""
        return os.fspath(self.path)

    def __repr__(self) -> str:
        """Returns name and size."""
        return f"<n2sim.Trace {self.name}: {self.instructions:,} instructions, {self._threads()}>"

    def _threads(self) -> str:
        return "1 thread" if self.threads == 1 else f"{self.threads} threads"

    def _repr_html_(self) -> str:
        """Shows the description in a notebook."""
        kind = "a whole system" if self.full_system else "one program"
        found = {
            "program": " ".join(self.command) or self.program,
            "instructions": f"{self.instructions:,}",
            "threads": str(self.threads),
            "recorded": f"{kind}, by {self.engine}" if self.engine else kind,
            "hash": self.hash,
        }
        rows = "".join(
            f"<tr><td>{name}</td><td style='text-align:left'>{html.escape(of)}</td></tr>"
            for name, of in found.items()
        )
        return f"<div><b>{html.escape(self.name)}</b><table>{rows}</table></div>"


#: A trace, or the name or address of one.
AnyTrace = Union[Trace, _words.Path]


def file_of(trace: AnyTrace) -> str:
    """Returns the file of a trace, as a word of a command line."""
    if isinstance(trace, Trace):
        return _words.file(trace.path)
    return _words.file(_remote.local(os.fspath(trace)))
