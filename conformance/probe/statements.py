"""Statements on results: for each property and range of sizes, the values not contradicted."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from conformance.probe.models import Model
from conformance.probe.probe_calls import ProbeResponse
from conformance.probe.special import SpecialInput

T = TypeVar("T")
V = TypeVar("V")

DECIDED = "contradicts all other listed models"
CONSISTENT = "consistent with"
UNDECIDED = "not decided"
NONE_LISTED = "none of the listed models"
INAPPLICABLE = "not applicable"

ASPECTS = {"order": "order", "lanes": "order"}
"""Properties that describe the same aspect of a model."""

NO_MODEL = "no listed model gives all of these results"
SAME = "it makes no difference here"

MAX_SPECIAL_RESULTS = 6
"""Results of special numbers that are listed with a statement."""

Shown = tuple[str, int]
"""A result: the call, and the number of the input."""


@dataclass(frozen=True)
class Statement:
    """A statement on one property, for windows of some sizes.

    Attributes:
        values: those that no result contradicts.
        contradicted: the other listed values.
        shown_by: results that contradict them.
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
    """The models, in words, that give all results of some sizes, and the number listed."""

    op: str
    dtype: str
    window: str
    sizes: tuple[int, ...]
    models: tuple[str, ...]
    listed: int


@dataclass(frozen=True, eq=False)
class _ModelResults:
    """One size: which input contradicts which listed model, (models, inputs)."""

    response: ProbeResponse
    models: tuple[Model, ...]
    against: NDArray[np.bool_]

    @property
    def fits(self) -> frozenset[int]:
        """The models that nothing contradicts, by number."""
        return frozenset(np.flatnonzero(~self.against.any(axis=1)).tolist())


@dataclass(frozen=True, eq=False)
class _SpecialResults:
    """The results of one special input, in one call."""

    response: ProbeResponse
    special: SpecialInput
    start: int
    codes: list[int]

    @property
    def fits(self) -> frozenset[str]:
        """The values of the property that no result contradicts."""
        return frozenset(
            value
            for value, allowed in self.special.allowed.items()
            if all(code in accepted for code, accepted in zip(self.codes, allowed, strict=True))
        )


def conclude(responses: Sequence[ProbeResponse]) -> tuple[list[Statement], list[Fit]]:
    """Make the statements on one operator, element type and shape of windows."""
    responses = sorted(responses, key=lambda response: response.call.form.elements)
    by_size = [_model_results(r) for r in responses if r.call.predicted is not None]
    statements: list[Statement] = []
    fits: list[Fit] = []
    for segment, common in _segments(by_size, [results.fits for results in by_size]):
        statements += _on_models(segment, common)
        models = segment[0].models
        names = tuple(models[i].description for i in sorted(common))
        fits.append(Fit(*segment[0].response.call.key, _sizes(segment), names, len(models)))
    statements += _on_special_inputs(responses, {id(r.response): r for r in by_size})
    return statements, fits


def _sizes(segment: Sequence[_ModelResults | _SpecialResults]) -> tuple[int, ...]:
    return tuple(results.response.call.form.elements for results in segment)


def _model_results(response: ProbeResponse) -> _ModelResults:
    space, predicted = response.call.space, response.call.predicted
    assert space is not None
    assert predicted is not None
    assert response.results is not None
    against = predicted != response.results[: predicted.shape[1]]
    return _ModelResults(response, space.models, against)


def _segments(
    items: Sequence[T], sets: Sequence[frozenset[V]]
) -> Iterator[tuple[list[T], frozenset[V]]]:
    """Split items into the longest runs whose sets have members in common; yield both.

    Neighbours with empty sets are a run, too.
    """
    run: list[T] = []
    common: frozenset[V] = frozenset()
    for item, members in zip(items, sets, strict=True):
        if run and (common & members or not (common or members)):
            run.append(item)
            common &= members
            continue
        if run:
            yield run, common
        run, common = [item], members
    if run:
        yield run, common


