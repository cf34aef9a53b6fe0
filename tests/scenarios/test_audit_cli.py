"""``conformance suite audit``: the score it prints, and that a weak suite is not called strong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tiers
from click.testing import CliRunner, Result

from conformance.audit import audit_suite as audits
from conformance.cli import main
from conformance.specification import find_spec, mutants_of
from conformance.suite.store import Suite, open_suite
from conformance.suite.survivors import Partition

AVG, ADAPTIVE, MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"


def audit(*words: object) -> Result:
    return CliRunner().invoke(main, ["suite", "audit", *map(str, words)])


def counted(op: str) -> int:
    return sum(not fault.equivalent for fault in mutants_of(find_spec(op)))


class TestASmallSuite:
    """Five vectors notice few faults."""

    def test_is_incomplete(self, small_suite: Suite) -> None:
        shown = audit("--suite", small_suite.path)
        assert shown.exit_code == 1
        lines = shown.stdout.splitlines()
        assert lines[0] == f"suite small, sha256 {small_suite.digest[:16]}"
        for op in (AVG, ADAPTIVE, MAX):
            (line,) = (line for line in lines if line.startswith(f"{op}: "))
            noticed, of, share = re.fullmatch(
                rf"{op}: (\d+) of (\d+) \((.*)%\) mutants killed at level should", line
            ).groups()  # type: ignore[union-attr]
            assert int(of) == counted(op)
            assert 0 < int(noticed) < int(of)
            assert float(share) == round(100 * int(noticed) / int(of), 1)

    def test_the_first_missed_faults_are_named_and_the_rest_counted(
        self, small_suite: Suite
    ) -> None:
        shown = audit("--suite", small_suite.path, "--op", ADAPTIVE)
        (score,) = audits.audit(small_suite, [ADAPTIVE], processes=1, progress=lambda *_: None)
        assert len(score.missed) > 12
        for fault in score.missed[:12]:
            assert f"    survived: {fault.id}: {fault.description}\n" in shown.stdout
        assert f"    survived: {len(score.missed) - 12} more\n" in shown.stdout
        assert f"    survived: {score.missed[12].id}:" not in shown.stdout
        listed = re.findall(r"^    survived.*: ([a-z0-9-]+):", shown.stdout, re.M)
        assert len(set(listed)) == len(listed)

    def test_only_the_operators_that_are_asked_for(self, small_suite: Suite) -> None:
        shown = audit("--suite", small_suite.path, "--op", MAX, "--op", ADAPTIVE)
        assert [line.split(":")[0] for line in shown.stdout.splitlines() if "-8: " in line] == [
            MAX,
            ADAPTIVE,
        ]
        assert AVG not in shown.stdout

    @pytest.mark.exhaustive
    def test_several_processes_say_the_same(self, small_suite: Suite) -> None:
        one, two = (audit("--suite", small_suite.path, "-j", n) for n in (1, 2))
        assert two.exit_code == one.exit_code == 1
        assert two.stdout == one.stdout

    def test_verbose_lists_every_fault_with_how_many_vectors_notice_it(
        self, small_suite: Suite
    ) -> None:
        shown = audit("--suite", small_suite.path, "--op", AVG, "--verbose")
        for fault in mutants_of(find_spec(AVG)):
            text = f"equivalent: {fault.equivalent}" if fault.equivalent else fault.description
            line = re.search(
                rf"^ +(\d+) {re.escape(fault.id)}: {re.escape(text)}$", shown.stdout, re.M
            )
            assert line, fault.id
            assert int(line[1]) <= 1

    def test_holdout_tells_of_each_kind_in_both_suites(self, small_suite: Suite) -> None:
        shown = audit("--suite", small_suite.path, "--op", MAX, "--holdout")
        assert shown.exit_code == 1
        kinds = {fault.kind for fault in mutants_of(find_spec(MAX)) if not fault.equivalent}
        for suite in ("core", "smoke"):
            assert f"hold-out, {suite}: " in shown.stdout
        for kind in kinds:
            assert len(re.findall(rf"without {kind} ", shown.stdout)) == 2


class TestUsage:
    def test_an_unknown_operator(self, small_suite: Suite) -> None:
        shown = audit("--suite", small_suite.path, "--op", "AvgPol-1")
        assert shown.exit_code == 2
        assert "unknown operator of this suite 'AvgPol-1'" in shown.stderr
        assert "did you mean 'AvgPool-1'?" in shown.stderr

    def test_an_unknown_suite(self) -> None:
        shown = audit("--suite", "smokes")
        assert shown.exit_code == 2
        assert "smokes" in shown.stderr

    @pytest.mark.parametrize("words", [("-j", 0), ("--draw", 1), ("--level", "must"), ("extra",)])
    def test_wrong_options(self, words: tuple[object, ...]) -> None:
        assert audit(*words).exit_code == 2

    def test_help(self) -> None:
        shown = audit("--help")
        assert shown.exit_code == 0
        for word in ("--suite", "--op", "-j", "--holdout", "--parts", "--verbose", "Exits"):
            assert word in shown.stdout


class TestTheShippedSuite:
    @pytest.mark.exhaustive
    def test_core_is_complete(self) -> None:
        """Of one operator: tests/audit/test_committed_suite.py audits each."""
        op = "onnx.GlobalMaxPool-1"
        shown = audit("--op", op)
        assert shown.exit_code == 0, shown.output
        assert shown.stdout.startswith(f"suite core, sha256 {open_suite().digest[:16]}\n")
        n = counted(op) - len(open_suite().manifest.strength[op].parts.never_killed)
        assert f"{op}: {n} of {n} (100.0%) mutants killed at level should\n" in shown.stdout
        assert "survived" not in shown.stdout


class TestAPart:
    """What a backend of some types and ranks is asked, and how strong that is."""

    OP = "torch.max_pool-2"

    @pytest.mark.exhaustive
    def test_of_one_type_and_rank(self) -> None:
        shown = audit("--suite", "smoke", "--op", self.OP, "--dtypes", "f32", "--ranks", "4")
        assert shown.exit_code == 1
        lines = shown.stdout.splitlines()
        smoke = tiers.smoke().manifest.vectors
        asked = [one for one in smoke if one.op == self.OP and one.kind == "value"]
        own = [one for one in asked if one.dtype == "f32" and tiers.rank(one) == 4]
        assert 0 < len(own) < len(asked)
        assert lines[1].startswith(f"selected part: {len(own)} of {len(asked)} val")
        killed = {fault for one in own for fault in one.kills}
        assert lines[2].startswith(f"{self.OP}: {len(killed)} of {self.can_show()} (")

    def can_show(self) -> int:
        """How many mutants can show in f32 images."""
        parts = tiers.core().manifest.strength[self.OP].parts
        never = parts.survivors[Partition("f32", 4)].unkillable("should")
        return counted(self.OP) - len(never)

    def test_of_what_a_backend_declares(self, tmp_path: Path) -> None:
        file = tmp_path / "images.py"
        file.write_text(IMAGES)
        words = ("--suite", "smoke", "--op", "AdaptiveMaxPool-8")
        by_backend = audit(*words, "--backend", file)
        assert by_backend.exit_code == 1
        assert by_backend.stdout == audit(*words, "--dtypes", "f32", "--ranks", "4").stdout

    def test_its_parts_are_those_that_the_backend_declares(self, tmp_path: Path) -> None:
        file = tmp_path / "images.py"
        file.write_text(IMAGES)
        op = "AdaptiveMaxPool-8"
        shown = audit("--suite", "smoke", "--op", op, "--parts", "--backend", file)
        lines = shown.stdout.splitlines()
        smoke = open_suite("smoke")
        values = [one for one in smoke.manifest.of([op]) if one.reject is None]
        every = sorted({Partition(one.dtype, smoke.rank_of(one)) for one in values})
        own = [part for part in every if part.dtype == "f32" and part.rank == 4]
        left_out = len(every) - len(own)
        told = f"{op}, each part alone ({left_out} parts of other types and ranks left out):"
        listed = [one for one in lines[lines.index(told) + 1 :] if " killed, " in one]
        assert [one.strip().rsplit("%")[0].rsplit(None, 1)[0] for one in listed] == [
            str(part) for part in own
        ]

    def test_an_operator_with_nothing_in_it_is_named(self) -> None:
        words = ("--op", self.OP, "--op", "MaxPool-14", "--dtypes", "i64")
        shown = audit("--suite", "smoke", *words)
        assert f"it has no vectors of {self.OP}" in shown.stdout.splitlines()
        assert "MaxPool-14: " in shown.stdout

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (("--dtypes", "f33"), "there is no element type 'f33'"),
            (("--ranks", "4,x"), "there is no rank 'x'"),
            (("--ranks", "9"), "no vector of these operators is in the selected part"),
            (("--backend", "nosuch"), "nosuch"),
            (("--profile", "nosuch"), "none of these operators has a profile 'nosuch'"),
        ],
    )
    def test_wrong_words(self, words: tuple[str, ...], says: str) -> None:
        shown = audit("--suite", "smoke", "--op", self.OP, *words)
        assert shown.exit_code == 2
        assert says in shown.stderr
        assert "hint: " in shown.stderr


IMAGES = """
from conformance.backends import Capabilities


class Images:
    name, version = "images", "1"
    capabilities = Capabilities(dtypes=("f32",), ranks=(4,))

    def run(self, op, inputs, attributes):
        raise AssertionError("it is loaded, not run")
"""
