"""The pytest plugin: sessions of pytest over a small suite.

Most run in this process, where all that they need is loaded already.
"""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

# pytester forgets what a session in this process imports; numpy cannot be imported twice, and of
# two copies of a class neither is the other.
import conformance.pytest_plugin.session  # noqa: F401
from conformance.suite.store import Suite

pytest_plugins = ["pytester"]

RIGHT = """
from conformance.core.mutant_changes import TextChange
from conformance.implementations import implementation_of, subject_of
from conformance.specification import case_from_inputs, find_spec, outputs

def run(op, inputs, attributes):
    return outputs(find_spec(op), inputs, attributes)
"""

WRONG = (
    RIGHT
    + """
def wrong(op, inputs, attributes):
    given = run(op, inputs, attributes)
    if op == "AvgPool-1":
        given[0] = given[0] + (given[0] == given[0].max())
    return given

def one_more(op, inputs, attributes):
    given = run(op, inputs, attributes)
    if op == "AvgPool-1":
        spec = find_spec(op)
        text = "total / (where(counts_pads, prod(taps), terms) + 1)"
        made = TextChange("made", (("define.result.finish", "", text),))
        case = case_from_inputs(spec, inputs, attributes)
        given = list(subject_of(spec, case, inputs).under(implementation_of(spec, made)))
    return given

def accepting(op, inputs, attributes):
    if 0 in attributes.get("strides", ()):
        return [inputs[0]]
    return run(op, inputs, attributes)
"""
)

DECLARING = (
    RIGHT
    + """
from conformance import Unsupported
from conformance.backends import Capabilities, Exclusion

class Narrow:
    name, version = "narrow", "1"
    capabilities = Capabilities(operators=("AvgPool-1",))
    run = staticmethod(run)

class Nothing(Narrow):
    capabilities = Capabilities(excluding=(Exclusion(reason="not yet written"),))

class Lying(Narrow):
    capabilities = Capabilities()
    def run(self, op, inputs, attributes):
        raise Unsupported("not today")

class Lazy:
    name, version = "lazy", "1"
    def run(self, op, inputs, attributes):
        run(op, inputs, attributes)  # so that what is invalid is refused
        raise Unsupported("no values yet")
"""
)

HOSTILE = (
    RIGHT
    + """
import os, warnings

with open("loaded.txt", "a") as file:
    file.write("once\\n")

def warning(op, inputs, attributes):
    warnings.warn("slow path", RuntimeWarning)
    return run(op, inputs, attributes)

def crashing(op, inputs, attributes):
    if op == "AdaptiveMaxPool-8":
        os._exit(3)
    return run(op, inputs, attributes)

def shouting(op, inputs, attributes):
    raise RuntimeError("\\x1b[2J</script>\\nsecond \\u202e line")
"""
)

CEIL = "rounding_type is ceil"
"""The name of a target."""


class Session:
    """A folder in which pytest runs with the plugin, and without anything else of ours."""

    def __init__(self, pytester: pytest.Pytester, suite: Suite) -> None:
        self.pytester = pytester
        self.suite = suite
        self.pytester.makepyfile(mylib=WRONG, declaring=DECLARING, hostile=HOSTILE)
        self.arguments = [f"--conformance-suite={suite.path}", "-p", "no:cacheprovider"]

    def run(self, backend: str, *more: str) -> pytest.RunResult:
        words = ["--conformance-backend", backend, *self.arguments, *more]
        # Finding plugins by their entry points, hypothesis's among them, would take most of the
        # time; a process of its own finds this one so. Here it has been imported before,
        # too late for its assertions to be rewritten.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
            options = ("-p", "conformance.pytest_plugin", "--assert=plain")
            return self.pytester.runpytest_inprocess(*options, *words)

    def run_apart(self, backend: str, *more: str) -> pytest.RunResult:
        """The same in a process of its own."""
        words = ["--conformance-backend", backend, *self.arguments, *more]
        return self.pytester.runpytest_subprocess(*words, timeout=120)

    def ids(self, *more: str) -> list[str]:
        """The node ids of the vectors that are selected."""
        found = self.run("mylib.py:run", "--collect-only", "-q", *more)
        return [line for line in found.outlines if line.startswith("conformance::")]


