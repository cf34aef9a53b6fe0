"""How a script calls the backend: through ``reproduce()``, or by importing its module."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from conformance.backends.discovery import Located, arguments
from conformance.backends.protocol import Backend, FunctionBackend
from conformance.dtypes import Array
from conformance.errors import BackendError, Unsupported, UsageError
from conformance.grade.outcome import describe

OWN = "conformance."


@dataclass(frozen=True)
class SourceCall:
    """A call as Python source.

    ``imports`` are import statements, ``setup`` statements that come right after them, ``body``
    those that set ``outputs`` from ``op``, ``inputs`` and ``attributes``. ``loading`` are lines
    that import ``module``, the backend's, from ``folder``, which has to be on the import path.
    """

    imports: tuple[str, ...]
    body: str
    setup: tuple[str, ...] = ()
    loading: tuple[str, ...] = ()
    module: str = ""
    folder: str = ""


def native_call(
    origin: Located, backend: Backend, op: str, inputs: Sequence[Array], attributes: dict[str, Any]
) -> SourceCall:
    """The call of ``op`` without this package, as far as the backend can do without.

    Raises:
        BackendError: the backend's own account of its call cannot be used.
        UsageError: a backend that is part of this package, or does not support the question.
    """
    reproduce = getattr(backend, "reproduce", None)
    if not callable(reproduce):
        return _through_module(origin, backend)
    try:
        told = reproduce(op, inputs, attributes)
    except Unsupported as error:
        raise UsageError(
            f"{origin.spec} does not support this vector: {describe(error)}",
            hint="choose a vector that it answers",
        ) from error
    except Exception as error:
        raise BackendError(
            f"{origin.spec}: reproduce() raised {describe(error)}",
            hint="it must return Python source; see docs/backends.md",
        ) from error
    return parted(told, f"{origin.spec}: reproduce()")


def parted(source: object, where: str) -> SourceCall:
    """Python source as imports and the rest, without its docstring.

    An error names ``where`` the source comes from.

    Raises :class:`BackendError` for what is not Python source. Nothing is run.
    """
    if not isinstance(source, str):
        raise BackendError(
            f"{where} returned {type(source).__name__}, not Python source",
            hint="return a str; see docs/backends.md",
        )
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise BackendError(
            f"{where} returned no Python source: {describe(error)}",
            hint="return complete statements that set 'outputs'",
        ) from error
    lines = source.splitlines()
    imports = []
    for number, statement in enumerate(statements):
        imported = isinstance(statement, ast.Import | ast.ImportFrom)
        if imported:
            imports.append(ast.unparse(statement))
        if imported or (number == 0 and _is_text(statement)):
            first, last = statement.lineno, statement.end_lineno or statement.lineno
            lines[first - 1 : last] = [""] * (last - first + 1)
    return SourceCall(tuple(imports), "\n".join(lines).strip("\n"))


def _through_module(origin: Located, backend: Backend) -> SourceCall:
    """The call of the backend itself, imported from where it lies."""
    if f"{origin.module}.".startswith(OWN):
        raise UsageError(
            f"the backend {origin.spec} is part of conformance: no script can do without it",
            hint="scripts are for a backend of your own, or for a framework's",
        )
    outer = origin.name.partition(".")[0]
    imports: tuple[str, ...]
    loading: tuple[str, ...]
    imports, loading, folder = (f"from {origin.module} import {outer}",), (), ""
    if origin.folder is not None:
        imports, loading, folder = (), imports, origin.folder.as_posix()
        if not origin.module.isidentifier():
            imports = ("import importlib",)
            loading = (f"{outer} = importlib.import_module({origin.module!r}).{outer}",)
    if isinstance(backend, FunctionBackend):
        called = origin.name
    else:
        words = ", ".join(f"{name}={value!r}" for name, value in arguments(origin).items())
        made = f"{origin.name}({words})" if isinstance(origin.value, type) else origin.name
        called = f"{made}.run"
    body = f"outputs = {called}(op, inputs, attributes)"
    return SourceCall(imports, body, loading=loading, module=origin.module, folder=folder)


def _is_text(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)
