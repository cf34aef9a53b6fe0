"""The programs under clients/, built with the system's compilers and graded by the command line."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import needs
import numpy as np
import pytest
import tiers
from click.testing import CliRunner

from conformance.cli import main
from conformance.dtypes import DTYPES
from conformance.grade.outcome import DescribedValue, Ending
from conformance.log.reader import read
from conformance.model import Answer, Case, Vector
from conformance.run.limits import Limits
from conformance.run.worker_pool import ProcessExecutor

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / "clients"
SANITIZED = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", f"-I{CLIENTS / 'c'}"]


def built(compiler, source, target, *more):
    needed = [compiler, *STRICT, "-o", str(target), str(source), *more]
    done = subprocess.run(needed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def invoked(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def avgpool(tmp_path_factory):
    return built("cc", CLIENTS / "c" / "avgpool.c", tmp_path_factory.mktemp("c") / "avg pool")


@pytest.mark.needs("cc")
class TestC:
    @pytest.mark.parametrize("more", [(), ("-DCF_NO_STREAMS",)])
    def test_the_header_is_c99_and_c_plus_plus(self, tmp_path, more):
        for compiler, name, standard in (("cc", "c", "c99"), ("c++", "cpp", "c++11")):
            source = tmp_path / f"program.{name}"
            source.write_text('#include "conformance.h"\nint main(void) { return 0; }\n')
            if not needs.missing(compiler):
                built(compiler, source, tmp_path / name, f"-std={standard}", *more)

    def test_the_runner_is_short(self):
        lines = (CLIENTS / "c" / "avgpool.c").read_text().splitlines()
        assert len([line for line in lines if line.strip()]) < 60

    def test_it_keeps_to_the_protocol(self, avgpool):
        shown = invoked("protocol", "test", f"'{avgpool}'")
        assert shown.exit_code == 0, shown.output
        assert "FAILED" not in shown.output
        assert "AvgPool-1 in f32" in shown.output

    def test_it_is_conformant(self, avgpool, tmp_path):
        shown = invoked(
            "check", "--backend", f"exec:'{avgpool}'", "--op", "AvgPool-1", "-j", 2,
            "--out", tmp_path / "out",
        )  # fmt: skip
        assert shown.exit_code == 0, shown.output
        assert re.search(r"strength (99\.\d|100) %", shown.output)
        header = json.loads((tmp_path / "out" / "run.jsonl").read_text().splitlines()[0])
        assert (header["backend"]["name"], header["backend"]["version"]) == ("avgpool.c", "1.0")
        assert len(header["backend"]["sha256"]) == 64
        assert "python" not in header["environment"]

    def test_a_bad_ending_fails_a_run_in_which_all_passed(self, tmp_path):
        text = (CLIENTS / "c" / "avgpool.c").read_text()
        source = tmp_path / "avgpool.c"
        source.write_text(text.replace('    return cf_serve("', '    return 3 + cf_serve("'))
        program = built("cc", source, tmp_path / "ends", f"-I{CLIENTS / 'c'}")
        words = ("--backend", f"exec:{program}", "--op", "AvgPool-1", "--suite", "smoke")
        shown = invoked("check", *words, "--out", tmp_path / "out")
        assert shown.exit_code == 1, shown.output
        log = read(tmp_path / "out" / "run.jsonl")
        assert (log.problems, log.score.total.wrong) == ((), 0)
        assert log.footer["endings"] == [
            {"message": "at the end of its input the process ended with exit code 3"}
        ]
        assert "no claim (a process did not end as it should)" in log.footer["claim"]
        assert "ENDED BADLY" in shown.output
        assert "ended with exit code 3" in shown.output


@pytest.mark.needs("cc")
class TestChannelsLast:
    """A runner that declares NHWC, and indices over the image."""

    SOURCE = CLIENTS / "c" / "maxpool_nhwc.c"

    def checked(self, program, *more):
        words = ("--backend", f"exec:{program}", "--op", "AdaptiveMaxPool-8")
        return invoked("check", *words, *more)

    def test_it_is_conformant_and_keeps_to_the_protocol(self, tmp_path):
        program = built("cc", self.SOURCE, tmp_path / "nhwc", "-std=c99", *SANITIZED)
        shown = invoked("protocol", "test", program)
        assert shown.exit_code == 0, shown.output
        shown = self.checked(program)
        assert shown.exit_code == 0, shown.output
        assert "strength 100 %" in shown.output

    @pytest.mark.parametrize(
        ("right", "wrong", "message"),
        tiers.first(
            [
                ('\\"layout\\": [\\"NHWC\\"], ', "", "with a wrong shape"),
                ('[\\"HWC\\"]', '[\\"WHC\\"]', "with wrong indices"),
                ("stops(x, in[2], out[2])", "stops(x, in[1], out[2])", "with wrong"),
            ]
        ),
    )
    def test_a_wrong_layout_is_found(self, tmp_path, right, wrong, message):
        text = self.SOURCE.read_text()
        assert right in text
        source = tmp_path / "wrong.c"
        source.write_text(text.replace(right, wrong))
        shown = self.checked(built("cc", source, tmp_path / "wrong"), "--suite", "smoke")
        assert shown.exit_code == 1
        assert message in " ".join(shown.output.split())


@pytest.fixture(scope="module")
def echo(tmp_path_factory):
    source = Path(__file__).with_name("echo.c")
    program = built("cc", source, tmp_path_factory.mktemp("echo") / "echo", *SANITIZED)
    with ProcessExecutor(f"exec:{program}", Limits()) as executor:
        yield executor


@pytest.mark.needs("cc")
class TestHeader:
    def asked(self, echo, op, *inputs, limit=1 << 20, absent=(), **attributes):
        answers = (Answer("out", "f32", np.broadcast_to(np.float32(0), (limit >> 4,))),)
        case = Case(op, {"T": "f32"}, {}, attributes)
        return echo.call(Vector("id", case, "must", (), "", "", inputs, answers, absent=absent))

    def test_its_name_may_hold_anything(self, echo):
        assert echo.identity.name == 'echo "\\'

    def test_attributes_are_read_and_what_it_prints_is_no_answer(self, echo):
        found = self.asked(
            echo, "attributes", **{
                "list": [2, -3, 4], "empty": [], "whole": -(1 << 62), "yes": True, "no": False,
                "short": "a {long", "text": "a {long] text", "nested": [[1, "]"], [2]],
                "exclude-pad": False, "real": -0.5, "reals": [1, 2.5],
            },
        )  # fmt: skip
        assert found.ending is Ending.RETURNED, found.message

    @pytest.mark.parametrize(
        ("attributes", "value"),
        [
            ({}, 5 - 1000 + 10_000),
            ({"number": 7, "flag": True, "list": [1, 2], "text": "abc"}, 7 + 100 + 2000 + 30_000),
            ({"flag": 1, "number": True, "list": 4}, 1 + 100 + 1000 + 10_000),
            ({"flag": 0, "number": False, "list": []}, 10_000),
            ({"number": -(1 << 63), "list": [], "text": ""}, -(1 << 63)),
        ],
    )
    def test_attributes_have_their_values(self, echo, attributes, value):
        found = self.asked(echo, "kinds", **attributes)
        assert found.ending is Ending.RETURNED, found.message
        assert found.returned[0].tolist() == [value]

    @pytest.mark.parametrize(
        ("attributes", "values"),
        [
            ({}, [5.5]),
            ({"number": 3, "list": 0.25}, [3, 0.25]),
            ({"number": -1.5e-7, "list": [1, -2.5, 1e22]}, [-1.5e-7, 1, -2.5, 1e22]),
            ({"number": 1 << 63, "list": []}, [2.0**63]),
        ],
    )
    def test_numbers_with_fractions_have_their_values(self, echo, attributes, values):
        outcome = self.asked(echo, "reals", **attributes)
        assert outcome.ending is Ending.RETURNED, outcome.message
        assert outcome.returned[0].tolist() == values

    @pytest.mark.parametrize(
        ("name", "value", "wanted"),
        [
            *(("number", value, "a number") for value in ("1.5", True, [1.5], None)),
            *(("list", value, "a list of numbers") for value in ("1", [1.5, "2"], [[1.5]], False)),
        ],
    )
    def test_what_is_no_number_is_refused_by_name(self, echo, name, value, wanted):
        outcome = self.asked(echo, "reals", **{name: value})
        shown = json.dumps(value, separators=(",", ":"))
        assert outcome.message == f"attribute {name} is {shown}, not {wanted}"

    def test_every_number_is_read_to_the_bit(self, echo):
        codes = np.random.default_rng(4).integers(0, 1 << 63, 2000, dtype=np.uint64)
        numbers = codes.view(np.float64)
        edges = [5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 1.7976931348623157e308]
        ordinary = np.random.default_rng(5).normal(size=1000).astype(np.float32)
        values = [0.0, -0.0, 0.1, *edges, *numbers[np.isfinite(numbers)], *ordinary.astype(float)]
        outcome = self.asked(echo, "reals", list=[float(value) for value in values])
        assert outcome.returned[0][1:].tobytes() == np.array(values).tobytes()

    @pytest.mark.parametrize(
        ("text", "bits"),
        [
            ("9007199254740993", 0x4340000000000000),  # halfway, to even
            ("9007199254740995", 0x4340000000000002),
            ("9007199254740993.01", 0x4340000000000001),
            ("2.4703282292062328e-324", 1),
            ("2.4703282292062327e-324", 0),
            ("1e-400", 0),
            ("0.0000000000000000000000001e25", 0x3FF0000000000000),
            ("1E+2", 0x4059000000000000),
        ],
    )
    def test_a_number_as_others_write_it_is_rounded_once(self, tmp_path, text, bits):
        source = tmp_path / "number.c"
        source.write_text(
            '#include "conformance.h"\nint main(int n, char **texts) { cf_json t; double x = 0;'
            "uint64_t bits; (void)n; t.begin = texts[1]; t.end = t.begin + strlen(t.begin);"
            "if (!cf_fraction(t, &x)) return 1; memcpy(&bits, &x, 8);"
            'printf("%llx", (unsigned long long)bits); return 0; }'
        )
        program = built("cc", source, tmp_path / "number", *SANITIZED)
        shown = subprocess.run([program, text], capture_output=True, text=True, check=True)
        assert int(shown.stdout, 16) == bits

    def test_an_absent_input_keeps_its_position(self, echo):
        inputs = [np.zeros(3, np.float32), np.zeros(0, np.float32)]
        outcome = self.asked(echo, "present", *inputs, absent=(0, 2))
        assert outcome.returned[0].tolist() == [-1, 3, -1, 0]

    @pytest.mark.parametrize(
        ("name", "value", "wanted"),
        [
            *(("number", value, "an integer") for value in ("diagonal", 1.5, 1 << 63, [1], None)),
            *(("flag", value, "true or false, 1 or 0") for value in (2, -1, "true", [True], 1.0)),
            *(("list", value, "a list of integers") for value in ("2", [1, "2"], [1.5], True)),
            *(("text", value, "a text") for value in (3, False, ["a"])),
            ("text", "12345678", "a text for which there is room"),
        ],
    )
    def test_another_kind_of_value_is_refused_by_name(self, echo, name, value, wanted):
        found = self.asked(echo, "kinds", **{name: value})
        assert found.ending is Ending.RAISED
        shown = json.dumps(value, separators=(",", ":"))
        assert found.message == f"attribute {name} is {shown}, not {wanted}"

    def test_a_result_of_no_meaning_is_told(self, echo):
        assert self.asked(echo, "strange").message == "the program returned 42 for the call"

    def test_numbers_do_not_depend_on_the_locale(self):
        header = (CLIENTS / "c" / "conformance.h").read_text()
        assert re.findall(r"%[-+ #0-9.]*l?[aefg]|strto[dfl]\b|\bato[fil]\b|scanf", header) == []

    def test_every_type_and_shape_goes_both_ways(self, echo):
        inputs = [np.arange(12).astype(row.numpy).reshape(3, 4) for row in DTYPES.values()]
        inputs += [np.array(5.0, np.float32), np.zeros((0, 3), np.int64)]
        found = self.asked(echo, "echo", *inputs)
        for before, after in zip(inputs, found.returned, strict=True):
            assert (before.dtype, before.shape) == (after.dtype, after.shape)
            assert before.tobytes() == after.tobytes()
        assert found.changed == ()
        assert 0 < found.seconds < 5

    def test_a_large_array_goes_both_ways(self, echo):
        large = np.arange(1 << 22, dtype=np.float32)
        found = self.asked(echo, "echo", large, limit=1 << 25)
        np.testing.assert_array_equal(found.returned[0], large)

    def test_what_is_larger_than_may_be_is_described(self, echo):
        found = self.asked(echo, "echo", np.zeros((1 << 19,), np.float32))
        assert found.returned == [DescribedValue("array", "f32", "", (1 << 19,))]

    def test_an_input_that_was_changed_is_told(self, echo):
        inputs = [np.zeros(3, np.float32)] * 3
        assert self.asked(echo, "changes", *inputs).changed == (1,)

    def test_what_is_not_written_is_no_number(self, echo):
        found = self.asked(echo, "unwritten", np.zeros(3, np.float32), np.zeros(3, np.int32))
        assert np.isnan(found.returned[0]).all()
        assert (found.returned[1] == -1).all()

    def test_messages_arrive(self, echo):
        found = self.asked(echo, "unsupported")
        assert (found.ending, found.message) == (Ending.UNSUPPORTED, '"unsupported" \\ ?')
        assert self.asked(echo, "long").ending is Ending.RAISED
        assert self.asked(echo, "below").ending is Ending.RAISED

    @pytest.mark.parametrize("dtype", ["f16", "bf16"])
    def test_sixteen_bits_are_exact_one_way_and_rounded_to_even_the_other(self, echo, dtype):
        row = DTYPES[dtype]
        codes = np.arange(1 << 16, dtype=np.uint16)
        halves = codes[np.isfinite(codes.view(row.numpy).astype(np.float32))].view(row.numpy)
        between = halves.astype(np.float64)
        ties = ((between[:-1] + between[1:]) / 2).astype(np.float32)
        near = np.concatenate([ties, np.nextafter(ties, np.float32(np.inf)), -ties])
        random = np.random.default_rng(3).integers(0, 1 << 32, 200_000, dtype=np.uint32)
        wide = np.concatenate([near, random.view(np.float32)])
        exact, back, rounded = self.asked(
            echo, "convert", codes.view(row.numpy), wide, limit=1 << 25
        ).returned
        with np.errstate(over="ignore", invalid="ignore"):
            np.testing.assert_array_equal(exact, codes.view(row.numpy).astype(np.float32))
            same = ~np.isnan(exact)
            np.testing.assert_array_equal(back.view(np.uint16)[same], codes[same])
            assert np.isnan(back.astype(np.float32)[~same]).all()
            np.testing.assert_array_equal(
                rounded.astype(np.float32), wide.astype(row.numpy).astype(np.float32)
            )


BUGS = {"ceil-rounds-down", "exclude-pad-lost-with-same", "same-lower-like-upper"}
"""What is wrong with the kernel of tests/run/acme."""


def names(log):
    return {
        one["id"] for finding in log.findings for one in (finding.diagnosis or {}).get("faults", ())
    }


@pytest.mark.exhaustive
@pytest.mark.needs("cc")
def test_a_search_finds_them_on_cases_of_a_few_elements(tmp_path):
    program = built("cc", Path(__file__).with_name("acme") / "runner.c", tmp_path / "runner")
    shown = invoked(
        "fuzz", "--backend", f"exec:{program}", "--op", "AvgPool-1", "--cases", 120, "--seed", 1,
        "--out", tmp_path / "out", "--database", tmp_path / "database",
    )  # fmt: skip
    assert shown.exit_code == 1, shown.output
    run = read(tmp_path / "out" / "run.jsonl")
    # Two of them show in the same cases, which are too few to tell the two apart.
    assert "ceil-rounds-down" in names(run) <= BUGS
    smallest = {one.smallest for one in run.findings}
    assert len(smallest) >= 2
    shapes = [one.asked["shapes"]["data"] for one in run.results if one.id in smallest]
    assert max(map(np.prod, shapes)) <= 12


@pytest.mark.needs("cc")
def test_three_bugs_of_a_kernel_are_named_and_nothing_else_is(tmp_path):
    """Somebody who had the kernel and docs/protocol.md alone wrote runner.c, and had the names of
    all three bugs after two minutes.
    """
    source = Path(__file__).with_name("acme")
    program = built("cc", source / "runner.c", tmp_path / "runner")
    shown = invoked(
        "check", "--backend", f"exec:{program}", "--op", "AvgPool-1", "--out", tmp_path / "out"
    )
    assert shown.exit_code == 1
    run = read(tmp_path / "out" / "run.jsonl")
    assert names(run) == BUGS
    failed = [one for one in run.results if one.status.value in ("fail", "error")]
    assert sum(len(finding.ids) for finding in run.findings) == len(failed) > 150


@pytest.mark.needs("cc")
class TestDocument:
    SOURCE = re.search(r"```c\n(.*?)```", (ROOT / "docs" / "protocol.md").read_text(), re.S)[1]

    def test_its_runner_is_conformant(self, tmp_path):
        (tmp_path / "runner.c").write_text(self.SOURCE)
        program = built("cc", tmp_path / "runner.c", tmp_path / "runner")
        backend = f"exec:{program}"
        tested = invoked("protocol", "test", backend)
        assert tested.exit_code == 0, tested.output
        words = ("--backend", backend, "--op", "onnx.GlobalAveragePool-22", "--suite", "smoke")
        assert invoked("check", *words).exit_code == 0


@pytest.mark.needs("node")
def test_the_protocol_without_a_library():
    spec = f"exec:node {CLIENTS / 'js' / 'global_mean.mjs'}"
    shown = invoked("protocol", "test", spec)
    assert shown.exit_code == 0, shown.output
    shown = invoked("check", "--backend", spec, "--op", "onnx.GlobalAveragePool-22")
    assert shown.exit_code == 0, shown.output
    assert "strength 100 %" in shown.output


@pytest.mark.needs("onednn")
def test_a_real_library_is_graded(tmp_path):
    program = built("c++", CLIENTS / "cpp" / "onednn.cpp", tmp_path / "onednn", "-ldnnl")
    shown = invoked("protocol", "test", program)
    assert shown.exit_code == 0, shown.output
    shown = invoked(
        "check", "--backend", f"exec:{program}", "--op", "AvgPool-1", "--out", tmp_path / "out"
    )
    assert shown.exit_code == 1, shown.output
    # It divides by a size of 0 where no window fits, and takes pads of a whole window.
    assert "killed by SIGFPE" in shown.output
    run = read(tmp_path / "out" / "run.jsonl")
    wrong = [one for one in run.results if one.status.value == "fail"]
    assert wrong
    assert all(one.reject for one in wrong)
