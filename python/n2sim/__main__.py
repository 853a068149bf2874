"""The program n2sim: `python -m n2sim`, and the command `n2sim` that the package installs."""

from __future__ import annotations

import sys

from . import _n2sim


def main() -> int:
    """Runs the program with the words of the command line and returns its exit code."""
    return _n2sim.program(["n2sim", *sys.argv[1:]], [sys.executable, "-m", "n2sim"])


if __name__ == "__main__":
    sys.exit(main())
