"""The suite of a challenge: selected anew with its seed, for what the backend declares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conformance import parallel
from conformance.backends.capabilities import Capabilities
from conformance.backends.claims import claimed
from conformance.errors import UsageError
from conformance.generate import plan
from conformance.generate.suites import versions
from conformance.spec.catalogue import faults
from conformance.spec.model import OpSpec
from conformance.suite import origin
from conformance.suite.store import Suite
from conformance.suite.writer import write_suite

WITHOUT_EFFECT = frozenset({"zlib"})
"""Versions that no selection depends on."""


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
    asked = [spec for op, spec in specs.items() if claims is None or op in claims]
    made = list(
        plan.make(
            asked, root=seed, processes=processes, progress=progress, suite=suite, claims=claims
        )
    )
    return write_suite(
        out,
        (
            (vector, suites)
            for vector, suites in plan.members(made, suite)
            if declared is None
            or declared.reason_against(specs[vector.case.op], vector.case) is None
        ),
        name=suite,
        seed=seed,
        versions=versions(),
        bases=[origin.carried(spec, faults(spec)) for spec in asked],
        **plan.known(made),
    )
