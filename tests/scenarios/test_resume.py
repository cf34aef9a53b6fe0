"""``conformance check --resume``: what is there stays and is not asked again, and the end is the
same as that of a run that nothing disturbed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import tiers
from click.testing import CliRunner

import conformance
from conformance.cli import main
from conformance.errors import LogError
from conformance.log.reader import read, read_unfinished
from conformance.log.writer import LogWriter
from conformance.model import Status
from conformance.threads import VARIABLES

ADAPTER = """
from pathlib import Path
from conformance.backends.reference import Reference

class Mine(Reference):
    name = "mine"
    version = "1.0"
    def environment(self):
        return {{"threads": "1"}}
    def run(self, op, inputs, attributes):
        with open({asked!r}, "a") as file:
            file.write("x")
        outputs = super().run(op, inputs, attributes)
        return [outputs[0] + 1, *outputs[1:]] if outputs[0].dtype == "f2" else outputs
"""

SAID = ("verdict", "sentence", "claim", "exit_code", "counts", "by_reading", "precision_reached")


@pytest.fixture
def asked(tmp_path):
    """How often the backend was asked since the last time."""
    file = tmp_path / "asked"
    file.touch()

    def count():
        number = file.stat().st_size
        os.truncate(file, 0)
        return number

    return count


@pytest.fixture
def adapter(tmp_path, asked):
    file = tmp_path / "mine.py"
    file.write_text(ADAPTER.format(asked=str(tmp_path / "asked")))
    return file


@pytest.fixture
def check(small_suite, adapter):
    """Runs ``conformance check`` on the small suite; a vector of seven asked is failed."""

    def run(report, *more):
        words = ["check", "--suite", str(small_suite.path), "--out", str(report)]
        words += ["--executor", "inline"]  # how it is called is of no account here, and costs time
        return CliRunner().invoke(main, [*words, "--backend", f"{adapter}:Mine", *map(str, more)])

    return run


@pytest.fixture
def whole(check, tmp_path):
    """The log of a run that nothing disturbed."""
    assert check(tmp_path / "whole").exit_code == 1
    return tmp_path / "whole" / "run.jsonl"


def put(folder, content):
    folder.mkdir(parents=True)
    (folder / "run.jsonl").write_bytes(content)
    return folder / "run.jsonl"


def same(log, whole):
    """Whether two logs say the same, but for when."""
    one, other = read(log), read(whole)
    assert one.problems == other.problems == ()
    assert [(r.id, r.status, r.message) for r in one.results] == [
        (r.id, r.status, r.message) for r in other.results
    ]
    assert one.findings == other.findings
    assert one.readings == other.readings
    assert {name: one.footer[name] for name in SAID} == {name: other.footer[name] for name in SAID}
    return True


class TestGoesOn:
    def test_after_any_line_and_within_any(self, check, whole, asked, tmp_path, exhaustive):
        lines = whole.read_bytes().splitlines(keepends=True)
        assert len(lines) == 1 + 8 + 1 + 1
        asked()
        for there in range(1, len(lines)):
            kept = b"".join(lines[:there])
            results = b"".join(lines[: min(there, 9)])
            within = (lines[there][: len(lines[there]) // 2], lines[there][:-1])
            for more in (b"", *within) if exhaustive else within[there % 2 :][:1]:
                log = put(tmp_path / f"{there}-{len(more)}", kept + more)
                shown = check(log.parent, "--resume")
                assert shown.exit_code == 1
                assert f"{min(there, 9) - 1} of 8 vectors are done" in shown.stderr
                assert log.read_bytes().startswith(results)
                assert same(log, whole)
                # The last of the eight is of level should and is asked of nobody. The fourth
                # and the seventh are negative tests, beside which their valid cases are asked.
                # The one that fails is asked again.
                done = there - 1
                fails = [result.status is Status.FAIL for result in read(whole).results]
                again = any(fails[done:])
                assert asked() == max(0, 7 - done) + (done < 4) + (done < 7) + again
                page = (log.parent / "index.html").read_text()
                assert CliRunner().invoke(main, ["report", str(log)]).exit_code == 0
                assert (log.parent / "index.html").read_text() == page

    def test_where_there_is_nothing_it_begins(self, check, whole, tmp_path):
        header = whole.read_bytes().splitlines()[0]
        for name, content in (("empty", b""), ("half", header[:100]), ("line", header)):
            log = put(tmp_path / name, content)
            shown = check(log.parent, "--resume")
            assert shown.exit_code == 1
            assert "nothing to resume" in shown.stderr
            assert same(log, whole)
        shown = check(tmp_path / "new", "--resume")
        assert "starting a new run" in shown.stderr
        assert same(tmp_path / "new" / "run.jsonl", whole)

    def test_with_a_shuffled_shard(self, check, tmp_path):
        options = ("--shuffle", 5, "--shard", "2/3", "--level", "should")
        check(tmp_path / "a", *options)
        whole = tmp_path / "a" / "run.jsonl"
        cut = b"".join(whole.read_bytes().splitlines(keepends=True)[:2])
        log = put(tmp_path / "b", cut)
        check(log.parent, *options, "--resume")
        assert same(log, whole)

    def test_from_python(self, small_suite, tmp_path):
        calls = []

        def mine(op, inputs, attributes):
            calls.append(op)
            return [o.astype(o.dtype) for o in conformance.reference(op, inputs, attributes)]

        log = tmp_path / "run.jsonl"

        class Halt(Exception):
            pass

        with LogWriter(log) as writer:

            def see(event):
                writer.write(event)
                if len(calls) == 3:
                    raise Halt

            with pytest.raises(Halt):
                conformance.check(small_suite, mine, on_event=see)
        earlier = read(log)
        calls.clear()
        run = conformance.check(small_suite, mine, earlier=earlier)
        assert len(calls) == 7 - 3 + 2  # the valid cases beside the negative tests
        assert len(run.results) == 8
        assert run.header["started"] == earlier.header["started"]
        calls.clear()
        assert conformance.check(small_suite, mine, earlier=run.log).log is run.log
        assert calls == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX processes")
@pytest.mark.parametrize(("first", "then"), tiers.first([(3, 2), (1, 3), (2, 1)]))
def test_the_number_of_processes_may_be_another(check, whole, tmp_path, first, then, monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "again"
    check(folder, "--executor", "process", "-j", first)
    log = folder / "run.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:4]))
    shown = check(folder, "--executor", "process", "-j", then, "--resume")
    assert "3 of 8 vectors are done" in shown.stderr
    run = read(log)
    assert [(r.id, r.status) for r in run.results] == [
        (r.id, r.status) for r in read(whole).results
    ]
    assert run.complete
    assert run.header["options"]["jobs"] == first


class TestComplete:
    def test_there_is_nothing_to_resume(self, check, whole, asked):
        before = whole.read_bytes()
        page = whole.with_name("index.html")
        shown_before = page.read_text()
        page.unlink()
        asked()
        shown = check(whole.parent, "--resume")
        assert shown.exit_code == 1
        assert shown.stderr.startswith("nothing to resume: the run is complete")
        assert "NOT conformant" in shown.stdout.splitlines()[-1]
        assert whole.read_bytes() == before
        assert asked() == 0
        # A run that is killed after its footer has no page yet.
        assert page.read_text() == shown_before

    def test_a_complete_log_of_another_run_is_no_answer(self, check, whole):
        before = whole.read_bytes()
        shown = check(whole.parent, "--resume", "--level", "should")
        assert shown.exit_code == 2
        assert 'options.level: "must", not "should"' in shown.stderr
        assert whole.read_bytes() == before


class TestAnotherFile:
    def test_a_changed_backend_is_another_one(self, check, whole, adapter):
        """Nothing says so but the file: its name and version are what they were."""
        before = whole.read_bytes()
        adapter.write_text(adapter.read_text() + "\n# changed\n")
        result = check(whole.parent, "--resume")
        assert result.exit_code == 2
        assert "backend.sha256" in result.stderr
        assert whole.read_bytes() == before


class TestKnownFailures:
    """The gate of the run that goes on is the gate of the run that began."""

    KNOWN = "known:\n  - {vectors: [ID], reason: half is wrong, expires: 2037-12-31}\n"

    @pytest.fixture
    def gated(self, check, whole, tmp_path):
        """The log of a whole run with known failures, the options that give them, the file."""
        file = tmp_path / "known.yaml"
        (failed,) = (r.id for r in read(whole).results if r.status == "fail")
        file.write_text(self.KNOWN.replace("ID", failed))
        options = ("--known-failures", file)
        assert check(tmp_path / "gated", *options).exit_code == 0
        return tmp_path / "gated" / "run.jsonl", options, file

    def test_marks_stay(self, check, gated, tmp_path):
        log, options, _ = gated
        lines = log.read_bytes().splitlines(keepends=True)
        for there in range(1, len(lines)):
            cut = put(tmp_path / str(there), b"".join(lines[:there]))
            assert check(cut.parent, *options, "--resume").exit_code == 0
            assert same(cut, log)

    def test_another_file_of_the_same_name(self, check, gated, tmp_path):
        log, options, file = gated
        cut = put(tmp_path / "cut", b"".join(log.read_bytes().splitlines(keepends=True)[:5]))
        file.write_text("known: []\n")
        for one in (log, cut):
            before = one.read_bytes()
            shown = check(one.parent, *options, "--resume")
            assert shown.exit_code == 2
            assert "options.gate_sha256" in shown.stderr
            assert one.read_bytes() == before

    def test_what_expired_meanwhile_is_in_force_for_this_run(self, check, gated, tmp_path):
        log, options, _ = gated
        content = log.read_bytes().splitlines(keepends=True)
        header = json.loads(content[0])
        began = "2037-12-31T23:59:59+00:00"
        for day, code in ((began, 0), (began.replace("2037", "2038"), 1), ("nonsense", 0)):
            line = json.dumps(header | {"started": day}).encode() + b"\n"
            cut = put(tmp_path / day[:4], line)
            assert check(cut.parent, *options, "--resume").exit_code == code
            assert read(cut).problems == ()


class TestRefuses:
    @pytest.fixture
    def cut(self, whole, tmp_path):
        lines = whole.read_bytes().splitlines(keepends=True)
        return put(tmp_path / "cut", b"".join(lines[:4]) + b'{"event":"res')

    def refused(self, check, log, *more):
        before = {file: file.read_bytes() for file in log.parent.iterdir()}
        shown = check(log.parent, "--resume", *more)
        assert shown.exit_code == 2, shown.output
        assert "hint: " in shown.stderr
        assert {file: file.read_bytes() for file in log.parent.iterdir()} == before
        return shown.stderr

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            (["--level", "should"], 'options.level: "must", not "should"'),
            (["--precision", "exact"], 'options.precision.f16: "standard", not "exact"'),
            (["--op", "AvgPool-1"], 'options.ops: null, not ["AvgPool-1"]'),
            (["--only", "f32-"], 'options.only: [], not ["f32-"]'),
            (["--shuffle", "1"], "options.shuffle: null, not 1"),
            (["--shard", "1/2"], 'options.shard: null, not "1/2"'),
            (["--backend", "numpy"], 'backend.name: "mine", not "numpy"'),
        ],
    )
    def test_another_question(self, check, cut, more, says):
        stderr = self.refused(check, cut, *more)
        assert "is from a different run" in stderr
        assert says in stderr

    def test_no_case_is_evaluated_before(self, check, cut, tmp_path, monkeypatch):
        monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))
        assert 'suite.name: "small", not "smoke"' in self.refused(check, cut, "--suite", "smoke")
        assert not list(tmp_path.glob("cache/*/*"))

    def test_another_version_or_place_of_the_backend(self, check, cut, adapter):
        text = adapter.read_text()
        adapter.write_text(text.replace('"1.0"', '"1.1"'))
        # Python would take the bytecode of a file of the same size and second for that of this one.
        os.utime(adapter, (1, 1))
        assert 'backend.version: "1.0", not "1.1"' in self.refused(check, cut)
        adapter.write_text(text.replace('"threads": "1"', '"threads": "2"'))
        os.utime(adapter, (2, 2))
        assert 'environment.backend.threads: "1", not "2"' in self.refused(check, cut)

    def test_threads_that_were_asked_for(self, check, cut, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "7")
        stderr = self.refused(check, cut)
        assert 'environment.variables.OMP_NUM_THREADS: null, not "7"' in stderr

    def test_vectors_that_the_run_does_not_ask(self, check, cut):
        content = cut.read_bytes()
        first = read(cut).results[0].id
        cut.write_bytes(content.replace(first.encode(), b"made-up"))
        assert "'made-up' first" in self.refused(check, cut)

    def test_a_log_that_is_damaged(self, check, cut, whole):
        lines = whole.read_bytes().splitlines(keepends=True)
        for content in (
            b"".join([*lines[:2], b"\n", *lines[2:4]]),
            b"".join([*lines[:3], lines[2]]),
            b"".join([*lines[:3], lines[-2], lines[4]]),
            whole.read_bytes().replace(b'"failed":1', b'"failed":0'),
            lines[1],
            b"not a log\n",
        ):
            cut.write_bytes(content)
            self.refused(check, cut)

    def test_without_a_report(self, small_suite):
        words = ["check", "--suite", str(small_suite.path), "--backend", "numpy", "--resume"]
        shown = CliRunner().invoke(main, words)
        assert shown.exit_code == 2
        assert "add --out DIR" in shown.stderr

    def test_a_folder_where_the_log_should_be(self, check, tmp_path):
        (tmp_path / "out" / "run.jsonl").mkdir(parents=True)
        shown = check(tmp_path / "out", "--resume")
        assert shown.exit_code == 2
        assert "not a file" in shown.stderr

    def test_a_log_that_changed_meanwhile(self, cut):
        earlier = read_unfinished(cut)
        cut.write_bytes(cut.read_bytes() + b"ult")
        before = cut.read_bytes()
        with pytest.raises(LogError, match="has changed"), LogWriter(cut, earlier=earlier):
            pass
        assert cut.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and locks")
class TestProcesses:
    """While there is a file ``hold``, the backend stops after as many answers as it says."""

    def start(self, small_suite, report, *more):
        backend = report.parent / "slow.py"
        backend.write_text(
            "import pathlib, time\n"
            "from conformance.backends.reference import Reference\n"
            f"hold = pathlib.Path({str(report.parent / 'hold')!r})\n"
            "class Slow(Reference):\n"
            "    answers = int(hold.read_text()) if hold.exists() else 0\n"
            "    def run(self, *question):\n"
            "        while not self.answers and hold.exists():\n"
            "            time.sleep(0.01)\n"
            "        self.answers -= 1\n"
            "        return super().run(*question)\n"
        )
        return subprocess.Popen(
            [
                *(sys.executable, "-c", "from conformance.cli import main; main()", "check"),
                *("--suite", small_suite.path, "--out", report),
                *("--backend", f"{backend}:Slow", *more),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, log, lines):
        deadline = time.monotonic() + 30
        while not (log.exists() and log.read_bytes().count(b"\n") >= lines):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    @pytest.mark.exhaustive
    def test_interrupted_again_and_again(self, small_suite, tmp_path):
        report = tmp_path / "report"
        log = report / "run.jsonl"
        hold = tmp_path / "hold"
        done = []
        # The fourth vector is a negative test, for which the valid case beside it is asked, too.
        for answers, lines in ((2, 3), (3, 5)):
            hold.write_text(str(answers))
            process = self.start(small_suite, report, "--resume")
            self.wait_for(log, lines)
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=30)
            assert process.returncode == 130
            assert "the same command with --resume" in stderr
            run = read(log)
            assert run.problems == ()
            assert run.footer["interrupted"]
            done.append(len(run.results))
        hold.unlink()
        process = self.start(small_suite, report, "--resume")
        stdout, stderr = process.communicate(timeout=60)
        assert process.returncode == 0
        assert f"{done[-1]} of 8 vectors are done" in stderr
        assert done == [2, 4]
        assert "reference" in stdout.splitlines()[-1]
        run = read(log)
        assert run.complete
        assert len(run.results) == 8

    @pytest.mark.exhaustive
    def test_only_one_process_writes_a_log(self, small_suite, tmp_path):
        report = tmp_path / "report"
        log = report / "run.jsonl"
        hold = tmp_path / "hold"
        hold.write_text("0")
        own = tmp_path / "own.xml"
        first = self.start(small_suite, report)
        self.wait_for(log, 1)
        page = report / "index.html"
        page.write_text("of the first")
        own.write_text("of the first")
        for more in ((), ("--resume",), ("--format", f"junit={own}")):
            second = self.start(small_suite, report, *more)
            _, stderr = second.communicate(timeout=30)
            assert second.returncode == 2
            assert "another process is writing" in stderr
            assert page.read_text() == own.read_text() == "of the first"
        hold.unlink()
        first.communicate(timeout=30)
        assert first.returncode == 0
        assert read(log).verdict == "conformant"
        assert json.loads(log.read_text().splitlines()[-1])["counts"]
