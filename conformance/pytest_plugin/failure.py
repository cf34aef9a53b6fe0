"""What a failed vector says: the finding, with its window and how to see it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from conformance.cli import verdict_text
from conformance.cli.text import wrapped
from conformance.grade.findings import findings
from conformance.grade.outcome import Outcome
from conformance.model import Result, Vector
from conformance.report.lines import one_line
from conformance.run.single import Examiner

WIDTH = 96
ELEMENTS = 5
"""Wrong elements of an output that are listed."""


def failure(
    vector: Vector,
    result: Result,
    outcome: Outcome | None,
    examiner: Examiner,
    command: Sequence[str],
) -> str:
    """The text of a failure; ``command`` is the check that asks the same of all vectors."""
    return "\n".join(_lines(vector, result, outcome, examiner, command))


def _lines(
    vector: Vector,
    result: Result,
    outcome: Outcome | None,
    examiner: Examiner,
    command: Sequence[str],
) -> Iterator[str]:
    # The first line stands alone in pytest's summary.
    yield one_line(result.message)
    yield ""
    yield from wrapped("  ", vector.description, WIDTH)
    if vector.edges:
        yield from wrapped("  edges  ", ", ".join(vector.edges), WIDTH)
    level, precision = examiner.level, examiner.precision
    match = verdict_text.match_of(vector, outcome, level, precision)
    if match is not None:
        spec = examiner.specs.get(vector.case.op)
        yield from verdict_text.wrong_elements(
            spec, vector, match, precision, WIDTH, limit=ELEMENTS
        )
        yield from verdict_text.worst_element(spec, vector, result, match, precision)
    yield ""
    (finding,) = findings([result], command=command)
    question = command[2:]  # after "conformance check"
    yield f"  again:   {finding.reproduce}"
    yield f"  closer:  {shlex.join(('conformance', 'show', vector.id, *question))}"
    yield f"  script:  {shlex.join(('conformance', 'repro', vector.id, *question))}"