def _on_models(segment: Sequence[_ModelResults], common: frozenset[int]) -> Iterator[Statement]:
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
        contradicted = tuple(value for value in listed if value not in values)
        if verdict in (INAPPLICABLE, UNDECIDED):
            contradicted = ()
        wrong = [i for i, model in enumerate(models) if model.values[name] in contradicted]
        yield Statement(
            *segment[0].response.call.key,
            property=name,
            sizes=_sizes(segment),
            verdict=verdict,
            values=tuple(values) if verdict in (DECIDED, CONSISTENT) else (),
            contradicted=contradicted,
            shown_by=_contradicting_results(segment, wrong),
            note=note,
        )


def _distinct(models: Sequence[Model], name: str) -> list[str]:
    return list(dict.fromkeys(model.values[name] for model in models if model.values[name]))


def _is_moot(models: Sequence[Model], common: Collection[int], name: str) -> bool:
    """Return whether each fitting model also fits with any other value of a property."""
    aspect = ASPECTS.get(name, name)
    for number in common:
        values = models[number].values
        if not values[name]:
            continue
        fixed = {key: value for key, value in values.items() if ASPECTS.get(key, key) != aspect}
        for i, model in enumerate(models):
            is_variant = all(model.values[key] == value for key, value in fixed.items())
            if model.values[name] and is_variant and i not in common:
                return False
    return True


def _contradicting_results(
    segment: Sequence[_ModelResults], wrong: Sequence[int]
) -> tuple[Shown, ...]:
    """Choose few results that together contradict some models: greedily, the best first."""
    remaining = np.array(sorted(wrong), np.int64)
    chosen: list[Shown] = []
    columns = [
        ((results.response.call.id, number), results.against[:, number])
        for results in segment
        for number in range(results.against.shape[1])
    ]
    while len(remaining) and columns:
        shown, against = max(columns, key=lambda column: int(column[1][remaining].sum()))
        if not against[remaining].any():
            break
        chosen.append(shown)
        remaining = remaining[~against[remaining]]
    return tuple(chosen)


def _on_special_inputs(
    responses: Sequence[ProbeResponse], by_response: Mapping[int, _ModelResults]
) -> Iterator[Statement]:
    """Make the statements on special numbers."""
    by_property: dict[str, list[_SpecialResults]] = {}
    for response in responses:
        assert response.results is not None
        predicted = response.call.predicted
        start = 0 if predicted is None else predicted.shape[1]
        for special in _special_inputs(response, by_response.get(id(response))):
            codes = response.results[start : start + len(special.inputs)].tolist()
            results = _SpecialResults(response, special, start, codes)
            by_property.setdefault(special.about, []).append(results)
            start += len(special.inputs)
    for name, items in by_property.items():
        for segment, common in _segments(items, [results.fits for results in items]):
            yield _on_special(name, segment, common)


def _special_inputs(response: ProbeResponse, results: _ModelResults | None) -> list[SpecialInput]:
    """List the special inputs of a call, with predictions of fitting models."""
    space = response.call.space
    if results is None or space is None:
        return response.call.special_inputs()
    fitting = sorted(results.fits) or list(range(len(results.models)))
    return response.call.special_inputs(lambda data: space.predict(data, fitting))


def _on_special(name: str, segment: Sequence[_SpecialResults], common: frozenset[str]) -> Statement:
    listed = list(dict.fromkeys(value for item in segment for value in item.special.allowed))
    values = [value for value in listed if value in common]
    contradicted = [value for value in listed if value not in common]
    note = ""
    if not values:
        verdict, note = NONE_LISTED, NO_MODEL
    elif len(values) == 1:
        verdict = DECIDED
    elif len(values) < len(listed):
        verdict = CONSISTENT
    else:
        same = all(len(set(item.special.allowed.values())) == 1 for item in segment)
        verdict, note = (INAPPLICABLE, SAME) if same else (UNDECIDED, "")
    shown = [
        (item.response.call.id, item.start + number)
        for item in segment
        for number, code in enumerate(item.codes)
        if not values
        or any(
            code not in item.special.allowed[value][number]
            for value in contradicted
            if value in item.special.allowed
        )
    ]
    return Statement(
        *segment[0].response.call.key,
        property=name,
        sizes=_sizes(segment),
        verdict=verdict,
        values=tuple(values) if verdict in (DECIDED, CONSISTENT) else (),
        contradicted=tuple(contradicted),
        shown_by=tuple(shown[:MAX_SPECIAL_RESULTS]),
        note=note,
    )
