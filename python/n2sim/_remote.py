"""Traces by address, kept by their contents in the user's cache directory."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import tempfile
from typing import Any

from ._n2sim import Error

#: Bytes that are read at once.
BLOCK = 1 << 20
#: What tells that a file at an address has not changed, in the terms of several stores.
MARKS = ("ETag", "etag", "md5Hash", "Content-MD5", "LastModified", "mtime")


def is_address(name: str) -> bool:
    """Returns true for an address, and false for a name of a file.

    >>> is_address("https://host/a.n2t"), is_address("traces/a.n2t")
    (True, False)
    """
    return re.match(r"[a-z][a-z0-9+.-]*://", name) is not None


def directory() -> pathlib.Path:
    """Returns the directory of kept traces: `$XDG_CACHE_HOME/n2sim`, or `~/.cache/n2sim`."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return pathlib.Path(home).expanduser() / "n2sim"


def local(name: str) -> pathlib.Path:
    """Returns the file of a trace; that of an address is fetched, unless it is kept unchanged."""
    if not is_address(name):
        return pathlib.Path(name)
    try:
        import fsspec
    except ImportError as error:
        raise Error(f"{name}: traces by address need n2sim[remote]: pip install 'n2sim[remote]'") from error
    try:
        system, path = fsspec.core.url_to_fs(name)
        mark = _mark(system.info(path))
        note = directory() / "addresses" / hashlib.sha256(name.encode()).hexdigest()
        kept = _kept(note, mark)
        if kept is None:
            kept = _fetch(system, path)
            _replace(note, json.dumps({"address": name, "mark": mark, "file": kept.name}).encode())
        return kept
    except (OSError, ImportError, ValueError) as error:
        raise Error(f"{name}: the trace cannot be fetched: {error or type(error).__name__}") from error


def _mark(info: dict[str, Any]) -> dict[str, str] | None:
    """Returns what tells that the file has not changed, if the store has it."""
    marks = {key: str(info[key]) for key in MARKS if info.get(key)}
    return {"size": str(info.get("size")), **marks} if marks else None


def _kept(note: pathlib.Path, mark: dict[str, str] | None) -> pathlib.Path | None:
    """Returns the kept file of an address that has not changed."""
    try:
        found = json.loads(note.read_text())
        file = directory() / str(found["file"])
        return file if mark and found["mark"] == mark and file.is_file() else None
    except (OSError, ValueError, KeyError):
        return None


def _fetch(system: Any, path: str) -> pathlib.Path:
    """Copies a file and names it after its contents."""
    directory().mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    handle, temporary = tempfile.mkstemp(prefix=".fetch-", dir=directory())
    try:
        with os.fdopen(handle, "wb") as out, system.open(path, "rb") as source:
            while block := source.read(BLOCK):
                digest.update(block)
                out.write(block)
            out.flush()
            os.fsync(out.fileno())
        kept = directory() / f"{digest.hexdigest()}.n2t"
        os.replace(temporary, kept)
        return kept
    except BaseException:
        os.unlink(temporary)
        raise


def _replace(file: pathlib.Path, content: bytes) -> None:
    """Writes a file that no reader sees half."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".note-", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise
