"""``conformance generate``: the same bytes each time, and never half a suite."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiers
import tiny
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.cli.generate import MAX_LISTED
from conformance.cli.generate import _print_suite as print_suite
from conformance.generate import drawn
from conformance.generate import suite as generation
from conformance.generate.suite import PartitionTask, PartitionVectors
from conformance.log.reader import read
from conformance.model import Vector
from conformance.specification import build, find_spec, mutants_of, spec_digest, violations
from conformance.suite import writer
from conformance.suite.lint import lint
from conformance.suite.origin import carried_origin
from conformance.suite.packing import Packer
from conformance.suite.store import Suite, open_suite
from conformance.suite.unreachable import Unreachable
from conformance.suite.writer import write_file, write_suite

# What must not matter: the order of sets, and a machine that calls itself a build server.
ODD = {"CI": "true", "PYTHONHASHSEED": "7"}


def generate(spec: Path, out: Path, *more: object) -> Result:
    """The command in this process, with fewer draws; the same cases are evaluated once.

    That they are the same in another process is tested with processes.
    """
    words = ["generate", "--op", str(spec), "--out", str(out), *map(str, more)]
    with pytest.MonkeyPatch.context() as patch:
        tiny.draw_few(patch)
        patch.setattr(PartitionTask, "run", evaluated)
        return CliRunner().invoke(main, words)


EVALUATED: dict[str, PartitionVectors] = {}
RUN = PartitionTask.run


def evaluated(task: PartitionTask) -> PartitionVectors:
    """The vectors of a partition, by what decides them."""
    key = (spec_digest(task.operator), task.partition, task.planned, task.seed, task.beside)
    if str(key) not in EVALUATED:
        EVALUATED[str(key)] = RUN(task)
    return EVALUATED[str(key)]


def process(code: str, *arguments: object, cwd: Path, **environment: str) -> subprocess.Popen[str]:
    """Python that runs some code in a folder, in a process group of its own.

    Tests that a shell runs in the background have Ctrl-C ignored, and their children too.
    """
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return subprocess.Popen(
        [sys.executable, "-c", listening + code, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write(tmp_path_factory.mktemp("spec"))


@pytest.fixture(scope="module")
def first(spec: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("first") / "suite"
    made = generate(spec, out)
    assert made.exit_code == 0, made.output
    return out


@pytest.fixture
def old(first: Path, tmp_path: Path) -> Path:
    """A suite that is already there."""
    shutil.copytree(first, tmp_path / "suite")
    return tmp_path / "suite"


class TestBytes:
    @pytest.mark.parametrize("processes", tiers.first([1, 2]))
    def test_are_the_same_in_another_process_and_in_several(
        self, spec: Path, first: Path, tmp_path: Path, processes: int
    ) -> None:
        shutil.copy(spec, tmp_path)
        words = ("generate", "--op", spec.name, "--out", "out", "-j", processes)
        started = process(tiny.MAIN, *words, cwd=tmp_path, **ODD)
        _, errors = started.communicate(timeout=120)
        assert started.returncode == 0, errors
        assert tiny.content(tmp_path / "out") == tiny.content(first)

    def test_differ_with_another_seed(self, spec: Path, first: Path, tmp_path: Path) -> None:
        assert generate(spec, tmp_path / "out", "--seed", 1).exit_code == 0
        one, other = open_suite(first).manifest, open_suite(tmp_path / "out").manifest
        assert one.seed == 0
        assert other.seed == 1
        drawn = [{e.id for e in m.vectors if e.reject is None} for m in (one, other)]
        assert len(drawn[0] & drawn[1]) < len(drawn[0])

    @pytest.mark.parametrize(
        ("differs", "words"),
        [
            ("core of seed 0, and the new one core of seed 1", ("--seed", 1)),
            ("core of seed 0, and the new one smoke of seed 0", ("--suite", "smoke")),
            ("core of seed 0, and the new one drawn of seed 0", ("--drawn", 5)),
        ],
    )
    def test_replace_another_suite_only_by_force(
        self, spec: Path, old: Path, differs: str, words: tuple[object, ...]
    ) -> None:
        before = tiny.content(old)
        refused = generate(spec, old, *words)
        assert refused.exit_code == 2
        assert "there is another suite, which would be lost" in refused.stderr
        assert differs in refused.stderr
        assert tiny.content(old) == before
        assert generate(spec, old, *words, "--force").exit_code == 0
        assert tiny.content(old) != before

    def test_of_one_operator_do_not_replace_those_of_two(self, old: Path, tmp_path: Path) -> None:
        other = tmp_path / "Other-1.yaml"
        other.write_text(tiny.TEXT.replace("op: Tiny-1", "op: Other-1"))
        refused = generate(other, old)
        assert refused.exit_code == 2
        assert "it holds Tiny-1, which the new one would not" in refused.stderr

    def test_smoke_is_the_part_of_core_with_its_name(
        self, spec: Path, first: Path, tmp_path: Path
    ) -> None:
        assert generate(spec, tmp_path / "out", "--suite", "smoke").exit_code == 0
        smoke = open_suite(tmp_path / "out").manifest
        assert smoke.name == "smoke"
        assert smoke.digest == open_suite(first).manifest.subset("smoke").digest


class TestSummary:
    def test_says_what_was_made(self, spec: Path, old: Path) -> None:
        shown = generate(spec, old)
        manifest = open_suite(old).manifest
        count = manifest.counts["Tiny-1"]
        assert f"core: {len(manifest.vectors)} vectors" in shown.output
        assert f"{count.value:5} value vectors, {count.reject:3} negative tests" in shown.output
        assert count.value > 20
        assert count.reject >= 4
        assert manifest.digest[:16] in shown.output
        killed = [fault for fault, kills in manifest.faults["Tiny-1"].items() if kills]
        mutants = mutants_of(find_spec(str(spec)))
        assert len(killed) > 0.8 * len(mutants)
        assert f", {len(killed)} of {len(mutants)} mutants killed" in shown.output

    def test_warns_of_a_low_mutation_score(
        self, spec: Path, first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        operator, suite = find_spec(str(spec)), open_suite(first)
        few = rewritten(tmp_path / "few", [one for one in suite.vectors() if one.case.reject])
        mutants = {fault.id for fault in mutants_of(operator) if not fault.equivalent}
        print_suite(few, {"Tiny-1": operator}, "core", few.path, 1.0)
        out, err = capsys.readouterr()
        assert f", 0 of {len(mutants)} mutants killed" in out
        assert f"{len(mutants)} mutants of Tiny-1 not killed: " in err
        named = [fault for fault in mutants if f" {fault}," in err]
        assert len(named) >= MAX_LISTED - 1
        assert f" and {len(mutants) - MAX_LISTED} more\n" in err
        every = f"conformance suite audit --suite {few.path} --op Tiny-1 --verbose"
        assert every in out
        # A folder called like a shipped suite is not what --suite smoke means.
        print_suite(few, {"Tiny-1": operator}, "smoke", Path("smoke"), 1.0)
        assert "conformance suite audit --suite ./smoke --op Tiny-1" in capsys.readouterr().out
        # A smoke suite makes no claim that survivors would weaken, so they are no warning.
        print_suite(few, {"Tiny-1": operator}, "smoke", few.path, 1.0)
        out, err = capsys.readouterr()
        assert "survive" not in err
        (line,) = [one for one in out.splitlines() if one.startswith("    survived: ")]
        assert {fault for fault in mutants if f" {fault}," in line} == set(named)
        assert line.endswith(f" and {len(mutants) - MAX_LISTED} more")
        assert every in out

    def test_a_suite_that_kills_all_that_show_is_not_warned_of(self, tmp_path: Path) -> None:
        words = ["generate", "--op", "onnx.GlobalMaxPool-1", "--out", str(tmp_path / "out")]
        shown = CliRunner().invoke(main, words)
        assert shown.exit_code == 0, shown.output
        strength = open_suite(tmp_path / "out").manifest.strength["onnx.GlobalMaxPool-1"]
        mutants = mutants_of(find_spec("onnx.GlobalMaxPool-1"))
        shown_nowhere = {m.id for m in mutants if m.equivalent} | {*strength.parts.never_killed}
        killed = len(mutants) - len(shown_nowhere)
        assert f", {killed} of {len(mutants)} mutants killed" in shown.stdout
        assert "survived" not in shown.stdout
        assert "not killed" not in shown.stderr

    @pytest.mark.exhaustive
    def test_an_operator_is_made_once_however_often_it_is_named(
        self, spec: Path, first: Path, tmp_path: Path
    ) -> None:
        assert generate(spec, tmp_path / "out", "--op", spec).exit_code == 0
        assert tiny.content(tmp_path / "out") == tiny.content(first)


def rewritten(folder: Path, vectors: list[Vector]) -> Suite:
    """A suite of some vectors, of which no kills are known."""
    operator = find_spec(str(tiny.write(folder.parent)))
    return write_suite(
        folder,
        [(vector, ("core",)) for vector in vectors],
        name="core",
        seed=0,
        versions={},
        strength={operator.op: Unreachable()},
        bases=[carried_origin(operator)],
    )


def draw(spec: Path, out: Path, count: int, *more: object) -> Result:
    words = ["generate", "--op", str(spec), "--out", str(out), "--drawn", str(count)]
    return CliRunner().invoke(main, [*words, *map(str, more)])


@pytest.fixture
def small_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn, "MAX_VECTORS", 20)


@pytest.mark.usefixtures("small_containers")
class TestDrawn:
    """As many vectors as are asked for, without selection, in a packed suite."""

    def test_it_has_so_many_and_the_negative_tests(self, spec: Path, tmp_path: Path) -> None:
        made = draw(spec, tmp_path / "out", 50)
        assert made.exit_code == 0, made.output
        suite = open_suite(tmp_path / "out")
        pieces = [len(piece) for piece in suite.manifest.chunks]
        assert pieces[:3] == [20, 20, 10]
        assert f"50 value vectors, {pieces[3]:3} negative tests" in made.output
        assert pieces[3] >= 4
        assert suite.name == "drawn"
        assert suite.verify() == lint(suite) == ()
        tiny_spec = find_spec(str(spec))
        for vector in suite.vectors():
            if vector.case.reject is None:
                assert violations(tiny_spec, vector.case) == ()
                assert build(tiny_spec, vector.case).edges == vector.edges

    def test_a_run_of_it_makes_no_claim(self, tmp_path: Path) -> None:
        draw(Path("AdaptiveAvgPool-8"), tmp_path / "out", 20)
        words = ["check", "--suite", str(tmp_path / "out"), "--backend", "reference"]
        shown = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "report")])
        assert shown.exit_code == 0, shown.output
        run = read(tmp_path / "report" / "run.jsonl")
        assert run.verdict == "no failures"
        assert run.footer is not None
        assert "whose mutation score is not measured" in run.footer["sentence"]
        assert run.footer["strength"]["parts"] == []

    def test_the_same_bytes_in_any_number_of_processes(
        self, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for processes in (1, 2):
            assert draw(spec, tmp_path / str(processes), 50, "-j", processes).exit_code == 0
        assert tiny.content(tmp_path / "1") == tiny.content(tmp_path / "2")
        assert draw(spec, tmp_path / "seed", 50, "--seed", 1).exit_code == 0
        one, other = (open_suite(tmp_path / name).manifest for name in ("1", "seed"))
        ids = [{e.id for e in manifest.listed if e.kind == "value"} for manifest in (one, other)]
        assert not ids[0] & ids[1]

    @pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(errno.ENOSPC, "No space left")])
    def test_an_interrupted_run_is_resumed(
        self, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Any
    ) -> None:
        assert draw(spec, tmp_path / "whole", 50).exit_code == 0
        whole, made = drawn.encode_container, []

        def failing(vectors: Any) -> bytes:
            made.append(vectors)
            if len(made) == 3:
                raise error
            return whole(vectors)

        monkeypatch.setattr(drawn, "encode_container", failing)
        stopped = draw(spec, tmp_path / "out", 50)
        assert stopped.exit_code not in (0, 1, 3), stopped.output
        assert "to resume: run the same command again" in stopped.output
        assert not (tmp_path / "out").exists()
        # Another question does not go on with it.
        shutil.copytree(tmp_path / ".out.new", tmp_path / ".other.new")
        assert "resuming" not in draw(spec, tmp_path / "other", 51).output
        made.clear()
        monkeypatch.setattr(drawn, "encode_container", whole)
        resumed = draw(spec, tmp_path / "out", 50)
        assert resumed.exit_code == 0
        assert "resuming: 2 of 4 containers are there" in resumed.output
        assert tiny.content(tmp_path / "out") == tiny.content(tmp_path / "whole")
        assert not (tmp_path / ".out.new").exists()

    def test_a_container_that_was_damaged_meanwhile_is_refused(
        self, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def stop(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Packer, "finish", stop)
            draw(spec, tmp_path / "out", 20)
        file = tmp_path / ".out.new" / "Tiny-1" / "00001.zip"
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        refused = draw(spec, tmp_path / "out", 20)
        assert refused.exit_code == 2, refused.output
        assert "00001.zip" in refused.output

    def test_it_selects_nothing(self, spec: Path, tmp_path: Path) -> None:
        refused = draw(spec, tmp_path / "out", 20, "--suite", "smoke")
        assert refused.exit_code == 2
        assert "--drawn cannot be combined with --suite" in refused.output


class TestRefusals:
    @pytest.fixture(autouse=True)
    def no_work(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each of these must be said before any work begins."""

        def began(*arguments: object, **options: object) -> None:
            raise AssertionError("work began")

        monkeypatch.setattr(generation, "make_definitions", began)

    def test_a_folder_that_is_no_suite(self, spec: Path, tmp_path: Path) -> None:
        (tmp_path / "thesis.tex").write_text("\\begin{document}")
        shown = generate(spec, tmp_path)
        assert shown.exit_code == 2
        assert "'thesis.tex'" in shown.stderr
        assert "hint: name a new or an empty folder" in shown.stderr
        assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]

    @pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
    def test_a_folder_that_cannot_be_written(self, spec: Path, tmp_path: Path) -> None:
        (tmp_path / "closed").mkdir(mode=0o500)
        shown = generate(spec, tmp_path / "closed" / "new" / "suite")
        assert shown.exit_code == 2
        assert "nothing can be written in" in shown.stderr

    def test_a_file_in_its_place(self, spec: Path) -> None:
        assert generate(spec, spec).exit_code == 2

    @pytest.mark.parametrize(
        ("name", "hint"),
        [
            ("avgpool-1", "AvgPool-1"),
            ("AvgPol-1", "AvgPool-1"),
            ("Frobnicate-1", "known: Adaptive"),
            ("Conv-1", "onnx.Conv-1"),
        ],
    )
    def test_an_unknown_operator(self, tmp_path: Path, name: str, hint: str) -> None:
        shown = CliRunner().invoke(main, ["generate", "--op", name, "--out", str(tmp_path / "o")])
        assert shown.exit_code == 2
        assert f"there is no operator '{name}'" in shown.stderr
        assert hint in shown.stderr
        assert not (tmp_path / "o").exists()

    def test_a_specification_with_errors_shows_all_with_their_places(self, tmp_path: Path) -> None:
        text = tiny.TEXT.replace("step == 1", "strides == 1").replace("value:", "valu:")
        file = tiny.write(tmp_path, text)
        shown = generate(file, tmp_path / "out")
        assert shown.exit_code == 2
        lines = text.splitlines()
        for part in ("valu:", "strides"):
            line = next(number for number, text in enumerate(lines, 1) if part in text)
            assert f"{file}:{line}:{lines[line - 1].index(part) + 1}: " in shown.stderr
        assert "Traceback" not in shown.stderr

    def test_a_specification_that_is_not_there(self, tmp_path: Path) -> None:
        shown = generate(tmp_path / "none.yaml", tmp_path / "out")
        assert shown.exit_code == 2
        assert "none.yaml" in shown.stderr

    def test_two_specifications_of_one_operator(self, spec: Path, tmp_path: Path) -> None:
        shown = generate(spec, tmp_path / "out", "--op", tiny.write(tmp_path))
        assert shown.exit_code == 2
        assert "both specify Tiny-1" in shown.stderr

    @pytest.mark.parametrize(
        "option", [("--seed", -1), ("-j", 0), ("--suite", "huge"), ("--count", 0), ("--rank", 3)]
    )
    def test_wrong_options(self, spec: Path, tmp_path: Path, option: tuple[object, ...]) -> None:
        assert generate(spec, tmp_path / "out", *option).exit_code == 2


