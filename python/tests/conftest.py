"""The tests run at the top of the repository, whose traces they replay."""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def top_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Names of traces are relative to the top of the repository."""
    monkeypatch.chdir(ROOT)
    yield


@pytest.fixture(scope="session")
def program() -> list[str]:
    """The words that start the program: another build of it, or that of the package."""
    other = os.environ.get("N2SIM_PROGRAM")
    return [other] if other else [sys.executable, "-m", "n2sim"]
