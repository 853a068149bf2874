"""The native part of the package. Its functions serve the modules beside it."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, final

class Error(ValueError):
    """A refusal of n2sim, with its own message."""

def version() -> str:
    """Returns the version of n2sim."""

def program(words: Sequence[str], starter: Sequence[str]) -> int:
    """Runs the program with the words of a command line, and returns its exit code.

    The words of `starter` start it again.
    """

def call(words: Sequence[str]) -> tuple[int, bytes, str]:
    """Runs a command and returns its exit code, its output and its notes."""

def count(words: Sequence[str]) -> dict[str, Any]:
    """Replays a trace and returns its counts, metrics and slots."""

def trace(path: str | PathLike[str]) -> dict[str, Any]:
    """Opens a trace and returns its description."""

#: What a run gave: cores that ran, cycles of the longest, counts of all events, and why it failed.
Row = tuple[int, int, list[int], str | None]

@final
class Grid:
    """The runs of a sweep, checked."""

    def __new__(cls, text: str, directory: str) -> Grid: ...
    def __len__(self) -> int: ...
    def keys(self) -> list[str]:
        """Returns the key of each run: what determines its counts."""

    def traces(self) -> list[tuple[str, Path]]:
        """Returns name and place of each trace."""

    def traces_of_runs(self) -> list[int]:
        """Returns the number of the trace of each run."""

    def run(self, number: int) -> Row:
        """Makes one run."""

    def run_all(self, numbers: Sequence[int], jobs: int, done: Callable[[int, Row], None]) -> list[tuple[int, str]]:
        """Makes runs in parallel and passes each row to `done`. Returns runs without a row, and why."""

    def table(self, rows: dict[str, Row]) -> list[tuple[str, str, list[Any]]]:
        """Returns the columns of the table: name, kind (`text`, `count` or `number`) and values."""
