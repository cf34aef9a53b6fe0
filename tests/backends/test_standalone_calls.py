"""Calls that a run makes and a script repeats: one source, which needs nothing of this package."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from conformance import backends
from conformance.backends.framework_call import is_adapter_failure
from conformance.backends.standalone_call import StandaloneAdapter, StandaloneCall
from conformance.errors import Unsupported

FOLDER = Path(backends.__file__).parent
MODULES = sorted(set(FOLDER.glob("standalone_*.py")) - {FOLDER / "standalone_call.py"})

LIBRARY = '''\
"""Doubles, at least."""

from contextlib import nullcontext

import math

FACTOR = 2


def root(number):
    return math.sqrt(number)


def scaled(inputs, factor, mark=nullcontext):
    if factor > 9:
        raise ValueError("outside")
    with mark():
        if factor < 0:
            raise ValueError("inside")
        return (FACTOR * factor * inputs[0],)
'''


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    file = tmp_path_factory.mktemp("library") / "standalone_library.py"
    file.write_text(LIBRARY)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", MODULES, ids=lambda file: file.stem)
def test_a_module_whose_text_is_copied_imports_nothing_of_ours(file: Path) -> None:
    nodes = list(ast.walk(ast.parse(file.read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    assert [name for name in names if name.partition(".")[0] in ("conformance", "None")] == []


def test_there_are_such_modules() -> None:
    assert len(MODULES) == 10


def test_the_source_computes_what_the_call_computes(library: ModuleType) -> None:
    call = StandaloneCall(library.scaled, (StandaloneCall(library.root, (9.0,)),))
    inputs = [np.array([1.0, -0.5])]
    names: dict[str, Any] = {"inputs": inputs}
    exec(call.source(), names)
    for outputs in (call.outputs(inputs), names["outputs"]):
        assert [output.tolist() for output in outputs] == [[6, -3]]
    assert call.source().endswith("\noutputs = scaled(\n    inputs,\n    root(9.0),\n)")
    assert call.source().count("FACTOR = 2") == 1
    assert "at least" not in call.source()


@pytest.mark.parametrize(("factor", "is_adapters"), [(-1, False), (10, True)])
def test_only_what_is_marked_is_the_frameworks(
    library: ModuleType, factor: int, is_adapters: bool
) -> None:
    class Scaling(StandaloneAdapter):
        def call(self, *_: Any) -> StandaloneCall:
            return StandaloneCall(library.scaled, (factor,))

    backend = Scaling()
    with pytest.raises(ValueError, match="side") as caught:
        backend.run("AvgPool-1", [np.ones(2)], {})
    assert is_adapter_failure(backend, caught.value) is is_adapters


def test_what_a_case_leaves_out_and_a_call_needs_is_unsupported(library: ModuleType) -> None:
    class Scaling(StandaloneAdapter):
        def call(self, op: str, inputs: Any, attributes: Mapping[str, Any]) -> StandaloneCall:
            return StandaloneCall(library.scaled, (attributes["factor"],))

    backend = Scaling()
    (doubled,) = backend.run("own.Scale", [np.ones(2)], {"factor": 1})
    assert doubled.tolist() == [2, 2]
    for asked in (backend.run, backend.reproduce):
        with pytest.raises(Unsupported, match="the case leaves out 'factor'"):
            asked("own.Scale", [np.ones(2)], {})
