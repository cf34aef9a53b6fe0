"""What geometry says of mutants is right: where it says nothing differs, the outputs are equal."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.audit.kills import MutantRunner
from conformance.generate.looking import sound
from conformance.generate.pool import draw
from conformance.model import Case
from conformance.reference.values import data_of
from conformance.spec.catalogue import Mutant, mutants_of
from conformance.spec.loader import find_spec
from conformance.spec.model import OpSpec
from conformance.spec.rule_change import make_rule_change

OPS = ["AvgPool-1", "AdaptiveMaxPool-8", "MaxPool-8", "torch.avg_pool-2"]


def drawn(spec: OpSpec, count: int, root: int) -> list[Case]:
    """Sound cases of each rank."""
    by_rank = {rank: draw(spec, rank, count, root=root) for rank in spec.ranks}
    return [case for rank, cases in by_rank.items() for case in sound(spec, rank, cases)]


@pytest.mark.parametrize("op", OPS)
def test_no_mutant_is_left_out_that_differs(op: str, exhaustive: bool) -> None:
    spec = find_spec(op)
    bank = MutantRunner(spec, mutants_of(spec))
    cases = drawn(spec, 14 if exhaustive else 4, root=5)
    may = bank.may_differ(cases)
    assert may.shape == (len(cases), len(bank.mutants))
    for case, row in zip(cases, may, strict=True):
        told = {fault.id for fault, one in zip(bank.mutants, row, strict=True) if one}
        alone = bank.fingerprints(case, data_of(spec, case))
        assert alone.keys() <= told, (case, alone.keys() - told)
        assert bank.fingerprints(case, data_of(spec, case), row) == alone
    assert may.mean() < 0.7


def made(name: str, replace: dict[str, str], where: str | None = None) -> Mutant:
    spec = find_spec("AvgPool-1")
    return Mutant(name, "made", spec.op, make_rule_change(spec, name, replace, where=where), "")


def test_guards_values_and_windows_decide() -> None:
    spec = find_spec("AvgPool-1")
    bank = MutantRunner(
        spec,
        [
            made("never", {"divisor": "original + 1"}, where="axes > 9"),
            made("second-image", {"divisor": "original + 1"}, where="N > 1"),
            made("same", {"start": "original + 0"}),
            made("every-tap", {"tap": "original and at > -1"}),
            made("first-lost", {"tap": "original and at > 0"}),
            made("swapped", {"pads_begin": "pads_end", "pads_end": "pads_begin"}),
            made("data", {"divisor": "where(nan_taps > 0, 1, original)"}),
            made("longer", {"taps": "original + 1", "reads": "at - t // kernel"}),
        ],
    )
    cases = drawn(spec, 30, root=2)
    never, second, same, every, first, swapped, data, longer = bank.may_differ(cases).T
    assert not never.any()
    assert not same.any()
    assert not every.any()
    assert second.tolist() == [case.shapes["data"][0] > 1 for case in cases]
    assert first.any()
    assert data.all()
    assert longer.all()
    unequal = [case.attributes["pads_begin"] != case.attributes["pads_end"] for case in cases]
    assert swapped.tolist() == unequal
    assert np.any(unequal)
