"""Kinds of failure: each has its words, and programs that stand alone use the same names."""

import ast
from pathlib import Path

import pytest

import conformance
from conformance.failure_kind import FailureFacts, FailureKind, Severity, facts_of
from conformance.grade.outcome import Ending

RUNNER = Path(conformance.__file__).parent / "kernels" / "runner.py"


@pytest.mark.parametrize("kind", FailureKind)
def test_each_kind_has_its_words(kind):
    facts = facts_of(str(kind))
    assert facts.name == kind
    assert "" not in (facts.predicate, facts.title, facts.tag)


def test_words_of_one_kind():
    assert FailureKind("hung").facts == FailureFacts(
        name="hung",
        predicate="did not end in time",
        title="Does not end in time",
        tag="hang",
        severity=Severity.LOST,
        loses_process=True,
    )


def test_a_kind_that_nobody_knows_is_called_by_its_name():
    facts = facts_of("melted")
    assert (facts.predicate, facts.title, facts.tag) == ("melted", "melted", "wrong values")
    assert facts.severity is Severity.VALUE
    assert not facts.excused_by_default


def test_a_kind_is_written_as_text():
    assert f"{FailureKind.INPUT_CHANGED}" == "input-changed"


def test_the_runner_of_kernels_knows_the_endings():
    """It must not import this package, so it spells the endings of calls itself."""
    tree = ast.parse(RUNNER.read_text("utf-8"))
    assigned = [
        ast.literal_eval(statement.value.elts[0])
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Assign)
        and ast.unparse(statement.targets[0]) == "(response['ending'], response['message'])"
    ]
    assert set(assigned) == {"unsupported", "aborted", "raised"}
    assert set(assigned) <= set(Ending)
