"""A suite's own specifications: they win, and nothing else ever takes their place in silence."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance import check
from conformance.backends.reference import Reference
from conformance.cli import main
from conformance.core.operator import Operator
from conformance.errors import SuiteError
from conformance.model import Case
from conformance.specification import build, document_of, find_spec, mutants_of, spec_digest
from conformance.suite.lint import lint
from conformance.suite.origin import Origin, OriginFiles, carried_origin, shipped_origin
from conformance.suite.store import Suite, open_suite
from conformance.suite.writer import write_suite

OWN = "my.AvgPool-1"
TEXT = f"""\
extends: AvgPool-1
op: {OWN}
document: {{title: Ours, url: "https://example.org/ours"}}
attributes: {{strides: null, step: {{as: strides, per: axis, min: 1}}}}
"""


HALF = 'define: {result: {finish: "total / (2 * where(counts_pads, prod(taps), terms))"}}'


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    """The specification, whose file is gone."""
    file = tmp_path_factory.mktemp("own") / f"{OWN}.yaml"
    file.write_text(TEXT)
    spec = find_spec(str(file))
    file.unlink()
    return spec


def case(op: str = OWN, **changes: object) -> Case:
    attributes = {"kernel": [2], "pads_begin": [0], "pads_end": [0], "exclude-pad": False}
    attributes["strides" if op == "AvgPool-1" else "step"] = [1]
    return Case(op, {"T": "f32"}, {"data": (1, 1, 4)}, {**attributes, **changes}, pattern="ramp")


def written(folder: Path, spec: Operator, basis: OriginFiles | None, **changes: object) -> Suite:
    vector = build(spec, case(spec.op, **changes))
    bases = [] if basis is None else [basis]
    pairs = [(vector, ("core",))]
    return write_suite(folder, pairs, name="own", seed=0, versions={}, bases=bases)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, own: Operator) -> Suite:
    folder = tmp_path_factory.mktemp("made") / "suite"
    return written(folder, own, carried_origin(own))


@pytest.fixture
def suite(tmp_path: Path, made: Suite) -> Suite:
    """A copy that a test may spoil."""
    return open_suite(shutil.copytree(made.path, tmp_path / "suite"))


def file_of(suite: Suite) -> Path:
    return suite.path / "specifications" / f"{OWN}.yaml"


def relisted(suite: Suite, text: str) -> Path:
    """The suite with another text in place of the carried file, which the manifest lists."""
    file, manifest = file_of(suite), suite.path / "manifest.json"
    before = sha256(file.read_bytes()).hexdigest()
    file.write_text(text)
    listed = manifest.read_text()
    assert listed.count(before) == 1
    manifest.write_text(listed.replace(before, sha256(file.read_bytes()).hexdigest()))
    return suite.path


class TestCarried:
    def test_what_is_read_is_what_was_written(self, suite: Suite, own: Operator) -> None:
        assert list(suite.specs) == [OWN]
        read = suite.specs[OWN]
        assert spec_digest(read) == spec_digest(own)
        assert (read.summary, document_of(read)) == (own.summary, document_of(own))
        assert read.data == own.data
        assert "extends" not in read.data
        assert read.spelled.keys() >= {"step", "kernel"}
        wanted, found = mutants_of(own), suite.specs.faults(OWN)
        assert len(wanted) > 500
        assert found == wanted

    def test_the_file_is_listed_and_follows_the_published_schema(self, suite: Suite) -> None:
        listed = json.loads((suite.path / "manifest.json").read_text())["specifications"]
        assert listed == {OWN: {"specification": sha256(file_of(suite).read_bytes()).hexdigest()}}
        assert lint(suite) == ()

    def test_every_command_knows_the_operator(self, suite: Suite, tmp_path: Path) -> None:
        at = ("--suite", str(suite.path))
        for words in (
            ("suite", "audit", *at),
            ("suite", "coverage", *at),
            ("show", "f32", *at),
            ("spec", "show", OWN, *at),
            ("spec", "docs", *at, "--out", str(tmp_path / "pages")),
        ):
            found = CliRunner().invoke(main, words)
            assert found.exit_code == (1 if words[0] == "suite" else 0), found.output
            assert OWN in found.output + "".join(p.name for p in tmp_path.glob("pages/*"))

    def test_the_reference_answers_by_it(self, suite: Suite) -> None:
        assert check(suite, Reference(suite.specs), min_strength=0).conformant
        assert not check(suite, Reference(), min_strength=0).conformant

    def test_it_wins_over_the_shipped_one_of_its_name(self, tmp_path: Path) -> None:
        """Half of each mean, under the name of a shipped operator."""
        file = tmp_path / "AvgPool-1.yaml"
        changed = "".join(TEXT.replace(OWN, "AvgPool-1").splitlines(keepends=True)[:-1])
        file.write_text(f"{changed}{HALF}\n")
        spec = find_spec(str(file))
        made = written(tmp_path / "suite", spec, carried_origin(spec))
        file.unlink()
        assert spec_digest(made.specs["AvgPool-1"]) != spec_digest(find_spec("AvgPool-1"))
        assert made.specs.faults("AvgPool-1") == mutants_of(spec)
        assert not made.specs.made_from(find_spec("AvgPool-1"))
        assert check(made, Reference(made.specs), level="should", min_strength=0).conformant
        run = check(made, Reference(), level="should")
        assert [result.status for result in run.results] == ["fail"]
        (finding,) = run.findings
        assert finding.witness is not None
        assert float(finding.witness.got) == 2 * float(finding.witness.exact)

    def test_a_suite_that_replaces_another_leaves_none_of_its_files(
        self, suite: Suite, tmp_path: Path
    ) -> None:
        assert (suite.path / "specifications").is_dir()
        written(suite.path, find_spec("AvgPool-1"), shipped_origin(find_spec("AvgPool-1")))
        assert not (suite.path / "specifications").exists()

    def test_a_file_of_somebody_else_is_not_replaced(self, suite: Suite) -> None:
        spec = suite.specs[OWN]
        basis = carried_origin(spec)
        other = suite.path.with_name("other")
        written(other, find_spec("AvgPool-1"), None)
        mine = other / "specifications" / f"{OWN}.yaml"
        mine.parent.mkdir()
        mine.write_text("# mine")
        with pytest.raises(SuiteError, match="would be replaced, and is not of the suite there"):
            written(other, spec, basis)
        assert mine.read_text() == "# mine"
        mine.rename(mine.with_name("notes.yaml"))
        written(other, spec, basis)
        assert (mine.parent / "notes.yaml").read_text() == "# mine"


def test_recording_is_of_shipped_specifications(suite: Suite, tmp_path: Path) -> None:
    words = ["suite", "record", str(suite.path), "--out", str(tmp_path / "out")]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 2
    assert "my.AvgPool-1: not made from a shipped specification" in found.output
    assert not (tmp_path / "out").exists()


class TestDamage:
    @pytest.mark.parametrize("how", ["changed", "gone", "grown"])
    def test_a_file_that_is_not_the_listed_one(self, suite: Suite, how: str) -> None:
        file = file_of(suite)
        if how == "gone":
            file.unlink()
        else:
            file.write_text(file.read_text() + "# x" * (1 if how == "changed" else 100_000))
        found = CliRunner().invoke(
            main, ["check", "--backend", "numpy", "--suite", str(suite.path)]
        )
        assert found.exit_code == 2
        assert str(file) in found.output
        assert (
            "no such file" if how == "gone" else "not the one that the manifest"
        ) in found.output

    @pytest.mark.skipif(sys.platform == "win32", reason="symbolic links, pipes")
    @pytest.mark.parametrize("how", ["link", "pipe", "loop"])
    def test_a_file_that_is_none(self, suite: Suite, tmp_path: Path, how: str) -> None:
        file = file_of(suite)
        if how == "link":
            file.rename(tmp_path / "outside.yaml")
            file.symlink_to(tmp_path / "outside.yaml")
        else:
            file.unlink()
            os.mkfifo(file) if how == "pipe" else file.symlink_to(file)
        with pytest.raises(SuiteError, match=r"symbolic link|Symlink loop|no such file"):
            open_suite(suite.path)

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            (f"op: {OWN}", "op: Other-1", "specifies Other-1"),
            (f"op: {OWN}", f"op: {OWN}\nextends: AvgPool-1", "'extends' is not known"),
            ("title: Ours", 'title: "O\\e[31m"', "cannot be shown"),
            ("title: Ours", "title: *Ours", "not allowed"),
            ("T: [f16", "T: [f17", "f17"),
            ("finish: ", "finis: ", "finis"),
            ("finish: ", "finish: no_such + ", "unknown name 'no_such'"),
        ],
    )
    def test_a_listed_file_that_says_what_it_must_not(
        self, suite: Suite, old: str, new: str, message: str
    ) -> None:
        text = file_of(suite).read_text()
        assert old in text
        opened = open_suite(relisted(suite, text.replace(old, new, 1)))
        with pytest.raises(SuiteError) as caught:
            opened.specs.faults(OWN)
        assert message in str(caught.value)
        assert any(message in problem for problem in lint(opened))
        assert "\x1b" not in str(caught.value)

    @pytest.mark.parametrize(
        ("spoil", "message"),
        [
            (lambda table: table.clear(), "does not say what specification"),
            (lambda table: table.update({"../x": table[OWN]}), "no name of an operator"),
            (lambda table: table.update({OWN: {"digest": "x"}}), "digest: Expected `str` matching"),
            (
                lambda table: table.update({OWN: {}}),
                "either 'digest'",
            ),
            (lambda table: table.update({OWN: []}), "Expected `object`, got `array`"),
        ],
    )
    def test_a_manifest_that_lists_it_wrongly(
        self, suite: Suite, spoil: Callable[[dict[str, object]], None], message: str
    ) -> None:
        manifest = suite.path / "manifest.json"
        listed = json.loads(manifest.read_text())
        spoil(listed["specifications"])
        manifest.write_text(json.dumps(listed))
        with pytest.raises(SuiteError, match=message):
            open_suite(suite.path)

    def test_a_vector_that_does_not_fit_it(self, suite: Suite) -> None:
        text = file_of(suite).read_text().replace("name: data", "name: input")
        opened = open_suite(relisted(suite, text.replace("data[n, c, x]", "input[n, c, x]")))
        with pytest.raises(SuiteError, match=f"{OWN} has no input data"):
            list(opened.vectors())


class TestShipped:
    def test_it_is_named_by_its_digest(self, tmp_path: Path) -> None:
        spec = find_spec("AvgPool-1")
        made = written(tmp_path / "suite", spec, shipped_origin(spec))
        assert not (made.path / "specifications").exists()
        assert made.specs["AvgPool-1"] is spec
        assert made.specs.faults("AvgPool-1") == mutants_of(spec)
        assert made.specs.made_from(spec)
        assert lint(made) == ()

    def test_one_that_has_changed_since_judges_nothing(self, tmp_path: Path) -> None:
        spec = find_spec("AvgPool-1")
        made = written(tmp_path / "suite", spec, shipped_origin(spec))
        manifest = made.path / "manifest.json"
        manifest.write_text(manifest.read_text().replace(spec_digest(spec), "0" * 64))
        opened = open_suite(made.path)
        assert not opened.specs.made_from(spec)
        with pytest.raises(SuiteError, match="another specification than comes with this version"):
            check(opened, Reference())
        (problem,) = lint(opened)
        assert "another specification" in problem

    def test_it_is_named_where_nothing_is_given(self, tmp_path: Path) -> None:
        made = written(tmp_path / "suite", find_spec("AvgPool-1"), None)
        spec = find_spec("AvgPool-1")
        assert made.specs["AvgPool-1"] is spec
        assert made.manifest.specifications == {"AvgPool-1": Origin(spec_digest(spec))}

    def test_another_has_to_be_given(self, tmp_path: Path, own: Operator) -> None:
        with pytest.raises(SuiteError, match=f"what specification the vectors of {OWN} were made"):
            written(tmp_path / "suite", own, None)
        assert not (tmp_path / "suite").exists()
