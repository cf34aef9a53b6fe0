"""``check`` and ``generate`` killed at each step at which they write something.

Whatever step it is, what lies on the disk afterwards is what was there before, or whole, or refused
as not whole; and the same command, with ``--resume`` for a check, ends as if nothing had happened.
"""

from __future__ import annotations

import shutil
import sys
from functools import cache, partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
import tiers
import tiny

if sys.platform == "win32":
    pytest.skip("POSIX processes", allow_module_level=True)

from forked import Ended, command
from killed import KILLED, Steps

import conformance
from conformance.errors import EXIT_USAGE, SuiteError
from conformance.generate import suite as generation
from conformance.log.reader import read, read_unfinished
from conformance.report import page
from conformance.specification import load_whole
from conformance.suite.store import open_suite

WRONG = """
from conformance.backends.reference import Reference

class Wrong(Reference):
    name = "wrong"
    def run(self, op, inputs, attributes):
        return [output + 1 for output in super().run(op, inputs, attributes)]
"""

OP = "AdaptiveAvgPool-8"
"""Four vectors of the small suite; each is several steps."""

SAID = ("verdict", "sentence", "claim", "exit_code", "counts", "by_reading", "precision_reached")


@pytest.fixture(scope="module", autouse=True)
def prepared(small_suite: Any) -> None:
    """Templates, specifications and faults, made once for all processes that are forked."""
    run = conformance.check(small_suite, lambda op, inputs, attributes: [inputs[0]])
    assert not run.conformant
    assert page.render(run.log)


def killed_at(step: int, folder: Path, *words: object) -> Ended:
    """The command, killed at this step of writing below ``folder``; whole if it has fewer."""
    return command(*words, before=Steps(step, folder).watch)


class TestCheck:
    @pytest.fixture
    def words(self, small_suite: Any, tmp_path: Path) -> tuple[object, ...]:
        (tmp_path / "wrong.py").write_text(WRONG)
        backend = f"{tmp_path / 'wrong.py'}:Wrong"
        asked = ("--suite", small_suite.path, "--backend", backend, "--op", OP)
        return ("check", *asked, "--executor", "inline")

    def same(self, log: Path, whole: Path) -> bool:
        one, other = read(log), read(whole)
        assert one.complete
        assert [(r.id, r.status, r.message) for r in one.results] == [
            (r.id, r.status, r.message) for r in other.results
        ]
        assert one.findings == other.findings
        assert one.readings == other.readings
        return all(one.footer[name] == other.footer[name] for name in SAID)  # type: ignore[index]

    @pytest.mark.parametrize("earlier", tiers.first(["a green run", "nothing"]))
    def test_killed_at_each_step(
        self,
        words: tuple[object, ...],
        tmp_path: Path,
        small_suite: Any,
        earlier: str,
        exhaustive: bool,
    ) -> None:
        """At each, or in a plain run at every eighth: other steps for either state before."""
        assert command(*words, "--out", tmp_path / "whole").code == 1
        whole = tmp_path / "whole" / "run.jsonl"
        green = tmp_path / "green"
        if earlier != "nothing":
            right = ("check", "--suite", small_suite.path, "--backend", "reference")
            assert command(*right, "--executor", "inline", "--out", green).code == 0
        most = 0
        first = 1 if exhaustive or earlier == "nothing" else 4
        for step in range(first, 200, 1 if exhaustive else 8):
            report = tmp_path / str(step)
            if earlier != "nothing":
                shutil.copytree(green, report)
            ended = killed_at(step, report, *words, "--out", report)
            log, page = report / "run.jsonl", report / "index.html"
            if ended.code == 1:
                assert self.same(log, whole)
                break
            assert ended.code == KILLED, ended
            if log.exists() and read_unfinished(log) is not None:
                run = read(log)
                assert run.problems == ()
                mine = run.header["backend"]["name"] == "wrong"
                assert mine or earlier != "nothing"
                # A page is never of another run than the log beside it, nor greener.
                if mine and page.exists():
                    assert run.verdict == "not conformant"
                    assert "Not conformant" in page.read_text()
                if mine:
                    most = max(most, len(run.results))
                    assert run.verdict in ("cut short", "not conformant")
                else:
                    page.unlink(missing_ok=True)
                    log.unlink()  # else --resume rightly says that it is of another run
            else:
                assert not page.exists()
            again = command(*words, "--out", report, "--resume")
            assert again.code == 1, again
            assert self.same(log, whole)
            assert page.exists()
            leftover = {file.name for file in report.iterdir()} - {"run.jsonl", "index.html"}
            assert all(name.startswith(".index.html.") for name in leftover)
        assert 25 < step < 199
        assert most == 4

    @pytest.mark.exhaustive
    def test_a_resumed_run_killed_at_each_step_loses_nothing(
        self, words: tuple[object, ...], tmp_path: Path
    ) -> None:
        assert command(*words, "--out", tmp_path / "whole").code == 1
        whole = tmp_path / "whole" / "run.jsonl"
        lines = whole.read_bytes().splitlines(keepends=True)
        report = tmp_path / "report"
        report.mkdir()
        log = report / "run.jsonl"
        log.write_bytes(b"".join(lines[:2]) + lines[2][:50])
        there = 1
        for step in range(1, 200):
            # The same report again and again: each time one step further.
            ended = killed_at(step, report, *words, "--out", report, "--resume")
            if ended.code == 1:
                break
            assert ended.code == KILLED
            now = len(read(log).results)
            assert now >= there
            there = now
        assert step > 5
        assert self.same(log, whole)

    def test_a_merge_killed_at_each_step(
        self, words: tuple[object, ...], tmp_path: Path, exhaustive: bool
    ) -> None:
        logs = []
        for k in (1, 2):
            assert command(*words, "--shard", f"{k}/2", "--out", tmp_path / str(k)).code == 1
            logs.append(tmp_path / str(k) / "run.jsonl")
        before = [log.read_bytes() for log in logs]
        out = tmp_path / "out"
        merge = ("merge", *logs, "--out", out, "--suite", words[2])
        for step in range(1, 200, 1 if exhaustive else 6):
            ended = killed_at(step, out, *merge)
            if ended.code == 1:
                break
            assert ended.code == KILLED, ended
            assert not (out / "run.jsonl").exists() or read(out / "run.jsonl").complete
            assert [log.read_bytes() for log in logs] == before
            shutil.rmtree(out, ignore_errors=True)
        assert 15 < step < 199
        assert read(out / "run.jsonl").complete


