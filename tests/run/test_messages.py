"""Messages from a worker: what is well-formed arrives, and nothing else does any harm."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.dtypes import DTYPES
from conformance.errors import BackendError
from conformance.grade.outcome import DescribedValue, Ending, Outcome
from conformance.model import Answer, Case, Vector
from conformance.run import messages, responses
from conformance.run.executor import Identity
from conformance.run.framing import MAX_HEADER, PREFIX, Inbox, Malformed, pack

WIDE = np.arange(6, dtype=np.float64).reshape(2, 3)


def received(message, limit=sys.maxsize):
    inbox = Inbox()
    inbox.feed(message)
    return inbox.take(limit)


def carried(outcome, *, limit=1000, inputs=2):
    header, payload = received(messages.encode_response(7, outcome, limit))
    return responses.decode_response(header, payload, 7, inputs)


class TestFraming:
    def test_bytes_may_come_one_by_one(self):
        message = pack({"a": 1}, [WIDE]) + pack({"b": 2})
        inbox, found = Inbox(), []
        for byte in message:
            inbox.feed(bytes([byte]))
            if one := inbox.take(48):
                found.append(one)
        assert found == [({"a": 1}, WIDE.tobytes()), ({"b": 2}, b"")]
        assert len(inbox) == 0

    @pytest.mark.parametrize(
        "message",
        [
            PREFIX.pack(MAX_HEADER + 1, 0),
            PREFIX.pack(2, 49),
            PREFIX.pack(2, 2**64 - 1),
            PREFIX.pack(2, 0) + b"[]",
            PREFIX.pack(4, 0) + b"null",
            PREFIX.pack(3, 0) + b"{x}",
            PREFIX.pack(2, 0) + b"\xff\xfe",
            PREFIX.pack(200_000, 0) + b"[" * 200_000,
        ],
    )
    def test_what_is_no_message_is_refused(self, message):
        with pytest.raises(Malformed):
            received(message, limit=48)

    def test_a_header_that_is_too_long_is_not_sent(self):
        with pytest.raises(ValueError, match="at most"):
            pack({"a": "x" * MAX_HEADER})


class TestQuestions:
    def test_inputs_arrive_in_their_types(self):
        inputs = [np.arange(4).astype(row.numpy).reshape(2, 2, 1) for row in DTYPES.values()]
        inputs += [np.zeros((0, 3), np.float32), np.array(5)]
        case = Case("Op-1", {"T": "f32"}, {}, {"kernel": [2, 3], "exclude-pad": True, "m": "x"})
        answers = (
            Answer("a", "bf16", np.zeros((3, 5))),
            Answer("b", "i64", np.zeros((3, 5), np.int64)),
        )
        vector = Vector("id", case, "must", (), "", "", tuple(inputs), answers)
        header, payload = received(messages.encode_request(3, vector))
        assert (header["number"], header["op"], header["limit"]) == (3, "Op-1", 1 << 20)
        large = replace(vector, answers=(Answer("a", "f32", np.zeros((1 << 19,))),))
        assert messages.max_output_bytes(large) == 4 * (1 << 21)
        assert header["attributes"] == case.attributes
        arrived = messages.decode_request(header, payload)
        for before, after in zip(inputs, arrived, strict=True):
            assert (before.dtype, before.shape) == (after.dtype, after.shape)
            assert before.tobytes() == after.tobytes()


class TestAnswers:
    def test_plain_arrays_arrive(self):
        returned = [WIDE, WIDE.astype(ml_dtypes.bfloat16), np.zeros((0, 2), np.int32)]
        found = carried(Outcome(Ending.RETURNED, returned, "", (1,), 0.25))
        assert (found.ending, found.changed, found.seconds) == (Ending.RETURNED, (1,), 0.25)
        for before, after in zip(returned, found.returned, strict=True):
            np.testing.assert_array_equal(before, after)
            assert before.dtype == after.dtype

    def test_a_bare_array_stays_one(self):
        np.testing.assert_array_equal(carried(Outcome(Ending.RETURNED, WIDE)).returned, WIDE)

    @pytest.mark.parametrize(
        ("value", "seen"),
        [
            (None, DescribedValue("NoneType")),
            ("text", DescribedValue("str")),
            (np.float32(1), DescribedValue("numpy.float32")),
            (WIDE.astype(">f8"), DescribedValue("numpy.ndarray", ">f8", "f64", (2, 3))),
            (WIDE.astype(object), DescribedValue("numpy.ndarray", "object", "", (2, 3))),
            (np.zeros(1000), DescribedValue("numpy.ndarray", "f64", "", (1000,))),
        ],
    )
    def test_all_else_is_described(self, value, seen):
        assert carried(Outcome(Ending.RETURNED, value)).returned == seen
        assert carried(Outcome(Ending.RETURNED, [value])).returned == [seen]

    def test_a_program_need_not_say_more_than_this(self):
        header = {"number": 7, "outputs": [{"dtype": "f64", "shape": [2, 3]}]}
        found = responses.decode_response(header, WIDE.tobytes(), 7, 2)
        assert found.ending is Ending.RETURNED
        np.testing.assert_array_equal(found.returned, [WIDE])
        refused = responses.decode_response(
            {"number": 7, "ending": "raised", "message": "a\nb"}, b"", 7, 2
        )
        assert (refused.ending, refused.message) == (Ending.RAISED, "a b")

    def test_many_outputs_are_counted(self):
        assert len(carried(Outcome(Ending.RETURNED, [WIDE] * 5000)).returned) == 5000

    @pytest.mark.parametrize(
        ("member", "value"),
        [
            ("number", 8),
            ("ending", "crashed"),
            ("ending", "returned\n"),
            ("ending", []),
            ("ending", None),
            ("message", 3),
            ("message", "x" * 5000),
            ("changed", [2]),
            ("changed", [-1]),
            ("changed", [0, 0, 0]),
            ("changed", {}),
            ("seconds", -1.0),
            ("seconds", 1e300),
            ("seconds", "1"),
            ("plural", 1),
            ("count", 0),
            ("count", 2),
            ("count", 10**12),
            ("outputs", {}),
            ("outputs", [3]),
            ("outputs", []),
        ],
    )
    def test_what_is_not_well_formed_is_refused(self, member, value):
        header, payload = received(
            messages.encode_response(7, Outcome(Ending.RETURNED, [WIDE]), 1000)
        )
        with pytest.raises(Malformed):
            responses.decode_response(header | {member: value}, payload, 7, 2)

    @pytest.mark.parametrize(
        "change",
        [
            {"dtype": "f128"},
            {"dtype": None},
            {"dtype": "f32"},
            {"shape": [2, 4]},
            {"shape": [-2, -3]},
            {"shape": [0, 2**62, 2**62]},
            {"shape": [10**30]},
            {"shape": "23"},
            {"shape": [1] * 65},
            {"sent": False},
            {"type": 3, "sent": False},
        ],
    )
    def test_an_output_that_is_not_what_it_says_is_refused(self, change):
        header, payload = received(
            messages.encode_response(7, Outcome(Ending.RETURNED, [WIDE]), 1000)
        )
        header["outputs"][0] |= change
        with pytest.raises(Malformed):
            responses.decode_response(header, payload, 7, 2)

    def test_any_damage_is_refused_or_harmless(self):
        whole = messages.encode_response(
            7, Outcome(Ending.RETURNED, [WIDE, None], "word", (1,), 0.5), 1000
        )
        chance = random.Random(5)
        refused = 0
        for _ in range(3000):
            damaged = bytearray(whole)
            for _ in range(chance.randint(1, 3)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            try:
                if message := received(bytes(damaged), limit=1000):
                    assert isinstance(responses.decode_response(*message, 7, 2), Outcome)
            except Malformed:
                refused += 1
        assert refused > 1000


PROCESS = {
    "python": "CPython 3.11.2",
    "platform": "Linux x86_64 glibc 2.36",
    "variables": {"OMP_NUM_THREADS": "2"},
    "packages": {"numpy": "2.4.0", "ml_dtypes": None},
}
NEEDED = {"protocol": 1, "byte_order": "little", "name": "n", "version": "1"}
TOLD = {**NEEDED, "facts": {}, "process": PROCESS}


class TestIntroductions:
    def test_what_a_backend_declares_arrives(self):
        declared = Capabilities(
            operators=("AvgPool-1",),
            ranks=(3, 4),
            excluding=(Exclusion("no", "any(size > 3)", "AvgPool-1"), Exclusion("never")),
        )
        who = Identity("n\ud800\x00", "1", declared, {"a": "b"}, PROCESS)
        header, _ = received(messages.encode_hello(who))
        found = responses.decode_hello(header)
        assert found == replace(who, name="n\\ud800\\x00")
        assert found.facts == who.facts
        assert found.process == PROCESS

    def test_an_error_arrives(self):
        header, _ = received(
            messages.encode_load_failure(BackendError("no driver", hint="install it"))
        )
        with pytest.raises(BackendError, match="no driver") as caught:
            responses.decode_hello(header)
        assert caught.value.hint == "install it"

    @pytest.mark.parametrize(
        "header",
        [
            {},
            {"hello": []},
            {"hello": {**TOLD, "name": ""}},
            {"hello": {**TOLD, "version": 1}},
            {"hello": {**TOLD, "facts": {"a": 1}}},
            *({"hello": {k: v for k, v in TOLD.items() if k != left}} for left in NEEDED),
            {"hello": {**TOLD, "process": []}},
            {"hello": {**TOLD, "process": {**PROCESS, "python": "3" * 1000}}},
            {"hello": {**TOLD, "process": {**PROCESS, "platform": 3}}},
            {"hello": {**TOLD, "process": {**PROCESS, "variables": {"A": None}}}},
            {"hello": {**TOLD, "process": {**PROCESS, "packages": {"numpy": 2}}}},
            {"error": "no"},
            {"error": {"message": 1}},
        ],
    )
    def test_others_are_refused(self, header):
        with pytest.raises(Malformed):
            responses.decode_hello(header)

    def test_a_program_need_not_say_more_than_this(self):
        found = responses.decode_hello({"hello": NEEDED})
        assert (found.name, found.version, found.capabilities, found.facts) == ("n", "1", None, {})
        assert set(found.process) == {"platform", "variables"}

    @pytest.mark.parametrize(
        ("change", "said"),
        [({"protocol": 2}, "speaks version 2"), ({"byte_order": "big"}, "byte order is 'big'")],
    )
    def test_another_protocol_is_told_as_one(self, change, said):
        with pytest.raises(BackendError, match=said):
            responses.decode_hello({"hello": {**NEEDED, **change}})

    def test_nothing_else_that_is_told_of_a_process_arrives(self):
        more = {**PROCESS, "user": "somebody"}
        found = responses.decode_hello({"hello": {**TOLD, "process": more}})
        assert found.process == PROCESS

    @pytest.mark.parametrize(
        "declared",
        [
            [],
            "everything",
            {"dtype": ["f32"]},
            {"excluding": [{"reason": "none", "op": 3}]},
            {"operators": 3, "dtypes": None, "ranks": None, "excluding": []},
            {"operators": None, "dtypes": None, "ranks": None, "excluding": [{"when": 1}]},
        ],
    )
    def test_capabilities_that_cannot_be_read_are_an_error_of_the_backend(self, declared):
        told = {**TOLD, "capabilities": declared}
        with pytest.raises(BackendError, match="capabilities"):
            responses.decode_hello(json.loads(json.dumps({"hello": told})))
