"""Options that select partitions of a suite: element types, ranks, a profile, a backend."""

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
    from conformance.core.operator import Operator
    from conformance.generate.claim import Claim
    from conformance.model import Case
    from conformance.run.partition_filter import PartitionFilter
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
    specs: Mapping[str, Operator] = MappingProxyType({}),
) -> Capabilities | None:
    """Return the selected subset of some operators; None without any option.

    Raises UsageError for unknown types and ranks, and for a profile that none of the operators has,
    BackendError for a backend that cannot be loaded.
    """
    from conformance.backends.capabilities import Capabilities
    from conformance.run.partition_filter import PartitionFilter

    partitions = PartitionFilter.of(dtypes, ranks)
    if backend is None and not partitions and profile is None:
        return None
    declared = (declared_capabilities(backend) if backend else None) or Capabilities()
    selected = partitions.narrowed(declared)
    exclusions = _outside(profile, specs) if profile else ()
    return replace(selected, excluding=(*selected.excluding, *exclusions))


def declared_capabilities(backend: str, env: str | None = None) -> Capabilities | None:
    """Return what a backend declares to support; None if it declares nothing.

    It is loaded in a separate process, in this environment or in ``env``. Raises BackendError if it
    cannot be loaded.
    """
    from conformance.run.executor_options import Isolation

    with Isolation(env=env).executor_for(backend) as executor:
        return executor.identity.capabilities


def _outside(name: str, specs: Mapping[str, Operator]) -> Iterator[Exclusion]:
    """Yield what a profile excludes of each operator: all of an operator without this profile."""
    from conformance.backends.capabilities import Exclusion
    from conformance.errors import UsageError
    from conformance.specification import profiles_of

    names = sorted({profile.name for spec in specs.values() for profile in profiles_of(spec)})
    if name not in names:
        raise UsageError(
            f"none of these operators has a profile {name[:40]!r}",
            hint=f"known: {', '.join(names) or 'none'}",
        )
    for op, spec in specs.items():
        profile = next((profile for profile in profiles_of(spec) if profile.name == name), None)
        when = f"not ({' '.join(profile.when.split())})" if profile else None
        yield Exclusion(f"outside of the profile {name}", when, op=op)


@dataclass(frozen=True)
class SupportedSubsets:
    """The subset of each operator that a backend declares, without operators it does not."""

    declared: Capabilities
    by_op: Mapping[str, Claim]

    def includes(self, spec: Operator, case: Case) -> bool:
        """Return whether a case is declared."""
        return self.declared.reason_against(spec, case) is None


def supported_subsets_of(
    backend: str | None,
    specs: Mapping[str, Operator],
    env: str | None = None,
    partitions: PartitionFilter | None = None,
) -> SupportedSubsets:
    """Return the subset of each operator that a backend declares.

    The backend is loaded in this environment or in ``env``. Without a backend it is all of them;
    ``partitions`` narrows it to element types and ranks. Raises BackendError for a backend that
    cannot be loaded or does not fit, UsageError where nothing is declared.
    """
    from conformance.backends.capabilities import Capabilities
    from conformance.backends.supported_subsets import supported_subsets
    from conformance.errors import UsageError

    declared = (declared_capabilities(backend, env) if backend else None) or Capabilities()
    if partitions:
        declared = partitions.narrowed(declared)
    subsets = supported_subsets(declared, specs)
    if not subsets:
        subject = f"{backend} declares" if backend else "there are"
        raise UsageError(
            f"{subject} none of these operators, types and ranks",
            hint="name others with --op, --dtypes or --ranks",
        )
    return SupportedSubsets(declared, subsets)


def select_partition(suite: Suite, ops: Sequence[str], selected: Capabilities) -> Suite:
    """Return the suite with only the selected value vectors of some operators.

    Raises UsageError if none is left.
    """
    from conformance.errors import UsageError

    entries = tuple(
        entry
        for entry in suite.manifest.listed
        if entry.op in ops
        and entry.kind == "value"
        and selected.reason_against(suite.specs[entry.op], suite.read(entry).case) is None
    )
    if not entries:
        raise UsageError(
            "no vector of these operators is in the selected part",
            hint="leave --dtypes, --ranks or --backend out",
        )
    return replace(suite, manifest=replace(suite.manifest, listed=entries))


def unkillable_mutants(suite: Suite, op: str, selected: Capabilities) -> frozenset[str]:
    """Return the mutants that no selected vector can kill, as the suite states."""
    from conformance.suite.unreachable import Unreachable

    table = suite.manifest.strength.get(op, Unreachable()).parts
    profile = table.profile_without(selected.restrictions(op))
    survivors_by_partition = {
        # Sorted, so that the entry of a profile replaces that of its element type and rank.
        (partition.dtype, partition.rank): survivors
        for partition, survivors in sorted(
            table.survivors.items(), key=lambda entry: entry[0].profile
        )
        if partition.profile in ("", profile)
        and selected.declares(op, partition.dtype, partition.rank)
    }
    unkillable = [
        frozenset(survivors.unkillable("should")) for survivors in survivors_by_partition.values()
    ]
    return frozenset.intersection(*unkillable) if unkillable else frozenset()


def undetermined_mutants(
    suite: Suite, score: MutationScore, selected: Capabilities
) -> frozenset[str]:
    """Return the survivors that may show in what is selected, as far as is known.

    There are none where the suite states the survivors of just what is selected; then a mutant that
    survives is one that a search for vectors has not killed.
    """
    from conformance.backends.supported_subsets import supported_subsets
    from conformance.suite.survivors import Partition
    from conformance.suite.unreachable import Unreachable

    op = score.op
    survivors = frozenset(mutant.id for mutant in score.missed)
    restrictions = selected.restrictions(op)
    subset = supported_subsets(selected, {op: suite.specs[op]}).get(op)
    if subset is None or not restrictions or not survivors:
        return frozenset()
    table = suite.manifest.strength.get(op, Unreachable()).parts
    profile = table.profile_without(restrictions)
    partitions = [
        (dtype, rank)
        for dtype in subset.dtypes
        for rank in subset.ranks
        if selected.declares(op, dtype, rank)
    ]
    if profile and all(
        Partition(*partition, profile) in table.survivors for partition in partitions
    ):
        return frozenset()
    return survivors


def print_partition(suite: Suite, full_suite: Suite, ops: Sequence[str], remark: str) -> None:
    """Print how much of the suite is selected, and which operators have no vectors."""
    total = sum(entry.op in ops and entry.kind == "value" for entry in full_suite.manifest.vectors)
    count = f"{len(suite.manifest.vectors)} of {total} value vectors"
    click.echo(f"selected part: {count}; {remark}")
    if missing := [op for op in ops if op not in suite.manifest.ops]:
        click.echo(f"it has no vectors of {', '.join(missing)}")
