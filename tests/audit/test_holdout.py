"""Holding faults out: a suite that was selected without them, and what it notices all the same."""

from __future__ import annotations

import hashlib

from handmade import fault

from conformance.audit.holdout import HeldOutScore, hold_out
from conformance.audit.kills import Kill
from conformance.audit.score import MutationScore
from conformance.suite.entries import Entry

FINISH = "define.result.finish"

A = fault("a", {FINISH: "1"}, kind="divisor")
B = fault("b", {"let.moves": "1"}, kind="window")
C = fault("c", {"let.taps": "1"}, kind="window")
SAME = fault("same", {FINISH: "2"}, kind="special", equivalent="It is the same.")


def entry(vector_id: str, *edges: str, dtype: str = "f32") -> Entry:
    """Its id ends in the number of its elements."""
    return Entry(
        id=vector_id,
        op="AvgPool-1",
        level="must",
        dtype=dtype,
        reject=None,
        suites=("core",),
        edges=edges,
        kills=(),
        bytes=10,
        sha256=hashlib.sha256(vector_id.encode()).hexdigest(),
    )


def kill(name: str) -> Kill:
    return Kill(name, True, name.encode())


def held(
    entries: list[Entry], kills: dict[str, tuple[str, ...]], ranks: dict[str, int] | None = None
) -> dict[tuple[str, str], HeldOutScore]:
    by_vector = {i: tuple(map(kill, names)) for i, names in kills.items()}
    score = MutationScore("AvgPool-1", (A, B, C, SAME), by_vector)
    found = hold_out(score, entries, ranks or {one.id: 3 for one in entries})
    return {(one.suite, one.kind): one for one in found}


def test_a_vector_that_is_there_for_held_out_faults_alone_is_not_selected() -> None:
    found = held(
        [entry("one", "edge"), entry("two", "edge")],
        {"one": ("a", "b"), "two": ("c",)},
    )
    window = found["core", "window"]
    assert (window.op, window.vectors) == ("AvgPool-1", 1)
    assert (window.killed, window.mutants, window.missed) == (1, 2, ("c",))
    divisor = found["core", "divisor"]
    assert (divisor.vectors, divisor.killed, divisor.mutants, divisor.missed) == (2, 1, 1, ())


def test_each_kind_is_held_out_of_both_suites_and_equivalent_faults_are_not() -> None:
    found = held([entry("one", "edge")], {"one": ("a", "b", "c")})
    assert list(found) == [
        (suite, kind) for suite in ("core", "smoke") for kind in ("divisor", "window")
    ]
    assert all(one.missed == () for one in found.values())


def test_core_asks_for_types_pairs_and_ranks_and_smoke_for_edges_alone() -> None:
    entries = [
        entry("pair-10", "p", "q"),
        entry("typed-10", "p", dtype="f16"),
        entry("higher-10", "p"),
        entry("first-1", "p"),
        entry("second-1", "q"),
    ]
    kills = {
        "pair-10": ("a",),
        "typed-10": ("b",),
        "higher-10": ("c",),
        "first-1": (),
        "second-1": (),
    }
    ranks = {one.id: 4 if one.id == "higher-10" else 3 for one in entries}
    found = held(entries, kills, ranks)
    # Without a's kind core still takes the pair; without b's and c's also the type and the rank.
    assert found["core", "divisor"].missed == ()
    assert found["core", "window"].missed == ()
    # Smoke takes a cheap vector for each edge, and whatever notices what is not held out.
    assert found["smoke", "divisor"].missed == ("a",)
    assert found["smoke", "window"].missed == ("b", "c")


def test_the_cheaper_of_two_that_show_the_same_is_selected() -> None:
    entries = [entry("large-9", "edge"), entry("small-3", "edge")]
    by_size = {}
    for dear in ("large-9", "small-3"):
        kills = {"large-9": (), "small-3": (), dear: ("a",)}
        by_size[dear] = held(entries, kills)["core", "divisor"].missed
    assert by_size == {"large-9": ("a",), "small-3": ()}