@pytest.fixture
def session(pytester: pytest.Pytester, small_suite: Suite) -> Session:
    return Session(pytester, small_suite)


def outcomes(found: pytest.RunResult) -> dict[str, int]:
    return found.parseoutcomes()


def test_an_empty_name_is_no_backend(session: Session) -> None:
    """As of a variable of a CI job that is not set."""
    found = session.run("")
    assert found.ret != 0
    assert "no backend is called ''" in found.stdout.str()


class TestVerdicts:
    def test_a_right_backend_is_green(self, session: Session) -> None:
        found = session.run("mylib.py:run", "-v")
        assert found.ret == 0
        assert outcomes(found) == {"passed": 7, "skipped": 1}
        text = found.stdout.str()
        for entry in session.suite.manifest.vectors:
            verdict = "SKIPPED" if entry.level == "should" else "PASSED"
            assert f"conformance::{entry.op}/{entry.id} {verdict}" in text
        assert "8 vectors: 7 passed, 1 not tested at this level" in text
        assert f"conformance: mylib.py:run, suite {session.suite.path}, level must" in text

    def test_level_should_asks_all(self, session: Session) -> None:
        found = session.run("mylib.py:run", "--conformance-level", "should")
        assert outcomes(found) == {"passed": 8}

    def test_a_failure_is_the_finding_and_no_stack_trace(self, session: Session) -> None:
        found = session.run("mylib.py:wrong")
        assert found.ret == 1
        assert outcomes(found) == {"passed": 6, "failed": 1, "skipped": 1}
        (entry,) = (
            e for e in session.suite.manifest.vectors if e.op == "AvgPool-1" and not e.reject
        )
        text = found.stdout.str()
        assert "Traceback" not in text
        assert "runtest" not in text
        found.stdout.fnmatch_lines(
            [
                f"*{entry.op}/{entry.id}*",
                "result: 1 of 9 elements are wrong*",
                "    element *accepted * got  off",
                "    0,0,*",
                "  element 0,0,*",
                "      got *wrong at standard)",
                f"  again:   conformance check --backend mylib.py:wrong *--only {entry.id}",
                f"  closer:  conformance show {entry.id} --backend mylib.py:wrong *",
                f"  script:  conformance repro {entry.id} --backend mylib.py:wrong *",
                f"FAILED conformance::{entry.op}/{entry.id}*",
            ]
        )

    def test_a_failure_says_its_kind_its_conditions_and_what_it_could_be(
        self, session: Session
    ) -> None:
        found = session.run("mylib.py:one_more", "-k", "AvgPool-1 and ramp")
        assert outcomes(found)["failed"] == 1
        text = " ".join(found.stdout.str().split())
        assert "kind value" in text
        assert "with f32, rank 4, " in text
        assert "maybe The sum of n terms is divided by n + 1" in text

    def test_the_end_names_causes(self, session: Session) -> None:
        found = session.run("mylib.py:wrong")
        found.stdout.fnmatch_lines(
            [
                "conformance: 1 unexplained failure group, worst first",
                "  1. Wrong values, not explained: AvgPool-1, 1 vector",
                "conformance: mylib.py:wrong, 8 vectors: *",
            ]
        )
        assert "worst first" not in session.run("mylib.py:run").stdout.str()

    def test_accepting_what_must_be_rejected_fails(self, session: Session) -> None:
        found = session.run("mylib.py:accepting")
        assert outcomes(found)["failed"] == 1
        found.stdout.fnmatch_lines(["accepted, but zero-stride must be rejected"])

    def test_unsupported_is_skipped_with_the_reason(self, session: Session) -> None:
        found = session.run("declaring.py:Narrow", "-rs")
        assert found.ret == 0
        assert outcomes(found) == {"passed": 2, "skipped": 6}
        assert "is not among the declared operators" in found.stdout.str()

    def test_unsupported_that_was_not_declared_fails(self, session: Session) -> None:
        found = session.run("declaring.py:Lying")
        assert found.ret == 1
        assert outcomes(found) == {
            "failed": 5,
            "skipped": 3,
        }  # the negative tests cannot be written
        assert "not among what the backend declared before the run" in found.stdout.str()

    def test_what_a_backend_says_is_made_visible(self, session: Session) -> None:
        text = session.run("hostile.py:shouting", "--color=no").stdout.str()
        assert "</script> second ?" in text
        assert "\x1b" not in text
        assert "\u202e" not in text

    def test_a_filter_of_warnings_changes_no_verdict(self, session: Session) -> None:
        found = session.run("hostile.py:warning", "-W", "error")
        assert found.ret == 0
        assert outcomes(found)["passed"] == 7

    def test_a_damaged_vector_is_an_error_and_not_a_verdict(
        self, session: Session, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        import shutil

        copy = tmp_path_factory.mktemp("damaged") / "suite"
        shutil.copytree(session.suite.path, copy)
        entry = session.suite.manifest.vectors[0]
        file = copy / entry.path
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        found = session.run("mylib.py:run", f"--conformance-suite={copy}")
        assert outcomes(found)["failed"] == 1
        assert "the file is not the one that the manifest lists" in found.stdout.str()


class TestNothingGradedIsNeverGreen:
    @pytest.mark.parametrize("backend", ["declaring.py:Nothing", "declaring.py:Lazy"])
    def test_nothing_supported(self, session: Session, backend: str) -> None:
        found = session.run(backend)
        assert found.ret == 1
        assert "failed" not in outcomes(found)
        assert "no values graded: 5 unsupported" in found.stdout.str()

    def test_a_choice_that_leaves_no_vector_beside_own_tests(self, session: Session) -> None:
        session.pytester.makepyfile(test_own="def test_own(): pass")
        found = session.run("mylib.py:run", "-k", "test_own")
        assert outcomes(found) == {"passed": 1, "deselected": 8}
        assert found.ret == 1
        assert "no vector was selected, so nothing was graded" in found.stdout.str()

    def test_a_choice_that_leaves_nothing_at_all(self, session: Session) -> None:
        assert session.run("mylib.py:run", "-k", "nonsense").ret == 5

    def test_a_choice_of_refusals_alone_is_graded(self, session: Session) -> None:
        found = session.run("mylib.py:run", "-k", "reject-zero-stride")
        assert found.ret == 0
        assert outcomes(found) == {"passed": 1, "deselected": 7}

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--conformance-backend", "nump"], "did you mean 'numpy'?"),
            (["--conformance-backend", "mylib.py:rum"], "did you mean 'run'?"),
            (["--conformance-suite", "nowhere"], "no suite and no folder is called 'nowhere'"),
            (["--conformance-op", "AvgPol-1"], "did you mean 'AvgPool-1'?"),
            (["--conformance-precision", "f8=exact"], "unknown dtype 'f8'"),
            (["--conformance-precision", ""], "unknown precision ''"),
            (["--conformance-dtypes", "f32,f8"], "there is no element type 'f8'"),
            (["--conformance-ranks", "4,99"], "there is no rank 99"),
            (["conformance::AvgPool-1/f64"], "no selected vector has an id that begins with 'f64'"),
            (["conformance::AvgPool/f32"], "unknown operator of this suite 'AvgPool'"),
        ],
    )
    def test_what_cannot_be_asked(self, session: Session, words: list[str], message: str) -> None:
        found = session.run("mylib.py:run", *words)
        assert found.ret == pytest.ExitCode.INTERRUPTED
        assert outcomes(found) == {"errors": 1}
        assert message in found.stdout.str()
        assert "Traceback" not in found.stdout.str()


