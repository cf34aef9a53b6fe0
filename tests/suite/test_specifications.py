"""A suite's own specifications: they win, and nothing else ever takes their place in silence."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Hashable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
import tiers
from click.testing import CliRunner

from conformance import check
from conformance.backends.reference import Reference
from conformance.cli import main
from conformance.errors import SuiteError
from conformance.model import Case
from conformance.spec import catalogue, loader
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec
from conformance.specification import build, find_spec, spec_digest
from conformance.suite.lint import lint
from conformance.suite.origin import Origin, OriginFiles, carried_origin, shipped_origin
from conformance.suite.store import Suite, open_suite
from conformance.suite.writer import write_suite

OWN = "my.AvgPool-1"
TEXT = f"""\
format: 1
extends: AvgPool-1
op: {OWN}
document: {{title: Ours, url: "https://example.org/ours"}}
attributes: {{step: {{as: strides}}}}
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> OpSpec:
    """The specification, whose file is gone."""
    file = tmp_path_factory.mktemp("own") / f"{OWN}.yaml"
    file.write_text(TEXT)
    spec = loader.load_spec(file)
    file.unlink()
    return spec


def case(op: str = OWN, **changes: object) -> Case:
    attributes = {"kernel": [2], "pads_begin": [0], "pads_end": [0], "exclude-pad": False}
    attributes["strides" if op == "AvgPool-1" else "step"] = [1]
    return Case(op, {"T": "f32"}, {"data": (1, 1, 4)}, {**attributes, **changes})


def written(folder: Path, spec: OpSpec, basis: OriginFiles | None, **changes: object) -> Suite:
    vector = build(spec, case(spec.op, **changes))
    bases = [] if basis is None else [basis]
    pairs = [(vector, ("core",))]
    return write_suite(folder, pairs, name="own", seed=0, versions={}, bases=bases)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, own: OpSpec) -> Suite:
    folder = tmp_path_factory.mktemp("made") / "suite"
    return written(folder, own, carried_origin(own, catalogue.mutants_of(own)))


@pytest.fixture
def suite(tmp_path: Path, made: Suite) -> Suite:
    """A copy that a test may spoil."""
    return open_suite(shutil.copytree(made.path, tmp_path / "suite"))


@pytest.fixture
def of_few(tmp_path: Path, own: OpSpec) -> Suite:
    """One that carries a mutant of each kind and rule: to read all takes a third of a second."""

    def features(one: Mutant) -> Iterator[Hashable]:
        yield from (one.kind, bool(one.excused_by), *one.change.replace)

    return written(
        tmp_path / "few",
        own,
        carried_origin(own, tiers.sample(catalogue.mutants_of(own), features)),
    )


def files(suite: Suite) -> tuple[Path, Path]:
    folder = suite.path / "specifications"
    return folder / f"{OWN}.yaml", folder / "faults" / f"{OWN}.yaml"


def relisted(suite: Suite, file: Path, text: str) -> Path:
    """The suite with another text in place of a carried file, which the manifest lists."""
    manifest = suite.path / "manifest.json"
    before = sha256(file.read_bytes()).hexdigest()
    file.write_text(text)
    listed = manifest.read_text()
    assert listed.count(before) == 1
    manifest.write_text(listed.replace(before, sha256(file.read_bytes()).hexdigest()))
    return suite.path


class TestCarried:
    def test_what_is_read_is_what_was_written(self, suite: Suite, own: OpSpec) -> None:
        assert list(suite.specs) == [OWN]
        read = suite.specs[OWN]
        assert spec_digest(read) == spec_digest(own)
        assert (read.summary, read.document) == (own.summary, own.document)
        assert read.source == own.source
        assert "extends" not in read.source
        assert read.lineage == (OWN,)
        wanted = catalogue.mutants_of(own)
        assert len(wanted) > 100
        found = suite.specs.faults(OWN)
        told = [
            (f.id, f.kind, f.description, f.where_to_look, f.threads, f.excused_by, f.equivalent)
            for f in wanted
        ]
        assert told == [
            (f.id, f.kind, f.description, f.where_to_look, f.threads, f.excused_by, f.equivalent)
            for f in found
        ]
        rules = [(one.change.replace, one.change.where) for one in wanted]
        assert rules == [(one.change.replace, one.change.where) for one in found]

    def test_the_files_are_listed_and_follow_the_published_schema(self, suite: Suite) -> None:
        listed = json.loads((suite.path / "manifest.json").read_text())["specifications"]
        specification, faults = (sha256(file.read_bytes()).hexdigest() for file in files(suite))
        assert listed == {OWN: {"specification": specification, "faults": faults}}
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
        changed = TEXT.replace(OWN, "AvgPool-1").replace("step: {as: strides}", "")
        file.write_text(f"{changed}rules: {{divisor: 2 * prod(taps)}}\n")
        spec = loader.load_spec(file)
        made = written(tmp_path / "suite", spec, carried_origin(spec, ()))
        file.unlink()
        assert spec_digest(made.specs["AvgPool-1"]) != spec_digest(find_spec("AvgPool-1"))
        assert made.specs.faults("AvgPool-1") == ()
        assert not made.specs.made_from(find_spec("AvgPool-1"))
        assert check(made, Reference(made.specs), level="should", min_strength=0).conformant
        run = check(made, Reference(), level="should")
        assert [result.status for result in run.results] == ["fail"]
        (finding,) = run.findings
        assert finding.detail["window"]["divisor"] == 4

    def test_a_suite_that_replaces_another_leaves_none_of_its_files(
        self, suite: Suite, tmp_path: Path
    ) -> None:
        assert (suite.path / "specifications").is_dir()
        written(suite.path, find_spec("AvgPool-1"), shipped_origin(find_spec("AvgPool-1")))
        assert not (suite.path / "specifications").exists()

    def test_a_file_of_somebody_else_is_not_replaced(self, suite: Suite) -> None:
        spec = suite.specs[OWN]
        basis = carried_origin(spec, ())
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


