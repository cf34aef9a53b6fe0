"""A small suite on disk, made from the shipped specifications, for tests of whole runs."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from conformance.model import Case
from conformance.suite import vector_cache

if TYPE_CHECKING:
    from conformance.suite.store import Suite

pytest_plugins = ["needs", "tiers"]

# How long an example takes says more of the machine than of the code.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")

# Tests run side by side already: more threads for one small product of matrices only wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


# Evaluated once for all tests and all runs in this checkout, and not into the user's own cache.
os.environ.setdefault(
    vector_cache.VARIABLE, str(Path(__file__).resolve().parent.parent / ".pytest_cache" / "vectors")
)


def hand_on(prefix: str) -> None:
    """Put what is compiled of the modules that are loaded where ``PYTHONPYCACHEPREFIX`` looks.

    With that variable Python looks nowhere else, so each process would compile numpy and pytest.
    """
    for module in list(sys.modules.values()):
        compiled = Path(getattr(module, "__cached__", None) or "")
        if compiled.is_file():
            folder = compiled.parent.parent
            copy = Path(prefix, folder.relative_to(folder.anchor), compiled.name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(compiled, copy)


if sys.dont_write_bytecode and sys.pycache_prefix is None:
    # Tests start hundreds of processes. Where nothing compiled may be kept beside the code, each
    # would compile all of it; so it is kept elsewhere for as long as the tests run.
    _compiled = tempfile.TemporaryDirectory(prefix="compiled-")
    os.environ["PYTHONPYCACHEPREFIX"] = _compiled.name
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    hand_on(_compiled.name)

for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    # A shell starts what is in the background with some signals ignored, which tests of signals
    # cannot do with; and a process that ignores one hands that on to those that it starts.
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(
            ignored, signal.default_int_handler if ignored == signal.SIGINT else signal.SIG_DFL
        )


# Collection makes little garbage and a million objects that stay: looking for the former among the
# latter takes a tenth of the time, then and for as long as tests run.
gc.disable()


def pytest_collection_finish() -> None:
    """What collection made stays."""
    gc.freeze()
    gc.enable()


QUIET = "from conformance.cli import progress; progress.LINE_SECONDS = 1e6; "
"""Code for a process whose output is compared: on a slow machine it says how far it is."""


@pytest.fixture(autouse=True)
def no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands in the tests' process say nothing of their progress, however slow the machine."""
    monkeypatch.setattr("conformance.cli.progress.LINE_SECONDS", 1e6)


SEARCHED_IN_FULL = {
    *("diagnosis", "operator_bank", "second_bank", "public", "planted"),
    "test_clients",
}
"""Folders of tests, and files, that ask what a search finds."""


@pytest.fixture(autouse=True)
def short_search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere it ends early: no known bug explains most broken backends, and to see that takes
    long.
    """
    if SEARCHED_IN_FULL.isdisjoint({request.path.parent.name, request.path.stem}):
        monkeypatch.setattr("conformance.diagnosis.search.GLANCES", 2000)


AVG, ADAPTIVE, MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"

POOL = {
    "kernel": [3, 3],
    "strides": [2, 2],
    "pads_begin": [1, 1],
    "pads_end": [1, 1],
    "exclude-pad": False,
    "auto_pad": "explicit",
    "rounding_type": "ceil",
}


def _adaptive(op: str, dtype: str, size: int, out: int, **more: object) -> Case:
    return Case(
        op=op,
        types={"T": dtype, "T_SHAPE": "i64"},
        shapes={"data": (1, 2, size)},
        attributes={} if op == ADAPTIVE else {"index_element_type": "i64"},
        operands={"output_size": (out,)},
        **more,
    )


def _pool(shape: tuple[int, ...] = (1, 1, 4, 4), **more: object) -> Case:
    changed = more.pop("attributes", {})
    attributes = {**POOL, **changed}
    return Case(op=AVG, types={"T": "f32"}, shapes={"data": shape}, attributes=attributes, **more)


CASES = (
    (_adaptive(ADAPTIVE, "f32", 6, 4), "must"),
    (_adaptive(ADAPTIVE, "f64", 5, 3, pattern="normal"), "must"),
    (_adaptive(ADAPTIVE, "f16", 7, 2), "must"),
    (_adaptive(ADAPTIVE, "f32", 4, -1, reject="negative-output-size"), "must"),
    (_adaptive(MAX, "f32", 7, 3, pattern="ties"), "must"),
    (_pool(), "must"),
    (_pool(attributes={"strides": [0, 2]}, reject="zero-stride"), "must"),
    (_pool((0, 1, 4, 4), reject="empty-batch"), "should"),
)


@pytest.fixture(scope="session")
def small_suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Five value vectors of three operators and three that must be rejected, one of them should.

    The vector of AvgPool-1 has the reading ``clip-divisor``, that of AdaptiveMaxPool-8 ties.
    """
    from tables import table_of

    from conformance.specification import build, find_spec
    from conformance.suite.writer import write_suite

    vectors = [(build(find_spec(case.op), case, level), ("core",)) for case, level in CASES]
    folder = tmp_path_factory.mktemp("suites") / "small"
    strength = table_of(vector for vector, _ in vectors)
    return write_suite(folder, vectors, name="small", seed=0, versions={}, strength=strength)


Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Runs ``conformance`` with some arguments in a process of its own, in an empty folder."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                sys.executable,
                "-c",
                QUIET + "from conformance.cli import main; main()",
                *map(str, arguments),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "100"},
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, without a window; one for all tests of pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()
