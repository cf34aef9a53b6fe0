"""Known failures: failures that a vendor has written down, so that a run shows what is new.

A known failure stays a failure. What an entry does is to name it, so that a gate can tell it from
a new one; an entry that names nothing any more is told of as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from conformance.errors import Problem, SpecError
from conformance.grade.findings import FAILED, WORDS, names, unnumbered
from conformance.grade.selector import CaseOf, Listed, Selector, read_selector, some, unknown
from conformance.model import Result, Status
from conformance.spec.kinds import closest
from conformance.spec.source import Path, Source

ENDED = (
    *("value", "index", "shape", "dtype", "outputs", "input-changed", "accepted", "reading"),
    "raised",
)
"""Kinds of failure of a call that ended as calls do; any other is excused only by its name."""

NARROWING = ("vectors", "edges", "dtypes", "ranks", "reject", "when", "finding")


@dataclass(frozen=True)
class KnownFailure:
    """An entry: the failures that it names, and why they are tolerated until when.

    Without ``kind`` it names failures of every kind in :data:`ENDED`. ``finding`` is the title of
    a finding without its counts. ``column`` goes with the line in the selector's ``place``.
    """

    selector: Selector
    reason: str
    kind: str | None = None
    finding: str = ""
    link: str | None = None
    expires: date | None = None
    line: int = 1
    column: int = 1

    @property
    def name(self) -> str:
        """The file and the line, which is how a log speaks of the entry."""
        return self.selector.place

    @property
    def about(self) -> str:
        """What it names, in a few words."""
        kind = f"kind {self.kind}" if self.kind else ""
        return ", ".join(filter(None, (str(self.selector), self.finding, kind)))

    def lists(self, vector: Listed) -> bool:
        """Whether it may name a failure of a vector, by all that the manifest says of that."""
        if self.finding and self._feature not in (vector.dtype, vector.reject, *vector.edges):
            return False
        return self.selector.lists(vector)

    def concerns(self, vector: Listed, case_of: CaseOf) -> bool:
        """Whether it may name a failure of a vector."""
        return self.lists(vector) and self.selector.matches(vector, case_of)

    def names(self, result: Result, case_of: CaseOf) -> bool:
        """Whether it names a failure."""
        return (
            result.status in FAILED
            and (result.kind == self.kind if self.kind else result.kind in ENDED)
            and (not self.finding or self.finding in names(result))
            and self.concerns(result, case_of)
        )

    def covers(self, vectors: Iterable[Listed], case_of: CaseOf) -> str | None:
        """An operator whose vectors it concerns one and all, unless it gives their ids.

        Of an operator that has vectors with values, only those count.
        """
        if self.selector.vectors:
            return None
        by_op: dict[str, list[Listed]] = {}
        for vector in vectors:
            by_op.setdefault(vector.op, []).append(vector)
        for op, of_op in by_op.items():
            asked = [vector for vector in of_op if vector.reject is None] or of_op
            # Cases are read from disk, so what the manifest alone decides comes first.
            if all(map(self.lists, asked)) and all(self.concerns(v, case_of) for v in asked):
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

    def check(self, vectors: Sequence[Listed], case_of: CaseOf) -> None:
        """Refuse an entry that would excuse all of an operator of the suite.

        Raises :class:`~conformance.errors.SpecError`.
        """
        problems = []
        for entry in self.entries:
            op = entry.covers(vectors, case_of)
            if op is not None:
                message = f"this would excuse every vector of {op} with values"
                hint = "narrow it (edges, dtypes, ranks, when), or list the ids of its vectors"
                where = (self.file, entry.line, entry.column)
                problems.append(Problem(*where, message, hint=hint))
        if problems:
            raise SpecError(tuple(problems))


@dataclass
class Use:
    """What one entry met in a run.

    ``failures`` are marked with it, ``shared`` with an earlier entry that names them too;
    ``passes`` are vectors that pass after all.
    """

    entry: KnownFailure
    expired: bool
    failures: int = 0
    shared: int = 0
    passes: list[str] = field(default_factory=list)


class Ledger:
    """Marks the known failures of a run, and says in the end which entries are out of date.

    ``vectors`` are all of the suite, ``selected`` the ids of those that the run asks.
    """

    def __init__(
        self,
        known: KnownFailures,
        vectors: Sequence[Listed],
        selected: Collection[str],
        case_of: CaseOf,
        today: date,
    ) -> None:
        self._vectors, self._selected, self._case_of = vectors, selected, case_of
        self.uses = [
            Use(entry, expired=entry.expires is not None and entry.expires < today)
            for entry in known.entries
        ]
        self._in_force = [use for use in self.uses if not use.expired]

    def take(self, result: Result) -> Result:
        """The result, marked with the first entry that names it if it is a failure."""
        if result.status is Status.PASS:
            for use in self._in_force:
                # A finding holds those that fail; of the others it says nothing.
                if not use.entry.finding and use.entry.concerns(result, self._case_of):
                    use.passes.append(result.id)
            return result
        naming = [use for use in self._in_force if use.entry.names(result, self._case_of)]
        for use in naming[1:]:
            use.shared += 1
        if not naming:
            return result
        naming[0].failures += 1
        return replace(result, known=naming[0].entry.name)

    def summary(self, *, whole: bool) -> list[dict[str, Any]]:
        """Each entry with what it met, as JSON data with the :func:`problems` that it has."""
        said = [self._facts(use) for use in self.uses]
        return [{**facts, "problems": problems(facts, whole=whole)} for facts in said]

    def _facts(self, use: Use) -> dict[str, Any]:
        entry = use.entry
        listed = {vector.id for vector in self._vectors if entry.lists(vector)}
        lacking = not listed or entry.selector.vectors - listed
        return {
            "entry": entry.name,
            "about": entry.about,
            "reason": entry.reason,
            "link": entry.link,
            "expires": entry.expires.isoformat() if entry.expires else None,
            "expired": use.expired,
            "failures": use.failures,
            "shared": use.shared,
            "passes": use.passes,
            "vectors": len(listed),
            "asked": sum(vector in self._selected for vector in listed),
            "missing": (unknown(entry.selector, self._vectors) or "no such vector") * bool(lacking),
        }


def problems(facts: Mapping[str, Any], *, whole: bool) -> list[str]:
    """In what an entry is out of date, from what it met in a run.

    A run that is not ``whole``, interrupted or one of several, cannot tell what does not fail.
    """
    if facts["expired"]:
        return [f"expired on {facts['expires']}, so it excuses nothing"]
    found = []
    if facts["missing"]:
        found.append(f"matches nothing: the suite has {facts['missing']}")
    passes = facts["passes"]
    if passes:
        pass_ = "vector passes" if len(passes) == 1 else "vectors pass"
        found.append(f"{len(passes)} {pass_} unexpectedly: {some(passes)}")
    # Nor can a run that leaves some of its vectors out.
    asked = facts["vectors"] and facts["asked"] == facts["vectors"]
    if asked and whole and not (passes or facts["failures"] or facts["shared"]):
        found.append("matches nothing: no vector that it names failed so")
    return found


def merged(parts: Sequence[Mapping[str, Any]], *, whole: bool) -> dict[str, Any]:
    """One entry of a run that was made in parts, from what it met in each of them."""
    facts = {
        **parts[0],
        "passes": [vector for part in parts for vector in part["passes"]],
        **{name: sum(part[name] for part in parts) for name in ("failures", "shared", "asked")},
    }
    return {**facts, "problems": problems(facts, whole=whole)}


def read_known(source: Source, file: str) -> KnownFailures:
    """The known failures that a sound source holds; notes in it what else is wrong."""
    entries = []
    for i, raw in enumerate(source.data["known"]):
        entries.append(_entry(source, ("known", i), raw, file))
    return KnownFailures(source.file, tuple(entries))


def _entry(source: Source, path: Path, raw: Mapping[str, Any], file: str) -> KnownFailure:
    line, column = source.where(path)
    if not any(name in raw for name in NARROWING):
        message = f"this excuses all of {raw.get('op', 'every operator')}"
        source.problem(path, message, expected=f"one of {', '.join(NARROWING)}")
    if not raw["reason"].strip():
        source.problem((*path, "reason"), "there is no reason")
    if "kind" in raw and raw["kind"] not in WORDS:
        source.problem(
            (*path, "kind"),
            f"there is no kind of failure '{raw['kind']}'",
            expected=f"one of {', '.join(sorted(WORDS))}",
            hint=closest(raw["kind"], WORDS),
        )
    return KnownFailure(
        selector=read_selector(source, path, raw, f"{file}:{line}"),
        reason=raw["reason"],
        kind=raw.get("kind"),
        finding=_finding(source, path, raw),
        link=raw.get("link"),
        expires=_expires(source, path, raw),
        line=line,
        column=column,
    )


def _finding(source: Source, path: Path, raw: Mapping[str, Any]) -> str:
    if "finding" not in raw:
        return ""
    title = unnumbered(raw["finding"].strip())
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
