"""Two runs side by side: every kind of change, and differences of the runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sample_runs

from conformance.errors import LogError
from conformance.log.reader import read
from conformance.model import Finding, Result, Status
from conformance.report.comparison import WORSE, CauseChangeKind, ChangeKind, compare_runs
from conformance.report.comparison_terminal import comparison_text

PASS = Result("v", "AvgPool-1", Status.PASS, dtype="f32", precision="exact")
FAIL = replace(PASS, status=Status.FAIL, kind="value", message="1 of 4 wrong", precision=None)
ERROR = replace(PASS, status=Status.ERROR, kind="raised", message="no kernel at 0x7f01")
UNSUPPORTED = replace(PASS, status=Status.UNSUPPORTED, message="not built")
SKIPPED = replace(PASS, status=Status.SKIPPED)
KEPT = replace(PASS, id="kept")


def run_of(tmp_path, *results, head=None):
    """A whole run of these results, and of one vector that passes."""
    results = [KEPT, *results]
    header = sample_runs.header(sample_runs.by_op(results)) | (head or {})
    events = [header, *results, sample_runs.footer(results, header)]
    return read(sample_runs.write(tmp_path / "run.jsonl", events))


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (PASS, PASS, ChangeKind.SAME),
        (PASS, FAIL, ChangeKind.BROKEN),
        (PASS, ERROR, ChangeKind.BROKEN),
        (PASS, UNSUPPORTED, ChangeKind.LOST),
        (PASS, replace(PASS, precision="standard"), ChangeKind.PRECISION),
        (PASS, replace(PASS, reading="clip-divisor"), ChangeKind.PRECISION),
        (FAIL, PASS, ChangeKind.FIXED),
        (ERROR, PASS, ChangeKind.FIXED),
        (FAIL, FAIL, ChangeKind.FAILING),
        (FAIL, replace(FAIL, known="known.yaml:3"), ChangeKind.FAILING),
        (ERROR, replace(ERROR, message="no kernel at 0x55aa"), ChangeKind.FAILING),
        (ERROR, replace(ERROR, message="another"), ChangeKind.CHANGED),
        (FAIL, ERROR, ChangeKind.CHANGED),
        (FAIL, UNSUPPORTED, ChangeKind.WITHDRAWN),
        (UNSUPPORTED, PASS, ChangeKind.SUPPORTED),
        (UNSUPPORTED, FAIL, ChangeKind.WRONG),
        (UNSUPPORTED, UNSUPPORTED, ChangeKind.SAME),
        (None, PASS, ChangeKind.ADDED),
        (PASS, None, ChangeKind.REMOVED),
        (SKIPPED, FAIL, ChangeKind.ADDED),
        (FAIL, SKIPPED, ChangeKind.REMOVED),
    ],
)
def test_every_kind_of_change(tmp_path, old, new, kind):
    runs = [run_of(tmp_path, *([one] if one else [])) for one in (old, new)]
    compared = compare_runs(*runs)
    kinds = {change.latest.id: change.kind for change in compared.changes}
    assert kinds == {"kept": ChangeKind.SAME, "v": kind}
    assert compared.is_worse is (kind in WORSE)
    said = comparison_text(compared)
    assert ("\nBROKEN. " in said) is (kind in WORSE)
    assert ("\nNOTHING BROKEN. " in said) is (kind not in WORSE)
    if kind is not ChangeKind.SAME:
        assert f"{kind.value[:1].upper()}{kind.value[1:]} (1 vector)\n  AvgPool-1 v:" in said


def test_the_same_run(tmp_path):
    run = run_of(tmp_path, PASS)
    compared = compare_runs(run, run)
    assert compared.differences == ()
    assert comparison_text(compared).endswith(
        "NOTHING BROKEN. Of 2 vectors in both runs: no change."
    )


def test_nothing_in_common(tmp_path):
    run = run_of(tmp_path, PASS)
    other = replace(run, results=(replace(PASS, id="w"),))
    with pytest.raises(LogError, match="no vector in common"):
        compare_runs(run, other)


@pytest.mark.parametrize(
    ("change", "name", "said"),
    [
        (lambda h: h["backend"].update(version="2.5"), "backend, version", "2.4.1 -> 2.5"),
        (lambda h: h["suite"].update(digest="f" * 64), "suite, digest", "5f0c9b1e"),
        (lambda h: h["options"].update(level="should"), "options, level", "must -> should"),
        (lambda h: h["options"]["precision"].update(f16="native"), "options, precision, f16",
         "standard -> native"),
        (lambda h: h["environment"]["processor"].update(model="B"),
         "environment, processor, model", "Example CPU @ 2.0 GHz -> B"),
        (lambda h: h["environment"]["cores"].update(usable=1), "environment, cores, usable",
         "4 -> 1"),
        (lambda h: h["environment"]["backend"].update(threads="1"),
         "environment, backend, threads", "4 -> 1"),
        (lambda h: h["environment"]["variables"].update(OMP_NUM_THREADS="2"),
         "environment, variables, OMP NUM THREADS", "none -> 2"),
    ],
)  # fmt: skip
def test_a_warning_names_what_differs(tmp_path, change, name, said):
    old, new = run_of(tmp_path, PASS), run_of(tmp_path, PASS)
    change(new.header)
    compared = compare_runs(old, new)
    assert [difference.name for difference in compared.differences] == [name]
    shown = " ".join(comparison_text(compared).split())
    assert "WARNING: the runs differ" in shown
    assert f"{name}: " in shown
    assert said in shown


FAULT = {"faults": [{"id": "a-bug", "says": "A bug."}]}
OTHER = {"faults": [{"id": "b-bug", "says": "Another bug."}]}


def found(told, *ids, kind="value"):
    return Finding("AvgPool-1", kind, "t", ids, (), ids[0], "", None, "", diagnosis=told)


def with_findings(run, *findings):
    return replace(run, findings=findings)


class TestCauses:
    """What became of a cause, by what became of the vectors that showed it."""

    def compared(self, tmp_path, old, new):
        """Runs of three vectors; each is given by id what comes of it and the cause of that."""
        runs = []
        for side in (old, new):
            results = [replace(one, id=name) for name, (one, _) in side.items()]
            told = {}
            for name, (_, cause) in side.items():
                if cause is not None:
                    told.setdefault(cause["faults"][0]["id"], (cause, []))[1].append(name)
            findings = (found(cause, *ids) for cause, ids in told.values())
            runs.append(with_findings(run_of(tmp_path, *results), *findings))
        return compare_runs(*runs)

    @pytest.mark.parametrize(
        ("old", "new", "kinds"),
        [
            ((FAIL, FAULT), (PASS, None), {"a-bug": CauseChangeKind.FIXED}),
            ((PASS, None), (FAIL, FAULT), {"a-bug": CauseChangeKind.NEW}),
            ((FAIL, FAULT), (FAIL, FAULT), {"a-bug": CauseChangeKind.STILL}),
            ((FAIL, FAULT), (UNSUPPORTED, None), {"a-bug": CauseChangeKind.WITHDRAWN}),
            ((UNSUPPORTED, None), (FAIL, FAULT), {"a-bug": CauseChangeKind.NEW}),
            # A vector that goes on failing is not mended by another name for it.
            (
                (FAIL, FAULT),
                (FAIL, OTHER),
                {"a-bug": CauseChangeKind.OTHERWISE, "b-bug": CauseChangeKind.OTHERWISE},
            ),
        ],
    )
    def test_every_kind_of_change(self, tmp_path, old, new, kinds):
        compared = self.compared(tmp_path, {"v": old}, {"v": new})
        assert {one.id: one.kind for one in compared.causes} == kinds

    def test_one_that_is_mended_in_part_is_still_there(self, tmp_path):
        compared = self.compared(
            tmp_path,
            {"v": (FAIL, FAULT), "w": (FAIL, FAULT)},
            {"v": (FAIL, FAULT), "w": (PASS, None)},
        )
        (cause,) = compared.causes
        assert (cause.kind, cause.old, cause.new) == (CauseChangeKind.STILL, 2, 1)
        assert "still there: A bug (vectors: 2 -> 1)" in comparison_text(compared)

    def test_the_sentence_names_what_is_fixed_and_what_is_new(self, tmp_path):
        compared = self.compared(
            tmp_path,
            {"v": (FAIL, FAULT), "w": (PASS, None)},
            {"v": (PASS, None), "w": (FAIL, OTHER)},
        )
        said = " ".join(comparison_text(compared).split())
        assert "BROKEN. Fixed: A bug; new: Another bug. Of 3 vectors" in said

    def test_the_same_mutant_is_the_same_failure_whatever_it_says(self, tmp_path):
        worse = replace(FAIL, message="3 of 4 wrong")
        compared = self.compared(tmp_path, {"v": (FAIL, FAULT)}, {"v": (worse, FAULT)})
        assert compared.changes_of(ChangeKind.FAILING)


@pytest.mark.parametrize(
    "message",
    ["Other: no kernel for 7", "pkg.Other: no kernel for 9", "Other: src/k.cpp:3: no kernel for 7"],
)
def test_a_renamed_exception_is_the_same_failure(tmp_path, message):
    old = replace(ERROR, message="RuntimeError: no kernel for 7")
    runs = [run_of(tmp_path, old), run_of(tmp_path, replace(ERROR, message=message))]
    assert compare_runs(*runs).changes_of(ChangeKind.FAILING)
    assert not compare_runs(*runs).changes_of(ChangeKind.CHANGED)


class TestLabels:
    @pytest.mark.parametrize(
        ("change", "labels"),
        [
            (lambda h: h["backend"].update(name="other"), ("example 2.4.1", "other 2.4.1")),
            (lambda h: h["backend"].update(version="3"), ("example 2.4.1", "example 3")),
            (lambda h: h["options"].update(level="should"), ("level must", "level should")),
            (
                lambda h: h["environment"]["backend"].update(threads="x" * 90),
                ("threads 4", f"threads {'x' * 39}…"),
            ),
            (
                lambda h: h.update(started="2026-03-02T00:00:00+00:00"),
                ("2026-03-01 12:00:05 UTC", "2026-03-02 00:00:00 UTC"),
            ),
            (lambda h: None, ("old", "new")),
        ],
    )
    def test_say_what_differs(self, tmp_path, change, labels):
        old, new = run_of(tmp_path, PASS), run_of(tmp_path, PASS)
        change(new.header)
        assert compare_runs(old, new).labels == labels

    def test_two_backends_are_no_change(self, tmp_path):
        old, new = run_of(tmp_path, FAIL, replace(PASS, id="w")), run_of(tmp_path, PASS, FAIL)
        new = replace(new, results=(KEPT, PASS, replace(FAIL, id="w")))
        new.header["backend"].update(name="other", version="{one}")
        said = comparison_text(compare_runs(old, new))
        assert "Fails in example 2.4.1 only (1 vector)" in said
        assert "Fails in other {one} only (1 vector)" in said
        assert "TWO BACKENDS. " in said
        assert "BROKEN." not in said
        assert "WARNING" not in said


def test_a_gate_is_no_circumstance(tmp_path):
    old, new = run_of(tmp_path, PASS), run_of(tmp_path, PASS)
    new.header["options"].update(known_failures="k.yaml", require="r.yaml", strict=True)
    assert compare_runs(old, new).differences == ()


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("kind", ["failing", "hostile", "gated", "passing"])
def test_it_fits_and_nothing_reaches_the_terminal(tmp_path, kind, width):
    run = read(sample_runs.write(tmp_path / "run.jsonl", getattr(sample_runs, kind)()))
    healed = tuple(
        replace(r, status=Status.PASS, known=None) if r.status is Status.FAIL else r
        for r in run.results
    )
    header = {**run.header, "environment": {"x": sample_runs.HOSTILE}}
    said = comparison_text(
        compare_runs(replace(run, results=healed, header=header), run), width=width
    )
    assert all(c.isprintable() or c == "\n" for c in said)
    assert max(map(len, said.splitlines())) <= width


def test_long_lists_are_cut(tmp_path):
    results = [replace(PASS, id=f"v{n:02}") for n in range(30)]
    old = run_of(tmp_path, *results)
    new = run_of(tmp_path, *(replace(FAIL, id=r.id) for r in results))
    said = comparison_text(compare_runs(old, new), limit=5)
    assert "Broken (30 vectors)" in said
    assert "  and 25 more" in said
    assert "v04" in said
    assert "v05" not in said


def test_colour_changes_nothing_but_colour(tmp_path):
    compared = compare_runs(run_of(tmp_path, PASS), run_of(tmp_path, FAIL))
    coloured = comparison_text(compared, color=True)
    assert "\x1b[31m" in coloured
    for code in ("\x1b[1m", "\x1b[31m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == comparison_text(compared)
