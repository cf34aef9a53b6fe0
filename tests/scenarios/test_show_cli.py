"""``conformance show``: what a person sees of one vector."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import tiers
import tiny
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.cli.vector_text import heading, tables
from conformance.model import Case, Vector
from conformance.specification import build, find_spec
from conformance.suite.origin import carried_origin
from conformance.suite.store import Suite
from conformance.suite.writer import write_suite

AVG, ADAPTIVE, MAX = (
    find_spec(op) for op in ("AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8")
)


def pool(dtype: str, shape: tuple[int, ...], **changes: object) -> Case:
    axes = len(shape) - 2
    attributes = {
        "auto_pad": "explicit",
        "rounding_type": "ceil",
        "exclude-pad": False,
        "kernel": [2] * axes,
        "strides": [2] * axes,
        "pads_begin": [1] * axes,
        "pads_end": [0] * axes,
    }
    return Case("AvgPool-1", {"T": dtype}, {"data": shape}, attributes, **changes)


def adaptive(op: str, dtype: str, size: tuple[int, ...], out: tuple[int, ...], **more) -> Case:
    return Case(
        op=op,
        types={"T": dtype, "T_SHAPE": "i64"},
        shapes={"data": (1, 1, *size)},
        attributes={"index_element_type": "i32"} if op == MAX.op else {},
        operands={"output_size": out},
        **more,
    )


@cache
def vectors() -> dict[str, Vector]:
    """The vectors that are shown, by a word; made when the first is asked for."""
    return {
        "plain": build(AVG, pool("f32", (1, 2, 4))),
        "plane": build(AVG, pool("f32", (1, 1, 3, 4))),
        "bf16": build(ADAPTIVE, adaptive(ADAPTIVE.op, "bf16", (7,), (3,), pattern="normal")),
        "nan": build(ADAPTIVE, adaptive(ADAPTIVE.op, "f32", (9,), (3,), pattern="nan", seed=1)),
        "large": build(AVG, pool("f16", (1, 1, 5), pattern="large")),
        "ties": build(MAX, adaptive(MAX.op, "f32", (2, 7), (2, 2), pattern="ties")),
        "open": build(MAX, adaptive(MAX.op, "f32", (6,), (3,), pattern="nan", seed=1)),
        "long": build(ADAPTIVE, adaptive(ADAPTIVE.op, "f32", (61,), (30,))),
        "huge": build(MAX, adaptive(MAX.op, "f64", (4097,), (4098,), pattern="steady")),
        "whole": build(ADAPTIVE, adaptive(ADAPTIVE.op, "f64", (57, 57), (1, 1), pattern="steady")),
        "i64": build(
            find_spec("MaxPool-8"),
            Case(
                "MaxPool-8",
                {"T": "i64"},
                {"data": (1, 1, 4)},
                {name: [1] for name in ("kernel", "strides")}
                | {"pads_begin": [0], "pads_end": [0]},
                pattern="lowest",
            ),
        ),
        "refused": build(MAX, adaptive(MAX.op, "f32", (6,), (), reject="output_size.shape")),
    }


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    folder = tmp_path_factory.mktemp("suites") / "shown"
    made = [(vector, ("core",)) for vector in vectors().values()]
    return write_suite(folder, made, name="shown", seed=0, versions={})


def show(suite: Suite, vector: Vector | str, *more: str) -> Result:
    name = vector if isinstance(vector, str) else vector.id
    words = ["show", name, "--suite", str(suite.path), *more]
    return CliRunner().invoke(main, words, env={"COLUMNS": "100"})


def shown(suite: Suite, name: str, *more: str) -> list[str]:
    """The lines of one vector, which must fit a hundred columns."""
    found = show(suite, vectors()[name], *more)
    assert found.exit_code == 0, found.output
    assert found.stderr == ""
    lines = found.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    return lines


def line(lines: list[str], *beginning: str) -> str:
    """What stands on the line that begins with these words."""
    (found,) = (text for text in lines if text.split()[: len(beginning)] == list(beginning))
    return " ".join(found.split()[len(beginning) :])


class TestNames:
    def test_an_id_its_beginning_and_its_digest(self, suite: Suite) -> None:
        vector = vectors()["plain"]
        slug, _, digest = vector.id.rpartition("-")
        for name in (vector.id, slug, digest):
            assert show(suite, name).stdout.splitlines()[0] == vector.id

    def test_one_that_is_close(self, suite: Suite) -> None:
        found = show(suite, vectors()["nan"].id[:-1] + "_")
        assert found.exit_code == 2
        assert f"did you mean '{vectors()['nan'].id}'" in found.stderr

    def test_one_that_is_nothing(self, suite: Suite) -> None:
        found = show(suite, "xyz")
        assert found.exit_code == 2
        assert "no vector 'xyz'" in found.stderr
        assert "hint: it has " in found.stderr
        assert "(for another suite give --suite DIR)" in found.stderr

    def test_a_folder_that_is_called_like_a_shipped_suite(
        self, suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "smoke").symlink_to(suite.path)
        monkeypatch.chdir(tmp_path)
        words = ["show", vectors()["plain"].id, "--suite"]
        shipped = CliRunner().invoke(main, [*words, "smoke"])
        assert shipped.exit_code == 2  # it is a vector of the folder
        assert "note: smoke is the shipped suite; the folder is --suite ./smoke" in shipped.stderr
        meant = CliRunner().invoke(main, [*words, "./smoke"])
        assert (meant.exit_code, meant.stderr) == (0, "")

    def test_a_beginning_of_several(self, suite: Suite) -> None:
        found = show(suite, "f32-1x")
        assert found.exit_code == 2
        assert "vectors of the suite 'shown' begin with 'f32-1x'" in found.stderr
        assert "hint: give more of the id" in found.stderr


class TestOutput:
    def test_large_integers_to_the_last_digit(self, suite: Suite) -> None:
        lines = shown(suite, "i64")
        lowest = [text for text in lines if "-9223372036854775808" in text]
        assert any("[" in text for text in lowest)  # the data
        assert any(text.startswith("    0,0,0 ") for text in lowest)  # the answer

    def test_what_is_asked(self, suite: Suite) -> None:
        lines = shown(suite, "plane")
        assert lines[0] == vectors()["plane"].id
        assert line(lines, "operator") == "AvgPool-1"
        assert line(lines, "level") == "must"
        assert line(lines, "exclude-pad") == "false"
        assert "  kernel         2,2" in lines
        assert line(lines, "data") == "f32 1x1x3x4"
        assert "pads_begin is 1 on an axis" in " ".join(lines)
        assert any(text.endswith("]]]]") for text in lines)

    def test_what_is_expected(self, suite: Suite) -> None:
        lines = shown(suite, "plain")
        data, answer = vectors()["plain"].inputs[0], vectors()["plain"].answers[0]
        assert line(lines, "result:") == "f32 1x2x3"
        first = float(data[0, 0, 0]) / 2
        assert line(lines, "0,0,0") == f"{first:g} {first}"
        second = float(data[0, 0, 1] + data[0, 0, 2]) / 2
        assert line(lines, "0,0,1") == f"{second:g} {second}"
        assert len([text for text in lines if text.startswith("    0,")]) == answer.expected.size

    def test_readings(self, suite: Suite) -> None:
        lines = shown(suite, "plain")
        value = float(vectors()["plain"].inputs[0][0, 0, 3])
        assert line(lines, "0,0,2") == f"{value / 2:g} {value / 2}"
        said = line(lines, "interpretation", "clip-divisor:")
        assert said == f"2 of 6 elements change; 0,0,2 may be {value}"

    def test_an_operand_has_its_value_and_its_type(self, suite: Suite) -> None:
        assert line(shown(suite, "ties"), "output_size") == "2,2 (i64)"

    def test_bf16(self, suite: Suite) -> None:
        lines = shown(suite, "bf16")
        assert line(lines, "data") == "bf16 1x1x7"
        answer = vectors()["bf16"].answers[0]
        at = (0, 0, 0)
        assert f"{float(answer.lo[at]):.7g}"[:8] in line(lines, "0,0,0")
        assert line(lines, "0,0,0").startswith(f"{answer.expected[at]:.10g} ")

    def test_nan(self, suite: Suite) -> None:
        lines = shown(suite, "nan")
        assert line(lines, "0,0,1") == "nan nan"
        assert "nan" in next(text for text in lines if "[[[" in text)

    def test_a_sum_that_may_overflow(self, suite: Suite) -> None:
        lines = shown(suite, "large", "--element", "0,0,1")
        assert line(lines, "native") == "44320.0 to inf"
        assert line(lines, "standard") == line(lines, "exact")
        # Not the shortest form, 60350.0, which is another number.
        value = int(vectors()["large"].answers[0].rounded[0, 0, 1])
        assert line(lines, "exact") == f"{value}.0"

    def test_indices(self, suite: Suite) -> None:
        lines = shown(suite, "ties")
        assert line(lines, "indices:") == "i32 1x1x2x2"
        (said,) = (text for text in lines if text.startswith("    interpretation any-maximum"))
        assert " may be any of " in said

    def test_what_is_left_open(self, suite: Suite) -> None:
        lines = shown(suite, "open")
        assert any(text.endswith("anything (unspecified)") for text in lines)

    def test_a_vector_that_must_be_rejected(self, suite: Suite) -> None:
        lines = shown(suite, "refused")
        assert "must be rejected: " in " ".join(lines)
        assert line(lines, "output_size") == "empty (i64)"
        assert not any("expected" in text for text in lines)

    def test_a_large_one_stays_short(self, suite: Suite) -> None:
        lines = shown(suite, "huge")
        assert len(lines) < 80
        assert any("... (4097 elements)" in text for text in lines)
        assert lines.count("    ... and 4074 more (--all shows them)") == 2

    def test_all_of_it(self, suite: Suite) -> None:
        assert "    ... and 6 more (--all shows them)" in shown(suite, "long")
        lines = shown(suite, "long", "--all")
        assert line(lines, "0,0,29")
        assert not any("..." in text for text in lines)

    def test_every_vector_of_the_smoke_suite_fits(self, exhaustive: bool) -> None:
        suite = tiers.smoke() if exhaustive else tiers.part(tiers.smoke())
        for vector in suite.vectors():
            lines = [
                *heading(vector, 100),
                *tables(vector, 100, limit=24),
            ]
            # Two bounds of seventeen digits, beside a value of as many, need more.
            limit = 140 if vector.case.types["T"] == "f64" else 115
            assert max(map(len, lines)) <= limit, vector.id


class TestElement:
    def test_what_is_read_and_precisions(self, suite: Suite) -> None:
        lines = shown(suite, "plane", "--element", "0,0,0,1")
        data = vectors()["plane"].inputs[0][0, 0]
        assert line(lines, "at") == "0 1 2 3"
        assert line(lines, "-1") == ". [.] [.] ."
        first = [f"{value:g}" for value in data[0]]
        assert line(lines, "0") == f"{first[0]} [{first[1]}] [{first[2]}] {first[3]}"
        assert any("2 elements read, 2 positions outside." in text for text in lines)
        mean = float(data[0, 1] + data[0, 2]) / 4
        for name in ("expected", "exact", "standard", "native"):
            assert line(lines, name) == str(mean)

    def test_readings_of_the_element_alone(self, suite: Suite) -> None:
        value = float(vectors()["plain"].inputs[0][0, 0, 3])
        last = shown(suite, "plain", "--element", "0,0,2")
        assert line(last, "interpretation", "clip-divisor") == str(value)
        assert not any("reading" in text for text in shown(suite, "plain", "--element", "0,0,1"))

    def test_a_huge_window_is_cut(self, suite: Suite) -> None:
        lines = shown(suite, "whole", "--element", "0,0,0,0")
        assert len(lines) < 40
        assert any("3,249 elements read." in text for text in lines)
        assert line(lines, "at") == "0 1 2 3 4 53 54 55 56"

    @pytest.mark.parametrize("text", ["0,0", "0,0,3", "0,0,-1", "a,b,c", "", "0,0,0,0"])
    def test_one_that_is_not_there(self, suite: Suite, text: str) -> None:
        found = show(suite, vectors()["plain"], "--element", text)
        assert found.exit_code == 2
        assert "has shape 1x2x3" in found.stderr
        assert "--element 0,0,0" in found.stderr

    def test_none_where_nothing_is_answered(self, suite: Suite) -> None:
        found = show(suite, vectors()["refused"], "--element", "0,0,0")
        assert found.exit_code == 2
        assert "must be rejected, so it has no output" in found.stderr


class TestOwnOperator:
    @pytest.fixture
    def spec(self, tmp_path: Path) -> Path:
        return tiny.write(tmp_path)

    @pytest.fixture
    def own(self, spec: Path, tmp_path: Path) -> Suite:
        case = Case("Tiny-1", {"T": "f32"}, {"data": (1, 4)}, {"step": 2}, pattern="whole")
        made = [(build(find_spec(str(spec)), case), ("core",))]
        basis = carried_origin(find_spec(str(spec)))
        return write_suite(tmp_path / "own", made, name="own", seed=0, versions={}, bases=[basis])

    def test_is_shown_by_the_specification_that_its_suite_carries(
        self, own: Suite, spec: Path
    ) -> None:
        spec.unlink()
        found = show(own, "f32")
        assert found.stderr == ""
        (vector,) = own.vectors()
        mean = float(vector.inputs[0][0, 2:].mean())
        assert line(found.stdout.splitlines(), "0,1") == f"{mean:g} {mean}"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_reader_that_stops_is_no_defect(suite: Suite) -> None:
    words = ["show", vectors()["huge"].id, "--suite", str(suite.path), "--all"]
    started = subprocess.Popen(
        [sys.executable, "-c", "from conformance.cli import main; main()", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        text=True,
    )
    assert started.stdout.readline().strip() == vectors()["huge"].id
    started.stdout.close()
    assert started.stderr.read() == ""
    assert started.wait(timeout=30) == 141
    started.stderr.close()
