"""Options that select a part of a suite: element types, ranks, a profile, a backend's claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from conformance.cli.options import backend_options, partition_options, together

if TYPE_CHECKING:
    from conformance.audit.score import MutationScore
    from conformance.backends.capabilities import Capabilities, Exclusion
    from conformance.generate.narrow import Claim
    from conformance.model import Case
    from conformance.run.partition_filter import PartitionFilter
    from conformance.spec.model import OpSpec
    from conformance.suite.store import Suite

F = TypeVar("F", bound=Callable[..., Any])

part_options: Callable[[F], F] = together(
    backend_options(
        "Only vectors that this backend declares to support. It is imported but not run.",
        metavar="NAME|FILE",
    ),
    partition_options,
    click.option(
        "--profile",
        metavar="NAME",
        help="Only vectors within this profile, a restriction that real backends have, such as "
        "no-dilation. `conformance spec show OP` lists the profiles of an operator.",
    ),
)


def capabilities(
    backend: str | None,
    dtypes: Sequence[str],
    ranks: Sequence[int],
    profile: str | None = None,
    specs: Mapping[str, OpSpec] = MappingProxyType({}),
) -> Capabilities | None:
    """What the options ask for of some operators; None without any of them.

    Raises UsageError for types and ranks that there are not, and for a profile that none of the
    operators has, BackendError for a backend that cannot be loaded.
    """
    from conformance.backends.capabilities import Capabilities
    from conformance.run.partition_filter import PartitionFilter

    partitions = PartitionFilter.of(dtypes, ranks)
    if backend is None and not partitions and profile is None:
        return None
    asked = partitions.narrowed((declared_by(backend) if backend else None) or Capabilities())
    left_out = _outside(profile, specs) if profile else ()
    return replace(asked, excluding=(*asked.excluding, *left_out))


def declared_by(backend: str, env: str | None = None) -> Capabilities | None:
    """What a backend declares, where it says so: in a process of its own, in this environment or
    another."""
    from conformance.run.executor_options import Isolation

    with Isolation(env=env).executor_for(backend) as executor:
        return executor.identity.capabilities


def _outside(name: str, specs: Mapping[str, OpSpec]) -> Iterator[Exclusion]:
    """What a profile leaves out of each of some operators: all of those that have none such."""
    from conformance.audit.partitions import excluded_predicates
    from conformance.backends.capabilities import Exclusion
    from conformance.errors import UsageError

    known = sorted({one.name for spec in specs.values() for one in spec.profiles})
    if name not in known:
        raise UsageError(
            f"none of these operators has a profile {name[:40]!r}",
            hint=f"known: {', '.join(known) or 'none'}",
        )
    for op, spec in specs.items():
        found = [one for one in spec.profiles if one.name == name]
        when = excluded_predicates(found[0])[0] if found else None
        yield Exclusion(f"outside of the profile {name}", when, op=op)


@dataclass(frozen=True)
class Claims:
    """What a backend declares of some operators, by operator; those of which it declares nothing
    are left out."""

    declared: Capabilities
    by_op: Mapping[str, Claim]

    def asks(self, spec: OpSpec, case: Case) -> bool:
        """Whether a case is claimed."""
        return self.declared.reason_against(spec, case) is None


def claims_of(
    backend: str | None,
    specs: Mapping[str, OpSpec],
    env: str | None = None,
    partitions: PartitionFilter | None = None,
) -> Claims:
    """What a backend declares of some operators, in this environment or another.

    Without a backend it is all of them; ``partitions`` narrows it to element types and ranks.
    Raises BackendError for a backend that cannot be loaded or does not fit, UsageError where
    nothing is declared.
    """
    from conformance.backends.capabilities import Capabilities
    from conformance.backends.claims import claimed
    from conformance.errors import UsageError

    declared = (declared_by(backend, env) if backend else None) or Capabilities()
    if partitions:
        declared = partitions.narrowed(declared)
    found = claimed(declared, specs)
    if not found:
        who = f"{backend} declares" if backend else "there are"
        raise UsageError(
            f"{who} none of these operators, types and ranks",
            hint="name others with --op, --dtypes or --ranks",
        )
    return Claims(declared, found)


def part(suite: Suite, ops: Sequence[str], asked: Capabilities) -> Suite:
    """The value vectors of some operators that such a backend is asked.

    Raises UsageError where there is none.
    """
    from conformance.errors import UsageError

    kept = tuple(
        entry
        for entry in suite.manifest.listed
        if entry.op in ops
        and entry.kind == "value"
        and asked.reason_against(suite.specs[entry.op], suite.read(entry).case) is None
    )
    if not kept:
        raise UsageError(
            "no vector of these operators is in the selected part",
            hint="leave --dtypes, --ranks or --backend out",
        )
    return replace(suite, manifest=replace(suite.manifest, listed=kept))


def never(suite: Suite, op: str, asked: Capabilities) -> frozenset[str]:
    """The mutants of an operator that can show in nothing that is asked for, as far as the suite
    says."""
    from conformance.suite.unreachable import Unreachable

    known = suite.manifest.strength.get(op, Unreachable()).parts
    profile = known.profile_without(asked.restrictions(op))
    found = {
        # A profile is told of after its rank, and takes its place.
        (part.dtype, part.rank): survivors
        for part, survivors in sorted(known.survivors.items(), key=lambda one: one[0].profile)
        if part.profile in ("", profile) and asked.declares(op, part.dtype, part.rank)
    }.values()
    sets = [frozenset(one.unkillable("should")) for one in found]
    return sets[0].intersection(*sets) if sets else frozenset()


def open_question(
    suite: Suite, score: MutationScore, asked: Capabilities
) -> tuple[frozenset[str], frozenset[str]]:
    """Of the mutants of a score that nothing kills, those that are proven to show in nothing that
    is asked for, and those of which that is not known.

    Both are empty where the suite knows of just what is asked for; then a mutant that nothing kills
    is one that a search for vectors has not killed. Raises UsageError for a predicate that the
    operator cannot have.
    """
    from conformance.backends.claims import claimed
    from conformance.generate.declared import can_not_show
    from conformance.suite.survivors import Partition
    from conformance.suite.unreachable import Unreachable

    op, nothing = score.op, frozenset[str]()
    names = frozenset(fault.id for fault in score.missed)
    left_out = asked.restrictions(op)
    claim = claimed(asked, {op: suite.specs[op]}).get(op)
    if claim is None or not left_out or not names:
        return nothing, nothing
    known = suite.manifest.strength.get(op, Unreachable()).parts
    profile = known.profile_without(left_out)
    parts = [
        (dtype, rank)
        for dtype in claim.dtypes
        for rank in claim.ranks
        if asked.declares(op, dtype, rank)
    ]
    if profile and all(Partition(*one, profile) in known.survivors for one in parts):
        return nothing, nothing
    proven = can_not_show(suite, op, claim, parts, names)
    return proven, names - proven


def tell_part(suite: Suite, whole: Suite, asked: Sequence[str], more: str) -> None:
    """How much of the suite the part is, and which operators have nothing in it."""
    of = sum(entry.op in asked and entry.kind == "value" for entry in whole.manifest.vectors)
    count = f"{len(suite.manifest.vectors)} of {of} value vectors"
    click.echo(f"selected part: {count}; {more}")
    if none := [op for op in asked if op not in suite.manifest.ops]:
        click.echo(f"it has no vectors of {', '.join(none)}")
