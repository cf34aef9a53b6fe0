"""Groups failed vectors into findings: what fails in the same way, and what it has in common.

A finding only states facts: how many vectors with a feature (a dtype, an edge, a reject condition)
failed in one way, of how many that have it. What no feature tells apart stays together.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import Any

from conformance.exception_text import NUMBERS
from conformance.failure_kind import FailureKind, facts_of
from conformance.model import FAILED, GRADED, Finding, Result, Status, Witness

MIN_SPLIT = 2
"""One failure is no pattern: a feature must explain at least this many."""

MAX_COMPARED_MESSAGE = 300
"""Characters of a message, its numbers replaced, that tell failures apart. Where a long message is
cut depends on the length of the numbers before."""

NO_CAUSES: Mapping[tuple[str, str], str] = MappingProxyType({})

Feature = tuple[str, str]  # what it is ("dtype", "edge", "reject", "attribute"), and its name


def group_failures(
    results: Collection[Result],
    *,
    command: Sequence[str],
    show: Sequence[str] = (),
    causes: Mapping[tuple[str, str], str] = NO_CAUSES,
) -> tuple[Finding, ...]:
    """Group failures into findings, worst first, known failures after all new ones.

    A finding holds known failures alone or none.

    Args:
        command: the check of the results, as arguments without ``--op`` and ``--only``; empty if no
            command can name the backend, and then ``reproduce`` is empty.
        show: what ``conformance show`` needs besides an id.
        causes: by operator and id. Failures of one cause are one finding, in however many ways they
            fail.
    """
    groups: dict[tuple[str, ...], list[Result]] = defaultdict(list)
    for result in results:
        if result.status in FAILED:
            cause = causes.get((result.op, result.id))
            key = _failure_key(result) if cause is None else _cause_key(result, cause)
            groups[key].append(result)
    counts_by_population = {_population_key(group[0]): FeatureCounts() for group in groups.values()}
    for result in results if counts_by_population else ():
        if result.status in GRADED and _population_key(result) in counts_by_population:
            counts_by_population[_population_key(result)].take(result)
    ranked = []
    for group in groups.values():
        counts = counts_by_population[_population_key(group[0])]
        divided = list(split_group(group, counts))
        if (group[0].op, group[0].id) in causes and len(divided) > 1:
            divided = [(None, group)]
        for feature, failures in divided:
            title = _title(feature, failures, group, counts)
            finding = _finding(title, failures, command, show)
            ranked.append((_rank(failures), finding.op, finding.kind, title, finding))
    return tuple(entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:-1]))


class FeatureCounts:
    """The graded results that features are about, counted: how many have each, and pass with it."""

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self.graded = self.passes = 0
        self.having: Counter[Feature] = Counter()
        self.passed: Counter[Feature] = Counter()
        for result in results:
            self.take(result)

    def take(self, result: Result) -> None:
        """Count another result."""
        features = _features(result)
        self.graded += 1
        self.having.update(features)
        if result.status is Status.PASS:
            self.passes += 1
            self.passed.update(features)


def split_group(
    group: Sequence[Result], counts: FeatureCounts
) -> Iterator[tuple[Feature | None, list[Result]]]:
    """Divide failures of one kind by what they have in common.

    ``universe`` has counted every graded result that the features are about, those of ``group``
    too. A feature is worth the failures that have it times the share of failures among all that
    have it (what failed in another way tells nothing and is left out). The best one is split off,
    then the best among what remains, until nothing beats keeping it together, which comes last,
    under None.
    """
    passed, passes = counts.passed, counts.passes
    remaining = list(group)
    while remaining:
        explained: dict[Feature, int] = defaultdict(int)
        for result in remaining:
            for feature in _features(result):
                explained[feature] += 1

        def worth(feature: Feature, explained: dict[Feature, int] = explained) -> float:
            return explained[feature] ** 2 / (explained[feature] + passed[feature])

        together = len(remaining) ** 2 / (len(remaining) + passes)
        best = min(
            (f for f in explained if explained[f] >= MIN_SPLIT and worth(f) > together),
            key=lambda f: (-worth(f), f[0] != "dtype", f),
            default=None,
        )
        if best is None:
            yield None, remaining
            return
        yield best, [result for result in remaining if best in _features(result)]
        remaining = [result for result in remaining if best not in _features(result)]


def finding_titles(result: Result) -> set[str]:
    """Return the findings that a failure may be part of, as titles without counts."""
    return {f"{feature}: {_predicate(result)}" for _, feature in _features(result)}


def without_counts(title: str) -> str:
    """Return the title of a finding without its counts, which change with the suite.

    The feature of the finding stands before ``": "``; without that it has none.
    """
    return re.sub(r"\d[\d,]*(?: more)? of \d[\d,]* (?=vectors|negative)", "", title, count=1)


def _features(result: Result) -> set[Feature]:
    features = {("edge", edge) for edge in result.edges}
    features.add(("dtype", result.dtype))
    if result.reject is not None:
        # Such vectors are few, and what they leave out has nothing to do with what they break.
        features.add(("reject", result.reject))
    else:
        features |= {("attribute", f"without {name}") for name in result.left_out}
    return features


def _population_key(result: Result) -> tuple[str, bool]:
    return result.op, result.reject is not None


def _failure_key(result: Result) -> tuple[str, ...]:
    if result.kind == FailureKind.ACCEPTED:
        text = ""  # the conditions are features
    elif result.witness:
        text = result.witness.output
    else:
        # What follows the first line is about one vector, such as where its process crashed.
        text = normalise_message(result.message.partition("\n")[0])[:MAX_COMPARED_MESSAGE]
    test_kind = "reject" if result.reject is not None else "value"
    known_mark = "" if result.known is None else "known"
    return result.op, test_kind, result.status, result.kind, text, str(result.reading), known_mark


def _cause_key(result: Result, cause: str) -> tuple[str, ...]:
    return result.op, cause, "" if result.known is None else "known"


def normalise_message(message: str) -> str:
    """Replace addresses, numbers and lists of numbers in a message by ``#``."""
    return NUMBERS.sub("#", message)


