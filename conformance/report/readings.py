"""Interpretations of a backend, prepared for display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.log.run_log import RunLog
from conformance.model import GRADED


@dataclass(frozen=True)
class AnswerRow:
    """One answer of the backend to a question: how many vectors show it, of which types.

    ``other`` where the specification adopts another answer; to an open question none is adopted.
    """

    answer: str
    other: bool
    vectors: int
    dtypes: str
    example: str


@dataclass(frozen=True)
class Question:
    """A question that the document leaves open, with every answer that vectors show."""

    text: str
    answers: tuple[AnswerRow, ...]

    @property
    def mixed(self) -> bool:
        """Whether different vectors show different answers."""
        return len(self.answers) > 1


def readings(run: RunLog) -> Mapping[str, tuple[Question, ...]]:
    """The questions of each operator that the backend was graded on, in the order of the log."""
    run_on: dict[str, set[str]] = {}
    for result in run.results:
        if result.status in GRADED and result.reject is None:
            run_on.setdefault(result.op, set()).add(result.dtype)
    questions: dict[str, list[Question]] = {}
    for reading in run.readings:
        if reading["op"] not in run_on:
            continue  # not claimed, say: there is nothing that it could have shown
        answers = tuple(
            AnswerRow(
                answer=answer["answer"],
                other=reading["level"] != "open" and not answer["adopted"],
                vectors=answer["vectors"],
                dtypes=_dtypes(answer["dtypes"], run_on[reading["op"]]),
                example=answer["example"],
            )
            for answer in reading["answers"]
        )
        question = Question(reading["question"], answers)
        questions.setdefault(reading["op"], []).append(question)
    return {op: tuple(asked) for op, asked in questions.items()}


def _dtypes(dtypes: Sequence[str], run_on: set[str]) -> str:
    """Element types by name; ``all`` for those that the operator was run on, if several."""
    return "all" if len(run_on) > 1 and set(dtypes) == run_on else " ".join(dtypes)
