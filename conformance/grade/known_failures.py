"""Parses known failures: entries of a YAML file that a vendor writes.

A known failure stays a failure. What an entry does is to name it, so that a gate can tell it from
a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from conformance.core.operator import Operator
from conformance.errors import Problem, SpecError, closest
from conformance.exception_text import without_numbers
from conformance.failure_kind import FailureKind, facts_of
from conformance.grade.findings import finding_titles, without_counts
from conformance.grade.selector import CaseOf, Selector, VectorFacts, parse_selector
from conformance.model import FAILED, Result
from conformance.spec.yaml_source import Path, Source

NARROWING = (
    *("vectors", "edges", "dtypes", "ranks", "reject", "when"),
    *("finding", "mutants", "wrong", "message"),
)

Gives = Callable[[Result, tuple[str, ...]], bool]
"""Whether the outputs of a failure are what some mutants together give on its vector."""


@dataclass(frozen=True)
class KnownFailure:
    """An entry: the failures that it names, and why they are tolerated until when.

    Without ``kind`` it names failures of each kind that is excused by default. ``finding`` is the
    title of a finding without its counts, ``mutants`` are ids of those that together give what the
    backend gives, ``wrong`` says by id what is wrong in a vector (:attr:`Result.wrong`),
    ``message`` is what the backend says, as :func:`without_numbers` gives it. ``column`` goes with
    the line in the selector's ``location``.
    """

    selector: Selector
    reason: str
    kind: str | None = None
    finding: str = ""
    mutants: tuple[str, ...] = ()
    wrong: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    link: str | None = None
    expires: date | None = None
    line: int = 1
    column: int = 1

    @property
    def name(self) -> str:
        """The file and the line, which is how a log speaks of the entry."""
        return self.selector.location

    @property
    def about(self) -> str:
        """What it names, in a few words."""
        kind = f"kind {self.kind}" if self.kind else ""
        mutants = f"outputs of {' with '.join(self.mutants)}" if self.mutants else ""
        message = f"message {self.message!r}" if self.message else ""
        return ", ".join(filter(None, (str(self.selector), self.finding, mutants, message, kind)))

    @property
    def of_failures(self) -> bool:
        """Whether it is about how vectors fail: then it says nothing of those that pass."""
        return bool(self.finding or self.mutants or self.message)

    def matches_entry(self, vector: VectorFacts) -> bool:
        """Return whether the manifest allows the entry to name a failure of a vector."""
        if self.finding and self._feature not in (vector.dtype, vector.reject, *vector.edges):
            return False
        return self.selector.matches_entry(vector)

    def may_name(self, vector: VectorFacts, case_of: CaseOf) -> bool:
        """Return whether the entry may name a failure of a vector."""
        return self.matches_entry(vector) and self.selector.matches(vector, case_of)

    def names(self, result: Result, case_of: CaseOf, gives: Gives) -> bool:
        """Return whether the entry names a failure; ``gives`` is called last, if at all."""
        excused = facts_of(result.kind).excused_by_default
        return (
            result.status in FAILED
            and (result.kind == self.kind if self.kind else excused)
            and (not self.finding or self.finding in finding_titles(result))
            and (not self.wrong or self.wrong.get(result.id) == result.wrong)
            and (not self.message or self.message == without_numbers(result.message))
            and self.may_name(result, case_of)
            and (not self.mutants or gives(result, self.mutants))
        )

    def covered_operator(self, vectors: Iterable[VectorFacts], case_of: CaseOf) -> str | None:
        """Return an operator of which the entry concerns every vector; None if there is none.

        An entry that lists ids, or what tells failures apart, covers none. Of an operator that has
        vectors with values, only those count.
        """
        if self.selector.vectors or self.mutants or self.message:
            return None
        by_op: dict[str, list[VectorFacts]] = {}
        for vector in vectors:
            by_op.setdefault(vector.op, []).append(vector)
        for op, of_op in by_op.items():
            population = [vector for vector in of_op if vector.reject is None] or of_op
            # Cases are read from disk, so what the manifest alone decides comes first.
            if all(map(self.matches_entry, population)) and all(
                self.may_name(v, case_of) for v in population
            ):
                return op
        return None

    @property
    def _feature(self) -> str:
        return self.finding.partition(": ")[0]


@dataclass(frozen=True)
class KnownFailures:
    """The entries of a file, in its order. ``file`` is its path as it was given."""

    file: str
    entries: tuple[KnownFailure, ...]

    def check(self, vectors: Sequence[VectorFacts], case_of: CaseOf) -> None:
        """Refuse an entry that would excuse all of an operator of the suite.

        Raises :class:`~conformance.errors.SpecError`.
        """
        problems = []
        for entry in self.entries:
            op = entry.covered_operator(vectors, case_of)
            if op is not None:
                message = f"this would excuse every vector of {op} with values"
                hint = "narrow it (edges, dtypes, ranks, when), or list the ids of its vectors"
                where = (self.file, entry.line, entry.column)
                problems.append(Problem(*where, message, hint=hint))
        if problems:
            raise SpecError(tuple(problems))


def parse_known_failures(source: Source, file: str, specs: Mapping[str, Operator]) -> KnownFailures:
    """Parse the known failures in a valid source; note there what else is wrong."""
    entries = []
    for i, raw in enumerate(source.data["known"]):
        entries.append(_entry(source, ("known", i), raw, file, specs))
    return KnownFailures(source.file, tuple(entries))


def _entry(
    source: Source,
    path: Path,
    raw: Mapping[str, Any],
    file: str,
    specs: Mapping[str, Operator],
) -> KnownFailure:
    line, column = source.where(path)
    if not any(name in raw for name in NARROWING):
        message = f"this excuses all of {raw.get('op', 'every operator')}"
        source.problem(path, message, expected=f"one of {', '.join(NARROWING)}")
    if not raw["reason"].strip():
        source.problem((*path, "reason"), "there is no reason")
    if "mutants" in raw and "op" not in raw:
        source.problem(
            (*path, "mutants"), "mutants are one operator's", hint="say which with 'op'", key=True
        )
    if "kind" in raw and raw["kind"] not in {*FailureKind}:
        source.problem(
            (*path, "kind"),
            f"there is no kind of failure '{raw['kind']}'",
            expected=f"one of {', '.join(sorted(FailureKind))}",
            hint=closest(raw["kind"], FailureKind),
        )
    return KnownFailure(
        selector=parse_selector(source, path, _by_id(raw), f"{file}:{line}", specs),
        reason=raw["reason"],
        kind=raw.get("kind"),
        finding=_finding(source, path, raw),
        mutants=tuple(raw.get("mutants", ())),
        wrong=raw.get("wrong", {}),
        message=raw.get("message", ""),
        link=raw.get("link"),
        expires=_expires(source, path, raw),
        line=line,
        column=column,
    )


def _by_id(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """An entry with the ids of the vectors of which it says what is wrong."""
    ids = set(raw.get("vectors", raw.get("wrong", ())))
    return {**raw, "vectors": sorted(ids & raw["wrong"].keys())} if "wrong" in raw else raw


def _finding(source: Source, path: Path, raw: Mapping[str, Any]) -> str:
    if "finding" not in raw:
        return ""
    title = without_counts(raw["finding"].strip())
    if "op" not in raw:
        hint = "say which with 'op'"
        source.problem((*path, "finding"), "a finding is one operator's", hint=hint, key=True)
    if ": " not in title:
        source.problem(
            (*path, "finding"),
            "nothing but its kind tells this finding apart, so it could be the whole operator",
            hint="list its vectors; conformance baseline writes them",
        )
    return title


def _expires(source: Source, path: Path, raw: Mapping[str, Any]) -> date | None:
    if "expires" not in raw:
        return None
    try:
        return date.fromisoformat(raw["expires"])
    except ValueError:
        message = f"'{raw['expires'][:40]}' is not a date"
        source.problem((*path, "expires"), message, expected="a day as in 2027-03-31")
        return None