class TestSelection:
    def test_ids_are_in_the_order_of_the_manifest(self, session: Session) -> None:
        entries = session.suite.manifest.vectors
        assert session.ids() == [f"conformance::{entry.op}/{entry.id}" for entry in entries]

    @pytest.mark.parametrize(
        ("words", "chosen"),
        [
            (["--conformance-op", "AvgPool-1"], lambda e: e.op == "AvgPool-1"),
            (["conformance::AvgPool-1"], lambda e: e.op == "AvgPool-1"),
            (["-k", "AvgPool-1 and not reject"], lambda e: e.op == "AvgPool-1" and not e.reject),
            (["-m", 'conformance(dtype="f64")'], lambda e: e.dtype == "f64"),
            (["-m", 'conformance(reject="zero-stride")'], lambda e: e.reject == "zero-stride"),
            (["-m", 'conformance(level="should")'], lambda e: e.level == "should"),
            (["-m", 'conformance(kind="value", op="AvgPool-1")'], lambda e: "x4-ramp" in e.id),
            (["-m", f'conformance_edge(name="{CEIL}")'], lambda e: CEIL in e.edges),
            (["-m", "not conformance"], lambda e: False),
        ],
    )
    def test_by_operator_keyword_and_mark(self, session: Session, words, chosen) -> None:
        expected = [e.id for e in session.suite.manifest.vectors if chosen(e)]
        assert expected or words[-1] == "not conformance"
        assert [one.partition("/")[2] for one in session.ids(*words)] == expected

    def test_by_node_id_and_by_digest(self, session: Session) -> None:
        session.pytester.makepyfile(test_own="def test_own(): raise OSError('not asked')")
        entry = session.suite.manifest.vectors[0]
        for name in (f"{entry.op}/{entry.id}", f"{entry.op}/{entry.id.rpartition('-')[2]}"):
            found = session.run("mylib.py:run", f"conformance::{name}")
            assert found.ret == 0
            assert outcomes(found) == {"passed": 1}

    def test_by_element_type_and_rank(self, session: Session) -> None:
        suite = session.suite
        expected = [
            entry.id
            for entry in suite.manifest.vectors
            if entry.dtype in ("f64", "f32") and suite.rank_of(entry) == 3
        ]
        assert 0 < len(expected) < len(suite.manifest.vectors)
        words = ["--conformance-dtypes", "f64", "--conformance-dtypes", "f32"]
        ids = session.ids(*words, "--conformance-ranks", "3")
        assert [node_id.partition("/")[2] for node_id in ids] == expected

    def test_a_rank_that_is_no_number(self, session: Session) -> None:
        found = session.run("mylib.py:run", "--conformance-ranks", "four")
        assert found.ret == pytest.ExitCode.USAGE_ERROR
        assert "conformance: there is no rank 'four'" in found.stderr.str()

    def test_a_name_outside_the_operators_asked(self, session: Session) -> None:
        found = session.run(
            "numpy", "--conformance-op", "AvgPool-1", "conformance::AdaptiveMaxPool-8"
        )
        assert found.ret == 2
        assert (
            "leave --conformance-op, --conformance-dtypes and --conformance-ranks out"
            in found.stdout.str()
        )

    @pytest.mark.exhaustive
    def test_last_failed_and_exit_first(self, session: Session) -> None:
        session.arguments = session.arguments[:1]  # with the cache
        assert outcomes(session.run("declaring.py:Lying", "-x"))["failed"] == 1
        assert outcomes(session.run("mylib.py:wrong"))["failed"] == 1
        found = session.run("mylib.py:wrong", "--lf")
        assert outcomes(found) == {"failed": 1, "deselected": 7}
        assert outcomes(session.run("mylib.py:run", "--lf")) == {"passed": 1, "deselected": 7}

    @pytest.mark.exhaustive
    def test_collection_reads_no_vector_and_loads_no_backend(
        self, session: Session, tmp_path
    ) -> None:
        found = session.run("hostile.py:warning", "--collect-only", "-q")
        assert found.ret == 0
        assert not (session.pytester.path / "loaded.txt").exists()