def test_the_mutants_of_the_document_are_read(suite: Suite) -> None:
    document = Path(__file__).parents[2] / "docs" / "fault-format.md"
    (text,) = re.findall(r"```yaml\n(format: 1\nop: .*?)```", document.read_text(), re.DOTALL)
    opened = open_suite(relisted(suite, files(suite)[1], text))
    (fault,) = opened.specs.faults(OWN)
    known = {one.id: one for one in catalogue.mutants_of(find_spec("AvgPool-1"))}[fault.id]
    assert (fault.kind, fault.description, fault.threads) == (
        known.kind,
        known.description,
        known.threads,
    )
    assert fault.change.replace == known.change.replace


def test_recording_is_of_shipped_specifications(suite: Suite, tmp_path: Path) -> None:
    words = ["suite", "record", str(suite.path), "--out", str(tmp_path / "out")]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 2
    assert "my.AvgPool-1: not made from a shipped specification" in found.output
    assert not (tmp_path / "out").exists()


class TestDamage:
    @pytest.mark.parametrize("which", [0, 1])
    @pytest.mark.parametrize("how", ["changed", "gone", "grown"])
    def test_a_file_that_is_not_the_listed_one(self, suite: Suite, which: int, how: str) -> None:
        file = files(suite)[which]
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
        file = files(suite)[0]
        if how == "link":
            file.rename(tmp_path / "outside.yaml")
            file.symlink_to(tmp_path / "outside.yaml")
        else:
            file.unlink()
            os.mkfifo(file) if how == "pipe" else file.symlink_to(file)
        with pytest.raises(SuiteError, match=r"symbolic link|Symlink loop|no such file"):
            open_suite(suite.path)

    @pytest.mark.parametrize(
        ("which", "old", "new", "message"),
        [
            (0, f"op: {OWN}", "op: Other-1", "specifies Other-1"),
            (0, "format: 1", "format: 2", "reads format 1"),
            (0, "format: 1", "format: 1\nextends: AvgPool-1", "no specification to extend"),
            (0, "title: Ours", 'title: "O\\e[31m"', "cannot be shown"),
            (0, "title: Ours", "title: *Ours", "not allowed"),
            (0, "T: [f16", "T: [f17", "'f17' is not allowed here"),
            (1, f"op: {OWN}", "op: Other-1", "these are mutants of Other-1"),
            (1, "accumulator: own", "accumulator: owm", "owm"),
            (1, "accumulator: own", "acumulator: own", "did you mean 'accumulator'"),
            (1, "reading: ", "reading: no-", "has no interpretation 'no-"),
            (1, "says: ", "sayz: ", "'says' is missing"),
        ],
    )
    def test_a_listed_file_that_says_what_it_must_not(
        self, of_few: Suite, which: int, old: str, new: str, message: str
    ) -> None:
        file = files(of_few)[which]
        text = file.read_text()
        assert old in text
        opened = open_suite(relisted(of_few, file, text.replace(old, new, 1)))
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
                lambda table: table.update({OWN: {"faults": "0" * 64}}),
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
        file = files(suite)[0]
        text = file.read_text()
        opened = open_suite(relisted(suite, file, text.replace("name: data", "name: input")))
        with pytest.raises(SuiteError, match=r"its data are data, those of .* input"):
            list(opened.vectors())

    def test_vectors_that_are_not_as_it_says(self, suite: Suite) -> None:
        file = files(suite)[0]
        text = file.read_text().replace("exclude-pad:", "count-pad:")
        opened = open_suite(relisted(suite, file, text.replace("exclude_pad", "count_pad")))
        faults = [line for line in lint(opened) if "no interpretation" not in line]
        assert faults  # mutants speak of exclude_pad


class TestShipped:
    def test_it_is_named_by_its_digest(self, tmp_path: Path) -> None:
        spec = find_spec("AvgPool-1")
        made = written(tmp_path / "suite", spec, shipped_origin(spec))
        assert not (made.path / "specifications").exists()
        assert made.specs["AvgPool-1"] is spec
        assert made.specs.faults("AvgPool-1") == catalogue.mutants_of(spec)
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

    def test_another_has_to_be_given(self, tmp_path: Path, own: OpSpec) -> None:
        with pytest.raises(SuiteError, match=f"what specification the vectors of {OWN} were made"):
            written(tmp_path / "suite", own, None)
        assert not (tmp_path / "suite").exists()
