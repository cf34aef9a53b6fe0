"""What results show: for each property and range of sizes, the values that nothing contradicts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from conformance.probe.models import Model
from conformance.probe.probe_calls import Answered
from conformance.probe.special import SpecialInput

T = TypeVar("T")
V = TypeVar("V")

DECIDED = "contradicts all other listed models"
CONSISTENT = "consistent with"
UNDECIDED = "not decided"
NONE_LISTED = "none of the listed models"
INAPPLICABLE = "not applicable"
VERDICTS = (DECIDED, CONSISTENT, UNDECIDED, NONE_LISTED, INAPPLICABLE)

PART = {"order": "order", "lanes": "order"}
"""Properties that say something of the same part of a model."""

NO_MODEL = "no listed model gives all of these results"
SAME = "it makes no difference here"

Shown = tuple[str, int]
"""A result: the call, and the number of the input."""


@dataclass(frozen=True)
class Statement:
    """What is said of one property for windows of some sizes.

    ``values`` are those that no result contradicts, ``contradicted`` the others that are listed,
    and ``shown_by`` results that contradict them.
    """

    op: str
    dtype: str
    window: str
    property: str
    sizes: tuple[int, ...]
    verdict: str
    values: tuple[str, ...]
    contradicted: tuple[str, ...]
    shown_by: tuple[Shown, ...]
    note: str = ""


@dataclass(frozen=True)
class Fit:
    """The listed models that give all results of some sizes, in words, of how many."""

    op: str
    dtype: str
    window: str
    sizes: tuple[int, ...]
    models: tuple[str, ...]
    listed: int


@dataclass(frozen=True, eq=False)
class _Size:
    """What one size shows of the listed models: which input contradicts which, (models, inputs)."""

    seen: Answered
    models: tuple[Model, ...]
    against: NDArray[np.bool_]

    @property
    def fits(self) -> frozenset[int]:
        """The models that nothing contradicts, by number."""
        return frozenset(np.flatnonzero(~self.against.any(axis=1)).tolist())


def conclude(seen: Sequence[Answered]) -> tuple[list[Statement], list[Fit]]:
    """The statements on one operator, element type and shape of windows; ``seen`` by size."""
    seen = sorted(seen, key=lambda one: one.call.form.elements)
    sizes = [_size(one) for one in seen if one.call.predicted is not None]
    said: list[Statement] = []
    fits: list[Fit] = []
    for segment, common in _segments(sizes, [one.fits for one in sizes]):
        said += _of_models(segment, common)
        models = segment[0].models
        told = tuple(models[i].words for i in sorted(common))
        fits.append(Fit(*_where(segment[0].seen), _sizes(segment), told, len(models)))
    said += _of_questions(seen, {id(one.seen): one for one in sizes})
    return said, fits


def _where(seen: Answered) -> tuple[str, str, str]:
    return seen.call.spec.op, seen.call.dtype, seen.call.form.window


def _sizes(segment: Sequence[_Size]) -> tuple[int, ...]:
    return tuple(one.seen.call.form.elements for one in segment)


def _size(seen: Answered) -> _Size:
    space, predicted = seen.call.space, seen.call.predicted
    assert space is not None
    assert predicted is not None
    assert seen.results is not None
    against = predicted != seen.results[: predicted.shape[1]]
    return _Size(seen, space.models, against)


def _segments(
    items: Sequence[T], sets: Sequence[frozenset[V]]
) -> Iterator[tuple[list[T], frozenset[V]]]:
    """Runs of neighbours, as long as their sets have something in common, with what that is; those
    whose sets are empty are runs, too.
    """
    run: list[T] = []
    common: frozenset[V] = frozenset()
    for item, found in zip(items, sets, strict=True):
        if run and (common & found or not (common or found)):
            run.append(item)
            common &= found
            continue
        if run:
            yield run, common
        run, common = [item], found
    if run:
        yield run, common


def _of_models(segment: Sequence[_Size], common: frozenset[int]) -> Iterator[Statement]:
    models = segment[0].models
    fitting = [models[i] for i in sorted(common)]
    for name in dict.fromkeys(key for model in models for key in model.values):
        listed = _distinct(models, name)
        values = _distinct(fitting, name)
        note = ""
        if not fitting:
            verdict, note = NONE_LISTED, NO_MODEL
        elif not values or (len(values) > 1 and _is_moot(models, common, name)):
            verdict, note = INAPPLICABLE, SAME
        elif len(values) == 1:
            verdict = DECIDED if len(listed) > 1 else INAPPLICABLE
        else:
            verdict = CONSISTENT if len(values) < len(listed) else UNDECIDED
        gone = tuple(one for one in listed if one not in values)
        if verdict in (INAPPLICABLE, UNDECIDED):
            gone = ()
        killed = [i for i, one in enumerate(models) if one.values[name] in gone]
        yield Statement(
            *_where(segment[0].seen),
            property=name,
            sizes=_sizes(segment),
            verdict=verdict,
            values=tuple(values) if verdict in (DECIDED, CONSISTENT) else (),
            contradicted=gone,
            shown_by=_witnesses(segment, killed),
            note=note,
        )


def _distinct(models: Sequence[Model], name: str) -> list[str]:
    return list(dict.fromkeys(one.values[name] for one in models if one.values[name]))


def _is_moot(models: Sequence[Model], common: Collection[int], name: str) -> bool:
    """Whether every model that fits also fits with any other value of a property."""
    part = PART.get(name, name)
    for number in common:
        own = models[number]
        if not own.values[name]:
            continue
        rest = {key: value for key, value in own.values.items() if PART.get(key, key) != part}
        others = (
            i
            for i, one in enumerate(models)
            if one.values[name] and all(one.values[key] == value for key, value in rest.items())
        )
        if any(i not in common for i in others):
            return False
    return True


def _witnesses(segment: Sequence[_Size], killed: Sequence[int]) -> tuple[Shown, ...]:
    """Results that together contradict some models, as few as are found by taking the one that
    contradicts most, again and again.
    """
    rest = np.array(sorted(killed), np.int64)
    found: list[Shown] = []
    columns = [
        (one.seen.call.id, number, one.against[:, number])
        for one in segment
        for number in range(one.against.shape[1])
    ]
    while len(rest) and columns:
        call, number, against = max(columns, key=lambda one: int(one[2][rest].sum()))
        if not against[rest].any():
            break
        found.append((call, number))
        rest = rest[~against[rest]]
    return tuple(found)


def _of_questions(seen: Sequence[Answered], sizes: Mapping[int, _Size]) -> Iterator[Statement]:
    """The statements on special numbers."""
    told: dict[str, list[tuple[Answered, SpecialInput, int]]] = {}
    for one in seen:
        at = 0 if one.call.predicted is None else one.call.predicted.shape[1]
        for question in _questions(one, sizes.get(id(one))):
            told.setdefault(question.about, []).append((one, question, at))
            at += len(question.inputs)
    for name, asked in told.items():
        left = [frozenset(_left(*one)) for one in asked]
        for segment, common in _segments(asked, left):
            yield _of_question(name, segment, common)


def _questions(seen: Answered, size: _Size | None) -> list[SpecialInput]:
    """The questions of a call, with the answers that follow from the models that fit its size."""
    space = seen.call.space
    if size is None or space is None:
        return seen.call.questions()
    fitting = sorted(size.fits) or list(range(len(size.models)))
    return seen.call.questions(lambda data: space.predict(data, fitting))


def _left(seen: Answered, question: SpecialInput, at: int) -> list[str]:
    """The answers that no result contradicts."""
    assert seen.results is not None
    results = seen.results[at : at + len(question.inputs)].tolist()
    return [
        name
        for name, allowed in question.answers.items()
        if all(code in one for code, one in zip(results, allowed, strict=True))
    ]


def _of_question(
    name: str, segment: Sequence[tuple[Answered, SpecialInput, int]], common: frozenset[str]
) -> Statement:
    listed = list(dict.fromkeys(key for _, question, _ in segment for key in question.answers))
    values = [one for one in listed if one in common]
    gone = [one for one in listed if one not in common]
    note, shown = "", []
    if not values:
        verdict, note = NONE_LISTED, NO_MODEL
    elif len(values) == 1:
        verdict = DECIDED
    elif len(values) < len(listed):
        verdict = CONSISTENT
    else:
        same = all(len(set(question.answers.values())) == 1 for _, question, _ in segment)
        verdict, note = (INAPPLICABLE, SAME) if same else (UNDECIDED, "")
    for seen, question, at in segment:
        assert seen.results is not None
        for number in range(len(question.inputs)):
            code = int(seen.results[at + number])
            against = [one for one in gone if one in question.answers]
            if not values or any(code not in question.answers[one][number] for one in against):
                shown.append((seen.call.id, at + number))
    return Statement(
        *_where(segment[0][0]),
        property=name,
        sizes=tuple(seen.call.form.elements for seen, _, _ in segment),
        verdict=verdict,
        values=tuple(values) if verdict in (DECIDED, CONSISTENT) else (),
        contradicted=tuple(gone),
        shown_by=tuple(shown[:MOST_SHOWN]),
        note=note,
    )


MOST_SHOWN = 6
"""Results of special numbers that are listed with a statement, at most."""
