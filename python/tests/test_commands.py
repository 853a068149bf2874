"""The functions that stand for commands, and the program itself."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

import n2sim

SELF = [sys.executable, "-m", "n2sim"]


def test_explanations_have_several_forms() -> None:
    assert "L1D_CACHE_REFILL" in n2sim.explain("l1d_cache_refill")
    assert n2sim.explain("l1d_cache_refill", form="json")["code"] == "r0003"
    figure = n2sim.explain("l1d_cache_refill", form="svg")
    assert figure.startswith("<svg") and isinstance(figure, n2sim.Figure)
    with pytest.raises(n2sim.Error, match="nothing_at_all"):
        n2sim.explain("nothing_at_all")


def test_lint_and_validate_return_objects() -> None:
    (fault, *_) = n2sim.lint(formula="100 * OP_RETIRED / CPU_CYCLES", unit="percent of slots")
    assert fault["severity"] == "error" and fault["source"] == "--formula"
    (found,) = n2sim.validate(
        "traces/hash.n2t", formula="INST_RETIRED / CPU_CYCLES", claims="ipc", limit=20_000
    )
    assert found["value"] == found["truth"]


def test_flow_report_and_record(tmp_path: pathlib.Path) -> None:
    assert n2sim.flow(access="LD8 0x8000", form="svg").startswith("<svg")
    page = n2sim.flow("traces/hash.n2t", limit=20_000, form="html")
    assert page.save(tmp_path / "flow.html").read_text().startswith("<!DOCTYPE html>")
    page = n2sim.report("traces/hash.n2t", tmp_path / "hash.html", limit=20_000)
    assert page.path == tmp_path / "hash.html" and page._repr_html_().startswith("<iframe srcdoc=")
    data = n2sim.report_data("traces/hash.n2t", limit=20_000)
    assert data["run"]["instructions"] == 20_000
    profile = n2sim.record("traces/hash.n2t", tmp_path / "perf.data", limit=20_000, count=512)
    assert profile.read_bytes().startswith(b"PERFILE2")


def test_run_keeps_what_a_command_prints(capfd: pytest.CaptureFixture[str]) -> None:
    done = n2sim.run("stat", "traces/hash.n2t", "--limit=20000", "-x,")
    assert done.code == 0 and done.output.count("\n") == 147 and "# trace traces/hash.n2t" in done.notes
    assert n2sim.run("lint", "--formula=100 * OP_RETIRED / CPU_CYCLES", "--unit=percent of slots").code == 1
    assert n2sim.run("--version").output.split()[0] == "n2sim"
    with pytest.raises(n2sim.Error, match="unrecognized subcommand 'stad'"):
        n2sim.run("stad")
    printed = capfd.readouterr()
    assert printed.out == "" and printed.err == ""


def test_commands_on_several_threads_keep_apart() -> None:
    names = ["l1d_cache_refill", "cpu_cycles", "ll_cache_rd", "dtlb_walk"] * 4
    texts: dict[int, str] = {}

    def explain(place: int) -> None:
        texts[place] = n2sim.explain(names[place])

    threads = [threading.Thread(target=explain, args=(place,)) for place in range(len(names))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(texts[place] == n2sim.explain(name) for place, name in enumerate(names))


def test_the_program_prints_and_ends_as_usual(tmp_path: pathlib.Path) -> None:
    run = subprocess.run([*SELF, "--version"], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, f"n2sim {n2sim.__version__}\n")
    run = subprocess.run([*SELF, "stat", "no.n2t"], capture_output=True, text=True)
    assert run.returncode == 2 and run.stderr.startswith("n2sim: no.n2t: ")
    run = subprocess.run([*SELF, "stat"], capture_output=True, text=True)
    assert run.returncode == 2 and "Usage: n2sim stat" in run.stderr
    output = tmp_path / "hash.n2t"
    shutil.copy("traces/hash.n2t", output)
    run = subprocess.run([*SELF, "stat", output, "-o", output], capture_output=True, text=True)
    assert run.returncode == 2 and "this command reads that file" in run.stderr
    command = shutil.which("n2sim", path=os.path.dirname(sys.executable))
    assert command is not None
    assert subprocess.run([command, "list", "events"], capture_output=True).returncode == 0
    closed = f"{sys.executable} -m n2sim list events | head -1"
    run = subprocess.run(["bash", "-o", "pipefail", "-c", closed], capture_output=True, text=True)
    assert run.returncode == 0 and run.stderr == ""


def long_run() -> list[str]:
    """Returns words of a run of many seconds."""
    return ["validate", *sorted(map(str, pathlib.Path("traces").glob("*.n2t"))), "--jobs=1"]


def take_ctrl_c() -> None:
    """Lets a process receive Ctrl-C, which a shell makes its background jobs ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_the_program() -> None:
    process = subprocess.Popen(
        [*SELF, *long_run()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=take_ctrl_c
    )
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize("call", ["stat(trace)", "run(*words)"])
def test_ctrl_c_ends_a_call_with_an_exception(call: str) -> None:
    script = f"""
import n2sim, sys
words, trace = {long_run()!r}, "traces/matrix.n2t"
print("begins", flush=True)
try:
    n2sim.{call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, preexec_fn=take_ctrl_c
    )
    assert process.stdout is not None and process.stdout.readline() == "begins\n"
    time.sleep(0.5)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    assert output == "interrupted\n" and time.monotonic() - begin < 3


def test_the_server_of_the_program_calls_the_program() -> None:
    call = {"name": "explain", "arguments": {"name": "l1d_cache_refill"}}
    messages = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    process = subprocess.Popen([*SELF, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert "result" in answer, answer
    assert "L1D_CACHE_REFILL" in json.dumps(answer)
    process.stdin.close()
    assert process.wait(timeout=20) == 0


PROGRAM = """
int main(void) { volatile int sum = 0; for (int i = 0; i < 1000; i++) sum += i; return 0; }
"""


@pytest.mark.skipif(
    not (shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc")),
    reason="recording needs QEMU and a cross compiler",
)
def test_a_program_is_recorded(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text(PROGRAM)
    program = tmp_path / "prog"
    subprocess.run(["aarch64-linux-gnu-gcc", "-O1", "-static", "-o", program, source], check=True)
    trace = tmp_path / "prog.n2t"
    run = subprocess.run(
        [*SELF, "capture", "-o", trace, "--", program], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert n2sim.Trace(trace).program == "prog"
    again = tmp_path / "again.n2t"
    assert "instructions" in n2sim.run("capture", "-o", again, "--", program).notes
    assert n2sim.stat(again).counts == n2sim.stat(trace).counts
    counted = n2sim.run("run", "-e", "instructions", "-x,", "--", program)
    assert int(counted.output.split(",")[0]) == n2sim.Trace(trace).instructions