class TestWithXdist:
    def test_causes_and_known_failures_come_from_all_workers(self, session: Session) -> None:
        found = session.run_apart("mylib.py:wrong", "-n", "2")
        assert "1. Wrong values, not explained: AvgPool-1, 1 vector" in found.stdout.str()

    @pytest.mark.exhaustive
    def test_two_workers_load_the_backend_once_each(self, session: Session) -> None:
        found = session.run_apart("hostile.py:warning", "-n", "2")
        assert found.ret == 0
        assert outcomes(found)["passed"] == 7
        assert "8 vectors: 7 passed, 1 not tested at this level" in found.stdout.str()
        assert (session.pytester.path / "loaded.txt").read_text() == "once\n" * 2

    @pytest.mark.exhaustive
    def test_a_crash_loses_one_vector(self, session: Session) -> None:
        found = session.run_apart("hostile.py:crashing", "-n", "1")
        assert found.ret == 1
        assert outcomes(found) == {"passed": 6, "failed": 1, "skipped": 1}

    @pytest.mark.exhaustive
    def test_nothing_graded(self, session: Session) -> None:
        found = session.run_apart("declaring.py:Nothing", "-n", "1")
        assert found.ret == 1
        assert "values graded: " in found.stdout.str()


LIGHT = ["conformance.check_options", "conformance.choices", "conformance.pytest_plugin"]
"""The modules that every session of pytest imports."""


