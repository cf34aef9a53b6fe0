"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def suite_option(command: F) -> F:
    """``--suite``: None stands for the shipped core suite."""
    return click.option(
        "--suite", metavar="DIR|NAME", help="The suite; the shipped core suite if left out."
    )(command)


def question_options(level: str, precision: str) -> Callable[[F], F]:
    """``--level`` and ``--precision``, each with its help."""

    def added(command: F) -> F:
        command = click.option(
            "--precision",
            default="standard",
            show_default=True,
            metavar="P|T=P,..",
            help=precision,
        )(command)
        return click.option(
            "--level",
            type=click.Choice(["must", "should"]),
            default="must",
            show_default=True,
            help=level,
        )(command)

    return added
