"""The finished runs of a sweep in a directory: Parquet files, each complete when it has its name."""

from __future__ import annotations

import fcntl
import os
import pathlib
import time
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ._n2sim import Error

if TYPE_CHECKING:
    import pyarrow

    from ._n2sim import Row

#: Ending of the name of a part.
PART = ".runs.parquet"
#: The table of all runs, written when the last one is there.
TABLE = "table.parquet"


class Done(NamedTuple):
    """A run that ended."""

    #: Number of the run in the grid.
    number: int
    #: What it gave; `None` if it was refused, for a reason that may pass.
    row: Row | None
    #: Why it was refused.
    refusal: str | None
    #: Time that it took; NaN if it was not measured.
    seconds: float
    #: Where it ran.
    worker: str


class Journal:
    """The directory, for one sweep at a time."""

    def __init__(self, directory: pathlib.Path) -> None:
        """Opens or makes the directory and reads its runs."""
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            raise Error("out: a journal needs n2sim[arrow]: pip install 'n2sim[arrow]'") from error
        self.directory = directory
        self.directory.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            raise Error(f"{directory} is in use: another sweep writes it") from error
        except OSError:
            pass  # Some shared directories have no locks.
        else:
            for left in (*directory.glob(f".*{PART}.*"), *directory.glob(f".{TABLE}.*")):
                left.unlink(missing_ok=True)
        #: Rows by the keys of their runs.
        self.rows: dict[str, Row] = {}
        for part in sorted(directory.glob(f"*{PART}")):
            self._read(part)

    def close(self) -> None:
        """Lets other sweeps use the directory."""
        os.close(self._lock)

    def _read(self, part: pathlib.Path) -> None:
        import pyarrow.parquet

        try:
            table = pyarrow.parquet.read_table(part)
            columns = [table.column(name).to_pylist() for name in ("cores", "longest", "counts", "error")]
            self.rows |= dict(zip(table.column("key").to_pylist(), zip(*columns)))
        except (OSError, KeyError, ValueError) as error:
            raise Error(f"{part}: it is no part of a journal, remove it: {error}") from error

    def add(self, runs: Iterable[tuple[str, Done]]) -> None:
        """Writes a part with these runs, each with its key. Refused ones are left out."""
        import pyarrow

        kept = [(key, done, done.row) for key, done in runs if done.row is not None]
        if not kept:
            return
        columns = {
            "key": pyarrow.array([key for key, _, _ in kept], pyarrow.string()),
            "cores": pyarrow.array([row[0] for _, _, row in kept], pyarrow.uint32()),
            "longest": pyarrow.array([row[1] for _, _, row in kept], pyarrow.uint64()),
            "counts": pyarrow.array([row[2] for _, _, row in kept], pyarrow.list_(pyarrow.uint64())),
            "error": pyarrow.array([row[3] for _, _, row in kept], pyarrow.string()),
            "seconds": pyarrow.array([done.seconds for _, done, _ in kept], pyarrow.float64()),
            "worker": pyarrow.array([done.worker for _, done, _ in kept], pyarrow.string()),
        }
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}{PART}"
        write(pyarrow.table(columns), self.directory / name)
        self.rows |= {key: row for key, _, row in kept}


def write(table: pyarrow.Table, path: pathlib.Path) -> None:
    """Writes a table to a file that no reader sees half, whatever ends this process."""
    import pyarrow.parquet

    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as out:
            pyarrow.parquet.write_table(table, out, compression="zstd")
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
