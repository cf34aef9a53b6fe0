"""Counts, over all vectors, which interpretations a backend follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.core.operator import Operator
from conformance.dtypes import DTYPES
from conformance.model import ADOPTED, FOLLOWED, NEITHER, Result


@dataclass(frozen=True)
class _Question:
    """A question by its name, and how to say what results show of it."""

    name: str
    level: str
    text: str
    words: Mapping[str, str]


def readings(
    ops: Iterable[str], results: Iterable[Result], specs: Mapping[str, Operator]
) -> list[dict[str, Any]]:
    """Count the answers to the questions of each operator.

    Args:
        specs: the specifications of the suite, which may have operators without one.

    Returns:
        One object a question: ``op``, ``point`` (its name), ``level``, ``question`` and
        ``answers``, the most frequent first: ``answer``, ``adopted``, the number of ``vectors``,
        their ``dtypes``, and the smallest of them as ``example``. A question has no answers if no
        vector that the backend answered shows it.
    """
    shown: dict[str, dict[str, dict[str, _Shown]]] = {op: {} for op in ops}
    for result in results:
        for name, kinds in result.shows.items():
            kinds_of = shown.setdefault(result.op, {}).setdefault(name, {})
            for kind in kinds:
                kinds_of.setdefault(kind, _Shown()).take(result)
    return [
        {
            "op": op,
            "point": question.name,
            "level": question.level,
            "question": question.text,
            "answers": _answers(question, by_name.get(question.name, {})),
        }
        for op, by_name in shown.items()
        for question in _questions(specs.get(op), by_name)
    ]


@dataclass
class _Shown:
    """The vectors that show an answer: how many, their types, and the smallest by size and id."""

    vectors: int = 0
    dtypes: set[str] = field(default_factory=set)
    smallest: tuple[int, str] | None = None

    def take(self, result: Result) -> None:
        self.vectors += 1
        self.dtypes.add(result.dtype)
        at = (result.size, result.id)
        self.smallest = at if self.smallest is None else min(self.smallest, at)


def _answers(question: _Question, by_kind: Mapping[str, _Shown]) -> list[dict[str, Any]]:
    answers = []
    for kind, shown in sorted(by_kind.items(), key=lambda item: (-item[1].vectors, item[0])):
        assert shown.smallest is not None
        answers.append(
            {
                "answer": question.words.get(kind, kind),
                "adopted": kind == ADOPTED,
                "vectors": shown.vectors,
                "dtypes": [name for name in DTYPES if name in shown.dtypes],
                "example": shown.smallest[1],
            }
        )
    return answers


def _questions(spec: Operator | None, seen: Iterable[str]) -> list[_Question]:
    """Those of the specification, then those that only the suite knows."""
    questions = []
    for variant in () if spec is None else spec.interpretations:
        words = {ADOPTED: variant.adopted, FOLLOWED: variant.answer, NEITHER: _NEITHER}
        questions.append(_Question(variant.name, variant.level, variant.question, words))
    known = {question.name for question in questions}
    for name in sorted(set(seen) - known):
        words = {
            ADOPTED: "as the suite expects",
            FOLLOWED: f"interpretation {name}",
            NEITHER: _NEITHER,
        }
        questions.append(_Question(name, "should", name, words))
    return questions


_NEITHER = "neither of them"
