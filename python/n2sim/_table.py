"""The table of a sweep."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import pyarrow

#: Rows that a notebook shows.
SHOWN = 20


class Table:
    """The results of a sweep, a row for each trace and combination, in the order of the grid.

    The columns are `trace`, the varied keys, `config-hash`, the events, the metrics, and `error` if a
    run failed. A failed run has `None` in the columns of events and metrics.
    """

    #: Values by column.
    columns: dict[str, list[Any]]
    #: Number of runs that this call made.
    ran: int
    #: Number of runs that were in the journal before.
    reused: int

    def __init__(self, columns: list[tuple[str, str, list[Any]]], ran: int = 0, reused: int = 0) -> None:
        """Takes the columns: name, kind and values."""
        self.columns = {name: values for name, _, values in columns}
        self._kinds = {name: kind for name, kind, _ in columns}
        self.ran = ran
        self.reused = reused

    @property
    def failed(self) -> int:
        """Number of rows that failed."""
        return sum(1 for error in self.columns.get("error", ()) if error)

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self.columns["trace"])

    def __getitem__(self, column: str) -> list[Any]:
        """Returns the values of a column."""
        return self.columns[column]

    def __repr__(self) -> str:
        """Returns the size."""
        failed = f", {self.failed} failed" if self.failed else ""
        return f"<n2sim.Table of {len(self)} rows{failed}: {', '.join(list(self.columns)[:6])}, ...>"

    def rows(self) -> list[dict[str, Any]]:
        """Returns the rows, each as values by column."""
        names = list(self.columns)
        return [dict(zip(names, row)) for row in zip(*self.columns.values())]

    def to_arrow(self) -> pyarrow.Table:
        """Returns a table of Arrow. Needs `n2sim[arrow]`."""
        import pyarrow

        kinds = {"text": pyarrow.string(), "count": pyarrow.uint64(), "number": pyarrow.float64()}
        arrays = {
            name: pyarrow.array(values, kinds[self._kinds[name]]) for name, values in self.columns.items()
        }
        return pyarrow.table(arrays)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a frame of pandas. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.columns)

    def _repr_html_(self) -> str:
        """Shows the first rows in a notebook."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        rows = []
        for row in self.rows()[:SHOWN]:
            cells = "".join(f"<td>{html.escape(_shown(value))}</td>" for value in row.values())
            rows.append(f"<tr>{cells}</tr>")
        more = f"<div>{len(self)} rows</div>" if len(self) > SHOWN else ""
        return f"<table><tr>{head}</tr>{''.join(rows)}</table>{more}"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
