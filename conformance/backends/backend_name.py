"""How a backend is named together with its options: ``torch?device=cuda&threads=2``.

What carries the name of a backend carries its options too: logs, commands, other processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from conformance.backends.program import is_program
from conformance.errors import UsageError

MARK, AND, IS = "?", "&", "="
PLAIN = ":/,.+-_~"
"""Characters of a value that are written as they are, besides letters and digits."""


@dataclass(frozen=True)
class BackendName:
    """The name of a backend, and the options that it is made with, as texts."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.options:
            return self.name
        given = (f"{name}{IS}{quote(text, PLAIN)}" for name, text in sorted(self.options.items()))
        return f"{self.name}{MARK}{AND.join(given)}"


def display_name(name: str, spec: str) -> str:
    """A backend's own ``name``, with the options of ``spec``, for people who read a report."""
    options = parse_backend_name(spec).options
    listed = ", ".join(f"{option}{IS}{text}" for option, text in sorted(options.items()))
    return f"{name} ({listed})" if listed else name


def parse_backend_name(spec: str) -> BackendName:
    """The parts of ``spec``. A program has its options on its own command line.

    Raises :class:`UsageError` where what follows the question mark is no list of options.
    """
    name, mark, listed = spec.partition(MARK)
    if not mark or is_program(spec):
        return BackendName(spec)
    return BackendName(name, _read(spec, listed.split(AND), decoded=True))


def canonical(spec: str, more: Iterable[str] = ()) -> str:
    """``spec`` with ``more`` options (``NAME=VALUE``), in the one form that means the same.

    Raises :class:`UsageError` for what is no option, and for one that is given twice.
    """
    more = list(more)
    if is_program(spec):
        if more:
            raise UsageError(
                f"{spec} is a program, and takes no --option",
                hint=f'write its options on its command line: "{spec} --flag"',
            )
        return spec
    address = parse_backend_name(spec)
    options = dict(address.options)
    for name, text in _read(" ".join(more), more, decoded=False).items():
        if name in options:
            raise _twice(spec, name)
        options[name] = text
    return str(BackendName(address.name, options))


def _read(where: str, words: Iterable[str], *, decoded: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        name, mark, text = word.partition(IS)
        if not mark or not name:
            raise UsageError(
                f"{where[:200]}: '{word[:80]}' is no option",
                hint="options are NAME=VALUE: torch?device=cuda, or --option device=cuda",
            )
        if name in found:
            raise _twice(where[:200], name)
        found[name] = unquote(text) if decoded else text
    return found


def _twice(where: str, name: str) -> UsageError:
    return UsageError(f"{where}: option '{name[:80]}' is given twice", hint="give it once")
