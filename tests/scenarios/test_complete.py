"""A suite with what it lacks: ``suite complete`` and ``check --complete``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import venvs
from click.testing import CliRunner, Result

from conformance.choices import SuiteName
from conformance.cli import complete_suite, main
from conformance.generate import completion
from conformance.suite.store import Suite, open_suite
from conformance.suite.writer import write_suite

OP = "onnx.GlobalMaxPool-22"
CODE = f"""\
from conformance.backends import Capabilities, Exclusion

class Whole:
    name, version = "whole", "1"
    capabilities = Capabilities(operators=("{OP}",))

    def run(self, op, inputs, attributes):
        axes = tuple(range(2, inputs[0].ndim))
        return [inputs[0].max(axis=axes, keepdims=True)]

class Narrow(Whole):
    name = "narrow"
    capabilities = Capabilities(
        operators=("{OP}",), dtypes=("f32",), ranks=(4,),
        excluding=(Exclusion("small images", "max(size) > 12 or N * C > 4"),),
    )

class Few(Whole):
    name = "few"
    capabilities = Capabilities(
        operators=("{OP}",), dtypes=("f32", "f16"), ranks=(3,),
        excluding=(Exclusion("no long rows", "max(size) > 31"),),
    )

class Odd(Narrow):
    # Wrong for images that the shipped suite does not ask a backend that declares so little.
    name = "odd"

    def run(self, op, inputs, attributes):
        data = inputs[0]
        if data.shape[-1] > 8:
            data = data[..., :8]
        return [data.max(axis=(2, 3), keepdims=True)]
