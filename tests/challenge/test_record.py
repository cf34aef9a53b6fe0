"""A record is read only as it was written: one changed byte, and files made to do harm."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tiers
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.backends.components import Component, composition_digest, is_fully_hashed
from conformance.challenge import digests
from conformance.challenge.record import (
    ChallengeBackend,
    ChallengeCase,
    ChallengeRecord,
    encode_record,
    parse_record,
    read_record,
)
from conformance.challenge.secret import Secret
from conformance.errors import SuiteError
from conformance.grade.outcome import DescribedValue, Ending, Outcome
from conformance.model import Case
from conformance.strength import PartitionStrength, StrengthState
from conformance.suite import strict_json

SECRET = Secret(bytes(range(32)))
PIECES = (Component("file", "mean.py", "a" * 64), Component("object", "Mean", "b" * 64))


def case(seed: int, reject: str | None = None) -> Case:
    attributes = {"kernel": [2], "auto_pad": "valid", "exclude-pad": True}
    shapes = {"data": (1, 1, 4)}
    return Case("AvgPool-1", {"T": "f32"}, shapes, attributes, seed=seed, reject=reject)


def made(*statuses: str) -> ChallengeRecord:
    backend = ChallengeBackend("mean.py:Mean", "mean", "1", {"dtypes": ["f32"]}, PIECES, ())
    return ChallengeRecord(
        commitment=SECRET.commitment,
        secret=SECRET.data.hex(),
        seed=SECRET.seed(backend.digest),
        backend=backend,
        suite="core",
        level="must",
        precision=dict.fromkeys(("f16", "bf16", "f32", "f64"), "standard"),
        operators={"AvgPool-1": "c" * 64},
        cases=tuple(
            ChallengeCase(case(seed), "must", "d" * 32, status, None, "e" * 64)
            for seed, status in enumerate(statuses or ("pass", "pass"))
        ),
        killed={"AvgPool-1": (400, 456)},
        strength=(PartitionStrength("AvgPool-1", "f32", 3, 400, 400, StrengthState.MEASURED),),
        versions={"numpy": "2.4.6"},
        environment={"platform": "Linux", "cores": {"usable": 2}},
        started="2026-01-01T00:00:00+00:00",
    )


DATA = encode_record(made())


def refused(data: bytes) -> str:
    with pytest.raises(SuiteError) as caught:
        parse_record(data, "record.json")
    assert str(caught.value).startswith("record.json")
    assert str(caught.value).isprintable() or "\n" in str(caught.value)
    return str(caught.value)


def sealed(**changes: object) -> bytes:
    """The record with other keys, and the digest that a forger computes for it."""
    from conformance.challenge.record import _sealed

    document = {key: value for key, value in json.loads(DATA).items() if key != "sha256"}
    return _sealed(document | changes)


class TestAsWritten:
    def test_is_read_back(self, tmp_path: Path) -> None:
        file = tmp_path / "record.json"
        file.write_bytes(DATA)
        assert read_record(file) == made()

    def test_is_an_object_with_a_line_for_each_case(self) -> None:
        document = json.loads(DATA)
        assert document["verdict"] == "conformant"
        assert document["backend"]["digest"] == composition_digest(PIECES)
        lines = DATA.decode().splitlines()
        assert sum('"op":"AvgPool-1","id":' in line for line in lines) == 2

    @pytest.mark.parametrize(
        ("statuses", "verdict"),
        [
            (("pass", "pass"), "conformant"),
            (("pass", "fail"), "not conformant"),
            (("pass", "error"), "not conformant"),
            (("unsupported", "skipped"), "nothing graded"),
        ],
    )
    def test_its_verdict_follows_from_its_results(
        self, statuses: tuple[str, ...], verdict: str
    ) -> None:
        assert made(*statuses).conclusion["verdict"] == verdict

    def test_weak_evidence_is_no_conformance(self) -> None:
        weak = PartitionStrength("AvgPool-1", "f32", 3, 300, 400, StrengthState.MEASURED)
        assert replace(made(), strength=(weak,)).conclusion["verdict"] == "inconclusive"

    def test_the_smoke_suite_makes_no_claim(self) -> None:
        record = replace(made(), suite="smoke")
        assert record.conclusion["verdict"] == "no failures"
        assert parse_record(encode_record(record), "record.json") == record

    def test_what_was_not_hashed_has_no_verdict(self) -> None:
        record = made("pass", "fail")
        own = (*PIECES, Component("remote", "ssh", ""))
        record = replace(record, backend=replace(record.backend, pieces=own))
        assert not is_fully_hashed(own)
        assert record.conclusion["verdict"] is None
        assert parse_record(encode_record(record), "record.json") == record


class TestChanged:
    @settings(max_examples=tiers.examples(2000, 150))
    @given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
    def test_one_byte(self, place: int, change: int) -> None:
        data = bytearray(DATA)
        data[place] ^= change
        refused(bytes(data))

    @settings(max_examples=tiers.examples(500, 40))
    @given(st.integers(0, len(DATA) - 1), st.sampled_from([b" ", b"\n", b"0", b"\xff"]))
    def test_one_byte_more(self, place: int, more: bytes) -> None:
        refused(DATA[:place] + more + DATA[place:])

    @settings(max_examples=tiers.examples(500, 40))
    @given(st.integers(0, len(DATA) - 1))
    def test_cut_short(self, length: int) -> None:
        refused(DATA[:length])

    @pytest.mark.parametrize(
        "other",
        [
            json.dumps(json.loads(DATA)).encode(),
            json.dumps(json.loads(DATA), indent=1).encode(),
            DATA + b"\n",
            DATA.replace(b"mean.py", b"\\u006dean.py"),
        ],
        ids=["one line", "indented", "a line more", "escaped"],
    )
    def test_another_form_of_the_same(self, other: bytes) -> None:
        assert json.loads(other) == json.loads(DATA)
        assert "canonical form" in refused(other)

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"verdict": "inconclusive"}, "'verdict' is not what follows"),
            ({"claim": "mean 2: conformant"}, "'claim' is not what follows"),
            ({"suite": {"name": "core", "digest": "0" * 64}}, "'suite' is not what follows"),
            (
                {"backend": json.loads(DATA)["backend"] | {"digest": "0" * 64}},
                "'backend' is not what follows",
            ),
        ],
    )
    def test_a_lie_about_what_follows(self, changes: dict[str, object], told: str) -> None:
        assert told in refused(sealed(**changes))


CASE = json.loads(DATA)["cases"][0]


class TestHostile:
    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"null",
            b"[]",
            b"{}",
            b"[" * 100_000,
            b'{"a":' * 100_000,
            b"\x80\x81",
            DATA.replace(b'"seed"', b'"seed": 1, "seed"', 1),
            DATA.replace(b'"format": 1', b'"format": 2'),
            DATA.replace(b'"format": 1', b'"format": 1e0'),
            DATA.replace(b'"format": 1', b'"format": NaN'),
            DATA.replace(b'"seed": ', b'"seed": ' + b"9" * 5000),
        ],
        ids=range(12),
    )
    def test_no_record(self, data: bytes) -> None:
        refused(data)

    @pytest.mark.parametrize(
        "changes",
        [
            {"format": True},
            {"commitment": "0" * 63},
            {"secret": 7},
            {"seed": -1},
            {"backend": []},
            {"backend": json.loads(DATA)["backend"] | {"capabilities": {"dtypes": 1}}},
            {"backend": json.loads(DATA)["backend"] | {"pieces": [["file", "a"]]}},
            {"backend": json.loads(DATA)["backend"] | {"pieces": [["what", "a", ""]]}},
            {"precision": {}},
            {"operators": {}},
            {"strength": [{}]},
            {"cases": []},
            {"cases": [CASE, CASE]},
            {"cases": [CASE | {"op": "Other-1"}]},
            {"cases": [CASE | {"id": "f32-1x1x4-ramp-00000000"}]},
            {"cases": [CASE | {"shapes": {"data": ["1"]}}]},
            {"cases": [CASE | {"shapes": {}}]},
            {"cases": [CASE | {"attributes": {"kernel": {"a": 1}}}]},
            {"cases": [CASE | {"status": "passed"}]},
            {"cases": [CASE | {"more": 1}]},
            {"environment": 1},
            {"started": "\x1b[2J"},
            {"more": 1},
        ],
        ids=str,
    )
    def test_other_types_and_keys(self, changes: dict[str, object]) -> None:
        refused(sealed(**changes))

    def test_a_file_of_any_size(self, tmp_path: Path) -> None:
        file = tmp_path / "record.json"
        with file.open("wb") as opened:
            opened.truncate(strict_json.MAX_BYTES + 1)
        with pytest.raises(SuiteError, match="more than"):
            read_record(file)

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(SuiteError, match="cannot be read"):
            read_record(tmp_path / "none")


def returned(*arrays: object, **more: object) -> str:
    return digests.outcome_digest(Outcome(Ending.RETURNED, list(arrays), **more))  # type: ignore[arg-type]


class TestADigestOfOutputs:
    @pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
    def test_counts_every_nan_as_one_and_zeros_by_sign(self, dtype: object) -> None:
        one = np.asarray([np.nan, 0, 1], dtype)
        other = one.copy()
        code = other.view(f"u{one.itemsize}")
        code[0] ^= (1 << (8 * one.itemsize - 1)) | 1
        assert one.tobytes() != other.tobytes()
        assert returned(one) == returned(other)
        assert returned(one) != returned(np.asarray([np.nan, -0.0, 1], dtype))
        assert np.isnan(other[0])

    def test_is_of_types_shapes_order_and_bytes(self) -> None:
        one = np.arange(6, dtype=np.int32).reshape(2, 3)
        found = [
            returned(one),
            returned(one.T),
            returned(one.reshape(3, 2)),
            returned(one.astype(np.int64)),
            returned(one, one),
            returned(),
            returned(one, changed=(0,)),
            returned(DescribedValue("numpy.ndarray", "i32", "", (2, 3))),
            returned(None),
            digests.outcome_digest(Outcome(Ending.RAISED)),
            digests.outcome_digest(Outcome(Ending.CRASHED)),
        ]
        assert len({*found}) == len(found)

    def test_is_not_of_layout_in_memory_or_of_messages(self) -> None:
        one = np.arange(6, dtype=np.float32).reshape(2, 3)
        assert returned(one) == returned(np.asfortranarray(one))
        assert digests.outcome_digest(
            Outcome(Ending.RAISED, message="at 0x7f")
        ) == digests.outcome_digest(Outcome(Ending.RAISED, message="at 0x80"))
        assert returned(np.float32(1).reshape(())) != returned(np.ones(1, np.float32))
