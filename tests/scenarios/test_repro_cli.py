"""``conformance repro``: scripts that fail on their own, where conformance cannot be imported.

Only scripts are kept from importing it: the process that loads the backend needs it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import tiers
from click.testing import CliRunner, Result

import conformance
from conformance.cli import main
from conformance.failure_kind import FailureKind, facts_of
from conformance.model import Case, Status, Vector
from conformance.repro.script_run import run_script
from conformance.specification import build, document_of, find_spec
from conformance.suite.store import Suite
from conformance.suite.writer import write_suite

LOST = {kind for kind in FailureKind if facts_of(kind).loses_process}
AVG, ADAPTIVE, MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"

BLOCK = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "conformance":
            raise ModuleNotFoundError("conformance is not here", name=name)

if sys.orig_argv[1].endswith(".py"):
    sys.meta_path.insert(0, Block())
"""

LIBRARY = """
import os, signal, sys, time
import numpy as np

version = "1.5"

def run(op, inputs, attributes):
    if 0 in attributes.get("strides", ()):
        raise ValueError("no stride of 0")
    return [np.zeros(7, np.float32)]

class Zeros:
    name, version = "zeros", "1"
    def run(self, op, inputs, attributes):
        return [np.zeros((1, 1, 3, 3), np.float32)]

class Outer:
    instance = Zeros()

def accepting(op, inputs, attributes):
    return inputs

def crashing(op, inputs, attributes):
    os.kill(os.getpid(), signal.SIGSEGV)

def shouting(op, inputs, attributes):
    print("\\x1b[2J\\u202e" + "'''" * 3)
    print("x" * 10_000_000)
    raise RuntimeError('\"\"\" + "\\n')
"""


def adaptive(op: str, dtype: str, size: tuple[int, ...], out: tuple[int, ...], **more) -> Case:
    return Case(
        op=op,
        types={"T": dtype, "T_SHAPE": "i64"},
        shapes={"data": (1, 2, *size)},
        attributes={"index_element_type": more.pop("index", "i64")} if op == MAX else {},
        operands={"output_size": out},
        **more,
    )


def pool(dtype: str, shape: tuple[int, ...], pads: int = 1, **changes) -> Case:
    axes = len(shape) - 2
    attributes = {
        "auto_pad": "explicit",
        "rounding_type": "floor",
        "exclude-pad": False,
        "kernel": [3] * axes,
        "strides": [2] * axes,
        "pads_begin": [1] * axes,
        "pads_end": [pads] * axes,
        **changes.pop("attributes", {}),
    }
    return Case(AVG, {"T": dtype}, {"data": shape}, attributes, **changes)


CASES = {
    "pool": pool("f32", (1, 1, 5, 5)),
    "pool-bf16": pool("bf16", (1, 2, 5), pads=0),  # PyTorch's adapter pads this itself
    "pool-f64": pool("f64", (1, 2, 5), pattern="normal"),
    "short-kernel": pool("f32", (1, 1, 5, 5), attributes={"kernel": [3]}, reject="kernel-short"),
    "zero-stride": pool("f32", (1, 1, 5, 5), attributes={"strides": [0, 2]}, reject="zero-stride"),
    "bf16-3d": adaptive(ADAPTIVE, "bf16", (3, 4, 5), (1, 1, 2), pattern="cancel"),
    "f64": adaptive(ADAPTIVE, "f64", (5,), (3,), pattern="normal"),
    "max-i64": adaptive(MAX, "f32", (7,), (3,), pattern="ties"),
    "max-i32": adaptive(MAX, "bf16", (4, 7), (2, 3), index="i32"),
    "same": pool("f32", (1, 1, 5), attributes={"auto_pad": "same_upper"}),
    "many": adaptive(ADAPTIVE, "f32", (30, 31), (30, 30), pattern="normal"),
}


@pytest.fixture(scope="module")
def vectors() -> dict[str, Vector]:
    return {name: build(find_spec(case.op), case) for name, case in CASES.items()}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, vectors: dict[str, Vector]) -> Suite:
    folder = tmp_path_factory.mktemp("suites") / "asked"
    listed = [(vector, ("core",)) for vector in vectors.values()]
    return write_suite(folder, listed, name="asked", seed=0, versions={})


