"""Selects the vectors to which an entry of a gate file applies: id, operator, targets, ..."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from conformance.core.operator import Operator
from conformance.dtypes import DTYPES
from conformance.errors import EvaluationError, ExpressionError, InvalidCase, UsageError, closest
from conformance.model import Case
from conformance.spec.yaml_source import Path, Source
from conformance.specification import Condition, condition_of

MAX_NAMES = 3
"""Names of a list that are shown before the rest is counted."""

CaseOf = Callable[[str], Case]
"""The case of a vector, by its id."""


class VectorFacts(Protocol):
    """What a manifest's entry and a result both say of a vector."""

    @property
    def id(self) -> str: ...
    @property
    def op(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def edges(self) -> tuple[str, ...]: ...
    @property
    def reject(self) -> str | None: ...


@dataclass(frozen=True)
class Selector:
    """Vectors that meet every condition that is given; what is empty or None is no condition.

    ``vectors`` (ids), ``dtypes`` (a vector's first type) and ``ranks`` (the largest of its
    tensors) each list alternatives; of ``edges`` a vector must show all. ``when`` is a predicate
    over the case. ``location`` says in which file and line it stands.
    """

    location: str
    op: str | None = None
    vectors: frozenset[str] = frozenset()
    edges: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    reject: str | None = None
    when: str = ""
    predicate: Condition | None = field(default=None, repr=False, compare=False)

    @property
    def needs_case(self) -> bool:
        """Whether :meth:`matches_entry` does not decide."""
        return bool(self.ranks) or self.predicate is not None

    def matches_entry(self, vector: VectorFacts) -> bool:
        """Return whether a vector meets every condition but those on ranks and ``when``."""
        return (
            self.op in (None, vector.op)
            and (not self.vectors or vector.id in self.vectors)
            and (not self.dtypes or vector.dtype in self.dtypes)
            and self.reject in (None, vector.reject)
            and all(edge in vector.edges for edge in self.edges)
        )

    def matches(self, vector: VectorFacts, case_of: CaseOf) -> bool:
        """Return whether a vector meets every condition; ``case_of`` is called only if needed.

        Raises:
            UsageError: the predicate has no value for the case.
        """
        if not self.matches_entry(vector):
            return False
        return not self.needs_case or self._holds(case_of(vector.id))

    def __str__(self) -> str:
        """The conditions in a few words: ``AvgPool-1, f16 or bf16, edge ceil-overrun``."""
        parts = [self.op] if self.op else []
        parts += [" or ".join(self.dtypes)] if self.dtypes else []
        parts += [f"rank {' or '.join(map(str, self.ranks))}"] if self.ranks else []
        parts += [f"target {' and '.join(self.edges)}"] if self.edges else []
        parts += [f"rejected for {self.reject}"] if self.reject else []
        parts += [self.when] if self.when else []
        parts += [first_few(sorted(self.vectors))] if self.vectors else []
        return ", ".join(parts)

    def _holds(self, case: Case) -> bool:
        if self.ranks and case.rank not in self.ranks:
            return False
        if self.predicate is None:
            return True
        try:
            return self.predicate.holds(case)
        except (EvaluationError, InvalidCase, ValueError) as error:
            if case.reject is not None:
                return False
            raise UsageError(
                f"{self.location}: '{self.when}' has no value for {case.op} {case.id}: {error}",
                hint="put a condition on the case before it: 'auto_pad == explicit and ...'",
            ) from error


def parse_selector(
    source: Source,
    path: Path,
    raw: Mapping[str, Any],
    location: str,
    specs: Mapping[str, Operator],
) -> Selector:
    """Parse the selector of an entry, and note in ``source`` what is wrong with it.

    Args:
        specs: the specifications of operators that ``when`` may name.
    """
    for i, dtype in enumerate(raw.get("dtypes", ())):
        if dtype not in DTYPES:
            source.problem(
                (*path, "dtypes", i),
                f"there is no type '{dtype}'",
                expected=f"one of {', '.join(DTYPES)}",
                hint=closest(dtype, DTYPES),
            )
    return Selector(
        location=location,
        op=raw.get("op"),
        vectors=frozenset(raw.get("vectors", ())),
        edges=tuple(raw.get("edges", ())),
        dtypes=tuple(raw.get("dtypes", ())),
        ranks=tuple(raw.get("ranks", ())),
        reject=raw.get("reject"),
        when=raw.get("when", ""),
        predicate=_predicate(source, path, raw, specs),
    )


def _predicate(
    source: Source, path: Path, raw: Mapping[str, Any], specs: Mapping[str, Operator]
) -> Condition | None:
    if "when" not in raw:
        return None
    at = (*path, "when")
    if "op" not in raw:
        source.problem(at, "'when' speaks of one operator", hint="say which with 'op'", key=True)
        return None
    spec = specs.get(raw["op"])
    if spec is None:
        message = f"there is no operator '{raw['op']}'"
        source.problem((*path, "op"), message, hint=closest(raw["op"], specs))
        return None
    try:
        return condition_of(spec, str(raw["when"]))
    except ExpressionError as error:
        source.problem(
            at, error.message, expected=error.expected, hint=error.hint, offset=error.offset
        )
        return None


def unknown_name(selector: Selector, listed: Collection[VectorFacts]) -> str:
    """Name the condition that no vector meets; empty if each is met by some vector."""
    conditions: list[tuple[str, set[str | None], set[str | None]]] = [
        ("operator", {selector.op}, {v.op for v in listed}),
        ("type", set(selector.dtypes), {v.dtype for v in listed}),
        ("edge", set(selector.edges), {edge for v in listed for edge in v.edges}),
        ("negative test for", {selector.reject}, {v.reject for v in listed}),
        ("vector", set(selector.vectors), {v.id for v in listed}),
    ]
    for noun, names, present in conditions:
        missing = sorted(name for name in names - present if name)
        if missing:
            # Ids differ in a digest, so that the nearest one says nothing.
            candidates = [] if noun == "vector" else [name for name in present if name]
            near = closest(missing[0], candidates)
            return f"no {noun} {first_few(missing)}" + (f" ({near})" if near else "")
    return ""


def first_few(names: Collection[str]) -> str:
    """List the first few names, and how many more there are."""
    first = ", ".join(list(names)[:MAX_NAMES])
    return first + (f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else "")