@cache
def drawn_once(text: str, seed: int) -> list[Any]:
    """What ``generate`` selects for a specification."""
    spec, quiet = load_whole(text, "Tiny-1.yaml"), lambda *_: None
    with pytest.MonkeyPatch.context() as patch:
        tiny.draw_few(patch)
        return list(
            generation.make_definitions(
                [spec], root=seed, processes=1, progress=quiet, suite="smoke"
            )
        )


class TestGenerate:
    @pytest.fixture
    def spec(self, tmp_path: Path) -> Path:
        return tiny.write(tmp_path)

    @pytest.fixture
    def drawn(self, spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is drawn is drawn once; each process only writes it."""
        text = spec.read_text("utf-8")
        made = {seed: drawn_once(text, seed) for seed in (0, 1)}

        def make(operators: Any, *, root: int, **more: Any) -> Any:
            return made[root]

        monkeypatch.setattr(generation, "make_definitions", make)

    def whole(self, folder: Path) -> bool:
        """Whether a folder is a whole suite; it is refused where it is not."""
        try:
            suite = open_suite(folder)
        except SuiteError:
            refused = command("check", "--backend", "reference", "--suite", folder)
            assert refused.code == EXIT_USAGE, refused
            assert "hint: " in refused.stderr
            return False
        assert suite.verify() == ()
        return True

    @pytest.mark.parametrize("earlier", tiers.first(["a suite", "nothing"]))
    def test_killed_at_each_step(
        self, drawn: None, spec: Path, tmp_path: Path, earlier: str, exhaustive: bool
    ) -> None:
        generate = partial(self.words, spec)
        assert command(*generate(tmp_path / "old", 0)).code == 0
        assert command(*generate(tmp_path / "new", 1)).code == 0
        old, new = tiny.content(tmp_path / "old"), tiny.content(tmp_path / "new")
        assert old != new

        def left_at(step: int) -> str:
            """What a kill at this step leaves; nothing is killed if there are fewer."""
            place = tmp_path / "place"
            out = place / "suite"
            place.mkdir()
            if earlier != "nothing":
                shutil.copytree(tmp_path / "old", out)
                (out / "LICENSE").write_text("CC0")
            ended = killed_at(step, place, *generate(out, 1))
            if ended.code == 0:
                shutil.rmtree(place)
                return ""
            assert ended.code == KILLED, ended
            left = "refused"
            if self.whole(out):
                found = tiny.content(out)
                found.pop("LICENSE", None)
                assert found in (old, new)
                left = "old" if found == old else "new"
            again = command(*generate(out, 1))
            assert again.code == 0, again
            found = tiny.content(out)
            assert found.pop("LICENSE", None) == (None if earlier == "nothing" else b"CC0")
            assert found == new
            assert [path.name for path in place.iterdir()] == ["suite"]
            shutil.rmtree(place)
            return left

        def narrow(before: int, after: int) -> None:
            if after - before > 1 and left[before] != left[after]:
                middle = (before + after) // 2
                left[middle] = left_at(middle)
                narrow(before, middle)
                narrow(middle, after)

        left: dict[int, str] = {}
        for step in count(1, 1 if exhaustive else 9):
            left[step] = left_at(step)
            if not left[step]:
                break
        # Of a sample, where what is left changes: by halves, to one step and the next.
        for before, after in pairwise(sorted(left)):
            if left[after]:
                narrow(before, after)
        assert step > 12
        # Between two renames the old suite is aside, and the error says where.
        seen = {"refused"} if earlier == "nothing" else {"old", "refused", "new"}
        assert {*left.values()} == {"", *seen}

    def words(self, spec: Path, out: Path, seed: int) -> tuple[object, ...]:
        return (
            "generate",
            "--op",
            spec,
            "--out",
            out,
            "--force",
            "--seed",
            seed,
            "--suite",
            "smoke",
        )
