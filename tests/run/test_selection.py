from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.errors import SuiteError, UsageError
from conformance.run.selection import select


def ids(selection):
    return [entry.id for entry in selection.entries]


def test_everything(small_suite):
    chosen = select(small_suite, ops=None, only=())
    assert chosen.entries == small_suite.manifest.vectors
    assert chosen.by_op == {
        "AdaptiveAvgPool-8": {"value": 3, "reject": 1},
        "AdaptiveMaxPool-8": {"value": 1, "reject": 0},
        "AvgPool-1": {"value": 1, "reject": 2},
    }
    assert (chosen.in_suite, chosen.whole) == (5, True)


def test_operators(small_suite):
    chosen = select(small_suite, ops=["AvgPool-1", "AvgPool-1"], only=())
    assert chosen.by_op == {"AvgPool-1": {"value": 1, "reject": 2}}
    assert (chosen.in_suite, chosen.whole) == (1, True)


def test_operators_of_a_pattern(small_suite):
    chosen = select(small_suite, ops=["Adaptive*", "AdaptiveMaxPool-8"], only=())
    assert list(chosen.by_op) == ["AdaptiveAvgPool-8", "AdaptiveMaxPool-8"]
    assert (chosen.in_suite, chosen.whole) == (4, True)


def test_ids_their_beginnings_and_digests(small_suite):
    last = small_suite.manifest.vectors[-1].id
    digest = small_suite.manifest.vectors[0].id.rpartition("-")[2]
    chosen = select(small_suite, ops=None, only=["f64-", last, digest])
    listed = small_suite.manifest.vectors
    assert ids(chosen) == [listed[0].id, listed[1].id, last]
    assert (chosen.in_suite, chosen.whole) == (5, False)


@pytest.mark.parametrize(
    ("ops", "only", "says"),
    [
        (["AvgPool"], (), "did you mean 'AvgPool-1'?"),
        (["MaxPool-1"], (), "conformance generate --op MaxPool-1 --out mine"),
        (["Conv-1"], (), "choose one of"),
        (["Conv-*"], (), "choose one of"),
        (None, ["f32-1x2x6-rump-20c8b273"], "did you mean 'f32-1x2x6-ramp-20c8b273'?"),
        (None, ["zzz"], "an id looks like"),
        (None, [""], "an id looks like"),
        (["AvgPool-1"], ["f64-"], "an id looks like"),
        (None, ["f32-", "zzz"], "an id looks like"),
    ],
)
def test_what_matches_nothing_is_refused_with_a_hint(small_suite, ops, only, says):
    with pytest.raises(UsageError) as caught:
        select(small_suite, ops=ops, only=only)
    assert says in caught.value.hint


def test_an_empty_suite_is_refused(small_suite):
    empty = replace(small_suite.manifest, listed=())
    with pytest.raises(SuiteError):
        select(replace(small_suite, manifest=empty), ops=None, only=())
