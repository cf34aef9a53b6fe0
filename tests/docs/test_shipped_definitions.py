"""The page of definitions lists the operators that are shipped, and the backends that have them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from needs import missing, skip

from conformance.backends.discovery import load_backend
from conformance.backends.protocol import capabilities_of
from conformance.core.loader import shipped_names

PAGE = Path(__file__).resolve().parents[2] / "docs" / "definitions.md"
SECTION = PAGE.read_text("utf-8").partition("## What is shipped")[2].partition("\n## ")[0]
ROWS = {
    names: backends.split(", ")
    for names, backends in re.findall(r"^\| ([\w.]+-\d.*?) \| (.+?) \|$", SECTION, re.M)
}
BACKENDS = sorted({backend for backends in ROWS.values() for backend in backends})


def versions(names: str) -> list[str]:
    """Write the names in full: ``a-1, -2`` is ``a-1`` and ``a-2``."""
    first, *others = names.split(", ")
    return [first, *(first.rpartition("-")[0] + version for version in others)]


def test_every_operator_is_listed() -> None:
    assert sorted(op for names in ROWS for op in versions(names)) == sorted(shipped_names())


@pytest.mark.parametrize("backend", BACKENDS)
def test_backends_declare_what_is_listed(backend: str) -> None:
    # The operators of ONNX are OpenVINO's where models can be written.
    for extra in (backend, *(["onnx-reference"] if backend == "openvino" else [])):
        if backend != "numpy" and missing(extra):
            skip(extra)
    declared = capabilities_of(load_backend(backend))
    assert declared is not None
    for names, backends in ROWS.items():
        for op in versions(names):
            assert declared.names(op) == (backend in backends), op
