"""``conformance show``: one vector, and how its expected values are computed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

import click

from conformance.cli.options import backend_options, env_option, grading_options, suite_option

if TYPE_CHECKING:
    from conformance.core.operator import Operator
    from conformance.model import Vector
    from conformance.run.executor import Executor

ROWS = 24
WIDTH = 100

EXAMPLES = """
\b
Examples:
  conformance show f32-1x1x7-ramp-1a2b3c4d
      one vector of the shipped suite
  conformance show 1a2b3c4d
      the same; the digest or any unique prefix of the id will do
  conformance show 1a2b3c4d --element 0,0,2
      one output element: what it reads, and what each precision accepts
  conformance show 1a2b3c4d --backend openvino
      also run a backend: the verdict, the wrong elements, and what the worst
      of them reads; with --element, its value there
  conformance show 1a2b3c4d --suite my-suite
      a vector of your own suite, with the specification it carries

The backend runs once, in a separate process. The exit code does not depend on its verdict;
use "conformance check" as a gate. "conformance repro" writes a standalone script.
"""


@click.command(epilog=EXAMPLES)
@click.argument("vector_id", metavar="ID")
@backend_options("Run this backend, and show what is wrong with its output.")
@env_option
@suite_option
@click.option("--element", metavar="N,C,I..", help="Show how this output element is computed.")
@click.option("--all", "everything", is_flag=True, help=f"All elements, not the first {ROWS}.")
@grading_options("With --backend: as in conformance check.")
def show(
    vector_id: str,
    backend: str | None,
    env: str | None,
    suite: str | None,
    element: str | None,
    everything: bool,
    level: str,
    precision: str,
) -> None:
    """Show one vector and how its expected values are computed.

    Prints the inputs and, for each output element, the expected value and the accepted interval at
    precision standard, then how other allowed interpretations differ. With --element, the elements
    of each input that it reads. With --backend, it also runs the backend and shows where its output
    is wrong.
    """
    from conformance.cli import vector_text
    from conformance.errors import UsageError
    from conformance.grade.precision import parse_precision
    from conformance.run.executor_options import Isolation
    from conformance.suite.store import open_suite

    if env is not None and backend is None:
        raise UsageError("--env needs --backend", hint="add --backend NAME")
    precisions = parse_precision(precision)
    opened = open_suite(suite)
    vector = opened.find(vector_id)
    index = None if element is None else _index(element, vector)
    width = min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH)
    for line in vector_text.heading(vector, width):
        click.echo(line)
    spec = opened.specs[vector.case.op]
    limit = None if everything else ROWS
    if backend is not None:
        executor = Isolation(env=env).executor_for(backend)
        lines = _backend_lines(
            executor, opened.specs, vector, index, level, precisions, width, limit
        )
    elif index is not None:
        lines = chain([""], vector_text.element(spec, vector, index))
    else:
        lines = vector_text.tables(vector, width, limit=limit)
    for line in lines:
        click.echo(line)


def _backend_lines(
    executor: Executor,
    specs: Mapping[str, Operator],
    vector: Vector,
    index: tuple[int, ...] | None,
    level: str,
    precision: Mapping[str, str],
    width: int,
    limit: int | None,
) -> Iterator[str]:
    """Run the backend; yield its result, or that of the element at ``index``."""
    from conformance.cli import result_text, vector_text
    from conformance.cli.text import wrapped
    from conformance.run.check_vector import VectorChecker

    spec = specs.get(vector.case.op)
    with executor as running:
        identity = running.identity
        result, outcome = VectorChecker(running, specs, level, precision).check(vector)
    match = result_text.match_of(vector, outcome, level, precision)
    name = f"{identity.name} {identity.version}"
    yield ""
    yield from wrapped("  ", result_text.result_sentence(name, result, level, precision), width)
    if index is not None:
        yield ""
        yield from vector_text.element(spec, vector, index, match, precision)
    elif match is not None:
        yield from result_text.wrong_element_lines(match, precision, width, limit=limit)
        yield from result_text.worst_element_lines(spec, vector, result, match, precision)


def _index(text: str, vector: Vector) -> tuple[int, ...]:
    from conformance.errors import UsageError

    if not vector.answers:
        raise UsageError(
            f"--element {text}: {vector.id} must be rejected, so it has no output",
            hint="leave --element out",
        )
    shape = vector.answers[0].expected.shape
    numbers = text.split(",")
    if len(numbers) == len(shape) and all(number.strip().isdecimal() for number in numbers):
        index = tuple(map(int, numbers))
        if all(i < n for i, n in zip(index, shape, strict=True)):
            return index
    example = ",".join("0" for _ in shape)
    raise UsageError(
        f"--element {text}: the output of {vector.id} has shape {'x'.join(map(str, shape))}",
        hint=f"give one number an axis, counted from 0, as in --element {example}",
    )