class TestWithoutTheOption:
    def test_nothing_changes(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(test_own="def test_own(): pass")
        found = pytester.runpytest_inprocess("-v", "--strict-markers")
        assert found.ret == 0
        assert outcomes(found) == {"passed": 1}
        lines = [line for line in found.outlines if not line.startswith(("plugins:", "rootdir:"))]
        assert "conformance" not in "\n".join(lines)
        assert "conformance" not in pytester.runpytest_inprocess("--markers").stdout.str()

    def test_the_module_costs_nothing(self) -> None:
        code = (
            "import sys, pytest; before = set(sys.modules); import conformance.pytest_plugin;"
            "print(*sorted(set(sys.modules) - before))"
        )
        names = subprocess.check_output([sys.executable, "-c", code], text=True)
        assert names.split() == ["conformance", *LIGHT]

    def test_a_session_without_the_option_imports_no_more(
        self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytester.makepyfile(
            test_own=f"""
            import sys

            def test_own():
                ours = sorted(name for name in sys.modules if name.startswith("conformance."))
                assert ours == {LIGHT}
                heavy = ["numpy", "jinja2", "yaml", "jsonschema", "ml_dtypes"]
                assert not set(heavy) & set(sys.modules)
            """
        )
        # Other plugins of the environment may import anything; only ours is loaded.
        words = ["-p", "conformance.pytest_plugin"]
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        found = pytester.runpytest_subprocess(*words, timeout=60)
        assert outcomes(found) == {"passed": 1}


class TestKnownFailures:
    def known(self, session: Session, text: str) -> str:
        file = session.pytester.path / "known.yaml"
        file.write_text(f"format: 1\nknown:\n{text}")
        return f"--conformance-known-failures={file}"

    def test_are_expected_to_fail(self, session: Session) -> None:
        (entry,) = (
            e for e in session.suite.manifest.vectors if e.op == "AvgPool-1" and not e.reject
        )
        known = self.known(session, f"  - {{vectors: [{entry.id}], reason: slow}}\n")
        found = session.run("mylib.py:wrong", known, "-rx")
        assert found.ret == 0
        assert outcomes(found) == {"passed": 6, "xfailed": 1, "skipped": 1}
        text = found.stdout.str()
        assert "slow; known.yaml:3" in text
        assert "of these 1 known failures" in text
        assert "AvgPool-1, 1 vector (known)" in text

    def test_a_mutant_excuses_what_it_gives_and_no_other_bug(self, session: Session) -> None:
        known = self.known(session, "  - {op: AvgPool-1, mutants: [divisor-one-more], reason: x}\n")
        assert session.run("mylib.py:one_more", known).ret == 0
        assert outcomes(session.run("mylib.py:wrong", known))["failed"] == 1

    def test_a_file_that_cannot_be_used(self, session: Session) -> None:
        found = session.run("mylib.py:run", self.known(session, "  - {reason: x}\n"))
        assert found.ret != 0
        assert "this excuses all of every operator" in found.stdout.str()


def test_a_junit_file_tells_the_verdicts(session: Session) -> None:
    session.run("mylib.py:wrong", "--junitxml", "found.xml")
    cases = ET.parse(session.pytester.path / "found.xml").getroot().iter("testcase")
    told = {
        case.get("name"): {p.get("name"): p.get("value") for p in case.iter("property")}
        for case in cases
    }
    assert len(told) == 8
    for entry in session.suite.manifest.vectors:
        facts = told[f"{entry.op}/{entry.id}"]
        assert facts["conformance_kind"] == ("value" if entry.reject is None else "reject")
        failed = entry.op == "AvgPool-1" and entry.reject is None
        verdict = "skipped" if entry.level == "should" else "fail" if failed else "pass"
        assert facts["conformance_verdict"] == verdict
