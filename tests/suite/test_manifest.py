"""Manifests: what they count and digest, and what reading refuses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import SuiteError
from conformance.json_schema import load_schema
from conformance.suite import strict_json
from conformance.suite.entries import Entry
from conformance.suite.manifest import (
    Manifest,
    UndecidedTarget,
    encode_manifest,
    parse_manifest,
    read_manifest,
)
from conformance.suite.origin import Origin
from conformance.suite.totals import Count
from conformance.suite.unreachable import Unreachable

Document = dict[str, Any]


def content(vector_id: str) -> str:
    return hashlib.sha256(f"content of {vector_id}".encode()).hexdigest()[:32]


def entry(vector_id: str, op: str = "AvgPool-1", **changes: Any) -> Entry:
    fields: dict[str, Any] = {
        "id": vector_id,
        "op": op,
        "level": "must",
        "dtype": "f32",
        "reject": None,
        "suites": ("core",),
        "edges": ("batch",),
        "kills": ("divisor-one-more",),
        "bytes": 10,
        "sha256": hashlib.sha256(vector_id.encode()).hexdigest(),
        "content": content(vector_id),
    }
    return Entry(**(fields | changes))


MANIFEST = Manifest(
    name="core-1",
    seed=7,
    versions={"numpy": "2.0", "hypothesis": "6.100"},
    listed=(
        entry("b", suites=("core", "smoke")),
        entry("a", edges=("batch", "kernel-1"), kills=("clipped", "divisor-one-more")),
        entry("c", op="AdaptiveAvgPool-8", suites=("core", "smoke")),
        entry("r", reject="zero-stride", edges=(), kills=()),
    ),
    strength={
        "AvgPool-1": Unreachable(
            infeasible={
                3: {
                    ("batch", "batch"): ("limit elements",),
                    ("batch", "kernel-1"): (),
                    ("batch", "wide-row"): ("limit elements", "data nan"),
                    ("kernel-1", "wide-row"): (),
                },
                5: {},
            },
            equivalent={"same": "It gives the same outputs."},
            indistinguishable=(("one", "other"),),
        ),
        "AdaptiveAvgPool-8": Unreachable(),
    },
    uncovered=(
        UndecidedTarget("AvgPool-1", 5, "f64", ("wide-row",)),
        UndecidedTarget("AvgPool-1", 5, "", ("batch", "wide-row")),
    ),
    withdrawn={"a": "its bound was too narrow"},
    specifications={"AvgPool-1": Origin("1" * 64), "AdaptiveAvgPool-8": Origin("2" * 64)},
)


def lines_digest(**ids: str) -> str:
    """By operator, the ids of its vectors."""

    def digest(lines: list[str]) -> str:
        return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()

    of_ops = {op: digest([f"{content(i)}  {i}" for i in own]) for op, own in ids.items()}
    return digest([f"{of_ops[op]}  {op.replace('_', '-')}" for op in sorted(ids)])


def test_it_comes_back_as_it_was_written() -> None:
    content = encode_manifest(MANIFEST)
    assert parse_manifest(content, "here") == MANIFEST
    assert encode_manifest(parse_manifest(content, "here")) == content
    assert load_schema("suite/schemas/manifest.json").problems(json.loads(content)) == ()


def test_it_has_one_line_for_each_vector() -> None:
    lines = encode_manifest(MANIFEST).decode().splitlines()
    assert sum(line.startswith(' {"id":') for line in lines) == 4


def test_pairs_are_grouped_by_their_first_edge_and_the_reason() -> None:
    document = json.loads(encode_manifest(MANIFEST))
    assert document["strength"]["AvgPool-1"]["infeasible"] == {
        "3": {
            "batch": {
                "": ["kernel-1"],
                "limit elements": ["batch"],
                "limit elements, data nan": ["wide-row"],
            },
            "kernel-1": {"": ["wide-row"]},
        },
        "5": {},
    }


def test_edges_and_faults_are_told_by_their_place_in_the_table() -> None:
    document = json.loads(encode_manifest(MANIFEST))
    assert document["faults"]["AvgPool-1"] == {"clipped": 1, "divisor-one-more": 2}
    kills = [vector["kills"] for vector in document["vectors"]]
    assert kills == [[1], [0, 1], [0], []]
    assert [vector["edges"] for vector in document["vectors"]] == [[0], [0, 1], [0], []]
    document["faults"]["AvgPool-1"] = {"divisor-one-more": 2, "clipped": 1}  # objects have no order
    assert parse_manifest(json.dumps(document).encode(), "here") == MANIFEST


def test_it_counts_what_is_listed() -> None:
    assert MANIFEST.counts == {"AvgPool-1": Count(2, 1), "AdaptiveAvgPool-8": Count(1, 0)}
    assert MANIFEST.edges == {
        "AvgPool-1": {"batch": 2, "kernel-1": 1},
        "AdaptiveAvgPool-8": {"batch": 1},
    }
    assert MANIFEST.suites == ("core", "smoke")
    assert MANIFEST.files["AvgPool-1/r.npz"].kind == "reject"


def test_a_withdrawn_vector_is_listed_and_not_asked() -> None:
    assert [e.id for e in MANIFEST.vectors] == ["b", "c", "r"]
    assert len(MANIFEST.listed) == 4


def test_the_digest_is_of_what_is_asked_of_each_operator() -> None:
    assert MANIFEST.digest == lines_digest(AdaptiveAvgPool_8="c", AvgPool_1="br")


def test_a_subset_has_its_own_counts_and_digest() -> None:
    smoke = MANIFEST.subset("smoke")
    assert (smoke.name, [e.id for e in smoke.vectors]) == ("smoke", ["b", "c"])
    assert smoke.counts == {"AvgPool-1": Count(1, 0), "AdaptiveAvgPool-8": Count(1, 0)}
    assert smoke.withdrawn == {}
    assert smoke.strength == MANIFEST.strength
    assert smoke.digest == lines_digest(AdaptiveAvgPool_8="c", AvgPool_1="b")
    assert MANIFEST.subset("core").digest == MANIFEST.digest


def first(**changes: Any) -> Callable[[Document], object]:
    return lambda document: document["vectors"][0].update(changes)


def strength(**changes: Any) -> Callable[[Document], object]:
    return lambda document: document["strength"]["AvgPool-1"].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("seed"), "missing: seed"),
        (lambda d: d.pop("specifications"), "missing: specifications"),
        (lambda d: d["strength"]["AvgPool-1"].pop("parts"), "missing: parts"),
        (lambda d: d.update(extra=1), "unknown: 'extra'"),
        (lambda d: d.update(name="../up"), "'name' is '../up', which is not allowed"),
        (lambda d: d.update(format=2), "format 2; this is opconform"),
        (lambda d: d.update(format=True), "'format' is not 1"),
        (lambda d: d["vectors"].pop(), "counts says {'value': 2, 'reject': 1} of AvgPool-1"),
        (lambda d: d["counts"]["AvgPool-1"].update(value=3), "the list of vectors has {'value': 2"),
        (lambda d: d["counts"].update({"X-1": {"value": 0, "reject": 0}}), "of X-1, the list of"),
        (lambda d: d["counts"].pop("AvgPool-1"), "counts says None of AvgPool-1"),
        (lambda d: d["edges"]["AvgPool-1"].update(batch=1), "edges stated for AvgPool-1 are not"),
        (lambda d: d["vectors"].append(d["vectors"][0]), "the id 'b' is listed more than once"),
        (lambda d: d["withdrawn"].update(z="why"), "withdraws 'z', which is not listed"),
        (lambda d: d["withdrawn"].update(a=1), "'withdrawn' holds 1, where text belongs"),
        (lambda d: d["versions"].update(numpy=2), "'versions' holds 2, where text belongs"),
        (lambda d: d["uncovered"][0].pop("edges"), "uncovered: missing: edges"),
        (lambda d: d["uncovered"][0].update(edge="x"), "uncovered: unknown: 'edge'"),
        (lambda d: d["uncovered"][0].update(rank="5"), "'rank' holds '5'"),
        (lambda d: d["uncovered"][0].update(edges="x"), "'edges' holds 'x'"),
        (lambda d: d["uncovered"][0].update(edges=[]), "names 0 edges"),
        (lambda d: d["uncovered"][0].update(edges=["a", "b", "c"]), "names 3 edges"),
        (lambda d: d.pop("strength"), "missing: strength"),
        (lambda d: d.update(strength=[]), "'strength' holds []"),
        (strength(infeasible=3), "strength of AvgPool-1: 'infeasible' holds 3"),
        (strength(infeasible={"three": {}}), "'three' is not a rank"),
        (strength(infeasible={"3": []}), "rank 3: 'edges' holds []"),
        (strength(infeasible={"3": {"a": []}}), "rank 3: 'a' holds []"),
        (strength(infeasible={"3": {"a": {"": "b"}}}), "rank 3: '' holds 'b'"),
        (strength(infeasible={"3": {"a": {"": [1]}}}), "rank 3: '' holds 1"),
        (strength(equivalent={"same": 1}), "'equivalent' holds 1"),
        (strength(equivalent=["same"]), "'equivalent' holds ['same']"),
        (strength(indistinguishable=["one"]), "'group' holds 'one'"),
        (strength(indistinguishable=[["one"]]), "has fewer than two"),
        (strength(more=1), "strength of AvgPool-1: unknown: 'more'"),
        (lambda d: d["vectors"][0].pop("kills"), "an entry of vectors: missing: kills"),
        (first(kills="all"), "'kills' holds 'all'"),
        (first(edges=["batch"]), "'edges' holds ['batch'], where a list of integers belongs"),
        (first(edges=[2]), "'edges' holds [2], where ascending places in the table"),
        (first(kills=["clipped"]), "'kills' holds ['clipped'], where a list of integers belongs"),
        (first(kills=[True]), "'kills' holds [True]"),
        (first(kills=[2]), "'kills' holds [2], where ascending places in the table"),
        (first(kills=[-1]), "'kills' holds [-1], where ascending places"),
        (first(kills=[1, 0]), "'kills' holds [1, 0], where ascending places"),
        (first(kills=[1, 1]), "'kills' holds [1, 1], where ascending places"),
        (first(kills=[0]), "the faults stated for AvgPool-1 are not those of the list"),
        (lambda d: d["faults"].update({"AvgPool-1": ["clipped"]}), "faults: 'AvgPool-1' holds"),
        (lambda d: d["faults"].update({"X-1": {}}), "the faults stated for X-1 are not"),
        (lambda d: d.pop("faults"), "missing: faults"),
        (lambda d: d["vectors"].insert(0, "b"), "an entry of vectors: is not an object"),
        (lambda d: d["vectors"][0].pop("sha256"), "an entry of vectors: missing: sha256"),
        (lambda d: d["vectors"][0].pop("content"), "an entry of vectors: missing: content"),
        (first(id="../../x"), "'id' is '../../x', which is not allowed"),
        (first(id=".hidden"), "'id' is '.hidden', which is not allowed"),
        (first(op="/etc"), "vector b: 'op' is '/etc', which is not allowed"),
        (first(op=".."), "vector b: 'op' is '..', which is not allowed"),
        (first(sha256="ABC"), "vector b: 'sha256' is 'ABC', which is not allowed"),
        (first(level="could"), "vector b: level 'could' is not one of must, should"),
        (first(bytes=-1), "'bytes' holds -1"),
        (first(suites=["a b"]), "are not names of suites"),
        (first(reject=3), "'reject' holds 3, where text belongs"),
    ],
)
def test_what_does_not_fit_is_refused(change: Callable[[Document], object], message: str) -> None:
    document = json.loads(encode_manifest(MANIFEST))
    change(document)
    with pytest.raises(SuiteError) as caught:
        parse_manifest(json.dumps(document).encode(), "some/manifest.json")
    assert caught.value.message.startswith("some/manifest.json: ")
    assert message in caught.value.message
    assert caught.value.hint


def test_a_manifest_cut_short_is_refused() -> None:
    content = encode_manifest(MANIFEST)
    for length in range(0, len(content) - 2, 31):
        with pytest.raises(SuiteError, match="here: not readable as JSON"):
            parse_manifest(content[:length], "here")


def test_a_manifest_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "manifest.json"
    file.write_bytes(encode_manifest(MANIFEST))
    assert read_manifest(file) == MANIFEST
    monkeypatch.setattr(strict_json, "MAX_BYTES", 100)
    with pytest.raises(SuiteError, match="more than 100 bytes"):
        read_manifest(file)


def test_a_manifest_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"manifest\.json: cannot be read: No such file"):
        read_manifest(tmp_path / "manifest.json")
