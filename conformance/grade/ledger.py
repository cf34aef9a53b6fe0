"""Known failures in a run: which results they mark, and which have expired or match nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from conformance.grade.known_failures import Gives, KnownFailure, KnownFailures
from conformance.grade.selector import CaseOf, VectorFacts, first_few, unknown_name
from conformance.model import Result, Status


@dataclass
class EntryUse:
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

    ``vectors`` are all of the suite, ``selected`` the ids of those that the run asks; ``gives``
    tells whether outputs are those of some mutants.
    """

    def __init__(
        self,
        known_failures: KnownFailures,
        vectors: Sequence[VectorFacts],
        selected: Collection[str],
        case_of: CaseOf,
        today: date,
        gives: Gives,
    ) -> None:
        self._vectors, self._selected, self._case_of = vectors, selected, case_of
        self._gives = gives
        self.uses = [
            EntryUse(entry, expired=entry.expires is not None and entry.expires < today)
            for entry in known_failures.entries
        ]
        self._in_force = [use for use in self.uses if not use.expired]

    def take(self, result: Result) -> Result:
        """Mark a failure with the first entry that names it, and count passes."""
        if result.status is Status.PASS:
            for use in self._in_force:
                if not use.entry.of_failures and use.entry.may_name(result, self._case_of):
                    use.passes.append(result.id)
            return result
        naming = [
            use for use in self._in_force if use.entry.names(result, self._case_of, self._gives)
        ]
        for use in naming[1:]:
            use.shared += 1
        if not naming:
            return result
        naming[0].failures += 1
        return replace(result, known=naming[0].entry.name)

    def why(self, result: Result) -> str:
        """Tell why a marked failure is tolerated, and by which entry."""
        entry = next(use.entry for use in self.uses if use.entry.name == result.known)
        return "; ".join(filter(None, (entry.reason, entry.link, entry.name)))

    def summary(self, *, is_complete: bool) -> list[dict[str, Any]]:
        """Return each entry with its use and :func:`entry_problems`, as JSON data."""
        uses = [self._facts(use) for use in self.uses]
        return [
            {**facts, "problems": entry_problems(facts, is_complete=is_complete)} for facts in uses
        ]

    def _facts(self, use: EntryUse) -> dict[str, Any]:
        entry = use.entry
        matching = {vector.id for vector in self._vectors if entry.matches_entry(vector)}
        lacking = not matching or entry.selector.vectors - matching
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
            "vectors": len(matching),
            "asked": sum(vector in self._selected for vector in matching),
            "missing": (unknown_name(entry.selector, self._vectors) or "no such vector")
            * bool(lacking),
        }


def entry_problems(facts: Mapping[str, Any], *, is_complete: bool) -> list[str]:
    """Tell in what an entry is out of date, by its use in a run.

    A run that is not complete, interrupted or a shard, cannot tell what does not fail.
    """
    if facts["expired"]:
        return [f"expired on {facts['expires']}, so it excuses nothing"]
    problems = []
    if facts["missing"]:
        problems.append(f"matches nothing: the suite has {facts['missing']}")
    passes = facts["passes"]
    if passes:
        pass_ = "vector passes" if len(passes) == 1 else "vectors pass"
        problems.append(f"{len(passes)} {pass_} unexpectedly: {first_few(passes)}")
    # Nor can a run that leaves some of its vectors out.
    all_tested = facts["vectors"] and facts["asked"] == facts["vectors"]
    if all_tested and is_complete and not (passes or facts["failures"] or facts["shared"]):
        problems.append("matches nothing: no vector that it names failed in this way")
    return problems


def merge_uses(shares: Sequence[Mapping[str, Any]], *, is_complete: bool) -> dict[str, Any]:
    """Merge the uses of one entry in all shards of a run."""
    facts = {
        **shares[0],
        "passes": [vector for share in shares for vector in share["passes"]],
        **{name: sum(share[name] for share in shares) for name in ("failures", "shared", "asked")},
    }
    return {**facts, "problems": entry_problems(facts, is_complete=is_complete)}
