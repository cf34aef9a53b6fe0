"""Options that a class of backends declares: their types, values and help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.errors import BackendError, closest

TYPES = (str, int, float, bool)
TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class Option:
    """One option of a backend, an argument of the same name that its class takes.

    ``default`` is what the class does without it, for people who read the list; None where that
    has no value. ``type`` is str, int, float or bool. With ``choices`` it is one of these.
    """

    name: str
    help: str
    default: str | int | float | bool | None = None
    type: type = str
    choices: tuple[str | int | float, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.type not in TYPES or not self.help.strip():
            raise BackendError(
                f"option {self.name!r}: it needs the name of an argument, help, and a type of "
                f"{', '.join(kind.__name__ for kind in TYPES)}",
                hint='for example Option("device", "The device.", default="cpu")',
            )

    def read(self, text: str, origin: str) -> Any:
        """Parse the value that a text stands for.

        Raises:
            BackendError: beginning with ``origin``, if the option cannot have that value.
        """
        try:
            value = TRUTHS[text.lower()] if self.type is bool else self.type(text)
        except (ValueError, KeyError):
            value = None
        if value is None or (self.choices and value not in self.choices):
            raise BackendError(
                f"{origin}: {self.name}={text[:80]}: it is {self.expected}", hint=self.help
            )
        return value

    @property
    def expected(self) -> str:
        """What it may be, in words."""
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        return {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}[
            self.type
        ]


def declared_by(candidate: object) -> tuple[Option, ...]:
    """Return the options that a class declares; empty for anything else.

    Raises:
        BackendError: they are no tuple of options.
    """
    if not isinstance(candidate, type):
        return ()
    options = getattr(candidate, "options", ())
    if not isinstance(options, tuple) or not all(isinstance(option, Option) for option in options):
        raise BackendError(
            f"{candidate.__name__}: 'options' is no tuple of conformance.backends.Option",
            hint='for example (Option("device", "The device.", default="cpu"),)',
        )
    return options


def parse_options(candidate: object, texts: Mapping[str, str], origin: str) -> dict[str, Any]:
    """Return the arguments that options, ``given`` as texts, are to a class.

    Raises:
        BackendError: beginning with ``origin``, for options that are not declared, with a list of
            those that are, and for values that they cannot have.
    """
    declared = {option.name: option for option in declared_by(candidate)}
    unknown = next((name for name in texts if name not in declared), None)
    if unknown is None:
        return {name: declared[name].read(text, origin) for name, text in texts.items()}
    if not declared:
        raise BackendError(f"{origin}: it has no options", hint=f"leave '{unknown[:80]}' out")
    near = closest(unknown, declared)
    raise BackendError(
        f"{origin}: no option '{unknown[:80]}'",
        hint=(f"{near} " if near else "")
        + f"options: {', '.join(describe_options(tuple(declared.values())))}",
    )


def describe_options(options: Sequence[Option]) -> list[str]:
    """Describe each option with what it may be, on a line."""
    return [f"{option.name} ({option.expected})" for option in options]