def _rank(failures: Sequence[Result]) -> tuple[bool, bool, int]:
    """What is new comes first, then what breaks a must, not just a should; then more failures."""
    all_known = all(result.known is not None for result in failures)
    mild = all(r.level == "should" or r.kind == FailureKind.INTERPRETATION for r in failures)
    return all_known, mild, -len(failures)


def _title(
    feature: Feature | None,
    failures: Sequence[Result],
    group: Sequence[Result],
    counts: FeatureCounts,
) -> str:
    """What is wrong in plain words, with how many vectors of how many.

    It says "more" where others fail alike and are told of in another finding.
    """

    def having(results: Sequence[Result]) -> int:
        return sum(feature is None or feature in _features(result) for result in results)

    first = failures[0]
    population = counts.graded if feature is None else counts.having[feature]
    subject = "" if feature is None else f"{feature[1]}: "
    further = " more" if len(failures) < having(group) else ""
    predicates = {_predicate(result) for result in failures}
    wrong = (
        predicates.pop() if len(predicates) == 1 else f"{_noun(first)} wrong ({_aspects(failures)})"
    )
    return f"{subject}{len(failures)}{further} of {population} {wrong}"


def _noun(result: Result) -> str:
    return "vectors" if result.reject is None else "negative tests"


def _aspects(failures: Sequence[Result]) -> str:
    """What is wrong with them, in the order of :class:`FailureKind`: ``values or shape``."""
    present = {result.kind for result in failures}
    kinds = [*(kind for kind in FailureKind if kind in present), *sorted(present - {*FailureKind})]
    *first_aspects, last = [facts_of(kind).aspect or str(kind) for kind in kinds]
    return f"{', '.join(first_aspects)} or {last}" if first_aspects else last


def _predicate(result: Result) -> str:
    output = f" in {result.witness.output}" if result.witness else ""
    return f"{_noun(result)} {facts_of(result.kind).predicate}{output}"


def _finding(
    title: str, failures: Sequence[Result], command: Sequence[str], show: Sequence[str]
) -> Finding:
    smallest = min(failures, key=lambda result: (result.size, result.id))
    shared = set(smallest.edges).intersection(*(result.edges for result in failures))
    selection = ("--op", smallest.op, "--only", smallest.id)
    return Finding(
        op=smallest.op,
        kind=smallest.kind,
        title=title,
        ids=tuple(result.id for result in failures),
        edges=tuple(edge for edge in smallest.edges if edge in shared),
        smallest=smallest.id,
        message=smallest.message + _tiled(failures),
        witness=smallest.witness,
        reproduce=shlex.join((*command, *selection)) if command else "",
        detail={
            "show": shlex.join(("conformance", "show", smallest.id, *show)),
            **_worst_vector(failures),
        },
    )


def _tiled(failures: Sequence[Result]) -> str:
    """What errors look like that are within precision tiled in every vector; else empty.

    Where a tile holds NaN or infinities tiled accepts anything, so numbers have to be off too.
    """
    if any(result.precision != "tiled" for result in failures):
        return ""
    if not any(_is_off_by_a_number(result.witness) for result in failures):
        return ""
    return (
        ". This is what sums look like that are computed tile by tile, as by Winograd's "
        "algorithms: with --precision tiled these vectors pass"
    )


def _is_off_by_a_number(worst: Witness | None) -> bool:
    return worst is not None and all(isfinite(float(text)) for text in (worst.got, worst.rounded))


def _worst_vector(failures: Sequence[Result]) -> dict[str, Any]:
    """The vector whose worst element is farthest off, if elements were compared at all."""
    compared = [(result.witness, result) for result in failures if result.witness is not None]
    if not compared:
        return {}
    witness, result = max(compared, key=lambda pair: pair[0].ulp or 0.0)
    return {"worst": {"id": result.id, "ulp": witness.ulp, "got": witness.got}}
