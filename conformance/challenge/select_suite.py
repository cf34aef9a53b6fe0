"""Selects the suite of a challenge with its seed, for what the backend declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance import parallel
from conformance.backends.capabilities import Capabilities
from conformance.backends.supported_subsets import supported_subsets
from conformance.core.operator import Operator
from conformance.errors import UsageError
from conformance.generate.large import with_large
from conformance.generate.paired_cases import with_paired_cases
from conformance.generate.suite import make_definitions
from conformance.generate.versions import versions
from conformance.model import Case, Vector
from conformance.suite.origin import carried_origin
from conformance.suite.store import Suite
from conformance.suite.writer import write_suite

WITHOUT_EFFECT = frozenset({"zlib"})
"""Versions that no selection depends on."""

SEEDS = 1 << 32
"""Seeds of reseeded vectors; cases are selected with all 64 bits of a seed."""


def selection_versions() -> dict[str, str]:
    """Return the package versions that decide a selection."""
    return {name: text for name, text in versions().items() if name not in WITHOUT_EFFECT}


def select_suite(
    specs: Mapping[str, Operator],
    out: Path,
    *,
    suite: str,
    seed: int,
    declared: Capabilities | None,
    processes: int,
    progress: parallel.Progress,
) -> Suite:
    """Write a suite, core or smoke, of some operators into the folder ``out``.

    Some vectors are followed by others of the same shapes with other data. The same
    specifications, seed, declaration and versions give the same vectors.

    Raises:
        UsageError: the backend declares none of the operators.
        SuiteError: ``out`` cannot be written.
    """
    subsets = None if declared is None else supported_subsets(declared, specs)
    if subsets == {}:
        raise UsageError(
            f"the backend declares nothing of {', '.join(specs)}",
            hint="conformance backends shows what a backend declares",
        )
    declared_specs = {op: spec for op, spec in specs.items() if subsets is None or op in subsets}
    generated = list(
        make_definitions(
            [*declared_specs.values()],
            root=seed,
            processes=processes,
            progress=progress,
            suite=suite,
            claims=subsets,
        )
    )

    def members() -> Iterator[tuple[Vector, tuple[str, ...]]]:
        for made in generated:
            spec = declared_specs[made.op]

            def allowed(case: Case, spec: Operator = spec) -> bool:
                return declared is None or declared.reason_against(spec, case) is None

            vectors = [v for v in made.vectors if suite in made.suites[v.id] and allowed(v.case)]
            paired = with_paired_cases(spec, vectors, seed % SEEDS, suite)
            for vector in with_large(spec, paired, seed % SEEDS, suite, allowed):
                if allowed(vector.case):  # as a paired case with another attribute may not be
                    yield vector, made.suites.get(vector.id, (suite,))

    return write_suite(
        out,
        members(),
        name=suite,
        seed=seed,
        versions=versions(),
        kills={id: killed for made in generated for id, killed in made.kills.items()},
        excused={id: killed for made in generated for id, killed in made.excused.items()},
        strength={made.op: made.strength for made in generated},
        bases=[carried_origin(spec) for spec in declared_specs.values()],
    )
