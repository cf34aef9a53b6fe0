"""The run log: what is written is read again, and nothing but a whole, sound log looks green."""

from __future__ import annotations

import contextlib
import gzip
import json
import math
from dataclasses import replace

import pytest
import sample_runs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from conformance.choices import LEVELS, PRECISIONS
from conformance.errors import LogError
from conformance.json_schema import load_schema
from conformance.log.encoding import MAX_DETAIL, MAX_TEXT, decode, encode
from conformance.log.events import (
    as_event,
    finding_event,
    parse_event,
    result_event,
    to_finding,
    to_result,
)
from conformance.log.reader import read
from conformance.log.writer import LogWriter
from conformance.model import Finding, Result, Status, Witness

KINDS = ("passing", "failing", "interrupted", "nothing_graded", "gated", "hostile")

# Any characters at all, but no two surrogates, which JSON would join into one character.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.just("\ud800")
counts = st.integers(0, 2**40)
witnesses = st.builds(
    Witness,
    output=texts,
    index=st.lists(counts, max_size=5).map(tuple),
    exact=texts,
    rounded=texts,
    lo=texts,
    hi=texts,
    got=texts,
    ulp=st.none() | st.floats(0, 1e30) | st.just(math.inf),
    wrong=counts,
    total=counts,
)
results = st.builds(
    Result,
    id=texts,
    op=texts,
    status=st.sampled_from(Status),
    edges=st.lists(texts, max_size=4).map(tuple),
    message=texts,
    kind=texts,
    reading=st.none() | texts,
    precision=st.none() | st.sampled_from(PRECISIONS),
    level=st.sampled_from(LEVELS),
    dtype=texts,
    size=counts,
    reject=st.none() | texts,
    seconds=st.floats(0, 1e9),
    witness=st.none() | witnesses,
    shows=st.dictionaries(texts, st.lists(texts, min_size=1, max_size=3).map(tuple), max_size=3),
    known=st.none() | texts,
)
findings = st.builds(
    Finding,
    op=texts,
    kind=texts,
    title=texts,
    ids=st.lists(texts, max_size=4).map(tuple),
    edges=st.lists(texts, max_size=4).map(tuple),
    smallest=texts,
    message=texts,
    witness=st.none() | witnesses,
    reproduce=texts,
    detail=st.dictionaries(texts, st.recursive(texts | counts, st.lists, max_leaves=5), max_size=3),
)


def through_json(event):
    line = encode(event)
    assert line.isascii()
    assert line.count("\n") == 1
    assert line.endswith("\n")
    return decode(line.encode())


class TestRoundTrip:
    @given(results)
    def test_result(self, result):
        assert to_result(parse_event(through_json(result_event(result)))) == result

    @given(findings)
    def test_finding(self, finding):
        assert to_finding(parse_event(through_json(finding_event(finding)))) == finding

    @pytest.mark.parametrize("kind", KINDS)
    def test_whole_log(self, tmp_path, kind):
        events = getattr(sample_runs, kind)()
        run = read(sample_runs.write(tmp_path / "run.jsonl", events))
        assert run.header == events[0]
        assert list(run.results) == [e for e in events if isinstance(e, Result)]
        assert list(run.findings) == [e for e in events if isinstance(e, Finding)]
        assert run.footer == events[-1]
        assert run.problems == ()

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_line_satisfies_the_published_schema(self, tmp_path, kind):
        path = sample_runs.write(tmp_path / "run.jsonl", getattr(sample_runs, kind)())
        schema = load_schema("log/run-log.schema.json").rules
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        for line in path.read_text("ascii").splitlines():
            validator.validate(json.loads(line))

    def test_event_stands_first(self):
        assert encode({"format": 1, "event": "header"}).startswith('{"event":"header"')


