from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import conformance
from conformance.backends.reference import Reference
from conformance.errors import BackendError, InvalidCase, SuiteError, UsageError

REFERENCE = Reference()


def right(op, inputs, attributes):
    return REFERENCE.run(op, inputs, attributes)


def wrong(op, inputs, attributes):
    return [output + 1 for output in REFERENCE.run(op, inputs, attributes)]


class TestCheck:
    def test_a_plain_function_is_a_backend(self, small_suite):
        run = conformance.check(small_suite, right, level="should", precision="exact")
        assert run.conformant
        assert [result.status for result in run.results] == ["pass"] * 8
        assert run.findings == ()
        assert run.header["backend"]["name"] == "right"
        assert run.footer["exit_code"] == 0

    def test_results_say_what_they_are_about(self, small_suite):
        run = conformance.check(small_suite, wrong)
        assert not run.conformant
        failed = [result for result in run.results if result.status == "fail"]
        assert {result.op for result in failed} == set(small_suite.manifest.ops)
        assert all(r.id and r.edges and "elements are wrong" in r.message for r in failed)
        assert sum(len(finding.ids) for finding in run.findings) == len(failed)

    def test_an_object_is_a_backend(self, small_suite):
        class Mine:
            name, version = "mine", "3"

            def run(self, op, inputs, attributes):
                raise conformance.Unsupported("nothing yet")

        assert isinstance(Mine(), conformance.Backend)
        run = conformance.check(small_suite, Mine())
        assert not run.conformant
        assert {r.status for r in run.results} == {"unsupported", "skipped"}
        assert run.footer["verdict"] == "nothing graded"

    def test_a_name_is_a_backend_and_findings_can_be_reproduced(self, small_suite, tmp_path):
        file = tmp_path / "mine.py"
        file.write_text("def run(op, inputs, attributes):\n    return []\n")
        run = conformance.check(small_suite, f"{file}:run", level="should", precision="f16=native")
        finding = run.findings[0]
        assert finding.reproduce == (
            f"conformance check --backend {file}:run --suite {small_suite.path} --level should "
            f"--precision f16=native --op {finding.op} --only {finding.smallest}"
        )
        assert finding.detail["show"] == (
            f"conformance show {finding.smallest} --backend {file}:run --suite {small_suite.path} "
            "--level should --precision f16=native"
        )

    def test_a_function_cannot_be_named_by_a_command(self, small_suite):
        assert {f.reproduce for f in conformance.check(small_suite, wrong).findings} == {""}

    def test_a_suite_by_path(self, small_suite):
        assert conformance.check(small_suite.path, right).conformant
        assert conformance.check(str(small_suite.path), right).conformant

    def test_filters(self, small_suite):
        run = conformance.check(small_suite, right, ops=["AdaptiveMaxPool-8"])
        assert [result.op for result in run.results] == ["AdaptiveMaxPool-8"]
        run = conformance.check(small_suite, right, only=["f64-"])
        assert [result.dtype for result in run.results] == ["f64"]

    def test_events_come_as_they_happen(self, small_suite):
        seen = []
        run = conformance.check(small_suite, right, on_event=seen.append)
        assert seen[0] is run.header
        assert tuple(seen[1:-1]) == run.results
        assert seen[-1] is run.footer

    def test_a_reading_is_named(self, small_suite):
        def last_tie(op, inputs, attributes):
            values, indices = REFERENCE.run(
                op, [inputs[0][..., ::-1].copy(), inputs[1]], attributes
            )
            return [values[..., ::-1].copy(), inputs[0].shape[-1] - 1 - indices[..., ::-1]]

        run = conformance.check(small_suite, last_tie, ops=["AdaptiveMaxPool-8"])
        assert run.conformant
        assert run.footer["by_reading"] == {"any-maximum": 1}
        run = conformance.check(small_suite, last_tie, ops=["AdaptiveMaxPool-8"], level="should")
        assert [result.kind for result in run.results] == ["reading"]

    def test_a_gate(self, small_suite, tmp_path):
        def wrong(op, inputs, attributes):
            outputs = right(op, inputs, attributes)
            return [outputs[0] + 1, *outputs[1:]] if op == "AvgPool-1" else outputs

        (entry,) = (e for e in small_suite.manifest.vectors if e.op == "AvgPool-1" and not e.reject)
        file = tmp_path / "known.yaml"
        file.write_text(f"known:\n  - {{vectors: [{entry.id}], reason: why}}\n")
        run = conformance.check(small_suite, wrong, known_failures=file, strict=True)
        assert not run.conformant
        assert run.footer["exit_code"] == 0
        assert [result.id for result in run.results if result.known] == [entry.id]

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            ({"backend": "no-such-backend"}, BackendError),
            ({"backend": 3}, BackendError),
            ({"suite": "no-such-suite"}, SuiteError),
            ({"ops": ["No-1"]}, UsageError),
            ({"level": "may"}, UsageError),
            ({"precision": "f32"}, UsageError),
            ({"precision": {"f8": "exact"}}, UsageError),
            ({"executor": "cloud"}, UsageError),
            ({"strict": True}, UsageError),
        ],
    )
    def test_wrong_arguments_are_refused_with_a_hint(self, small_suite, arguments, error):
        given = {"suite": small_suite, "backend": right} | arguments
        with pytest.raises(error) as caught:
            conformance.check(**given)
        assert caught.value.hint


class TestReference:
    def test_it_is_exact(self):
        data = np.array([[[1, 2, 4, 8]]], np.float32) / 3
        (mean,) = conformance.reference("AdaptiveAvgPool-8", [data, np.array([1])], {})
        exact = sum(Fraction(float(x)) for x in data.ravel()) / 4
        assert mean.dtype == np.float64
        assert mean.tolist() == [[[float(exact)]]]

    def test_it_can_be_called_again(self):
        data, size = np.ones((1, 1, 3), np.float32), np.array([2])
        for _ in range(2):
            values, indices = conformance.reference("AdaptiveMaxPool-8", [data, size], {})
            assert values.tolist() == [[[1, 1]]]
            assert indices.dtype == np.int64

    def test_what_is_invalid_is_refused(self):
        with pytest.raises(InvalidCase):
            conformance.reference(
                "AdaptiveAvgPool-8", [np.ones((1, 1, 3), np.float32), np.array([-1])], {}
            )

    def test_an_unknown_operator_is_refused(self):
        with pytest.raises(UsageError):
            conformance.reference("AvgPool-99", [], {})


class TestPackage:
    def test_importing_it_loads_nothing_heavy(self):
        code = "import sys, conformance; print(*sys.modules)"
        shown = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", code],
            capture_output=True,
            text=True,
            check=True,
        )
        loaded = set(shown.stdout.split())
        heavy = {"numpy", "ml_dtypes", "yaml", "click", "jinja2", "hypothesis", "jsonschema"}
        assert not loaded & heavy
        own = [line for line in shown.stderr.splitlines() if line.endswith("| conformance")]
        microseconds = int(own[0].split("|")[1])
        assert microseconds < 100_000

    def test_a_check_loads_neither_frameworks_nor_hypothesis(self, small_suite):
        code = (
            "import sys, conformance\n"
            f"conformance.check({str(small_suite.path)!r}, 'numpy')\n"
            "print(*sys.modules)"
        )
        shown = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert not set(shown.stdout.split()) & {"hypothesis", "torch", "openvino", "jinja2"}

    def test_its_names(self):
        assert set(conformance.__all__) <= set(dir(conformance))
        for name in conformance.__all__:
            assert getattr(conformance, name) is not None
        with pytest.raises(AttributeError, match="chekc"):
            _ = conformance.chekc
