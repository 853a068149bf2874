"""Traces by address, from a server on this machine."""

from __future__ import annotations

import functools
import http.server
import pathlib
import shutil
import threading
from collections.abc import Iterator

import pytest

import n2sim

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files with a mark of their contents, and counts what it sends."""

    sent: list[str] = []

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing."""

    def end_headers(self) -> None:
        path = pathlib.Path(self.translate_path(self.path))
        if path.is_file():
            found = path.stat()
            self.send_header("ETag", f'"{found.st_mtime_ns}-{found.st_size}"')
        super().end_headers()

    def do_GET(self) -> None:
        """Sends a file."""
        Handler.sent.append(self.path)
        super().do_GET()


@pytest.fixture
def server(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, pathlib.Path]]:
    """A server of a directory, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    served = tmp_path / "served"
    served.mkdir()
    handler = functools.partial(Handler, directory=str(served))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Handler.sent.clear()
    yield f"http://127.0.0.1:{server.server_port}", served
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_trace_is_fetched_once(server: tuple[str, pathlib.Path]) -> None:
    address, served = server
    shutil.copy("traces/sort.n2t", served / "a.n2t")
    trace = n2sim.Trace(f"{address}/a.n2t")
    assert trace.name == f"{address}/a.n2t" and trace.path.read_bytes() == (served / "a.n2t").read_bytes()
    counts = n2sim.stat(trace, limit=20_000).counts
    fetched = len(Handler.sent)
    assert counts == n2sim.stat("traces/sort.n2t", limit=20_000).counts
    assert counts == n2sim.stat(f"{address}/a.n2t", limit=20_000).counts
    assert len(Handler.sent) == fetched, "it is kept"
    shutil.copy("traces/sort.n2t", served / "b.n2t")
    assert n2sim.Trace(f"{address}/b.n2t").path == trace.path, "files are kept by their contents"
    shutil.copy("traces/hash.n2t", served / "a.n2t")
    assert n2sim.Trace(f"{address}/a.n2t").hash == n2sim.Trace("traces/hash.n2t").hash, "it has changed"


def test_an_address_that_does_not_answer_is_named(server: tuple[str, pathlib.Path]) -> None:
    address, _ = server
    with pytest.raises(n2sim.Error, match=r"no\.n2t: the trace cannot be fetched"):
        n2sim.Trace(f"{address}/no.n2t")
    with pytest.raises(n2sim.Error, match="the trace cannot be fetched"):
        n2sim.Trace("gopher://host/a.n2t")


def test_a_trace_comes_from_object_storage(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs")
    boto3 = pytest.importorskip("boto3")
    moto = pytest.importorskip("moto.server")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        store = boto3.client("s3")
        store.create_bucket(Bucket="traces")
        store.upload_file("traces/sort.n2t", "traces", "a.n2t")
        assert n2sim.stat("s3://traces/a.n2t", limit=20_000).counts == n2sim.stat("traces/sort.n2t", limit=20_000).counts
        store.upload_file("traces/hash.n2t", "traces", "a.n2t")
        assert n2sim.Trace("s3://traces/a.n2t").hash == n2sim.Trace("traces/hash.n2t").hash, "it has changed"
        with pytest.raises(n2sim.Error, match=r"no\.n2t: the trace cannot be fetched"):
            n2sim.Trace("s3://traces/no.n2t")
    finally:
        server.stop()