class TestBounds:
    def test_long_text_is_cut_and_says_so(self):
        event = through_json(result_event(Result("i", "op", Status.FAIL, message="x" * 10**6)))
        assert len(event["message"]) == MAX_TEXT
        assert event["message"].endswith("[cut: 1,000,000 characters in all]")

    def test_text_at_the_bound_is_whole(self):
        message = "x" * MAX_TEXT
        result = Result("i", "op", Status.FAIL, message=message)
        assert through_json(result_event(result))["message"] == message

    def test_large_detail_is_replaced_by_a_note(self):
        finding = sample_runs.failing()[-4]
        ids = tuple(f"id-{i:08}" for i in range(20_000))
        large = replace(finding, ids=ids, detail={"plane": {"expected": [1.5] * MAX_DETAIL}})
        again = to_finding(parse_event(through_json(finding_event(large))))
        assert again.ids == ids
        assert list(again.detail) == ["cut"]
        assert "65,536" in again.detail["cut"]

    def test_numbers_that_json_lacks_become_text(self):
        line = encode({"event": "finding", "detail": {"a": [math.nan, math.inf, -math.inf]}})
        assert decode(line.encode())["detail"] == {"a": ["nan", "inf", "-inf"]}

    def test_deep_nesting_is_refused_both_ways(self):
        deep = []
        for _ in range(40):
            deep = [deep]
        with pytest.raises(LogError, match="nested"):
            encode({"event": "header", "deep": deep})
        for depth in (40, 100_000):
            with pytest.raises(ValueError, match="nested"):
                decode(b'{"a":' + b"[" * depth + b"]" * depth + b"}")

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            ("NaN", "not a JSON number"),
            ('{"a": Infinity}', "not a JSON number"),
            ('{"a": 1e999}', "too large"),
            ("[1]", "not a JSON object"),
            ("", "Expecting"),
            ("{", "Expecting"),
        ],
    )
    def test_what_is_not_a_json_object_is_refused(self, line, why):
        with pytest.raises(ValueError, match=why):
            decode(line.encode())

    def test_what_is_not_json_data_is_refused(self):
        with pytest.raises(TypeError, match="set"):
            encode({"event": "result", "edges": {"a"}})


class TestWriter:
    def test_each_line_is_on_the_disk_at_once(self, tmp_path):
        path = tmp_path / "new" / "run.jsonl"
        with LogWriter(path) as log:
            for n, event in enumerate(sample_runs.passing(20), 1):
                log.write(event)
                assert path.read_bytes().count(b"\n") == n

    def test_a_failure_keeps_what_was_written(self, tmp_path):
        path = tmp_path / "run.jsonl"
        with contextlib.suppress(KeyboardInterrupt), LogWriter(path) as log:
            for event in sample_runs.passing(20)[:11]:
                log.write(event)
            raise KeyboardInterrupt
        run = read(path)
        assert len(run.results) == 10
        assert run.verdict == "cut short"

    @pytest.mark.parametrize("order", [[1], [0, 0], [0, -1, 1], [0, -1, -1], [-1]])
    def test_events_out_of_order_are_refused(self, tmp_path, order):
        events = sample_runs.passing(3)
        with LogWriter(tmp_path / "run.jsonl") as log:
            for place in order[:-1]:
                log.write(events[place])
            with pytest.raises(ValueError, match="cannot come after"):
                log.write(events[order[-1]])

    def test_a_folder_that_cannot_be_made(self, tmp_path):
        (tmp_path / "file").touch()
        with (
            pytest.raises(LogError, match="cannot be written") as caught,
            LogWriter(tmp_path / "file" / "run.jsonl"),
        ):
            pass
        assert caught.value.hint

    def test_a_closed_log_takes_nothing(self, tmp_path):
        log = LogWriter(tmp_path / "run.jsonl")
        with pytest.raises(ValueError, match="not open"):
            log.write(sample_runs.passing(1)[0])


