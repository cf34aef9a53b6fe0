"""The call of a backend in a script: by ``reproduce()``, or by importing its module."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from conformance.backends.discovery import Located, class_arguments
from conformance.backends.protocol import Backend, FunctionBackend
from conformance.dtypes import Array
from conformance.errors import BackendError, Unsupported, UsageError
from conformance.grade.outcome import describe_exception

PACKAGE_PREFIX = "conformance."


@dataclass(frozen=True)
class SourceCall:
    """A call as Python source.

    Attributes:
        imports: import statements.
        setup: statements that follow the imports.
        body: statements that set ``outputs`` from ``op``, ``inputs`` and ``attributes``.
        loading: lines that import ``module``, the backend's.
        folder: the folder of the module, which has to be on the import path.
    """

    imports: tuple[str, ...]
    body: str
    setup: tuple[str, ...] = ()
    loading: tuple[str, ...] = ()
    module: str = ""
    folder: str = ""


def native_call(
    origin: Located,
    backend: Backend,
    op: str,
    inputs: Sequence[Array | None],
    attributes: dict[str, Any],
) -> SourceCall:
    """Return the call of ``op`` without this package, as far as the backend allows.

    Raises:
        BackendError: the source that the backend returns cannot be used.
        UsageError: the backend is part of this package, or does not support the vector.
    """
    reproduce = getattr(backend, "reproduce", None)
    if not callable(reproduce):
        return _through_module(origin, backend)
    try:
        source = reproduce(op, inputs, attributes)
    except Unsupported as error:
        raise UsageError(
            f"{origin.spec} does not support this vector: {describe_exception(error)}",
            hint="choose a vector that it answers",
        ) from error
    except Exception as error:
        raise BackendError(
            f"{origin.spec}: reproduce() raised {describe_exception(error)}",
            hint="it must return Python source; see docs/backends.md",
        ) from error
    return split_imports(source, f"{origin.spec}: reproduce()")


def split_imports(source: object, where: str) -> SourceCall:
    """Split Python source into imports and the rest, without its docstring.

    Nothing is run. ``where`` names the origin of the source in errors.

    Raises:
        BackendError: it is not Python source.
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
            f"{where} returned no Python source: {describe_exception(error)}",
            hint="return complete statements that set 'outputs'",
        ) from error
    lines = source.splitlines()
    imports = []
    for number, statement in enumerate(statements):
        imported = isinstance(statement, ast.Import | ast.ImportFrom)
        if imported:
            imports.append(ast.unparse(statement))
        if imported or (number == 0 and _is_docstring(statement)):
            first, last = statement.lineno, statement.end_lineno or statement.lineno
            lines[first - 1 : last] = [""] * (last - first + 1)
    return SourceCall(tuple(imports), "\n".join(lines).strip("\n"))


def _through_module(origin: Located, backend: Backend) -> SourceCall:
    """Return the call of the backend itself, imported from its module."""
    if f"{origin.module}.".startswith(PACKAGE_PREFIX):
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
        arguments_text = ", ".join(
            f"{name}={value!r}" for name, value in class_arguments(origin).items()
        )
        instance = (
            f"{origin.name}({arguments_text})" if isinstance(origin.value, type) else origin.name
        )
        called = f"{instance}.run"
    body = f"outputs = {called}(op, inputs, attributes)"
    return SourceCall(imports, body, loading=loading, module=origin.module, folder=folder)


def _is_docstring(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)
