"""The backend protocol: an object with ``name``, ``version`` and ``run``, or a function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from conformance.backends.capabilities import Capabilities
from conformance.dtypes import Array
from conformance.errors import BackendError, Unsupported

__all__ = [
    "Backend",
    "FunctionBackend",
    "Unsupported",
    "as_backend",
    "capabilities_of",
    "environment_of",
]

NOTHING: Mapping[str, Any] = MappingProxyType({})
Run = Callable[[str, list[Array], dict[str, Any]], Sequence[Array]]


@runtime_checkable
class Backend(Protocol):
    """An implementation that answers cases.

    More members are optional: ``capabilities``, a :class:`Capabilities` (without it a backend
    claims everything); ``options`` of a class, a tuple of
    :class:`~conformance.backends.options.Option`, with which it may be called;
    ``environment() -> dict[str, str]``, facts for the run log that a result may depend on, such as
    a framework's build, its threads or its precision; and
    ``reproduce(op, inputs, attributes) -> str``, which says the call that ``run`` makes in Python
    source, for scripts that must do without the backend's class. That source may use ``np``,
    ``op``, ``inputs`` and ``attributes``, imports what else it needs, and sets ``outputs``.
    """

    @property
    def name(self) -> str:
        """A short name for reports."""

    @property
    def version(self) -> str:
        """The version of what is tested."""

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> Sequence[Array]:
        """The outputs of ``op`` (``AvgPool-1``), in the order of its specification.

        ``inputs`` are fresh, writable, C-contiguous arrays in the order of the specification;
        bf16 arrays are of type ``ml_dtypes.bfloat16``, both ways. ``attributes`` are spelled as
        the document spells them; values are int, bool, str or lists of them. Raises
        :class:`Unsupported` for what the backend does not claim; any other exception rejects the
        case as invalid.
        """


class FunctionBackend:
    """A plain function ``run(op, inputs, attributes)`` as a backend.

    Its name is the function's own (its module's, if that is just ``run``), its version the
    module's ``__version__``, unless they are given.
    """

    def __init__(self, function: Run, name: str | None = None, version: str | None = None) -> None:
        place = str(getattr(function, "__module__", None) or "")
        own = str(getattr(function, "__name__", "function"))
        self.name = name or (_module_name(place) if own == "run" and place else own)
        self.version = version or str(getattr(sys.modules.get(place), "__version__", "unversioned"))
        self._function = function

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> Sequence[Array]:
        """What the function returns."""
        return self._function(op, inputs, attributes)


def _module_name(place: str) -> str:
    """What people call a module: its file's name, or the last part of its own."""
    file = getattr(sys.modules.get(place), "__file__", None)
    stem = Path(file).stem if isinstance(file, str) else "__init__"
    return place.rpartition(".")[2] if stem == "__init__" else stem


def as_backend(
    candidate: object, arguments: Mapping[str, Any] = NOTHING, *, origin: str = "backend"
) -> Backend:
    """``candidate`` as a checked backend: an instance as it is, a function wrapped, a class called
    with ``arguments``.

    Raises :class:`BackendError`, which begins with ``origin``, for an object that is none, and
    for members of the wrong type. What a class raises when it is called passes through.
    """
    if isinstance(candidate, type):
        if not callable(getattr(candidate, "run", None)):
            raise _no_backend(origin, f"class {candidate.__name__} has no method 'run'")
        candidate = candidate(**arguments)
    if not callable(getattr(candidate, "run", None)):
        if not callable(candidate):
            raise _no_backend(origin, f"{type(candidate).__name__} has no method 'run'")
        candidate = FunctionBackend(candidate)
    for member in ("name", "version"):
        value = getattr(candidate, member, None)
        if not isinstance(value, str) or not value:
            raise _no_backend(origin, f"'{member}' is {value!r}, not a non-empty string")
    capabilities = getattr(candidate, "capabilities", None)
    if not isinstance(capabilities, Capabilities | None):
        raise _no_backend(origin, f"'capabilities' is a {type(capabilities).__name__}")
    if not isinstance(candidate, Backend):
        raise _no_backend(origin, f"{type(candidate).__name__} does not follow the protocol")
    return candidate


def capabilities_of(backend: Backend) -> Capabilities | None:
    """What the backend declares to support; None, if it declares nothing."""
    declared: Capabilities | None = getattr(backend, "capabilities", None)
    return declared


def environment_of(backend: Backend) -> dict[str, str]:
    """The backend's own facts for the run log; empty, if it offers none."""
    environment = getattr(backend, "environment", None)
    facts: Mapping[Any, Any] = environment() if callable(environment) else {}
    return {str(key): str(value) for key, value in facts.items()}


def _no_backend(origin: str, problem: str) -> BackendError:
    return BackendError(
        f"{origin}: not a backend: {problem}",
        hint="a backend has 'name' and 'version' (strings) and run(op, inputs, attributes); "
        "'capabilities', if any, is a conformance.backends.Capabilities",
    )
