"""A backend that makes its processor flush subnormal numbers, and leaves it so.

It computes before it changes the mode, so that its answers are what they are without it; whatever
is computed in its process from then on loses such numbers, and no verdict may depend on that.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import needs
import pytest
import tiers
from tiny_suites import suite_of

import conformance
from conformance.backends.discovery import load_backend
from conformance.model import Case
from conformance.suite.store import Suite

if sys.platform == "win32":
    pytest.skip("POSIX processes", allow_module_level=True)

OP = "AdaptiveAvgPool-8"

SOURCE = """
#include <xmmintrin.h>
/* Flush to zero, and denormals are zero. */
void flush(int on) { _mm_setcsr(on ? _mm_getcsr() | 0x8040 : _mm_getcsr() & ~0x8040u); }
"""

BACKEND = """
import ctypes
import numpy as np
from conformance.backends.reference import Reference

{flush}

def flushes():
    tiny = np.full(1, 5e-310)
    return float((tiny * 0.5)[0]) == 0

class Flushing(Reference):
    name = "flushing"

    def run(self, *question):
        flush(0)
        outputs = super().run(*question)
        flush(1)
        if not flushes():
            raise RuntimeError("the processor does not flush")
        return outputs

class Wrong(Flushing):
    def run(self, *question):
        return [stepped(output) for output in super().run(*question)]

class Restoring(Reference):
    def run(self, *question):
        flush(0)

class WrongToo(Reference):
    name = "flushing"

    def run(self, *question):
        return [stepped(output) for output in super().run(*question)]

def stepped(output):
    # Beside what is right by the bits: arithmetic would make nothing of it.
    return (output.view(f"u{{output.itemsize}}") + 64).view(output.dtype)
"""


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the backends; skips where nothing here can change the mode."""
    folder = tmp_path_factory.mktemp("flushing")
    compiler = shutil.which("cc")
    library = folder / "flush.so"
    (folder / "flush.c").write_text(SOURCE)
    words = [compiler or "", "-shared", "-fPIC", "-o", str(library), str(folder / "flush.c")]
    if compiler and subprocess.run(words, capture_output=True, check=False).returncode == 0:
        flush = f"flush = ctypes.CDLL({str(library)!r}).flush"
    else:
        if needs.missing("torch"):  # and there is no C compiler for x86-64
            needs.skip("torch")
        import torch

        if not torch.set_flush_denormal(False):
            pytest.skip("this processor cannot be made to flush")
        flush = "import torch\nflush = lambda on: torch.set_flush_denormal(bool(on))"
    file = folder / "flushing.py"
    file.write_text(BACKEND.format(flush=flush))
    return file


@pytest.fixture(autouse=True)
def restored(backend: Path) -> Iterator[None]:
    """What an inline backend leaves behind in this process ends with the test."""
    yield
    load_backend(f"{backend}:Restoring").run("", [], {})


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    cases = [
        Case(
            op=OP,
            types={"T": dtype, "T_SHAPE": "i64"},
            shapes={"data": (1, 2, size)},
            attributes={},
            operands={"output_size": (3,)},
            pattern=pattern,
        )
        for dtype in ("f32", "f64", "f16")
        for pattern in ("subnormal", "mixed", "ramp")
        for size in (7, 12)
    ]
    return suite_of(tmp_path_factory.mktemp("suites") / "subnormal", cases)


def told(run: Any) -> list[tuple[Any, ...]]:
    return [(one.id, one.status, one.kind, one.reading, one.precision) for one in run.results]


@pytest.mark.parametrize("executor", ["process", "inline"])
def test_right_answers_stay_right(suite: Suite, backend: Path, executor: str) -> None:
    undisturbed = conformance.check(suite, "reference")
    run = conformance.check(suite, f"{backend}:Flushing", executor=executor, min_strength=0)
    assert told(run) == told(undisturbed)
    assert run.passed


@pytest.mark.parametrize("executor", tiers.first(["process", "inline"]))
def test_wrong_answers_stay_wrong(suite: Suite, backend: Path, executor: str) -> None:
    undisturbed = conformance.check(suite, f"{backend}:WrongToo", findings=False)
    run = conformance.check(suite, f"{backend}:Wrong", executor=executor, findings=False)
    assert told(run) == told(undisturbed)
    assert [one.witness for one in run.results] == [one.witness for one in undisturbed.results]
    # Some pass by the reading that lets subnormal numbers vanish.
    assert sum(one.kind == "value" for one in run.results) > len(run.results) / 2
