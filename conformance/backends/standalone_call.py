"""Calls that a run makes and a script repeats, by the same source.

Their functions are in modules that import nothing of this package: the text of such a module is
copied into scripts.
"""

from __future__ import annotations

import ast
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from conformance.backends.framework_call import framework
from conformance.dtypes import Array
from conformance.errors import Unsupported


@dataclass(frozen=True)
class StandaloneCall:
    """A call of a function in a module that imports nothing of this package.

    Attributes:
        function: the function; for :meth:`outputs` one that takes inputs before its arguments, and
            as ``mark`` a context for the calls of its framework.
        arguments: values that ``repr`` spells, and calls that return them.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()

    def value(self) -> Any:
        """Call the function with its arguments."""
        return self.function(*self._values())

    def outputs(self, inputs: Sequence[Array]) -> list[Array]:
        """Compute the outputs of some inputs."""
        return list(self.function(inputs, *self._values(), mark=framework))

    def source(self) -> str:
        """Write Python source that sets ``outputs`` from ``inputs`` by the same functions."""
        modules = dict.fromkeys(inspect.getmodule(call.function) for call in self._calls())
        texts = [_without_docstring(module) for module in modules if module is not None]
        arguments = "".join(f"    {argument},\n" for argument in ("inputs", *self._spelled()))
        return "\n\n".join([*texts, f"outputs = {self.function.__name__}(\n{arguments})"])

    def _values(self) -> list[Any]:
        return [a.value() if isinstance(a, StandaloneCall) else a for a in self.arguments]

    def _calls(self) -> Iterator[StandaloneCall]:
        for argument in self.arguments:
            if isinstance(argument, StandaloneCall):
                yield from argument._calls()
        yield self

    def _spelled(self) -> list[str]:
        return [
            f"{a.function.__name__}({', '.join(a._spelled())})"
            if isinstance(a, StandaloneCall)
            else repr(a)
            for a in self.arguments
        ]


class GivenAttributes(dict[str, Any]):
    """The attributes that a case gives.

    What a call needs and the case leaves out is no failure of the adapter: there is no such call.
    """

    def __missing__(self, name: str) -> Any:
        raise Unsupported(f"the case leaves out '{name}', and no call is made without it")


class StandaloneAdapter(ABC):
    """An adapter whose calls are standalone: what ``run`` does, a script of ``reproduce`` does."""

    marked = True

    @abstractmethod
    def call(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> StandaloneCall:
        """Return the call that computes ``op``.

        Raises:
            Unsupported: there is none.
        """

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Compute ``op``; the framework itself refuses what is invalid."""
        return self.call(op, inputs, GivenAttributes(attributes)).outputs(inputs)

    def reproduce(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """Write the same call as Python source, which sets ``outputs`` from ``inputs``."""
        return self.call(op, inputs, GivenAttributes(attributes)).source()


def _without_docstring(module: ModuleType) -> str:
    text = inspect.getsource(module)
    docstring = ast.parse(text).body[0]
    return "\n".join(text.splitlines()[docstring.end_lineno :]).strip()
