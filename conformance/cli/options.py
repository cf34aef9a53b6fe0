"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from conformance.choices import LEVEL_HELP, LEVELS, PRECISION_HELP, sentences

F = TypeVar("F", bound=Callable[..., Any])


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Join options to one decorator, in this order in the help."""

    def add(command: F) -> F:
        return reduce(lambda decorated, option: option(decorated), reversed(options), command)

    return add


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
    """Return ``--backend``, with its help, and ``--option``, which joins the name."""
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


env_option: Callable[[F], F] = together(
    click.option(
        "--env",
        metavar="VENV",
        help="Run the backend in this virtual environment. It needs the backend, numpy and "
        "ml_dtypes, but not this package.",
    )
)

ops_option: Callable[[F], F] = together(
    click.option(
        "--op",
        "ops",
        multiple=True,
        metavar="OP",
        help="Only this operator, or those that match a pattern such as 'onnx.*'; repeatable.",
    )
)


def _comma_list(
    _ctx: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    """Split the values of a repeatable option at commas."""
    return tuple(item.strip() for text in texts for item in text.split(","))


def _ranks(
    ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> tuple[int, ...]:
    """Parse a repeatable option of ranks with commas."""
    from conformance.errors import UsageError

    ranks = _comma_list(ctx, parameter, texts)
    for rank in ranks:
        if not re.fullmatch("[0-9]{1,9}", rank):
            raise UsageError(f"there is no rank {rank[:40]!r}", hint="name ranks as in 3,4")
    return tuple(map(int, ranks))


dtypes_option: Callable[[F], F] = together(
    click.option(
        "--dtypes",
        multiple=True,
        metavar="T,..",
        help="Only data of these element types, for example f32 or f16,f32; repeatable.",
        callback=_comma_list,
    )
)

partition_options: Callable[[F], F] = together(
    dtypes_option,
    click.option(
        "--ranks",
        multiple=True,
        metavar="N,..",
        help="Only data of these ranks, for example 4 or 3,4; repeatable.",
        callback=_ranks,
    ),
)
"""``--dtypes`` and ``--ranks``; no values mean all."""

selection_options: Callable[[F], F] = together(
    ops_option,
    suite_option,
    click.option(
        "--only",
        multiple=True,
        metavar="ID",
        help="Only vectors whose id begins or ends with this; repeatable.",
    ),
    partition_options,
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

process_options: Callable[[F], F] = together(
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of worker processes [default: 1].",
    ),
    click.option(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="Seconds per vector [default: 30]. Loading the backend gets at least 120 s.",
    ),
    click.option(
        "--memory",
        metavar="SIZE",
        help="Memory per worker process, for example 4G [default: no limit].",
    ),
)


def call_options(timeout: float, at_most: str) -> Callable[[F], F]:
    """Return ``--timeout`` and ``--memory`` for commands with a single process."""
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


repeat_option: Callable[[F], F] = together(
    click.option(
        "--repeat",
        type=click.IntRange(min=1),
        default=1,
        metavar="N",
        help="Run each vector N times; outputs that differ in any bit are a failure.",
    )
)

min_strength_option: Callable[[F], F] = together(
    click.option(
        "--min-strength",
        type=click.FloatRange(0, 100),
        metavar="PERCENT",
        help="Mutation score that the passing vectors must reach in each element type and rank. "
        "Below it, or where it is unknown, a run without failures is inconclusive. 0 turns this "
        "off [default: 95].",
    )
)

CHECK_LEVEL = sentences(LEVEL_HELP)
CHECK_PRECISION = f"{sentences(PRECISION_HELP)} T=P sets the precision of one element type."


def question_options(level: str, precision: str) -> Callable[[F], F]:
    """Return ``--level`` and ``--precision``, each with its help."""
    return together(
        click.option(
            "--level",
            type=click.Choice(LEVELS),
            default="must",
            show_default=True,
            help=level,
        ),
        click.option(
            "--precision",
            default="standard",
            show_default=True,
            metavar="P|T=P,..",
            help=precision,
        ),
    )
