"""The documented example of a kernel on GPU arrays: on a GPU where there is one, else simulated."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from conformance import api
from conformance.errors import BackendError
from conformance.model import Status

FILE = Path(__file__).parents[2] / "clients" / "python" / "cuda_pool.py"
SIMULATED = "NUMBA_ENABLE_CUDASIM"
OP = "AdaptiveMaxPool-8"

pytestmark = pytest.mark.needs("numba")


@pytest.fixture(scope="module")
def gpu():
    """Whether numba finds a GPU."""
    code = "from numba import cuda; print(cuda.is_available())"
    variables = {name: value for name, value in os.environ.items() if name != SIMULATED}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=variables
    )
    return found.stdout.strip() == "True"


@pytest.fixture
def somewhere(gpu, monkeypatch):
    """The GPU, or numba's simulator, for the processes of a backend."""
    if not gpu:
        monkeypatch.setenv(SIMULATED, "1")


def test_the_document_shows_what_is_run():
    page = (FILE.parents[2] / "docs" / "backends.md").read_text("utf-8")
    shown = page.partition("tests/run/test_gpu_example.py")[2].partition("```python\n")[2]
    shown = shown.partition("```")[0]
    assert len(shown.splitlines()) > 10
    assert shown in FILE.read_text("utf-8")


def of(run):
    return Counter(one.status for one in run.results)


def test_it_is_right(somewhere):
    run = api.check("smoke", str(FILE), ops=[OP])
    assert of(run)[Status.PASS] >= 7
    assert not of(run)[Status.FAIL] + of(run)[Status.ERROR]
    assert run.log.header["environment"]["backend"]["device"]
    assert run.log.header["backend"]["capabilities"]["layout"] == ["NHWC"]


def test_mistakes_in_the_kernel_are_found(somewhere, tmp_path):
    text = FILE.read_text("utf-8")
    for right, wrong in (
        ("((y + 1) * height + values.shape[1] - 1) //", "((y + 1) * height) //"),
        ("(i * width + j) * data.shape[3] + c", "(j * height + i) * data.shape[3] + c"),
    ):
        assert right in text
        text = text.replace(right, wrong)
    file = tmp_path / "wrong_pool.py"
    file.write_text(text, "utf-8")
    run = api.check("core", str(file), ops=[OP], only=["f32-1x3x"], findings=False)
    assert {"value", "index"} <= {one.kind for one in run.results}


def test_options_choose_the_gpu(somewhere):
    with pytest.raises(BackendError) as caught:
        api.check("smoke", f"{FILE}?device=first", ops=[OP])
    assert "device=first: it is a whole number" in caught.value.message
    run = api.check("smoke", f"{FILE}?device=0", ops=[OP], only=["f32-1x1x26x6"])
    assert run.log.header["backend"]["name"] == "cuda-pool (device=0)"


def test_without_a_gpu_it_says_what_simulates_one(gpu, monkeypatch):
    if gpu:
        pytest.skip("there is a GPU")
    monkeypatch.delenv(SIMULATED, raising=False)
    with pytest.raises(BackendError, match="numba finds no GPU; NUMBA_ENABLE_CUDASIM=1 simulates"):
        api.check("smoke", str(FILE), ops=[OP])


def test_on_a_gpu_every_vector_of_core(gpu):
    if not gpu:
        pytest.skip("numba finds no GPU")
    run = api.check(None, str(FILE), ops=[OP])
    assert run.footer["verdict"] == "conformant"
    assert run.log.header["environment"]["backend"]["device"] != "simulated"
