"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from conformance.check_options import (
    DEFAULTS,
    OPTIONS,
    OptionFacts,
    flag_of,
    help_of,
    is_repeatable,
    parse_value,
)

F = TypeVar("F", bound=Callable[..., Any])


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Join options to one decorator, in this order in the help."""

    def add(command: F) -> F:
        return reduce(lambda decorated, option: option(decorated), reversed(options), command)

    return add


def check_option(name: str, help: str | None = None) -> Callable[[F], F]:
    """Make the click option of an option of a check.

    Args:
        help: replaces the help of ``conformance check``.
    """
    facts, default = OPTIONS[name], getattr(DEFAULTS, name)
    # Of a file that is given twice the last would win without a word.
    is_file = facts.type is Path
    return together(
        click.option(
            *filter(None, (facts.short_flag, flag_of(name))),
            name,
            type=_click_type(facts),
            is_flag=facts.type is bool,
            multiple=is_repeatable(name) or is_file,
            default=None if is_repeatable(name) or is_file else default,
            show_default=isinstance(default, str),
            callback=_refuse_twice if is_file else _parse,
            metavar=facts.metavar,
            help=help_of(name) if help is None else help,
        )
    )


def check_options(*names: str) -> Callable[[F], F]:
    """Make the click options of several options of a check."""
    return together(*map(check_option, names))


def _click_type(facts: OptionFacts) -> Any:
    """Return the type with which click reads a value of an option."""
    if facts.choices:
        return click.Choice(facts.choices)
    if facts.type is Path:
        return click.Path(path_type=Path)
    if (facts.minimum, facts.maximum) == (None, None):
        return facts.type
    bounded = click.IntRange if facts.type is int else click.FloatRange
    return bounded(facts.minimum, facts.maximum)


def _parse(_ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
    return parse_value(parameter.name or "", value)


def _refuse_twice(
    _ctx: click.Context, parameter: click.Parameter, values: tuple[Path, ...]
) -> Path | None:
    """Return the file that an option names."""
    from conformance.errors import UsageError

    if len(values) > 1:
        raise UsageError(
            f"{parameter.opts[0]} is given {len(values)} times",
            hint="write all entries into one file",
        )
    return values[0] if values else None


def _note_hidden_folder(
    _ctx: click.Context, _parameter: click.Parameter, name: str | None
) -> str | None:
    """Print which suite is used if a folder has the name of a shipped suite."""
    if name is not None and "/" not in name and (Path(name) / "manifest.json").is_file():
        from conformance.suite.store import is_shipped_name

        if is_shipped_name(name):
            click.echo(
                f"note: {name} is the shipped suite; the folder is --suite ./{name}", err=True
            )
    return name


suite_option: Callable[[F], F] = together(
    click.option(
        "--suite",
        metavar="DIR|NAME",
        help="The suite [default: the shipped core suite].",
        callback=_note_hidden_folder,
    )
)
"""``--suite``: None means the shipped core suite."""

BACKEND_OPTIONS = "conformance.options of the backend"
"""The key of the values of ``--option`` in the context."""


def _keep_options(ctx: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> None:
    """Keep the options of a backend for :func:`_canonical_name`, which is called later."""
    ctx.meta[BACKEND_OPTIONS] = texts


def _canonical_name(
    ctx: click.Context, _parameter: click.Parameter, name: str | None
) -> str | None:
    """Return the name of a backend with its options, in canonical form."""
    from conformance.backends.backend_name import canonical
    from conformance.errors import UsageError

    texts: tuple[str, ...] = ctx.meta.get(BACKEND_OPTIONS, ())
    if name is not None:
        return canonical(name, texts)
    if texts:
        raise UsageError("--option needs --backend", hint="add --backend NAME")
    return None


def backend_options(
    help: str, *, required: bool = False, metavar: str = "NAME"
) -> Callable[[F], F]:
    """Make ``--backend``, with its help, and ``--option``, which joins the name."""
    return together(
        click.option(
            "--backend", required=required, metavar=metavar, help=help, callback=_canonical_name
        ),
        click.option(
            "--option",
            multiple=True,
            metavar="NAME=VALUE",
            help="An option of the backend, such as device=cuda; repeatable. "
            "`conformance backends NAME` lists them.",
            is_eager=True,
            expose_value=False,
            callback=_keep_options,
        ),
    )


env_option: Callable[[F], F] = check_option("env")
ops_option: Callable[[F], F] = check_option("ops")
dtypes_option: Callable[[F], F] = check_option("dtypes")
partition_options: Callable[[F], F] = check_options("dtypes", "ranks")

selection_options: Callable[[F], F] = together(
    ops_option, suite_option, check_options("only", "dtypes", "ranks")
)

processes_option: Callable[[F], F] = together(
    click.option(
        "-j",
        "--jobs",
        "processes",
        type=click.IntRange(1, 64),
        default=1,
        show_default=True,
        metavar="N",
        help="Number of worker processes.",
    )
)
"""``--jobs`` of commands that run no backend."""

cluster_options: Callable[[F], F] = together(
    click.option(
        "--cluster",
        metavar="PLACE",
        help="Let the workers of a Dask cluster do the work: local:N starts N here, or give the "
        "address of a scheduler, tls://HOST:PORT or tcp://127.0.0.1:PORT.",
    ),
    click.option(
        "--insecure",
        is_flag=True,
        help="Accept a cluster at a plain tcp:// address of a network. Anyone who reaches it can "
        "run programs on this machine.",
    ),
)
"""``--cluster`` and ``--insecure``; see :class:`conformance.cli.worker_options.WorkerOptions`."""

process_options: Callable[[F], F] = check_options("jobs", "timeout", "memory")


def call_options(timeout: float, at_most: str) -> Callable[[F], F]:
    """Make ``--timeout`` and ``--memory`` for commands with a single process."""
    return together(
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, max=1e6, min_open=True),
            default=timeout,
            show_default=True,
            metavar="SECONDS",
            help=f"Seconds per call, {at_most}.",
        ),
        click.option(
            "--memory",
            metavar="SIZE",
            help="Memory of the backend's process, for example 4G [default: no limit].",
        ),
    )


def grading_options(help: str | None = None) -> Callable[[F], F]:
    """Make ``--level`` and ``--precision``; ``help`` replaces that of ``conformance check``."""
    return together(check_option("level", help), check_option("precision", help))