class TestInterruption:
    def test_a_full_disk_leaves_the_old_suite(
        self, spec: Path, old: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = tiny.content(old)
        write, left = write_file, [3]

        def full(file: Path, data: bytes) -> None:
            left[0] -= 1
            if not left[0]:
                raise OSError(errno.ENOSPC, "No space left on device")
            write(file, data)

        with monkeypatch.context() as patch:
            patch.setattr(writer, "write_file", full)
            shown = generate(spec, old, "--seed", 5, "--force")
        assert shown.exit_code == 2
        assert "No space left on device" in shown.stderr
        assert "the old suite is unchanged" in shown.stderr
        assert tiny.content(old) == before
        assert [folder.name for folder in old.parent.iterdir()] == [old.name]

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
    @pytest.mark.parametrize("name", tiers.first(["SIGINT", "SIGKILL"]))
    def test_a_signal_while_files_are_written(self, spec: Path, old: Path, name: str) -> None:
        before = tiny.content(old)
        code = f"""
import os, signal
from conformance.suite import writer
write, written = writer.write_file, []
def stop(file, data):
    write(file, data)
    written.append(file)
    if len(written) == 3:
        os.kill(os.getpid(), signal.{name})
writer.write_file = stop
{tiny.MAIN}
"""
        words = ("generate", "--op", spec, "--out", old, "--seed", 5, "--force")
        started = process(code, *words, cwd=old.parent)
        _, errors = started.communicate(timeout=60)
        killed = name == "SIGKILL"
        assert started.returncode == (-signal.SIGKILL if killed else 130)
        assert errors == ("" if killed else "interrupted\n")
        assert tiny.content(old) == before
        assert open_suite(old).verify() == ()

        again = generate(spec, old)
        assert again.exit_code == 0
        assert tiny.content(old) == before
        assert not [path for path in old.parent.iterdir() if path.name.startswith(".suite")]

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
    @pytest.mark.parametrize("name", tiers.first(["SIGTERM", "SIGINT", "SIGHUP"]))
    def test_a_signal_ends_all_processes_at_once(self, tmp_path: Path, name: str) -> None:
        code = f"""
from conformance.cli.progress import Progress
Progress.at = lambda self, *what: print("working", flush=True)
{tiny.MAIN}
"""
        words = ("generate", "--op", "AvgPool-1", "--out", "out", "--seed", 1, "-j", 2)
        started = process(code, *words, cwd=tmp_path)
        assert started.stdout.readline() == "working\n"
        time.sleep(1)
        asked = time.monotonic()
        if name == "SIGINT":
            os.killpg(started.pid, signal.SIGINT)  # a terminal sends it to every process
        else:
            started.send_signal(signal.Signals[name])
        _, errors = started.communicate(timeout=30)
        assert started.returncode == 128 + signal.Signals[name]
        assert errors == "interrupted\n"
        assert time.monotonic() - asked < 10
        assert not (tmp_path / "out").exists()
        assert _gone(started.pid)

    def test_a_process_that_dies_is_an_error_with_a_hint(
        self, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tiny.draw_few(monkeypatch)
        monkeypatch.setattr(generation, "PartitionTask", Deadly)
        shown = CliRunner().invoke(
            main, ["generate", "--op", str(spec), "--out", str(tmp_path / "out"), "-j", "2"]
        )
        assert shown.exit_code == 2
        assert "a process ended while it worked on Tiny-1 f" in shown.stderr
        assert "hint: " in shown.stderr
        assert not (tmp_path / "out").exists()


class Deadly(PartitionTask):
    """Work that ends its process, as a machine without memory would."""

    def run(self) -> PartitionVectors:
        os._exit(1)


def _gone(group: int, wait: Callable[[float], None] = time.sleep) -> bool:
    """Whether no process of a group is left, or soon will be."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        wait(0.05)
    return False
