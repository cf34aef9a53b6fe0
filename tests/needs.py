"""Tests of optional packages: ``@pytest.mark.needs("torch")`` names the extra that installs one.

Where a package is missing its tests are skipped, and the run ends with how many were and what
installs it. ``pytest --extra torch`` runs the tests of one extra alone; there a missing package is
a failure.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

MODULES = {
    "openvino": ("openvino",),
    "onnxruntime": ("onnxruntime", "onnx"),
    "onnx-reference": ("onnx",),
    "torch": ("torch",),
    "jax": ("jax",),
    "tract": ("tract", "onnx"),
    "ncnn": ("ncnn",),
    "litert": ("ai_edge_litert", "flatbuffers"),
    "tvm": ("tvm", "onnx"),
    "numba": ("numba",),
    "dask": ("distributed",),
    "remote": ("upath", "s3fs"),
    "dev": ("playwright", "axe_playwright_python", "material", "moto"),
}
"""What each extra installs that tests import; ``test`` and ``generate`` are always there."""

PROGRAMS = {
    "chromium": "apt-get install chromium",
    "cc": "apt-get install gcc",
    "c++": "apt-get install g++",
    "node": "apt-get install nodejs",
    "openssl": "apt-get install openssl",
    "onednn": "apt-get install g++ libdnnl-dev",
}
"""Programs and libraries that are no Python packages, and a command that installs them."""

REASON = re.compile(r"needs the extra (\S+)$")


def missing(need: str) -> bool:
    """Whether an extra or a program is not installed here."""
    if need == "onednn":
        return missing("c++") or not Path("/usr/include/dnnl.hpp").exists()
    if need in PROGRAMS:
        return shutil.which(need) is None
    return any(importlib.util.find_spec(module) is None for module in MODULES[need])


def skip(need: str) -> None:
    """Skip the test that runs, for want of an extra or a program."""
    pytest.skip(f"needs the extra {need}")


def needs(item: pytest.Item) -> list[str]:
    return [need for mark in item.iter_markers("needs") for need in mark.args]


def told(skipped: Iterable[str]) -> str:
    """What was missing, how often, and what installs it, in one line; empty if nothing was.

    ``skipped`` are the reasons of all skipped tests, others among them.
    """
    found = Counter(match[1] for reason in skipped if (match := REASON.search(reason)))
    if not found:
        return ""
    extras = sorted(need for need in found if need in MODULES)
    commands = [f"pip install -e '.[{','.join(extras)}]'"] if extras else []
    commands += [PROGRAMS[need] for need in sorted(found) if need in PROGRAMS]
    counts = ", ".join(f"{need} ({found[need]})" for need in sorted(found))
    return f"tests skipped, by missing extra: {counts}; to run them: {' && '.join(commands)}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--extra", choices=MODULES, help="run only the tests that need this extra")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*extras): skip where an extra is not installed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if extra := config.getoption("extra"):
        config.hook.pytest_deselected(items=[item for item in items if extra not in needs(item)])
        items[:] = [item for item in items if extra in needs(item)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for need in needs(item):
        if need != item.config.getoption("extra") and missing(need):
            skip(need)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.stats.get("skipped", [])
    if line := told(report.longrepr[2] for report in reports):
        terminalreporter.write_line(line)