"""


def invoke(*words: str) -> Result:
    return CliRunner().invoke(main, [*words])


def check(folder: Path, backend: str, *words: str) -> Result:
    named = f"{folder / 'mine.py'}:{backend}"
    return invoke("check", "--backend", named, "--executor", "inline", "--op", OP, *words)


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    """Few further cases are drawn, of which enough kill what the recorded ones leave."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completion, "POOL", 400)
        yield


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with backends, and a small suite of the recorded cases of one operator."""
    folder = tmp_path_factory.mktemp("complete")
    (folder / "mine.py").write_text(CODE)
    result = invoke("generate", "--op", OP, "--out", str(folder / "suite"))
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def completed(base: Path) -> tuple[Suite, Result]:
    asked = ["--suite", str(base / "suite"), "--complete", "--out", str(base / "report")]
    result = check(base, "Narrow", *asked)
    assert result.exit_code == 0, result.output
    return open_suite(base / "report" / "suite"), result


def test_without_it_the_strength_is_not_known(base: Path) -> None:
    result = check(base, "Narrow", "--suite", str(base / "suite"))
    told = " ".join(result.output.split())
    assert "Strength unknown" in told
    command = (
        f"conformance check --backend {base / 'mine.py'}:Narrow --suite {base / 'suite'} "
        f"--executor inline --op {OP} --complete --out its-report"
    )
    assert command in result.output.splitlines()
    assert "To add the missing vectors: conf" not in told.replace(command, "")


def test_the_command_to_be_pasted_comes_last_on_a_line_of_its_own(
    base: Path, tmp_path: Path
) -> None:
    """After what is said of known failures and requirements, in the console and on the page."""
    suite, known, needed = base / "suite", tmp_path / "known.yaml", tmp_path / "required.yaml"
    known.write_text(
        f"format: 1\nknown:\n- {{op: {OP}, dtypes: [f32], ranks: [4], reason: It passes.}}\n"
    )
    needed.write_text(f"format: 1\nrequire:\n- {{op: {OP}, dtypes: [f16]}}\n")
    words = ["--suite", str(suite), "--known-failures", str(known), "--require", str(needed)]
    result = check(base, "Narrow", *words, "--strict", "--out", str(tmp_path / "report"))
    assert result.exit_code == 1, result.output
    assert "which strict does not allow." in " ".join(result.output.split())
    assert "Required, but not supported: " in " ".join(result.output.split())
    (line,) = (one for one in result.output.splitlines() if "--complete" in one)
    assert line.startswith("conformance check --backend ")
    assert line.endswith(" --complete --out its-report")
    page = (tmp_path / "report" / "index.html").read_text()
    assert f'<pre class="advised" tabindex="0"><code>{line}</code></pre>' in page


def test_every_mutant_that_can_show_in_what_is_declared_is_killed(
    completed: tuple[Suite, Result],
) -> None:
    told = " ".join(completed[1].output.split())
    assert "CONFORMANT" in told
    assert "strength 100 %" in told


def test_the_vectors_of_the_suite_stay_as_they_are_and_the_claim_names_both_digests(
    base: Path, completed: tuple[Suite, Result]
) -> None:
    before, (after, result) = open_suite(base / "suite"), completed
    old = {entry.id: entry.sha256 for entry in before.manifest.listed}
    new = {entry.id: entry for entry in after.manifest.listed}
    assert {name: new[name].sha256 for name in old} == old
    added = [entry for name, entry in new.items() if name not in old]
    assert added
    assert all(entry.suites == (SuiteName.COMPLEMENT,) for entry in added)
    first, second = after.manifest.digests
    assert first == before.digest
    assert second != after.digest
    assert f"sha256 {first[:8]} + {second[:8]}" in " ".join(result.output.split())
    assert not after.verify()


def test_what_was_added_asks_what_is_declared_alone(completed: tuple[Suite, Result]) -> None:
    suite = completed[0]
    for entry in suite.manifest.vectors:
        if SuiteName.COMPLEMENT in entry.suites:
            shape = next(iter(suite.read(entry).case.shapes.values()))
            assert entry.dtype == "f32"
            assert len(shape) == 4
            assert max(shape[2:]) <= 12
            assert shape[0] * shape[1] <= 4


def test_an_audit_gives_no_score_of_what_may_not_show(base: Path) -> None:
    """Of some mutants only a search tells whether they can show in what is declared."""
    named = f"{base / 'mine.py'}:Narrow"
    shown = invoke("suite", "audit", "--suite", str(base / "suite"), "--op", OP, "--backend", named)
    assert shown.exit_code == 1, shown.output
    (line,) = (one for one in shown.stdout.splitlines() if one.startswith(f"{OP}: "))
    assert line.endswith(" mutants killed at level should")
    assert "%" not in shown.stdout
    assert "it is not known whether they can show in this part" in shown.stdout
    command = f"conformance suite complete --for {named} --op {OP} --out mine"
    assert command in shown.stdout.splitlines()


def test_an_audit_of_the_completed_suite_gives_its_score(
    base: Path, completed: tuple[Suite, Result]
) -> None:
    named = f"{base / 'mine.py'}:Narrow"
    shown = invoke(
        "suite", "audit", "--suite", str(completed[0].path), "--op", OP, "--backend", named
    )
    assert shown.exit_code == 0, shown.stdout
    assert "(100.0%) mutants killed at level should" in shown.stdout


def test_only_the_element_types_of_the_check_are_completed(base: Path) -> None:
    report = base / "f16"
    asked = ["--suite", str(base / "suite"), "--complete", "--out", str(report)]
    shown = check(base, "Few", *asked, "--dtypes", "f16")
    assert shown.exit_code == 0, shown.output
    new = [
        one
        for one in open_suite(report / "suite").manifest.listed
        if SuiteName.COMPLEMENT in one.suites
    ]
    assert {one.dtype for one in new} == {"f16"}
    assert f"conformant with {OP} in f16 of rank 3" in shown.stdout


def test_a_bug_within_it_is_found(base: Path, completed: tuple[Suite, Result]) -> None:
    assert check(base, "Odd", "--suite", str(completed[0].path)).exit_code == 1


def test_a_suite_that_lacks_nothing_is_used_as_it_is(
    base: Path, completed: tuple[Suite, Result]
) -> None:
    report = base / "whole"
    asked = ["--suite", str(completed[0].path), "--complete", "--out", str(report)]
    result = check(base, "Narrow", *asked)
    assert result.exit_code == 0, result.output
    assert "is already complete" in result.output


def test_where_no_vector_is_missing_it_is_written_once_for_its_strength(
    base: Path, completed: tuple[Suite, Result], tmp_path: Path
) -> None:
    """A suite that does not say yet what can show in what is declared gives no strength."""
    suite, out = tmp_path / "suite", tmp_path / "out"
    full = completed[0]
    vectors = [(one, ("core",)) for one in full.vectors()]
    kills = {one.id: one.kills for one in full.manifest.vectors}
    excused = {one.id: one.excused for one in full.manifest.vectors}
    strength = open_suite(base / "suite").manifest.strength
    write_suite(
        suite, vectors, name="full", seed=0, versions={},
        kills=kills, excused=excused, strength=strength, bases=full.specs.bases(),
    )  # fmt: skip
    named = f"{base / 'mine.py'}:Narrow"

    def complete(known: Path, new: Path) -> str:
        words = ("suite", "complete", str(known), "--for", named, "--op", OP, "--out", str(new))
        result = invoke(*words)
        assert result.exit_code == 0, result.output
        return result.stdout

    assert complete(suite, out).startswith("no vector to add; written with the mutants")
    assert len(open_suite(out)) == len(vectors)
    again = tmp_path / "again"
    assert complete(out, again) == (
        "nothing written: full has all vectors and states its strength\n"
    )
    assert not again.exists()


@pytest.mark.exhaustive  # of one type and rank, each test above shows it
def test_what_no_window_is_long_enough_for_is_not_asked(base: Path) -> None:
    """In each type and rank: tails of 32 are proven not to show, and the rest is killed."""
    asked = ["--suite", str(base / "suite")]
    assert "strength unknown" in " ".join(check(base, "Few", *asked).output.split())
    result = check(base, "Few", *asked, "--complete", "--out", str(base / "few"))
    assert result.exit_code == 0, result.output
    assert "strength 100 %, suite" in result.output


def test_what_is_declared_in_another_environment_is_completed(
    base: Path, completed: tuple[Suite, Result], tmp_path: Path
) -> None:
    """It is loaded there, where its library is, and lacks nothing that was added for its twin."""
    environment = venvs.make(tmp_path / "venv", version="1.0")
    (tmp_path / "there.py").write_text(f"import tinylib\n{CODE}")
    asked = ["--env", str(environment), "--complete", "--out", str(tmp_path / "report")]
    backend, suite = f"{tmp_path / 'there.py'}:Narrow", str(completed[0].path)
    result = invoke("check", "--backend", backend, "--suite", suite, "--op", OP, *asked)
    assert result.exit_code == 0, result.output
    assert "is already complete" in result.output
    assert "strength 100 %" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--out"),
        (("--out", "there", "--env", "there"), "there is no environment"),
        (("--out", "there", "--suite", "smoke"), "smoke suite, which makes no claim"),
    ],
)
def test_what_cannot_be_is_refused_at_once(
    words: tuple[str, ...], message: str, base: Path, tmp_path: Path
) -> None:
    asked = [str(tmp_path / word) if word == "there" else word for word in words]
    result = invoke("check", "--backend", f"{base / 'mine.py'}:Narrow", "--complete", *asked)
    assert result.exit_code == 2
    assert message in result.output


class TestByItself:
    """A check of the shipped suite that would be inconclusive."""

    @pytest.fixture
    def cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A folder for completed suites alone: vectors are evaluated once for all tests."""
        folder = tmp_path / "completed"
        monkeypatch.setattr(complete_suite, "KEPT", str(folder))
        monkeypatch.setattr(complete_suite, "MAX_SECONDS", 600.0)  # the machine may be slow
        return folder

    def test_is_completed_kept_and_made_again_where_a_file_is_damaged(
        self, base: Path, cache: Path, exhaustive: bool
    ) -> None:
        first = check(base, "Narrow")
        assert first.exit_code == 0, first.output
        assert "inconclusive so far: completing the suite for what " in first.output
        assert "strength 100 %" in first.output
        (kept,) = cache.iterdir()
        second = check(base, "Narrow")
        assert second.exit_code == 0
        assert "the suite was completed for this backend before" in second.output
        assert "completing the suite for what" not in second.output
        wrong = check(base, "Odd")  # what was kept finds a bug that the suite alone does not
        assert wrong.exit_code == 1
        assert "completed for this backend before" in wrong.output
        assert "NOT CONFORMANT" in wrong.output
        if exhaustive:
            next(kept.rglob("*.npz")).write_bytes(b"damaged")
            third = check(base, "Narrow")
            assert third.exit_code == 0
            assert "completing the suite for what" in third.output

    @pytest.mark.parametrize(
        ("seconds", "words", "said"),
        [
            (60.0, ("--no-complete",), ""),
            (0.1, (), "the suite is not complete after 0 s"),
        ],
    )
    def test_is_inconclusive_where_that_is_not_wanted_or_takes_too_long(
        self,
        base: Path,
        cache: Path,
        monkeypatch: pytest.MonkeyPatch,
        seconds: float,
        words: tuple[str, ...],
        said: str,
    ) -> None:
        monkeypatch.setattr(complete_suite, "MAX_SECONDS", seconds)
        result = check(base, "Narrow", *words)
        assert result.exit_code == 4
        assert said in result.output
        assert ("completing the suite for what " in result.output) == (not words)
        assert result.output.count("--complete --out its-report") == 1
        assert not cache.exists() or not [*cache.iterdir()]
