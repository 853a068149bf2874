"""Executes notebooks at the top of the repository; the first exception in a cell is an error.

    python python/tests/notebook.py NOTEBOOK...
"""

from __future__ import annotations

import pathlib
import sys

import nbformat
from nbclient import NotebookClient

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main() -> int:
    """Executes the notebooks of the command line."""
    for name in sys.argv[1:]:
        notebook = nbformat.read(name, as_version=4)
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": ROOT}})
        client.execute()
        shown = sum(len(cell.get("outputs", ())) for cell in notebook.cells)
        print(f"{name}: {len(notebook.cells)} cells, {shown} outputs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
