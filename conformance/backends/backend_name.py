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
        texts = (f"{name}{IS}{quote(text, PLAIN)}" for name, text in sorted(self.options.items()))
        return f"{self.name}{MARK}{AND.join(texts)}"


def display_name(name: str, spec: str) -> str:
    """Return the name that a backend reports, with the options of ``spec``, for people."""
    options = parse_backend_name(spec).options
    pairs = ", ".join(f"{option}{IS}{text}" for option, text in sorted(options.items()))
    return f"{name} ({pairs})" if pairs else name


def parse_backend_name(spec: str) -> BackendName:
    """Parse a backend's name and options; a program has its options on its command line.

    Raises:
        UsageError: what follows the question mark is no list of options.
    """
    name, mark, texts = spec.partition(MARK)
    if not mark or is_program(spec):
        return BackendName(spec)
    return BackendName(name, _read(spec, texts.split(AND), decoded=True))


def canonical(spec: str, more_options: Iterable[str] = ()) -> str:
    """Return a name with ``more_options`` (``NAME=VALUE``), in its canonical form.

    Raises:
        UsageError: a text is no option, or an option is given twice.
    """
    more_options = list(more_options)
    if is_program(spec):
        if more_options:
            raise UsageError(
                f"{spec} is a program, and takes no --option",
                hint=f'write its options on its command line: "{spec} --flag"',
            )
        return spec
    address = parse_backend_name(spec)
    options = dict(address.options)
    for name, text in _read(" ".join(more_options), more_options, decoded=False).items():
        if name in options:
            raise _twice(spec, name)
        options[name] = text
    return str(BackendName(address.name, options))


def _read(spec: str, texts: Iterable[str], *, decoded: bool) -> dict[str, str]:
    options: dict[str, str] = {}
    for item in texts:
        name, mark, text = item.partition(IS)
        if not mark or not name:
            raise UsageError(
                f"{spec[:200]}: '{item[:80]}' is no option",
                hint="options are NAME=VALUE: torch?device=cuda, or --option device=cuda",
            )
        if name in options:
            raise _twice(spec[:200], name)
        options[name] = unquote(text) if decoded else text
    return options


def _twice(spec: str, name: str) -> UsageError:
    return UsageError(f"{spec}: option '{name[:80]}' is given twice", hint="give it once")
