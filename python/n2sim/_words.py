"""Words of n2sim's command line from arguments of Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Union

#: A name of a file.
Path = Union[str, "os.PathLike[str]"]
#: The value of a key of a configuration.
Value = Union[str, int, float, bool]
#: Values of keys of a configuration.
Set = Mapping[str, Value]


def file(path: Path) -> str:
    """Returns a name of a file that no option looks like."""
    name = os.fspath(path)
    return f"./{name}" if name.startswith("-") else name


def value(of: Value) -> str:
    """Returns a value as a configuration spells it.

    >>> value(True), value(2.5), value("128K")
    ('true', '2.5', '128K')
    """
    return str(of).lower() if isinstance(of, bool) else str(of)


def option(name: str, of: Value | None) -> list[str]:
    """Returns an option with its value; nothing for `None` and `False`."""
    if of is None or of is False:
        return []
    return [f"--{name}"] if of is True else [f"--{name}={of}"]


def listed(names: str | Iterable[str]) -> list[str]:
    """Returns names: one alone, or several."""
    return [names] if isinstance(names, str) else list(names)


def machine(
    *,
    core: str | None = None,
    set: Set | None = None,
    config: Path | None = None,
    profile: str | None = None,
    machine: str | None = None,
    seed: int | None = None,
    order: str | None = None,
    limit: int | str | None = None,
    warmup: int | str | None = None,
    roi: str | None = None,
) -> list[str]:
    """Returns the options for the machine and the part of the trace."""
    words = [f"--set={key}={value(of)}" for key, of in (set or {}).items()]
    words += option("core", core)
    words += option("config", None if config is None else os.fspath(config))
    given = {"profile": profile, "machine": machine, "seed": seed, "order": order}
    given |= {"limit": limit, "warmup": warmup, "roi": roi}
    return words + [word for name, of in given.items() for word in option(name, of)]
