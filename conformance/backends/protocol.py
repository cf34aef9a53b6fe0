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
Run = Callable[[str, list[Any], dict[str, Any]], Sequence[Array]]


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

    def run(self, op: str, inputs: list[Any], attributes: dict[str, Any]) -> Sequence[Array]:
        """Compute the outputs of ``op`` (``AvgPool-1``), in the order of its specification.

        Args:
            inputs: fresh, writable, C-contiguous arrays in the order of the specification; bf16
                arrays are of type ``ml_dtypes.bfloat16``, both ways. None stands for an optional
                one that is absent.
            attributes: spelled as the document spells them; values are int, float, bool, str or
                lists of them.

        Raises:
            Unsupported: the backend does not claim the case. Any other exception rejects the case
                as invalid.
        """


class FunctionBackend:
    """A plain function ``run(op, inputs, attributes)`` as a backend.

    Its name is the function's own (its module's, if that is just ``run``), its version the
    module's ``__version__``, unless they are given.
    """

    def __init__(self, function: Run, name: str | None = None, version: str | None = None) -> None:
        module_name = str(getattr(function, "__module__", None) or "")
        function_name = str(getattr(function, "__name__", "function"))
        self.name = name or (
            _module_name(module_name) if function_name == "run" and module_name else function_name
        )
        self.version = version or str(
            getattr(sys.modules.get(module_name), "__version__", "unversioned")
        )
        self._function = function

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> Sequence[Array]:
        """Call the function."""
        return self._function(op, inputs, attributes)


def _module_name(module_name: str) -> str:
    """What people call a module: its file's name, or the last part of its own."""
    file = getattr(sys.modules.get(module_name), "__file__", None)
    stem = Path(file).stem if isinstance(file, str) else "__init__"
    return module_name.rpartition(".")[2] if stem == "__init__" else stem


def as_backend(
    candidate: object, arguments: Mapping[str, Any] = NOTHING, *, origin: str = "backend"
) -> Backend:
    """Return ``candidate`` as a checked backend.

    An instance stays as it is, a function is wrapped, a class is called with ``arguments``. What a
    class raises when it is called passes through.

    Raises:
        BackendError: beginning with ``origin``, for an object that is no backend, and for members
            of the wrong type.
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
    """Return what the backend declares to support; None if it declares nothing."""
    declared: Capabilities | None = getattr(backend, "capabilities", None)
    return declared


def environment_of(backend: Backend) -> dict[str, str]:
    """Return the backend's facts for the run log; empty if it offers none."""
    environment = getattr(backend, "environment", None)
    facts: Mapping[Any, Any] = environment() if callable(environment) else {}
    return {str(key): str(value) for key, value in facts.items()}


def _no_backend(origin: str, problem: str) -> BackendError:
    return BackendError(
        f"{origin}: not a backend: {problem}",
        hint="a backend has 'name' and 'version' (strings) and run(op, inputs, attributes); "
        "'capabilities', if any, is a conformance.backends.Capabilities",
    )
