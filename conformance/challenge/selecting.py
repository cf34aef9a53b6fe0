"""The suite of a challenge: selected anew with its seed, for what the backend declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance import parallel
from conformance.backends.capabilities import Capabilities
from conformance.backends.claims import claimed
from conformance.errors import UsageError
from conformance.generate import plan
from conformance.generate.large import with_large
from conformance.generate.suites import versions
from conformance.generate.twins import with_twins
from conformance.model import Case, Vector
from conformance.spec.catalogue import mutants_of
from conformance.spec.model import OpSpec
from conformance.suite import origin
from conformance.suite.store import Suite
from conformance.suite.writer import write_suite

WITHOUT_EFFECT = frozenset({"zlib"})
"""Versions that no selection depends on."""

SEEDS = 1 << 32
"""Seeds of twins; cases are selected with all 64 bits of a seed."""


def selecting() -> dict[str, str]:
    """The versions that a selection depends on, besides that of this tool."""
    return {name: text for name, text in versions().items() if name not in WITHOUT_EFFECT}


def select(
    specs: Mapping[str, OpSpec],
    out: Path,
    *,
    suite: str,
    seed: int,
    declared: Capabilities | None,
    processes: int,
    progress: parallel.Progress,
) -> Suite:
    """Write the ``suite``, core or smoke, of some operators into the folder ``out``.

    Some vectors are followed by others of the same shapes with other data.
    The same specifications, seed, declaration and versions give the same vectors. Raises
    UsageError where the backend declares none of the operators, SuiteError where ``out`` cannot be
    written.
    """
    claims = None if declared is None else claimed(declared, specs)
    if claims == {}:
        raise UsageError(
            f"the backend declares nothing of {', '.join(specs)}",
            hint="conformance backends shows what a backend declares",
        )
    asked = {op: spec for op, spec in specs.items() if claims is None or op in claims}
    made = list(
        plan.make(
            list(asked.values()),
            root=seed,
            processes=processes,
            progress=progress,
            suite=suite,
            claims=claims,
        )
    )

    def members() -> Iterator[tuple[Vector, tuple[str, ...]]]:
        for one_op in made:
            spec = asked[one_op.op]

            def allowed(case: Case, spec: OpSpec = spec) -> bool:
                return declared is None or declared.reason_against(spec, case) is None

            vectors = [one for one, _ in plan.members([one_op], suite) if allowed(one.case)]
            twins = with_twins(spec, vectors, seed % SEEDS, suite)
            for vector in with_large(spec, twins, seed % SEEDS, suite, allowed):
                yield vector, one_op.suites.get(vector.id, (suite,))

    return write_suite(
        out,
        members(),
        name=suite,
        seed=seed,
        versions=versions(),
        bases=[origin.carried(spec, mutants_of(spec)) for spec in asked.values()],
        **plan.known(made),
    )