class TestNeverGreen:
    """A log that lost anything is not conformant, whatever it lost."""

    @pytest.fixture
    def log(self, tmp_path):
        path = sample_runs.write(tmp_path / "run.jsonl", sample_runs.passing(6))
        assert read(path).verdict == "conformant"
        return path

    def test_cut_at_any_byte(self, log, tmp_path):
        whole = log.read_bytes()
        cut = tmp_path / "cut.jsonl"
        header = whole.index(b"\n") + 1
        # Every seventh byte, and all around the ends of lines.
        ends = [i for i in range(len(whole)) if i % 7 == 0 or b"\n" in whole[max(0, i - 3) : i + 3]]
        for end in ends:
            cut.write_bytes(whole[:end])
            if end < header:
                with pytest.raises(LogError):
                    read(cut)
            else:
                run = read(cut)
                assert run.footer is None
                assert not run.complete
                assert run.verdict == "cut short"
                assert len(run.results) == whole[:end].count(b"\n") - 1

    def test_without_any_one_line(self, log, tmp_path):
        lines = log.read_bytes().splitlines(keepends=True)
        cut = tmp_path / "cut.jsonl"
        for gone in range(1, len(lines)):
            cut.write_bytes(b"".join(lines[:gone] + lines[gone + 1 :]))
            run = read(cut)
            assert run.verdict == ("cut short" if gone == len(lines) - 1 else "inconsistent")
            assert not run.complete

    def test_with_any_line_twice(self, log, tmp_path):
        lines = log.read_bytes().splitlines(keepends=True)
        changed = tmp_path / "changed.jsonl"
        for twice in range(1, len(lines) - 1):
            changed.write_bytes(b"".join(lines[: twice + 1] + lines[twice:]))
            assert read(changed).verdict == "inconsistent"
        for twice in (0, len(lines) - 1):
            changed.write_bytes(b"".join(lines[: twice + 1] + lines[twice:]))
            with pytest.raises(LogError, match=r"after the end|no place"):
                read(changed)

    @pytest.mark.parametrize(
        "said", [b'"status":"fail"', b'"status":"error"', b'"status":"unsupported"']
    )
    def test_with_a_result_that_the_footer_does_not_count(self, log, tmp_path, said):
        changed = tmp_path / "changed.jsonl"
        changed.write_bytes(log.read_bytes().replace(b'"status":"pass"', said, 1))
        run = read(changed)
        assert run.verdict == "inconsistent"
        assert any("footer counts" in problem for problem in run.problems)

    @pytest.mark.parametrize(
        ("kind", "why"),
        [
            ("failing", "has failures"),
            ("interrupted", "interrupted run"),
            ("nothing_graded", "graded nothing"),
        ],
    )
    def test_with_a_footer_that_says_so_wrongly(self, tmp_path, kind, why):
        events = getattr(sample_runs, kind)()
        events[-1] |= {"verdict": "conformant"}
        run = read(sample_runs.write(tmp_path / "run.jsonl", events))
        assert run.verdict == "inconsistent"
        assert any(why in problem for problem in run.problems)

    def test_with_a_reading_that_no_result_shows(self, tmp_path):
        events = sample_runs.passing(60)
        (answer, *_) = events[-1]["readings"][0]["answers"]
        answer["example"] = next(e.id for e in events[1:-1] if not e.shows)
        run = read(sample_runs.write(tmp_path / "run.jsonl", events))
        assert run.verdict == "inconsistent"
        assert run.problems == (f"AvgPool-1: {answer['example']} does not show clip-divisor.",)

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(st.data())
    def test_with_any_byte_changed(self, log, tmp_path, data):
        whole = bytearray(log.read_bytes())
        place = data.draw(st.integers(0, len(whole) - 1))
        whole[place] = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[place]))
        changed = tmp_path / "changed.jsonl"
        changed.write_bytes(whole)
        try:
            run = read(changed)
        except LogError:
            return
        # A name, a message or a time may change unnoticed; the counts behind a verdict may not.
        if run.verdict == "conformant":
            assert run.tallies == read(log).tallies