@pytest.fixture(autouse=True)
def blocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts that start from here cannot import conformance, and find the library."""
    (tmp_path / "sitecustomize.py").write_text(BLOCK)
    for name in ("library.py", "my-library.py"):
        (tmp_path / name).write_text(LIBRARY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)


def repro(suite: Suite, vector: Vector, backend: str, *more: str) -> Result:
    words = ["repro", vector.id, "--suite", str(suite.path), "--backend", backend, *more]
    return CliRunner().invoke(main, words)


def run(script: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=False
    )


def test_conformance_cannot_be_imported_there(tmp_path: Path) -> None:
    (tmp_path / "importing.py").write_text("import conformance")
    assert "conformance is not here" in run(tmp_path / "importing.py").stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("backend", "names"),
    [
        pytest.param(
            "openvino",
            ["max-i64", "f64", "pool", "zero-stride", "pool-bf16", "max-i32"],
            marks=pytest.mark.needs("openvino"),
        ),
        pytest.param(
            "torch",
            ["bf16-3d", "short-kernel", "pool-bf16", "max-i32"],
            marks=pytest.mark.needs("torch"),
        ),
    ],
)
def test_a_framework_alone_shows_what_a_check_found(
    suite: Suite, vectors: dict[str, Vector], backend: str, names: list[str]
) -> None:
    asked = [vectors[name].id for name in names]
    results = {
        result.id: result
        for result in conformance.check(suite, backend, only=asked, executor="inline").results
    }
    for vector in asked:
        agrees(repro(suite, suite.get(vector), backend), results[vector])
    statuses = {result.status for result in results.values()}
    if len(statuses) == 1:
        pytest.skip(f"this version of {backend} answers all alike")


def agrees(printed: Result, result: conformance.model.Result) -> None:
    """A script is WRONG where the check fails, and nowhere else, without this package."""
    assert result.status in (Status.PASS, Status.FAIL, Status.ERROR)
    assert printed.exit_code == 0, printed.output
    text = printed.stdout
    assert "import conformance" not in text
    assert "from conformance" not in text
    if result.status is Status.PASS:
        assert "exits with 0" in printed.stderr, text
        assert "\n# right" in text
        assert "\n# WRONG" not in text
    else:
        assert "exits with 1" in printed.stderr, text
        assert "\n# WRONG" in text
        if result.kind in ("value", "index"):
            assert result.message.partition(" (against")[0] in text


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("backend", "op"),
    [
        pytest.param(backend, op, marks=pytest.mark.needs(backend.partition("?")[0]))
        for backend, op in (
            ("openvino", "onnx.AveragePool-22"),
            ("onnxruntime", "onnx.AveragePool-22"),
            ("onnx-reference", "onnx.AveragePool-22"),
            ("tract", "onnx.AveragePool-22"),
            ("tvm", "onnx.AveragePool-22"),
            ("jax", AVG),
            ("ncnn", AVG),
            ("litert", AVG),
            ("litert?delegate=none", AVG),
        )
    ],
)
def test_each_way_to_pass_and_to_fail_has_a_script_that_does_so(backend: str, op: str) -> None:
    results = conformance.check("smoke", backend, ops=[op], jobs=1).results
    statuses = (Status.PASS, Status.FAIL, Status.ERROR)
    # A crash ends the script, too, which prints nothing then.
    tested = [r for r in results if r.status in statuses and r.kind not in LOST]
    # A negative test that passes is another way than outputs that are right.
    ways = {(r.status, r.kind, r.reject is None): r for r in reversed(tested)}
    assert any(status is Status.PASS for status, _, _ in ways)
    for result in ways.values():
        words = ["repro", result.id, "--backend", backend, "--suite", "smoke"]
        agrees(CliRunner().invoke(main, words), result)


def test_the_script_itself(suite: Suite, vectors: dict[str, Vector], tmp_path: Path) -> None:
    vector = vectors["pool"]
    found = repro(suite, vector, "library.py:Zeros", "--out", "wrong.py")
    assert found.exit_code == 0, found.output
    assert found.stdout == ""
    assert found.stderr.splitlines() == ["script: wrong.py", "run once, it exits with 1"]
    text = (tmp_path / "wrong.py").read_text()
    assert max(len(line) for line in text.splitlines() if "https://" not in line) <= 100
    assert "tested on zeros 1." in text
    assert vector.description.split()[0] in text
    assert document_of(find_spec(AVG))[1] in text
    assert f"Vector {vector.id} of suite asked, level must, precision standard" in " ".join(
        text.replace("\n#", "").split()
    )
    found = run("wrong.py")
    assert found.returncode == 1
    assert found.stderr == ""
    lines = found.stdout.splitlines()
    assert lines[:2] == ["WRONG (compared as specified):", "result: 9 of 9 elements are wrong"]
    assert all(f"# {line}" in text for line in lines)
    answer = vector.answers[0]
    lo, hi = answer.lo[0, 0, 0, 0], answer.hi[0, 0, 0, 0]
    interval = f"{lo!s}" if lo == hi else f"{lo!s} to {hi!s}"
    assert lines[2] == f"  [0, 0, 0, 0]: got 0.0, accepted {interval}"


@pytest.mark.parametrize(
    ("backend", "line"),
    [
        ("library.py:run", "from library import run"),
        ("library.py:Outer.instance", "outputs = Outer.instance.run(op, inputs, attributes)"),
        ("my-library.py:Zeros", "Zeros = importlib.import_module('my-library').Zeros"),
        ("library:Zeros", "outputs = Zeros().run(op, inputs, attributes)"),
    ],
)
def test_a_backend_of_ones_own(
    suite: Suite, vectors: dict[str, Vector], backend: str, line: str
) -> None:
    found = repro(suite, vectors["pool"], backend)
    assert "run once, it exits with 1" in found.stderr
    assert line in found.stdout
    assert "result: " in found.stdout


def test_a_package_in_the_current_folder(
    suite: Suite, vectors: dict[str, Vector], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "elsewhere" / "vendor"
    package.mkdir(parents=True)
    (package / "adapter.py").write_text(LIBRARY)
    monkeypatch.chdir(package.parent)
    found = repro(suite, vectors["pool"], "vendor.adapter:Zeros")
    assert "run once, it exits with 1" in found.stderr
    assert f"sys.path.insert(0, '{package.parent}')  # where vendor.adapter lies" in found.stdout
    assert "# result: 9 of 9 elements are wrong" in found.stdout


def test_a_script_finds_the_backend_from_its_own_place(
    suite: Suite, vectors: dict[str, Vector], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named by a relative path; the script runs in another folder, and after both have moved."""
    place = tmp_path / "place"
    (place / "npu").mkdir(parents=True)
    (place / "npu" / "mine.py").write_text(LIBRARY)
    monkeypatch.chdir(place)
    found = repro(suite, vectors["pool"], "npu/mine.py:Zeros", "--out", "out/wrong.py")
    assert "run once, it exits with 1" in found.stderr
    text = (place / "out" / "wrong.py").read_text()
    assert "str(Path(__file__).resolve().parent / '../npu'))  # where mine lies" in text
    moved = place.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    ran = subprocess.run(
        [sys.executable, "moved/out/wrong.py"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1, ran.stderr
    assert "9 of 9 elements are wrong" in ran.stdout
    (moved / "npu" / "mine.py").unlink()
    ran = subprocess.run(
        [sys.executable, "moved/out/wrong.py"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "nothing was tested, an import failed: ModuleNotFoundError" in ran.stdout


def test_a_refusal_and_an_answer_that_should_be_one(
    suite: Suite, vectors: dict[str, Vector]
) -> None:
    right = repro(suite, vectors["zero-stride"], "library.py:run")
    assert "exits with 0, so it passes" in right.stderr
    assert "hint: if it failed in a run, its result differs from call to call" in right.stderr
    assert "# right: refused with ValueError: no stride of 0" in right.stdout
    wrong = repro(suite, vectors["zero-stride"], "library.py:accepting")
    assert "exits with 1" in wrong.stderr
    assert "hint" not in wrong.stderr
    assert "# WRONG: accepted, should raise an exception: zero-stride" in wrong.stdout


def test_a_crash_leaves_a_script_that_says_so(suite: Suite, vectors: dict[str, Vector]) -> None:
    found = repro(suite, vectors["pool"], "library.py:crashing")
    assert found.exit_code == 0
    assert "run once, it was ended by SIGSEGV" in found.stderr
    assert "it was ended by SIGSEGV." in found.stdout


def test_a_script_that_does_not_end_is_ended() -> None:
    trial = run_script("import time\nprint('begun', flush=True)\ntime.sleep(60)", 0.5)
    assert trial.code is None
    assert trial.ending == "did not end within 0.5 s"
    assert trial.printed in ((), ("begun",))


def test_what_a_backend_prints_stays_a_comment(
    suite: Suite, vectors: dict[str, Vector], tmp_path: Path
) -> None:
    found = repro(suite, vectors["pool"], "library.py:shouting", "--out", "loud.py")
    assert found.exit_code == 0
    text = (tmp_path / "loud.py").read_text()
    assert len(text) < 20_000
    assert text.isascii()
    assert "\x1b" not in text
    assert run("loud.py").returncode == 1


def test_large_arrays_are_packed(suite: Suite, vectors: dict[str, Vector]) -> None:
    found = repro(suite, vectors["many"], "library.py:run")
    assert "run once, it exits with 1" in found.stderr
    assert "unpacked(" in found.stdout
    assert "result: float32 (7,) instead of float32 (1, 2, 30, 30)" in found.stdout


def test_one_too_large_for_an_issue_and_one_too_large_at_all(
    vectors: dict[str, Vector], tmp_path: Path
) -> None:
    made = {
        size: build(find_spec(ADAPTIVE), adaptive(ADAPTIVE, "f64", (size,), (1,), pattern="normal"))
        for size in (5_000, 60_000)
    }
    listed = [(vector, ("core",)) for vector in made.values()]
    suite = write_suite(tmp_path / "large", listed, name="large", seed=0, versions={})
    found = repro(suite, made[5_000], "library.py:run")
    assert found.exit_code == 0
    assert "characters, more than a GitHub issue may have: attach it" in found.stderr
    found = repro(suite, made[60_000], "library.py:run")
    assert found.exit_code == 2
    assert "choose a smaller vector" in found.stderr


REPRODUCING = """
class Backend:
    name, version = "told", "1"
    def run(self, op, inputs, attributes):
        raise AssertionError("is not asked")
    def reproduce(self, op, inputs, attributes):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 7", "reproduce() returned int, not Python source"),
        ("return 'outputs = ['", "reproduce() returned no Python source: SyntaxError"),
        ("raise OSError('gone')", "reproduce() raised OSError: gone"),
    ],
)
def test_an_account_that_cannot_be_used(
    suite: Suite, vectors: dict[str, Vector], tmp_path: Path, body: str, message: str
) -> None:
    (tmp_path / "told.py").write_text(REPRODUCING.format(body=body))
    found = repro(suite, vectors["pool"], "told.py:Backend")
    assert found.exit_code == 2
    assert message in found.stderr
    assert "hint: " in found.stderr


RAISING = """
from conformance.backends.reference import Reference

class Backend(Reference):
    name, version = "mine", "1"
    def reproduce(self, op, inputs, attributes):
        return "raise TypeError('no tensor of bfloat16')"
"""


def test_a_script_that_fails_for_another_reason_proves_nothing(
    suite: Suite, vectors: dict[str, Vector], tmp_path: Path
) -> None:
    """The backend passes the vector: its script alone raises."""
    (tmp_path / "mine.py").write_text(RAISING)
    found = repro(suite, vectors["pool"], "mine.py:Backend")
    assert found.exit_code == 1
    passes = "in a check the backend passes this vector"
    assert f"it does not reproduce what the backend does: {passes}" in found.stderr
    assert f"# This does not reproduce what the backend does: {passes}." in found.stdout


def test_an_account_of_ones_own(suite: Suite, vectors: dict[str, Vector], tmp_path: Path) -> None:
    body = """return '''
import json  # not the library
from math import (
    pi,
)
outputs = [np.full((1, 1, 3, 3), pi + len(json.dumps(attributes)) + len(op), np.float32)]
'''"""
    (tmp_path / "told.py").write_text(REPRODUCING.format(body=body))
    found = repro(suite, vectors["pool"], "told.py:Backend")
    assert "exits with 1" in found.stderr
    assert "result: 9 of 9 elements are wrong" in found.stdout
    head = found.stdout.partition("op = ")[0]
    assert "\nimport json\n" in head
    assert "\nfrom math import pi\n" in head


@pytest.mark.parametrize(
    ("backend", "name", "message"),
    [
        ("numpy", "pool", "the backend numpy is part of conformance"),
        pytest.param(
            "torch",
            "same",
            "torch does not support this vector: auto_pad same_upper",
            marks=pytest.mark.needs("torch"),
        ),
        ("library.py:Zero", "pool", "did you mean 'Zeros'?"),
    ],
)
def test_what_no_script_is_made_of(
    suite: Suite, vectors: dict[str, Vector], backend: str, name: str, message: str
) -> None:
    found = repro(suite, vectors[name], backend)
    assert found.exit_code == 2
    assert message in found.stderr
    assert found.stdout == ""


HOSTILE = """
import atexit, os, signal, subprocess, time
{line}
def run(op, inputs, attributes):
    return inputs
"""


@pytest.mark.parametrize(
    ("line", "message"),
    tiers.sweep(
        [
            ("os._exit(7)", "exits with 7"),
            ("os._exit(0)", "exits with 0"),
            ("os.kill(os.getpid(), signal.SIGSEGV)", "was ended by SIGSEGV"),
            ("print('no driver', flush=True); os.abort()", "was ended by SIGABRT\n  no driver"),
            ("raise SystemExit(0)", "SystemExit: 0"),
            ("time.sleep(600)", "did not end within 2 s"),
        ],
        lambda _, message: [message.split()[0] in ("exits", "did")],
    ),
)
def test_one_that_is_lost_while_it_is_loaded_is_an_error(
    suite: Suite, vectors: dict[str, Vector], tmp_path: Path, line: str, message: str
) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE.format(line=line))
    seconds = "2" if "sleep" in line else "60"
    found = repro(suite, vectors["pool"], "hostile.py:run", "--timeout", seconds)
    assert found.exit_code == 2
    assert found.stdout == ""
    assert message in found.stderr
    assert "hint: " in found.stderr


@pytest.mark.exhaustive
def test_one_that_hangs_when_its_process_ends_still_gets_a_script(
    suite: Suite, vectors: dict[str, Vector], tmp_path: Path
) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE.format(line="atexit.register(time.sleep, 600)"))
    found = repro(suite, vectors["pool"], "hostile.py:run", "--timeout", "4")
    assert found.exit_code == 0
    assert "run once, it did not end within 4 s" in found.stderr
    assert "outputs = run(op, inputs, attributes)" in found.stdout


def test_an_answer_that_the_backend_forged_is_none(
    suite: Suite, vectors: dict[str, Vector], tmp_path: Path
) -> None:
    for forged in ("nothing", '{"backend": 1}', '{"body": "x", "imports": "("}'):
        line = f"import sys; open(sys.orig_argv[5], 'w').write({forged!r}); os._exit(0)"
        (tmp_path / "hostile.py").write_text(HOSTILE.format(line=line))
        found = repro(suite, vectors["pool"], "hostile.py:run")
        assert found.exit_code == 2
        assert found.stdout == ""
        assert "hint: " in found.stderr


@pytest.mark.exhaustive
def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True)\ntime.sleep(600)\n"
    )
    trial = run_script(script, 2)
    deadline = time.monotonic() + 10
    while alive(int(trial.printed[0])):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether a process still runs; one that nobody has asked for its end does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_place_that_cannot_be_written(suite: Suite, vectors: dict[str, Vector]) -> None:
    Path("file").write_text("")
    found = repro(suite, vectors["pool"], "library.py:Zeros", "--out", f"file{os.sep}wrong.py")
    assert found.exit_code == 2
    assert "cannot be written" in found.stderr
