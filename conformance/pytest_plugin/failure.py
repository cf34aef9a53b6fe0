"""The failure text of a vector: the finding, the window, commands to reproduce it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from conformance.cli import result_text
from conformance.cli.text import wrapped
from conformance.grade.findings import group_failures
from conformance.grade.outcome import Outcome
from conformance.model import Result, Vector
from conformance.run.check_vector import VectorChecker
from conformance.safe_text import one_line

WIDTH = 96
MAX_MUTANTS = 3
"""Mutants that are listed of those that a failure could be."""

MAX_ELEMENTS = 5
"""Wrong elements of an output that are listed."""


def failure_text(
    vector: Vector,
    result: Result,
    outcome: Outcome | None,
    checker: VectorChecker,
    command: Sequence[str],
    could_be: Sequence[str] = (),
) -> str:
    """Return the text of a failure.

    Args:
        command: the check that tests the same.
        could_be: sentences of mutants that give the same outputs.
    """
    return "\n".join(_lines(vector, result, outcome, checker, command, could_be))


def _lines(
    vector: Vector,
    result: Result,
    outcome: Outcome | None,
    checker: VectorChecker,
    command: Sequence[str],
    could_be: Sequence[str],
) -> Iterator[str]:
    # The first line stands alone in pytest's summary.
    yield one_line(result.message)
    yield ""
    yield from wrapped("  ", vector.description, WIDTH)
    yield f"  kind   {one_line(result.kind)}"
    conditions = [result.dtype, f"rank {result.rank}", *vector.edges]
    conditions += [f"{name} left out" for name in result.left_out]
    yield from wrapped("  with   ", ", ".join(conditions), WIDTH)
    for number, sentence in enumerate(could_be[:MAX_MUTANTS]):
        yield from wrapped("  or     " if number else "  maybe  ", sentence, WIDTH)
    if len(could_be) > MAX_MUTANTS:
        yield f"         and {len(could_be) - MAX_MUTANTS} more give the same here"
    level, precision = checker.level, checker.precision
    match = result_text.match_of(vector, outcome, level, precision)
    if match is not None:
        spec = checker.specs.get(vector.case.op)
        yield from result_text.wrong_element_lines(match, precision, WIDTH, limit=MAX_ELEMENTS)
        yield from result_text.worst_element_lines(spec, vector, result, match, precision)
    yield ""
    (finding,) = group_failures([result], command=command)
    options = command[2:]  # after "conformance check"
    yield f"  again:   {finding.reproduce}"
    yield f"  closer:  {shlex.join(('conformance', 'show', vector.id, *options))}"
    yield f"  script:  {shlex.join(('conformance', 'repro', vector.id, *options))}"
