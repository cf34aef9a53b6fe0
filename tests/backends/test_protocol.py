"""What may stand for a backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends import Backend, Capabilities, FunctionBackend
from conformance.backends.protocol import as_backend, capabilities_of, environment_of
from conformance.errors import BackendError


class Twice:
    name, version = "twice", "1.0"

    def run(self, op: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
        return [2 * inputs[0]]


class Declared(Twice):
    capabilities = Capabilities(dtypes=("f32",))

    def environment(self) -> dict[str, Any]:
        return {"threads": 2}


def thrice(op: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
    return [3 * inputs[0]]


def test_an_instance_stays_itself() -> None:
    backend = Twice()
    assert isinstance(backend, Backend)
    assert as_backend(backend) is backend


def test_a_class_is_called_without_arguments() -> None:
    assert isinstance(as_backend(Twice), Twice)


def test_a_function_is_wrapped() -> None:
    backend = as_backend(thrice)
    assert (backend.name, backend.version) == ("thrice", "unversioned")
    assert backend.run("AvgPool-1", [np.float32(2)], {}) == [6]
    named = FunctionBackend(thrice, "mine", "0.3")
    assert (named.name, named.version) == ("mine", "0.3")


def test_optional_members_have_defaults() -> None:
    assert capabilities_of(Twice()) is None
    assert environment_of(Twice()) == {}
    assert capabilities_of(Declared()) == Capabilities(dtypes=("f32",))
    assert environment_of(Declared()) == {"threads": "2"}


@pytest.mark.parametrize("candidate", [3, "numpy", None, object, type("Nameless", (), {})()])
def test_anything_else_is_refused(candidate: object) -> None:
    with pytest.raises(BackendError, match="mine: not a backend"):
        as_backend(candidate, origin="mine")
