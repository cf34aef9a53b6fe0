"""Which interpretation each backend follows, from run logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conformance.log.run_log import RunLog
from conformance.spec.model import OpSpec


@dataclass(frozen=True)
class QuestionAnswer:
    """An answer that vectors of a run show; ``example`` is the smallest of them."""

    answer: str
    adopted: bool
    vectors: int
    example: str


@dataclass(frozen=True)
class BackendAnswers:
    """A backend and its answers to one question; none if no tested vector shows any."""

    backend: str
    version: str
    answers: tuple[QuestionAnswer, ...]


def backend_answers(
    spec: OpSpec, runs: Iterable[RunLog]
) -> Mapping[str, tuple[BackendAnswers, ...]]:
    """Collect the answers of each run to each open question, by its name.

    Runs that did not test the operator are left out, and so are questions of the logs that the
    specification does not have.
    """
    questions = [*(i.name for i in spec.interpretations), *(point.name for point in spec.observe)]
    by_question: dict[str, list[BackendAnswers]] = {name: [] for name in questions}
    for run in runs:
        backend = run.start.backend
        for shown in run.readings:
            if shown.op == spec.op and shown.point in by_question:
                answers = tuple(
                    QuestionAnswer(a.answer, a.adopted, a.vectors, a.example) for a in shown.answers
                )
                of_run = BackendAnswers(backend.name, backend.version, answers)
                by_question[shown.point].append(of_run)
    return {name: tuple(answers) for name, answers in by_question.items()}
