"""Completes a suite for one backend, or for mutants added since it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.progress import Progress
from conformance.errors import UsageError
from conformance.safe_text import number_of

if TYPE_CHECKING:
    from conformance.generate.lacking import Added
    from conformance.model import Vector
    from conformance.spec.model import OpSpec
    from conformance.suite.parts import Parts
    from conformance.suite.store import Suite
    from conformance.suite.strength import Strength


def completed(
    base: Suite,
    ops: Sequence[str],
    backend: str | None,
    out: Path,
    *,
    processes: int,
    seed: int,
    smaller: bool = False,
    env: str | None = None,
) -> Suite:
    """The suite ``base`` with the vectors that it lacks of some operators (none: of all), and with
    what can show in what is declared, in the folder ``out``; or as it is where it lacks nothing.

    What a backend declares, in the environment ``env`` if that is given, is completed, or without
    one every part. With ``smaller`` smaller relatives of large vectors are added. Raises UsageError
    for a suite that cannot be completed, and what :func:`conformance.cli.part.claims_of` raises.
    """
    from conformance.audit.run import operators
    from conformance.cli.checking import evaluate
    from conformance.cli.part import claims_of
    from conformance.generate import lacking
    from conformance.generate.suites import versions
    from conformance.suite.manifest import COMPLEMENT
    from conformance.suite.writer import check_target, write_suite

    specs = {op: _sound(base, op) for op in operators(base, ops)}
    asked = None if backend is None else claims_of(backend, specs, env)
    if asked is not None:
        specs = {op: spec for op, spec in specs.items() if op in asked.by_op}
    whole, base = base, base.only(specs) if base.is_shipped else base
    evaluate(base, base.manifest.of(specs))
    bases = base.specs.bases()
    check_target(out, bases)
    there = {}
    for op, spec in specs.items():
        known = lacking.known(base, op)
        own = (one for one in known.vectors if asked is None or asked.asks(spec, one.case))
        there[op] = replace(known, vectors=tuple(own))
    with Progress(1, "completing") as progress:
        added = list(
            lacking.complete(
                [*specs.values()],
                there,
                root=seed,
                processes=processes,
                progress=progress.at,
                claims=None if asked is None else asked.by_op,
                smaller=smaller,
            )
        )
    new = [
        vector
        for one in added
        for vector in one.vectors
        if asked is None or asked.asks(specs[one.op], vector.case)
    ]
    _tell(base, new, backend)
    manifest = base.manifest
    strength = {one.op: _strength(manifest.strength[one.op], one) for one in added}
    if not new and all(manifest.strength[op] == known for op, known in strength.items()):
        return whole
    told = {one.op for one in added if one.strata}
    gaps = [gap for gap in manifest.uncovered if gap.op not in told]
    old = {entry.id: entry for entry in manifest.listed}
    return write_suite(
        out,
        [(vector, (COMPLEMENT,)) for vector in new if vector.id not in old],
        name=manifest.name,
        seed=manifest.seed,
        versions={**versions(), **manifest.versions},
        kills={name: found for one in added for name, found in one.kills.items()},
        excused={name: found for one in added for name, found in one.excused.items()},
        strength={**manifest.strength, **strength},
        uncovered=[*gaps, *(gap for one in added for gap in one.uncovered)],
        withdrawn=manifest.withdrawn,
        bases=bases,
        beside=base,
    )


def _sound(base: Suite, op: str) -> OpSpec:
    """The specification of an operator whose mutants are those of this version."""
    from conformance.spec.catalogue import faults

    spec = base.specs[op]
    if {one.id for one in base.specs.faults(op)} != {one.id for one in faults(spec)}:
        raise UsageError(
            f"{base.path}: the mutants of {op} are not those of this version",
            hint="generate the suite again, or complete it with the version that made it",
        )
    return spec


def _strength(before: Strength, added: Added) -> Strength:
    """What a suite tells of an operator with what was added."""
    found = replace(before, parts=_both(before.parts, added.parts))
    if added.strata:
        found = replace(found, infeasible=added.infeasible, strata=added.strata)
    return found


def _both(before: Parts, now: Parts) -> Parts:
    """The parts of a suite, of which some are known anew; a profile that is another now is gone."""
    from conformance.suite.parts import Parts

    profiles = {**before.profiles, **now.profiles}
    kept = {
        part: one
        for part, one in before.survivors.items()
        if not part.profile or before.profiles[part.profile] == profiles[part.profile]
    }
    return Parts({**kept, **now.survivors}, profiles)


def _tell(base: Suite, new: Sequence[Vector], backend: str | None) -> None:
    whom = "for this version" if backend is None else f"for {backend}"
    if not new:
        click.echo(f"{base.name} is already complete {whom}", err=True)
        return
    counts = Counter(vector.case.op for vector in new)
    of = ", ".join(f"{op} {count}" for op, count in counts.items())
    click.echo(f"added {number_of(len(new), 'vector')} {whom} to {base.name}: {of}", err=True)
