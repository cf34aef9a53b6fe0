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
from conformance.model import Case
from conformance.suite import strict_json
from conformance.suite.entries import Entry, entry_of_recorded
from conformance.suite.manifest import (
    Manifest,
    encode_manifest,
    parse_manifest,
    read_manifest,
)
from conformance.suite.origin import Origin
from conformance.suite.recorded_cases import RecordedCase
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
            indistinguishable=(("one", "other"),),
        ),
        "AdaptiveAvgPool-8": Unreachable(),
    },
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


def test_edges_and_faults_are_told_by_their_place_in_the_table() -> None:
    document = json.loads(encode_manifest(MANIFEST))
    assert document["faults"]["AvgPool-1"] == {"clipped": 1, "divisor-one-more": 2}
    kills = [vector["kills"] for vector in document["vectors"]]
    assert kills == [[1], [0, 1], [0], []]
    assert [vector["edges"] for vector in document["vectors"]] == [[0], [0, 1], [0], []]
    document["faults"]["AvgPool-1"] = {"divisor-one-more": 2, "clipped": 1}  # objects have no order
    assert parse_manifest(json.dumps(document).encode(), "here") == MANIFEST


def test_elements_are_those_of_all_tensors() -> None:
    case = Case("own.Sum-1", {"T": "f32"}, {"X": (2, 3), "W": (3, 4), "B": ()}, {})
    recorded = RecordedCase(case, "must", ("core",), edges=(), digest="")
    assert entry_of_recorded(case.op, recorded).elements == 6 + 12 + 1
    assert entry("f32-1x3x4-ramp-00000000").elements == 12


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
        (lambda d: d.pop("seed"), "Object missing required field `seed`"),
        (lambda d: d.pop("specifications"), "Object missing required field `specifications`"),
        (
            lambda d: d["strength"]["AvgPool-1"].pop("parts"),
            "strength.AvgPool-1: Object missing required field `parts`",
        ),
        (lambda d: d.update(extra=1), "Object contains unknown field `extra`"),
        (lambda d: d.update(name="../up"), "name: Expected `str`"),
        (lambda d: d.update(format=2), "format 2; this is opconform"),
        (lambda d: d.update(format=True), "'format' is not 1"),
        (
            lambda d: d["vectors"].pop(),
            "2 with values and 1 to be rejected, not 2 with values and 0",
        ),
        (
            lambda d: d["counts"]["AvgPool-1"].update(value=3),
            "3 with values and 1 to be rejected, not 2 with values and 1",
        ),
        (
            lambda d: d["counts"].update({"X-1": {"value": 0, "reject": 0}}),
            "does not say what specification the vectors of X-1 were made from",
        ),
        (
            lambda d: d["counts"].pop("AvgPool-1"),
            "nothing, not 2 with values and 1 to be rejected",
        ),
        (lambda d: d["edges"]["AvgPool-1"].update(batch=1), "edges stated for AvgPool-1 are not"),
        (lambda d: d["vectors"].append(d["vectors"][0]), "the id 'b' is listed more than once"),
        (lambda d: d["withdrawn"].update(z="why"), "withdraws 'z', which is not listed"),
        (lambda d: d["withdrawn"].update(a=1), "withdrawn.a: Expected `str`, got `int`: 1"),
        (lambda d: d["versions"].update(numpy=2), "versions.numpy: Expected `str`, got `int`: 2"),
        (lambda d: d.pop("strength"), "Object missing required field `strength`"),
        (lambda d: d.update(strength=[]), "strength: Expected `object`, got `array`"),
        (
            strength(indistinguishable=["one"]),
            "strength.AvgPool-1.indistinguishable[0]: Expected `array`, got `str`: 'one'",
        ),
        (
            strength(indistinguishable=[["one"]]),
            "strength.AvgPool-1.indistinguishable[0]: Expected `array` of length >= 2",
        ),
        (strength(more=1), "strength.AvgPool-1: Object contains unknown field `more`"),
        (
            lambda d: d["vectors"][0].pop("kills"),
            "vectors[0]: Object missing required field `kills`",
        ),
        (first(kills="all"), "vectors[0].kills: Expected `array`, got `str`: 'all'"),
        (first(edges=["batch"]), "vectors[0].edges[0]: Expected `int`, got `str`: 'batch'"),
        (first(edges=[2]), "'edges' holds [2], where ascending places in the table"),
        (first(kills=["clipped"]), "vectors[0].kills[0]: Expected `int`, got `str`: 'clipped'"),
        (first(kills=[True]), "vectors[0].kills[0]: Expected `int`, got `bool`: True"),
        (first(kills=[2]), "'kills' holds [2], where ascending places in the table"),
        (first(kills=[-1]), "vectors[0].kills[0]: Expected `int` >= 0: -1"),
        (first(kills=[1, 0]), "'kills' holds [1, 0], where ascending places"),
        (first(kills=[1, 1]), "'kills' holds [1, 1], where ascending places"),
        (first(kills=[0]), "the faults stated for AvgPool-1 are not those of the list"),
        (
            lambda d: d["faults"].update({"AvgPool-1": ["clipped"]}),
            "faults.AvgPool-1: Expected `object`, got `array`",
        ),
        (lambda d: d["faults"].update({"X-1": {}}), "the faults stated for X-1 are not"),
        (lambda d: d.pop("faults"), "Object missing required field `faults`"),
        (lambda d: d["vectors"].insert(0, "b"), "vectors[0]: Expected `object`, got `str`: 'b'"),
        (
            lambda d: d["vectors"][0].pop("sha256"),
            "vectors[0]: Object missing required field `sha256`",
        ),
        (
            lambda d: d["vectors"][0].pop("content"),
            "vectors[0]: Object missing required field `content`",
        ),
        (first(id="../../x"), "vectors[0].id: Expected `str`"),
        (first(id=".hidden"), "vectors[0].id: Expected `str`"),
        (first(op="/etc"), "vectors[0].op: Expected `str`"),
        (first(op=".."), "vectors[0].op: Expected `str`"),
        (first(sha256="ABC"), "vectors[0].sha256: Expected `str`"),
        (first(level="could"), "vectors[0].level: Expected `str`"),
        (first(bytes=-1), "vectors[0].bytes: Expected `int` >= 0: -1"),
        (first(suites=["a b"]), "vectors[0].suites[0]: Expected `str`"),
        (first(reject=3), "vectors[0].reject: Expected `str | null`, got `int`: 3"),
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
        with pytest.raises(SuiteError, match="here: "):
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