class TestReader:
    def write(self, tmp_path, *lines):
        path = tmp_path / "run.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path

    def header(self, **changes):
        return encode(sample_runs.passing(1)[0] | changes).strip().encode()

    def test_no_file(self, tmp_path):
        with pytest.raises(LogError, match="cannot be read") as caught:
            read(tmp_path / "none.jsonl")
        assert caught.value.hint
        assert caught.value.exit_code == 2

    def test_folder(self, tmp_path):
        with pytest.raises(LogError, match="not a file"):
            read(tmp_path)

    def test_empty(self, tmp_path):
        with pytest.raises(LogError, match="no header"):
            read(self.write(tmp_path))

    def test_no_header(self, tmp_path):
        line = encode(as_event(sample_runs.passing(1)[1])).strip().encode()
        with pytest.raises(LogError, match=r"run\.jsonl:1: .*header"):
            read(self.write(tmp_path, line))

    def test_newer_format(self, tmp_path):
        with pytest.raises(LogError, match="format 2; this version reads up to 1"):
            read(self.write(tmp_path, self.header(format=2)))

    @pytest.mark.parametrize(
        ("line", "what"),
        [
            (b"not json", "Expecting"),
            (b"", "Expecting"),
            (b'{"event":"result"}', "required"),
            (b'{"event":"witness"}', "unknown event"),
            (b'{"event":["result"]}', "unknown event"),
            (b"{}", "unknown event"),
            (b'{"event":"result","event":"footer"}', "a key is given twice"),
            (b'"\xe9"', "not ASCII"),
        ],
    )
    def test_damaged_line(self, tmp_path, line, what):
        with pytest.raises(LogError, match=what) as caught:
            read(self.write(tmp_path, self.header(), line))
        assert "run.jsonl:2" in caught.value.message
        assert caught.value.hint

    @pytest.mark.parametrize(
        "change",
        [
            {"status": "green"},
            {"size": -1},
            {"size": 10**300},
            {"seconds": 10**300},
            {"edges": "all"},
            {"witness": {}},
            {"message": None},
        ],
    )
    def test_result_of_another_shape(self, tmp_path, change):
        line = encode(result_event(sample_runs.passing(1)[1]) | change).strip().encode()
        with pytest.raises(LogError, match=next(iter(change))):
            read(self.write(tmp_path, self.header(), line))

    def test_line_without_end(self, tmp_path, monkeypatch):
        monkeypatch.setattr("conformance.log.reader.MAX_LINE", 10_000)
        with pytest.raises(LogError, match="longer than 10,000 bytes"):
            read(self.write(tmp_path, self.header(), b" " * 20_000))

    def test_file_without_end(self, tmp_path, monkeypatch):
        monkeypatch.setattr("conformance.log.reader.MAX_SIZE", 1000)
        with pytest.raises(LogError, match="at most 1,000 bytes"):
            read(self.write(tmp_path, self.header(), b" " * 1000))

    @pytest.mark.parametrize("member", ["shows", "known", "rank"])
    def test_a_result_has_all_members(self, tmp_path, member):
        head, result, *_ = sample_runs.passing(5)
        line = result_event(result)
        del line[member]
        with pytest.raises(LogError, match=f"result.*{member}"):
            read(sample_runs.write(tmp_path / "run.jsonl", [head, line]))

    def test_members_it_does_not_know_are_ignored(self, tmp_path):
        events = sample_runs.passing(5)
        events[0]["later"] = {"format": 3}
        assert read(sample_runs.write(tmp_path / "run.jsonl", events)).verdict == "conformant"

    def test_a_compressed_log_is_the_same(self, tmp_path):
        log = sample_runs.write(tmp_path / "run.jsonl", sample_runs.failing())
        packed = tmp_path / "run.jsonl.gz"
        packed.write_bytes(gzip.compress(log.read_bytes(), mtime=0))
        assert read(packed) == read(log)

    @pytest.mark.parametrize("damage", [lambda data: data[:-40], lambda data: b"{}" + data])
    def test_a_damaged_compressed_log_is_refused(self, tmp_path, damage):
        log = sample_runs.write(tmp_path / "run.jsonl", sample_runs.failing())
        packed = tmp_path / "run.jsonl.gz"
        packed.write_bytes(damage(gzip.compress(log.read_bytes(), mtime=0)))
        with pytest.raises(LogError, match="cannot be read"):
            read(packed)

    def test_a_compressed_log_is_as_large_as_others_at_most(self, tmp_path, monkeypatch):
        log = sample_runs.write(tmp_path / "run.jsonl", sample_runs.failing())
        packed = tmp_path / "run.jsonl.gz"
        packed.write_bytes(gzip.compress(log.read_bytes(), mtime=0))
        monkeypatch.setattr("conformance.log.reader.MAX_SIZE", packed.stat().st_size + 1)
        with pytest.raises(LogError, match="at most"):
            read(packed)
